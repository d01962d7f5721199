"""``agent --web`` and ``dashboard`` on fake trees; the page in a browser, if there is one."""

from __future__ import annotations

import json
import os
import signal
import socket
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from bench import chromium
from smartharvest.agent import web_page
from smartharvest.agent.web_page import WebPage
from smartharvest.config.loading import load_settings
from smartharvest.telemetry.client import ask, sockets
from tests.commands import smartharvest_here
from tests.integration.processes import Processes
from tests.integration.worlds import World

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture
def version() -> int:
    return 2


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def first_event(address: str) -> Any:
    with urllib.request.urlopen(f"http://{address}/events", timeout=30) as answer:
        assert answer.readline() == b"event: history\n"
        return json.loads(answer.readline().removeprefix(b"data: "))


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found if "telemetry.web" in cmdline(int(child))]


def cmdline(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def test_the_page_is_served_by_a_child_without_rights_that_ends_with_the_agent(
    world: World, processes: Processes
) -> None:
    address = free_address()
    agent = processes.agent(*world.arguments, *world.targets, "--web", address)
    agent.wait_until(lambda: answers(address))
    (server,) = children(agent.pid)
    told = Path(f"/proc/{server}/status").read_text()
    lines = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
    assert int(lines["CapEff"], 16) == 0
    assert lines["NoNewPrivs"] == "1"
    if os.geteuid() == 0:
        assert set(lines["Uid"].split()) == {"65534"}
    (document,) = first_event(address)["agents"]
    assert document["pid"] == agent.pid
    assert agent.send(signal.SIGTERM).code == 0
    assert not os.path.exists(f"/proc/{server}")
    assert not answers(address)


def test_an_agent_whose_page_has_no_address_says_so_and_lends(world: World) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        outcome = smartharvest_here(
            "agent", *world.arguments, *world.targets, "--web", address, "--duration", "100ms"
        )
    assert (outcome.code, f"web: {address}: Address already in use" in outcome.err) == (0, True)


def test_a_page_comes_once_its_address_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    page = WebPage()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        page.open(load_settings({"web": f"127.0.0.1:{other.getsockname()[1]}"}))
        monkeypatch.setattr(web_page, "AGAIN_AFTER_S", 0.0)
        assert not page.check()
    try:
        assert page.check()
        assert page.connection is not None
    finally:
        page.close()


def test_other_hosts_need_a_token(world: World) -> None:
    for command in (("agent", *world.targets, "--web"), ("dashboard", "--listen")):
        refused = smartharvest_here(*command, "0.0.0.0:9465")
        assert (refused.code, "other hosts could reach it" in refused.failure) == (2, True)


def test_the_sockets_tell_the_past_too(world: World, processes: Processes) -> None:
    agent = processes.agent(*world.arguments, *world.targets)
    agent.wait_until(lambda: bool(sockets(str(world.state_dir))))
    (path,) = sockets(str(world.state_dir))
    agent.wait_until(lambda: bool(ask(path, "history", {})["decisions"]))
    (decision, *_) = ask(path, "recent", {})["decisions"]
    assert {"since", "reason", "granted", "held_by"} <= decision.keys()
    assert agent.send(signal.SIGTERM).code == 0


def test_the_dashboard_shows_every_agent_of_the_host(world: World, processes: Processes) -> None:
    agent = processes.agent(*world.arguments, *world.targets)
    agent.wait_until(lambda: bool(sockets(str(world.state_dir))))
    address = free_address()
    page = processes.start_command(
        "dashboard", "--listen", address, "--state-dir", str(world.state_dir)
    )
    agent.wait_until(lambda: answers(address))
    (document,) = first_event(address)["agents"]
    assert (document["pid"], document["name"]) == (agent.pid, sockets(str(world.state_dir))[0])
    page.send_signal(signal.SIGINT)
    assert page.wait(30) == 0
    assert agent.send(signal.SIGTERM).code == 0


@pytest.mark.slow
@pytest.mark.skipif(chromium.program() is None, reason="chromium is missing")
@pytest.mark.parametrize("width", [1200, 360])
def test_a_browser_shows_it_all_and_asks_nobody_else(width: int) -> None:
    import subprocess
    import sys

    address = free_address()
    server = subprocess.Popen([sys.executable, "-m", "bench.screenshots", "--serve", address])
    try:
        with chromium.Chromium() as browser:
            while not answers(address):
                assert server.poll() is None
            browser.look(width, 900, phone=width < 500, dark=width < 500)
            shown = "Boolean(document.querySelector('#chart canvas'))"
            browser.open(f"http://{address}/", shown)
            asked = {one["request"]["url"] for one in browser.said("Network.requestWillBeSent")}
            assert {url.split("/")[2] for url in asked if url.startswith("http")} == {address}
            wrong = [one["entry"]["text"] for one in browser.said("Log.entryAdded")]
            assert wrong + browser.said("Runtime.exceptionThrown") == []
            assert browser.ask("document.documentElement.scrollWidth") <= width
            assert (
                browser.ask("getComputedStyle(document.getElementById('several')).display")
                == "none"
            )
            assert browser.ask("document.querySelectorAll('#cpus li').length") == 16
            assert browser.ask("document.querySelector('#cpus li').getAttribute('aria-label')")
            browser.press("n")
            browser.wait("document.title.startsWith('cgroup:search')")
            browser.press("n")
            browser.wait("document.querySelectorAll('#several tr.short').length === 2")
            assert browser.ask("document.documentElement.scrollWidth") <= width
            browser.press("p")
            browser.wait("document.getElementById('connection').textContent === 'Paused'")
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
@pytest.mark.skipif(chromium.program() is None, reason="chromium is missing")
def test_the_browser_says_which_agent_is_gone_and_that_the_page_is_too(
    world: World, processes: Processes
) -> None:
    address = free_address()
    page = processes.start_command(
        "dashboard", "--listen", address, "--state-dir", str(world.state_dir)
    )
    with chromium.Chromium() as browser:
        while not answers(address):
            assert page.poll() is None
        browser.look(1200, 900)
        browser.open(f"http://{address}/", "!document.getElementById('none').hidden")
        agent = processes.agent(*world.arguments, *world.targets)
        browser.wait("Boolean(document.querySelector('#chart canvas'))")
        shown = "getComputedStyle(document.getElementById('agents')).display"
        assert browser.ask(shown) == "none"
        assert agent.send(signal.SIGTERM).code == 0
        browser.wait(f"document.getElementById('gone').textContent.includes('pid {agent.pid}')")
        assert browser.ask("document.title") == "SmartHarvest"
        page.send_signal(signal.SIGINT)
        assert page.wait(30) == 0
        browser.wait("document.body.classList.contains('stale')")
