"""A pool whose nodes stand in a file and whose size a command sets."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from subprocess import TimeoutExpired

from smartharvest.cluster.source import NoCapacity, WhichGroup, from_http, of_group
from smartharvest.errors import ConfigError, EngineError
from smartharvest.host.process import start

_AT_ONCE = 16
_MOST_NODES = 10_000
_PLACE = "{nodes}"


class CommandPool:
    """Implements autoscaler.Autoscaler.

    ``nodes_file`` has the /capacity URL of an agent on each line (# starts a comment) and is read
    in every turn, so that service discovery may write it. In ``command`` the word {nodes} stands
    for the number; ``asked_command``, if given, prints the number that is set. No shell runs them.
    What counts is what ``group`` is promised, where agents have several.
    """

    def __init__(
        self,
        nodes_file: str,
        command: str,
        asked_command: str | None,
        timeout_s: float = 60.0,
        group: str | None = None,
    ) -> None:
        self._file = nodes_file
        self._command = _words("--command", command)
        if not any(_PLACE in word for word in self._command):
            raise ConfigError(f"--command {command!r}: it has no {_PLACE} for the number of nodes")
        self._asked_command = _words("--asked-command", asked_command) if asked_command else None
        self._timeout_s = timeout_s
        self._group = group
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="capacity")

    def nodes(self) -> Mapping[str, int | None]:
        try:
            with open(self._file) as file:
                lines = [line.partition("#")[0].strip() for line in file]
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise EngineError(
                f"{self._file}: {reason}; name a /capacity URL on each line"
            ) from None
        urls = list(dict.fromkeys(line for line in lines if line))
        if len(urls) > _MOST_NODES:
            raise EngineError(f"{self._file}: more than {_MOST_NODES} nodes")
        for url in urls:
            if not url.startswith(("http://", "https://")):
                raise EngineError(f"{self._file}: {url[:80]!r} is no URL of a /capacity page")
        return dict(zip(urls, self._threads.map(self._promised, urls), strict=True))

    def asked(self) -> int | None:
        if self._asked_command is None:
            return None
        printed = self._run(self._asked_command).strip()
        if not (printed.isascii() and printed.isdecimal() and len(printed) <= 6):
            raise EngineError(
                f"{self._asked_command[0]}: it printed {printed[:40]!r}, not a number of nodes"
            )
        return int(printed)

    def ask(self, nodes: int) -> None:
        self._run([word.replace(_PLACE, str(nodes)) for word in self._command])

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _promised(self, url: str) -> int | None:
        """Raises EngineError if it has several groups and none of that name is chosen."""
        try:
            return int(of_group(from_http(url), self._group)()["cores"]["promised"])
        except NoCapacity:
            return None
        except WhichGroup as error:
            raise EngineError(f"{url}: {error}") from None

    def _run(self, words: list[str]) -> str:
        try:
            ran = start.run_command(*words, timeout_s=self._timeout_s)
        except TimeoutExpired:
            raise EngineError(f"{words[0]}: no end within {self._timeout_s:g} s") from None
        except OSError as error:
            raise EngineError(f"{words[0]}: cannot be started: {error.strerror}") from None
        if ran.returncode:
            said = " ".join((ran.stderr or ran.stdout).split())[:200]
            raise EngineError(
                f"{words[0]}: exit code {ran.returncode}: {said or 'it says nothing'}"
            )
        return ran.stdout


def _words(flag: str, command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{flag} {command!r}: {error}") from None
    if not words:
        raise ConfigError(f"{flag}: it is empty")
    return words
