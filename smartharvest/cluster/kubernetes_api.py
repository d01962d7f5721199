"""The Kubernetes client: its configuration, its listings, its errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from smartharvest.errors import ConfigError, EngineError

TIMEOUT_S = 10.0
ENDED = ("Succeeded", "Failed")
"""Phases of pods that hold nothing any more."""
NOT_FOUND = 404
_PAGE = 500


class Answered(EngineError):
    """The API server answers with an error."""

    def __init__(self, what: str, status: int, reason: str | None) -> None:
        why = " ".join(f"{status} {reason}".split())[:200]
        super().__init__(f"kubernetes: {what}: {why}")
        self.status = status
        """Of HTTP."""


def configured_client(kubeconfig: str | None) -> Any:
    """The module ``kubernetes.client``, configured by a file, or (None) as in a pod.

    Raises ConfigError without the client or its configuration.
    """
    try:
        from kubernetes import client, config
    except ImportError:
        raise ConfigError(
            "kubernetes: the client is missing; pip install 'smartharvest[kubernetes]'"
        ) from None
    try:
        if kubeconfig is None:
            config.load_incluster_config()
        else:
            config.load_kube_config(kubeconfig)
    except (config.ConfigException, OSError) as error:
        raise ConfigError(
            f"kubernetes: {error}; give --kubeconfig FILE, or run it as a pod"
        ) from None
    return client


@contextlib.contextmanager
def engine_errors(what: str = "the API server") -> Iterator[None]:
    """Raises Answered for an error that the server answers, EngineError if it does not answer."""
    from kubernetes.client import ApiException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except ApiException as error:
        raise Answered(what, error.status, error.reason) from None
    except (HTTPError, OSError) as error:
        raise EngineError(f"kubernetes: {what} does not answer: {type(error).__name__}") from None


def listed(listing: Any, **which: str) -> Iterator[Any]:
    """All items of a ``list_`` method of the client, page by page. Raises EngineError."""
    while True:
        with engine_errors():
            page = listing(limit=_PAGE, _request_timeout=TIMEOUT_S, **which)
        yield from page.items
        more = page.metadata and page.metadata._continue
        if not more:
            return
        which["_continue"] = more
