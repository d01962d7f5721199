"""The kernel: its version and options, the control groups, BPF, and what this process may do."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator

from smartharvest.doctor.finding import Finding, Host, Status
from smartharvest.host import kernels
from smartharvest.host.cgroup.tree import Mount, parse_mounts
from smartharvest.host.preemption import Preemption, probe_task_policy, unknown
from smartharvest.sensor.choice import POLLING_CPU_PERCENT

WANTED_OPTIONS: dict[str, tuple[Status, str]] = {
    "CONFIG_CPUSETS": ("failure", "cores are moved by cpusets"),
    "CONFIG_FAIR_GROUP_SCHED": ("warning", "cpu.idle puts the batch below everything else"),
    "CONFIG_BPF_SYSCALL": ("warning", "the in-kernel sensor sees every change"),
    "CONFIG_DEBUG_INFO_BTF": ("warning", "the in-kernel sensor finds the kernel's fields by it"),
    "CONFIG_PERF_EVENTS": ("warning", "context-switch records are the next best sensor"),
    "CONFIG_SCHED_INFO": ("warning", "without BPF the waits for a CPU are read from schedstat"),
}
_CAPABILITIES = {
    1: "CAP_DAC_OVERRIDE",
    21: "CAP_SYS_ADMIN",
    23: "CAP_SYS_NICE",
    38: "CAP_PERFMON",
    39: "CAP_BPF",
}


def check_kernel(host: Host) -> Iterator[Finding]:
    """Linux 5.15 has cpu.idle; 4.14 has what the agent needs at least."""
    release = host.read("/proc/sys/kernel/osrelease") or ""
    version = kernels.parse_release(release)
    why = "cpu.idle, the first protection of the primary, came with Linux 5.15"
    if version is None:
        yield Finding("kernel", "warning", f"release {release!r} is no version", why)
        return
    if kernels.has(kernels.CPU_IDLE, version):
        yield Finding("kernel", "ok", f"Linux {release}", why)
    else:
        status: Status = "warning" if version >= kernels.LEAST else "failure"
        yield Finding("kernel", status, f"Linux {release}", why, "boot a kernel of 5.15 or newer")


def check_kernel_options(host: Host) -> Iterator[Finding]:
    """The options of the running kernel, where it shows them."""
    options = _kernel_options(host)
    if options is None:
        yield Finding(
            "kernel options",
            "ok",
            "neither /proc/config.gz nor /boot/config-* is readable; the other checks test what "
            "the options bring",
            "a kernel can be built without cpusets, BPF and schedstat",
        )
        return
    missing = [name for name in WANTED_OPTIONS if options.get(name, "n") == "n"]
    for name in missing:
        status, why = WANTED_OPTIONS[name]
        yield Finding(
            "kernel options", status, f"{name} is off", why, f"boot a kernel with {name}=y"
        )
    if not missing:
        yield Finding(
            "kernel options", "ok", f"{', '.join(WANTED_OPTIONS)} are on", "the agent uses them"
        )


def _kernel_options(host: Host) -> dict[str, str] | None:
    packed = host.read_bytes("/proc/config.gz")
    text: str | None = None
    if packed is not None:
        try:
            text = gzip.decompress(packed).decode(errors="replace")
        except (OSError, EOFError, zlib.error):
            text = None
    if text is None:
        text = host.read(f"/boot/config-{host.read('/proc/sys/kernel/osrelease')}")
    if text is None:
        return None
    pairs = (line.split("=", 1) for line in text.splitlines() if line.startswith("CONFIG_"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _mounts(host: Host) -> list[Mount]:
    return parse_mounts(host.read("/proc/self/mountinfo") or "")


def check_cgroups(host: Host) -> Iterator[Finding]:
    """Where the cpuset, cpu and freezer controllers are mounted."""
    why = "cores are moved with the cpuset controller, cpu.idle needs the cpu controller"
    mounts = _mounts(host)
    v1 = {controller: mount.point for mount in mounts for controller in mount.controllers}
    v2 = next((mount.point for mount in mounts if mount.version == 2), None)
    if "cpuset" in v1:
        yield Finding("cgroups", "ok", f"version 1, cpuset at {v1['cpuset']}", why)
        for controller, use in (("cpu", "cpu.idle"), ("freezer", "--park freeze and evict")):
            if controller not in v1:
                yield Finding(
                    "cgroups",
                    "warning",
                    f"no {controller} hierarchy is mounted",
                    f"{use} needs it",
                    f"mount -t cgroup -o {controller} none /sys/fs/cgroup/{controller}",
                )
        return
    if v2 is None:
        yield Finding(
            "cgroups", "failure", "no control groups are mounted", why,
            "mount -t cgroup2 none /sys/fs/cgroup",
        )  # fmt: skip
        return
    yield from _check_v2(host, v2, why)


def _check_v2(host: Host, mount: str, why: str) -> Iterator[Finding]:
    there = (host.read(f"{mount}/cgroup.controllers") or "").split()
    enabled = (host.read(f"{mount}/cgroup.subtree_control") or "").split()
    for controller in ("cpuset", "cpu"):
        status: Status = "failure" if controller == "cpuset" else "warning"
        if controller not in there:
            yield Finding(
                "cgroups", status, f"version 2 at {mount} has no {controller} controller", why,
                "boot a kernel with it, or free it from the v1 hierarchy that uses it",
            )  # fmt: skip
        elif controller not in enabled:
            yield Finding(
                "cgroups", status, f"{controller} is not enabled below {mount}", why,
                f"echo +{controller} > {mount}/cgroup.subtree_control",
            )  # fmt: skip
        else:
            yield Finding("cgroups", "ok", f"version 2 at {mount}, {controller} enabled", why)


def capabilities(host: Host) -> frozenset[str] | None:
    """The effective ones of this process among those that matter here; None if unreadable."""
    match = re.search(
        r"^CapEff:\s*([0-9a-f]{1,16})$", host.read("/proc/self/status") or "", re.MULTILINE
    )
    if match is None:
        return None
    mask = int(match[1], 16)
    return frozenset(name for bit, name in _CAPABILITIES.items() if mask >> bit & 1)


def check_rights(host: Host) -> Iterator[Finding]:
    """Capabilities of this process: run the doctor as the user the agent will have."""
    held = capabilities(host)
    if held is None:
        yield Finding("rights", "warning", "/proc/self/status shows no capabilities", "-")
        return
    uses: dict[str, tuple[Status, str]] = {
        "CAP_DAC_OVERRIDE": ("failure", "to write the groups' files, unless they are yours"),
        "CAP_SYS_NICE": ("warning", "for SCHED_FIFO, without which the loop may be late"),
        "CAP_BPF": ("warning", "to load the in-kernel sensor"),
        "CAP_PERFMON": ("warning", "to read the scheduler's data with it"),
    }
    for name, (status, use) in uses.items():
        stands_in = name in ("CAP_BPF", "CAP_PERFMON") and "CAP_SYS_ADMIN" in held
        if name in held or stands_in:
            yield Finding("rights", "ok", f"{name} is held", use)
        else:
            yield Finding(
                "rights", status, f"{name} is missing", use, "run as root, or grant it to the unit"
            )


def check_bpf(host: Host) -> Iterator[Finding]:
    """What the in-kernel sensor needs beyond rights."""
    why = (
        f"the in-kernel sensor is exact for 1 % of a core; /proc costs up to {POLLING_CPU_PERCENT} "
        "%, or more with hundreds of primary threads, and sees less"
    )
    if not host.exists("/sys/kernel/btf/vmlinux"):
        yield Finding(
            "bpf", "warning", "/sys/kernel/btf/vmlinux is missing", why,
            "boot a kernel with CONFIG_DEBUG_INFO_BTF=y",
        )  # fmt: skip
    elif "[confidentiality]" in (host.read("/sys/kernel/security/lockdown") or ""):
        yield Finding(
            "bpf", "warning", "kernel lockdown is in confidentiality mode", why,
            "boot with lockdown=integrity",
        )  # fmt: skip
    else:
        yield Finding("bpf", "ok", "the kernel has BTF and reading it is not locked down", why)
    paranoid = host.read_int("/proc/sys/kernel/perf_event_paranoid")
    held = capabilities(host) or frozenset()
    if paranoid is not None and paranoid > 0 and not held & {"CAP_PERFMON", "CAP_SYS_ADMIN"}:
        yield Finding(
            "perf", "warning", f"kernel.perf_event_paranoid is {paranoid}",
            "context-switch records of other users' tasks are then for CAP_PERFMON only",
            "grant CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1",
        )  # fmt: skip


def check_waits(host: Host) -> Iterator[Finding]:
    """Where the long-term safeguard reads waits if the sensor does not see them."""
    delayacct = host.read_int("/proc/sys/kernel/task_delayacct")
    shown = {1: "on", 0: "off"}.get(delayacct if delayacct is not None else -1, "not there")
    why = "the long-term safeguard acts on how long the primary waits for a CPU"
    if host.exists("/proc/self/schedstat"):
        found = f"/proc/PID/schedstat is there (task_delayacct is {shown} and not needed for it)"
        yield Finding("waits", "ok", found, why)
    elif delayacct == 1:
        yield Finding("waits", "ok", "no schedstat, but task_delayacct is on", why)
    else:
        yield Finding(
            "waits", "warning", f"no /proc/PID/schedstat, task_delayacct is {shown}", why,
            "sysctl kernel.task_delayacct=1, and --waits taskstats",
        )  # fmt: skip


def check_realtime(host: Host) -> Iterator[Finding]:
    """Whether the loop can become SCHED_FIFO where this process runs."""
    why = "a loop that is not real-time queues behind the batch it should move, for milliseconds"
    runtime = host.read_int("/proc/sys/kernel/sched_rt_runtime_us")
    if runtime == 0:
        yield Finding(
            "real-time", "warning", "kernel.sched_rt_runtime_us is 0", why,
            "sysctl kernel.sched_rt_runtime_us=950000",
        )  # fmt: skip
        return
    points = {name: mount.point for mount in _mounts(host) for name in mount.controllers}
    for line in (host.read("/proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "cpu" not in controllers.split(",") or "cpu" not in points:
            continue
        budget_file = f"{points['cpu']}{path.rstrip('/')}/cpu.rt_runtime_us"
        if path != "/" and host.read_int(budget_file) == 0:
            yield Finding(
                "real-time", "warning",
                f"{budget_file} is 0: this kernel (RT_GROUP_SCHED) refuses SCHED_FIFO here", why,
                f"echo 10000 > {budget_file}",
            )  # fmt: skip
            return
    yield Finding("real-time", "ok", "SCHED_FIFO has a budget here", why)


def check_preemption(host: Host) -> Iterator[Finding]:
    """Whether the kernel preempts a system call.

    Of the models of kernel/Kconfig.preempt, ``full`` and ``lazy`` do (the latter at the next tick);
    ``voluntary`` and ``none`` wait until the call yields.
    """
    why = (
        "a core comes back only when the batch leaves the kernel or yields; with model none a "
        "system call held one for 5 to 13 ms"
    )
    model, dynamic = _preemption(host)
    if model is None:
        found = "the kernel does not show whether it preempts system calls"
        yield Finding("preemption", "ok", found, why)
    elif model in ("full", "lazy", "rt"):
        yield Finding("preemption", "ok", f"the kernel's model is {model}", why)
    else:
        fix = "boot with preempt=full" if dynamic else "boot a kernel with CONFIG_PREEMPT_DYNAMIC"
        found = f"the kernel's model is {model}: no system call is preempted"
        yield Finding("preemption", "warning", found, why, fix)


def check_waking(
    host: Host, probe: Callable[[], Preemption] = probe_task_policy
) -> Iterator[Finding]:
    """Whether a SCHED_IDLE task leaves its CPU to one that wakes; the agent tries groups as well.

    It takes 0.1 s of one idle CPU and writes nothing.
    """
    why = "the batch is to leave a lent CPU as soon as the primary wakes there"
    found = probe() if host.root == "/" else unknown("these are another host's files")
    if found.tasks_give_way is None:
        said = f"not known how soon a SCHED_IDLE task leaves its CPU: {found.reason}"
        yield Finding("waking", "ok", said, why)
    elif found.tasks_give_way:
        yield Finding("waking", "ok", f"a SCHED_IDLE task leaves its CPU {found.reason}", why)
    else:
        said = f"a SCHED_IDLE task keeps its CPU: it leaves {found.reason}"
        yield Finding(
            "waking", "warning", said, why, "boot with preempt=full, or try another kernel"
        )


def check_wake_up_placement(host: Host) -> Iterator[Finding]:
    """Whether a patch has this kernel wake tasks on busy CPUs while others are idle."""
    why = "tasks of the primary then wait for each other while CPUs are idle, lent or not"
    parameter = kernels.wakes_on_busy_cpus(host.read("/proc/cmdline") or "")
    if parameter is None:
        said = "no patch is known to wake tasks on busy CPUs"
        yield Finding("wake-up placement", "ok", said, why)
    else:
        yield Finding(
            "wake-up placement", "warning",
            f"{parameter}: this kernel wakes tasks on busy CPUs while others are idle", why,
            "boot with sched_vcpu_pack=0, or take no figure of this host for another's",
        )  # fmt: skip


def check_sched_ext(host: Host) -> Iterator[Finding]:
    """What ``--mechanism strict`` needs. No other mechanism does, so nothing here is a failure."""
    why = "--mechanism strict puts the batch below every normal task"
    state = host.read("/sys/kernel/sched_ext/state")
    if state is None:
        options = _kernel_options(host)
        off = options is not None and options.get("CONFIG_SCHED_CLASS_EXT") != "y"
        missing = "CONFIG_SCHED_CLASS_EXT is off" if off else "Linux 6.12 and later may have it"
        yield Finding("sched_ext", "ok", f"not there ({missing}): strict is refused", why)
    elif not host.exists("/sys/kernel/btf/vmlinux"):
        found = "there, but the kernel's types (CONFIG_DEBUG_INFO_BTF) are not: strict is refused"
        yield Finding("sched_ext", "ok", found, why)
    elif state.strip() != "disabled":
        name = (host.read("/sys/kernel/sched_ext/root/ops") or "").strip()
        found = f"another scheduler is loaded ({name or state.strip()}): strict is refused"
        yield Finding("sched_ext", "warning", found, why, "stop it, or use --mechanism merge")
    else:
        yield Finding("sched_ext", "ok", "there, and no scheduler is loaded", why)


def _preemption(host: Host) -> tuple[str | None, bool]:
    """The model in force, None if unknown, and whether the boot line can change it."""
    options = _kernel_options(host) or {}
    dynamic = options.get("CONFIG_PREEMPT_DYNAMIC") == "y"
    offered = host.read("/sys/kernel/debug/sched/preempt") or ""
    if chosen := re.search(r"\((\w+)\)", offered):
        return chosen[1], True
    if options.get("CONFIG_PREEMPT_RT") == "y":
        return "rt", False
    booted = re.findall(r"(?:^|\s)preempt=(\w+)", host.read("/proc/cmdline") or "")
    if dynamic and booted:
        return booted[-1], True
    for model in ("none", "voluntary", "lazy"):
        if options.get(f"CONFIG_PREEMPT_{model.upper()}") == "y":
            return model, dynamic
    return ("full" if options.get("CONFIG_PREEMPT") == "y" else None), dynamic
