from __future__ import annotations

from smartharvest.core.timeouts import plan_ttl_ns
from smartharvest.guardian.verdict import WRITING_TAKES_NS, Limits, limits_for

WINDOW_NS = 25_000_000


def test_the_guardian_is_as_patient_as_the_loop_with_its_plans() -> None:
    assert limits_for(WINDOW_NS).shrink_after == Limits().shrink_after
    for windows in (1, 10):
        limits = limits_for(windows * WINDOW_NS)
        assert limits.shrink_after + WRITING_TAKES_NS == plan_ttl_ns(windows * WINDOW_NS)
