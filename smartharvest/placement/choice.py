"""Whether lent cores are taken out of the primaries' cpusets, where the settings leave it open, and
what that means for the batch's minimum."""

from __future__ import annotations

from dataclasses import replace

from smartharvest.config.settings import Placement, Settings
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.target_set import TargetSet


class PlacementChoice:
    """What ``auto`` means on this host: ``made``, or shared as long as that is None.

    Where the settings name a placement nothing is left to choose. Whether the batch's minimum is
    lent, too, is settled as exclusive placement comes into force: another policy may follow, but
    the host is arranged by then.
    """

    def __init__(self, settings: Settings, made: Placement | None = None) -> None:
        self._made = made
        self._can_freeze = False
        self._lends_minimum: bool | None = None
        self.take(settings)

    def take(self, settings: Settings) -> None:
        """Goes on with other settings, and what was chosen."""
        self._asked = settings
        chosen = self._made if self.is_open else None
        settings = settings if chosen is None else replace(settings, placement=chosen)
        if self._lends_minimum is None and self._can_freeze and settings.placement == "exclusive":
            self._lends_minimum = lends_minimum(settings)
        self.settings = lending_minimum(settings) if self._lends_minimum else settings
        """Those in force; ``placement`` says auto only as long as nothing is chosen."""

    def know_freezer(self, *, is_there: bool) -> None:
        """Hears whether this host can freeze a group, before it is arranged."""
        self._can_freeze = is_there
        self.take(self._asked)

    @property
    def is_open(self) -> bool:
        """Whether the settings leave it to the agent."""
        return self._asked.placement == "auto"

    def make(self, placement: Placement | None) -> None:
        """None: it is to be seen again."""
        self._made, self._lends_minimum = placement, None
        self.take(self._asked)


def lends_minimum(settings: Settings) -> bool:
    """Whether the batch's minimum is lent like any core, and the batch frozen while it has none.

    A CPU that is never the primary's costs it what no policy would see. So the one that measures
    harm decides, unless the user has.
    """
    chosen = (
        settings.elastic_min is not None
        or settings.park != "auto"
        or settings.elastic_groups
        or settings.lends_nobodys
        or settings.mechanism != "merge"
    )
    return settings.placement == "exclusive" and settings.policy == "adaptive" and not chosen


def lending_minimum(settings: Settings) -> Settings:
    """The same settings for a batch whose minimum is lent."""
    return replace(settings, elastic_min=0, park="freeze")


def why_shared(settings: Settings, targets: TargetSet, capacity: Capacity) -> str | None:
    """Why the primaries keep their cpusets even on a kernel on which the batch does not give way;
    None: nothing speaks for it.

    Only who asked for nothing that needs shared placement is taken cores from, and only by a policy
    that sees what it costs.
    """
    process = next((target for target in targets.all() if target.group is None), None)
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
        "the primaries are named by a pattern, and may come and go": targets.may_change,
        f"{process and process.spec} is no group": process is not None,
        "the batch has no core for itself while nothing is lent": capacity.elastic_min == 0,
    }
    return next((why for why, holds in reasons.items() if holds), None)
