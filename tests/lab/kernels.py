"""The kernels of the lab, fetched from Debian by apt with lists and a cache of its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.debian import KEYRING, mirror

SUITES = ("bookworm", "trixie", "trixie-backports")
"""One kernel of each: 6.1, 6.12 and the newest that the mirror has."""
CLOUD, GENERIC = "cloud-amd64", "amd64"
"""Flavours. The lab's is the first; the other can sleep, too."""


@dataclass(frozen=True)
class Kernel:
    """One kernel as unpacked."""

    release: str
    """As uname(1) spells it."""
    image: Path
    modules: Path
    """The directory that has ``kernel/``."""

    @property
    def name(self) -> str:
        """Its first two numbers; with ``-generic`` if it is that."""
        number = ".".join(self.release.split(".")[:2])
        return number if self.release.endswith(CLOUD) else f"{number}-generic"


def fetch(directory: Path, suites: Sequence[str] = SUITES, flavour: str = CLOUD) -> list[Kernel]:
    """Downloads and unpacks what is missing below ``directory``; needs the network."""
    apt = _Apt(directory / "apt", flavour)
    apt.run("apt-get", "-qq", "update")
    packages = directory / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for suite in suites:
        place = directory / "unpacked" / _folder(suite, flavour)
        wanted = apt.parts(suite)
        stamp = place / "packages.txt"
        if stamp.exists() and stamp.read_text() == "\n".join(wanted):
            continue
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for part in wanted:
            apt.run("apt-get", "-qq", "download", part, cwd=packages)
            (found,) = packages.glob(f"{part.split('=')[0]}_*.deb")
            subprocess.run(["dpkg-deb", "-x", found, place], check=True)
            found.unlink()
        stamp.write_text("\n".join(wanted))
    return unpacked(directory, flavour)


def unpacked(directory: Path, flavour: str = CLOUD) -> list[Kernel]:
    """The kernels that have been fetched, in the order of SUITES."""
    found = []
    for suite in SUITES:
        place = directory / "unpacked" / _folder(suite, flavour)
        releases = [*place.glob("lib/modules/*"), *place.glob("usr/lib/modules/*")]
        for modules in releases:
            images = [*place.glob("boot/vmlinuz-*"), modules / "vmlinuz"]
            image = next(path for path in images if path.exists())
            found.append(Kernel(modules.name, image, modules))
    return found


def _folder(suite: str, flavour: str) -> str:
    return suite if flavour == CLOUD else f"{suite}-{flavour}"


class _Apt:
    """apt with sources, lists and a cache of its own; of the host's it only reads the mirror."""

    def __init__(self, directory: Path, flavour: str) -> None:
        self._meta = f"linux-image-{flavour}"
        self._parts = re.compile(rf"linux-(?:image|binary|modules)-\d\S*-{flavour}")
        (directory / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (directory / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        sources = directory / "lab.list"
        sources.write_text(
            "".join(f"deb [signed-by={KEYRING}] {mirror()} {suite} main\n" for suite in SUITES)
        )
        options = {
            "Dir::Etc::SourceList": sources,
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": directory / "lists",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": directory / "cache",
            "APT::Sandbox::User": "root",
            "APT::Architecture": "amd64",
        }
        self._options = [
            word for key, value in options.items() for word in ("-o", f"{key}={value}")
        ]

    def run(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        command = [program, *self._options, *arguments]
        return subprocess.run(
            command, cwd=cwd, check=True, text=True, stdout=subprocess.PIPE
        ).stdout

    def parts(self, suite: str) -> list[str]:
        """The packages, with their versions, that hold the newest kernel of ``suite``."""
        image = self._depends(self._meta, self._version(self._meta, suite), suite)
        found: list[str] = []
        for name, version in image:  # which grows meanwhile
            if f"{name}={version}" in found:
                continue
            found.append(f"{name}={version}")
            image += self._depends(name, version, suite)
        return found

    def _version(self, name: str, suite: str) -> str:
        for line in self.run("apt-cache", "madison", name).splitlines():
            _, version, source = (field.strip() for field in line.split("|"))
            if f" {suite}/main " in f" {source} ":
                return version
        raise SystemExit(f"{name} is not in {suite} at {mirror()}")

    def _depends(self, name: str, version: str, _suite: str) -> list[tuple[str, str]]:
        shown = self.run("apt-cache", "show", f"{name}={version}")
        depends = next(
            (line for line in shown.splitlines() if line.startswith("Depends:")), "Depends:"
        )
        return [
            (part, match[1])
            for entry in depends.removeprefix("Depends:").split(",")
            for part in self._parts.findall(entry)
            if (match := re.search(r"\(= ([^)]+)\)", entry))
        ]
