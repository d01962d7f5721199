"""Network addresses, as flags and the configuration file spell them."""

from __future__ import annotations

import ipaddress
import re

from smartharvest.errors import ConfigError


def parse_loopback(value: object, key: str) -> str:
    """``ADDRESS:PORT`` on this host only. Raises ConfigError for any other."""
    if not is_loopback(parse_address(value, key)):
        raise ConfigError(
            f"{key}: other hosts could reach {value!r}; use 127.0.0.1 or [::1] and a proxy"
        )
    return str(value)


def is_loopback(address: str) -> bool:
    """Whether only this host reaches the ``ADDRESS:PORT``, as ``parse_address`` returns it."""
    return ipaddress.ip_address(address.rpartition(":")[0].strip("[]")).is_loopback


def parse_address(value: object, key: str) -> str:
    """``ADDRESS:PORT`` of this host. Raises ConfigError for anything else."""
    host, colon, port = str(value).rpartition(":") if isinstance(value, str) else ("", "", "")
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        address = None
    if address is None or not colon or not re.fullmatch("[0-9]{1,5}", port):
        raise ConfigError(f"{key}: {value!r} is no address and port; write it as 127.0.0.1:9464")
    if not 1 <= int(port) <= 65535:
        raise ConfigError(f"{key}: port {port} is not in 1..65535")
    return str(value)


def split_address(address: str) -> tuple[str, int]:
    """(host, port) of what ``parse_loopback`` has accepted."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
