"""Algorithm 1 of the paper (section 3.3), to be read next to it.

    lines 1-11   the polling loop                      csrc/loop/loop.c; it hands over a Window
    lines 12-13  the short-term safeguard              Algorithm1.decide, safeguard.py
    lines 14-19  learning and predicting               Algorithm1.decide, policy/, learning/
    line 20      never fewer cores than busy + 1       Algorithm1.decide, and loop.c at every poll
    lines 21-22  assigning, the long-term safeguard    Algorithm1.decide; loop.c writes

Where this agent differs from the paper's, and why:

- The loop keeps polling while the decision is made, and the next window has already begun when it
  arrives, some 0.1 ms later. The paper's agent is single-threaded and blind meanwhile.
- The loop reacts to an exhausted buffer by itself, within the poll that sees it, by the safe cores
  of the last decision. ``decide`` computes the same answer again with the broken window in view;
  the larger of the two stands.
- Exhausted means that the buffer ran out *while something was lent*. With everything with the
  primary there is nothing to give back, and its peak is a true label.

Nothing here knows of Linux, threads or clocks: windows in, decisions out.
"""

from __future__ import annotations

from dataclasses import dataclass

from smartharvest.algorithm.policy import Policy
from smartharvest.algorithm.policy.fallback import frozen, spare
from smartharvest.algorithm.safeguard import LongTermSafeguard
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Plan):
    """The plan that answers one window, and why it is what it is."""

    harvest_cores: int
    """total - primary_cores"""
    reason: str
    """``predicted``, ``short-term safeguard``, ``long-term safeguard`` or ``stale window``."""
    label: int | None
    """The peak that was learned from this window; None if nothing was."""
    label_kind: str
    """What a label is the peak of: ``demand`` or ``busy`` cores."""
    busy_peak: int
    """Of the window it answers, as far as the sensor saw: cores in use, ..."""
    demand_peak: int
    """... and running + waiting tasks; equals ``busy_peak`` if the sensor does not count them."""


class Algorithm1:
    """What EVMAgent decides (the paper's name for it) for one set of primaries.

    ``total`` is the number of cores between the two sides, ``keep_idle`` what the primary keeps
    beyond its busy cores (less than 1 counts as 1), ``label_kind`` what the policy learns the peak
    of. Errors of the policy propagate.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        total: int,
        keep_idle: int = 1,
        long_term: LongTermSafeguard | None = None,
        label_kind: str = "busy",
    ) -> None:
        self.policy = policy
        self.total = total
        self.keep_idle = keep_idle
        self.long_term = long_term
        self.label_kind = label_kind

    def decided(
        self, window: Window, primary_cores: int, safe_cores: int, label: int | None
    ) -> Decision:
        """What the loop has decided itself, as ``decide`` would have put it."""
        reason = "short-term safeguard" if window.exhausted else "predicted"
        if window.stale:
            reason = "stale window"
        if self.long_term is not None and not self.long_term.harvesting(window.end_ns):
            primary_cores, reason = self.total, "long-term safeguard"
        return Decision(
            seq=window.seq,
            primary_cores=primary_cores,
            harvest_cores=self.total - primary_cores,
            safe_cores=safe_cores,
            buffer=0,
            reason=reason,
            label=label,
            label_kind=self.label_kind,
            busy_peak=window.busy_max,
            demand_peak=window.demand_max,
        )

    def decide(self, window: Window) -> Decision:
        """One pass through lines 12-22, for a window that has just ended."""
        return self.answer(window, self.learn(window))

    def learn(self, window: Window) -> int | None:
        """Lines 15-16: what was learned; the policy skips what is no lesson."""
        self.policy.short_term.observe(window)
        return self.policy.learn(window)

    def answer(self, window: Window, label: int | None) -> Decision:
        """The rest, once ``learn`` has returned ``label``."""
        short_term = self.policy.short_term
        if window.stale:
            primary_cores = self.total
            reason = "stale window"
        elif window.exhausted:
            primary_cores = short_term.safe_cores(window.primary_cores)  # line 13
            reason = "short-term safeguard"
        else:
            primary_cores = self.policy.predict(window)  # lines 17-18
            reason = "predicted"
        buffer, quiet_ns = self.policy.buffer, self.policy.quiet_ns
        shared = self.policy.shared
        # Patient, the loop sees to that at every change; shared, the kernel does.
        if quiet_ns is None and not shared:
            primary_cores = max(primary_cores, window.busy_last + max(1, self.keep_idle))  # line 20
        if self.long_term is not None and not self.long_term.harvesting(window.end_ns):
            # The learner has seen the window all the same: it learns on in the background.
            primary_cores, buffer, quiet_ns, shared = self.total, 0, None, False
            reason = "long-term safeguard"
        primary_cores = min(primary_cores, self.total)
        return Decision(
            seq=window.seq,
            primary_cores=primary_cores,
            harvest_cores=self.total - primary_cores,  # line 21
            safe_cores=short_term.safe_cores(primary_cores),
            buffer=0 if window.stale else buffer,
            quiet_ns=None if window.stale else quiet_ns,
            shared=shared and not window.stale,
            spare=spare(self.policy) if shared and not window.stale else None,
            frozen=frozen(self.policy),
            reason=reason,
            label=label,
            label_kind=self.label_kind,
            busy_peak=window.busy_max,
            demand_peak=window.demand_max,
        )
