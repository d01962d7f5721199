"""A host in virtual time on which things go wrong, from a seed.

The loop, the cpuset actuator, the decider in the loop and the controller (its fallback chain,
permits, inhibit reasons and both safeguards) are the real ones; the kernel's files, the VMs, the
time and the faults are made. ``World.run`` checks after every poll what must hold whatever happens,
and says the seed when it does not.
"""

from __future__ import annotations

import errno
import random
from dataclasses import dataclass, field

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import Policy, make_policy
from smartharvest.algorithm.policy.fallback import Fallback, with_stand_ins
from smartharvest.algorithm.policy.smartharvest import SmartHarvest
from smartharvest.algorithm.safeguard import LongTermSafeguard, PeriodWaits
from smartharvest.core._actuators import CpusetActuator
from smartharvest.core._learner import Csoaa, Decider
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeEvents
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from tests.unit.core.made_files import MadeFiles

POLL_NS = 1_000_000
WINDOW_NS = 25_000_000
PLAN_TTL_NS = 4 * WINDOW_NS
STALE_NS = 2 * WINDOW_NS
SECOND_NS = 1_000_000_000
ELASTIC_MIN = 1
CPUS_FILE = "/batch/cpuset.cpus"
POLICIES = (
    "smartharvest", "prev-peak", "prev-peak:10", "fixed-buffer:2",
    "adaptive", "adaptive-quiet",
)  # fmt: skip


@dataclass(frozen=True)
class Odds:
    """How often something goes wrong, per simulated second."""

    late_poll: float = 0.5
    late_for_long: float = 0.05
    """The loop does not run for longer than its patience."""
    deaf: float = 0.1
    """The sensor loses events: it goes on saying what it last said."""
    silent: float = 0.05
    """The control plane does not answer for longer than a plan lives."""
    refused_write: float = 0.01
    failed_sensor: float = 0.01
    stuck_waiter: float = 0.02
    """Somebody waits too long for a core for a second."""
    broken_policy: float = 0.005
    doubt: float = 0.02
    """The host gives a reason to lend nothing for up to a second."""
    vm_change: float = 0.2


@dataclass
class Tally:
    """What has happened, so that a test can tell that it has."""

    polls: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    lent_polls: int = 0
    halts: int = 0
    trips: int = 0
    steps_down: int = 0


class InvariantBroken(AssertionError):
    """Something that must hold did not; the message repeats the run."""


class _Breakable:
    """A policy that can be made to fail in every way a policy can."""

    def __init__(self, policy: Policy, world: World) -> None:
        self._policy = policy
        self._world = world
        self.name = policy.name
        self.short_term = policy.short_term

    @property
    def buffer(self) -> int:
        return self._policy.buffer

    @property
    def quiet_ns(self) -> int | None:
        return self._policy.quiet_ns

    @property
    def shared(self) -> bool:
        return self._policy.shared

    def learn(self, window: Window) -> int | None:
        if self._world.takes_fault("learn raises"):
            raise FloatingPointError("diverged")
        return self._policy.learn(window)

    def predict(self, window: Window) -> int:
        if self._world.takes_fault("predict raises"):
            raise IndexError("no such class")
        if self._world.takes_fault("predict is nonsense"):
            return self._world.random.choice([-1, 10**9, 2.5, None])  # type: ignore[return-value]
        return self._policy.predict(window)


class World:
    """One host and its agent; everything that happens on it follows from ``seed``."""

    def __init__(self, seed: int, odds: Odds | None = None) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.odds = odds or Odds()
        self.tally = Tally()
        self.total = self.random.choice([1, 4, 10, 10, 20])
        self.keep_idle = self.random.randint(1, min(2, self.total))
        self.max_harvest = self.random.choice([self.total, self.total, max(0, self.total - 2)])
        self.exact = self.random.random() < 0.5
        self.now_ns = SECOND_NS
        self.vms: list[int] = []
        self.busy = self.demand = 0
        self.seen = (0, 0)
        self.deaf_until_ns = self.silent_until_ns = self.waits_until_ns = self.doubt_until_ns = 0
        self._faults: set[str] = set()
        self._due: list[tuple[int, Plan]] = []
        self.files = MadeFiles()
        self.long_term = LongTermSafeguard(rest_ns=3 * SECOND_NS)
        self.start_agent()

    # --- the agent --------------------------------------------------------------------------------

    def start_agent(self) -> None:
        """As after a start or a restart: everything with the primaries."""
        self.files.refusals.clear()
        self.files.write(CPUS_FILE, self.mask(0))
        spec = self.random.choice(POLICIES)
        options = LearningOptions(label=self.random.choice(["busy", "demand"]))

        def make(name: str) -> Policy:
            policy = make_policy(name, total=self.total, options=options)
            # The last of the chain must not fail: there is nothing below it.
            return policy if name == "no-harvest" else _Breakable(policy, self)

        self.chain = with_stand_ins(spec, make, self.total, print)
        self.loop_decides = self.random.random() < 0.25
        if self.loop_decides:
            self.chain = with_stand_ins("smartharvest", self.native, self.total, print)
        self.controller = Controller(
            self.chain,
            total=self.total,
            keep_idle=self.keep_idle,
            long_term=self.long_term,
            judged_waits="paper",
            window_ns=WINDOW_NS,
            can_lend=self.max_harvest > 0,
            loop_decides=self.loop_decides,
        )
        self.sensor = FakeEvents(self.now_ns)
        self.deaf_until_ns = self.now_ns  # a new sensor begins with how things are
        self.tell_sensor()
        self.loop = Loop(
            sensor=self.sensor,
            actuator=CpusetActuator(
                [(CPUS_FILE, None, [self.mask(level) for level in range(self.total + 1)])],
                [-1] * (self.total + 1),
                kernel_files=self.files,
            ),
            total=self.total,
            window_ns=WINDOW_NS,
            poll_ns=POLL_NS,
            plan_ttl_ns=PLAN_TTL_NS,
            stale_ns=STALE_NS,
            max_harvest=self.max_harvest,
            keep_idle=self.keep_idle,
            exact=self.exact,
        )
        if self.loop_decides:
            self.loop.decide_with(self.decider(self.chain))
        self._due.clear()
        self.last_poll_ns = self.now_ns
        self.lendable_until_ns = 0
        """When the last plan or permit has expired for certain."""
        self.last_seq = 0
        self.period_end_ns = self.now_ns
        self.stopped_ns: int | None = None
        """Since when the controller says that nothing may be lent."""

    def native(self, name: str) -> Policy:
        """A policy whose learner can decide in the loop."""
        return make_policy(name, total=self.total, learner="native")

    def decider(self, chain: Fallback) -> Decider:
        policy = chain.in_force
        assert isinstance(policy, SmartHarvest)
        assert isinstance(policy.learner, Csoaa)
        return Decider(policy.learner, keep_idle=self.keep_idle)

    @staticmethod
    def mask(level: int) -> str:
        """The elastic group's CPUs: its minimum and ``level`` more."""
        return format_cpulist(range(ELASTIC_MIN + level))

    def elastic_cores(self) -> int:
        """What the kernel's file really says."""
        return len(parse_cpulist(self.files.contents[CPUS_FILE].strip()))

    # --- what happens -----------------------------------------------------------------------------

    def takes_fault(self, name: str) -> bool:
        """Whether that fault is due; then it has happened."""
        if name not in self._faults:
            return False
        self._faults.discard(name)
        return True

    def happens(self, per_second: float, what: str) -> bool:
        if self.random.random() >= per_second * POLL_NS / SECOND_NS:
            return False
        self.tally.faults[what] = self.tally.faults.get(what, 0) + 1
        return True

    def pass_time(self) -> None:
        """Up to the next poll: demand changes, faults begin, and the poll may be late."""
        odds, draw = self.odds, self.random
        if self.happens(odds.vm_change, "vm"):
            if self.vms and draw.random() < 0.5:
                self.vms.pop(draw.randrange(len(self.vms)))
            else:
                self.vms.append(draw.randint(1, max(1, self.total // 2)))
        if draw.random() < 0.2:
            self.demand = sum(draw.randint(0, cores) for cores in self.vms)
            if draw.random() < 0.01:
                self.demand = self.total + draw.randint(0, 3)
            self.busy = min(self.demand, self.total)
        if self.happens(odds.deaf, "deaf"):
            self.deaf_until_ns = self.now_ns + draw.randint(1, SECOND_NS)
        if self.happens(odds.silent, "silent"):
            self.silent_until_ns = self.now_ns + draw.randint(1, 4 * PLAN_TTL_NS)
        if self.happens(odds.stuck_waiter, "stuck waiter"):
            self.waits_until_ns = self.now_ns + 2 * SECOND_NS
        if self.happens(odds.doubt, "doubt"):
            self.doubt_until_ns = self.now_ns + draw.randint(1, SECOND_NS)
        if self.happens(odds.broken_policy, "broken policy"):
            self._faults.add(draw.choice(["learn raises", "predict raises", "predict is nonsense"]))
        if self.happens(odds.refused_write, "refused write"):
            self.files.refuse(CPUS_FILE, draw.choice([errno.EBUSY, errno.EINVAL, errno.ENOENT]))
        step_ns = POLL_NS
        if self.happens(odds.late_poll, "late poll"):
            step_ns += draw.randint(1, 20 * POLL_NS)
        if self.happens(odds.late_for_long, "late for long"):
            step_ns += STALE_NS + draw.randint(1, SECOND_NS)
        self.now_ns += step_ns

    def tell_sensor(self) -> None:
        if self.now_ns >= self.deaf_until_ns:
            self.seen = (self.busy, max(self.busy, self.demand))
            self.sensor.set_busy(self.now_ns, *self.seen)

    def poll(self) -> None:
        while self._due and self._due[0][0] <= self.now_ns:
            self.loop.post(self._due.pop(0)[1])
            self.lendable_until_ns = max(self.lendable_until_ns, self.now_ns + PLAN_TTL_NS)
        if self.happens(self.odds.failed_sensor, "failed sensor"):
            self.sensor.fail(errno.EIO)
        self.loop.step(self.now_ns, self.now_ns)
        self.tally.polls += 1
        self.tally.lent_polls += self.loop.harvested > 0
        self.check()
        self.last_poll_ns = self.now_ns
        if self.loop.halt is not None:
            self.tally.halts += 1
            self.check_halted()
            self.start_agent()
            return
        if self.now_ns >= self.silent_until_ns:
            self.control()

    def control(self) -> None:
        """The control plane, which is not silent now."""
        controller = self.controller
        while (taken := self.loop.take_answered()) is not None:
            window, answered = taken
            self.must(window.seq > self.last_seq, f"window {window.seq} after {self.last_seq}")
            self.last_seq = window.seq
            steps = len(controller.fallbacks)
            answer = controller.on_window(window, answered)
            self.tally.steps_down += len(controller.fallbacks) - steps
            if answer is not None and answer.plan is not None:
                delay_ns = self.random.randint(1, 3 * POLL_NS)
                self._due.append((self.now_ns + delay_ns, answer.plan))
        self.judge_waits()
        doubt = "the host looks odd" if self.now_ns < self.doubt_until_ns else None
        self.stop_lending(controller.inhibit("host", doubt))
        if controller.may_lend(self.now_ns):
            self.stopped_ns = None
        if self.loop_decides:
            permit_ns = controller.permit_until_ns(self.now_ns)
            self.loop.permit(permit_ns)
            self.lendable_until_ns = max(self.lendable_until_ns, permit_ns + WINDOW_NS)

    def judge_waits(self) -> None:
        if self.now_ns < self.period_end_ns:
            return
        self.period_end_ns = self.now_ns + self.long_term.period_ns
        bad = self.now_ns < self.waits_until_ns and self.loop.harvested > 0
        long_waits = 500 if bad else 0
        plan = self.controller.on_period(
            self.now_ns, PeriodWaits("world", 1000, long_waits, long_waits)
        )
        self.tally.trips += plan is not None
        self.stop_lending(plan)

    def stop_lending(self, plan: Plan | None) -> None:
        """A safeguard or a doubt takes everything back, whatever is on its way to the loop."""
        if plan is None:
            return
        self._due[:] = [(self.now_ns, plan)]
        if self.loop_decides:
            self.loop.permit(0)
        self.stopped_ns = self.now_ns

    # --- what must hold ---------------------------------------------------------------------------

    def must(self, holds: bool, what: str) -> None:
        if not holds:
            raise InvariantBroken(
                f"{what}; {self.now_ns / 1e9 - 1:.3f} s into seed {self.seed}: "
                f"total {self.total}, held {self.loop.primary_cores}, seen {self.seen}, "
                f"policy {self.chain.name}. Again: "
                f"SMARTHARVEST_SEED={self.seed} pytest tests/simulated -k seed"
            )

    def check(self) -> None:
        loop, total = self.loop, self.total
        halted = loop.halt is not None
        # Where the kernel refuses the last write of a halt, the journal has to put things right.
        if not (halted and self.files.refusals):
            self.must(
                self.elastic_cores() - ELASTIC_MIN + loop.primary_cores == total,
                f"primary and harvested cores are not the total: the file says "
                f"{self.files.contents[CPUS_FILE].strip()}",
            )
        self.must(loop.harvested <= self.max_harvest, f"{loop.harvested} harvested cores")
        if halted:
            return
        needed = max(self.seen)
        least = min(total, needed + self.keep_idle)
        self.must(loop.primary_cores >= least, f"less than the {least} cores that are needed")
        if self.now_ns - self.last_poll_ns > STALE_NS:
            self.must(loop.harvested == 0, "something is lent after a gap in the polls")
        if self.now_ns > self.lendable_until_ns + 2 * POLL_NS:
            self.must(loop.harvested == 0, "something is lent on a plan or permit that has expired")
        # The plan that says so is taken up at the poll after the next.
        if self.stopped_ns is not None and self.now_ns > self.stopped_ns + 2 * POLL_NS:
            self.must(loop.harvested == 0, "something is lent against a safeguard or a doubt")

    def check_halted(self) -> None:
        """Nothing is lent any more, and nothing will be."""
        for _ in range(3):
            self.must(self.loop.harvested == 0, "something is lent after a halt")
            self.loop.post(Plan(self.last_seq + 1, 0, 0))
            self.now_ns += POLL_NS
            self.must(self.loop.step(self.now_ns, self.now_ns) != 0, "a halted loop polls on")
        if not self.files.refusals:
            self.must(self.elastic_cores() == ELASTIC_MIN, "a halt has not given everything back")

    def run(self, seconds: float) -> Tally:
        end_ns = self.now_ns + round(seconds * SECOND_NS)
        while self.now_ns < end_ns:
            self.pass_time()
            self.tell_sensor()
            self.poll()
        return self.tally
