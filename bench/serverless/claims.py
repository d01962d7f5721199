"""The paper's claims, each with what was found and a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.serverless.experiments import BALANCERS, Row


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def rps_of(value: float) -> str:
    return f"{value:g}" if value else "never"


def _verdict(holds: bool, partly: bool = False) -> str:
    return "holds" if holds else "partly" if partly else "**does not hold**"


def _ordered(sample: Row, bound: str) -> tuple[bool, bool]:
    """(MWS > JSQ > vanilla, MWS >= JSQ >= vanilla and MWS > vanilla)."""
    mws, jsq, vanilla = (
        sample["balancers"][name]["most_rps"][bound] for name in ("mws", "jsq", "vanilla")
    )
    return mws > jsq > vanilla, mws >= jsq >= vanilla and mws > vanilla


def claims(document: Row) -> Iterator[str]:
    yield "## Claims"
    yield ""
    rows = []
    for sample in document["samples"]:
        for bound in ("slowdown 10", "slowdown 20", "latency"):
            most = {name: sample["balancers"][name]["most_rps"][bound] for name in BALANCERS}
            said = f"P99 {bound}" if bound != "latency" else "P99 latency"
            rows.append(
                (
                    f"throughput at a {said}: MWS > JSQ > vanilla ({sample['source']})",
                    ", ".join(rps_of(most[name]) for name in ("mws", "jsq", "vanilla"))
                    + " a second",
                    _verdict(*_ordered(sample, bound)),
                )
            )
        pairs = list(
            zip(sample["balancers"]["mws"]["rows"], sample["balancers"]["jsq"]["rows"], strict=True)
        )
        fewer = [mws["cold_start_share"] < jsq["cold_start_share"] for mws, jsq in pairs]
        rows.append(
            (
                f"MWS starts cold less often than JSQ ({sample['source']})",
                f"at {sum(fewer)} of {len(fewer)} rates",
                _verdict(all(fewer), sum(fewer) > len(fewer) / 2),
            )
        )
        for bound in ("slowdown 10", "latency"):
            found = [
                sample["clusters"][churn]["mws"]["most_rps"][bound]
                for churn in ("dedicated", "normal", "active")
            ]
            said = "slowdown of 10" if bound != "latency" else "latency"
            rows.append(
                (
                    f"dedicated > normal > active at a P99 {said}, with MWS ({sample['source']})",
                    ", ".join(map(rps_of, found)) + " a second",
                    _verdict(
                        found[0] > found[1] > found[2],
                        found[0] >= found[1] >= found[2] and found[0] > found[2],
                    ),
                )
            )
    strategies = document["strategies"]
    safe, bounded, die = (strategies[name] for name in strategies)
    lost = sum(safe[churn]["evicted"] for churn in ("normal", "active"))
    rows.append(("No Failures has none", f"{lost} in 16 hours", _verdict(lost == 0)))
    share = bounded["active"]["evicted"] / bounded["active"]["invocations"]
    rows.append(
        (
            "Bounded Failures stays within its budget of 0.1 %, active",
            f"{share:.4%}",
            _verdict(share <= 1e-3),
        )
    )
    rows.append(
        (
            "Live and Let Die: 99.99 % succeed",
            f"{1 - die['active']['expected_share']:.6%} with the paper's lifetimes; "
            f"{1 - die['active']['evicted'] / die['active']['invocations']:.3%} active",
            _verdict(die["active"]["expected_share"] <= 1e-4),
        )
    )
    times = [row["times"][1] for row in document["resources"] if row["share"] == 1.0]
    rows.append(
        (
            "3x to 10x the resources for one budget, all harvested",
            f"{min(times):.1f}x to {max(times):.1f}x at discounts of 48 to 88 %, α 0.5 to 1",
            _verdict(min(times) >= 3.0 and max(times) >= 10.0, max(times) >= 10.0),
        )
    )
    budgets = document["budgets"]
    base = budgets["regular"]["slowdown 10"]
    gains = [
        budgets[key]["most_rps"]["slowdown 10"] / base for key in budgets if key != "regular"
    ] if base else []  # fmt: skip
    rows.append(
        (
            "2.2x to 9.0x the throughput for one budget",
            f"{min(gains):.1f}x to {max(gains):.1f}x" if gains else "no rate keeps the bound",
            _verdict(
                bool(gains) and min(gains) >= 2.2 and max(gains) <= 15,
                bool(gains) and max(gains) >= 2.2,
            ),
        )
    )
    yield from table(("claim", "found", "verdict"), rows)
