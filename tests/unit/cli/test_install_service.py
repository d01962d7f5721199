"""``install-service``: what it makes below another root, and what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smartharvest.cli import install_service
from smartharvest.config.loading import load_settings
from tests.commands import Outcome, smartharvest_here

TARGETS = ("--primary", "cgroup:web", "--elastic", "cgroup:batch")
PROGRAM = "/opt/smartharvest/bin/smartharvest"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install_service, "_program", lambda: PROGRAM)


def install(root: Path, *more: str) -> Outcome:
    return smartharvest_here("install-service", "--group", "", "--root", str(root), *more)


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_it_installs_units_that_start_this_program_and_a_first_configuration(
    tmp_path: Path,
) -> None:
    assert install(tmp_path, *TARGETS).code == 0
    assert files(tmp_path) == {
        "etc/smartharvest.toml",
        "etc/systemd/system/smartharvest.service",
        "etc/systemd/system/smartharvest-restore.service",
    }
    unit = (tmp_path / "etc/systemd/system/smartharvest.service").read_text()
    assert f"ExecStart={PROGRAM} agent --config /etc/smartharvest.toml" in unit
    assert "/usr/bin/smartharvest" not in unit
    settings = load_settings({}, str(tmp_path / "etc/smartharvest.toml"))
    assert [str(one) for one in settings.primary] == ["cgroup:web"]
    assert str(settings.elastic) == "cgroup:batch"
    assert settings.audit_log == "/var/log/smartharvest/audit.jsonl"
    assert (tmp_path / "var/log/smartharvest").stat().st_mode & 0o777 == 0o750


def test_a_dry_run_makes_nothing(tmp_path: Path) -> None:
    outcome = install(tmp_path, "--dry-run", *TARGETS)
    assert outcome.code == 0
    assert "would make file /etc/smartharvest.toml" in outcome.out
    assert os.listdir(tmp_path) == []


def test_a_second_time_nothing_is_to_do(tmp_path: Path) -> None:
    install(tmp_path, *TARGETS)
    outcome = install(tmp_path)
    assert outcome.code == 0
    assert outcome.out.startswith("nothing to do")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    install(tmp_path, *TARGETS)
    other = install(tmp_path, "--primary", "cgroup:other", "--elastic", "cgroup:batch")
    assert other.code == 2
    assert "is there already" in other.failure
    unit = tmp_path / "etc/systemd/system/smartharvest.service"
    unit.write_text("mine\n")
    assert install(tmp_path).code == 2
    assert unit.read_text() == "mine\n"


def test_an_unchanged_unit_gives_way_to_a_later_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, *TARGETS)
    monkeypatch.setattr(install_service, "_program", lambda: "/opt/later/bin/smartharvest")
    assert "would replace file /etc/systemd/system" in install(tmp_path, "--dry-run").out
    assert install(tmp_path).code == 0
    unit = tmp_path / "etc/systemd/system/smartharvest.service"
    assert "ExecStart=/opt/later/bin/smartharvest agent" in unit.read_text()
    monkeypatch.setattr(install_service, "_program", lambda: PROGRAM)
    assert install(tmp_path, "--remove").code == 0
    assert files(tmp_path) == {"etc/smartharvest.toml"}


def test_a_unit_that_somebody_has_changed_stays(tmp_path: Path) -> None:
    install(tmp_path, *TARGETS)
    unit = tmp_path / "etc/systemd/system/smartharvest.service"
    changed = unit.read_text().replace("RestartSec=5s", "RestartSec=9s")
    unit.write_text(changed)
    assert install(tmp_path).code == 2
    assert "remove it by hand" in install(tmp_path, "--remove").failure
    assert unit.read_text() == changed


def test_a_unit_of_a_package_is_left_alone(tmp_path: Path) -> None:
    packaged = tmp_path / "lib/systemd/system/smartharvest.service"
    packaged.parent.mkdir(parents=True)
    packaged.touch()
    unit = "lib/systemd/system/smartharvest.service"
    outcome = install(tmp_path, *TARGETS)
    assert (outcome.code, f"left: the unit of a package, /{unit}" in outcome.out) == (0, True)
    assert files(tmp_path) == {unit, "etc/smartharvest.toml"}
    assert "remove the package" in install(tmp_path, "--remove").failure


@pytest.mark.parametrize(
    "text", ["primary = 3\n", 'primary = ["cgroup:web"]\nelastic = "cgroup:web"\n']
)
def test_a_configuration_with_a_mistake_is_not_installed(tmp_path: Path, text: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    given = tmp_path / "agent.toml"
    given.write_text(text)
    assert install(root, "--config", str(given)).code == 2
    assert files(root) == set()


def test_without_a_terminal_the_targets_are_not_asked_for(tmp_path: Path) -> None:
    assert "--primary is missing" in install(tmp_path).failure


@pytest.mark.parametrize("words", [TARGETS, ("--remove",)])
def test_without_root_it_says_so_before_it_makes_anything(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    monkeypatch.setattr(install_service, "_run", refuse)
    outcome = smartharvest_here("install-service", *words)
    assert outcome.code == 3
    assert "run as root, or look with --dry-run" in outcome.failure


def test_removing_leaves_the_configuration(tmp_path: Path) -> None:
    install(tmp_path, *TARGETS)
    assert install(tmp_path, "--remove").code == 0
    assert files(tmp_path) == {"etc/smartharvest.toml"}


@pytest.mark.parametrize("prefix", ["/home/me/venv", "/root/venv", "/tmp/venv"])
def test_a_program_that_the_unit_would_not_see_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("sys.executable", f"{prefix}/bin/python")
    monkeypatch.setattr("os.path.exists", lambda _path: True)
    assert "units do not see" in install(tmp_path, *TARGETS).failure
