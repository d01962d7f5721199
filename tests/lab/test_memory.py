"""Memory that elastic groups have, on a kernel with cgroup v2: given, and given back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.memory_inside import Episode, swap_file

# An episode takes minutes on emulated CPUs; the console says how far it is.
pytestmark = [pytest.mark.timing, pytest.mark.lab, pytest.mark.timeout(900)]


@pytest.fixture
def swap() -> Iterator[None]:
    with swap_file():
        yield


@pytest.mark.usefixtures("swap")
def test_a_primary_that_grows_has_its_memory_and_nobody_is_killed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with capfd.disabled(), Episode("memory") as episode:
        found = episode.run()
    assert found["oom_kills"] == 0
    assert found["batch_alive"]
    assert found["primary_grew_mib"] == episode.grows_mib
    assert found["batch_mib"]["before"] > episode.least_mib + 64, found
    assert found["given_back"]["mib"] > 64, found
    assert found["limit_restored"]
    assert found["agent_code"] == 0


def test_without_swap_a_batch_gets_only_what_no_primary_may_claim(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with capfd.disabled(), Episode("memory") as episode:
        (episode.web / "memory.max").write_text("max")
        found = episode.run()
    assert found["oom_kills"] == 0
    assert found["batch_alive"]
    assert found["primary_grew_mib"] == episode.grows_mib
    # Its limit slows a group that goes beyond it, and stops none at the byte.
    assert found["batch_mib"]["before"] < 3 * episode.least_mib, found
