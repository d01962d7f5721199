"""The paper's agent with one part changed at a time."""

from __future__ import annotations

from bench.real.conditions import ALONE, CPU_IDLE, UNCHANGED, Condition, Experiment

POLICY = "smartharvest"

EXPERIMENT = Experiment(
    "ablations",
    "memcached",
    "build",
    0.30,
    "SmartHarvest beside a batch of forks, page faults and files, with one part changed a row.",
)


def _changed(name: str, about: str, without: str | None = None, **settings: object) -> Condition:
    return Condition(name, about, policy=POLICY, settings=settings, without=without)


CONDITIONS = (
    ALONE,
    CPU_IDLE,
    _changed(UNCHANGED, "nothing changed"),
    _changed("default again", "nothing changed: what differs is noise"),
    _changed(
        "no short-term safeguard",
        "an exhausted buffer stays as it is until the window ends",
        "short-term safeguard",
    ),
    _changed("aggressive safeguard", "an exhausted buffer gives all back", safeguard="aggressive"),
    _changed("no long-term safeguard", "long waits stop nothing", long_term="off"),
    _changed("paper's long-term safeguard", "counts every wait", long_term="paper"),
    _changed("symmetric cost", "too many and too few cost alike", cost="symmetric"),
    _changed("hinged cost", "too few costs the same, however many", cost="hinged"),
    _changed("window 15 ms", "a shorter window", window_ns=15_000_000),
    _changed("window 35 ms", "a longer window", window_ns=35_000_000),
    _changed("exclusive placement", "the primary's cpuset is written, too", placement="exclusive"),
    _changed("polling", "a look every 50 us, not at every change", events=False),
    _changed("sampled windows", "as in the paper: one sample a poll", accounting="sampled"),
    _changed("label busy", "learns busy cores, not demand", label="busy"),
    _changed("no nudge", "nobody is sent to a lent core", "nudge"),
    _changed("no real-time writer", "the loop is an ordinary thread", realtime=False),
    _changed("no rescue", "the kernel's choice of the batch stands", rescue=False),
    _changed("no cpu.idle", "confined, but of equal weight", cpu_idle=False),
    _changed("park freeze", "freezes instead of sharing the last core", park="freeze"),
    Condition("fixed-buffer:1", "one idle core is always kept, at events", policy="fixed-buffer:1"),
    Condition(
        "fixed-buffer:1, polling",
        "the same, looked after every 50 us",
        policy="fixed-buffer:1",
        settings={"events": False},
    ),
    _changed("native learner", "the same decisions from C", learner="native"),
)
