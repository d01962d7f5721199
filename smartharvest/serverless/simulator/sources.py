"""Which functions ``--functions`` means."""

from __future__ import annotations

import os

from smartharvest.errors import ConfigError
from smartharvest.serverless.simulator.azure import looks_like_azure, read_azure
from smartharvest.serverless.simulator.mix import MIX, built_in_mix, read_mix
from smartharvest.serverless.simulator.workload import Workload


def read_workload(text: str, cold_s: float) -> Workload:
    """The built-in mix, a described one (``.toml``), or three files with the prefix ``text``.

    Raises ConfigError or TraceError.
    """
    if text == MIX:
        return built_in_mix(cold_s)
    if looks_like_azure(text):
        return read_azure(text, cold_s)
    if text.endswith(".toml") or os.path.isfile(text):
        return read_mix(text, cold_s)
    raise ConfigError(
        f"functions: {text}_inv.csv, {text}_run.csv and {text}_mem.csv are missing, also as "
        f".csv.gz; give their prefix, a FILE.toml, or {MIX}"
    )
