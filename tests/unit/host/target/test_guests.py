"""How virtual machines are found by their names, sockets and process ids."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from smartharvest.errors import TargetError
from smartharvest.host.target import guests
from smartharvest.host.target.asking import Asker
from smartharvest.host.target.qmp import VirtualCpus
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import is_pattern, parse_target


def make_process(root: Path, pid: int, name: str, *arguments: str) -> None:
    directory = root / "proc" / str(pid)
    directory.mkdir(parents=True)
    (directory / "comm").write_text(name[:15] + "\n")
    (directory / "cmdline").write_text("\0".join([name, *arguments]) + "\0")


@pytest.mark.parametrize(
    ("arguments", "is_it"),
    [
        (["-name", "web"], True),
        (["-name", "web,debug-threads=on"], True),
        (["-name", "guest=web,process=x"], True),
        (["--name", "debug-threads=on,guest=web"], True),
        (["-name=web"], True),
        (["-name", "web2"], False),
        (["-name", "process=web"], False),
        (["-machine", "web"], False),
        (["-name"], False),
    ],
)
def test_a_qemu_guest_is_found_by_its_name(
    arguments: list[str], is_it: bool, tmp_path: Path
) -> None:
    make_process(tmp_path, 10, "qemu-system-x86_64", *arguments)
    make_process(tmp_path, 11, "memcached", "-name", "web")
    found = guests.find(TargetSpec("qemu", "web"), str(tmp_path))
    assert found == ([TargetSpec("qemu", "10")] if is_it else [])


def test_other_monitors_are_found_by_theirs(tmp_path: Path) -> None:
    make_process(tmp_path, 10, "firecracker", "--id", "web", "--api-sock", "/a")
    make_process(tmp_path, 11, "cloud-hypervisor", "--api-socket", "path=/run/web.sock")
    make_process(tmp_path, 12, "cloud-hypervisor", "--api-socket=/run/db.sock")
    for kind, value, pid in (
        ("firecracker", "web", "10"),
        ("cloud-hypervisor", "/run/web.sock", "11"),
        ("cloud-hypervisor", "/run/db.sock", "12"),
    ):
        spec = parse_target(f"{kind}:{value}", "primary")
        assert guests.find(spec, str(tmp_path)) == [TargetSpec(spec.kind, pid)]


def test_a_machine_named_by_its_process_is_that_one_and_no_other(tmp_path: Path) -> None:
    fixed = TargetSpec("qemu", "10")
    assert guests.find(fixed, str(tmp_path)) == [fixed]
    assert not is_pattern(fixed)
    assert is_pattern(TargetSpec("qemu", "web"))


def test_a_socket_without_qemu_behind_it_names_nothing(tmp_path: Path) -> None:
    assert guests.find(TargetSpec("qemu", str(tmp_path / "qmp"))) == []


def test_a_machine_whose_monitor_is_busy_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = TargetSpec("qemu", "/run/web.qmp")
    answers = [VirtualCpus((os.getpid(),), running=True)]

    def answer(path: str) -> VirtualCpus:
        if not answers:
            raise TargetError(f"{path}: no answer")
        return answers.pop()

    monkeypatch.setattr(guests, "_answered", {})
    monkeypatch.setattr(guests, "read_vcpus", answer)
    for _ in range(2):
        assert guests.find(spec) == [TargetSpec("qemu", str(os.getpid()))]
    monkeypatch.setattr(guests, "_answered", {spec.value: (os.getpid(), 1)})  # it has ended
    assert guests.find(spec) == []


def test_a_mute_monitor_keeps_the_control_plane_waiting_once_and_not_for_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "qmp"))
        mute.listen(8)
        monkeypatch.setattr(guests, "_monitors", Asker(guests._ask_monitor, 0.05))
        for _ in range(5):
            assert guests.find(TargetSpec("qemu", str(tmp_path / "qmp"))) == []
            waits.append(threading.active_count())
    assert len(set(waits)) == 1  # one thread talks to it


def test_the_process_is_the_one_that_the_vcpus_are_threads_of() -> None:
    spec = TargetSpec("qemu", "/run/web.qmp")
    assert guests.process_behind(spec, VirtualCpus((os.getpid(),), running=True)) == os.getpid()
    for threads in ((os.getpid(), os.getppid()), (1 << 30,)):
        with pytest.raises(TargetError, match="no threads of one process"):
            guests.process_behind(spec, VirtualCpus(threads, running=True))


def test_kernel_threads_that_do_its_io_are_found(tmp_path: Path) -> None:
    make_process(tmp_path, 10, "qemu-system-x86_64")
    make_process(tmp_path, 20, "vhost-10")
    make_process(tmp_path, 21, "vhost-101")
    assert guests.helper_threads(10, str(tmp_path)) == [20]


@pytest.mark.parametrize("text", ["qemu:", "firecracker:", "cloud-hypervisor:", "qemu:0"])
def test_a_machine_without_a_name_is_refused(text: str) -> None:
    from smartharvest.errors import ConfigError

    with pytest.raises(ConfigError, match=r"^primary: .* lacks the"):
        parse_target(text, "primary")
