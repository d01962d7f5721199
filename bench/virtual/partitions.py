"""``python -m bench.virtual.partitions``: are cpuset partitions worth moving cores by?

Boots a kernel of the lab with a program that moves one CPU of an empty group to and fro, as a plain
member and as a partition of either kind. Prints a JSON object for each: the machine counts
instructions as nanoseconds, so the medians compare work; how often scheduling domains were built
is exact.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import click

from bench.compiling import build_program
from tests.lab import kernels
from tests.lab.boot import COUNTED_TIME, CPU, NO_CX16
from tests.lab.image import LAB

SOURCE = Path(__file__).with_suffix(".c")


@click.command()
@click.option("--kernel", default="6.12", show_default=True, help="One that make lab-image has.")
@click.option("--minutes", default=3.0, show_default=True)
def main(kernel: str, minutes: float) -> None:
    """Boot, measure and print."""
    found = [one for one in kernels.unpacked(LAB) if one.name == kernel]
    if not found:
        raise SystemExit(f"there is no kernel {kernel}; run make lab-image")
    with tempfile.TemporaryDirectory(prefix="smartharvest-partitions-") as text:
        directory = Path(text)
        (directory / "init").symlink_to(build_program(SOURCE, "-static"))
        archive, answer = directory / "archive", directory / "answer"
        with archive.open("wb") as file:
            subprocess.run(
                ["cpio", "--quiet", "-o", "-L", "-H", "newc"],
                cwd=directory, input=b"init", stdout=file, check=True,
            )  # fmt: skip
        command = [
            *("nice", "-n", "19", "qemu-system-x86_64", *COUNTED_TIME, "-cpu", CPU),
            *("-display", "none", "-no-reboot", "-nodefaults", "-nic", "none"),
            *("-smp", "4", "-m", "512M", "-kernel", str(found[0].image), "-initrd", str(archive)),
            *("-append", f"console=ttyS0 quiet panic=-1 tsc=reliable {NO_CX16} rdinit=/init"),
            *("-serial", f"file:{directory / 'console'}", "-serial", f"file:{answer}"),
        ]
        try:
            subprocess.run(command, timeout=60 * minutes, check=True, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"the guest did not end within {minutes:g} minutes") from None
        click.echo(found[0].release)
        click.echo(answer.read_text().strip())
        if not answer.stat().st_size:
            raise SystemExit((directory / "console").read_text())


if __name__ == "__main__":
    main()
