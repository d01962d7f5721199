"""Asking a cluster engine's web address for a JSON document."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from smartharvest.errors import EngineError

_TIMEOUT_S = 10.0
_LONGEST_ANSWER = 1 << 24


def ask_json(url: str, engine: str, body: object = None) -> Any:
    """The document at ``url``; ``body`` is posted as JSON if given.

    Raises EngineError, which begins with ``engine``, if nothing or no JSON comes back.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    try:
        request = urllib.request.Request(url, data, headers)
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            return json.loads(answer.read(_LONGEST_ANSWER))
    except urllib.error.HTTPError as error:
        with error:
            said = " ".join(error.read(4096).decode(errors="replace").split())[:120]
        raise EngineError(f"{engine}: {url}: {error.code} {said}".rstrip()) from None
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        text = " ".join(f"{reason}".split())[:200] or type(error).__name__
        raise EngineError(f"{engine}: {url}: {text}") from None
