"""A campaign in one of the places."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.campaign import Tally, run_campaign
from tests.faults.places import HostPlace, MadePlace, Ways

PLACES: dict[str, Callable[[Ways, Path], Any]] = {
    "host": HostPlace,
    "pid": partial(HostPlace, target="process"),
    "cpuset": partial(HostPlace, target="cpuset"),
    "half": partial(HostPlace, target="half"),
    "groups": partial(HostPlace, target="groups"),
    "memory": partial(HostPlace, target="memory"),
    "v1-groups": partial(MadePlace, 1, groups=True),
    "v2-groups": partial(MadePlace, 2, groups=True),
    "v1": partial(MadePlace, 1),
    "v2": partial(MadePlace, 2),
}


def run_in(
    where: str,
    ways: Ways,
    *,
    kills: int,
    seed: int,
    only: Collection[str] = (),
    goes_on: bool = False,
    progress: Callable[[Tally], None] = lambda _tally: None,
) -> dict[str, Any]:
    """What came of it, for JSON; see ``run_campaign``."""
    with (
        tempfile.TemporaryDirectory() as directory,
        closing(PLACES[where](ways, Path(directory))) as place,
    ):
        tally = run_campaign(
            place, kills=kills, seed=seed, only=only, goes_on=goes_on, progress=progress
        )
    return {"where": where, **asdict(ways), **tally.document()}
