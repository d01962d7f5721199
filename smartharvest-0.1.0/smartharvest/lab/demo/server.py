"""The server's process: ``smartharvest.lab.demo.server PARENT_PID CPUS``.

It speaks with its parent by lines on standard input and output and ends when the input does:

========================  ============================================================
``start``                 calibrates, starts the workers; answers ``ready STEPS_PER_MS``
``slice SECONDS SEED``    draws the traffic; answers ``drawn COUNT``
``go``                    serves it; answers COUNT latencies, native 64-bit nanoseconds
========================  ============================================================

``start`` waits for the parent to have moved the process, still a single thread, into its group.
"""

from __future__ import annotations

import sys
from array import array

from smartharvest.core import _demo
from smartharvest.host.process.parent import die_with
from smartharvest.lab.demo.traffic import draw_traffic


def main(parent_pid: int, cpus: int) -> None:
    """Obey the parent until it closes standard input."""
    die_with(parent_pid)
    commands, answers = sys.stdin.buffer, sys.stdout.buffer
    if not commands.readline():
        return
    steps_per_ms = _demo.calibrate()
    # One worker more than CPUs: a worker that waits for a CPU must not hide demand.
    server = _demo.Server(cpus + 1)
    answers.write(b"ready %d\n" % steps_per_ms)
    answers.flush()
    while command := commands.readline().split():
        traffic = draw_traffic(float(command[1]), cpus, int(command[2]))
        work = array("q", [ns * steps_per_ms // 1_000_000 for ns in traffic.service_ns])
        latency_ns = array("q", bytes(8 * len(work)))
        answers.write(b"drawn %d\n" % len(work))
        answers.flush()
        if not commands.readline():
            break
        server.serve(traffic.arrival_ns, work, latency_ns)
        answers.write(latency_ns.tobytes())
        answers.flush()
    server.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
