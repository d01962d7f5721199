"""The demonstration's picture: cores of each node, and what the job got done with all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

BIN_S = 3.0
LENT, BELIEVED, USED = "#d8ecd8", "#2f6f9f", "#c8553d"


def draw(seen: Mapping[str, Any], most: int, picture: Path) -> None:
    """``seen`` as __main__.py gathers it; ``most`` cores of a node, the axes' height."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, rows = plt.subplots(
        len(seen) + 1, 1, figsize=(9, 7.2), sharex=True, layout="constrained"
    )
    for axes, (name, looked) in zip(rows, seen.items(), strict=False):
        axes.fill_between(looked.at_s, looked.lent, step="post", color=LENT, label="there")
        axes.step(looked.at_s, looked.believed, where="post", color=BELIEVED, label="told to Ray")
        axes.step(looked.at_s, looked.used, where="post", color=USED, linewidth=1.2, label="in use")
        axes.set_ylim(0, most + 0.5)
        axes.set_ylabel(f"{name}: cores")
    rows[0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False)
    axes = rows[-1]
    fits_s = sorted(at_s for looked in seen.values() for at_s in looked.fits_s)
    ends = [BIN_S * number for number in range(int(fits_s[-1] / BIN_S) + 2)]
    axes.hist(fits_s, ends, weights=[1 / BIN_S] * len(fits_s), color="#b9b9b9", label="fits")
    axes.set_ylabel("fits a second")
    axes.set_xlabel("seconds since the job was started")
    total = axes.twinx()
    everywhere = [looked.believed for looked in seen.values()]
    length = min(map(len, everywhere))
    at_s = next(iter(seen.values())).at_s[:length]
    total.step(
        at_s, [sum(cores) for cores in zip(*everywhere, strict=False)], where="post", color=BELIEVED
    )
    total.set_ylim(0, most * len(seen) + 0.5)
    total.set_ylabel("cores told, both nodes", color=BELIEVED)
    axes.set_xlim(0, max(at_s))
    for row in rows:
        row.spines["top"].set_visible(False)
        row.grid(axis="y", linewidth=0.4, alpha=0.5)
    figure.savefig(picture, dpi=110)
    plt.close(figure)
