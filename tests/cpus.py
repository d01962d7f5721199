"""The CPUs that tests may use."""

from __future__ import annotations

import os

import pytest

ALLOWED = sorted(os.sched_getaffinity(0))
needs_two_cpus = pytest.mark.skipif(len(ALLOWED) < 2, reason="needs two CPUs")
