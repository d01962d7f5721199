"""What is done to agents: one entry a fault."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from smartharvest.config.settings import Settings
from smartharvest.host.target.spec import TargetSpec
from smartharvest.telemetry.client import sockets
from tests.commands import EMULATED
from tests.faults.agents import Blackboard
from tests.faults.host_state import Allowances

if TYPE_CHECKING:
    from tests.faults.places import Place

LOOK_S = 0.005 if EMULATED else 0.0002


@dataclass
class Scene:
    """An agent at the moment of the strike, and what can be done there."""

    place: Place
    agent: int
    state_dir: str
    board: Blackboard
    numbers: random.Random
    look: Callable[[], None]
    """Called all the while somebody waits."""
    allowed: Allowances = field(default_factory=Allowances)
    began_ns: int = 0
    """When the agent was struck."""
    clients: list[socket.socket] = field(default_factory=list)
    """Kept open until the agent has ended."""

    def send(self, number: signal.Signals) -> None:
        self.begin()
        send(self.agent, number)

    def send_guardians(self, number: signal.Signals) -> None:
        for pid in children_of(self.agent):
            with self.place.at_rest():
                send(pid, number)

    def kill(self) -> None:
        with self.place.at_rest():
            self.send(signal.SIGKILL)

    def begin(self) -> None:
        """Now the agent is struck, if it has not been before."""
        self.began_ns = self.began_ns or time.monotonic_ns()

    def wait(self, least_s: float, most_s: float) -> None:
        """Lets time pass, a random part of it."""
        until_s = time.monotonic() + self.numbers.uniform(least_s, most_s)
        while time.monotonic() < until_s:
            self.look()
            time.sleep(LOOK_S)

    def close(self) -> None:
        self.board.unblock_syncs()
        while self.clients:
            self.clients.pop().close()
        self.place.repair()


Act = Callable[[Scene], None]


def _always(_place: Place) -> bool:
    return True


def _real(place: Place) -> bool:
    return place.is_real


def _as_they_are(settings: Settings, _place: Place) -> Settings:
    return settings


@dataclass(frozen=True)
class Fault:
    """``strike`` does it, at any time or, unless it takes long, around one of the changes."""

    strike: Act
    share: float = 1.0
    """How often it is chosen, next to the others."""
    at_changes: bool = True
    """Also right before and after a change of the host or the journal."""
    spares: bool = False
    """It comes when the agent runs, who must live through it and is told to end afterwards."""
    lets_lend: bool = False
    """The loop goes on, so that nobody has to take the cores back at once."""
    prepare: Callable[[Settings, Place], Settings] = _as_they_are
    possible: Callable[[Place], bool] = _always


def _kill(scene: Scene) -> None:
    scene.kill()


def _stop(scene: Scene) -> None:
    """A hang, for which the guardian kills. Without a guardian nobody would end it."""
    guarded = bool(children_of(scene.agent))
    with scene.place.at_rest():
        scene.send(signal.SIGSTOP if guarded else signal.SIGKILL)


def _kill_both(scene: Scene) -> None:
    scene.send_guardians(signal.SIGKILL)
    scene.kill()


def _kill_while_the_guardian_is_stopped(scene: Scene) -> None:
    scene.send_guardians(signal.SIGSTOP)
    scene.kill()


def _kill_after_its_guardian(scene: Scene) -> None:
    """Some of them while the next one is being started."""
    scene.send_guardians(signal.SIGKILL)
    scene.wait(0, 0.05)
    scene.kill()


def _end(scene: Scene) -> None:
    scene.send(signal.SIGTERM)


def _kill_while_it_ends(scene: Scene) -> None:
    scene.send(signal.SIGTERM)
    scene.wait(0, 0.03)
    scene.kill()


def _stop_for_a_moment(scene: Scene) -> None:
    scene.send(signal.SIGSTOP)
    scene.wait(0.01, 0.6)
    scene.send(signal.SIGCONT)


def _stop_both(scene: Scene) -> None:
    scene.send_guardians(signal.SIGSTOP)
    scene.send(signal.SIGSTOP)
    scene.wait(0.05, 1.5)
    if scene.numbers.random() < 0.5:
        scene.send(signal.SIGCONT)
        scene.send_guardians(signal.SIGCONT)
    else:
        scene.send_guardians(signal.SIGCONT)
        scene.send(signal.SIGCONT)


def _kill_the_guardian(scene: Scene) -> None:
    scene.send_guardians(signal.SIGKILL)
    scene.wait(0, 0.5)


def _stop_the_guardian(scene: Scene) -> None:
    scene.send_guardians(signal.SIGSTOP)
    scene.wait(0, 2)


def _freeze_both(scene: Scene) -> None:
    with scene.place.frozen(scene):
        scene.wait(0.05, 1.5)


def _kill_in_the_ice(scene: Scene) -> None:
    """What is frozen by the v1 freezer dies when it is thawed."""
    with scene.place.frozen(scene):
        scene.wait(0, 0.2)
        scene.kill()
        scene.wait(0, 0.5)


def _be_mute(scene: Scene) -> None:
    """Clients of the agent's socket that ask all the time and never read, or say half a word."""
    for path in sockets(scene.state_dir):
        for words in (b'{"command": "status"}\n' * 2000, b'{"comm'):
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            with contextlib.suppress(OSError):
                client.connect(path)
                client.send(words)
            scene.clients.append(client)
    scene.wait(0.2, 1.5)


def _have_a_mute_monitor(scene: Scene) -> None:
    """A monitor that takes connections and says nothing, where one of a primary is looked for."""
    monitor = socket.socket(socket.AF_UNIX)
    monitor.bind(scene.place.monitor)
    monitor.listen(64)
    scene.clients.append(monitor)
    scene.wait(1.5, 4)


def _watch_a_monitor(settings: Settings, place: Place) -> Settings:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place.monitor)
    machine = TargetSpec("qemu", place.monitor)
    return replace(settings, primary=(*settings.primary, machine))


def _block_syncs(scene: Scene) -> None:
    """Whoever of the agent's threads has a file synchronized waits in uninterruptible sleep."""
    scene.board.block_syncs(scene.numbers.uniform(0.5, 3))
    scene.wait(0.2, 2.5)


def _block_syncs_while_it_ends(scene: Scene) -> None:
    scene.board.block_syncs(scene.numbers.uniform(0.5, 3))
    scene.send(signal.SIGTERM)
    scene.wait(0.2, 2.5)


def _fill_the_disk(scene: Scene) -> None:
    scene.place.fill_disk()
    scene.wait(0, 0.3)
    scene.kill()


def _end_on_a_full_disk(scene: Scene) -> None:
    scene.place.fill_disk()
    scene.wait(0, 0.3)
    scene.send(signal.SIGTERM)


def _kill_while_somebody_else_writes(scene: Scene) -> None:
    """Somebody else writes a setting of the batch right before or after the strike."""
    if scene.numbers.random() < 0.5:
        scene.place.write_as_a_stranger(scene)
        scene.kill()
    else:
        scene.kill()
        scene.wait(0, 0.03)
        scene.place.write_as_a_stranger(scene)


def _unplug_a_cpu(scene: Scene) -> None:
    with scene.place.one_cpu_less():
        scene.wait(0, 0.3)
        scene.kill()
        scene.wait(0, 0.5)


FAULTS: dict[str, Fault] = {
    "kill": Fault(_kill, share=4),
    "kill both": Fault(_kill_both, share=3),
    "kill while the guardian is stopped": Fault(_kill_while_the_guardian_is_stopped, share=3),
    "kill after its guardian": Fault(_kill_after_its_guardian, share=3, at_changes=False),
    "stop": Fault(_stop, share=0.8),
    "end": Fault(_end, share=3),
    "kill while it ends": Fault(_kill_while_it_ends, share=3),
    "stop for a moment": Fault(_stop_for_a_moment, share=0.5, at_changes=False, spares=True),
    "stop both": Fault(_stop_both, share=0.3, at_changes=False, spares=True),
    "kill the guardian": Fault(
        _kill_the_guardian, share=0.5, at_changes=False, spares=True, lets_lend=True
    ),
    "stop the guardian": Fault(
        _stop_the_guardian, share=0.3, at_changes=False, spares=True, lets_lend=True
    ),
    "freeze both": Fault(
        _freeze_both, share=0.3, at_changes=False, spares=True, possible=_real
    ),
    "kill in the ice": Fault(_kill_in_the_ice, share=0.5, at_changes=False, possible=_real),
    "mute clients": Fault(_be_mute, share=0.2, at_changes=False, spares=True, lets_lend=True),
    "mute monitor": Fault(
        *(_have_a_mute_monitor, 0.2), at_changes=False, spares=True, lets_lend=True,
        prepare=_watch_a_monitor, possible=_real,
    ),
    "blocked sync": Fault(_block_syncs, share=0.2, at_changes=False, spares=True, lets_lend=True),
    "blocked sync while it ends": Fault(
        _block_syncs_while_it_ends, share=0.2, at_changes=False, spares=True
    ),
    "kill on a full disk": Fault(
        _fill_the_disk, share=0.5, at_changes=False, possible=lambda place: place.has_own_disk
    ),
    "end on a full disk": Fault(
        _end_on_a_full_disk, share=0.3, at_changes=False, possible=lambda place: place.has_own_disk
    ),
    "kill while somebody else writes": Fault(
        _kill_while_somebody_else_writes, at_changes=False, possible=_real
    ),
    "kill with a CPU unplugged": Fault(
        _unplug_a_cpu, share=0.5, at_changes=False, possible=lambda place: place.may_unplug
    ),
}  # fmt: skip


def children_of(pid: int) -> set[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return set(map(int, file.read().split()))
    except OSError:
        return set()


def send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
