"""Draws the decision tree and the time line of a failure: python docs/pictures.py

As SVG, from the texts below, so that words and picture change together.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

HERE = Path(__file__).parent
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
    'font-family="sans-serif" font-size="13">\n<title>{title}</title>\n'
    '<rect width="{width}" height="{height}" fill="#fff"/>\n'
)

TREE = (
    ("Is the P99 all right with the batch under cpu.idle alone?", ("cpu.idle, no agent",)),
    (
        "A bpf sensor, shared placement, a batch that may be frozen?",
        ("adaptive", "the default; minimum not given: it is judged, too"),
    ),
    (
        "A bpf sensor, and eight cores or more?",
        ("adaptive", "minimum 1: the batch always has a core"),
    ),
)
OTHERWISE = ("smartharvest", "minimum 0 on two CPUs, otherwise 1")

MOMENTS = (
    (0, "agent is killed", "#b03030"),
    (1, "guardian sees it:\nthe batch shrinks\nto its minimum", "#2e6b45"),
    (2, "originals are put back;\nunder the packaged unit the\nbatch keeps its minimum", "#2e6b45"),
    (3, "service manager\nstarts the next agent", "#4a6fa5"),
    (4, "it lends again", "#4a6fa5"),
)
"""(place on the line, what happens, colour)"""
SPANS = (
    (0, 1, "milliseconds"),
    (1, 2, "milliseconds"),
    (2, 3, "5 s (RestartSec=)"),
    (3, 4, "about a second"),
)


def text(x: float, y: float, words: str, more: str = "") -> str:
    lines = words.split("\n")
    return "".join(
        f'<text x="{x:g}" y="{y + 16 * number:g}" {more}>{escape(line)}</text>\n'
        for number, line in enumerate(lines)
    )


def box(x: float, y: float, width: float, lines: tuple[str, ...], colours: str) -> str:
    height = 18 + 16 * len(lines)
    drawn = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height}" rx="5" {colours}/>\n'
    for number, line in enumerate(lines):
        weight = 'font-weight="bold"' if number == 0 and len(lines) > 1 else ""
        middle = f'text-anchor="middle" {weight}'
        drawn += text(x + width / 2, y + 21 + 16 * number, line, middle)
    return drawn


def arrow(x1: float, y1: float, x2: float, y2: float, label: str) -> str:
    tip = f"M{x2 - 7:g} {y2 - 4:g}L{x2:g} {y2:g}L{x2 - 7:g} {y2 + 4:g}z"
    if x1 == x2:
        tip = f"M{x2 - 4:g} {y2 - 7:g}L{x2:g} {y2:g}L{x2 + 4:g} {y2 - 7:g}z"
    at = (x1 + 8, (y1 + y2) / 2 + 4) if x1 == x2 else ((x1 + x2) / 2 - 10, y1 - 6)
    return (
        f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="#444" fill="none"/>\n'
        f'<path d="{tip}" fill="#444"/>\n' + text(*at, label, 'fill="#444"')
    )


def tree() -> str:
    step, wide = 92, 370
    question, answer = 'fill="#e4ecf7" stroke="#4a6fa5"', 'fill="#e3f1e6" stroke="#3c7d4f"'
    height = step * (len(TREE) + 1)
    drawn = HEAD.format(width=780, height=height, title="Which policy, and which minimum")
    for number, (asked, chosen) in enumerate(TREE):
        y = 20 + step * number
        drawn += box(20, y, wide, (asked,), question)
        drawn += arrow(20 + wide, y + 17, 460, y + 17, "yes")
        drawn += box(460, y, 300, chosen, answer)
        drawn += arrow(20 + wide / 2, y + 34, 20 + wide / 2, y + step, "no")
    drawn += box(20, 20 + step * len(TREE), wide, OTHERWISE, answer)
    return drawn + "</svg>\n"


def time_line() -> str:
    left, step, y = 80, 170, 100
    drawn = HEAD.format(width=840, height=210, title="A killed agent, and what follows")
    end = left + step * (len(MOMENTS) - 1) + 60
    drawn += f'<path d="M30 {y}L{end} {y}" stroke="#444" stroke-width="2"/>\n'
    lent = 'height="22" fill="#c9e4d0"'
    drawn += f'<rect x="30" y="{y + 44}" width="{left + step - 30}" {lent}/>\n'
    last = left + step * 4
    drawn += f'<rect x="{last}" y="{y + 44}" width="{end - last}" {lent}/>\n'
    drawn += text(30, y + 82, "green: cores are lent")
    for place, words, colour in MOMENTS:
        x = left + step * place
        drawn += f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>\n'
        top = y - 18 - 16 * words.count("\n")
        drawn += text(x, top, words, f'text-anchor="middle" fill="{colour}"')
    for begin, finish, words in SPANS:
        x = left + step * (begin + finish) / 2
        drawn += text(x, y + 24, words, 'text-anchor="middle" fill="#666" font-size="12"')
    return drawn + "</svg>\n"


PICTURES = {"how-to/choose-a-policy.svg": tree, "reference/failure.svg": time_line}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (HERE / name).write_text(draw())
