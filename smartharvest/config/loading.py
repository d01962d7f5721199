"""Reads settings from flags and configuration files, and finds what is wrong with them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smartharvest.config.addresses import is_loopback
from smartharvest.config.elastic_groups import parse_elastic, parse_group
from smartharvest.config.file import EXPERT, Entry, Problem, read_config
from smartharvest.config.overlap import overlap
from smartharvest.config.settings import FIELDS, Settings
from smartharvest.config.sizes import format_size
from smartharvest.errors import ConfigError
from smartharvest.printable import counted, quoted

SHORTEST_POLL_NS = 10_000


@dataclass(frozen=True)
class Effective:
    """Settings, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """Name of a setting -> ``FILE:LINE`` or ``--flag``; what is missing has its default."""
    warnings: tuple[Problem, ...] = ()
    """What may be meant, but lends nothing."""


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
            more = f" (and {others}: smartharvest check-config {quoted(config_file)})"
        raise ConfigError(f"{problems[0]}{more}")
    return effective


def read_alone(config_file: str, *names: str) -> tuple[dict[str, Any], list[Problem]]:
    """The settings called ``names`` that ``config_file`` has, and what keeps them from being read.

    Nothing else in it matters, right or wrong: in an emergency a slip elsewhere must not.
    """
    entries, problems = read_config(config_file)
    found: dict[str, Any] = {}
    wrong = [] if entries else problems
    for entry in entries:
        name = entry.key.replace("-", "_")
        if name not in names:
            continue
        try:
            value = FIELDS[name].metadata["parse"](entry.value, name)
            _refuse_relative(value, entry.value, name)
            found[name] = value
        except ConfigError as error:
            wrong.append(Problem(str(error), entry.file, entry.line))
    return found, wrong


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
            values |= _parsed(name, entry.value, name)
            _refuse_relative(values[FIELDS[name].name], entry.value, name)
        except ConfigError as error:
            problems += _wrong_tables(entry) or [Problem(str(error), entry.file, entry.line)]
    for name, raw in flags.items():
        if raw is not None:
            flag = "--" + name.replace("_", "-")
            origins[name] = flag
            try:
                values |= _parsed(name, raw, flag)
            except ConfigError as error:
                problems.append(Problem(str(error)))
    settings = Settings(**values)
    problems += _located(_contradictions(settings), origins)
    if problems:
        # Files in the order they were read, each from its top.
        files = list(dict.fromkeys(problem.file for problem in problems))
        return None, sorted(problems, key=lambda one: (files.index(one.file), one.line or 0))
    spelled = {
        name: origin.origin if isinstance(origin, Entry) else origin
        for name, origin in origins.items()
    }
    return Effective(settings, spelled, tuple(_located(_doubts(settings), origins))), []


def _wrong_tables(entry: Entry) -> list[Problem]:
    """What is wrong with each of its tables [[elastic]] by itself."""
    found: list[Problem] = []
    if entry.key != "elastic" or not entry.tables:
        return found
    for number, (line, table) in enumerate(zip(entry.tables, entry.value, strict=True), 1):
        if not isinstance(table, Mapping):
            return []
        try:
            parse_group(table, entry.key, number)
        except ConfigError as error:
            found.append(Problem(str(error), entry.file, line))
    return found


def _parsed(name: str, value: Any, key: str) -> dict[str, Any]:
    """The fields of Settings that a value gives. Raises ConfigError, naming ``key``."""
    if name == "elastic":
        target, groups = parse_elastic(value, key)
        return {"elastic": target, "elastic_groups": groups}
    return {FIELDS[name].name: FIELDS[name].metadata["parse"](value, key)}


def _located(found: list[tuple[str, str]], origins: Mapping[str, Entry | str]) -> list[Problem]:
    """The (name, what is wrong) found, each with the file and line of its setting."""
    problems = []
    for name, text in found:
        origin = origins.get(name)
        where = (origin.file, origin.line) if isinstance(origin, Entry) else (None, None)
        problems.append(Problem(f"{name}: {text}", *where))
    return problems


def _refuse_relative(value: Any, written: Any, name: str) -> None:
    """Raises ConfigError for a relative path in a file: a service starts in /, a shell anywhere.

    A flag may be relative, as paths in a command line are.
    """
    if isinstance(value, str) and os.path.isabs(value) and not os.path.isabs(written):
        raise ConfigError(f"{name}: {written!r} depends on where the agent starts; begin it with /")


def _contradictions(settings: Settings) -> list[tuple[str, str]]:
    """(name, what is wrong) of settings that are sound by themselves only."""
    found = []
    if settings.poll_ns < SHORTEST_POLL_NS:
        found.append(("poll", "a loop that polls so often has no time left; use 10us or more"))
    if settings.window_ns < settings.poll_ns:
        found.append(("window", "shorter than a poll; make --window at least as long as --poll"))
    if settings.order == "dynamic" and settings.placement == "exclusive":
        found.append(("order", "dynamic needs --placement shared"))
    if settings.order == "dynamic" and settings.mechanism in ("affinity", "cpugroups"):
        found.append(("order", "dynamic needs --mechanism merge"))
    if settings.web is not None and settings.web_token is None and not is_loopback(settings.web):
        found.append(("web", "other hosts could reach it; use 127.0.0.1, or set web_token"))
    found += _wrong_groups(settings)
    if settings.elastic is not None:
        found += [
            ("elastic", f"{why}; name separate targets")
            for primary in settings.primary
            if (why := overlap(primary, settings.elastic, settings.cgroup_root))
        ]
    return found


def _wrong_groups(settings: Settings) -> list[tuple[str, str]]:
    """The same of several elastic groups, and of what is lent to nobody in particular."""
    found = []
    promised, least = settings.least_elastic, settings.elastic_min
    if promised is not None and least is not None and promised > least:
        text = f"the groups' minima add up to {promised}, and elastic_min is {least}"
        found.append(("elastic", f"{text}; leave elastic_min out, or make it as large"))
    if settings.divides and settings.mechanism != "merge":
        found.append(("mechanism", f"{settings.mechanism} moves one group only; use merge"))
    if settings.order == "dynamic" and settings.divides:
        found.append(("order", "dynamic is for one elastic group; use topology"))
    if any(group.notice_ns is not None for group in settings.elastic_groups):
        if settings.placement == "exclusive":
            text = "exclusive gives the primaries no core of a frozen group; leave notice out"
            found.append(("placement", text))
        if settings.park == "freeze":
            found.append(("park", "freeze does not go with a group's notice; use idle"))
    if settings.order == "dynamic" and settings.lends_nobodys:
        found.append(("order", "dynamic does not go with unallocated; use topology"))
    needs = settings.placement != "exclusive" and settings.cpu_idle
    if settings.unallocated_by_quota and not needs:
        text = "primaries may run there, too; it needs placement shared and cpu_idle"
        found.append(("unallocated_by_quota", text))
    return found


def _doubts(settings: Settings) -> list[tuple[str, str]]:
    """(name, what is odd) of settings that an agent takes, or may refuse on this host only."""
    found = []
    cpus = os.cpu_count() or 1
    least = sum(one.memory.min for one in settings.elastic_groups if one.memory is not None)
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if least > machine:
        text = f"the groups' minima of memory add up to {format_size(least)}"
        found.append(("elastic", f"{text}; this host has {machine >> 20} MiB"))
    if (promised := settings.least_elastic or 0) >= cpus:
        text = f"the groups' minima add up to {counted(promised, 'core')}"
        found.append(("elastic", f"{text}; this host has {cpus}, and primaries keep one"))
    if settings.max_harvest == 0:
        found.append(("max_harvest", "0 lends nothing, ever; remove it, or use dry_run to watch"))
    elif settings.max_harvest is not None and settings.max_harvest >= cpus:
        text = f"{settings.max_harvest} is more than this host can lend (it has {cpus} CPUs)"
        found.append(("max_harvest", f"{text}; what can be lent is the limit"))
    if settings.keep_idle >= cpus:
        text = f"{settings.keep_idle} leaves nothing to lend on this host (it has {cpus} CPUs)"
        found.append(("keep_idle", f"{text}; choose less"))
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
