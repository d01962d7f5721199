"""The tutorial, followed to the letter in an empty directory, and on a clean Debian."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from tests.debian import mirror
from tests.integration.hosts import need_a_free_cpu

pytestmark = [pytest.mark.timing, pytest.mark.root]

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
GROUPS = ("tutorial-web", "tutorial-batch")
PAGE = "127.0.0.1:9465"
LONGEST_S = 100
STOP = "trap 'exit 1' ERR\n"
"""At the first step that fails; not in subshells, where the service's own steps may."""
SAID = (
    "dry run: ", "agent.toml: good", "harvested ", "paused: ", "resumed", "nothing to restore",
    "The agent started: cgroup:tutorial-web lends to cgroup:tutorial-batch",
    "Nothing was changed. The agent would start", "core-hours: ",
)  # fmt: skip


def blocks(version: int, packaged: bool = False) -> list[str]:
    """What is to be typed on a host with this version of cgroups; ``packaged``: to install, too."""
    fenced = re.compile(r"^```sh(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = fenced.findall(TUTORIAL.read_text())
    wanted = {"", f"v{version}"} | ({"deb"} if packaged else set())
    return [text for only, text in found if only in wanted]


def _remove_groups(mounts: set[str]) -> list[str]:
    """What was still there."""
    left = [f"{mount}/{group}" for mount in mounts for group in GROUPS]
    left = [path for path in left if os.path.exists(path)]
    for path in left:
        until_s = time.monotonic() + 5.0
        while os.path.exists(path) and time.monotonic() < until_s:
            with suppress(OSError):  # its tasks are ending
                os.rmdir(path)
            time.sleep(0.01)
    return left


def _page() -> bytes:
    """What is at the page's address now; nothing if nobody answers."""
    try:
        with urllib.request.urlopen(f"http://{PAGE}/", timeout=10) as answer:
            return bytes(answer.read())
    except OSError:
        return b""


def follow(
    command: list[str], work: Path, longest_s: float = LONGEST_S, **more: str
) -> tuple[str, str, bool]:
    """(said, complained, whether the page was served). Fails if a step does; ends all it began."""
    mounts = set(CgroupTree.discover().hierarchies.values())
    # Into files: the loads of a step that failed keep a pipe open.
    with (work / "said").open("w") as out, (work / "complained").open("w") as err:
        typed = subprocess.Popen(
            command, cwd=work, env={**os.environ, **more}, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
    served = False
    try:
        until_s = time.monotonic() + longest_s
        while typed.poll() is None and time.monotonic() < until_s:
            served = served or b"<title>SmartHarvest</title>" in _page()
            time.sleep(0.1)
        assert typed.poll() is not None, "it hangs"
    finally:  # a step that failed leaves the loads spinning, in their groups
        with suppress(ProcessLookupError):
            os.killpg(typed.pid, signal.SIGKILL)
        removed = _remove_groups(mounts)
    said, complained = ((work / name).read_text() for name in ("said", "complained"))
    assert typed.returncode == 0, said + complained
    for words in SAID:
        assert words in said, said
    assert "the configuration in force stays" not in complained
    assert "Reloaded: nothing has changed" not in complained
    assert removed == []
    return said, complained, served


@pytest.fixture
def tree() -> CgroupTree:
    """This host's, if the tutorial can be followed on it now."""
    found = CgroupTree.discover()
    mounts = set(found.hierarchies.values())
    if any(os.path.exists(f"{mount}/{group}") for mount in mounts for group in GROUPS):
        pytest.skip("the tutorial's groups are there already")
    with socket.socket() as probe:
        host, _, port = PAGE.partition(":")
        if probe.connect_ex((host, int(port))) == 0:
            pytest.skip(f"somebody listens on {PAGE} already")
    need_a_free_cpu(found)
    return found


def test_it_works_as_it_is_written_and_leaves_nothing_behind(
    tree: CgroupTree, tmp_path: Path
) -> None:
    command = tmp_path / "bin" / "smartharvest"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m smartharvest "$@"\n')
    command.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    script = STOP + "\n".join(blocks(tree.version))
    *_, served = follow(
        ["bash", "-c", script],
        work,
        PATH=f"{command.parent}:{os.environ['PATH']}",
        PYTHONPATH=str(TUTORIAL.parents[1]),
    )
    assert served
    assert "<svg" in (work / "day.html").read_text()


LATER = "+later"
"""What the version of the newer package ends with."""


def make_newer(package: Path, directory: Path) -> None:
    """The same package with a later version, in ``directory``."""
    unpacked = directory / "unpacked"
    subprocess.run(["dpkg-deb", "-R", str(package), str(unpacked)], check=True)
    control = unpacked / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^(Version: .*)$", rf"\1{LATER}", control.read_text()))
    build = ["dpkg-deb", "--build", "--root-owner-group", str(unpacked), str(directory)]
    subprocess.run(build, check=True, capture_output=True)
    shutil.rmtree(unpacked)


CHROOT = """
set -e
mount --make-rprivate /
for place in proc sys dev; do mount --rbind /$place $0/$place; done
mount -t tmpfs tmpfs $0/run
cd $0
exec chroot $0 /bin/bash -c 'cd /root/new; export HOME=/root; exec bash -c "$0"' "$1"
"""
MINUTES = 30


@pytest.mark.slow
@pytest.mark.timeout(MINUTES * 60)
@pytest.mark.skipif(shutil.which("debootstrap") is None, reason="debootstrap is missing")
def test_a_new_user_follows_it_on_a_clean_debian_with_the_package(
    tree: CgroupTree, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """From installing to removing, in a root file system that has Python and nothing else; the
    package has become a newer one when the tutorial installs it again."""
    sources = TUTORIAL.parents[1]
    subprocess.run(["make", "deb"], cwd=sources, check=True, capture_output=True)
    root = Path(os.environ.get("SMARTHARVEST_CLEAN_ROOT", tmp_path / "root"))
    if not root.exists():
        options = ["--variant=minbase", "--include=python3"]
        release = subprocess.run(
            ["sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
        subprocess.run(
            ["debootstrap", *options, release, str(root), mirror()], check=True, capture_output=True
        )
    new = root / "root" / "new"
    new.mkdir()
    request.addfinalizer(lambda: shutil.rmtree(new))
    (package,) = (sources / "dist").glob("smartharvest_*.deb")
    shutil.copy(package, new)
    (new / "later").mkdir()
    make_newer(package, new / "later")
    (work := tmp_path / "outside").mkdir()
    *before, last = blocks(tree.version, packaged=True)
    script = STOP + "\n".join((*before, "rm smartharvest_*.deb && mv later/*.deb .\n", last))
    command = ["unshare", "--mount", "bash", "-c", CHROOT, str(root), script]
    said, _, served = follow(command, work, longest_s=6 * LONGEST_S)
    assert served
    assert "Setting up smartharvest" in said
    assert re.search(rf"Unpacking smartharvest \S* ?\(\S+{re.escape(LATER)}\) over ", said), said
    assert "Removing smartharvest" in said
    assert "<svg" in (new / "day.html").read_text()
    assert not (root / "opt" / "smartharvest").exists()
    assert not (root / "usr" / "bin" / "smartharvest").is_symlink()
