"""``smartharvest install-service``: the agent as a systemd unit, with a first configuration."""

from __future__ import annotations

import grp
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

import click

from smartharvest.cli.command_group import examples
from smartharvest.cli.values import complete_target
from smartharvest.config.loading import collect_settings
from smartharvest.errors import ConfigError, RightsError
from smartharvest.host.process.start import run_command
from smartharvest.host.target.targets import parse_target
from smartharvest.telemetry.output_file import write_whole

UNITS = ("smartharvest.service", "smartharvest-restore.service")
UNIT_DIRECTORY = "/etc/systemd/system"
PACKAGED = ("/lib/systemd/system", "/usr/lib/systemd/system")
CONFIG = "/etc/smartharvest.toml"
PROGRAM = "/usr/bin/smartharvest"
"""As the units name it."""
HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")
"""From the units (ProtectHome=, PrivateTmp=)."""
DIRECTORIES = (("/var/lib/smartharvest", 0o755), ("/var/log/smartharvest", 0o750))
GROUP = "smartharvest"
_STEP_S = 60.0
_MARK = "# Made by smartharvest install-service, which replaces it while its sum is "
"""In the last line of a unit: one that nobody has changed since gives way to a later release's."""

EPILOG = examples(
    "smartharvest install-service --dry-run --primary cgroup:web --elastic cgroup:batch",
    "smartharvest install-service --primary systemd:web.service --elastic systemd:batch.slice",
    "smartharvest install-service --config ./agent.toml",
    "smartharvest install-service --remove",
)


@dataclass(frozen=True)
class NewFile:
    """A file to be made."""

    path: str
    text: str
    mode: int


@click.command("install-service", epilog=EPILOG)
@click.option(
    "--primary",
    multiple=True,
    metavar="TARGET",
    shell_complete=complete_target,
    help="The service whose cores are lent.",
)
@click.option(
    "--elastic",
    metavar="TARGET",
    shell_complete=complete_target,
    help="The batch group that gets them.",
)
@click.option("--config", "config_file", type=click.Path(exists=True, dir_okay=False),
              metavar="FILE", help=f"Install this file as {CONFIG}.")  # fmt: skip
@click.option("--group", default=GROUP, show_default=True, metavar="GROUP",
              help='Who may ask for the status, made if missing; "" for root alone.')  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would be made, and change nothing.")
@click.option(
    "--remove", is_flag=True, help="Stop the unit and remove it; the configuration stays."
)
@click.option("--root", default="/", type=click.Path(exists=True, file_okay=False), metavar="DIR",
              help="Install below DIR instead of /.")  # fmt: skip
def install_service(
    primary: tuple[str, ...],
    elastic: str | None,
    config_file: str | None,
    group: str,
    dry_run: bool,
    remove: bool,
    root: str,
) -> None:
    """Install the agent as a systemd unit, with its directories and a first configuration.

    The targets are asked for where they are not given. Nothing that is there is overwritten but
    units that an earlier release has installed and nobody has changed; a package's are left alone.
    Nothing is started: the last lines say how.
    """
    if root == "/" and not dry_run and os.geteuid() != 0:
        raise RightsError("install-service: writes to /etc; run as root, or look with --dry-run")
    if remove:
        _remove(root, dry_run)
        return
    program = _program()
    new = [_configuration(primary, elastic, config_file, group, root)]
    if packaged := _packaged(root):
        click.echo(f"left: the unit of a package, {packaged}")
    else:
        new[:0] = _units(program)
    _refuse_overwriting(new, root)
    made = list(_steps(new, group, root, dry_run))
    for line in made or ["nothing to do: all of it is there"]:
        click.echo(f"would {line}" if dry_run and made else line)
    if not dry_run:
        if root == "/" and os.path.isdir("/run/systemd/system"):
            _run("systemctl", "daemon-reload")
        click.echo(
            f"next: {program} check-config --host {CONFIG}\n"
            "      systemctl enable --now smartharvest"
        )


def _program() -> str:
    """The script that the unit starts. Raises ConfigError for one that the unit does not see."""
    program = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "smartharvest")
    if not os.path.exists(program):
        program = shutil.which("smartharvest") or program
    if not os.path.exists(program):
        raise ConfigError(f"{program}: is missing; install the package with pip first")
    real = os.path.realpath(program)
    for place in HIDDEN:
        if f"{real}/".startswith(f"{place}/") or f"{program}/".startswith(f"{place}/"):
            raise ConfigError(
                f"{program}: units do not see what is in {place}; install into /opt, such as with "
                "python3 -m venv /opt/smartharvest"
            )
    return program


def _units(program: str) -> Iterator[NewFile]:
    for name in UNITS:
        text = resources.files("smartharvest.cli").joinpath("units", name).read_text()
        text = text.replace(PROGRAM, program)
        yield NewFile(f"{UNIT_DIRECTORY}/{name}", f"{text}\n{_MARK}{_sum(text)}\n", 0o644)


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_unchanged(unit: str) -> bool:
    """Whether ``unit`` is as a release, this or another, has installed it."""
    text, mark, found = unit.rpartition(f"\n{_MARK}")
    return bool(mark) and found == f"{_sum(text)}\n"


def _configuration(
    primary: tuple[str, ...], elastic: str | None, config_file: str | None, group: str, root: str
) -> NewFile:
    """The file given, the one that is there, or one of the answers. Raises ConfigError."""
    there = _below(root, CONFIG)
    if config_file is None and not primary and elastic is None and os.path.exists(there):
        config_file = there
    if config_file is not None:
        if primary or elastic:
            raise ConfigError("install-service: give --config, or --primary and --elastic")
        effective, problems = collect_settings({}, config_file)
        if effective is None:
            raise ConfigError(str(problems[0]))
        effective.settings.require_targets()
        with open(config_file) as file:
            return NewFile(CONFIG, file.read(), 0o644)
    primary = primary or (_ask("The service whose idle cores are lent", "--primary"),)
    elastic = elastic or _ask("The batch group that gets them", "--elastic")
    for text, key in [*((one, "--primary") for one in primary), (elastic, "--elastic")]:
        parse_target(text, key)
    named = ", ".join(map(_toml, primary))
    lines = [
        "# smartharvest config example shows every setting; smartharvest check-config --host",
        "# shows what an agent with this file would write.",
        f"primary = [{named}]",
        f"elastic = {_toml(elastic)}",
        'audit_log = "/var/log/smartharvest/audit.jsonl"',
    ]
    if group:
        lines.append(f"status_group = {_toml(group)}")
    return NewFile(CONFIG, "\n".join(lines) + "\n", 0o644)


def _ask(what: str, flag: str) -> str:
    if not sys.stdin.isatty():
        example = "cgroup:web" if flag == "--primary" else "cgroup:batch"
        raise ConfigError(f"install-service: {flag} is missing, such as {flag} {example}")
    answer: str = click.prompt(f"{what} (cgroup:PATH, systemd:UNIT or pid:N)", err=True)
    return answer.strip()


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        raise ConfigError(f"{text!r}: cannot be written into {CONFIG}")
    return f'"{escaped}"'


def _packaged(root: str) -> str | None:
    """The unit that a package has installed, if one has."""
    paths = (f"{directory}/{name}" for directory in PACKAGED for name in UNITS)
    return next((path for path in paths if os.path.exists(_below(root, path))), None)


def _refuse_overwriting(new: list[NewFile], root: str) -> None:
    for one in new:
        path = _below(root, one.path)
        if os.path.lexists(path) and _read(path) != one.text and not _is_unchanged(_read(path)):
            keep = "leave the targets out to keep it" if one.path == CONFIG else "remove it"
            raise ConfigError(f"{one.path}: is there already, and different; {keep}, or move it")


def _steps(new: list[NewFile], group: str, root: str, dry_run: bool) -> Iterator[str]:
    """Does what is still to be done, or only says so."""
    try:
        if group and not _group_exists(group, root):
            if not dry_run:
                prefix = () if root == "/" else ("--prefix", os.path.abspath(root))
                _run("groupadd", "--system", *prefix, group)
            yield f"make group {group}"
        for path, mode in DIRECTORIES:
            if not os.path.isdir(_below(root, path)):
                if not dry_run:
                    os.makedirs(_below(root, path), mode)
                yield f"make directory {path} ({mode:04o})"
        for one in new:
            path = _below(root, one.path)
            there = os.path.exists(path)
            if there and _read(path) == one.text:
                continue
            if not dry_run:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                write_whole(path, one.text.encode(), mode=one.mode)
            what = "replace" if there else "make"
            yield f"{what} file {one.path} ({one.mode:04o}, {len(one.text.splitlines())} lines)"
    except PermissionError as error:
        raise RightsError(f"{error.filename}: {error.strerror}; run as root") from error


def _remove(root: str, dry_run: bool) -> None:
    """Stops the unit, which gives everything back, and removes what ``install-service`` made."""
    if packaged := _packaged(root):
        raise ConfigError(f"{packaged}: a package has installed the unit; remove the package")
    lines = []
    program = _program()
    if root == "/" and os.path.isdir("/run/systemd/system"):
        lines.append("stop and disable smartharvest.service")
        if not dry_run:
            _run("systemctl", "disable", "--quiet", "--now", UNITS[0])
    for unit in _units(program):
        path = _below(root, unit.path)
        if os.path.exists(path):
            if not _is_unchanged(_read(path)):
                raise ConfigError(f"{unit.path}: is not as it was installed; remove it by hand")
            lines.append(f"remove file {unit.path}")
            if not dry_run:
                os.unlink(path)
    if lines and not dry_run and root == "/" and os.path.isdir("/run/systemd/system"):
        _run("systemctl", "daemon-reload")
    for line in lines or ["nothing to do: the units are not installed"]:
        click.echo(f"would {line}" if dry_run and lines else line)
    if os.path.exists(_below(root, CONFIG)):
        click.echo(f"left: {CONFIG}, /var/lib/smartharvest and /var/log/smartharvest")


def _group_exists(group: str, root: str) -> bool:
    if root == "/":
        try:
            grp.getgrnam(group)
        except KeyError:
            return False
        return True
    return any(line.startswith(f"{group}:") for line in _read(_below(root, "/etc/group")).split())


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _below(root: str, path: str) -> str:
    return os.path.join(os.path.abspath(root), path.lstrip("/"))


def _run(*command: str) -> None:
    try:
        done = run_command(*command, timeout_s=_STEP_S)
    except subprocess.TimeoutExpired:
        raise RightsError(
            f"{' '.join(command)}: has not ended within {_STEP_S:.0f} s; do that step by hand"
        ) from None
    except FileNotFoundError:
        raise ConfigError(
            f"{command[0]}: is missing; install it, or do that step by hand"
        ) from None
    if done.returncode:
        why = done.stderr.strip() or f"ended with {done.returncode}"
        raise RightsError(f"{' '.join(command)}: {why}")
