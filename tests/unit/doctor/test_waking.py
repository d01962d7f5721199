"""What the doctor says of a kernel that it has tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.doctor import Host, Status
from smartharvest.doctor.kernel_checks import check_waking
from smartharvest.host.preemption import Preemption


@pytest.mark.parametrize(
    ("gives_way", "status", "said"),
    [
        (True, "ok", "leaves its CPU 12 us after its own timer"),
        (False, "warning", "keeps its CPU"),
        (None, "ok", "not known"),
    ],
)
def test_a_kernel_that_lets_a_waking_task_wait_is_a_warning(
    gives_way: bool | None, status: Status, said: str
) -> None:
    tried = Preemption("confinement", "12 us after its own timer", tasks_give_way=gives_way)
    (finding,) = check_waking(Host("/"), lambda: tried)
    assert finding.status == status
    assert said in finding.found
    assert (finding.fix is not None) == (status == "warning")


def test_another_hosts_files_try_nothing(tmp_path: Path) -> None:
    def never() -> Preemption:
        raise AssertionError

    (finding,) = check_waking(Host(str(tmp_path)), never)
    assert finding.status == "ok"
