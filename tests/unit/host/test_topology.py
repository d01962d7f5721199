"""The order in which the cores of many machines are lent; /sys and /proc are made ones."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.topology import Topology, read_topology
from smartharvest.placement.capacity import Capacity, PrimaryCpus, plan_capacity
from tests.unit.host.machines import (
    BIG_LITTLE,
    EIGHT_CACHES,
    HOLES,
    HUGE,
    HYBRID,
    NODES_WITHOUT_MEMORY,
    ONE_CORE_VM,
    SMALL_VM,
    TWO_SOCKETS,
    ZOO,
    Machine,
)


def capacity_of(machine: Machine, root: Path, **settings: object) -> Capacity:
    """With a primary that may use everything, unless said otherwise."""
    primary = settings.pop("primary", PrimaryCpus(machine.online))
    return plan_capacity(
        online=machine.online,
        primaries=(primary,),  # type: ignore[arg-type]
        topology=machine.topology(root),
        **settings,  # type: ignore[arg-type]
    )


def lent(capacity: Capacity, harvested: int) -> str:
    return format_cpulist(capacity.elastic_cpus(harvested))


def test_cpus_are_told_apart_by_the_cache_they_share(tmp_path: Path) -> None:
    caches = EIGHT_CACHES.topology(tmp_path).caches(EIGHT_CACHES.online)
    assert len(caches) == 8
    assert frozenset().union(*caches) == EIGHT_CACHES.online
    assert Topology().caches({0, 1, 5}) == [frozenset({0, 1, 5})]


# --- any machine ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ZOO)
def test_on_any_machine_more_is_lent_by_adding_whole_cores(name: str, tmp_path: Path) -> None:
    machine = ZOO[name]
    topology = machine.topology(tmp_path)
    capacity = capacity_of(machine, tmp_path)
    one_core = len(topology.cores(machine.online)) == 1
    before: set[int] = set()
    for harvested in range(capacity.max_harvest + 1):
        cpus = set(capacity.elastic_cpus(harvested))
        assert before <= cpus <= machine.online
        assert len(cpus) <= max(1, capacity.elastic_min + harvested)
        if not one_core and not capacity.is_parked(harvested):
            assert all(topology.core(cpu) <= cpus for cpu in cpus - before)
        before = cpus


@pytest.mark.parametrize("name", ZOO)
def test_on_any_machine_a_plan_is_rounded_towards_the_primary(name: str, tmp_path: Path) -> None:
    capacity = capacity_of(ZOO[name], tmp_path, elastic_min=0)
    for wanted in range(capacity.total + 1):
        held = capacity.primary_cores(wanted, 0)
        assert held >= wanted
        assert capacity.whole_harvest(capacity.total - held) == capacity.total - held
    table = capacity.whole_harvests or list(range(capacity.total + 1))
    assert table == [capacity.whole_harvest(n) for n in range(capacity.total + 1)]
    assert all(a <= b for a, b in itertools.pairwise(table))


@pytest.mark.parametrize("name", ZOO)
def test_on_any_machine_the_masks_are_spelled_as_the_kernel_does(name: str, tmp_path: Path) -> None:
    capacity = capacity_of(ZOO[name], tmp_path)
    for harvested in range(capacity.max_harvest + 1):
        cpus = capacity.elastic_cpus(harvested)
        assert parse_cpulist(format_cpulist(cpus)) == set(cpus)


# --- this one and that one ------------------------------------------------------------------------


def test_threads_of_a_core_are_lent_together(tmp_path: Path) -> None:
    capacity = capacity_of(TWO_SOCKETS, tmp_path)
    assert (capacity.elastic_min, capacity.total) == (2, 94)
    assert capacity.lendable[:4] == (95, 47, 94, 46)
    assert lent(capacity, 0) == lent(capacity, 1) == "47,95"
    assert lent(capacity, 2) == lent(capacity, 3) == "46-47,94-95"
    assert capacity.max_harvest == 92
    assert capacity.remarks == (
        "whole cores, of 2 hardware threads at most",
        "one of 2 last-level caches after the other",
        "one of 2 memory nodes after the other",
    )


def test_one_socket_is_lent_before_the_other_is_touched(tmp_path: Path) -> None:
    capacity = capacity_of(TWO_SOCKETS, tmp_path)
    assert lent(capacity, 46) == "24-47,72-95"
    assert lent(capacity, 48) == "23-47,71-95"


def test_one_last_level_cache_is_lent_after_the_other(tmp_path: Path) -> None:
    capacity = capacity_of(EIGHT_CACHES, tmp_path, elastic_min=0)
    assert lent(capacity, 16) == "56-63,120-127"
    assert lent(capacity, 24) == "52-63,116-127"
    assert lent(capacity, 32) == "48-63,112-127"


def test_efficiency_cores_are_lent_before_fast_ones(tmp_path: Path) -> None:
    capacity = capacity_of(HYBRID, tmp_path)
    assert (capacity.elastic_min, lent(capacity, 0), lent(capacity, 1)) == (1, "23", "22-23")
    assert lent(capacity, 7) == "16-23"
    assert lent(capacity, 8) == "16-23"  # half a P core stays with the primary
    assert lent(capacity, 9) == "14-23"
    assert "slower cores first: 16-23" in capacity.remarks


def test_little_cores_are_known_by_their_capacity(tmp_path: Path) -> None:
    capacity = capacity_of(BIG_LITTLE, tmp_path, elastic_min=0)
    assert capacity.lendable == (3, 2, 1, 0, 7, 6, 5, 4)


def test_hundreds_of_cpus_are_lent_node_by_node(tmp_path: Path) -> None:
    capacity = capacity_of(HUGE, tmp_path, elastic_min=0)
    assert lent(capacity, 128) == "192-255,448-511"
    assert lent(capacity, 130) == "191-255,447-511"
    assert capacity.total == 512
    assert capacity.max_harvest == 510  # busy + 1, and that core whole


def test_offline_threads_leave_a_core_of_one(tmp_path: Path) -> None:
    capacity = capacity_of(HOLES, tmp_path, elastic_min=0)
    assert lent(capacity, 1) == lent(capacity, 2) == "11"  # whose sibling 3 is offline
    assert lent(capacity, 3) == lent(capacity, 4) == "7,11,15"
    assert lent(capacity, 5) == "4,7,11-12,15"


def test_nodes_without_memory_or_cpus_are_nodes_like_others(tmp_path: Path) -> None:
    capacity = capacity_of(NODES_WITHOUT_MEMORY, tmp_path, elastic_min=0)
    assert lent(capacity, 4) == "8-11"
    assert lent(capacity, 8) == "4-11"


def test_a_machine_that_tells_nothing_lends_by_numbers(tmp_path: Path) -> None:
    capacity = capacity_of(SMALL_VM, tmp_path)
    assert (capacity.lendable, capacity.max_harvest, capacity.remarks) == ((1, 0), 1, ())
    assert read_topology({0, 1}, str(tmp_path / "nothing")).lend_order({0, 1}) == [{1}, {0}]


def test_the_only_core_is_lent_by_threads_since_nothing_else_could_be(tmp_path: Path) -> None:
    capacity = capacity_of(ONE_CORE_VM, tmp_path)
    assert (capacity.max_harvest, lent(capacity, 1)) == (1, "1")
    assert "one by one" in capacity.remarks[0]


# --- what is not lent, or late --------------------------------------------------------------------


def test_a_core_with_a_thread_that_is_somebodys_is_not_lent_at_all(tmp_path: Path) -> None:
    pinned = PrimaryCpus(TWO_SOCKETS.online, pinned={95})
    capacity = capacity_of(TWO_SOCKETS, tmp_path, primary=pinned, foreign={46: "irq"})
    assert capacity.lendable[:2] == (93, 45)
    assert not {95, 47, 94, 46} & set(capacity.lendable)


def test_cpus_set_apart_at_boot_are_never_lent(tmp_path: Path) -> None:
    machine = replace(TWO_SOCKETS, isolated="47,95", nohz_full="46,94")
    capacity = capacity_of(machine, tmp_path)
    assert lent(capacity, 0) == "45,93"
    assert "never the CPUs set apart by isolcpus: 47,95" in capacity.remarks
    assert "never the CPUs set apart by nohz_full: 46,94" in capacity.remarks


def test_where_all_is_set_apart_the_error_says_by_what(tmp_path: Path) -> None:
    machine = replace(SMALL_VM, isolated="0-1")
    with pytest.raises(TargetError, match="isolcpus sets 0-1 apart"):
        capacity_of(machine, tmp_path)


def test_cores_that_devices_interrupt_often_are_lent_last(tmp_path: Path) -> None:
    machine = replace(SMALL_VM, interrupts={24: (2000, 1), 25: (10, 0)})
    assert capacity_of(machine, tmp_path).lendable == (0, 1)
    seldom = replace(SMALL_VM, interrupts={24: (100, 1)})
    assert capacity_of(seldom, tmp_path).lendable == (1, 0)


def test_many_small_interrupts_of_one_cpu_add_up(tmp_path: Path) -> None:
    machine = replace(BIG_LITTLE, interrupts=dict.fromkeys(range(30, 34), (300, 7)))
    capacity = capacity_of(machine, tmp_path, elastic_min=0)
    assert capacity.lendable == (3, 2, 1, 0, 6, 5, 4, 7)
    assert "last the CPUs that devices interrupt: 7" in capacity.remarks


def test_an_elastic_minimum_that_splits_a_core_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"elastic_min: 1 would split a core.*0, 2, 4, 6, 8"):
        capacity_of(TWO_SOCKETS, tmp_path, elastic_min=1)
    assert capacity_of(TWO_SOCKETS, tmp_path, elastic_min=4).elastic_min == 4


def test_a_limit_on_the_harvest_is_rounded_to_whole_cores(tmp_path: Path) -> None:
    assert capacity_of(TWO_SOCKETS, tmp_path, max_harvest=7).max_harvest == 6


def test_a_pool_below_the_quota_takes_cores_with_all_their_threads(tmp_path: Path) -> None:
    primary = PrimaryCpus(TWO_SOCKETS.online, quota_cores=6.0)
    capacity = capacity_of(TWO_SOCKETS, tmp_path, primary=primary)
    assert format_cpulist(capacity.pool) == "0-2,48-50"


def test_without_a_topology_cores_are_lent_by_numbers() -> None:
    order = Topology().lend_order(range(4))
    assert order == [{3}, {2}, {1}, {0}]


def test_numbers_that_are_none_count_as_missing(tmp_path: Path) -> None:
    machine = next(iter(ZOO.values()))
    before = machine.topology(tmp_path)
    (tmp_path / "sys/devices/system/node/node²").mkdir(parents=True)
    (tmp_path / "proc").mkdir(exist_ok=True)
    (tmp_path / "proc/uptime").write_text("soon\n")
    for cpu in machine.online:
        capacity = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cpu_capacity"
        capacity.parent.mkdir(parents=True, exist_ok=True)
        capacity.write_text("9" * 5000)
    assert read_topology(machine.online, str(tmp_path)).node == before.node
