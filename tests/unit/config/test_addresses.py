from __future__ import annotations

import pytest

from smartharvest.config.addresses import parse_loopback
from smartharvest.errors import ConfigError


@pytest.mark.parametrize("value", ["127.0.0.1:9464", "[::1]:1", "127.1.2.3:65535"])
def test_an_address_and_port_of_this_host_are_taken_as_they_are(value: str) -> None:
    assert parse_loopback(value, "metrics") == value


@pytest.mark.parametrize(
    "value", ["0.0.0.0:9464", "192.168.1.1:80", "127.0.0.1", "127.0.0.1:0", "x:1", ":1", 9464, ""]
)
def test_only_an_address_and_port_that_no_other_host_reaches_is_taken(value: object) -> None:
    with pytest.raises(ConfigError, match="metrics: "):
        parse_loopback(value, "metrics")
