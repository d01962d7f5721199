"""The checks of the doctor, each over a fake root: what it finds, why it matters, and the fix."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.doctor import CHECKS, Finding, Host, examine
from tests.commands import smartharvest_here

SYS_CPU = "/sys/devices/system/cpu"
V1 = (
    "33 24 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "34 24 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 24 0:31 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n"
)
V2 = "33 24 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
EVERY_CAPABILITY = "CapEff:\t000001ffffffffff\n"

GOOD = {
    "/proc/sys/kernel/osrelease": "6.12.1-amd64\n",
    "/proc/self/mountinfo": V2,
    "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory\n",
    "/sys/fs/cgroup/cgroup.subtree_control": "cpuset cpu\n",
    "/proc/self/status": "Name:\tx\n" + EVERY_CAPABILITY,
    "/proc/self/schedstat": "1 2 3\n",
    "/proc/self/cgroup": "0::/\n",
    "/proc/self/limits": "Max open files            1024                 524288         files\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
    "/sys/kernel/btf/vmlinux": "btf",
    f"{SYS_CPU}/online": "0-3\n",
    f"{SYS_CPU}/smt/active": "0\n",
    f"{SYS_CPU}/isolated": "\n",
    **{f"{SYS_CPU}/cpu{n}/cpufreq/scaling_governor": "performance\n" for n in range(4)},
    f"{SYS_CPU}/cpu0/cpuidle/state1/latency": "2\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "/proc/stat": "cpu  100 0 100 9800 0 0 0 0 0 0\n",
    "/sys/kernel/mm/ksm/run": "0\n",
    "/run/.keep": "",
}


def make(root: Path, changes: dict[str, str | bytes | None]) -> Host:
    """A host in good order but for ``changes``: path -> contents, None for a missing file."""
    for path, contents in {**GOOD, **changes}.items():
        if contents is not None:
            file = root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents.encode() if isinstance(contents, str) else contents)
    return Host(str(root))


def bad(host: Host) -> list[Finding]:
    return [finding for finding in examine(host) if finding.status != "ok"]


def test_a_host_in_good_order_has_nothing_to_fix(tmp_path: Path) -> None:
    findings = examine(make(tmp_path, {}))
    assert [finding for finding in findings if finding.status != "ok"] == []
    assert all(finding.fix is None for finding in findings)
    assert len({finding.check for finding in findings}) >= len(CHECKS) - 1


DYNAMIC = "CONFIG_PREEMPT_DYNAMIC=y\n"


@pytest.mark.parametrize(
    ("options", "boot_line", "offered", "found", "fix"),
    [
        (DYNAMIC + "CONFIG_PREEMPT_NONE=y\n", "quiet", None, "none:", "boot with preempt=full"),
        ("CONFIG_PREEMPT_VOLUNTARY=y\n", "preempt=full", None, "voluntary:", "PREEMPT_DYNAMIC"),
        (DYNAMIC + "CONFIG_PREEMPT=y\n", "a preempt=none", None, "none:", "boot with preempt=full"),
        (DYNAMIC + "CONFIG_PREEMPT_NONE=y\n", "preempt=full", None, "model is full", None),
        (
            DYNAMIC + "CONFIG_PREEMPT=y\n",
            "",
            "none (voluntary) full\n",
            "voluntary:",
            "preempt=full",
        ),
        ("", "preempt=none", "none voluntary full (lazy)\n", "model is lazy", None),
        ("CONFIG_PREEMPT_RT=y\nCONFIG_PREEMPT_LAZY=y\n", "", None, "model is rt", None),
        ("CONFIG_PREEMPT=y\n", "", None, "model is full", None),
        ("CONFIG_CPUSETS=y\n", "preempt=none", None, "does not show", None),
    ],
)
def test_it_shows_whether_system_calls_are_preempted(
    options: str, boot_line: str, offered: str | None, found: str, fix: str | None, tmp_path: Path
) -> None:
    host = make(
        tmp_path,
        {
            "/proc/config.gz": gzip.compress(options.encode()),
            "/proc/cmdline": boot_line,
            "/sys/kernel/debug/sched/preempt": offered,
        },
    )
    (finding,) = [finding for finding in examine(host) if finding.check == "preemption"]
    assert finding.status == ("ok" if fix is None else "warning")
    assert found in finding.found
    assert (finding.fix is None) if fix is None else (fix in (finding.fix or ""))


@pytest.mark.parametrize(
    ("changes", "check", "status", "found", "fix"),
    [
        ({"/proc/sys/kernel/osrelease": "5.10.0"}, "kernel", "warning", "Linux 5.10.0", "5.15"),
        ({"/proc/sys/kernel/osrelease": "3.10.0"}, "kernel", "failure", "Linux 3.10.0", "5.15"),
        ({"/proc/self/mountinfo": ""}, "cgroups", "failure", "no control groups", "mount -t cg"),
        (
            {"/sys/fs/cgroup/cgroup.controllers": "cpu io"},
            *("cgroups", "failure", "has no cpuset controller", "free it from the v1"),
        ),
        (
            {"/sys/fs/cgroup/cgroup.subtree_control": "cpu"},
            *("cgroups", "failure", "cpuset is not enabled", "echo +cpuset > /sys/fs/cgroup/cgro"),
        ),
        (
            {"/sys/fs/cgroup/cgroup.subtree_control": "cpuset"},
            *("cgroups", "warning", "cpu is not enabled", "echo +cpu > "),
        ),
        (
            {"/proc/self/mountinfo": V1.replace("freezer", "net_cls")},
            *("cgroups", "warning", "no freezer hierarchy", "mount -t cgroup -o freezer"),
        ),
        (
            # All but CAP_SYS_NICE (bit 23).
            {"/proc/self/status": "CapEff:\t000001ffff7fffff\n"},
            *("rights", "warning", "CAP_SYS_NICE is missing", "grant it"),
        ),
        (
            {"/proc/self/status": "CapEff:\t000001fffffffffd\n"},
            *("rights", "failure", "CAP_DAC_OVERRIDE is missing", "grant it"),
        ),
        ({"/sys/kernel/btf/vmlinux": None}, "bpf", "warning", "vmlinux is missing", "BTF=y"),
        (
            {"/sys/kernel/security/lockdown": "none integrity [confidentiality]\n"},
            *("bpf", "warning", "confidentiality", "lockdown=integrity"),
        ),
        (
            {"/proc/self/schedstat": None, "/proc/sys/kernel/task_delayacct": "0"},
            *("waits", "warning", "task_delayacct is off", "sysctl kernel.task_delayacct=1"),
        ),
        (
            {"/proc/sys/kernel/sched_rt_runtime_us": "0"},
            *("real-time", "warning", "is 0", "sysctl kernel.sched_rt_runtime_us=950000"),
        ),
        (
            {
                "/proc/self/mountinfo": V1,
                "/proc/self/cgroup": "4:cpu,cpuacct:/system\n",
                "/sys/fs/cgroup/cpu/system/cpu.rt_runtime_us": "0\n",
            },
            *("real-time", "warning", "refuses SCHED_FIFO", "echo 10000 > /sys/fs/cgroup/cpu/sys"),
        ),
        ({f"{SYS_CPU}/cpu2/online": "0", f"{SYS_CPU}/cpu3/online": "0"}, "cpus", "warning",
         "2 online", "more cores"),
        (
            {
                f"{SYS_CPU}/smt/active": "1",
                f"{SYS_CPU}/online": "0-1",
                f"{SYS_CPU}/cpu0/topology/thread_siblings_list": "0-1",
                f"{SYS_CPU}/cpu1/topology/thread_siblings_list": "0-1",
            },
            *("smt", "warning", "there is one core", "more cores"),
        ),
        ({f"{SYS_CPU}/isolated": "2-3"}, "isolated cpus", "warning", "isolcpus=2-3", "--cores"),
        ({f"{SYS_CPU}/nohz_full": "3"}, "isolated cpus", "warning", "nohz_full=3", "--cores"),
        (
            {
                f"{SYS_CPU}/cpu1/cpuidle/state3/latency": "133",
                f"{SYS_CPU}/cpu1/cpuidle/state3/name": "C6",
            },
            *("idle states", "warning", "C6 takes 133 us", "cpupower idle-set -D 100"),
        ),
        (
            {f"{SYS_CPU}/cpu3/cpufreq/scaling_governor": "powersave"},
            *("governor", "warning", "performance, powersave", "frequency-set -g performance"),
        ),
        (
            {"/sys/module/kvm/parameters/halt_poll_ns": "200000\n"},
            *("halt polling", "warning", "200 us", "echo 0 > /sys/module/kvm"),
        ),
        (
            {"/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"},
            *("clock", "warning", "hpet", "echo tsc > "),
        ),
        ({"/proc/stat": "cpu 1 1 1 80 1 1 1 20\n"}, "steal time", "warning", "18.87%", "dedicated"),
        ({"/sys/kernel/mm/ksm/run": "1\n"}, "merged pages", "warning", "KSM merges", "echo 2 >"),
        (
            {
                "/proc/88/comm": "kubelet",
                "/var/lib/kubelet/cpu_manager_state": '{"policyName": "static"}',
            },
            *("other managers", "warning", "CPU manager policy static", "cpuManagerPolicy: none"),
        ),
        ({"/proc/9/comm": "libvirtd\n"}, "other managers", "warning", "libvirtd runs (pid 9)", ""),
        ({"/run/.keep": None}, "state directory", "failure", "/run does not exist", "mount"),
        (
            {"/proc/self/limits": "Max open files            1024         1024        files\n"},
            *("open files", "warning", "at most 1024", "LimitNOFILE"),
        ),
    ],
)  # fmt: skip
def test_each_thing_amiss_is_reported_with_its_fix(
    tmp_path: Path,
    changes: dict[str, str | bytes | None],
    check: str,
    status: str,
    found: str,
    fix: str,
) -> None:
    (finding,) = bad(make(tmp_path, changes))
    assert (finding.check, finding.status) == (check, status)
    assert found in finding.found
    assert finding.why
    assert finding.fix is not None
    assert fix in finding.fix


def test_options_are_read_from_the_running_kernels_own_configuration(tmp_path: Path) -> None:
    options = gzip.compress(b"# CONFIG_BPF_SYSCALL is not set\nCONFIG_CPUSETS=y\n")
    findings = bad(make(tmp_path, {"/proc/config.gz": options}))
    assert ("CONFIG_BPF_SYSCALL is off", "warning") in [(f.found, f.status) for f in findings]
    assert not any("CPUSETS" in finding.found for finding in findings)


def test_a_state_directory_that_others_may_write_fails(tmp_path: Path) -> None:
    host = make(tmp_path, {"/run/smartharvest/x": ""})
    (tmp_path / "run/smartharvest").chmod(0o777)
    (finding,) = bad(host)
    assert (finding.status, finding.fix) == ("failure", "chmod 700 /run/smartharvest")


def test_an_empty_root_is_reported_and_breaks_nothing(tmp_path: Path) -> None:
    assert {finding.check for finding in bad(Host(str(tmp_path)))} >= {"kernel", "cgroups"}


@given(st.lists(st.tuples(st.sampled_from(sorted({**GOOD, "/proc/config.gz": ""})), st.binary())))
def test_whatever_the_files_say_every_check_answers(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, bytes]]
) -> None:
    root = tmp_path_factory.mktemp("host")
    for finding in examine(make(root, dict(changes))):
        assert finding.status in ("ok", "warning", "failure")
        assert json.dumps(finding.found)


def test_the_command_says_it_in_words_and_by_its_exit_code(tmp_path: Path) -> None:
    make(tmp_path, {f"{SYS_CPU}/isolated": "2-3"})
    outcome = smartharvest_here("doctor", "--root", str(tmp_path))
    assert outcome.code == 0
    assert "warning  isolated cpus: isolcpus=2-3\n           why:  " in outcome.out
    strict = smartharvest_here("doctor", "--root", str(tmp_path), "--strict")
    assert strict.code == 10
    assert strict.failure.startswith("doctor: 0 failures and 1 warning;")


def test_a_failure_fails_and_json_has_every_finding(tmp_path: Path) -> None:
    host = make(tmp_path, {"/proc/self/mountinfo": ""})
    outcome = smartharvest_here("doctor", "--root", str(tmp_path), "--json")
    assert outcome.code == 10
    found = json.loads(outcome.out)["findings"]
    assert [one["found"] for one in found] == [finding.found for finding in examine(host)]
    assert {*found[0]} == {"check", "status", "found", "why", "fix"}


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        ({}, "ok", "Linux 6.12 and later may have it"),
        ({"/boot/config-6.12.1-amd64": "CONFIG_BPF=y\n"}, "ok", "CONFIG_SCHED_CLASS_EXT is off"),
        ({"/sys/kernel/sched_ext/state": "disabled\n"}, "ok", "no scheduler is loaded"),
        (
            {
                "/sys/kernel/sched_ext/state": "enabled\n",
                "/sys/kernel/sched_ext/root/ops": "lavd\n",
            },
            "warning",
            "another scheduler is loaded (lavd)",
        ),
        (
            {"/sys/kernel/sched_ext/state": "disabled\n", "/sys/kernel/btf/vmlinux": None},
            "ok",
            "CONFIG_DEBUG_INFO_BTF",
        ),
    ],
)
def test_what_strict_needs_is_said(
    tmp_path: Path, files: dict[str, str | bytes | None], status: str, words: str
) -> None:
    (finding,) = [one for one in examine(make(tmp_path, files)) if one.check == "sched_ext"]
    assert finding.status == status
    assert words in finding.found


@pytest.mark.parametrize(
    ("line", "patched"),
    [
        ("quiet sched_vcpu_pack=15 ro", True),
        ("sched_vcpu_pack=1", True),
        ("quiet sched_vcpu_pack=0 ro", False),
        ("quiet no_sched_vcpu_pack=15", False),
        ("", False),
    ],
)
def test_a_kernel_that_wakes_tasks_on_busy_cpus_is_a_warning(
    tmp_path: Path, line: str, patched: bool
) -> None:
    found = bad(make(tmp_path, {"/proc/cmdline": line}))
    assert [one.check for one in found] == ["wake-up placement"] * patched
    assert not patched or "sched_vcpu_pack" in found[0].found
