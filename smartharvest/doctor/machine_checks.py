"""The machine: CPUs, SMT, idle states, frequency, halt polling, clocks, steal time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smartharvest.doctor.finding import Finding, Host, Status
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.topology import Topology, read_topology, remarks

CPUS = "/sys/devices/system/cpu"
SLOWEST_WAKE_US = 100
MOST_STEAL = 0.01
FIRST_LENT = 6
"""How many cores of the order are named."""


def _cpus(host: Host) -> list[str]:
    return [name for name in host.names(CPUS) if re.fullmatch(r"cpu[0-9]{1,6}", name)]


def check_cpus(host: Host) -> Iterator[Finding]:
    """How many CPUs are online."""
    online = host.read(f"{CPUS}/online") or "?"
    count = sum(1 for name in _cpus(host) if host.read(f"{CPUS}/{name}/online") != "0")
    why = "busy + 1 cores stay with the primary: on two, only its pauses can be lent"
    status: Status = "ok" if count > 2 else "warning"
    fix = None if count > 2 else "use a machine with more cores, or expect little"
    yield Finding("cpus", status, f"{count} online ({online})", why, fix)


def check_smt(host: Host) -> Iterator[Finding]:
    """Siblings share a core's units, whatever the cpusets say."""
    active = host.read_int(f"{CPUS}/smt/active")
    why = "a batch on one sibling slows the primary on the other, and no sensor here sees it"
    if active != 1:
        yield Finding("smt", "ok", "no SMT siblings are active", why)
    elif len(_topology(host).cores(_online(host))) > 1:
        yield Finding("smt", "ok", "SMT is on: cores are lent with all their threads", why)
    else:
        yield Finding(
            "smt", "warning", "SMT is on and there is one core: its threads are lent one by one",
            why, "use a machine with more cores",
        )  # fmt: skip


def check_order(host: Host) -> Iterator[Finding]:
    """Which cores would be lent first."""
    topology, online = _topology(host), _online(host)
    order = topology.lend_order(online - topology.isolated.keys())
    first = [format_cpulist(core) for core in order]
    because = (
        "; ".join(remarks(topology, online, whole_cores=len(first) > 1)) or "all CPUs are alike"
    )
    more = ", ..." if len(first) > FIRST_LENT else ""
    yield Finding(
        "order", "ok", f"cores would be lent as {', '.join(first[:FIRST_LENT])}{more} ({because})",
        "lent cores lie close together and away from what the primary needs; --cores changes it",
    )  # fmt: skip


def _online(host: Host) -> frozenset[int]:
    try:
        return parse_cpulist(host.read(f"{CPUS}/online") or "")
    except ValueError:
        return frozenset()


def _topology(host: Host) -> Topology:
    return read_topology(_online(host), host.root)


def check_isolated(host: Host) -> Iterator[Finding]:
    """isolcpus and nohz_full: CPUs on which the scheduler does not balance."""
    isolated = host.read(f"{CPUS}/isolated") or ""
    nohz = (host.read(f"{CPUS}/nohz_full") or "").removeprefix("(null)").strip()
    why = "the scheduler does not balance on isolated CPUs: batch threads would pile up on one"
    for name, cpus in (("isolcpus", isolated), ("nohz_full", nohz)):
        if cpus:
            yield Finding(
                "isolated cpus", "warning", f"{name}={cpus}", why,
                f"they are never lent; leave {cpus} out of --cores, or boot without {name}",
            )  # fmt: skip
    if not isolated and not nohz:
        yield Finding("isolated cpus", "ok", "none", why)


def check_idle_states(host: Host) -> Iterator[Finding]:
    """Idle states that take long to wake from."""
    why = "a core given back is asleep: the primary waits for it to wake"
    slowest: tuple[int, str] | None = None
    for cpu in _cpus(host):
        states = f"{CPUS}/{cpu}/cpuidle"
        for state in host.names(states):
            latency = host.read_int(f"{states}/{state}/latency")
            if latency is None or host.read_int(f"{states}/{state}/disable") == 1:
                continue
            name = host.read(f"{states}/{state}/name") or state
            slowest = max(slowest or (0, ""), (latency, name))
    if slowest is None:
        driver = host.read(f"{CPUS}/cpuidle/current_driver") or "none"
        yield Finding("idle states", "ok", f"the kernel lists none (driver: {driver})", why)
    elif slowest[0] > SLOWEST_WAKE_US:
        yield Finding(
            "idle states", "warning", f"{slowest[1]} takes {slowest[0]} us to wake from", why,
            f"cpupower idle-set -D {SLOWEST_WAKE_US}",
        )  # fmt: skip
    else:
        yield Finding("idle states", "ok", f"the deepest wakes in {slowest[0]} us", why)


def check_frequency(host: Host) -> Iterator[Finding]:
    """The frequency governor."""
    why = "a core that has slowed down while idle serves a burst slowly at first"
    governors = {
        governor
        for cpu in _cpus(host)
        for governor in [host.read(f"{CPUS}/{cpu}/cpufreq/scaling_governor")]
        if governor
    }
    if governors <= {"performance", "schedutil"}:
        found = ", ".join(sorted(governors)) or "none: the kernel does not choose the frequency"
        yield Finding("governor", "ok", found, why)
    else:
        yield Finding(
            "governor", "warning", ", ".join(sorted(governors)), why,
            "cpupower frequency-set -g performance",
        )  # fmt: skip


def check_halt_polling(host: Host) -> Iterator[Finding]:
    """Polling before a vCPU sleeps looks like work from outside."""
    parameter = "/sys/module/kvm/parameters/halt_poll_ns"
    polling_ns = host.read_int(parameter)
    why = "an idle vCPU looks busy while KVM polls: the agent does not see the guest's idle cores"
    if polling_ns:
        yield Finding(
            "halt polling", "warning", f"kvm polls for {polling_ns / 1000:g} us", why,
            f"echo 0 > {parameter}, if virtual machines are the primary",
        )  # fmt: skip
    else:
        yield Finding("halt polling", "ok", "kvm does not poll, or is not loaded", why)
    guest_ns = host.read_int("/sys/module/haltpoll/parameters/guest_halt_poll_ns")
    driver = host.read(f"{CPUS}/cpuidle/current_driver") or ""
    if driver == "haltpoll" and guest_ns:
        yield Finding(
            "halt polling", "ok", f"this guest polls for {guest_ns / 1000:g} us before it sleeps",
            "from inside the guest that is idle time; it keeps the host's core busy",
        )  # fmt: skip


def check_clock(host: Host) -> Iterator[Finding]:
    """Clocks that are read by trapping into the hypervisor or over a slow bus."""
    path = f"{CPUS.removesuffix('cpu')}clocksource/clocksource0/current_clocksource"
    clock = host.read(path)
    why = "the clock is read at every poll"
    if clock in ("hpet", "acpi_pm", "jiffies", "refined-jiffies"):
        yield Finding("clock", "warning", f"the clock source is {clock}", why, f"echo tsc > {path}")
    else:
        yield Finding("clock", "ok", f"the clock source is {clock or 'unknown'}", why)


def check_steal(host: Host) -> Iterator[Finding]:
    """Time that the hypervisor gave to others."""
    why = "a stolen core is neither idle nor the primary's: demand is seen late"
    first = (host.read("/proc/stat") or "").partition("\n")[0].split()
    try:
        times = [int(text) for text in first[1:]]
    except ValueError:
        times = []
    if len(times) < 8 or not sum(times[:8]):
        yield Finding("steal time", "ok", "not counted here", why)
        return
    share = times[7] / sum(times[:8])
    status: Status = "warning" if share > MOST_STEAL else "ok"
    fix = "ask for dedicated cores" if status == "warning" else None
    yield Finding("steal time", status, f"{share:.2%} of all time since boot", why, fix)


def check_merged_pages(host: Host) -> Iterator[Finding]:
    """KSM (Documentation/admin-guide/mm/ksm.rst), which is reported and never switched on."""
    run = host.read_int("/sys/kernel/mm/ksm/run")
    if run is None:
        return
    merges = run == 1
    yield Finding(
        "merged pages", "warning" if merges else "ok",
        "KSM merges equal pages" if merges else "KSM does not merge pages",
        "a write to a merged page takes longer, which tells one group what another has in memory",
        "echo 2 > /sys/kernel/mm/ksm/run parts them, if the groups do not trust each other"
        if merges
        else None,
    )  # fmt: skip
