from __future__ import annotations

from types import SimpleNamespace

import pytest

from smartharvest.serverless import ray_interface
from smartharvest.serverless.ray_interface import require_interface

ROUTER = SimpleNamespace(**dict.fromkeys(ray_interface._ROUTER))
REPLICA = SimpleNamespace(**dict.fromkeys(ray_interface._REPLICA))
DEFAULT = SimpleNamespace(PowerOfTwoChoicesRequestRouter=SimpleNamespace(choose_replicas=None))


def test_a_ray_that_has_everything_is_taken() -> None:
    require_interface("2.60.0", ROUTER, REPLICA, DEFAULT)


def test_a_ray_that_has_changed_is_refused_in_one_line_that_says_what_to_do() -> None:
    changed = SimpleNamespace(**dict.fromkeys(set(ray_interface._ROUTER) - {"on_send_request"}))
    with pytest.raises(ImportError) as caught:
        require_interface("3.1.0", changed, REPLICA, SimpleNamespace())
    assert str(caught.value) == (
        "smartharvest: Ray 3.1.0 has changed its (alpha) router interface: no "
        "RequestRouter.on_send_request, PowerOfTwoChoicesRequestRouter; use ray[serve] 2.60, or "
        "leave request_router_class out"
    )
