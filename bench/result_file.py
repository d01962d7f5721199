"""Where a bench's document is kept: what took minutes to measure is not lost for want of a file."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import click

from bench.subject import Figures

SHELTERS = (Path(tempfile.gettempdir()), Path("/dev/shm"))


def check(out: Path | None) -> None:
    """Before the run: raises ClickException if nothing can be written next to ``out``."""
    if out is None:
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        draft = _draft(out)
        draft.write_text("{}\n")
        draft.unlink()
    except OSError as error:
        raise click.ClickException(
            f"{out}: cannot be written: {error.strerror}; name another file with --out"
        ) from None


def keep(document: Figures, out: Path | None) -> None:
    """To standard output, and to ``out`` if it is named; what that held is replaced as a whole.

    Where it cannot be written by now, a file elsewhere is, and the exit status is 1.
    """
    text = json.dumps(document, indent=1) + "\n"
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        click.echo(text, nl=False)
    except OSError:
        click.echo("careful: standard output cannot be written", err=True)
    try:
        replace(out, text)
    except OSError as error:
        kept = _shelter(out.name, text)
        where = f"kept as {kept}: move it there" if kept else "and nowhere else"
        click.echo(f"bench: {out}: cannot be written: {error.strerror}; {where}", err=True)
        sys.exit(1)


def replace(out: Path, text: str) -> None:
    """As a whole: it holds the old text or the new one. Raises OSError."""
    draft = _draft(out)
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, out)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _shelter(name: str, text: str) -> Path | None:
    for place in SHELTERS:
        kept = place / f"smartharvest-{os.getpid()}-{name}"
        try:
            replace(kept, text)
        except OSError:
            continue
        return kept
    return None


def _draft(out: Path) -> Path:
    return out.with_name(f".{out.name}.{os.getpid()}")
