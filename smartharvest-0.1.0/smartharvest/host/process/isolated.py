"""Runs a module as this package's child: ``python -I isolated.py PACKAGE_DIRECTORY MODULE ARG…``.

It is run by its path, in a Python that looks for nothing in the working directory or in what
PYTHONPATH names. The packages are those of the parent, wherever they are: sys.path is not changed.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys


def _adopt(directory: str) -> None:
    """Makes the package in ``directory`` importable, from there and nowhere else."""
    name = os.path.basename(directory)
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(directory, "__init__.py"), submodule_search_locations=[directory]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    package, started, *arguments = sys.argv[1:]
    for one in dict.fromkeys((__file__.removesuffix("/host/process/isolated.py"), package)):
        _adopt(one)
    sys.argv = [started, *arguments]
    runpy.run_module(started, run_name="__main__", alter_sys=True)
