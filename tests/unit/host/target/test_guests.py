"""How virtual machines are found by their names, sockets and process ids."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.target import guests
from smartharvest.host.target.asking import Asker
from smartharvest.host.target.qmp import Peer, VirtualCpus
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import is_pattern, parse_target


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have asked is forgotten, and a first answer has all the time it needs."""
    monkeypatch.setattr(guests, "_monitors", Asker(guests._ask_monitor, 60.0))
    monkeypatch.setattr(guests, "_answered", {})
    monkeypatch.setattr(guests, "_searches", {})
    monkeypatch.setattr(guests, "_refused", set())


def make_process(root: Path, pid: int, name: str, *arguments: str) -> None:
    directory = root / "proc" / str(pid)
    directory.mkdir(parents=True)
    (directory / "comm").write_text(name[:15] + "\n")
    (directory / "cmdline").write_text("\0".join([name, *arguments]) + "\0")
    (directory / "status").write_text("Name:\tx\nUid:\t{0}\t{0}\t{0}\t{0}\n".format(os.geteuid()))
    program = root / "usr" / name
    program.parent.mkdir(exist_ok=True)
    program.touch(mode=0o755)
    (directory / "exe").symlink_to(program)


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
    monkeypatch.setattr(guests, "why_not", lambda *_: None)
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
    for pid, name, parent in ((20, "vhost-10", 2), (21, "vhost-101", 2), (22, "vhost-10", 1)):
        make_process(tmp_path, pid, name)
        numbers = " ".join(["0"] * 20)
        (tmp_path / "proc" / str(pid) / "task" / str(pid)).mkdir(parents=True)
        stat = tmp_path / "proc" / str(pid) / "task" / str(pid) / "stat"
        stat.write_text(f"{pid} ({name}) S {parent} {numbers}\n")
    assert guests.helper_threads(10, str(tmp_path)) == [20]  # 22 is no kernel thread


@pytest.mark.parametrize("text", ["qemu:", "firecracker:", "cloud-hypervisor:", "qemu:0"])
def test_a_machine_without_a_name_is_refused(text: str) -> None:
    from smartharvest.errors import ConfigError

    with pytest.raises(ConfigError, match=r"^primary: .* lacks the"):
        parse_target(text, "primary")


def become(root: Path, pid: int, **changed: str) -> None:
    """Changes files of the process."""
    for name, text in changed.items():
        (root / "proc" / str(pid) / name).write_text(text)


@pytest.mark.parametrize("uids", ["65534 65534 65534 65534", "65534 0 0 0", "0 0 65534 0"])
def test_a_process_of_another_user_is_no_machine_of_ours(
    uids: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_process(tmp_path, 10, "qemu-system-x86_64", "-name", "web")
    become(tmp_path, 10, status="Uid:\t" + uids.replace(" ", "\t") + "\n")
    for _ in range(3):
        assert guests.find(TargetSpec("qemu", "web"), str(tmp_path)) == []
    if uids.startswith("65534 65534"):
        named = TargetSpec("qemu", "web,user=65534")
        assert guests.find(named, str(tmp_path)) == [TargetSpec("qemu", "10")]
    assert caplog.text.count("it belongs to") <= 1


def test_another_program_under_a_machines_name_is_none(tmp_path: Path) -> None:
    make_process(tmp_path, 10, "qemu-system-x86_64", "-name", "web")
    (tmp_path / "usr" / "python3").touch()
    (tmp_path / "proc/10/exe").unlink()
    (tmp_path / "proc/10/exe").symlink_to(tmp_path / "usr" / "python3")
    assert guests.find(TargetSpec("qemu", "web"), str(tmp_path)) == []


def test_a_program_that_others_can_write_is_not_trusted(tmp_path: Path) -> None:
    make_process(tmp_path, 10, "qemu-system-x86_64", "-name", "web")
    (tmp_path / "usr" / "qemu-system-x86_64").chmod(0o757)
    assert guests.find(TargetSpec("qemu", "web"), str(tmp_path)) == []


def test_crowds_under_a_machines_name_are_told_of_only_so_often(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "_refused", set())
    monkeypatch.setattr(guests, "MOST_TOLD", 3)
    for pid in range(10, 20):
        make_process(tmp_path, pid, "qemu-system-x86_64", "-name", "web")
        become(tmp_path, pid, status="Uid:\t65534\t65534\t65534\t65534\n")
    assert guests.find(TargetSpec("qemu", "web"), str(tmp_path)) == []
    assert len(caplog.records) == 3


@pytest.mark.parametrize(
    ("peer", "is_it"),
    [
        (Peer(os.getpid(), 65534), True),  # of what it is itself its owner decides
        (Peer(1, 0), True),
        (Peer(1, 65534), False),
        (Peer(0, 65534), False),
    ],
)
def test_who_listens_at_the_monitor_is_the_machine_or_root(
    peer: Peer, is_it: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = TargetSpec("qemu", "/run/web.qmp")
    monkeypatch.setattr(guests, "_answered", {})
    monkeypatch.setattr(guests, "why_not", lambda *_: None)
    answer = VirtualCpus((os.getpid(),), running=True, peer=peer)
    monkeypatch.setattr(guests, "read_vcpus", lambda _: answer)
    assert bool(guests.find(spec)) is is_it


def test_a_monitor_of_what_is_no_machine_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process claims to have vCPUs; its program is Python."""
    answer = VirtualCpus((os.getpid(),), running=True, peer=Peer(os.getpid(), os.geteuid()))
    monkeypatch.setattr(guests, "_answered", {})
    monkeypatch.setattr(guests, "read_vcpus", lambda _: answer)
    assert guests.find(TargetSpec("qemu", "/run/web.qmp")) == []


def test_a_user_that_is_not_there_is_a_wrong_setting() -> None:
    assert parse_target("qemu:web,user=root", "primary").value == "web,user=root"
    with pytest.raises(ConfigError, match=r"primary: .*there is no user 'no-such'"):
        parse_target("qemu:web,user=no-such", "primary")
