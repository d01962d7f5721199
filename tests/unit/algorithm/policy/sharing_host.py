"""A made-up host on which each way of sharing has its harm."""

from __future__ import annotations

from collections.abc import Callable

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.adaptive import Adaptive
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    PolicySettings,
    ProtectOf,
    Spans,
)
from smartharvest.algorithm.policy.ways import Way
from smartharvest.core.plan import Plan
from tests.unit.algorithm.policy.windows import window

TOTAL = 10
USUAL: Durations = ((100_000, 900), (200_000, 95), (400_000, 5))
WORSE: Durations = ((125_000, 900), (250_000, 95), (500_000, 5))
AWFUL: Durations = ((100_000, 500), (50_000_000, 500))
WINDOWS = 4

Harm = Callable[[Way], Durations]
ALL = ["everywhere", "part", "wait", "buffer", "prediction"]


class Host:
    """Where each way of sharing has its harm."""

    def __init__(
        self,
        *harms: Harm,
        total: int = TOTAL,
        preempts: bool = True,
        protect: float = 0.1,
        protect_of: tuple[ProtectOf, ...] = (),
        spares: tuple[int, ...] = (),
        freezes: bool = False,
        exclusive: bool = False,
        smallest: int = 0,
    ) -> None:
        self.policy = Adaptive(
            PolicySettings(
                total,
                learner="native",
                preempts=preempts,
                protect=protect,
                protect_of=protect_of,
                spares=spares,
                freezes=freezes,
                exclusive=exclusive,
                smallest=smallest,
            )
        )
        self.harms = harms
        self.without: Durations = USUAL
        """What the tasks would take with nothing lent."""
        self.idle: Durations | None = None
        """What they take then, if that is something else."""
        self.answer_ns = 0
        """How long they wait for an idle core."""
        self.leaves = 0
        """Cores that a way which moves them leaves the primary."""
        self.apart_leaves = 0
        """The same of a set apart, if that is not what the way keeps for it."""
        self.inhibited = False
        """Whether nothing is lent whatever the policy decides."""
        self.moves: dict[str, Durations] = {}
        """Of a kind of ways, in a period."""
        self.number = 0
        self.periods: list[str] = []
        self.answered: tuple[int, int, int | None, bool] | None = None
        self.steady = self.changed = 0
        """Windows that were to be answered as the one before, and those of them that were not."""

    def run(self, seconds: float) -> str:
        """The way in force most of its end."""
        for _ in range(round(seconds * 1e9 / DISPATCHES_PERIOD_NS)):
            way = self.window(0)
            for place in range(1, WINDOWS):
                self.window(place)
            self.number += 1
            self.periods.append("asleep" if self.policy.dozes else way.short)
            if not self.policy.dozes:
                self.policy.observe_dispatches(self.seen(way))
        return max(set(self.periods[-15:]), key=self.periods[-15:].count)

    def window(self, place: int) -> Way:
        """The way in force after one of the next period's."""
        ns = DISPATCHES_PERIOD_NS // WINDOWS
        start_ns = self.number * DISPATCHES_PERIOD_NS + place * ns
        policy = self.policy
        moves = policy.way.moves and policy.way.kind != "apart"
        given = self.apart_leaves or policy.way.kept if policy.way.kind == "apart" else TOTAL
        cores = TOTAL if self.inhibited else self.leaves if moves else given
        seen = window([1, 2], primary_cores=cores, start_ns=start_ns, end_ns=start_ns + ns)
        steady, before = policy.steady, self.answered
        policy.learn(seen)
        self.answered = (policy.predict(seen), policy.buffer, policy.quiet_ns, policy.shared)
        if steady:
            self.steady += 1
            self.changed += self.answered != before
        return policy.way

    def seen(self, way: Way) -> Dispatches:
        lends = way.kind != "nothing" and not self.inhibited
        spans = tuple(
            Spans(harm(way), (), self.without, self.answer_ns)
            if lends
            else Spans((), self.idle or self.without, (), self.answer_ns)
            for harm in self.harms
        )
        moves = self.moves.get(way.kind, ())
        return Dispatches(
            self.number * DISPATCHES_PERIOD_NS,
            USUAL,
            USUAL,
            lends,
            moves=moves,
            spans=spans,
            inhibited=self.inhibited,
        )

    def begun(self, short: str) -> list[int]:
        """The periods in which that way was entered."""
        at = [number for number, way in enumerate(self.periods) if way == short]
        return [number for number in at if number - 1 not in at]


def harmless(_: Way) -> Durations:
    return USUAL


def hurt_by(*kinds: str, how: Durations = WORSE) -> Harm:
    return lambda way: how if way.kind in kinds else USUAL


def plan_of(host: Host) -> Plan:
    """What a controller makes of the policy's answer to a window."""
    answer = Controller(host.policy, total=TOTAL).on_window(window([1, 2]))
    assert answer is not None
    assert answer.plan is not None
    return answer.plan
