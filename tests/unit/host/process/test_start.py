"""Children find their code where their parent has it, and nothing of the working directory's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import smartharvest
from smartharvest.host.process.start import python_command, run_command, start_python

PROBE = """
import json, os, sys
descriptors = sorted(map(int, os.listdir("/proc/self/fd")))
print(json.dumps([os.getcwd(), sys.argv[1:], sys.path, descriptors]))
"""
PLANTED = "raise SystemExit('planted code was run')"


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with modules in it that have the names of those that are needed."""
    for name in ("json", "runpy", "select", "smartharvest", "importlib"):
        (tmp_path / f"{name}.py").write_text(PLANTED)
    (tmp_path / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONHOME", "")
    return tmp_path


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("site", [True, False])
def test_code_in_the_working_directory_is_not_run(site: bool) -> None:
    command = python_command(
        "smartharvest.guardian", "/no/journal", "", "1", "1", "1", "1", site=site
    )
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_a_child_has_the_parents_package_and_slash_and_no_more_descriptors(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "elsewhere" / "probed"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "told.py").write_text(
        "import smartharvest, probed\nfile = smartharvest.__file__" + PROBE
    )
    monkeypatch.syspath_prepend(str(package.parent))
    __import__("probed")
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        child = start_python("probed.told", "a b", stdout=subprocess.PIPE)
        said, _ = child.communicate()
    finally:
        os.close(reading)
        os.close(writing)
    directory, arguments, path, descriptors = __import__("json").loads(said)
    assert (directory, arguments) == ("/", ["a b"])
    assert str(planted) not in path
    assert "" not in path
    assert max(descriptors) <= 3  # the fourth is that of the listing
    assert child.returncode == 0


def test_the_program_run_as_a_module_imports_nothing_more_from_the_working_directory(
    planted: Path,
) -> None:
    """Python itself looks there for the package and for runpy."""
    shutil.rmtree(planted / "elsewhere", ignore_errors=True)
    (planted / "runpy.py").unlink()
    (planted / "importlib.py").unlink()
    (planted / "smartharvest.py").unlink()
    (planted / "sitecustomize.py").unlink()
    environment = {key: value for key, value in os.environ.items() if "PYTHON" not in key}
    command = [sys.executable, "-m", "smartharvest", "doctor", "--help"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_copy_that_is_not_built_says_so(tmp_path: Path) -> None:
    assert smartharvest.__file__ is not None
    copy = tmp_path / "smartharvest"
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(os.path.dirname(smartharvest.__file__), copy, ignore=ignored)
    environment = {key: value for key, value in os.environ.items() if "PYTHON" not in key}
    ran = subprocess.run(
        [sys.executable, "-m", "smartharvest", "demo"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"smartharvest: {copy}: this copy is not built")
    assert ran.stderr.count("\n") == 1


def test_a_relative_entry_of_the_path_leads_nowhere(
    planted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = planted / "squeue"
    tool.write_text("#!/bin/sh\necho planted")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    with pytest.raises(FileNotFoundError):
        run_command("squeue", timeout_s=10)
