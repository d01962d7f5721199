"""What is given to others: the source distribution and the Debian package, made and used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from smartharvest import __version__
from smartharvest.agent import supervisor
from smartharvest.telemetry import view

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]


def run(*command: str, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_source_distribution_builds_without_a_network(tmp_path: Path) -> None:
    run("make", "sdist")
    alone = ["unshare", "--net"] if os.geteuid() == 0 else []
    archive = str(ROOT / "dist" / f"smartharvest-{__version__}.tar.gz")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", str(tmp_path)]
    run(*alone, sys.executable, "-m", "pip", "wheel", *options, archive, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "zipfile", "-e", str(wheel), str(tmp_path / "there"))
    found = {path.name.split(".")[0] for path in (tmp_path / "there").rglob("*.so")}
    assert found == {path.stem for path in (ROOT / "smartharvest" / "core").glob("*.pyx")}


@pytest.mark.skipif(
    shutil.which("dpkg-deb") is None or os.geteuid() != 0, reason="needs dpkg and root"
)
def test_the_debian_package_is_installed_used_and_removed(tmp_path: Path) -> None:
    run("make", "deb")
    (package,) = (ROOT / "dist").glob(f"smartharvest_{__version__}_*.deb")
    database = tmp_path / "var" / "lib" / "dpkg"
    (database / "info").mkdir(parents=True)
    (database / "updates").mkdir()
    (database / "status").touch()
    dpkg = ["dpkg", f"--root={tmp_path}", "--force-depends", "--force-script-chrootless"]
    run(*dpkg, "-i", str(package))
    for file in (
        "lib/systemd/system/smartharvest.service",
        "lib/systemd/system/smartharvest-restore.service",
        "usr/share/man/man1/smartharvest-agent.1.gz",
        "usr/share/bash-completion/completions/smartharvest",
        "usr/share/zsh/vendor-completions/_smartharvest",
        "usr/share/fish/vendor_completions.d/smartharvest.fish",
        "usr/share/doc/smartharvest/examples/smartharvest.toml",
    ):
        assert (tmp_path / file).stat().st_size > 0, file
    assert os.readlink(tmp_path / "usr/bin/smartharvest") == "/opt/smartharvest/bin/smartharvest"
    python = str(tmp_path / "opt/smartharvest/bin/python")
    script = (tmp_path / "opt/smartharvest/bin/smartharvest").read_text()
    assert script.startswith("#!/opt/smartharvest/bin/python -I\n")
    said = run(python, "-I", "-m", "smartharvest", "--version", cwd=tmp_path)
    assert __version__ in said
    run(python, "-I", "-c", f"import {supervisor.__name__}, {view.__name__}")
    run(*dpkg, "-r", "smartharvest")
    assert not (tmp_path / "opt/smartharvest").exists()
