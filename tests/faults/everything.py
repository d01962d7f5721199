"""``make faults-all``: campaigns over everything that moves cores, one after the other.

Each leaves its JSON in build/faults; what is there already is not run again. Ends with the tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.faults.report import as_markdown

OUT = Path(__file__).parents[2] / "build" / "faults"


@dataclass(frozen=True)
class Slice:
    """One run of ``python -m tests.faults``."""

    where: str
    share: int
    """Of a hundred strikes in all."""
    mechanism: str = "merge"
    order: str = "topology"
    placement: str = "shared"
    threads: int = 20

    @property
    def name(self) -> str:
        return "-".join([self.where, self.mechanism, self.order, self.placement, str(self.threads)])


SLICES = (
    Slice("host", 10),
    Slice("host", 12, placement="exclusive"),
    Slice("memory", 2, placement="shared"),
    Slice("pid", 14),
    Slice("cpuset", 4),
    Slice("half", 6),
    Slice("half", 4, placement="exclusive"),
    Slice("groups", 4, placement="shared"),
    Slice("v1-groups", 2),
    Slice("v2-groups", 2),
    Slice("host", 8, order="dynamic"),
    Slice("host", 10, mechanism="affinity"),
    Slice("host", 8, mechanism="cpugroups"),
    Slice("host", 1, threads=3000),
    Slice("pid", 1, threads=3000),
    Slice("host", 1, mechanism="affinity", threads=3000),
    Slice("v1", 3),
    Slice("v1", 3, placement="exclusive"),
    Slice("v1", 2, mechanism="cpugroups"),
    Slice("v1", 2, order="dynamic"),
    Slice("v2", 3),
    Slice("v2", 3, placement="exclusive"),
    Slice("v2", 1, mechanism="cpugroups"),
    Slice("v2", 1, mechanism="affinity"),
    Slice("v2", 1, order="dynamic"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make faults-all", description=__doc__)
    parser.add_argument("--strikes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pieces", type=int, default=5, help="each slice in so many runs")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    for piece in range(options.pieces):
        for one in SLICES:
            seed = options.seed + piece
            out = OUT / f"{one.name}-{seed}.json"
            kills = max(1, one.share * options.strikes // 100 // options.pieces)
            if not out.exists():
                _run(one, kills, seed, out)
    print(as_markdown(json.loads(path.read_text()) for path in sorted(OUT.glob("*.json"))))
    return 0


def _run(one: Slice, kills: int, seed: int, out: Path) -> None:
    """Where it is not possible here there is no result."""
    command = [
        *(sys.executable, "-m", "tests.faults", "--goes-on", "--where", one.where),
        *("--kills", str(kills), "--seed", str(seed), "--mechanism", one.mechanism),
        *("--order", one.order, "--placement", one.placement),
        *("--threads", str(one.threads), "--out", str(out)),
    ]
    print(one.name, seed, flush=True)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    sys.exit(main())
