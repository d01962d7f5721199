"""Who may import whom: the rooms of the package and the modules in them have no circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "smartharvest"

MAY_IMPORT: Mapping[str, set[str]] = {
    # From the bottom up: a room imports from those below it only, and from the list it has here.
    "errors": set(),
    "printable": set(),
    "trusted": {"printable"},
    "core": {"errors"},
    "algorithm": {"core", "errors", "trusted"},
    "host": {"core", "errors", "printable", "trusted"},
    "config": {"algorithm", "host", "errors", "printable", "trusted"},
    "placement": {"config", "host", "errors", "printable"},
    "sensor": {"placement", "config", "algorithm", "host", "core", "errors"},
    "guardian": {"host", "core", "errors", "printable"},
    "mechanism": {"placement", "config", "algorithm", "host", "core", "errors"},
    "telemetry": {
        *("sensor", "placement", "config", "algorithm", "host", "core", "errors", "printable"),
        *("trusted", "version"),
    },
    "agent": {
        *("guardian", "mechanism", "telemetry", "sensor", "placement", "config", "algorithm"),
        *("host", "core", "errors", "printable", "version"),
    },
    "cluster": {"telemetry", "host", "errors", "printable", "trusted"},
    "fleet": {"cluster", "telemetry", "errors", "printable", "trusted"},
    "doctor": {"sensor", "config", "host", "errors"},
    "lab": {
        *("agent", "mechanism", "sensor", "placement", "config", "algorithm", "host", "core"),
        *("errors", "printable", "version"),
    },
    "serverless": {"cluster", "core", "errors", "fleet", "host", "printable", "version"},
    "cli": {
        *("lab", "doctor", "fleet", "serverless", "cluster", "agent", "telemetry", "sensor"),
        *("placement", "config", "algorithm", "host", "errors", "printable", "trusted", "version"),
    },
    "__main__": {"cli"},
}
"""Room -> rooms it may import from. ``version`` is ``smartharvest.__version__``."""


def modules() -> dict[str, Path]:
    """Dotted name below the package -> file; a stub stands for its binding."""
    found = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(path: Path) -> Iterator[str]:
    """Modules of the package that ``path`` imports anywhere, also for type checking only."""
    text = path.read_text()
    if path.suffix == ".pyx":
        lines = re.findall(r"^\s*from smartharvest([\w.]*) c?import (.+)$", text, re.MULTILINE)
        named = [(module, [name.split(" as ")[0].strip() for name in names.split(",")])
                 for module, names in lines]  # fmt: skip
    else:
        named = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                named.append((node.module or "", [alias.name for alias in node.names]))
            elif isinstance(node, ast.Import):
                named += [(alias.name, []) for alias in node.names]
        named = [
            (module.removeprefix("smartharvest"), names)
            for module, names in named
            if module.split(".")[0] == "smartharvest"
        ]
    for dotted, names in named:
        module = dotted.lstrip(".")
        below = [f"{module}.{name}".lstrip(".") for name in names]
        yield from (name for name in below if name in MODULES)
        if module and any(name not in MODULES for name in below or [module]):
            yield module
        if not module and "__version__" in names:
            yield "version"


IMPORTS = {name: set(imports(path)) for name, path in MODULES.items()}


def room_of(module: str) -> str:
    return module.split(".")[0]


def test_every_room_stands_in_the_table() -> None:
    assert {room_of(name) for name in MODULES if name} == MAY_IMPORT.keys()


def test_a_room_imports_only_from_those_it_may() -> None:
    wrong = sorted(
        f"{name} imports {imported}"
        for name, all_of_it in IMPORTS.items()
        for imported in all_of_it
        if room_of(imported) != room_of(name) and room_of(imported) not in MAY_IMPORT[room_of(name)]
    )
    assert wrong == []


def test_the_table_itself_has_no_circle() -> None:
    TopologicalSorter(MAY_IMPORT).prepare()


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter({name: IMPORTS[name] - {name} for name in IMPORTS}).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_nothing_of_the_package_is_imported_for_type_checking_alone() -> None:
    assert [
        name
        for name, path in MODULES.items()
        if path.suffix == ".py" and "TYPE_CHECKING" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for imported in ast.walk(node)
        if isinstance(imported, ast.ImportFrom | ast.Import)
        and "smartharvest" in ast.unparse(imported)
    ] == []


def test_the_package_opens_to_about_a_dozen_rooms() -> None:
    rooms = [path for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert len(rooms) <= 16
    files = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    shared = {"errors.py", "printable.py", "trusted.py"}
    assert files == {"__init__.py", "__main__.py", "py.typed"} | shared
