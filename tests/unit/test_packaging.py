from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "packaging" / "smartharvest.service"
HOWTO = (ROOT / "docs" / "how-to" / "least-rights.md").read_text()

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="systemd-analyze is missing (make test-tools installs it)",
)


@pytest.fixture(params=["alone", "with the drop-in"])
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The path of a unit, and the score that the how-to tells of it."""
    text = UNIT.read_text().replace("/usr/bin/smartharvest", "/bin/true")
    told = re.search(r"unit (\S+) by\s+itself and (\S+) with", HOWTO)
    drop_in = re.search(r"```ini\n\[Service\]\n(.*?)```", HOWTO, re.DOTALL)
    assert told is not None
    assert drop_in is not None
    if request.param == "with the drop-in":
        text = text.replace("[Install]", f"{drop_in[1]}\n[Install]")
    path = tmp_path / UNIT.name
    path.write_text(text)
    return str(path), told[1 if request.param == "alone" else 2]


def test_the_unit_is_what_systemd_understands(unit: tuple[str, str]) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", unit[0]], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_its_exposure_is_what_the_how_to_says(unit: tuple[str, str]) -> None:
    path, score = unit
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.search(r"Overall exposure level for .*: (\S+) ", done.stdout)
    if found is None:
        pytest.skip("this systemd-analyze judges no unit offline")
    assert abs(float(found[1]) - float(score)) < 0.5  # each version of systemd weighs anew
