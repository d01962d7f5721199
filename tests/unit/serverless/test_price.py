"""Prices: what one budget buys."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.errors import ConfigError
from smartharvest.serverless.price import Prices, buys, table
from tests.commands import smartharvest_here


def test_without_harvest_vms_a_budget_buys_regular_cores() -> None:
    assert buys(Prices(), 0.0, 24.0).cores == 1.0


def test_harvested_cores_cost_as_the_papers_say() -> None:
    # One core at 30 % of a regular one's price, 7.2 more at half of that.
    bought = buys(Prices(evictable_discount=0.7, harvested_price=0.5), 1.0, 0.0)
    assert bought.cores == pytest.approx(8.2 / (0.3 * (1 + 7.2 * 0.5)))


@given(
    share=st.floats(0, 1), rate=st.floats(0, 100), discount=st.floats(0, 0.95),
    alpha=st.floats(0.01, 1),
)  # fmt: skip
def test_evictions_never_pay(share: float, rate: float, discount: float, alpha: float) -> None:
    prices = Prices(evictable_discount=discount, harvested_price=alpha)
    assert buys(prices, share, rate).cores <= buys(prices, share, 0.0).cores * (1 + 1e-12)


def test_the_papers_range_lies_between_its_discounts() -> None:
    least = buys(Prices(evictable_discount=0.48), 1.0, 1 / 61.5).cores
    most = buys(Prices(evictable_discount=0.88, harvested_price=0.8), 1.0, 1 / 61.5).cores
    assert 3.0 < least < 4.0
    assert 9.0 < most < 11.0


def test_the_table_has_a_row_for_each_share_and_rate() -> None:
    rows = table(Prices(), [0.0, 1.0], [0.0, 1.0, 2.0])
    assert [(row.harvest_share, row.evictions_per_day) for row in rows] == [
        *((0.0, rate) for rate in (0.0, 1.0, 2.0)),
        *((1.0, rate) for rate in (0.0, 1.0, 2.0)),
    ]


@pytest.mark.parametrize(
    "flags",
    [
        ("--harvest-share", "1.5"),
        ("--harvest-share", "a"),
        ("--evictions-per-day", "-1"),
        ("--evictions-per-day", "nan"),
        ("--evictions-per-day", "1e9"),
        ("--evictable-discount", "1"),
        ("--harvested-price", "-1"),
        ("--cores", "0.5"),
        ("--cores", "inf"),
        ("--recovery", "nan"),
    ],
)
def test_what_is_out_of_range_is_one_line(flags: tuple[str, ...]) -> None:
    outcome = smartharvest_here("serverless", "cost", *flags)
    assert outcome.code == 2
    assert len(outcome.err.splitlines()) == 1


def test_free_cores_are_no_price() -> None:
    with pytest.raises(ConfigError, match="nothing useful"):
        buys(Prices(), 1.0, 24 * 12)


def test_the_command_prints_the_table_and_json() -> None:
    shown = smartharvest_here("serverless", "cost")
    assert shown.code == 0
    assert "100%" in shown.out
    document = json.loads(smartharvest_here("serverless", "cost", "--json").out)
    assert document["resources"][0]["cores"] == 1.0
