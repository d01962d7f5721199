"""Virtual machines by libvirt, with its own test driver, and a fake of what that cannot do."""

from __future__ import annotations

import sys
import threading
import types
from pathlib import Path

import pytest

from smartharvest.cli.fleet import overload
from smartharvest.errors import ConfigError, EngineError, RightsError
from smartharvest.fleet.machines import Look, Machines, vms
from smartharvest.fleet.overload import Vm
from smartharvest.fleet.reports import read_reports
from tests.commands import smartharvest_here

URI = "test:///default"
TO = "qemu+tls://b/system"


class FakeError(Exception):
    pass


class FakeDomain:
    """One that migrates, for as long as ``hangs`` until it is called off."""

    def __init__(self, *, refuses: str = "", hangs: bool = False, deaf: bool = False) -> None:
        self._refuses, self._hangs, self._deaf = refuses, hangs, deaf
        self._off = threading.Event()
        self.moved: list[tuple[str, dict[str, str], int]] = []

    def isPersistent(self) -> bool:  # noqa: N802
        return True

    def migrateToURI3(self, to: str, how: dict[str, str], flags: int) -> None:  # noqa: N802
        if self._refuses:
            raise FakeError(self._refuses)
        if self._hangs:
            self._off.wait()
            raise FakeError("operation aborted")
        self.moved.append((to, how, flags))

    def abortJob(self) -> None:  # noqa: N802
        if self._deaf:
            raise FakeError("no job")
        self._off.set()

    def name(self) -> str:
        return "web"

    def info(self) -> list[int]:
        return [1, 16 << 20, 8 << 20, 4, 5_000_000_000]


class FakeConnection:
    def __init__(self, domain: FakeDomain) -> None:
        self._domain = domain

    def lookupByName(self, name: str) -> FakeDomain:  # noqa: N802
        if name != "web":
            raise FakeError(f"no domain with matching name '{name}'")
        return self._domain

    def listAllDomains(self, _flags: int) -> list[FakeDomain]:  # noqa: N802
        return [self._domain]

    def getAllDomainStats(  # noqa: N802
        self, _stats: int, _flags: int
    ) -> list[tuple[FakeDomain, dict[str, int]]]:
        counted = {"vcpu.current": 4, "vcpu.0.delay": 7, "vcpu.1.delay": 5, "vcpu.0.time": 9}
        return [(self._domain, counted)]


def machines_with(domain: FakeDomain, monkeypatch: pytest.MonkeyPatch) -> Machines:
    fake = types.ModuleType("libvirt")
    fake.__dict__.update(
        libvirtError=FakeError,
        open=lambda _uri: FakeConnection(domain),
        registerErrorHandler=lambda *_: None,
        VIR_CONNECT_LIST_DOMAINS_ACTIVE=1,
        VIR_DOMAIN_STATS_VCPU=8,
        VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE=1,
        VIR_MIGRATE_PARAM_URI="migrate_uri",
        VIR_MIGRATE_LIVE=1,
        VIR_MIGRATE_PEER2PEER=2,
        VIR_MIGRATE_PERSIST_DEST=8,
        VIR_MIGRATE_UNDEFINE_SOURCE=16,
    )
    monkeypatch.setitem(sys.modules, "libvirt", fake)
    return Machines(URI)


def test_a_machine_moves_live_and_stays_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = FakeDomain()
    machines = machines_with(domain, monkeypatch)
    machines.move("web", TO, 60.0)
    machines.move("web", TO, 60.0, "tcp://b.storage")
    assert domain.moved == [
        (TO, {}, 1 | 2 | 8 | 16),
        (TO, {"migrate_uri": "tcp://b.storage"}, 1 | 2 | 8 | 16),
    ]


@pytest.mark.parametrize(
    ("domain", "name", "within_s", "why"),
    [
        (FakeDomain(refuses="no shared storage"), "web", 60.0, "no shared storage; it stays here"),
        (FakeDomain(), "gone", 60.0, "no domain with matching name"),
        (FakeDomain(hangs=True), "web", 0.01, "within 0.01 s; it stays here"),
    ],
)
def test_a_machine_that_cannot_move_stays(
    domain: FakeDomain, name: str, within_s: float, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError, match=why):
        machines_with(domain, monkeypatch).move(name, TO, within_s)
    assert domain.moved == []


def test_a_move_that_cannot_be_called_off_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smartharvest.fleet.machines.ABORT_S", 0.01)
    domain = FakeDomain(hangs=True, deaf=True)
    with pytest.raises(EngineError, match="does not call it off"):
        machines_with(domain, monkeypatch).move("web", TO, 0.01)
    domain._off.set()


def test_what_a_machine_uses_is_between_two_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = machines_with(FakeDomain(), monkeypatch).look()
    assert seen == {"web": Look(4, 16.0, 5_000_000_000, 12)}
    later = {"web": Look(4, 16.0, 8_000_000_000, 800_000_012), "new": Look(1, 1.0, 0, None)}
    assert vms(seen, later, 2.0) == [Vm("web", 4, 16.0, 1.5, 0.1)]
    restarted = {"web": Look(4, 16.0, 1_000_000, None)}
    assert vms(seen, restarted, 2.0) == [Vm("web", 4, 16.0, 0.0, None)]


def test_without_the_package_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "libvirt", None)
    with pytest.raises(ConfigError, match="pip install"):
        Machines(URI)


def test_the_test_driver_is_seen_and_refuses_to_move() -> None:
    libvirt = pytest.importorskip("libvirt", exc_type=ImportError)
    assert libvirt.getVersion() > 0
    machines = Machines(URI)
    look = machines.look()["test"]
    assert (look.vcpus, look.memory_gib) == (2, 8.0)
    with pytest.raises(EngineError, match=r"test: cannot be moved to .*; it stays here"):
        machines.move("test", URI, 10.0)
    assert "test" in machines.look()
    with pytest.raises(RightsError, match="does not answer"):
        Machines("test:///no/such/file")


def test_a_report_of_this_host_has_libvirts_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("libvirt", exc_type=ImportError)
    monkeypatch.setattr(overload, "LOOK_S", 0.01)
    path = tmp_path / "reports.jsonl"
    outcome = smartharvest_here(
        "fleet", "overload", "--reports", str(path), "--here", "--libvirt", URI,
        "--state-dir", str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 0
    [report] = read_reports(str(path))
    assert [(vm.id, vm.cores, vm.memory_gib) for vm in report.vms] == [("test", 2, 8.0)]
