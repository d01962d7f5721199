"""``make faults``: agents struck at random moments, on this host and on fake trees."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import get_args

from smartharvest.config.settings import LendOrder, MechanismName, Placement
from tests.faults.agents import adopt_orphans
from tests.faults.campaign import Tally
from tests.faults.faults import FAULTS
from tests.faults.places import Ways
from tests.faults.report import as_markdown
from tests.faults.run import PLACES, run_in


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="in each place")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--where", nargs="+", choices=PLACES, default=["host", "pid", "v1", "v2"])
    parser.add_argument("--mechanism", choices=get_args(MechanismName), default="merge")
    parser.add_argument("--order", choices=get_args(LendOrder), default="topology")
    parser.add_argument("--placement", choices=get_args(Placement), help="default: both, by chance")
    parser.add_argument("--threads", type=int, default=20, help="of the batch, that last")
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=[], metavar="FAULT")
    parser.add_argument("--goes-on", action="store_true", help="after a failure, with all anew")
    parser.add_argument("--out", type=Path, help="also write the JSON there")
    options = parser.parse_args()
    ways = Ways(options.mechanism, options.order, options.placement, options.threads)
    adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # with everything removed
    places = []
    for where in options.where:
        places.append(
            run_in(
                where,
                ways,
                kills=options.kills,
                seed=options.seed,
                only=options.only,
                goes_on=options.goes_on,
                progress=_show,
            )
        )
        print(file=sys.stderr)
    document = {"seed": options.seed, "places": places}
    print(json.dumps(document, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(document) + "\n")
    print(as_markdown([document]), file=sys.stderr)
    return int(any(place["failures"] for place in places))


def _show(tally: Tally) -> None:
    if not sys.stderr.isatty():
        return
    failed = sum(tally.failed.values())
    print(f"\r{tally.place}: {tally.kills} strikes, {failed} failed", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
