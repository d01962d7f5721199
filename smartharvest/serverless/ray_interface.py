"""What ray_router.py needs of Ray Serve's router interface, which is alpha, and a check of it."""

from __future__ import annotations

from typing import Any

TRIED = "2.60"
_ROUTER = (
    *("initialize_state", "update_replicas", "on_replica_actor_died", "on_send_request"),
    *("on_new_queue_len_info", "decrement_queue_len_cache", "curr_replicas"),
    "replica_queue_len_cache",
)
_REPLICA = (
    *("replica_id", "node_id", "routing_stats", "multiplexed_model_ids"),
    "max_ongoing_requests",
)
_DEFAULT = "PowerOfTwoChoicesRequestRouter"


def require_interface(version: str, router: Any, replica: Any, default_module: Any) -> None:
    """Raises ImportError, in one line, if Ray lacks something that is used."""
    lacks = [f"RequestRouter.{name}" for name in _ROUTER if not hasattr(router, name)]
    lacks += [f"RunningReplica.{name}" for name in _REPLICA if not hasattr(replica, name)]
    default = getattr(default_module, _DEFAULT, None)
    if default is None or not hasattr(default, "choose_replicas"):
        lacks.append(_DEFAULT)
    if lacks:
        raise changed(version, f"no {', '.join(lacks)}")


def changed(version: str, what: str) -> ImportError:
    """The error to raise."""
    return ImportError(
        f"smartharvest: Ray {version} has changed its (alpha) router interface: {what}; "
        f"use ray[serve] {TRIED}, or leave request_router_class out"
    )
