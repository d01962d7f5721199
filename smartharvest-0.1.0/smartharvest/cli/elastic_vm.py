"""``smartharvest elastic-vm``: a guest with as many vCPUs as the host has cores."""

from __future__ import annotations

import re
import signal
import sys
from types import FrameType
from typing import Any

import click

from smartharvest.cli.settings_options import settings_from, settings_options
from smartharvest.errors import ConfigError
from smartharvest.host.process import tasks
from smartharvest.printable import quoted

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@click.command("elastic-vm", context_settings={"allow_interspersed_args": False})
@click.option(
    "--name", default="elastic-vm", show_default=True, help="Name of the guest and of its group."
)
@click.option(
    "--memory",
    "memory_mib",
    type=click.IntRange(16),
    default=2048,
    show_default=True,
    metavar="MIB",
    help="The guest's memory.",
)
@click.option("--cpus", type=click.IntRange(1, 4096), metavar="N", help="vCPUs.  [default: all]")
@click.option(
    "--accel",
    type=click.Choice(["auto", "kvm", "tcg"]),
    default="auto",
    show_default=True,
    help="auto: KVM where this user may use it, otherwise emulation.",
)
@click.option("--no-image", is_flag=True, help="IMAGE is the first argument of QEMU instead.")
@settings_options("state_dir")
@click.argument("image")
@click.argument("more", nargs=-1, type=click.UNPROCESSED)
def elastic_vm(
    image: str,
    more: tuple[str, ...],
    name: str,
    memory_mib: int,
    cpus: int | None,
    accel: str,
    no_image: bool,
    **options: Any,
) -> None:
    """Start the disk IMAGE as a guest to lend cores to, and wait for its end.

    The guest has as many vCPUs as the host has CPUs, a group of its own where this user may create
    one, a monitor socket in the state directory, and its first serial line on the terminal. MORE
    arguments go to QEMU. SIGINT and SIGTERM end the guest and remove its group.
    """
    from smartharvest.agent import elastic_vm as guest

    if not _NAME.fullmatch(name):
        raise ConfigError(f"--name: {name!r} is no name of letters, digits, dots and dashes")
    vm = guest.ElasticVm(
        image=None if no_image else image,
        name=name,
        cpus=cpus or len(tasks.online_cpus()),
        memory_mib=memory_mib,
        state_dir=settings_from(options).state_dir,
        more=(image, *more) if no_image else more,
    )
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)

    def started(target: str) -> None:
        agent = f"smartharvest agent --primary TARGET --elastic {quoted(target)}"
        print(f"{name}: {vm.cpus} vCPUs; to lend it cores: {agent}", file=sys.stderr)

    code = guest.run(vm, guest.usable_accelerators() if accel == "auto" else (accel,), started)
    raise click.exceptions.Exit(code)


def _end(_number: int, _frame: FrameType | None) -> None:
    """Runs once: the next signal must not interrupt the cleanup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise click.exceptions.Exit(0)
