"""Guests among the primaries, on a made /proc."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import pytest

from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host.target import virtual_machines
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.virtual_machines import (
    Guest,
    check_idleness_shows,
    find_guests,
    halt_poll_ns,
    is_vcpu,
    keeps_idle_cpus,
)

QEMU = ["qemu-system-x86_64", "-machine", "q35,accel=kvm", "-smp", "2"]
SPINNING = [*QEMU, "-overcommit", "mem-lock=off,cpu-pm=on"]


@dataclass
class MadeTarget:
    """A primary that has these threads."""

    tids: list[int]
    spec: TargetSpec = TargetSpec("cgroup", "vm")

    def threads(self) -> list[int]:
        return self.tids


class Gone(MadeTarget):
    def threads(self) -> list[int]:
        raise TargetVanished("it is gone")


class MadeHost:
    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self._root = root

    def poll(self, text: str) -> None:
        parameters = self._root / "sys/module/kvm/parameters"
        parameters.mkdir(parents=True)
        (parameters / "halt_poll_ns").write_text(text)

    def process(
        self, pid: int, threads: dict[int, str], arguments: list[str], links: tuple[str, ...] = ()
    ) -> None:
        """A process; ``threads`` maps ids to names, the first being its own."""
        proc = self._root / "proc"
        for tid, name in threads.items():
            task = proc / str(pid) / "task" / str(tid)
            task.mkdir(parents=True)
            (task / "comm").write_text(name + "\n")
            (proc / str(tid)).mkdir(exist_ok=True)
            (proc / str(tid) / "status").write_text(f"Name:\t{name}\nTgid:\t{pid}\nPid:\t{tid}\n")
        (proc / str(pid) / "comm").write_text(next(iter(threads.values())) + "\n")
        (proc / str(pid) / "cmdline").write_text("\0".join(arguments) + "\0")
        fds = proc / str(pid) / "fd"
        fds.mkdir()
        for number, link in enumerate(links):
            (fds / str(number)).symlink_to(link)


@pytest.fixture
def host(tmp_path: Path) -> MadeHost:
    return MadeHost(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "keeps"),
    [
        (QEMU, False),
        (SPINNING, True),
        ([*QEMU, "--overcommit", "cpu-pm=yes"], True),
        ([*QEMU, "-overcommit", "cpu-pm=off"], False),
        ([*SPINNING, "-overcommit", "cpu-pm=off"], False),
        ([*QEMU, "-name", "cpu-pm=on"], False),
        ([*QEMU, "-overcommit"], False),
        ([], False),
    ],
)
def test_cpu_pm_is_found_on_the_command_line(arguments: list[str], keeps: bool) -> None:
    assert keeps_idle_cpus(arguments) is keeps


@pytest.mark.parametrize("name", ["CPU 0/KVM", "CPU 17/KVM\n", "fc_vcpu 3", "vcpu0"])
def test_vcpus_are_known_by_name(name: str) -> None:
    assert is_vcpu(name)


@pytest.mark.parametrize("name", ["", "qemu-system-x86", "CPU 0/TCG", "vcpu", "IO mon_iothread"])
def test_other_threads_are_no_vcpus(name: str) -> None:
    assert not is_vcpu(name)


def test_a_guest_is_found_by_any_of_its_threads(host: MadeHost) -> None:
    host.process(10, {10: "qemu-system-x86", 11: "CPU 0/KVM"}, SPINNING)
    host.process(20, {20: "memcached"}, ["memcached"])
    assert find_guests([11, 20, 999], host.root) == [Guest(10, "qemu-system-x86", True)]


def test_of_a_process_with_many_threads_one_is_asked_for_its_process(
    host: MadeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = {10: "qemu-system-x86", **{10 + n: f"CPU {n}/KVM" for n in range(1, 50)}}
    host.process(10, threads, SPINNING)
    asked: list[int] = []
    process_of = virtual_machines._process_of

    def noting(tid: int, root: str) -> int | None:
        asked.append(tid)
        return process_of(tid, root)

    monkeypatch.setattr(virtual_machines, "_process_of", noting)
    assert find_guests(sorted(threads), host.root)
    assert asked == [10]


def test_a_guest_is_found_by_its_descriptors(host: MadeHost) -> None:
    links = ("/dev/null", "anon_inode:kvm-vcpu:0")
    host.process(10, {10: "my-monitor", 11: "worker"}, ["my-monitor"], links)
    host.process(20, {20: "my-tool"}, ["my-tool"], ("anon_inode:[eventpoll]",))
    assert find_guests([10, 20], host.root) == [Guest(10, "my-monitor", False)]


def test_a_guest_that_never_looks_idle_is_refused(host: MadeHost) -> None:
    host.process(10, {10: "qemu-system-x86", 11: "CPU 0/KVM"}, SPINNING)
    with pytest.raises(TargetError) as refused:
        check_idleness_shows([MadeTarget([10, 11])], host.root)
    assert str(refused.value).startswith("cgroup:vm: guest qemu-system-x86 (10) has -overcommit")


def test_without_vcpus_the_option_does_not_matter(host: MadeHost) -> None:
    host.process(10, {10: "qemu-system-x86", 11: "CPU 0/TCG"}, SPINNING)
    check_idleness_shows([MadeTarget([10, 11])], host.root)


@pytest.mark.parametrize(("polling", "warned"), [("200000\n", True), ("0\n", False), (None, False)])
def test_the_polling_of_kvm_is_told_with_what_to_do(
    host: MadeHost, caplog: pytest.LogCaptureFixture, polling: str | None, warned: bool
) -> None:
    if polling is not None:
        host.poll(polling)
    host.process(10, {10: "qemu-system-x86", 11: "CPU 0/KVM"}, QEMU)
    with caplog.at_level(logging.WARNING):
        check_idleness_shows([MadeTarget([10]), Gone([])], host.root)
    told = [record.getMessage() for record in caplog.records]
    assert bool(told) is warned
    if warned:
        assert "up to 200 us" in told[0]
        assert told[0].endswith("write 0 into /sys/module/kvm/parameters/halt_poll_ns")


def test_polling_can_be_stopped_for_as_long_as_the_agent_runs(
    host: MadeHost, caplog: pytest.LogCaptureFixture
) -> None:
    host.poll("200000\n")
    host.process(10, {10: "qemu-system-x86", 11: "CPU 0/KVM"}, QEMU)
    stopped: list[str] = []
    with caplog.at_level(logging.WARNING):
        check_idleness_shows([MadeTarget([10])], host.root, stop_polling=stopped.append)
    assert stopped == [f"{host.root}/sys/module/kvm/parameters/halt_poll_ns"]
    assert not any("write 0" in record.getMessage() for record in caplog.records)


def test_polling_without_guests_is_nobodys_matter(
    host: MadeHost, caplog: pytest.LogCaptureFixture
) -> None:
    host.poll("200000\n")
    host.process(20, {20: "memcached"}, ["memcached"])
    with caplog.at_level(logging.WARNING):
        check_idleness_shows([MadeTarget([20])], host.root)
    assert caplog.records == []


@pytest.mark.parametrize("text", ["", "many"])
def test_a_parameter_that_cannot_be_read_is_none(host: MadeHost, text: str) -> None:
    assert halt_poll_ns(host.root) == 0
    host.poll(text)
    assert halt_poll_ns(host.root) == 0
