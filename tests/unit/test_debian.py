"""The mirror that tests fetch other Debian releases from is the machine's own."""

from __future__ import annotations

import pytest

from tests.debian import mirror, parse_targets


def test_the_mirror_of_the_main_release_is_taken() -> None:
    listing = (
        "http://security.example/debian-security/ bookworm-security\n"
        "http://mirror.example/debian/ bookworm-updates\n"
        "http://mirror.example/debian/ bookworm\n"
    )
    assert parse_targets(listing) == "http://mirror.example/debian"


def test_without_a_source_it_says_what_to_set() -> None:
    with pytest.raises(SystemExit, match="set DEBIAN_MIRROR"):
        parse_targets("")


def test_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", "http://near.example/debian")
    assert mirror() == "http://near.example/debian"
