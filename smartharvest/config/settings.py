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
from collections.abc import Callable, Mapping
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
from smartharvest.config.addresses import parse_loopback
from smartharvest.config.durations import parse_duration_ns
from smartharvest.config.file import EXPERT, Entry, Problem, read_config
from smartharvest.config.sizes import parse_size_bytes
from smartharvest.errors import ConfigError
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import FORMS, parse_target

STATE_DIRECTORY = "/run/smartharvest"

SHORTEST_POLL_NS = 10_000
SHORTEST_PERIOD_NS = 10_000_000
"""Reading the waits that still go on takes about 0.15 us for each task of the host."""

LONGEST_HOLD_NS = 600_000_000_000

Applies = Literal["live", "rebuild", "restart"]
"""When a running agent takes up a change: ``live`` between two decisions, ``rebuild`` with a new
loop while the host stays arranged, ``restart`` after everything was given back."""

Decisions = Literal["loop", "agent"]
SafeguardName = Literal["conservative", "aggressive"]
LongTerm = Literal["auto", "attributed", "paper", "off"]
WaitSource = Literal["auto", "schedstat", "taskstats"]
SensorName = Literal["auto", "bpf", "perf", "proc", "stat"]
Accounting = Literal["exact", "sampled"]
Pacing = Literal["sleep", "spin"]
Parking = Literal["idle", "freeze"]
Placement = Literal["shared", "exclusive"]
MechanismName = Literal["merge", "affinity", "cpugroups"]
LendOrder = Literal["topology", "dynamic"]
HaltPoll = Literal["keep", "off"]
ControlPriority = Literal["idle", "nice", "normal"]
OnDeath = Literal["restore", "minimum"]

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_PERCENTAGE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%")

Parser = Callable[[Any, str], Any]


def _setting(
    parse: Parser,
    help_text: str,
    default: Any = None,
    metavar: str | None = None,
    *,
    name: str | None = None,
    applies: Applies = "restart",
    arranges_host: bool = True,
    common: bool = False,
    expert: bool = False,
    multiple: bool = False,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of Settings.

    ``name`` is its name in the file if that is another; ``arranges_host`` is False if the host is
    arranged in the same way whatever the value; ``common`` settings are in the short help.
    """
    metadata = {
        "parse": parse,
        "help": help_text,
        "metavar": metavar,
        "name": name,
        "applies": applies,
        "arranges_host": arranges_host and applies == "restart",
        "common": common,
        "expert": expert,
        "multiple": multiple,
        "choices": choices,
    }
    return field(default=default, metadata=metadata)


def _choice(accepted: Any, help_text: str, default: str, metavar: str, **more: Any) -> Any:
    """A setting with one of the words of the Literal ``accepted``."""
    choices = get_args(accepted)
    return _setting(_one_of(choices), help_text, default, metavar, choices=choices, **more)


def _targets(value: Any, key: str) -> tuple[TargetSpec, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"{key}: {value!r} is no target; write {FORMS}")
    return tuple(parse_target(text, key) for text in texts)


def _target(value: Any, key: str) -> TargetSpec:
    if not isinstance(value, str):
        raise ConfigError(f"{key}: {value!r} is no target; write {FORMS}")
    return parse_target(value, key)


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


def _period_ns(value: Any, key: str) -> int:
    period_ns = parse_duration_ns(value, key)
    if period_ns < SHORTEST_PERIOD_NS:
        raise ConfigError(f"{key}: {value!r} is too short to read all waits in; use 10ms or more")
    return period_ns


def _hold_ns(value: Any, key: str) -> int:
    hold_ns = parse_duration_ns(value, key)
    if not LONGEST_HOLD_NS >= hold_ns >= 1_000_000_000:
        raise ConfigError(f"{key}: {value!r} is not within 1s and 10min")
    return hold_ns


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


def _directory(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{key}: {value!r} is no path")
    return os.path.abspath(value)


def _model(value: Any, key: str) -> str:
    return value if value in ("auto", "off") else _directory(value, key)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything an agent can be configured with; ``load_settings`` reads them.

    Constructing it raises ConfigError for an unknown choice, and for a bool where none belongs.
    """

    # --- who shares, and what ---

    primary: tuple[TargetSpec, ...] = _setting(
        _targets,
        "The service whose idle cores are lent: cgroup:PATH (absolute, or relative to the cgroup "
        "root; * ? and [...] match within a level), systemd:UNIT or pid:N. May be repeated: "
        "several primaries count as one. Those named by a pattern or unit may come and go while "
        "the agent runs.",
        (),
        "TARGET",
        multiple=True,
        common=True,
    )
    elastic: TargetSpec | None = _setting(
        _target,
        "The batch work that borrows them: cgroup:PATH, systemd:UNIT, or pid:N (by affinity only).",
        None,
        "TARGET",
        common=True,
    )
    cores: frozenset[int] | None = _setting(
        _cpus,
        "The CPUs to share, such as 0-15. Default: those the primaries may use.",
        None,
        "CPUS",
        common=True,
    )
    elastic_min: int | None = _setting(
        _count,
        "Cores the elastic group always has; 0 parks it on the last core. "
        "Default: 1 where there are more than two cores, otherwise 0.",
        None,
        "N",
        common=True,
    )
    max_harvest: int | None = _setting(
        _count,
        "Never lend more than N cores beyond the minimum.",
        None,
        "N",
        applies="live",
        common=True,
    )
    keep_idle: int = _setting(
        _count,
        "Always leave the primary N idle cores while there are cores.",
        1,
        "N",
        applies="live",
        common=True,
    )
    lend_shared: bool = _setting(
        _switch, "Lend a core even if a task of another group is pinned to it.", False
    )

    # --- deciding ---

    policy: str = _setting(
        _policy,
        f"How many cores to lend: {', '.join(POLICY_NAMES)}.",
        "smartharvest",
        "POLICY",
        applies="live",
        common=True,
    )
    window_ns: int = _setting(
        parse_duration_ns,
        "Learning window: one decision is made for each.",
        25_000_000,
        "DURATION",
        name="window",
        arranges_host=False,
    )
    poll_ns: int = _setting(
        parse_duration_ns,
        "Time between two looks at the primary.",
        50_000,
        "DURATION",
        name="poll",
        applies="rebuild",
    )
    safeguard: SafeguardName = _choice(
        SafeguardName,
        "What an exhausted buffer gives back: conservative (1 + the last second's peak) or "
        "aggressive (everything).",
        "conservative",
        "KIND",
        applies="live",
    )
    long_term: LongTerm = _choice(
        LongTerm,
        "Stop lending for a while when the primary's tasks wait too long for a CPU: attributed "
        "counts waits that lending may have caused, paper counts all, off none. auto is "
        "attributed; under a policy that judges the waits itself it counts only stuck tasks.",
        "auto",
        "WAITS",
        applies="live",
    )
    learner: LearnerName = _choice(
        LearnerName,
        "The learner: vw (Vowpal Wabbit) or native (the same decisions from C, in a seventh of the "
        "time and with less memory).",
        "vw",
        "LEARNER",
        arranges_host=False,
    )
    model: str = _setting(
        _model,
        "Where the learned model is kept over restarts: a file, off, or auto (a file for each set "
        "of primaries in /var/lib/smartharvest).",
        "auto",
        "FILE",
        arranges_host=False,
    )
    sensor: SensorName = _choice(
        SensorName,
        "How the agent sees the primary: bpf (in the kernel, at every switch), perf (the kernel's "
        "records of every switch), proc (task states), stat (per-CPU idle counters, for "
        "comparison). auto takes the best that works.",
        "auto",
        "SENSOR",
        applies="rebuild",
    )

    # --- lending ---

    order: LendOrder = _choice(
        LendOrder,
        "Which cores are lent first: topology (whole cores, close together, away from busy "
        "interrupts) or dynamic (of those the ones the primary has left alone for longest; where "
        "it runs, they are taken back first).",
        "topology",
        "HOW",
    )
    placement: Placement = _choice(
        Placement,
        "shared: the primary's cpuset is never written, the primary may use lent cores too. "
        "exclusive: a lent core is taken out of the primary's cpuset.",
        "shared",
        "HOW",
    )
    park: Parking = _choice(
        Parking,
        "With no core left for the elastic group: idle (it shares the last core under cpu.idle) "
        "or freeze.",
        "idle",
        "HOW",
    )
    cpu_idle: bool = _setting(
        _switch, "Run the elastic group under cpu.idle, below everything else.", True
    )
    halt_poll: HaltPoll = _choice(
        HaltPoll,
        "KVM polls for work before an idle vCPU sleeps, which looks busy. keep: it may; off: it "
        "does not while the agent runs, in any guest of the host.",
        "keep",
        "WHAT",
    )

    # --- the agent ---

    duration_ns: int | None = _setting(
        parse_duration_ns,
        "Stop after this long.",
        None,
        "DURATION",
        name="duration",
        arranges_host=False,
        common=True,
    )
    dry_run: bool = _setting(
        _switch,
        "Sense, learn and decide, but write nothing to the host; report what would have been lent, "
        "and how often that would have been wrong.",
        False,
        common=True,
    )
    guardian: bool = _setting(
        _switch,
        "Run a small second process that gives everything back if the agent dies or hangs.",
        True,
    )
    on_death: OnDeath = _choice(
        OnDeath,
        "What the guardian of a dead agent leaves: restore (the host as it was) or minimum (the "
        "elastic group keeps its minimum until smartharvest restore or the next agent).",
        "restore",
        "WHAT",
        arranges_host=False,
    )
    realtime: bool = _setting(
        _switch, "Run the loop as SCHED_FIFO where that is allowed.", True, applies="rebuild"
    )
    cgroup_root: str | None = _setting(
        _directory,
        "The cgroup tree to work on; in a plain directory the agent plays the kernel. "
        "Default: where this host mounts it.",
        None,
        "DIR",
    )
    state_dir: str = _setting(
        _directory, "Where the journal of original values is kept.", STATE_DIRECTORY, "DIR"
    )

    # --- reporting ---

    audit_log: str | None = _setting(
        _directory,
        "Write every decision with its reason, and every action, to FILE as JSON lines.",
        None,
        "FILE",
        arranges_host=False,
        common=True,
    )
    audit_size_bytes: int = _setting(
        parse_size_bytes,
        "Size of all files of the audit log together; the oldest decisions are dropped. An hour "
        "takes about 35MB.",
        256 << 20,
        "SIZE",
        name="audit_size",
        arranges_host=False,
    )
    metrics: str | None = _setting(
        parse_loopback,
        "Serve metrics for Prometheus at this address of this host, such as 127.0.0.1:9464.",
        None,
        "ADDRESS",
        arranges_host=False,
        common=True,
    )
    promise_hold_ns: int = _setting(
        _hold_ns,
        "How long a number of cores promised to a cluster engine is to hold.",
        10_000_000_000,
        "DURATION",
        name="promise_hold",
        arranges_host=False,
    )
    promise_probability: float = _setting(
        _probability,
        "The share of such promises that is to be kept.",
        0.95,
        "PERCENT",
        arranges_host=False,
    )

    # --- the expert's ---

    decisions: Decisions = _choice(
        Decisions,
        "Where policy smartharvest with the native learner decides: in the polling loop itself, or "
        "in the agent like every other policy.",
        "loop",
        "WHERE",
        expert=True,
        arranges_host=False,
    )
    cost: CostName = _choice(
        CostName,
        f"Cost function of the learner: {', '.join(get_args(CostName))}.",
        "skewed",
        "COST",
        expert=True,
        arranges_host=False,
    )
    label: Label = _choice(
        Label,
        "The peak that is learned: of demand (running + waiting tasks) or of busy cores, as in the "
        "paper.",
        "demand",
        "WHICH",
        expert=True,
        arranges_host=False,
    )
    features_after_exhaustion: FeaturesAfterExhaustion = _choice(
        FeaturesAfterExhaustion,
        "Features the window after a broken one is trained with: kept from before it, or the "
        "broken window's own.",
        "kept",
        "WHICH",
        expert=True,
        arranges_host=False,
    )
    exhausted_windows: ExhaustedWindows = _choice(
        ExhaustedWindows,
        "Whether an exhausted window's peak is learned as a label: skipped or trained.",
        "skipped",
        "WHETHER",
        expert=True,
        arranges_host=False,
    )
    accounting: Accounting = _choice(
        Accounting,
        "What a window is made of: exact (time at each number of busy cores, where the sensor sees "
        "every change) or sampled (one sample a poll, as in the paper).",
        "exact",
        "HOW",
        expert=True,
        applies="rebuild",
    )
    events: bool = _setting(
        _switch,
        "Sleep until something happens instead of polling, where the sensor sees every change.",
        True,
        expert=True,
        applies="rebuild",
    )
    pacing: Pacing = _choice(
        Pacing,
        "How the loop waits between polls: sleep or spin.",
        "sleep",
        "HOW",
        expert=True,
        applies="rebuild",
    )
    waits: WaitSource = _choice(
        WaitSource,
        "Where the waits are read if the sensor sees none: schedstat (/proc/TID/schedstat), "
        "taskstats (netlink, CAP_NET_ADMIN); auto takes the first that works.",
        "auto",
        "SOURCE",
        expert=True,
        applies="live",
    )
    long_term_share: float = _setting(
        _share,
        "Long-term safeguard: the share of a period's dispatches that may not wait too long.",
        0.01,
        "PERCENT",
        expert=True,
        applies="live",
    )
    long_term_threshold_ns: int = _setting(
        parse_duration_ns,
        "Long-term safeguard: a wait for a CPU above this is too long.",
        50_000,
        "DURATION",
        name="long_term_threshold",
        expert=True,
        applies="rebuild",
    )
    long_term_periods: int = _setting(
        _number_of("periods"),
        "Long-term safeguard: bad periods in a row that stop the lending.",
        2,
        "N",
        expert=True,
        applies="live",
    )
    long_term_period_ns: int = _setting(
        _period_ns,
        "Long-term safeguard: length of a period.",
        500_000_000,
        "DURATION",
        name="long_term_period",
        expert=True,
        applies="live",
    )
    long_term_rest_ns: int = _setting(
        parse_duration_ns,
        "Long-term safeguard: how long nothing is lent after that.",
        10_000_000_000,
        "DURATION",
        name="long_term_rest",
        expert=True,
        applies="live",
    )
    long_term_min_dispatches: int = _setting(
        _number_of("dispatches"),
        "Long-term safeguard: a period with fewer dispatches shows too little to be a bad one.",
        200,
        "N",
        expert=True,
        applies="live",
    )
    long_term_stuck_ns: int = _setting(
        parse_duration_ns,
        "Long-term safeguard: a task that has waited this long makes any period show enough.",
        500_000_000,
        "DURATION",
        name="long_term_stuck",
        expert=True,
        applies="live",
    )
    mechanism: MechanismName = _choice(
        MechanismName,
        "How a core changes hands: merge (one cpuset write), affinity (of each elastic thread) or "
        "cpugroups (tasks are moved between groups; slow, for comparison). A process is always "
        "moved by affinity.",
        "merge",
        "HOW",
        expert=True,
    )
    rescue: bool = _setting(
        _switch,
        "Have the kernel choose again where it has given a CPU to the elastic group although other "
        "tasks wait for it (needs the bpf sensor and cpu.idle).",
        True,
        expert=True,
        arranges_host=False,
    )
    control_priority: ControlPriority = _choice(
        ControlPriority,
        "Priority of the control plane while the loop runs: normal, nice (19) or idle (SCHED_IDLE, "
        "gives way at once). If it comes too late everything is given back.",
        "normal",
        "HOW",
        expert=True,
        applies="live",
    )

    def __post_init__(self) -> None:
        for name, item in FIELDS.items():
            value = getattr(self, item.name)
            if item.metadata["choices"] or isinstance(item.default, bool):
                item.metadata["parse"](value, name)
            elif isinstance(value, bool):
                raise ConfigError(f"{name}: {value} is no value of this setting")

    def require_targets(self) -> TargetSpec:
        """The elastic target, once both sides are known to be named. Raises ConfigError."""
        if not self.primary:
            raise ConfigError("primary: no target given; use --primary cgroup:PATH or pid:N")
        if self.elastic is None:
            raise ConfigError("elastic: no target given; use --elastic cgroup:PATH or pid:N")
        return self.elastic


def setting_name(item: dataclasses.Field[Any]) -> str:
    """The name in the file; the flag is the same with dashes."""
    return str(item.metadata["name"] or item.name)


FIELDS = {setting_name(item): item for item in dataclasses.fields(Settings)}


def changed_settings(old: Settings, new: Settings) -> dict[str, Applies]:
    """Name of each setting that differs -> when a running agent takes it up."""
    return {
        name: item.metadata["applies"]
        for name, item in FIELDS.items()
        if getattr(old, item.name) != getattr(new, item.name)
    }


def host_settings(settings: Settings) -> dict[str, str]:
    """The settings that the host is arranged by, as text: name -> value."""
    return {
        name: repr(getattr(settings, item.name))
        for name, item in FIELDS.items()
        if item.metadata["arranges_host"]
    }


@dataclass(frozen=True)
class Effective:
    """Settings, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Name of a setting -> ``FILE:LINE`` or ``--flag``; what is missing has its default."""


def load_settings(flags: Mapping[str, Any], config_file: str | None = None) -> Settings:
    """Settings from a TOML file (with drop-ins, see file.py) and from flags, which win.

    ``flags`` maps setting names to raw values; None means not given. Raises ConfigError, which
    names the file, the line and the key, for what cannot be read, is unknown or invalid.
    """
    return load_effective(flags, config_file).settings


def load_effective(flags: Mapping[str, Any], config_file: str | None = None) -> Effective:
    """As ``load_settings``, with where each value came from."""
    effective, problems = collect_settings(flags, config_file)
    if effective is None:
        more = ""
        if len(problems) > 1 and config_file is not None:
            others = f"{len(problems) - 1} more problem{'s'[: len(problems) > 2]}"
            more = f" (and {others}: smartharvest check-config {config_file})"
        raise ConfigError(f"{problems[0]}{more}")
    return effective


def collect_settings(
    flags: Mapping[str, Any], config_file: str | None = None
) -> tuple[Effective | None, list[Problem]]:
    """The settings, or all that is wrong with them."""
    entries, problems = read_config(config_file) if config_file is not None else ([], [])
    values: dict[str, Any] = {}
    origins: dict[str, Entry | str] = {}
    for entry in entries:
        name = entry.key.replace("-", "_")
        if wrong := _wrong_place(name, entry):
            problems.append(Problem(wrong, entry.file, entry.line))
            continue
        before = origins.get(name)
        if isinstance(before, Entry) and before.file == entry.file:
            text = f"{name}: given twice, with - and with _"
            problems.append(Problem(text, entry.file, entry.line))
        origins[name] = entry
        try:
            values[FIELDS[name].name] = FIELDS[name].metadata["parse"](entry.value, name)
        except ConfigError as error:
            problems.append(Problem(str(error), entry.file, entry.line))
    for name, raw in flags.items():
        if raw is not None:
            flag = "--" + name.replace("_", "-")
            origins[name] = flag
            try:
                values[FIELDS[name].name] = FIELDS[name].metadata["parse"](raw, flag)
            except ConfigError as error:
                problems.append(Problem(str(error)))
    settings = Settings(**values)
    for name, text in _contradictions(settings):
        origin = origins.get(name)
        where = (origin.file, origin.line) if isinstance(origin, Entry) else (None, None)
        problems.append(Problem(f"{name}: {text}", *where))
    if problems:
        # Files in the order they were read, each from its top.
        files = list(dict.fromkeys(problem.file for problem in problems))
        return None, sorted(problems, key=lambda one: (files.index(one.file), one.line or 0))
    spelled = {
        name: origin.origin if isinstance(origin, Entry) else origin
        for name, origin in origins.items()
    }
    return Effective(settings, spelled), []


def _contradictions(settings: Settings) -> list[tuple[str, str]]:
    """(name, what is wrong) of settings that are sound by themselves only."""
    found = []
    if settings.poll_ns < SHORTEST_POLL_NS:
        found.append(("poll", "a loop that polls so often has no time left; use 10us or more"))
    if settings.window_ns < settings.poll_ns:
        found.append(("window", "shorter than a poll; make --window at least as long as --poll"))
    if settings.order == "dynamic" and settings.placement != "shared":
        found.append(("order", "dynamic needs --placement shared"))
    if settings.order == "dynamic" and settings.mechanism != "merge":
        found.append(("order", "dynamic needs --mechanism merge"))
    return found


def _wrong_place(name: str, entry: Entry) -> str:
    """What is wrong with a key by itself or by its section; "" if nothing is."""
    if name == EXPERT:
        return f"{EXPERT}: is no setting but a section; write [{EXPERT}] on a line of its own"
    if name not in FIELDS:
        return f"unknown key {entry.key!r}{_suggestion(name)}"
    expert = FIELDS[name].metadata["expert"]
    if expert and not entry.expert:
        return f"{name}: is an expert setting; write it below a line [{EXPERT}]"
    if entry.expert and not expert:
        return f"{name}: is no expert setting; write it above the line [{EXPERT}]"
    return ""


def _suggestion(name: str) -> str:
    close = difflib.get_close_matches(name, FIELDS, n=1)
    return f"; did you mean {close[0]!r}?" if close else "; `smartharvest config example` shows all"
