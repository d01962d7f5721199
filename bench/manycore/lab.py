"""The lab's tests of ``strict`` on the many-core machine: eight CPUs at once, in the host's time.

The lab's own guests count instructions, which eight busy CPUs share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.manycore.disk import ready
from bench.manycore.guest import GuestEndedError, Shape, booted
from tests.lab.kernels import Kernel

TESTS = "tests/lab/test_strict.py"
TRIES = 4
"""Linux patches its own text when a scheduler comes, which QEMU's threads may see half done."""
LONGEST_S, SECONDS, SILENT_S = 200, 1500, 500.0


def outcomes(
    shape: Shape, kernel: Kernel, tests: Sequence[str], say: Callable[[str], None]
) -> dict[str, str]:
    """Test -> what came of it. A guest that crashes is booted again for the tests that are left.

    Raises GuestEndedError if that is so at each of TRIES boots.
    """
    disk, initramfs = ready(kernel)
    found: dict[str, str] = {}
    words = [
        *("lab.module=tests.lab.inside", f"lab.seconds={SECONDS}"),
        f"SMARTHARVEST_LONGEST_S={LONGEST_S}",
    ]
    for left in reversed(range(TRIES)):
        todo = [test for test in tests if test not in found]
        more = [*words, f"lab.tests={','.join(todo)}"]
        drives = [f"file={disk},if=virtio,format=raw,snapshot=on"]
        try:
            with booted(shape, kernel.image, initramfs, words=more, disks=drives) as guest:
                for line in guest.lines(SILENT_S):
                    if "test" in line and line["outcome"] != "rerun":
                        found[line["test"]] = line["outcome"]
                        say(f"{line['outcome']}: {line['test']} {line.get('why', '')}")
                    if line.get("complete"):
                        return found
                guest.ended_well()
                return found
        except GuestEndedError as error:
            if not left:
                raise
            say(f"the guest ended ({str(error)[-300:]}); another is booted")
    raise AssertionError
