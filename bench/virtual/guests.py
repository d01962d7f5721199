"""The bench's guests: a kernel of the lab and one static program, under QEMU."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
from pathlib import Path
from typing import Any

from bench.child import Ending
from bench.subject import NotMeasurableError
from smartharvest.agent.elastic_vm import ElasticVm
from smartharvest.host.process.parent import die_with
from tests.lab import kernels
from tests.lab.image import LAB

HERE = Path(__file__).parent
MODULES = ("failover", "net_failover", "virtio_net")
KERNEL = "6.12"


def make_initramfs(directory: Path) -> tuple[Path, Path]:
    """(kernel, initramfs with the guest's program) for ``Guest``."""
    chosen = [kernel for kernel in kernels.unpacked(LAB) if kernel.name == KERNEL]
    if not chosen:
        raise NotMeasurableError("there is no kernel for the guests; run make lab-image")
    stage = directory / "guest"
    stage.mkdir()
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread"]
    subprocess.run(["cc", *flags, "-o", stage / "init", HERE / "guest.c"], check=True)
    for name in MODULES:
        for found in chosen[0].modules.rglob(f"{name}.ko*"):
            data = found.read_bytes()
            plain = lzma.decompress(data) if found.suffix == ".xz" else data
            (stage / f"{name}.ko").write_bytes(plain)
    (stage / "dev").mkdir()
    archive = directory / "guest.cpio"
    names = "\n".join(["dev", "init", *(f"{name}.ko" for name in MODULES)])
    with archive.open("wb") as file:
        subprocess.run(
            ["cpio", "--quiet", "-o", "-H", "newc"],
            cwd=stage, input=names.encode(), stdout=file, check=True,
        )  # fmt: skip
    return chosen[0].image, archive


class Guest(Ending):
    """One guest, until the end of the ``with`` block, put into the directories ``groups``."""

    def __init__(
        self,
        boot: tuple[Path, Path],
        directory: Path,
        role: str,
        *,
        cpus: int,
        work_us: int,
        groups: list[str],
        port: int = 0,
    ) -> None:
        self._console = directory / f"{role}.console"
        forward = f",hostfwd=tcp:127.0.0.1:{port}-:7" if port else ""
        vm = ElasticVm(
            None, f"bench-{role}", cpus, 256, str(directory),
            (
                *("-kernel", str(boot[0]), "-initrd", str(boot[1])),
                "-append", f"console=ttyS0 quiet clearcpuid=141 ROLE={role} WORK={work_us}",
                "-nic", f"user,model=virtio-net-pci{forward}",
            ),
        )  # fmt: skip
        # The kernel of the lab is emulated there as well.
        command = ["Nehalem" if word == "max" else word for word in vm.command("tcg")]
        command[command.index("stdio")] = f"file:{self._console}"
        parent = os.getpid()

        def join() -> None:
            die_with(parent)
            for group in groups:
                Path(group, "cgroup.procs").write_text(str(os.getpid()))

        self.process = subprocess.Popen(
            command,
            preexec_fn=join,  # noqa: PLW1509
            stdin=subprocess.DEVNULL,
        )
        self.socket = vm.socket

    def describe(self) -> dict[str, Any] | None:
        """The last whole line that the guest has said about itself; None if it has not yet."""
        if self.process.poll() is not None:
            raise NotMeasurableError(f"QEMU ended with {self.process.returncode}")
        try:
            lines = self._console.read_text(errors="replace").splitlines(keepends=True)
        except FileNotFoundError:
            return None
        for line in reversed(lines):
            if line.startswith("{") and line.endswith("}\n"):
                found: dict[str, Any] = json.loads(line)
                return found
        return None
