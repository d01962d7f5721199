"""A domain's group in the layouts that libvirt makes, with libvirt's own test driver or a fake."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, RightsError
from smartharvest.host.target import libvirt_domains
from smartharvest.host.target.libvirt_domains import Asked
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import expand, is_pattern, parse_target
from tests.integration.processes import wait_until
from tests.unit.host.fake_trees import make_group, make_v1_tree, make_v2_tree

WEB = parse_target("libvirt:web", "primary")
SCOPE = r"machine.slice/machine-qemu\x2d7\x2dweb.scope"


class FakeError(Exception):
    def get_error_code(self) -> int:
        return int(self.args[0])


class FakeDomain:
    def __init__(self, number: int) -> None:
        self.number = number

    def ID(self) -> int:  # noqa: N802
        return self.number

    def isActive(self) -> bool:  # noqa: N802
        return self.number > 0


class FakeConnection:
    def __init__(self) -> None:
        self.domains: dict[str, FakeDomain] = {}
        self.alive = True
        self.tell: list[Callable[..., None]] = []

    def domainEventRegisterAny(  # noqa: N802
        self, _domain: None, _kind: int, tell: Callable[..., None], _context: None
    ) -> None:
        self.tell.append(tell)

    def registerCloseCallback(self, tell: Callable[..., None], _context: None) -> None:  # noqa: N802
        self.tell.append(tell)

    def isAlive(self) -> bool:  # noqa: N802
        return self.alive

    def lookupByName(self, name: str) -> FakeDomain:  # noqa: N802
        if not self.alive:
            raise FakeError(1)
        if name not in self.domains:
            raise FakeError(42)
        return self.domains[name]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> FakeConnection:
    connection = FakeConnection()
    fake = types.ModuleType("libvirt")
    fake.libvirtError = FakeError  # type: ignore[attr-defined]
    fake.VIR_ERR_NO_DOMAIN = 42  # type: ignore[attr-defined]
    fake.openReadOnly = lambda _uri: connection  # type: ignore[attr-defined]
    fake.registerErrorHandler = lambda *_: None  # type: ignore[attr-defined]
    fake.virEventRegisterDefaultImpl = lambda: None  # type: ignore[attr-defined]
    fake.virEventRunDefaultImpl = threading.Event().wait  # type: ignore[attr-defined]
    fake.VIR_DOMAIN_EVENT_ID_LIFECYCLE = 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "libvirt", fake)
    monkeypatch.setattr(libvirt_domains, "_asked", Asked())
    monkeypatch.setattr(libvirt_domains, "ASK_S", 1e6)
    return connection


def test_version_1_has_the_vcpus_right_below_the_scope(
    host: FakeConnection, tmp_path: Path
) -> None:
    tree = make_v1_tree(tmp_path)
    for group in ("machine.slice", SCOPE, f"{SCOPE}/emulator", f"{SCOPE}/vcpu0"):
        make_group(tree, group, "0-7")
    host.domains["web"] = FakeDomain(7)
    assert expand(WEB, tree) == [TargetSpec("cgroup", SCOPE)]


def test_version_2_has_them_in_a_group_that_is_libvirt_s_own(
    host: FakeConnection, tmp_path: Path
) -> None:
    tree = make_v2_tree(tmp_path)
    for group in ("machine.slice", SCOPE, f"{SCOPE}/libvirt", f"{SCOPE}/libvirt/vcpu0"):
        make_group(tree, group)
    host.domains["web"] = FakeDomain(7)
    assert expand(WEB, tree) == [TargetSpec("cgroup", f"{SCOPE}/libvirt")]


def test_without_systemd_the_group_is_named_otherwise(host: FakeConnection, tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    for group in ("machine", "machine/qemu-7-web.libvirt-qemu", "machine/qemu-17-x.libvirt-qemu"):
        make_group(tree, group, "0-7")
    host.domains["web"] = FakeDomain(7)
    assert expand(WEB, tree) == [TargetSpec("cgroup", "machine/qemu-7-web.libvirt-qemu")]


def test_a_domain_that_starts_again_has_another_group(host: FakeConnection, tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    again = SCOPE.replace("2d7", "2d8")
    for group in ("machine.slice", SCOPE, again):
        make_group(tree, group, "0-7")
    host.domains["web"] = FakeDomain(7)
    assert expand(WEB, tree) == [TargetSpec("cgroup", SCOPE)]
    host.domains["web"] = FakeDomain(8)
    libvirt_domains._asked.ask_again()
    assert expand(WEB, tree) == [TargetSpec("cgroup", again)]
    host.domains["web"] = FakeDomain(-1)  # shut off
    libvirt_domains._asked.ask_again()
    assert expand(WEB, tree) == []
    del host.domains["web"]  # moved away
    libvirt_domains._asked.ask_again()
    assert expand(WEB, tree) == []
    assert is_pattern(WEB)


def test_a_daemon_that_went_away_is_named(host: FakeConnection) -> None:
    host.alive = False
    with pytest.raises(RightsError, match="libvirt:web: libvirt does not answer"):
        libvirt_domains.running_id("web")


def test_events_and_a_daemon_that_goes_have_it_asked_again(host: FakeConnection) -> None:
    host.domains["web"] = FakeDomain(7)
    assert libvirt_domains.running_id("web") == 7
    assert len(host.tell) == 2  # for each connection once
    for number, tell in enumerate(host.tell):
        assert not libvirt_domains.changed()
        host.domains["web"] = FakeDomain(number)
        tell("connection", "domain", 5, 0, None)
        wait_until(libvirt_domains.changed)
        assert libvirt_domains.running_id("web") == (number or None)


def test_an_answer_that_does_not_come_keeps_nobody_waiting(
    host: FakeConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.domains["web"] = FakeDomain(7)
    assert libvirt_domains.running_id("web") == 7
    hangs, goes_on = threading.Event(), threading.Event()

    def look_up(_name: str) -> FakeDomain:
        hangs.set()
        assert goes_on.wait(60)
        return FakeDomain(8)

    monkeypatch.setattr(host, "lookupByName", look_up)
    host.tell[0]()
    assert hangs.wait(60)
    assert libvirt_domains.running_id("web") == 7
    goes_on.set()
    wait_until(libvirt_domains.changed)
    assert libvirt_domains.running_id("web") == 8


def test_a_daemon_that_is_mute_from_the_start_is_named_after_a_while(
    host: FakeConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def look_up(_name: str) -> FakeDomain:
        assert goes_on.wait(60)
        return FakeDomain(8)

    monkeypatch.setattr(host, "lookupByName", look_up)
    monkeypatch.setattr(libvirt_domains, "FIRST_ANSWER_S", 0.01)
    for _ in range(2):
        with pytest.raises(RightsError, match="libvirt:web: libvirt does not answer within"):
            libvirt_domains.running_id("web")
    goes_on.set()
    wait_until(lambda: ("web", None) in libvirt_domains._asked._answers)
    assert libvirt_domains.running_id("web") == 8


def test_a_domain_of_another_daemon_by_the_same_id_is_not_taken(
    host: FakeConnection, tmp_path: Path
) -> None:
    tree = make_v1_tree(tmp_path)
    long = "a-web-server.with-a-very-long-name"
    for group in (
        "machine",
        "machine/qemu-7-other.libvirt-qemu",
        f"machine/qemu-7-{long[:20]}.libvirt-qemu",
    ):
        make_group(tree, group, "0-7")
    host.domains[long] = FakeDomain(7)
    found = expand(parse_target(f"libvirt:{long}", "primary"), tree)
    assert found == [TargetSpec("cgroup", f"machine/qemu-7-{long[:20]}.libvirt-qemu")]


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libvirt", None)
    with pytest.raises(ConfigError, match=r"pip install 'smartharvest\[libvirt\]'"):
        libvirt_domains.running_id("web")


def test_libvirt_s_test_driver_is_understood_and_tells_of_a_domain_that_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    libvirt = pytest.importorskip("libvirt")
    monkeypatch.setattr(libvirt_domains, "_asked", Asked())
    monkeypatch.setattr(libvirt_domains, "ASK_S", 1e6)
    here = "test:///default"
    assert libvirt_domains.running_id("test", here) == 1
    assert libvirt_domains.running_id("nobody", here) is None
    domain = libvirt.open(here).lookupByName("test")
    domain.destroy()
    try:
        wait_until(libvirt_domains.changed)
        assert libvirt_domains.running_id("test", here) is None
    finally:
        domain.create()
