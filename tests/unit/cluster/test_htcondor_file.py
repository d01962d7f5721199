"""The file that HTCondor's own user reads."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.cli.adapter import HTCONDOR_FILE
from smartharvest.cluster import htcondor_node
from smartharvest.cluster.htcondor_node import HTCondorNode
from smartharvest.errors import ConfigError, EngineError

FRAGMENT = Path(__file__).parents[3] / "packaging" / "htcondor" / "50-smartharvest"
CONDOR = 65533


@pytest.fixture(autouse=True)
def pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(htcondor_node, "_condor_status", lambda *_: "<127.0.0.1:9618>")


@pytest.fixture
def place() -> Iterator[Path]:
    """As /run: everybody may pass."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


def test_the_configuration_reads_what_the_adapter_writes() -> None:
    told = re.search(r"^STARTD_CRON_SMARTHARVEST_ARGS = (.+)$", FRAGMENT.read_text(), re.MULTILINE)
    assert told is not None
    assert told[1] == HTCONDOR_FILE


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_another_user_reads_it(place: Path) -> None:
    before = os.umask(0o077)
    try:
        path = place / "own" / "harvest.ad"
        HTCondorNode("n7", str(path)).advertise(3)
    finally:
        os.umask(before)
    read = subprocess.run(["cat", path], user=CONDOR, group=CONDOR, extra_groups=[],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert "HarvestedCores = 3\n" in read.stdout
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run(["touch", f"{path}.more"], user=CONDOR, group=CONDOR, extra_groups=[],
                       stderr=subprocess.DEVNULL, check=True)  # fmt: skip


def test_a_directory_that_only_its_owner_enters_is_refused(place: Path) -> None:
    (place / "state").mkdir(mode=0o700)
    with pytest.raises(ConfigError, match="state: only its owner gets there, not HTCondor's user"):
        HTCondorNode("n7", str(place / "state" / "own" / "harvest.ad"))


def test_it_is_not_written_through_a_link(place: Path) -> None:
    node = HTCondorNode("n7", str(place / "own" / "harvest.ad"))
    (place / "precious").write_text("as it was")
    (place / "own" / f"harvest.ad.{os.getpid()}").symlink_to(place / "precious")
    with pytest.raises(EngineError, match="is a link"):
        node.advertise(3)
    assert (place / "precious").read_text() == "as it was"
