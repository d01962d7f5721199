"""All subjects, in the order in which they run and stand on the page.

A new one is a module with a SUBJECT, and its name here.
"""

from __future__ import annotations

from importlib import import_module

from bench.subject import Subject

NAMES = (
    "poll",
    "features",
    "learning",
    "pacing",
    "pace",
    "sensors",
    "switches",
    "truth",
    "sweep",
    "freshness",
    "give_back",
    "agent_cost",
    "cpuset",
    "effect",
    "reaction",
    "moving",
    "scaling",
    "simulator",
)


def find_subject(name: str) -> Subject:
    subject = import_module(f"bench.{name}").SUBJECT
    assert isinstance(subject, Subject)
    return subject
