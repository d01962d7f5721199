"""All checks, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smartharvest.doctor import kernel_checks as kernel
from smartharvest.doctor import machine_checks as machine
from smartharvest.doctor import neighbour_checks as neighbours
from smartharvest.doctor.finding import Finding, Host

Check = Callable[[Host], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    kernel.check_kernel,
    kernel.check_kernel_options,
    kernel.check_cgroups,
    kernel.check_rights,
    kernel.check_bpf,
    kernel.check_waits,
    kernel.check_realtime,
    kernel.check_preemption,
    kernel.check_waking,
    kernel.check_wake_up_placement,
    kernel.check_sched_ext,
    machine.check_cpus,
    machine.check_smt,
    machine.check_order,
    machine.check_isolated,
    machine.check_idle_states,
    machine.check_frequency,
    machine.check_halt_polling,
    machine.check_clock,
    machine.check_steal,
    machine.check_merged_pages,
    neighbours.check_managers,
    neighbours.check_freezing,
    neighbours.check_state_directory,
    neighbours.check_open_files,
)


def examine(host: Host) -> list[Finding]:
    """What every check says about ``host``; changes nothing."""
    return [finding for check in CHECKS for finding in check(host)]
