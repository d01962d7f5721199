"""Completion of values: policies, sensors, groups that exist. (Agents: agent_request.py.)

A shell asks while somebody types: what cannot be read is left out without a word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import Field
from typing import Any

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_UNITS = (".service", ".slice", ".scope")
_MOST = 500


def completion_of(name: str, item: Field[Any]) -> Complete | None:
    """What completes the setting called ``name``; None: nothing does."""
    if name in ("primary", "elastic"):
        return complete_target
    if name == "policy":
        return complete_policy
    if choices := item.metadata["choices"]:
        return lambda _context, _option, typed: _starting(choices, typed)
    kind = {"FILE": "file", "DIR": "dir"}.get(item.metadata["metavar"] or "")
    return None if kind is None else lambda _context, _option, typed: [_path(typed, kind)]


def complete_file(_context: object, _option: object, typed: str) -> list[CompletionItem]:
    """Files and directories, by the shell."""
    return [_path(typed, "file")]


def complete_policy(_context: object, _option: object, typed: str) -> list[CompletionItem]:
    """The policies; of those that a number follows up to the colon."""
    from smartharvest.algorithm.policy import POLICY_NAMES

    return _starting([name.partition("N")[0] for name in POLICY_NAMES], typed)


def complete_target(
    context: click.Context, _option: click.Parameter, typed: str
) -> list[CompletionItem]:
    """The kinds of targets, and behind ``cgroup:`` and ``systemd:`` what there is."""
    from smartharvest.errors import SmartHarvestError
    from smartharvest.host.cgroup.tree import CgroupTree
    from smartharvest.host.target.targets import KINDS

    kind, colon, value = typed.partition(":")
    if not colon:
        return _starting([f"{name}:" for name in KINDS], typed)
    try:
        tree = CgroupTree.discover(context.params.get("cgroup_root"))
    except (SmartHarvestError, OSError):
        return []
    roots = sorted(set(tree.hierarchies.values()))
    if kind == "cgroup":
        place = os.path.dirname(value)
        names = {name for root in roots for name in _below(os.path.join(root, place))}
        return _starting((f"cgroup:{os.path.join(place, name)}" for name in names), typed)
    if kind == "systemd":
        outer = {os.path.join(root, name) for root in roots for name in _below(root)}
        units = {name for path in outer for name in (os.path.basename(path), *_below(path))}
        return _starting((f"systemd:{unit}" for unit in units if unit.endswith(_UNITS)), typed)
    return []


def _below(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _starting(values: Iterable[str], typed: str) -> list[CompletionItem]:
    found = sorted({value for value in values if value.startswith(typed) and value.isprintable()})
    return [CompletionItem(value) for value in found[:_MOST]]


def _path(typed: str, kind: str) -> CompletionItem:
    return CompletionItem(typed, type=kind)
