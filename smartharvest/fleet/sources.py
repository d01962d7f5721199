"""Which reader a ``--trace`` means: ``table:FILE``, ``openb:FILE``, ``azure:FILE[,machine=N]``."""

from __future__ import annotations

from collections.abc import Callable

from smartharvest.errors import ConfigError
from smartharvest.fleet.azure import CORES, MEMORY_GIB, read_azure
from smartharvest.fleet.csv_tables import read_table
from smartharvest.fleet.openb import read_openb
from smartharvest.fleet.tables import Allocations

FORMATS = (
    "table:FILE.csv[.gz], openb:FILE.csv[.gz], azure:FILE.sqlite[,machine=N,cores=N,memory=GIB]"
)


def read_trace(spec: str) -> Allocations:
    """The allocations that ``spec`` names.

    Raises ConfigError for an unknown format or option, TraceError for a file that is not sound.
    """
    kind, colon, rest = spec.partition(":")
    reader = _READERS.get(kind)
    if not colon or reader is None or not rest:
        raise ConfigError(f"--trace: {spec!r} is no trace; write one of {FORMATS}")
    return reader(rest)


def _azure(text: str) -> Allocations:
    path, *options = text.split(",")
    values = {"machine": -1.0, "cores": CORES, "memory": MEMORY_GIB}
    for option in options:
        name, _, value = option.partition("=")
        try:
            if name not in values or not 0 <= float(value) < 1e9:
                raise ValueError
            values[name] = float(value)
        except ValueError:
            raise ConfigError(
                f"--trace: azure: {option!r} is no option; there are machine=N, cores=N, memory=GIB"
            ) from None
    machine = int(values["machine"]) if values["machine"] >= 0 else None
    return read_azure(path, machine, values["cores"], values["memory"])


_READERS: dict[str, Callable[[str], Allocations]] = {
    "table": read_table,
    "openb": read_openb,
    "azure": _azure,
}
