"""The systemd lab's results as a table: what held under which systemd and kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MARKS = {"held": "yes", "broken": "**no**"}


def as_markdown(document: Mapping[str, Any]) -> str:
    """A row for each scenario, and below the table why something did not hold."""
    head = f"systemd {document.get('systemd', '?')}, Linux {document.get('kernel', '?')}"
    lines = [f"| {head} | holds | figures |", "|---|---|---|"]
    reasons = []
    for name, result in document["scenarios"].items():
        figures = result.get("figures", {})
        told = ", ".join(
            f"{key.removesuffix('_s')} {_figure(key, figures[key])}" for key in figures
        )
        lines.append(f"| {name} | {_MARKS.get(result['outcome'], 'not run')} | {told} |")
        reasons += [f"- {name}: {' / '.join(why.splitlines())}" for why in result.get("broken", ())]
    return "\n".join([*lines, "", *reasons, ""])


def _figure(key: str, value: float) -> str:
    return f"{value:g} s" if key.endswith("_s") else f"{value:g}"
