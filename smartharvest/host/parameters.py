"""The files outside of groups that an agent may write."""

from __future__ import annotations

HALT_POLL_PARAMETER = "/sys/module/kvm/parameters/halt_poll_ns"
PARAMETERS = (HALT_POLL_PARAMETER,)
