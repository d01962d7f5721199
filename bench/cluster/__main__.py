"""``make demo-cluster``: two simulated machines lend cores; a real Ray and a real job follow.

On this machine, on loopback: an agent on each of two simulated machines with different primaries, a
Ray with a node for each, an adapter between each pair, and a parameter search whose parallelism
follows. Takes two minutes; leaves a picture and nothing else.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from bench.cluster.node import CORES, PRIMARIES
from bench.cluster.picture import draw
from bench.cluster.processes import GRACE_S, RAY, START_S, child, patiently, start_head
from smartharvest.cluster.ray_node import RayNode
from smartharvest.cluster.source import NoCapacity, from_socket
from smartharvest.errors import EngineError, SmartHarvestError

LOOK_S = 0.25


@dataclass
class Seen:
    """Of one node, a look each: seconds, and cores."""

    at_s: list[float] = field(default_factory=list)
    lent: list[int] = field(default_factory=list)
    believed: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    fits_s: list[float] = field(default_factory=list)
    """When each fit there ended."""


@click.command()
@click.option("--seconds", default=75.0, show_default=True, help="The job's.")
@click.option("--seed", default=1, show_default=True)
@click.option("--picture", default="build/cluster/demo.png", show_default=True)
def main(seconds: float, seed: int, picture: str) -> None:
    """Runs the demonstration."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as stack:
        # From here on a second ctrl-C must not stop what cleans up.
        stack.callback(signal.signal, signal.SIGINT, signal.default_int_handler)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="smartharvest-")))
        seen, result = _run(stack, directory, seconds, seed)
        stack.callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    draw(seen, CORES, Path(picture))
    _tell(seen, result, picture)


def _run(
    stack: ExitStack, directory: Path, seconds: float, seed: int
) -> tuple[dict[str, Seen], dict[str, Any]]:
    print(f"two simulated machines of {CORES} cores: {', '.join(PRIMARIES)}", flush=True)
    for name in PRIMARIES:
        (directory / name).mkdir()
        child(stack, ["-m", "bench.cluster.node", str(directory / name), name, str(seed)])
    address = start_head(stack, directory)
    nodes = {}
    for name in PRIMARIES:  # one after the other: two at once may take the same port
        worker = [f"--address={address}", "--num-cpus=1", f"--node-name={name}"]
        child(stack, RAY + worker, quiet=True)
        nodes[name] = patiently(lambda name=name: RayNode(address, name))  # type: ignore[misc]
        stack.callback(nodes[name].close)
        child(
            stack,
            ["-m", "smartharvest", "adapter", "ray", "--address", address, "--node", name,
             "--state-dir", str(directory / name), "--follow", "now", "--every", "250ms",
             "--grow-after", "1s", "--grace", f"{GRACE_S:g}s"],
            quiet=True,
        )  # fmt: skip
    print(f"a parameter search for {seconds:.0f} s ...", flush=True)
    job = child(stack, ["-m", "bench.cluster.search", address, f"{seconds}"], quiet=True)
    assert job.stdout is not None
    lines: list[dict[str, Any]] = []
    reader = threading.Thread(
        target=lambda output: lines.extend(json.loads(line) for line in output if line[0] == "{"),
        args=(job.stdout,),
    )
    reader.start()
    sources = {name: from_socket(str(directory / name), None) for name in PRIMARIES}
    seen = {name: Seen() for name in PRIMARIES}
    began_s = time.monotonic()
    while job.poll() is None:
        for name, looked in seen.items():
            with suppress(EngineError, NoCapacity):
                lent, believed = int(sources[name]()["cores"]["now"]), nodes[name].verify() or 0
                looked.used.append(nodes[name].in_use())
                looked.lent.append(lent)
                looked.believed.append(believed)
                looked.at_s.append(time.monotonic() - began_s)
        if time.monotonic() > began_s + seconds + START_S:
            raise SystemExit("demo-cluster: the job does not end")
        time.sleep(LOOK_S)
    reader.join()
    if job.returncode != 0 or not lines:
        raise SystemExit(f"demo-cluster: the job failed ({job.returncode})")
    names = {node.node_id: name for name, node in nodes.items()}
    for line in lines[:-1]:
        seen[names[line["node"]]].fits_s.append(line["at_s"] - began_s)
    return seen, lines[-1]


def _tell(seen: dict[str, Seen], result: dict[str, Any], picture: str) -> None:
    print(f"{'node':8} {'lent':>6} {'told':>6} {'used':>6} {'fits':>6}   cores, mean")
    for name, looked in seen.items():
        means = [sum(cores) / len(cores) for cores in (looked.lent, looked.believed, looked.used)]
        print(f"{name:8} {means[0]:6.2f} {means[1]:6.2f} {means[2]:6.2f} {len(looked.fits_s):6}")
    print(
        f"{result['given']} fits given to Ray, {result['lost']} lost; best of "
        f"{result['candidates']} candidates: accuracy {result['accuracy']:.3f} with "
        + ", ".join(f"{name} {value:.3g}" for name, value in result["best"].items())
    )
    print(picture)


if __name__ == "__main__":
    try:
        main()
    except SmartHarvestError as error:
        raise SystemExit(f"demo-cluster: {error}") from None
