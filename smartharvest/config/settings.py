"""The agent's settings: typed, validated, from flags and a TOML file; flags win.

A setting is one field of Settings. Its metadata says how it is parsed and described, when a change
of it takes effect and who needs it, so that flags, file, help and documentation agree. In the file
the expert's settings are in the section ``[expert]``; their flags are like any other.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from smartharvest.algorithm.learning.options import (
    CostName,
    ExhaustedWindows,
    FeaturesAfterExhaustion,
    Label,
    LearnerName,
)
from smartharvest.algorithm.policy import POLICY_NAMES, check_policy
from smartharvest.algorithm.policy.base import PROTECT, ProtectOf
from smartharvest.config.addresses import parse_address, parse_loopback
from smartharvest.config.durations import parse_duration_ns
from smartharvest.config.elastic_groups import ElasticGroup, parse_elastic
from smartharvest.config.sizes import parse_size_bytes
from smartharvest.config.state_directory import STATE_DIRECTORY, STATE_DIRECTORY_HELP
from smartharvest.errors import ConfigError
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import FORMS, parse_target

SHORTEST_PERIOD_NS = 10_000_000
"""Reading the waits that still go on takes about 0.15 us for each task of the host."""

LONGEST_HOLD_NS = 600_000_000_000

Applies = Literal["live", "rebuild", "restart"]
"""When a running agent takes up a change: ``live`` in the loop that runs, ``rebuild`` with a new
loop while the host stays arranged, ``restart`` after everything was given back."""

Decisions = Literal["loop", "agent"]
SafeguardName = Literal["conservative", "aggressive"]
LongTerm = Literal["auto", "attributed", "paper", "off"]
WaitSource = Literal["auto", "schedstat", "taskstats"]
SensorName = Literal["auto", "bpf", "perf", "proc", "stat"]
Accounting = Literal["exact", "sampled"]
Pacing = Literal["sleep", "spin"]
Parking = Literal["auto", "idle", "freeze"]
Placement = Literal["auto", "shared", "exclusive"]
MechanismName = Literal["merge", "affinity", "cpugroups", "strict", "auto"]
AuditLevel = Literal["spans", "decisions"]
LendOrder = Literal["topology", "dynamic"]
HaltPoll = Literal["keep", "off"]
ControlPriority = Literal["idle", "nice", "normal"]
OnDeath = Literal["auto", "restore", "minimum"]
ShareName = Literal["fair", "weight", "throughput"]

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_GROUP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}")
_PERCENTAGE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%")

Parser = Callable[[Any, str], Any]


@dataclass(frozen=True)
class _Setting:
    """How one setting is parsed, when a change of it takes effect, and who needs it."""

    parse: Parser
    default: Any = None
    metavar: str | None = None
    applies: Applies = field(default="restart", kw_only=True)
    arranges_host: bool = field(default=True, kw_only=True)
    """False if the host is arranged in the same way whatever the value."""
    common: bool = field(default=False, kw_only=True)
    """In the short help."""
    expert: bool = field(default=False, kw_only=True)
    multiple: bool = field(default=False, kw_only=True)
    choices: tuple[str, ...] = field(default=(), kw_only=True)

    def help(self, text: str) -> Any:
        """The field of Settings."""
        arranges_host = self.arranges_host and self.applies == "restart"
        return field(
            default=self.default,
            metadata={**vars(self), "help": text, "arranges_host": arranges_host},
        )


def _choice(accepted: Any, default: str, metavar: str, **more: Any) -> _Setting:
    """A setting with one of the words of the Literal ``accepted``."""
    choices = get_args(accepted)
    return _Setting(_one_of(choices), default, metavar, choices=choices, **more)


def _targets(value: Any, key: str) -> tuple[TargetSpec, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"{key}: {value!r} is no target; write {FORMS}")
    return tuple(parse_target(text, key) for text in texts)


def _elastic(value: Any, key: str) -> TargetSpec:
    return parse_elastic(value, key)[0]


def _cpus(value: Any, key: str) -> frozenset[int]:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ConfigError(f"{key}: {value!r} is no list of CPUs; write it such as '0-3,8'")
    try:
        cpus = parse_cpulist(str(value))
    except ValueError as error:
        raise ConfigError(f"{key}: {value!r} is no list of CPUs such as 0-3,8: {error}") from None
    if not cpus:
        raise ConfigError(f"{key}: the list is empty; name at least one CPU, such as 0-3,8")
    return cpus


def _count(value: Any, key: str) -> int:
    is_number = isinstance(value, int | str) and not isinstance(value, bool)
    if not is_number or not _WHOLE_NUMBER.fullmatch(str(value)):
        raise ConfigError(f"{key}: {value!r} is not a whole number of cores")
    if int(value) < 0:
        raise ConfigError(f"{key}: {value} is negative; use 0 or more")
    return int(value)


def _number_of(what: str) -> Parser:
    def parse(value: Any, key: str) -> int:
        is_number = isinstance(value, int | str) and not isinstance(value, bool)
        if not is_number or not _WHOLE_NUMBER.fullmatch(str(value)) or int(value) < 1:
            raise ConfigError(f"{key}: {value!r} is no number of {what}; use 1 or more")
        return int(value)

    return parse


def _share(value: Any, key: str) -> float:
    """A share of 0..1 from a percentage: a bare 1 could mean 1 % or all."""
    match = _PERCENTAGE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ConfigError(f'{key}: {value!r} is no percentage; write it such as "1%"')
    percent = float(match[1])
    if not 0 < percent <= 100:
        raise ConfigError(f"{key}: {value!r} must be above 0% and at most 100%")
    return percent / 100


def _protects(value: Any, key: str) -> tuple[ProtectOf, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f'{key}: {value!r} is no budget; write it such as ["cgroup:web=5%"]')
    found = []
    for text in texts:
        target, equals, share = text.rpartition("=")
        if not equals:
            raise ConfigError(f"{key}: {text!r} is no budget; write it such as cgroup:web=5%")
        found.append(ProtectOf(str(parse_target(target, key)), _share(share, key)))
    return tuple(found)


def _period_ns(value: Any, key: str) -> int:
    period_ns = parse_duration_ns(value, key)
    if period_ns < SHORTEST_PERIOD_NS:
        raise ConfigError(f"{key}: {value!r} is too short to read all waits in; use 10ms or more")
    return period_ns


def _slice_ns(value: Any, key: str) -> int:
    slice_ns = parse_duration_ns(value, key)
    if not 1_000_000_000 >= slice_ns >= 100_000:
        raise ConfigError(f"{key}: {value!r} is not within 100us and 1s")
    return slice_ns


def _seconds_ns(value: Any, key: str) -> int:
    duration_ns = parse_duration_ns(value, key)
    if not LONGEST_HOLD_NS >= duration_ns >= 1_000_000_000:
        raise ConfigError(f"{key}: {value!r} is not within 1s and 10min")
    return duration_ns


def _probability(value: Any, key: str) -> float:
    share = _share(value, key)
    if share >= 1:
        raise ConfigError(f"{key}: {value!r} can never be promised; use less than 100%")
    return share


def _switch(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{key}: {value!r} is not true or false")
    return value


def _one_of(choices: tuple[str, ...]) -> Parser:
    def parse(value: Any, key: str) -> str:
        if value not in choices:
            close = difflib.get_close_matches(str(value), choices, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(f"{key}: {value!r} is unknown; use one of {', '.join(choices)}{hint}")
        return str(value)

    return parse


def _policy(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{key}: {value!r} is unknown; use one of {', '.join(POLICY_NAMES)}")
    check_policy(value)
    return value


def _group(value: Any, key: str) -> str:
    if not isinstance(value, str) or not _GROUP_NAME.fullmatch(value):
        raise ConfigError(f"{key}: {value!r} is no name of a group")
    return value


def _directory(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{key}: {value!r} is no path")
    return os.path.abspath(value)


def _model(value: Any, key: str) -> str:
    return value if value in ("auto", "off") else _directory(value, key)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything an agent can be configured with; ``loading.load_settings`` reads them.

    Constructing it raises ConfigError for an unknown choice, and for a bool where none belongs.
    """

    # --- who shares, and what ---

    primary: tuple[TargetSpec, ...] = _Setting(
        _targets, (), "TARGET", multiple=True, common=True
    ).help(
        "The service whose idle cores are lent: cgroup:PATH (absolute, or relative to the cgroup "
        "root; * ? and [...] match within a level), systemd:UNIT or pid:N. May be repeated: "
        "several primaries count as one. Those named by a pattern or unit may come and go while "
        "the agent runs."
    )
    elastic: TargetSpec | None = _Setting(
        _elastic, None, "TARGET", multiple=True, common=True
    ).help(
        "The batch work that borrows them: cgroup:PATH, systemd:UNIT, or pid:N (by affinity only). "
        "Several groups right below one share: repeat the flag, list them, or write tables "
        "[[elastic]]."
    )
    share: ShareName = _choice(ShareName, "fair", "HOW").help(
        "How several elastic groups share the cores lent: fair (alike, within the minimum and "
        "maximum of each, as far as each can use them), weight (by their weights) or throughput "
        "(so that all together do most, learned by small changes)."
    )
    unallocated: bool = _Setting(_switch, False).help(
        "Lend the CPUs that no primary may use, too, always and without any prediction."
    )
    unallocated_by_quota: bool = _Setting(_switch, False).help(
        "The same, and with them the CPUs that the primaries' quotas leave over. A primary may run "
        "there all the same, and preempts the batch."
    )
    cores: frozenset[int] | None = _Setting(_cpus, None, "CPUS", common=True).help(
        "The CPUs to share, such as 0-15. Default: those the primaries may use."
    )
    elastic_min: int | None = _Setting(_count, None, "N", common=True).help(
        "Cores the elastic group always has; 0 parks it on the last core. "
        "Default: 1 where there are more than two cores, otherwise 0; 0 under the policy adaptive "
        "with exclusive placement, where the batch is frozen then."
    )
    max_harvest: int | None = _Setting(_count, None, "N", applies="live", common=True).help(
        "Never lend more than N cores beyond the minimum."
    )
    keep_idle: int = _Setting(_count, 1, "N", applies="live", common=True).help(
        "Always leave the primary N idle cores while there are cores."
    )
    lend_shared: bool = _Setting(_switch, False).help(
        "Lend a core even if a task of another group is pinned to it."
    )

    elastic_groups: tuple[ElasticGroup, ...] = ()
    """Those that share, where ``elastic`` is what they are right below, or the one of them; none:
    ``elastic`` is all there is. No setting by itself: it comes with ``elastic``."""

    # --- deciding ---

    policy: str = _Setting(_policy, "adaptive", "POLICY", applies="live", common=True).help(
        f"How many cores to lend: {', '.join(POLICY_NAMES)}."
    )
    protect: float = _Setting(_share, PROTECT, "PERCENT", applies="live").help(
        "Policy adaptive: by how much lending may lengthen the time from a task's waking up to its "
        "sleeping again, at the median, the P95 and the P99."
    )
    protect_of: tuple[ProtectOf, ...] = _Setting(
        _protects, (), "TARGET=PERCENT", multiple=True, applies="live"
    ).help(
        "The same for one of several primaries, in place of protect, as primary has it: "
        "cgroup:web=5%. May be repeated."
    )
    window_ns: int = _Setting(parse_duration_ns, 25_000_000, "DURATION", arranges_host=False).help(
        "Learning window: one decision is made for each."
    )
    poll_ns: int = _Setting(parse_duration_ns, 50_000, "DURATION", applies="rebuild").help(
        "Time between two looks at the primary."
    )
    safeguard: SafeguardName = _choice(SafeguardName, "conservative", "KIND", applies="live").help(
        "What an exhausted buffer gives back: conservative (1 + the last second's peak) or "
        "aggressive (everything)."
    )
    long_term: LongTerm = _choice(LongTerm, "auto", "WAITS", applies="live").help(
        "Stop lending for a while when the primary's tasks wait too long for a CPU: attributed "
        "counts waits that lending may have caused, paper counts all, off none. auto is "
        "attributed; under a policy that judges the waits itself it counts only stuck tasks."
    )
    learner: LearnerName = _choice(LearnerName, "vw", "LEARNER", arranges_host=False).help(
        "The learner: vw (Vowpal Wabbit) or native (the same decisions from C, in a seventh of the "
        "time and with less memory)."
    )
    model: str = _Setting(_model, "auto", "FILE", arranges_host=False).help(
        "Where the learned model is kept over restarts: a file, off, or auto (a file for each set "
        "of primaries in /var/lib/smartharvest). What adaptive has found out is next to it."
    )
    sensor: SensorName = _choice(SensorName, "auto", "SENSOR", applies="rebuild").help(
        "How the agent sees the primary: bpf (in the kernel, at every switch), perf (the kernel's "
        "records of every switch), proc (task states), stat (per-CPU idle counters, for "
        "comparison). auto takes the best that works."
    )

    # --- lending ---

    order: LendOrder = _choice(LendOrder, "topology", "HOW").help(
        "Which cores are lent first: topology (whole cores, close together, away from busy "
        "interrupts) or dynamic (of those the ones the primary has left alone for longest; where "
        "it runs, they are taken back first)."
    )
    placement: Placement = _choice(Placement, "shared", "HOW").help(
        "shared: the primary's cpuset is never written, the primary may use lent cores too. "
        "exclusive: a lent core is taken out of the primary's cpuset. auto: shared, but exclusive "
        "under the policy adaptive where the kernel is seen to leave a batch under cpu.idle on its "
        "CPU while a task of the primary waits for it, or where no way of sharing cores gives the "
        "batch anything."
    )
    park: Parking = _choice(Parking, "auto", "HOW").help(
        "With no core left for the elastic group: idle (it shares the last core under cpu.idle), "
        "freeze, or auto: idle, but unless elastic_min is given the policy adaptive freezes it "
        "for as long as even that costs the primary too much."
    )
    cpu_idle: bool = _Setting(_switch, True).help(
        "Run the elastic group under cpu.idle, below everything else."
    )
    halt_poll: HaltPoll = _choice(HaltPoll, "keep", "WHAT").help(
        "KVM polls for work before an idle vCPU sleeps, which looks busy. keep: it may; off: it "
        "does not while the agent runs, in any guest of the host."
    )

    # --- the agent ---

    duration_ns: int | None = _Setting(
        parse_duration_ns, None, "DURATION", arranges_host=False, common=True
    ).help("Stop after this long.")
    dry_run: bool = _Setting(_switch, False, common=True).help(
        "Sense, learn and decide, but write nothing to the host; report what would have been lent, "
        "and how often that would have been wrong."
    )
    guardian: bool = _Setting(_switch, True).help(
        "Run a small second process that gives everything back if the agent dies or hangs."
    )
    on_death: OnDeath = _choice(OnDeath, "auto", "WHAT", arranges_host=False).help(
        "What the guardian of a dead agent leaves: restore (the host as it was) or minimum (the "
        "elastic group keeps its minimum until smartharvest restore or the next agent). auto is "
        "minimum under the packaged unit, which starts the next agent, and restore elsewhere."
    )
    hang_timeout_ns: int = _Setting(
        _seconds_ns, 10_000_000_000, "DURATION", arranges_host=False
    ).help(
        "How long the control plane may be silent before the guardian writes where its threads "
        "stand and kills the agent. Nothing is lent meanwhile. A silent loop gets a second."
    )
    realtime: bool = _Setting(_switch, True, applies="rebuild").help(
        "Run the loop as SCHED_FIFO where that is allowed."
    )
    cgroup_root: str | None = _Setting(_directory, None, "DIR").help(
        "The cgroup tree to work on; in a plain directory the agent plays the kernel. "
        "Default: where this host mounts it."
    )
    state_dir: str = _Setting(_directory, STATE_DIRECTORY, "DIR").help(STATE_DIRECTORY_HELP)

    # --- reporting ---

    audit_log: str | None = _Setting(
        _directory, None, "FILE", arranges_host=False, common=True
    ).help("Write what was decided and why, and every action, to FILE as JSON lines.")
    audit_level: AuditLevel = _choice(AuditLevel, "spans", "LEVEL", arranges_host=False).help(
        "What the audit log has of the decisions: spans (what each second came to, about 1MB an "
        "hour) or decisions (every single one, about 35MB an hour)."
    )
    audit_size_bytes: int = _Setting(parse_size_bytes, 256 << 20, "SIZE", arranges_host=False).help(
        "Size of all files of the audit log together; the oldest records are dropped."
    )
    metrics: str | None = _Setting(
        parse_loopback, None, "ADDRESS", arranges_host=False, common=True
    ).help("Serve metrics for Prometheus at this address of this host, such as 127.0.0.1:9464.")
    web: str | None = _Setting(parse_address, None, "ADDRESS", arranges_host=False).help(
        "Serve a read-only page at this address, such as 127.0.0.1:9465; one that other hosts "
        "reach needs web_token."
    )
    web_token: str | None = _Setting(_directory, None, "FILE", arranges_host=False).help(
        "A file with the token that the page asks for."
    )
    status_group: str | None = _Setting(_group, None, "GROUP", arranges_host=False).help(
        "Members of this group may ask for status, metrics and capacity, and nothing else."
    )
    promise_hold_ns: int = _Setting(
        _seconds_ns, 10_000_000_000, "DURATION", arranges_host=False
    ).help("How long a number of cores promised to a cluster engine is to hold.")
    promise_probability: float = _Setting(_probability, 0.95, "PERCENT", arranges_host=False).help(
        "The share of such promises that is to be kept."
    )

    # --- the expert's ---

    decisions: Decisions = _choice(
        Decisions, "loop", "WHERE", expert=True, arranges_host=False
    ).help(
        "Where policy smartharvest with the native learner decides: in the polling loop itself, or "
        "in the agent like every other policy."
    )
    cost: CostName = _choice(CostName, "skewed", "COST", expert=True, arranges_host=False).help(
        f"Cost function of the learner: {', '.join(get_args(CostName))}."
    )
    label: Label = _choice(Label, "demand", "WHICH", expert=True, arranges_host=False).help(
        "The peak that is learned: of demand (running + waiting tasks) or of busy cores, as in the "
        "paper."
    )
    features_after_exhaustion: FeaturesAfterExhaustion = _choice(
        FeaturesAfterExhaustion, "kept", "WHICH", expert=True, arranges_host=False
    ).help(
        "Features the window after a broken one is trained with: kept from before it, or the "
        "broken window's own."
    )
    exhausted_windows: ExhaustedWindows = _choice(
        ExhaustedWindows, "skipped", "WHETHER", expert=True, arranges_host=False
    ).help("Whether an exhausted window's peak is learned as a label: skipped or trained.")
    accounting: Accounting = _choice(
        Accounting, "exact", "HOW", expert=True, applies="rebuild"
    ).help(
        "What a window is made of: exact (time at each number of busy cores, where the sensor sees "
        "every change) or sampled (one sample a poll, as in the paper)."
    )
    harm: bool = _Setting(_switch, False, expert=True, applies="live").help(
        "Tell what lending costs each primary, by how its tasks wait and run: with the bpf sensor, "
        "for up to twice what that costs at a context switch."
    )
    events: bool = _Setting(_switch, True, expert=True, applies="rebuild").help(
        "Sleep until something happens instead of polling, where the sensor sees every change."
    )
    pacing: Pacing = _choice(Pacing, "sleep", "HOW", expert=True, applies="rebuild").help(
        "How the loop waits between polls: sleep or spin."
    )
    waits: WaitSource = _choice(WaitSource, "auto", "SOURCE", expert=True, applies="live").help(
        "Where the waits are read if the sensor sees none: schedstat (/proc/TID/schedstat), "
        "taskstats (netlink, CAP_NET_ADMIN); auto takes the first that works."
    )
    long_term_share: float = _Setting(_share, 0.01, "PERCENT", expert=True, applies="live").help(
        "Long-term safeguard: the share of a period's dispatches that may not wait too long."
    )
    long_term_threshold_ns: int = _Setting(
        parse_duration_ns, 50_000, "DURATION", expert=True, applies="live"
    ).help("Long-term safeguard: a wait for a CPU above this is too long.")
    long_term_periods: int = _Setting(
        _number_of("periods"), 2, "N", expert=True, applies="live"
    ).help("Long-term safeguard: bad periods in a row that stop the lending.")
    long_term_period_ns: int = _Setting(
        _period_ns, 500_000_000, "DURATION", expert=True, applies="live"
    ).help("Long-term safeguard: length of a period.")
    long_term_rest_ns: int = _Setting(
        parse_duration_ns, 10_000_000_000, "DURATION", expert=True, applies="live"
    ).help("Long-term safeguard: how long nothing is lent after that.")
    long_term_min_dispatches: int = _Setting(
        _number_of("dispatches"), 200, "N", expert=True, applies="live"
    ).help(
        "Long-term safeguard: with fewer dispatches a period is judged with the few before it, and "
        "bad only by more than chance explains."
    )
    long_term_stuck_ns: int = _Setting(
        parse_duration_ns, 500_000_000, "DURATION", expert=True, applies="live"
    ).help("Long-term safeguard: a task that has waited this long makes any period show enough.")
    mechanism: MechanismName = _choice(MechanismName, "merge", "HOW", expert=True).help(
        "How a core changes hands: merge (one cpuset write), affinity (of each elastic thread), "
        "cpugroups (tasks are moved between groups; slow, for comparison), strict (merge, with the "
        "batch in a sched_ext class below every other task), or auto (strict where the kernel can, "
        "else merge). A process is always moved by affinity."
    )
    strict_slice_ns: int = _Setting(_slice_ns, 20_000_000, "DURATION", expert=True).help(
        "With strict: how long a batch task runs before the next one's turn."
    )
    strict_spare: int | None = _Setting(_count, None, "N", expert=True).help(
        "With strict: how many CPUs of each last-level cache are kept idle at most for the next "
        "task that wakes, one for each that is taken. Default: as the policy adaptive or spare:N "
        "chooses; any other has one, and one more for each sixteen CPUs."
    )
    rescue: bool = _Setting(_switch, True, expert=True, arranges_host=False).help(
        "Have the kernel choose again where it has given a CPU to the elastic group although other "
        "tasks wait for it (needs the bpf sensor and cpu.idle)."
    )
    probe_preemption: bool = _Setting(_switch, True, expert=True).help(
        "Try at the start, on one idle CPU and for at most 0.2 s, how soon the kernel takes a CPU "
        "from an idle group for a task that wakes. Off: it is taken for granted."
    )
    control_priority: ControlPriority = _choice(
        ControlPriority, "normal", "HOW", expert=True, applies="live"
    ).help(
        "Priority of the control plane while the loop runs: normal, nice (19) or idle (SCHED_IDLE, "
        "gives way at once). If it comes too late everything is given back."
    )

    def __post_init__(self) -> None:
        for name, item in FIELDS.items():
            value = getattr(self, item.name)
            if item.metadata["choices"] or isinstance(item.default, bool):
                item.metadata["parse"](value, name)
            elif isinstance(value, bool):
                raise ConfigError(f"{name}: {value} is no value of this setting")
        primaries = [str(spec) for spec in self.primary]
        for one in self.protect_of if primaries else ():
            if one.target not in primaries:
                raise ConfigError(
                    f"protect_of: {one.target} is no primary here; write it as primary has it: "
                    f"{', '.join(primaries)}"
                )

    @property
    def lends_nobodys(self) -> bool:
        """Whether CPUs are lent that no primary may use, or that quotas leave over."""
        return self.unallocated or self.unallocated_by_quota

    @property
    def least_elastic(self) -> int | None:
        """What the groups are promised together, in cores; None: nothing."""
        return sum(group.min for group in self.elastic_groups) or None

    @property
    def most_elastic(self) -> int | None:
        """What the groups may have together; None: all there is."""
        most = [group.max for group in self.elastic_groups]
        return None if None in most or not most else sum(filter(None, most))

    @property
    def divides(self) -> bool:
        """Whether several groups share what is lent."""
        return len(self.elastic_groups) > 1

    def require_targets(self) -> TargetSpec:
        """The elastic target, once both sides are known to be named. Raises ConfigError."""
        if not self.primary:
            raise ConfigError("primary: no target given; use --primary cgroup:PATH or pid:N")
        if self.elastic is None:
            raise ConfigError("elastic: no target given; use --elastic cgroup:PATH or pid:N")
        return self.elastic


def setting_name(item: dataclasses.Field[Any]) -> str:
    """The name in the file, which shows its own units; the flag is the same with dashes."""
    return re.sub("_(ns|bytes)$", "", item.name)


FIELDS = {
    setting_name(item): item for item in dataclasses.fields(Settings) if "parse" in item.metadata
}


def changed_settings(old: Settings, new: Settings) -> dict[str, Applies]:
    """Name of each setting that differs -> when a running agent takes it up."""
    changed: dict[str, Applies] = {
        name: item.metadata["applies"]
        for name, item in FIELDS.items()
        if getattr(old, item.name) != getattr(new, item.name)
    }
    if "elastic" not in changed and old.elastic_groups != new.elastic_groups:
        changed["elastic"] = "live" if old.divides and new.divides else "restart"
    return changed


def host_settings(settings: Settings) -> dict[str, str]:
    """The settings that the host is arranged by, as text: name -> value."""
    values = {
        name: repr(getattr(settings, item.name))
        for name, item in FIELDS.items()
        if item.metadata["arranges_host"]
    }
    if settings.placement == "auto":  # as long as nobody has found that it must not be
        values["placement"] = repr("shared")
    if settings.elastic_groups:
        values["elastic"] = repr((settings.elastic, settings.elastic_groups))
    return values
