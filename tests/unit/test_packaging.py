from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from smartharvest import errors
from smartharvest.config.on_death import VARIABLE
from smartharvest.config.text import example_text
from tests.commands import smartharvest_here

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "packaging" / "smartharvest.service"
RESTORE = ROOT / "packaging" / "smartharvest-restore.service"
HOWTO = (ROOT / "docs" / "how-to" / "least-rights.md").read_text()

with_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="systemd-analyze is missing (make test-tools installs it)",
)


@pytest.fixture(params=["alone", "with the drop-in"])
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The path of a unit, and the score that the how-to tells of it."""
    text = UNIT.read_text().replace("/usr/bin/smartharvest", "/bin/true")
    told = re.search(r"unit (\S+) by\s+itself and (\S+) with", HOWTO)
    drop_in = re.search(r"```ini\n\[Service\]\n(.*?)```", HOWTO, re.DOTALL)
    assert told is not None
    assert drop_in is not None
    if request.param == "with the drop-in":
        text = text.replace("[Install]", f"{drop_in[1]}\n[Install]")
    path = tmp_path / UNIT.name
    path.write_text(text)
    (tmp_path / RESTORE.name).write_text(
        RESTORE.read_text().replace("/usr/bin/smartharvest", "/bin/true")
    )
    return str(path), told[1 if request.param == "alone" else 2]


@with_systemd
def test_the_unit_is_what_systemd_understands(unit: tuple[str, str]) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", unit[0]], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@with_systemd
def test_its_exposure_is_what_the_how_to_says(unit: tuple[str, str]) -> None:
    path, score = unit
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.search(r"Overall exposure level for .*: (\S+) ", done.stdout)
    if found is None:
        pytest.skip("this systemd-analyze judges no unit offline")
    assert abs(float(found[1]) - float(score)) < 0.5  # each version of systemd weighs anew


def settings_in(unit: Path) -> dict[str, list[str]]:
    """Key -> its values, in the order they stand there."""
    found: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("path", [UNIT, RESTORE])
def test_it_starts_nothing_that_the_package_does_not_bring_or_need(path: Path) -> None:
    programs = re.findall(r"(?m)^Exec\w+=(\S+)", path.read_text())
    assert programs
    assert set(programs) <= {"/usr/bin/smartharvest", "/bin/sh"}  # the shell is essential


def test_it_is_started_again_whatever_may_heal() -> None:
    unit = settings_in(UNIT)
    codes = {
        error.exit_code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.SmartHarvestError)
    }
    never = {int(code) for code in unit["RestartPreventExitStatus"][0].split()}
    assert never == {errors.ConfigError.exit_code} < codes
    assert unit["StartLimitIntervalSec"] == ["0"]
    assert unit["Restart"] == ["on-failure"]


def test_everything_is_restored_by_the_configuration_once_it_is_not_started_again() -> None:
    unit, restore = settings_in(UNIT), settings_in(RESTORE)
    config = unit["ExecStart"][0].partition(" --config ")[2]
    assert unit["ExecStopPost"][0].split()[1:] == ["restore", "--for-service", "--config", config]
    assert restore["ExecStart"][0].split()[1:] == ["restore", "--config", config]
    assert unit["OnFailure"] == unit["OnSuccess"] == [RESTORE.name]
    assert unit["Environment"] == [f"{VARIABLE}=minimum"]
    for command in (unit["ExecStopPost"][0], restore["ExecStart"][0]):
        name, *flags = command.split()[1:]
        assert set(flags) - {config} <= shown_flags(name)


@pytest.mark.parametrize(
    ("shown", "restores"),
    [
        ("ActiveState=inactive", True),
        ("Job=\nActiveState=failed", True),
        ("Job=0\nActiveState=inactive", True),
        ("", True),  # systemctl did not answer
        ("Job=731\nActiveState=inactive", False),
        ("ActiveState=activating", False),
    ],
)
def test_nothing_is_restored_while_the_unit_is_started_again(
    shown: str, restores: bool, tmp_path: Path
) -> None:
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(f"#!/bin/sh\nprintf '{shown}'\n")
    systemctl.chmod(0o755)
    (condition,) = settings_in(RESTORE)["ExecCondition"]
    command = shlex.split(condition.replace("$$", "$"))
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == (0 if restores else 1)


def test_it_may_do_what_the_example_configuration_asks_for() -> None:
    unit = settings_in(UNIT)
    families = set(unit["RestrictAddressFamilies"][0].split())
    assert {"AF_UNIX", "AF_NETLINK", "AF_INET", "AF_INET6"} <= families
    assert 'audit_log = "/var/log/smartharvest/' in example_text()
    assert unit["LogsDirectory"] == unit["StateDirectory"] == ["smartharvest"]


def shown_flags(command: str) -> set[str]:
    return set(
        re.findall(r"^  (--[a-z-]+)", smartharvest_here(command, "--help").out, re.MULTILINE)
    )


def maintainer_script(tmp_path: Path, name: str, *arguments: str, active: bool = True) -> list[str]:
    """Runs a script of the Debian package where systemd runs; what it had systemctl do."""
    booted, said = tmp_path / "booted", tmp_path / "said"
    booted.mkdir(exist_ok=True)
    (tmp_path / "bin").mkdir(exist_ok=True)
    systemctl = tmp_path / "bin" / "systemctl"
    systemctl.write_text(
        f'#!/bin/sh\necho "$@" >>{said}\n'
        f'case "$*" in *is-active*) exit {0 if active else 3};; esac\n'
    )
    systemctl.chmod(0o755)
    (python := tmp_path / "opt/smartharvest/bin/python").parent.mkdir(parents=True, exist_ok=True)
    python.unlink(missing_ok=True)
    python.symlink_to("/bin/true")
    script = (ROOT / "packaging" / "debian" / name).read_text()
    environment = {"DPKG_ROOT": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(
        ["sh", "-c", script.replace("/run/systemd/system", str(booted)), name, *arguments],
        env=environment, check=True,
    )  # fmt: skip
    lines = said.read_text().splitlines() if said.exists() else []
    said.unlink(missing_ok=True)
    return lines


def test_an_upgrade_of_the_package_has_a_running_agent_take_up_the_new_program(
    tmp_path: Path,
) -> None:
    takes_up = "kill --kill-who=main -s USR2 smartharvest.service"
    assert takes_up in maintainer_script(tmp_path, "postinst", "configure", "0.1.0")
    for active, arguments in ((True, ("configure", "")), (False, ("configure", "0.1.0"))):
        said = maintainer_script(tmp_path, "postinst", *arguments, active=active)
        assert "daemon-reload" in said
        assert takes_up not in said


def test_the_agent_ends_before_its_package_goes_and_runs_through_an_upgrade(
    tmp_path: Path,
) -> None:
    cached = tmp_path / "opt/smartharvest/lib/__pycache__"
    cached.mkdir(parents=True)
    assert maintainer_script(tmp_path, "prerm", "upgrade", "0.2.0") == []
    assert not cached.exists()
    assert maintainer_script(tmp_path, "prerm", "remove") == [
        "disable --quiet --now smartharvest.service",
        "start smartharvest-restore.service",
    ]


def test_purging_the_package_takes_what_the_agent_made_and_leaves_the_configuration(
    tmp_path: Path,
) -> None:
    for place in ("var/lib/smartharvest", "var/log/smartharvest"):
        (tmp_path / place).mkdir(parents=True)
    (config := tmp_path / "etc" / "smartharvest.toml").parent.mkdir()
    config.touch()
    maintainer_script(tmp_path, "postrm", "remove")
    assert (tmp_path / "var/lib/smartharvest").exists()
    maintainer_script(tmp_path, "postrm", "purge")
    assert not (tmp_path / "var/lib/smartharvest").exists()
    assert not (tmp_path / "var/log/smartharvest").exists()
    assert config.exists()
