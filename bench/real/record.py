"""Records a real memcached: ``python -m bench.real.record OUT.trace [SECONDS]``.

Bursts of requests and pauses (bench/real/traffic.py) at a third of what this machine's CPUs can
serve, twice that, and a third again, each for a third of the time; nothing is lent. The machine's
name is left out of the trace.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from pathlib import Path

from bench.real.conditions import Experiment
from bench.real.experiment import Plan, serving
from smartharvest.config.settings import Settings
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.demo.groups import demo_groups
from smartharvest.lab.trace import read_trace, write_trace
from smartharvest.lab.trace.recording import record

LOADS = (0.33, 0.66, 0.33)
SEED = 7


def main() -> None:
    out, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
    plan = Plan(Experiment("memcached", "memcached", "bully", LOADS[0], ""), (), 1, seconds, SEED)
    with (
        tempfile.TemporaryDirectory() as made,
        demo_groups() as groups,
        serving(plan, groups) as server,
    ):
        most_qps = len(groups.cpus) / server.cost_s(SEED)
        load = [(seconds / len(LOADS), share * most_qps) for share in LOADS]
        with server.traffic(load, SEED, gaps=True) as traffic:
            traffic.go()
            settings = Settings(primary=(TargetSpec("cgroup", groups.path("primary")),))
            done = record(settings, str(Path(made, "trace")), seconds, overwrite=False)
            traffic.wait()
        trace = read_trace(done.path)
        header = dataclasses.replace(trace.header, host="", primaries=("memcached",))
        write_trace(out, header, trace.changes, trace.until_ns)
    print(dataclasses.replace(done, path=out))


if __name__ == "__main__":
    main()
