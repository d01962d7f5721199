"""A headless Chromium over its debugging pipe: pages opened, keys pressed, pictures taken."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome")
LONGEST_S = 30.0


def program() -> str | None:
    """Where a Chromium is, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _pipe() -> tuple[int, int]:
    """(end to read from, end to write to), beyond the numbers that the browser knows."""
    ends = os.pipe()
    beyond = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return beyond[0], beyond[1]


class Chromium:
    """A context manager with one page. Raises RuntimeError without a browser, or if it refuses."""

    def __init__(self) -> None:
        found = program()
        if found is None:
            raise RuntimeError("chromium is missing: apt install chromium")
        self._home = tempfile.mkdtemp()
        to_read, self._write = _pipe()
        self._read, to_write = _pipe()
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, found, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-background-networking", "--disable-component-update", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self._home}",
             "--remote-debugging-pipe"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._received = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        """What the browser has said by itself."""
        target = self._do("Target.createTarget", url="about:blank")["targetId"]
        self._session: str | None = None
        attached = self._do("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._do(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._home, ignore_errors=True)

    def look(self, width: int, height: int, *, dark: bool = False, phone: bool = False) -> None:
        """The size of the window in CSS pixels, and what its user likes."""
        self._do(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=phone,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._do("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str, shown: str) -> None:
        """Opens ``address`` and waits until the JavaScript ``shown`` is true."""
        self._do("Page.navigate", url=address)
        self.wait(shown)

    def wait(self, shown: str) -> None:
        """Raises RuntimeError if the JavaScript ``shown`` does not become true."""
        until_s = time.monotonic() + LONGEST_S
        while self.ask(shown) is not True:
            if time.monotonic() > until_s:
                raise RuntimeError(f"never came true: {shown}")
            time.sleep(0.05)

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._do("Runtime.evaluate", expression=script, returnByValue=True)
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key on the keyboard, by the name that JavaScript gives it."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self._do("Input.dispatchKeyEvent", type=kind, key=key, code=key, **more)

    def picture(self, path: str) -> None:
        """Writes what the window shows as PNG, the whole page of it."""
        answer = self._do("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def said(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every event called ``method`` so far."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def _do(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        request: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None) is not None:
            request["sessionId"] = self._session
        os.write(self._write, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") != self._number:
                self.events.append(message)
            elif "error" in message:
                raise RuntimeError(f"{method}: {message['error'].get('message')}")
            else:
                result: dict[str, Any] = message["result"]
                return result

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            if not select.select([self._read], [], [], LONGEST_S)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._received += data
        line, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message
