"""Kernel files in a dictionary, for the actuators' `kernel_files`."""

from __future__ import annotations

import os


class MadeFiles:
    """Takes every write unless told to refuse; the effective set follows `cpuset.cpus`."""

    def __init__(self) -> None:
        self.contents: dict[str, str] = {}
        self.refusals: dict[str, BaseException] = {}
        self.written: list[tuple[str, str]] = []
        self.effective_stays = False
        """What is in force no longer follows what is written."""

    def refuse(self, path: str, error: int) -> None:
        self.refusals[path] = OSError(error, os.strerror(error), path)

    def write(self, path: str, value: str) -> None:
        self.written.append((path, value))
        if path in self.refusals:
            raise self.refusals[path]
        self.contents[path] = value + "\n"

    def read(self, path: str) -> str:
        if path in self.refusals:
            raise self.refusals[path]
        if self.effective_stays and path.endswith(".effective"):
            return "0\n"
        return self.contents[path.removesuffix(".effective")]
