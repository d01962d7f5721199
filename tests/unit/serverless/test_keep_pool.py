from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cluster.source import NoCapacity, Source
from smartharvest.errors import ConfigError, EngineError
from smartharvest.serverless import command_pool
from smartharvest.serverless.command_pool import CommandPool
from smartharvest.serverless.keep_pool import PoolKeeper, keep_pool
from smartharvest.serverless.pool import PoolSettings
from tests.commands import smartharvest_here

SETTINGS = PoolSettings(at_least=10, most=8, grow_after_s=0)


class MadePool:
    """Each node promises three cores; what is asked for comes at once."""

    def __init__(self, nodes: int) -> None:
        self.size = nodes
        self.fails = False
        self.closed = False

    def nodes(self) -> dict[str, int | None]:
        if self.fails:
            raise EngineError("the autoscaler is gone")
        return {f"n{number}": 3 for number in range(self.size)}

    def asked(self) -> int | None:
        return self.size

    def ask(self, nodes: int) -> None:
        self.size = nodes

    def close(self) -> None:
        self.closed = True


def test_a_pool_is_brought_above_its_threshold_and_what_was_asked_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    pool = MadePool(1)
    keeper = PoolKeeper(pool, SETTINGS, dry_run=False)
    for now_s in range(5):
        keeper.turn(now_s, 1)
    assert pool.size == 4
    assert [record.message for record in caplog.records] == [
        "3 of 10 cores promised by 1 node; 3 nodes more; asking for 4 nodes",
        "12 of 10 cores promised by 4 nodes",
    ]


def test_a_dry_run_asks_for_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    pool = MadePool(1)
    PoolKeeper(pool, SETTINGS, dry_run=True).turn(0, 1)
    assert pool.size == 1
    assert caplog.records[-1].message.endswith("would ask for 4 nodes")


def test_an_autoscaler_that_fails_is_asked_ever_more_seldom_and_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    pool = MadePool(4)
    pool.fails = True
    keeper = PoolKeeper(pool, SETTINGS, dry_run=False)
    assert [keeper.turn(now_s, 10) for now_s in range(7)] == [20, 40, 80, 160, 300, 300, 300]
    pool.fails = False
    assert keeper.turn(10, 10) == 10
    assert [record.message for record in caplog.records[:2]] == [
        "the autoscaler is gone",
        "the autoscaler answers again",
    ]


def test_an_autoscaler_that_fails_for_days_is_still_asked() -> None:
    pool = MadePool(4)
    pool.fails = True
    keeper = PoolKeeper(pool, SETTINGS, dry_run=False)
    assert {keeper.turn(now_s, 10) for now_s in range(3000)} == {20, 40, 80, 160, 300}
    pool.fails = False
    assert keeper.turn(3000, 10) == 10


def test_the_loop_ends_when_asked_and_disconnects() -> None:
    pool, turns = MadePool(4), iter([False, False, True, True, True])
    keep_pool(pool, SETTINGS, 0.0, lambda: next(turns))
    assert pool.closed
    assert pool.size == 4


def made_agents(promises: Mapping[str, int | None]) -> Callable[[str], Source]:
    """What ``from_http`` stands for: agents by URL; those that promise 5 do so with two groups."""

    def of(url: str) -> Source:
        def source() -> dict[str, Any]:
            promised = promises[url]
            if promised is None:
                raise NoCapacity("no answer")
            parts = {"builds": 2, "etl": 3} if promised == 5 else {"builds": promised}
            groups = [{"name": name, "cores": cores(part)} for name, part in parts.items()]
            return {"cores": cores(promised), "groups": groups}

        return source

    def cores(promised: int) -> dict[str, int]:
        return {"now": promised, "guaranteed": 0, "promised": promised}

    return of


def test_a_command_sets_the_number_and_another_prints_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    promises = {"http://a/capacity": 3, "http://b/capacity": None}
    monkeypatch.setattr(command_pool, "from_http", made_agents(promises))
    nodes, size = tmp_path / "nodes", tmp_path / "size"
    nodes.write_text("# the pool\nhttp://a/capacity\n\nhttp://b/capacity # new\n")
    pool = CommandPool(
        str(nodes), f"cp /dev/null {tmp_path}/size-{{nodes}}", f"cat {size}", timeout_s=20
    )
    assert pool.nodes() == promises
    pool.ask(7)
    assert (tmp_path / "size-7").exists()
    size.write_text("7\n")
    assert pool.asked() == 7
    size.write_text("seven")
    with pytest.raises(EngineError, match="printed 'seven', not a number of nodes"):
        pool.asked()
    pool.close()


def test_nodes_with_several_groups_count_by_the_promise_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_pool, "from_http", made_agents({"http://a/capacity": 5}))
    nodes = tmp_path / "nodes"
    nodes.write_text("http://a/capacity\n")

    def pool_of(group: str | None) -> CommandPool:
        return CommandPool(str(nodes), "x {nodes}", None, group=group)

    assert pool_of("builds").nodes() == {"http://a/capacity": 2}
    with pytest.raises(EngineError, match=r"a/capacity: .* choose one with --group: builds, etl"):
        pool_of(None).nodes()
    with pytest.raises(EngineError, match="no elastic group 'x'"):
        pool_of("x").nodes()


def test_a_command_that_fails_is_one_line(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    pool = CommandPool(str(nodes), "cat /no/such/{nodes}", None, timeout_s=20)
    assert pool.asked() is None
    with pytest.raises(EngineError, match="cat: exit code 1: cat: /no/such/3: No such file"):
        pool.ask(3)
    with pytest.raises(EngineError, match="name a /capacity URL on each line"):
        pool.nodes()
    nodes.write_text("n1.example.org\n")
    with pytest.raises(EngineError, match="is no URL"):
        pool.nodes()
    pool.close()


@pytest.mark.parametrize("command", ["", "resize --to 3", "resize 'x"])
def test_a_command_without_a_place_for_the_number_is_refused(command: str) -> None:
    with pytest.raises(ConfigError, match="--command"):
        CommandPool("nodes", command, None)


def test_a_budget_below_the_floor_is_refused() -> None:
    outcome = smartharvest_here(
        *("serverless", "pool", "command", "--nodes", "f", "--command", "x {nodes}"),
        *("--at-least", "10", "--most", "8", "--least", "4"),
        *("--node-price", "0.5", "--budget", "1"),
    )
    assert outcome.code == 2
    assert "allow only 2 nodes" in outcome.err


@pytest.mark.parametrize(
    "flags",
    [
        ("--at-least", "nan"),
        ("--at-least", "inf"),
        ("--expect", "nan"),
        ("--node-price", "inf"),
        ("--budget", "nan"),
        ("--spare", "inf"),
        ("--every", "0"),
        ("--every", "1ms"),
    ],
)
def test_what_is_no_amount_is_one_line(flags: tuple[str, str]) -> None:
    outcome = smartharvest_here(
        *("serverless", "pool", "command", "--nodes", "f", "--command", "x {nodes}"),
        *("--at-least", "10", "--most", "8", *flags),
    )
    assert outcome.code == 2
    assert flags[0] in outcome.failure


def test_a_bundle_that_is_no_json_is_refused() -> None:
    outcome = smartharvest_here(
        *("serverless", "pool", "ray", "--bundle", "harvest", "--at-least", "1", "--most", "1")
    )
    assert outcome.code == 2
    assert "--bundle 'harvest': write JSON" in outcome.err
