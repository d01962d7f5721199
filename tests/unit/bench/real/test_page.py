"""What the page says of real services."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.real.page import ablations_part, conclusions, experiments_part


def row(ratio: float, interval: tuple[float, float], work: float) -> dict[str, Any]:
    entry = {"ratio": ratio, "interval": list(interval)}
    return {
        "latency_us": {"p50": 100.0, "p99": 200.0 * ratio, "p999": 900.0},
        "p99_steps_us": [],
        "p99_rounds_us": [150.0, 250.0, 950.0],
        "requests": 100,
        "unanswered": 0,
        "harvested_cores": work,
        "batch_cores": work,
        "batch_work_cores": work,
        "agent_cores": 0.02,
        "steal_cores": 0.01,
        "load_ns": 123.4,
        "left_out": 0.125,
        "to_alone": {"p50": entry, "p99": entry, "p999": entry, "pooled_p99": entry},
        "to_rival": {"p50": entry, "p99": entry, "p999": entry, "pooled_p99": entry},
        "to_default": {"p50": entry, "p99": entry, "p999": entry, "pooled_p99": entry},
        "safeguards": {"short": 3, "long": 1},
    }


def alone() -> dict[str, Any]:
    return {key: value for key, value in row(1, (1, 1), 0.0).items() if key != "to_alone"}


def rows(idle: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    return {"alone": alone(), "cpu.idle": idle, "adaptive-quiet": ours}


def document(conditions: dict[str, Any]) -> dict[str, Any]:
    experiment = {
        "primary": "memcached",
        "batch": "build",
        "load": 0.3,
        "shape": [1.0, 2.0],
        "gaps": True,
        "about": "Made.",
        "rate_qps": 1000.0,
        "core_us_per_request": 50.0,
        "rounds": 5,
        "seconds_a_condition": 9.0,
        "others_seen": True,
        "disturbed_blocks_left_out": True,
        "failed": {"guests": "qemu ended"},
        "conditions": conditions,
    }
    return {
        "conditions": {"alone": "no batch runs"},
        "experiments": {"one": experiment, "two": experiment, "gone": {"skipped": "no server"}},
    }


def show(name: str, _caption: str, _draw: Any) -> Iterator[str]:
    yield f"picture {name}"


SAFE, BAD, UNCLEAR = (1.0, (0.9, 1.05)), (3.0, (2.0, 4.0)), (1.2, (0.7, 1.9))


@pytest.mark.parametrize(
    ("idle", "ours", "said"),
    [
        (row(*SAFE, 1.5), row(*SAFE, 1.0), "cpu.idle alone is better here"),
        (row(*SAFE, 0.5), row(*SAFE, 1.0), "cpu.idle alone suffices here"),
        (row(*BAD, 1.5), row(*SAFE, 1.0), "cpu.idle is not enough here"),
        (row(*UNCLEAR, 1.5), row(*BAD, 1.0), "adaptive-quiet is worse than cpu.idle here"),
        (row(*BAD, 1.5), row(*UNCLEAR, 1.0), "cannot tell adaptive-quiet and cpu.idle apart"),
    ],
)
def test_cpu_idle_alone_is_judged_beside_ours(
    idle: dict[str, Any], ours: dict[str, Any], said: str
) -> None:
    assert said in "\n".join(conclusions(rows(idle, ours)))


def test_the_tax_is_told_with_its_noise() -> None:
    made = {**rows(row(*SAFE, 1.0), row(*SAFE, 1.0)), "sensing only": row(1.02, (0.9, 1.1), 0.0)}
    assert "1.02 of what it was (0.90..1.10, which includes no change)" in "\n".join(
        conclusions(made)
    )


def test_every_row_and_every_experiment_is_on_the_page() -> None:
    text = "\n".join(experiments_part(document(rows(row(*BAD, 1.5), row(*SAFE, 1.0))), show))
    assert text.count("### memcached at 30%, then 60%, build") == 2
    assert "| cpu.idle | 3.00 ✗; 1.50 | 3.00 ✗; 1.50 |" in text
    assert "| adaptive-quiet | 100 | 200 | 250 | 900 | 1.00 (0.90..1.05)" in text
    assert "*Skipped: no server.*" in text
    assert "*guests* could not be measured: qemu ended." in text
    assert "| 0.01 | 123 | 12% | not protected" in text
    assert "picture real-one" in text


def test_a_row_from_before_loads_were_timed_is_on_the_page() -> None:
    old = {key: value for key, value in row(*BAD, 1.5).items() if key != "load_ns"}
    text = "\n".join(experiments_part(document(rows(old, row(*SAFE, 1.0))), show))
    assert "| 0.01 |  | 12% | not protected" in text


def test_ablations_stand_beside_the_agent_as_it_is() -> None:
    unchanged = {key: value for key, value in row(*SAFE, 1.0).items() if key != "to_default"}
    made = {**rows(row(*BAD, 1.5), row(*SAFE, 1.0)), "default": unchanged}
    text = "\n".join(ablations_part(document(made), show))
    assert "noise (of 3 rows, one in twenty does by chance): *worse*: cpu.idle; the" in text
    assert "| default | 100 | 200 | 1 | 1 | 1 | 1.00 |" in text
    assert "| cpu.idle | 100 | 600 | 3.00 (2.00..4.00) |" in text
    assert "| 0.02 | 0.01 | 3, 1 |" in text
    assert "cpu.idle is not enough" not in text


def test_a_picture_can_be_drawn_of_it(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = []

    def really(name: str, _caption: str, draw: Any) -> Iterator[str]:
        drawn.append(draw(tmp_path / f"{name}.png"))
        yield name

    list(experiments_part(document(rows(row(*BAD, 1.5), row(*SAFE, 1.0))), really))
    list(ablations_part(document(rows(row(*BAD, 1.5), row(*SAFE, 1.0))), really))
    assert drawn == [True] * 4
