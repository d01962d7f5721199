"""Where a scheduler can be loaded, and how its programs get a kernel's numbers."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from pathlib import Path

import pytest

from smartharvest.host.sched_ext import program, state
from smartharvest.host.sched_ext.kernel_types import layout_of
from smartharvest.host.sched_ext.loader import Loaded, NoStrict, loaded, relocate, why_not
from smartharvest.host.sched_ext.packed import Packed, unpack

STATE_H = Path(__file__).parents[4] / "csrc" / "bpf" / "strict_state.h"


@pytest.fixture
def types(tmp_path: Path) -> str:
    (tmp_path / "types").write_bytes(b"")
    return str(tmp_path / "types")


@pytest.fixture
def sched_ext(tmp_path: Path) -> Path:
    root = tmp_path / "sched_ext"
    (root / "root").mkdir(parents=True)
    (root / "state").write_text("disabled\n")
    return root


def test_a_kernel_without_sched_ext_is_refused_in_one_line(tmp_path: Path, types: str) -> None:
    with pytest.raises(NoStrict, match=r"no sched_ext \(CONFIG_SCHED_CLASS_EXT") as refusal:
        Loaded(root=str(tmp_path / "none"), types=types)
    assert "\n" not in str(refusal.value)


def test_a_kernel_without_types_is_refused(sched_ext: Path) -> None:
    why = why_not(str(sched_ext), "/nonexistent/vmlinux")
    assert why is not None
    assert "CONFIG_DEBUG_INFO_BTF" in why


def test_another_scheduler_is_respected_and_named(sched_ext: Path, types: str) -> None:
    assert why_not(str(sched_ext), types) is None
    (sched_ext / "state").write_text("enabled\n")
    (sched_ext / "root" / "ops").write_text("lavd_1.0\n")
    assert loaded(str(sched_ext)) == "lavd_1.0"
    with pytest.raises(NoStrict, match="another sched_ext scheduler is loaded: lavd_1"):
        Loaded(root=str(sched_ext), types=types)


def test_a_kernel_whose_types_are_damaged_is_refused(sched_ext: Path, types: str) -> None:
    with pytest.raises(NoStrict, match="types are damaged"):
        Loaded(root=str(sched_ext), types=types)


def btf(name: str, members: dict[str, int]) -> bytes:
    """The types of a kernel that has one structure, behind an integer."""
    text = bytearray(b"\0")
    places = {}
    for word in (name, *members):
        places[word] = len(text)
        text += word.encode() + b"\0"
    packed = struct.pack("<IIII", 0, 1 << 24, 4, 0)
    packed += struct.pack("<III", places[name], 4 << 24 | len(members), 64)
    for word, offset in members.items():
        packed += struct.pack("<III", places[word], 1, 8 * offset)
    head = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(packed), len(packed), len(text))
    return head + packed + bytes(text)


def test_a_structure_s_layout_is_read_from_the_kernel_s_types() -> None:
    types = btf("sched_ext_ops", {"select_cpu": 0, "flags": 40})
    assert layout_of(types, "sched_ext_ops") == (64, {"select_cpu": (0, 0), "flags": (1, 40)})
    assert layout_of(types, "flags") is None
    assert layout_of(types, "nothing") is None


@pytest.mark.parametrize("damage", [b"", b"\0" * 64, b"\x9f\xeb\x01\x00"], ids=str)
def test_damaged_types_are_told(damage: bytes) -> None:
    with pytest.raises(ValueError, match="types"):
        layout_of(damage, "one")


def test_a_program_gets_maps_memory_and_functions_of_the_kernel() -> None:
    loads = struct.pack("<BBhi", 0x18, 1, 0, 16) + bytes(8)
    call = struct.pack("<BBhi", 0x85, 1 << 4, 0, -1)

    packed = Packed(
        1,
        (0,),
        ((2, "places"),),
        ((4, "scx_bpf_kick_cpu"),),
        base64.b85encode(zlib.compress(loads + loads + call)).decode(),
    )
    code = relocate(packed, {"": 7, "places": 8}, {"scx_bpf_kick_cpu": 99})
    assert struct.unpack("<BBhi", code[:8]) == (0x18, 1 | 2 << 4, 0, 7)
    assert struct.unpack("<BBhi", code[8:16])[3] == 16  # where in the memory
    assert struct.unpack("<BBhi", code[16:24]) == (0x18, 1 | 1 << 4, 0, 8)
    assert struct.unpack("<BBhi", code[32:]) == (0x85, 2 << 4, 0, 99)


def test_a_call_that_a_kernel_lacks_becomes_nothing() -> None:
    call = struct.pack("<BBhi", 0x85, 1 << 4, 0, -1)
    text = base64.b85encode(zlib.compress(2 * call)).decode()
    packed = Packed(1, (), (), ((0, "scx_bpf_dsq_reenq"), (1, "scx_bpf_kick_cpu")), text)
    code = relocate(packed, {"": 7}, {"scx_bpf_dsq_reenq": 0, "scx_bpf_kick_cpu": 99})
    assert struct.unpack("<BBhi", code[:8]) == (0xB7, 0, 0, 0)  # r0 = 0
    assert struct.unpack("<BBhi", code[8:]) == (0x85, 2 << 4, 0, 99)


def test_what_is_packed_is_a_whole_scheduler() -> None:
    names = {section.partition("/")[2] for section in program.PROGRAMS}
    assert {"enqueue", "dispatch", "running", "stopping", "exit", "update_idle"} <= names
    assert unpack(program.TYPES)[:2] == b"\x9f\xeb"
    for packed in program.PROGRAMS.values():
        assert len(packed.code()) % 8 == 0
        assert len(packed.moves()) % 16 == 0


def test_the_shared_memory_is_laid_out_as_the_program_has_it() -> None:
    text = STATE_H.read_text()
    cpus = int(re.findall(r"SH_STRICT_MAX_CPUS = (\d+)", text)[0])
    groups = int(re.findall(r"SH_STRICT_GROUPS = (\d+)", text)[0])
    assert int(re.findall(r"SH_STRICT_MOST_SLACK = (\d+)", text)[0]) == state.MOST_SLACK
    size = state.groups_end(groups) + cpus * (8 * 8 + cpus // 8)
    assert (size + 63) // 64 * 64 == program.MEMORY


def test_what_the_program_counts_is_read() -> None:
    memory = memoryview(bytearray(program.MEMORY))
    state.control(memory, slice_ns=5_000_000, keep_preempted=True)
    assert struct.unpack_from("<QQ", memory) == (5_000_000, 1)
    assert state.end(memory) is None
    slot = state.stage_slot(memory)
    struct.pack_into("<I", slot, 0, 1)
    assert state.end(memory) is None  # it has only begun to end
    struct.pack_into("<IIq", memory, 16, 2, 1026, 0)
    assert any(slot)
    memory[32:45] = b"runnable task"
    end = state.end(memory)
    assert end is not None
    assert (end.kind, end.reason) == (1026, "runnable task")
    struct.pack_into("<7Q", memory, 160, *range(1, 8))
    assert state.counts(memory) == state.Counts(*range(1, 8))


def test_each_cpu_knows_those_of_its_cache_and_how_many_of_them_are_kept_idle() -> None:
    memory = memoryview(bytearray(program.MEMORY))
    spare = {frozenset({0, 1}): 0, frozenset({2, 511, 600}): 3}
    state.control(memory, slice_ns=1, keep_preempted=False, spare=spare)
    size = (len(memory) - state.groups_end(64)) // 512
    found = {}
    for cpu in range(512):
        end = state.groups_end(64) + (cpu + 1) * size
        if near := int.from_bytes(memory[end - 64 : end], "little"):
            found[cpu] = near, int.from_bytes(memory[end - 72 : end - 64], "little")
    first, second = (0b11, 0), (1 << 2 | 1 << 511, 3)
    assert found == {0: first, 1: first, 2: second, 511: second}
