"""Where this machine gets Debian's packages, for tests that need other releases of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_NOT_MAIN = ("-security", "-updates", "-backports")
_APT = """
Dir "{here}";
Dir::State "{here}/state";
Dir::State::status "{here}/status";
Dir::Cache "{here}/cache";
Dir::Etc "{here}/etc/apt";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
"""


def mirror() -> str:
    """The mirror of the machine's own apt sources; DEBIAN_MIRROR wins.

    Ends with one line if apt knows of none.
    """
    chosen = os.environ.get("DEBIAN_MIRROR", "")
    return chosen or parse_targets(
        subprocess.run(
            [
                "apt-get",
                "indextargets",
                "--format",
                "$(REPO_URI) $(RELEASE)",
                "Created-By: Packages",
            ],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    )


def parse_targets(listing: str) -> str:
    """The mirror in a listing of apt's index targets, an address and a release a line."""
    for line in listing.splitlines():
        address, _, release = line.partition(" ")
        if release and not release.endswith(_NOT_MAIN):
            return address.rstrip("/")
    raise SystemExit("apt has no source of Debian's packages here; set DEBIAN_MIRROR")


def apt(here: Path, suite: str, *commands: Sequence[str], sources: bool = False) -> None:
    """Has apt-get do ``commands`` with ``suite`` alone, within the folder ``here``; root or not.

    Signatures are checked; nothing is installed on this machine, of which apt knows nothing there.
    What is downloaded comes into ``cache/archives``. Ends with one line if apt cannot.
    """
    for name in ("state/lists/partial", "cache/archives/partial", "etc/apt/preferences.d"):
        (here / name).mkdir(parents=True, exist_ok=True)
    (here / "status").touch()
    (here / "apt.conf").write_text(_APT.format(here=here))
    kinds = ("deb", "deb-src") if sources else ("deb",)
    (here / "etc/apt/sources.list").write_text(
        "".join(f"{kind} [signed-by={KEYRING}] {mirror()} {suite} main\n" for kind in kinds)
    )
    environment = {**os.environ, "APT_CONFIG": str(here / "apt.conf")}
    for command in (["update"], *commands):
        ran = subprocess.run(
            ["apt-get", "-qq", *command],
            env=environment,
            cwd=here / "cache/archives",
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode != 0:
            why = " ".join(ran.stderr.split())[:200]
            raise SystemExit(f"{here.name}: apt-get {command[0]}: {why}")
