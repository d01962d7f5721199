"""The functions of the demonstration, and the simulated cores that they share on a node.

A replica has real work to do, which takes little of this machine; the rest of what an invocation
needs is waited for, as on the simulated machine's cores: all that run share them (processor
sharing), and nobody gets more than one.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from smartharvest.serverless.node_report import HarvestedReplica, reporter

COLD_S = 0.8
"""Of a core, to load a function."""
WARM_FUNCTIONS = 3
"""What a replica has memory for."""
TICK_S = 0.02


def thumbnail(size: int) -> Callable[[], int]:
    """Makes a JPEG smaller; bytes of the result."""
    from PIL import Image

    picture = io.BytesIO()
    Image.radial_gradient("L").resize((640, 480)).convert("RGB").save(picture, "JPEG")
    data = picture.getvalue()

    def run() -> int:
        small, out = Image.open(io.BytesIO(data)), io.BytesIO()
        small.thumbnail((size, size))
        small.save(out, "JPEG")
        return len(out.getvalue())

    return run


def totals(rows: int) -> Callable[[], int]:
    """Parses JSON and sums it up."""
    text = json.dumps([{"id": number, "amount": number % 97} for number in range(rows)])
    return lambda: sum(row["amount"] for row in json.loads(text))


def classify(width: int) -> Callable[[], int]:
    """A network of two layers; the class it chooses."""
    import numpy as np

    draw = np.random.default_rng(width)
    first, second = draw.normal(size=(784, width)), draw.normal(size=(width, 10))
    image = draw.normal(size=784)
    return lambda: int((np.maximum(image @ first, 0) @ second).argmax())


FUNCTIONS: dict[str, Callable[[], Callable[[], int]]] = {
    "thumb-64": lambda: thumbnail(64),
    "thumb-160": lambda: thumbnail(160),
    "thumb-320": lambda: thumbnail(320),
    "json-small": lambda: totals(100),
    "json-large": lambda: totals(2000),
    "model-32": lambda: classify(32),
    "model-256": lambda: classify(256),
}


@dataclass
class _Running:
    left_s: float
    done: asyncio.Event


class Cores:
    """Processor sharing among what runs in this replica; ``cores`` says how many there are now."""

    def __init__(self, cores: Callable[[], float]) -> None:
        self._cores = cores
        self._running: list[_Running] = []
        self._ticker: asyncio.Task[None] | None = None

    async def use(self, core_s: float) -> None:
        """Returns once the caller has had so much of a core."""
        mine = _Running(core_s, asyncio.Event())
        self._running.append(mine)
        if self._ticker is None or self._ticker.done():
            self._ticker = asyncio.create_task(self._tick())
        try:
            await mine.done.wait()
        finally:
            if mine in self._running:
                self._running.remove(mine)

    async def _tick(self) -> None:
        last_s = time.monotonic()
        while self._running:
            await asyncio.sleep(TICK_S)
            now_s = time.monotonic()
            share = min(1.0, self._cores() / max(1, len(self._running)))
            for one in list(self._running):
                one.left_s -= share * (now_s - last_s)
                if one.left_s <= 0:
                    one.done.set()
                    self._running.remove(one)
            last_s = now_s


def application(router: str | None, name: str, nodes: int) -> Any:
    """The deployment; ``router`` is None for Ray's own."""
    from ray import serve
    from ray.serve.config import RequestRouterConfig

    class Functions(HarvestedReplica):
        def __init__(self) -> None:
            self._machine = Cores(lambda: reporter().report().get("cores", 1.0))

        @serve.multiplexed(max_num_models_per_replica=WARM_FUNCTIONS)  # type: ignore[untyped-decorator]
        async def load(self, function: str) -> Callable[[], int]:
            await self._machine.use(COLD_S)
            return FUNCTIONS[function]()

        async def __call__(self, core_s: float) -> tuple[str, bool]:
            """(node, whether the function was cold)."""
            function = serve.get_multiplexed_model_id()
            began_s = time.monotonic()
            run = await self.load(function)
            cold = time.monotonic() - began_s > COLD_S / 2
            spent_s = time.monotonic()
            run()
            await self._machine.use(max(0.0, core_s - (time.monotonic() - spent_s)))
            return os.path.basename(os.environ["SMARTHARVEST_CAPACITY"]), cold

    config: dict[str, Any] = {"request_routing_stats_period_s": 1.0}
    if router is not None:
        config["request_router_class"] = f"smartharvest.serverless.ray_router:{router}"
    options = serve.deployment(
        name=name,
        num_replicas=nodes,
        max_replicas_per_node=1,
        max_ongoing_requests=24,
        graceful_shutdown_timeout_s=1,
        ray_actor_options={"num_cpus": 1},
        request_router_config=RequestRouterConfig(**config),
    )
    return options(Functions).bind()
