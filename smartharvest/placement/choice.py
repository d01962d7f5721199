"""Whether lent cores are taken out of the primaries' cpusets, where the settings leave it open."""

from __future__ import annotations

from collections.abc import Iterable

from smartharvest.config.settings import Settings
from smartharvest.host.target.base import Target


def why_shared(
    settings: Settings, targets: Iterable[Target], *, elastic_min: int, may_change: bool
) -> str | None:
    """Why the primaries keep their cpusets even on a kernel on which the batch does not give way;
    None: nothing speaks for it.

    ``targets`` are those of both sides, ``may_change`` whether primaries may come and go. Only who
    asked for nothing that needs shared placement is taken cores from, and only by a policy that
    sees what it costs.
    """
    process = next((target for target in targets if target.group is None), None)
    reasons = {
        "placement = shared": settings.placement == "shared",
        f"only the policy adaptive judges what it costs, not {settings.policy}": (
            settings.policy != "adaptive"
        ),
        f"the mechanism {settings.mechanism} cannot do otherwise": settings.mechanism != "merge",
        "order = dynamic needs it": settings.order == "dynamic",
        "park = freeze is for it": settings.park == "freeze",
        "several elastic groups share": bool(settings.elastic_groups),
        "CPUs of nobody are lent, too": settings.lends_nobodys,
        "the primaries are named by a pattern, and may come and go": may_change,
        f"{process and process.spec} is no group": process is not None,
        "the batch has no core for itself while nothing is lent": elastic_min == 0,
    }
    return next((why for why, holds in reasons.items() if holds), None)
