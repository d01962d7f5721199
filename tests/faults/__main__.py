"""``make faults``: a thousand agents struck at random points, on this host and on fake trees."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import get_args

from smartharvest.config.settings import LendOrder, MechanismName, Placement
from smartharvest.host.cpulist import format_cpulist
from tests.faults.agents import adopt_orphans
from tests.faults.campaign import Place, Tally, run_campaign
from tests.faults.places import HostPlace, MadePlace, Ways
from tests.integration.hosts import Host
from tests.integration.processes import Processes
from tests.integration.worlds import make_world


@contextmanager
def _this_host(ways: Ways) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as state, ExitStack() as stack:
        processes = Processes()
        stack.callback(processes.end)
        host = Host(processes, Path(state, "state"))
        stack.callback(host.remove)
        host.populate()
        yield HostPlace(host, ways)


def _made(version: int) -> Callable[[Ways], contextmanager[Place]]:  # type: ignore[valid-type]
    @contextmanager
    def place(ways: Ways) -> Iterator[Place]:
        with tempfile.TemporaryDirectory() as root:
            processes = Processes()
            try:
                elastic = (processes.asleep(), processes.asleep())
                # What has an affinity can only have CPUs that there are.
                real = format_cpulist(os.sched_getaffinity(0))
                cpus = real if ways.mechanism == "affinity" else "0-7"
                world = make_world(Path(root), version, cpus=cpus, elastic=elastic)
                if version == 1 and ways.mechanism == "merge":
                    world.add_group("batch/job", "4-7")
                yield MadePlace(world, ways, elastic)
            finally:
                processes.end()

    return place


PLACES = {"host": _this_host, "v1": _made(1), "v2": _made(2)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="in each place")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--where", nargs="+", choices=PLACES, default=list(PLACES))
    parser.add_argument("--mechanism", choices=get_args(MechanismName), default="merge")
    parser.add_argument("--order", choices=get_args(LendOrder), default="topology")
    parser.add_argument("--placement", choices=get_args(Placement), help="default: both, by chance")
    options = parser.parse_args()
    ways = Ways(options.mechanism, options.order, options.placement)
    adopt_orphans()
    tallies = []
    for where in options.where:
        with PLACES[where](ways) as place:
            tally = run_campaign(place, kills=options.kills, seed=options.seed, progress=_show)
        tallies.append(tally)
        print(file=sys.stderr)
    print(json.dumps({"seed": options.seed, "places": [t.document() for t in tallies]}, indent=1))
    return int(any(tally.failures for tally in tallies))


def _show(tally: Tally) -> None:
    print(f"\r{tally.place}: {tally.kills} kills", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
