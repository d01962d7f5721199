"""docs/research/serverless.md, from the figures."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from bench.serverless.claims import claims, rps_of, table
from bench.serverless.experiments import (
    BALANCERS,
    COLD_COSTS,
    LATENCY_BOUND,
    MINUTES,
    POOL,
    ROUTERS_COLD_COST,
    SLOWDOWNS,
    WEIGHED,
    Row,
)
from bench.serverless.routers import SEEDS, USUAL

NAMES = {
    "mws": "Min-Worker-Set",
    "jsq": "Join-the-Shortest-Queue",
    "p2c": "power of two choices",
    "vanilla": "vanilla OpenWhisk",
    WEIGHED: f"Min-Worker-Set, cold starts weighed {ROUTERS_COLD_COST:g}",
}
TITLES = {"routers": "Ray Serve's routers", "half": "ten of twenty workers evicted"}
BOUNDS = [*(f"slowdown {bound:g}" for bound in SLOWDOWNS), "latency"]


def page(document: Row, pictures: str) -> str:
    """The whole page, in Markdown."""
    return "\n".join(
        _wrapped(line)
        for line in [
            *_head(document),
            *((document["note"], "") if "note" in document else ()),
            *claims(document),
            *_throughput(document, pictures),
            *_cold_costs(document),
            *_routers(document),
            *_clusters(document, pictures),
            *_strategies(document),
            *_costs(document, pictures),
            *_trouble(document, pictures),
            *_limits(),
        ]
    )


def _wrapped(line: str) -> str:
    if line.startswith(("|", "!", "#", "- ")):
        return line
    return textwrap.fill(line, 110, break_long_words=False, break_on_hyphens=False)


def _head(document: Row) -> Iterator[str]:
    machine = document["machine"]
    sources = ", ".join(f"{one['source']} ({one['functions']})" for one in document["samples"])
    yield "# Functions on harvested cores"
    yield ""
    yield (
        "The comparisons of [Faster and Cheaper Serverless Computing on Harvested "
        "Resources](https://doi.org/10.1145/3477132.3483580) (SOSP'21) in simulation. `make "
        "reproduce-serverless FUNCTIONS=PREFIX` writes this page; how to use the parts: "
        "[functions](../how-to/functions.md)."
    )
    yield ""
    yield (
        f"Samples (functions): {sources}. *mix* is the simulator's own, of such functions as the "
        "paper ran; numbers are samples of the Azure Functions Trace 2019 (Microsoft, CC-BY), "
        "drawn by vhive-serverless/invitro (MIT), which their users bring. "
        f"{machine['cpu_model']}, {machine['date']}, commit {machine['commit']}. Everything runs "
        "in virtual time: the machine does not change the figures."
    )
    yield ""
    commit = machine["commit"]
    later = {name: one for name, one in document.get("commits", {}).items() if one != commit}
    if later:
        names = ", ".join(f"*{TITLES.get(name, name)}* ({one})" for name, one in later.items())
        yield f"Measured again since: {names}."
        yield ""
    yield (
        f"Unless something else is said: {POOL.replace('x', ' workers of ')} cores on average and "
        f"32 GiB, the first {MINUTES:g} minutes of the sample, a cold start of half a core "
        "second, reports each second, the median of three seeds. *Slowdown*: latency over the "
        "time the invocation takes alone and warm."
    )
    yield ""


def _throughput(document: Row, pictures: str) -> Iterator[str]:
    yield "## Throughput at a bound"
    yield ""
    rows = document["samples"][0]["balancers"]["mws"]["rows"]
    highest = ", ".join(
        f"{one['balancers']['mws']['rows'][-1]['rps']:g} for {one['source']}"
        for one in document["samples"]
    )
    yield (
        f"The highest rate, of {len(rows)} from {rows[0]['offered']:.0%} to "
        f"{rows[-1]['offered']:.0%} of the cores, at which the bound is kept, on the normal "
        f"cluster. The highest that was tried is {highest}: where that is the answer, more may "
        f"be possible. *Latency*: the P99 of all latencies is at most {LATENCY_BOUND:g} "
        "times what it is alone and warm; long functions decide it. The slowdown is what callers "
        "of short functions feel."
    )
    yield ""
    for sample in document["samples"]:
        middle = [
            sample["balancers"][name]["rows"][len(sample["balancers"][name]["rows"]) // 2]
            for name in BALANCERS
        ]
        yield from table(
            (
                f"sample {sample['source']}",
                *(f"P99 {bound}" for bound in BOUNDS),
                f"cold at {middle[0]['rps']:g}/s",
                "workers a function",
            ),
            [
                (
                    NAMES[name],
                    *(rps_of(sample["balancers"][name]["most_rps"][bound]) for bound in BOUNDS),
                    f"{row['cold_start_share']:.1%}",
                    f"{row['workers_per_function']:.1f}",
                )
                for name, row in zip(BALANCERS, middle, strict=True)
            ],
        )
    yield f"![Slowdown, latency and cold starts by rate and balancer]({pictures}/throughput.png)"
    yield ""
    yield (
        "A low rate is the hardest for a balancer that spreads: instances grow cold before they "
        "are needed again, so that its slowdown falls as the rate grows. Vanilla OpenWhisk "
        "counts memory, not cores: with few slots a worker it does better, never as well:"
    )
    yield ""
    yield from table(
        ("GiB a worker", "Min-Worker-Set: P99 slowdown", "vanilla OpenWhisk"),
        [
            (
                str(mws["gib"]),
                f"{mws['slowdown_p99']:.3g}",
                f"{vanilla['slowdown_p99']:.3g}",
            )
            for mws, vanilla in zip(document["memory"][::2], document["memory"][1::2], strict=True)
        ],
    )


def _cold_costs(document: Row) -> Iterator[str]:
    yield "## Weighing cold starts"
    yield ""
    yield (
        "The paper's balancers start a function cold wherever there is room. Those of Ray Serve's "
        f"routers count a cold start as `cold_cost` invocations ({ROUTERS_COLD_COST:g}). P99 "
        "slowdown and cold starts at 45 % of the cores, on the normal cluster:"
    )
    yield ""
    kinds = [(name, cold_cost) for name in ("mws", "jsq") for cold_cost in COLD_COSTS]
    lines = []
    for sample in document["samples"]:
        rows = sample["cold_costs"]["rows"]
        for gib in dict.fromkeys(row["gib"] for row in rows):
            found = {(row["balancer"], row["cold_cost"]): row for row in rows if row["gib"] == gib}
            lines.append(
                (
                    f"{sample['source']}, {gib} GiB",
                    *(
                        f"{found[kind]['slowdown_p99']:.3g}, {found[kind]['cold_start_share']:.1%}"
                        for kind in kinds
                    ),
                )
            )
    head = ("sample, a worker", *(f"{name}, {cold_cost:g}" for name, cold_cost in kinds))
    yield from table(head, lines)
    yield (
        "The highest rate that keeps a P99 slowdown of "
        + " / ".join(f"{bound:g}" for bound in SLOWDOWNS)
        + ", 32 GiB a worker:"
    )
    yield ""
    names = ("mws", "jsq")
    yield from table(
        ("sample", *(f"{name}, {cost:g}" for name in names for cost in (0, ROUTERS_COLD_COST))),
        [
            (
                sample["source"],
                *(
                    " / ".join(rps_of(most[f"slowdown {bound:g}"]) for bound in SLOWDOWNS)
                    for name in names
                    for most in (
                        sample["balancers"][name]["most_rps"],
                        sample["cold_costs"]["most_rps"][name],
                    )
                ),
            )
            for sample in document["samples"]
        ],
    )
    yield (
        "With it Join-the-Shortest-Queue is as good as Min-Worker-Set: most of what the latter is "
        "worth is that functions stay warm. It costs Min-Worker-Set a little where all fit and "
        "little is asked (*mix*), and helps nobody where memory does not hold what runs (*mix* "
        "with 2 GiB). 1 does most of it; the value matters little."
    )
    yield ""


def _routers(document: Row) -> Iterator[str]:
    usual, seeds = USUAL, len(SEEDS)
    yield "## Ray Serve's routers, replayed"
    yield ""
    yield (
        f"{usual['nodes']} nodes of one to five cores, which change every ten seconds or so; "
        f"{usual['models']} multiplexed models, the k-th asked for in proportion to 1/k; memory "
        "for three on a node; loading one takes 0.8 s of a core, a request 0.25; requests need "
        f"{usual['used']:.0%} of the cores; every sixth node is evicted in the middle. Each row "
        f"changes what it names. {usual['seconds']:g} s of virtual time, by the routers' own code "
        f"and by Ray's rule ({seeds} seeds, medians; lost: of all). *Faster*: of how many seeds "
        "the P95 is below that under Ray's. Of three nodes one is evicted; where half are, "
        "requests need 30% of the cores."
    )
    yield ""
    lines = []
    for scene, found in document["routers"].items():
        cells = [
            f"{row['p50_s']:.2f}, {row['p95_s']:.2f}, {row['cold_share']:.0%}"
            for row in found.values()
        ]
        mws, jsq, rays = found.values()
        lines.append(
            (
                scene,
                *cells,
                f"{mws['shorter_than_rays']}, {jsq['shorter_than_rays']} of {seeds}",
                f"{mws['lost']}, {jsq['lost']}, {rays['lost']} of {rays['requests']:,}",
            )
        )
    routers = next(iter(document["routers"].values()))
    head = ("P50 s, P95 s, cold", *(f"`{name}`" if "'" not in name else name for name in routers))
    yield from table((*head, "faster", "lost"), lines)
    yield (
        "Nothing is gained where memory holds fewer models than are asked for (60), or where half "
        "of the nodes go at once; on three nodes little but that nothing is lost. On more nodes "
        "both keep the tail shorter. With cold starts weighed Join-the-Shortest-Queue is as fast "
        "as Min-Worker-Set or faster, and starts cold more often."
    )
    yield ""


def _clusters(document: Row, pictures: str) -> Iterator[str]:
    yield "## Dedicated, normal, active"
    yield ""
    yield (
        "All three have the same cores on average. *Normal* has the paper's distributions of "
        "changes and lifetimes: within 20 minutes hardly anything changes, but workers are of "
        "different sizes. In an *active* cluster every interval between changes is below an hour "
        "and every lifetime below a day, which is our reading of the paper's worst case."
    )
    yield ""
    for sample in document["samples"]:
        yield from table(
            (
                f"sample {sample['source']}, P99 slowdown 10 / latency",
                "dedicated",
                "normal",
                "active",
            ),
            [
                (
                    NAMES[name],
                    *(
                        " / ".join(
                            rps_of(sample["clusters"][churn][name]["most_rps"][bound])
                            for bound in ("slowdown 10", "latency")
                        )
                        for churn in ("dedicated", "normal", "active")
                    ),
                )
                for name in ("mws", "jsq", "vanilla")
            ],
        )
    yield f"![Slowdown by rate on three clusters]({pictures}/clusters.png)"
    yield ""


def _strategies(document: Row) -> Iterator[str]:
    yield "## Strategies"
    yield ""
    yield (
        "Eight hours in all of each, at half of the cores, no retries. *Expected*: the failures "
        "that an eviction of the active cluster causes, with evictions as rare as the paper's (a "
        "worker lives 61.5 days)."
    )
    yield ""
    yield from table(
        ("strategy", "regular workers", "functions there", "failed, active", "expected",
         "unfinished", "cost of an hour", "P99 slowdown, normal"),
        [
            (
                name.replace("-", " "),
                f"{row['active']['regular_workers']:g} of 20",
                f"{row['active']['regular_functions']:g}",
                f"{row['active']['evicted']} of {row['active']['invocations']:,}",
                f"{row['active']['expected_share']:.2g}",
                str(row["active"]["unfinished"]),
                f"{row['normal']['cost']:.2f}",
                f"{row['normal']['slowdown_p99']:.3g}",
            )
            for name, row in document["strategies"].items()
        ],
    )  # fmt: skip
    yield (
        "No Failures is only as good as its Harvest workers are many: when the few that are left "
        "lose cores together, short invocations queue up and outlive the notice, too. Regular "
        "workers are the share of the pool that the long functions' work is; most of it is theirs."
    )
    yield ""


def _costs(document: Row, pictures: str) -> Iterator[str]:
    yield "## Prices"
    yield ""
    yield (
        "Cores for the price of one regular core: a Harvest VM pays the evictable price for its "
        "minimum and α of it for each harvested core; 1 + 7.2 cores on average, five minutes to "
        "recover from an eviction. `smartharvest serverless cost` has every parameter."
    )
    yield ""
    yield from table(
        ("evictable discount", "α", "harvested", "no evictions", "one in 61.5 days", "one a day",
         "one an hour"),
        [
            (
                f"{row['discount']:.0%}",
                f"{row['alpha']:g}",
                f"{row['share']:.0%}",
                *(f"{times:.2f}" for times in row["times"]),
            )
            for row in document["resources"]
        ],
    )  # fmt: skip
    yield (
        "What that is worth in throughput, with Min-Worker-Set: six regular workers of 8 cores, "
        "and the Harvest VMs (2 of 8 cores are their minimum) for the same money on the normal "
        "cluster, α 0.5:"
    )
    yield ""
    budgets = document["budgets"]
    yield from table(
        ("", "workers", "P99 slowdown 10", "P99 latency"),
        [
            (
                "regular",
                "6",
                *(rps_of(budgets["regular"][key]) for key in ("slowdown 10", "latency")),
            ),
            *(
                (
                    f"{float(key):.0%} off",
                    str(row["workers"]),
                    *(rps_of(row["most_rps"][bound]) for bound in ("slowdown 10", "latency")),
                )
                for key, row in budgets.items()
                if key != "regular"
            ),
        ],
    )
    yield f"![Cores for one price, and what an hour costs by strategy]({pictures}/cost.png)"
    yield ""


def _seconds(value: float | None) -> str:
    return "none finished" if value is None else f"{value:.3g}"


def _trouble(document: Row, pictures: str) -> Iterator[str]:
    yield "## Where it fails"
    yield ""
    yield f"![A hot function, half of the workers evicted, old reports]({pictures}/trouble.png)"
    yield ""
    yield "Three functions on 100 workers, 10 minutes, a cold start of 2 s:"
    yield ""
    yield from table(
        ("", "P99 slowdown", "cold starts", "workers a function"),
        [
            (
                NAMES[name],
                f"{row['slowdown_p99']:.3g}",
                f"{row['cold_start_share']:.2%}",
                f"{row['workers_per_function']:.1f}",
            )
            for name, row in document["few"].items()
        ],
    )
    yield (
        "One function goes from 1 to 200 invocations a second, 0.4 s and 0.5 s cold, on 160 cores: "
        "P99 latency in seconds of those that came in the first ten seconds, and from 30 s on:"
    )
    yield ""
    yield from table(
        ("", "first 10 s", "later", "workers that ran it later"),
        [
            (
                NAMES[name],
                _seconds(row["first_10_s_p99"]),
                _seconds(row["later_p99"]),
                str(row["workers"]),
            )
            for name, row in document["hot"].items()
        ],
    )
    yield (
        "Ten of twenty workers evicted at once, back after a minute: P99 slowdown of what came "
        "from the notice until then, and failures:"
    )
    yield ""
    yield from table(
        ("", "P99 slowdown", "failed by eviction", "cold starts"),
        [
            (
                NAMES[name],
                _seconds(row["p99_while_gone"]),
                f"{row['evicted']} of {row['invocations']:,}",
                f"{row['cold_start_share']:.1%}",
            )
            for name, row in document["half"].items()
        ],
    )
    yield (
        "Old reports, four controllers that know of each other by reports only, the active "
        "cluster at 60 % of the cores; P99 slowdown, and failed by evictions in three runs. "
        "*Doubting*: a report older than a second counts for less, after five seconds for the "
        "minimum alone. No report is lost here, so that doubt only costs: sets grow, functions "
        "start cold. That is why a report is old only when three of them are due."
    )
    yield ""
    kinds = [(name, blind) for name in ("mws", "jsq", "p2c") for blind in (True, False)]
    rows = {(row["report_s"], row["balancer"], row["blind"]): row for row in document["old"]}
    yield from table(
        ("report each", *(f"{name}{'' if blind else ', doubting'}" for name, blind in kinds)),
        [
            (
                f"{report_s:g} s",
                *(
                    f"{rows[report_s, name, blind]['slowdown_p99']:.3g}, "
                    f"{rows[report_s, name, blind]['evicted']:g}"
                    for name, blind in kinds
                ),
            )
            for report_s in sorted({row["report_s"] for row in document["old"]})
        ],
    )
    yield (
        "What the simulation does not have: agents that are dead and a controller of Ray's that "
        "restarts. The [routers](../how-to/functions-on-ray.md) then follow the last reports for a "
        "while, do as Ray does, and say so; tests with a real Ray Serve hold that."
    )
    yield ""


def _limits() -> Iterator[str]:
    yield "## What the simulation leaves out"
    yield ""
    yield "- The network, the controllers' own time, the time to start a worker's operating system."
    yield "- All of a duration counts as computing. Functions that wait would share cores better."
    yield "- A cold start takes the same of a core for every function."
    yield "- Within a minute invocations are spread uniformly: the samples say no more."
    yield "- Durations between the known percentiles are interpolated."
    yield ""
