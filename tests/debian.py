"""Where this machine gets Debian's packages, for tests that need other releases of them."""

from __future__ import annotations

import os
import subprocess

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_NOT_MAIN = ("-security", "-updates", "-backports")


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
