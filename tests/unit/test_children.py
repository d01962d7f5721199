"""Processes are started in one place, isolated; each exception is listed with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]

STARTERS = {
    *("Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    *("get_context", "Process", "Pool"),
    *("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "spawn_main"),
    *(f"{kind}{form}" for kind in ("exec", "spawn") for form in ("l", "le", "lp", "lpe")),
    *(f"{kind}{form}" for kind in ("exec", "spawn") for form in ("v", "ve", "vp", "vpe")),
}
MODULES = {"subprocess", "multiprocessing", "os", "pty", "runpy"}

STARTS: Mapping[str, str] = {
    "host/process/start.py": "the place",
    "host/process/isolated.py": "runs inside the child that the place has started",
    "agent/reexec.py": "the agent's own command line once more, as the operator typed it",
    "agent/elastic_vm.py": "QEMU for the caller, with the caller's relative paths",
    "cli/run.py": "the command that the caller typed",
    "cluster/build.py": "the build that the caller typed",
    "cluster/keeper.py": "forks, and runs no other program",
}


def parsed(*words: str) -> dict[str, ast.Module]:
    """The modules that have any of the words, by their paths in the package."""
    package = ROOT / "smartharvest"
    texts = {str(path.relative_to(package)): path.read_text() for path in package.rglob("*.py")}
    return {
        path: ast.parse(text) for path, text in texts.items() if any(word in text for word in words)
    }


def starts(tree: ast.Module) -> Iterator[int]:
    """Lines of calls that start a process."""
    direct = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
        for alias in node.names
        if alias.name in STARTERS
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                if module in MODULES and (name in STARTERS or name == "run_module"):
                    yield node.lineno
            case ast.Name(id=name) if name in direct:
                yield node.lineno


def test_processes_are_started_in_one_place() -> None:
    imported = [f"{way} {name}" for way in ("import", "from") for name in MODULES]
    found = {path for path, tree in parsed(*imported).items() if any(starts(tree))}
    assert found == STARTS.keys()


def test_no_python_is_told_to_look_for_a_module_by_itself() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, tree in parsed("sys.executable").items()
        for node in ast.walk(tree)
        if isinstance(node, ast.List | ast.Tuple)
        and any(ast.unparse(one) == "sys.executable" for one in node.elts)
        and any(isinstance(one, ast.Constant) and one.value in ("-m", "-c") for one in node.elts)
    ]
    assert wrong == []
