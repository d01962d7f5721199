"""The Debian packages that the lab installs: the last one, and this checkout's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.lab.image import CHECKOUT
from tests.lab.systemd.image import HOME

NO_RELEASE_YET = "9a4b2ca"
"""What counts as the last package while the repository has no tag.

Its agent answers a foreign write when the kernel tells of it; the agent of 2dea06a did so at its
next look, after up to a second.
"""
_VERSION = re.compile(r'(?m)^__version__ = "(.*)"$')


def last_package(tags: str) -> str:
    """The commit of the last package, from what ``git tag --sort=-creatordate`` says."""
    return next(iter(tags.split()), NO_RELEASE_YET)


def older_version(text: str, new: str) -> str:
    """``smartharvest/__init__.py`` of the last package, with a version that is not ``new``.

    So dpkg and the agents' own words tell the two apart where nothing was released in between.
    """
    found = _VERSION.search(text)
    if found is None or found[1] != new:
        return text
    return _VERSION.sub('__version__ = "0.0.0"', text)


def build(old: str | None) -> dict[str, Path]:
    """``old`` (a commit; the last package's by default) and ``new``, each as a package."""
    commit = _git("rev-parse", old or last_package(_git("tag", "--sort=-creatordate")))
    return {"old": _old_package(commit), "new": _new_package()}


def _new_package() -> Path:
    """This checkout's, built anew if anything in it is newer."""
    names = [*_git("ls-files", "smartharvest", "csrc", "packaging").splitlines()]
    names += ["pyproject.toml", "setup.py"]
    place = HOME / "new"
    found = next(place.glob("*.deb"), None)
    newest_s = max(path.stat().st_mtime for name in names if (path := CHECKOUT / name).exists())
    if found is None or found.stat().st_mtime < newest_s:
        found = _build(CHECKOUT, place)
    return found


def _old_package(commit: str) -> Path:
    place = HOME / f"old-{commit[:12]}"
    found = next(place.glob("*.deb"), None)
    if found is not None:
        return found
    source = HOME / "source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    archive = subprocess.run(
        ["git", "archive", commit], cwd=CHECKOUT, check=True, stdout=subprocess.PIPE
    ).stdout
    subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
    init = source / "smartharvest" / "__init__.py"
    new = _VERSION.search((CHECKOUT / "smartharvest" / "__init__.py").read_text())
    assert new is not None
    init.write_text(older_version(init.read_text(), new[1]))
    found = _build(source, place)
    shutil.rmtree(source)
    return found


def _build(source: Path, place: Path) -> Path:
    """What ``make deb`` does there."""
    done = subprocess.run(
        ["nice", "packaging/deb.sh", sys.executable],
        cwd=source,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"lab: packaging/deb.sh in {source} failed:\n{done.stdout[-2000:]}")
    built = max((source / "dist").glob("*.deb"), key=lambda path: path.stat().st_mtime)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return Path(shutil.copy(built, place))


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=CHECKOUT, check=True, capture_output=True, text=True
    ).stdout.strip()
