"""The built-in workloads reproduce Table 1 of the paper."""

from __future__ import annotations

import pytest

from smartharvest.lab.simulator.run import Experiment, run_baseline
from smartharvest.lab.simulator.workloads import WORKLOADS

TABLE_1 = {
    "indexserve": (1.3, 7.0),
    "memcached": (2.3, 7.7),
    "moses": (1.5, 5.2),
    "img-dnn": (1.7, 6.9),
}
SECONDS = {"memcached": 40.0}


@pytest.mark.parametrize("name", WORKLOADS)
def test_alone_on_ten_cores_busy_cores_and_peaks_are_those_of_table_1(name: str) -> None:
    busy_cores, mean_peak = TABLE_1[name]
    seconds = SECONDS.get(name, 200.0)
    alone = run_baseline(Experiment(WORKLOADS[name], seconds=seconds, seed=11))
    assert alone.busy_cores == pytest.approx(busy_cores, rel=0.05)
    assert alone.mean_peak == pytest.approx(mean_peak, rel=0.05)
