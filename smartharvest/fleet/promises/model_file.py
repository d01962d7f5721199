"""A model on disk: arrays in NumPy's archive, and a line of JSON that says what they are.

Nothing in it is executed: the archive is read without pickles, every array must be of the kind, the
length and the range it is said to be, and a tree leads downwards only.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.promises.features import NAMES
from smartharvest.fleet.promises.forest import KINDS, LEAF, Forest
from smartharvest.fleet.promises.model import Learned, Model
from smartharvest.fleet.promises.views import TARGETS
from smartharvest.telemetry.output_file import write_whole
from smartharvest.trusted import open_trusted

FORMAT, VERSION = "smartharvest-fleet-model", 2
_LARGEST, _LARGEST_INSIDE = 1 << 26, 1 << 28
_MOST_FORESTS = 100


def write_model(path: str, model: Model) -> None:
    """Writes ``model`` whole or not at all. Raises TraceError if it cannot be written."""
    keys = list(model.learned)
    header = {
        "format": FORMAT, "version": VERSION, "features": list(NAMES), "step_s": model.step_s,
        "days": model.days, "nodes": model.nodes, "sizes": model.sizes,
        "learned": [[*key, one.independent, one.share] for key, one in model.learned.items()],
    }  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "lowest": model.lowest,
        "highest": model.highest,
    }
    for number, key in enumerate(keys):
        one = model.learned[key]
        arrays[f"{number}.errors"] = one.errors
        for name in KINDS:
            arrays[f"{number}.{name}"] = getattr(one.forest, name)
    data = io.BytesIO()
    np.savez_compressed(data, **arrays)  # type: ignore[arg-type]
    write_whole(path, data.getvalue(), failure=TraceError)


def read_model(path: str) -> Model:
    """Raises ConfigError if ``path`` cannot be read, is no model of this version, or is damaged."""
    try:
        with open(open_trusted(path, follow=True), "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"--model: {path}: {error.strerror or error}") from None
    try:
        return _model(_arrays(content))
    except _Foreign as error:
        raise ConfigError(f"--model: {path}: is no model of fleet train: {error}") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, EOFError,
            NotImplementedError, OSError, RuntimeError, zipfile.BadZipFile):  # fmt: skip
        raise ConfigError(
            f"--model: {path}: is no model of fleet train, or is damaged; train it again"
        ) from None


class _Foreign(Exception):
    """What is wrong, in words."""


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    if len(content) > _LARGEST:
        raise _Foreign("it is larger than any")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(each.file_size for each in archive.infolist()) > _LARGEST_INSIDE:
            raise _Foreign("it unpacks to more than any")
    with np.load(io.BytesIO(content), allow_pickle=False) as loaded:
        return {name: loaded[name] for name in loaded.files}


def _model(arrays: dict[str, NDArray[Any]]) -> Model:
    header = json.loads(arrays["header"].astype(np.uint8).tobytes())
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _Foreign("it does not say that it is one")
    if header["version"] != VERSION:
        raise _Foreign(f"it has version {header['version']}, this program knows {VERSION}")
    if header["features"] != list(NAMES):
        raise _Foreign("it was trained on other features; train it again")
    if len(header["learned"]) > _MOST_FORESTS:
        raise _Foreign("it has more forests than any")
    learned = {}
    for number, (target, span, independent, share) in enumerate(header["learned"]):
        if target not in TARGETS or not 0 < float(span) < 1e9 or not 0 <= float(share) <= 1:
            raise _Foreign("it promises what nobody asks for")
        if not 0 <= float(independent) < math.inf:
            raise _Foreign("it does not say on how many outcomes it rests")
        trees = {name: _array(arrays, f"{number}.{name}", kind) for name, kind in KINDS.items()}
        errors = _array(arrays, f"{number}.errors", np.float64)
        if not len(errors):
            raise _Foreign("it knows no errors of its own")
        learned[str(target), float(span)] = Learned(
            _checked(Forest(**trees)), errors, float(independent), float(share)
        )
    lowest, highest = (_array(arrays, name, np.float64) for name in ("lowest", "highest"))
    if not learned or not len(lowest) == len(highest) == len(NAMES):
        raise _Foreign("parts are missing")
    sizes = tuple((float(cores), float(memory)) for cores, memory in header["sizes"])
    step_s, days = float(header["step_s"]), float(header["days"])
    if not 0 < step_s < 1e6 or not sizes:
        raise _Foreign("it has no step or no size")
    return Model(step_s, days, int(header["nodes"]), sizes, lowest, highest, learned)


def _array(arrays: dict[str, NDArray[Any]], name: str, kind: type[np.generic]) -> NDArray[Any]:
    found = arrays[name]
    if found.ndim != 1 or found.dtype != kind or not np.isfinite(found).all():
        raise _Foreign(f"{name} is no list of finite {kind.__name__}")
    return found


def _checked(forest: Forest) -> Forest:
    """Every node leads to later ones, so that each way down ends."""
    size = len(forest.feature)
    parts = (forest.threshold, forest.left, forest.right, forest.value)
    inner = forest.feature != LEAF
    at = np.arange(size)
    sound = (
        all(len(part) == size for part in parts)
        and len(forest.roots) > 0
        and bool(((forest.roots >= 0) & (forest.roots < size)).all())
        and bool(((forest.feature >= LEAF) & (forest.feature < len(NAMES))).all())
        and all(
            bool(((child > at) & (child < size))[inner].all())
            for child in (forest.left, forest.right)
        )
    )
    if not sound:
        raise _Foreign("a tree leads nowhere")
    return forest
