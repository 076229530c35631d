"""What MOBSTER's paper says of its figures, beside what was measured."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchmarks.harness.records import best_after
from benchmarks.harness.report import ranks
from benchmarks.mobster import DUELS, FIGURE5, VARIANTS
from benchmarks.papers.entry import Row, claim
from benchmarks.papers.mobster_records import (
    BASELINES,
    BASELINES_CELLS,
    BASELINES_LONGER,
    BASELINES_MLP,
    HALVING,
    HALVING_CELLS,
    HALVING_MLP,
    MEAN,
    MLP,
    RANK,
    SCHEDULERS,
    SHARE,
    SHARES,
    SURROGATES,
)
from benchmarks.papers.sources import OnRecord, cell
from benchmarks.workloads.mobster_reports import duel

# ---------------------------------------------------------------- Figures 4 and 10


def share_rows() -> Iterator[Row]:
    for count, new in SHARES.items():
        values = [cell(new, MEAN, f"mobster{variant}, {count}") for variant in VARIANTS.values()]
        text = f"{count} workers: after {values[0]:.2f} (promotion) and {values[1]:.2f} (stopping) of ASHA's time"
        yield claim("MOBSTER reaches ASHA's final regret sooner", text, max(values) < 1.0)
    on_the_mlp = {
        count: [cell(source, MLP, f"mobster{variant}, {count}") for variant in VARIANTS.values()]
        for count, source in SHARES.items()
        if MLP in source.results.problems
    }
    if on_the_mlp:
        told = "; ".join(f"{count} workers {one:.2f}, {other:.2f}" for count, (one, other) in on_the_mlp.items())
        holds = max(max(pair) for pair in on_the_mlp.values()) <= 0.5
        yield claim("in half of the time on the MLP", f"on the MLP, promotion and stopping: {told}", holds)
    shares = {name: cell(SHARE, name, "mobster, 4") for name in SHARE.results.problems}
    later = [f"{name} {share:.2f}" for name, share in shares.items() if share >= 1.0]
    text = f"promotion, 4 workers: not on {len(later)} of {len(shares)} ({', '.join(later)})"
    yield claim("on every benchmark", text, not later)


def surrogate_rows() -> Iterator[Row]:
    kinds = ("mobster", "mobster:matern", "mobster:decay", "mobster:decay-0", "mobster:decay-1")
    found = {name: cell(SURROGATES, name, RANK) for name in kinds}
    text = ", ".join(f"{name} {rank:.1f}" for name, rank in found.items())
    plain = cell(SURROGATES, "asha", RANK)
    # A kernel that is no better than no model at all is a trend.
    holds = max(found.values()) < plain
    yield claim("no consistent trend among the kernels", f"mean ranks: {text}; ASHA without a model {plain:.1f}", holds)


# ---------------------------------------------------------------- Figure 5


def final_ranks(source: OnRecord, methods: Sequence[str]) -> dict[str, float]:
    """Mean rank of the mean loss at the end, over the problems and numbers of workers that all methods have been run with."""
    found = source.results
    placed: dict[str, list[float]] = {method: [] for method in methods}
    for problem, count in dict.fromkeys((record.task.problem, record.task["workers"]) for record in source.found):
        runs = [found.of(problem, method, workers=count) for method in methods]
        if all(runs):
            ends = [statistics.mean(best_after(r.found["best"], r.found["seconds"]) for r in each) for each in runs]
            for method, rank in zip(methods, ranks(ends), strict=True):
                placed[method].append(rank)
    return {method: statistics.mean(each) for method, each in placed.items() if each}


def ahead(source: OnRecord) -> Iterator[Row]:
    found = final_ranks(source, [method for method in FIGURE5 if method in source.results.methods])
    text = ", ".join(f"{name} {rank:.1f}" for name, rank in sorted(found.items(), key=lambda pair: pair[1]))
    holds = found["mobster"] <= min(found.values())
    yield claim("MOBSTER is ahead of all baselines", f"mean ranks at the end: {text}", holds)


def baseline_rows() -> Iterator[Row]:
    yield from ahead(BASELINES)


def at(source: OnRecord, problem: str, method: str, share: float) -> float:
    """The mean of the best losses after a share of the time."""
    return statistics.mean(
        best_after(record.found["best"], share * record.found["seconds"])
        for record in source.results.of(problem, method)
    )


def early(source: OnRecord, problem: str) -> Row:
    """Whether MOBSTER by stopping is ahead of MOBSTER by promotion after an eighth of the time."""
    losses = {name: at(source, problem, name, 1 / 8) for name in ("mobster-stop", "mobster")}
    text = ", ".join(f"{name} {loss:.4g}" for name, loss in losses.items())
    first = min(losses, key=losses.__getitem__)
    return claim("stopping is better early", f"after an eighth of the time: {text}", first == "mobster-stop")


def budgets_row() -> Row:
    """What the paper calls surprising."""
    third, end = (
        {name: at(BASELINES_CELLS, "nb201-cifar10", name, share) for name in ("boca", "ts")} for share in (1 / 3, 1.0)
    )
    text = (
        f"errors on CIFAR-10 in % after a third of the time: boca {third['boca']:.2f}, ts {third['ts']:.2f}; but at the end "
        f"{end['boca']:.2f}, {end['ts']:.2f}"
    )
    return claim(
        "Dragonfly with budgets (boca) converges more slowly than without (ts)", text, third["boca"] > third["ts"]
    )


def cell_rows() -> Iterator[Row]:
    """What the paper says of Figures 3, 5 and 10 on NAS-Bench-201."""
    if BASELINES_CELLS.found:
        yield from ahead(BASELINES_CELLS)
        found = final_ranks(BASELINES_CELLS, FIGURE5)
        text = (
            f"mean ranks at the end: asha {found['asha']:.1f}, s-hb {found['s-hb']:.1f}, s-bohb {found['s-bohb']:.1f}"
        )
        yield claim(
            "ASHA is ahead of synchronous Hyperband and BOHB", text, found["asha"] < min(found["s-hb"], found["s-bohb"])
        )
        yield budgets_row()
        yield early(BASELINES_CELLS, "nb201-cifar10")
    if HALVING_CELLS.found:
        yield from halving_rows(HALVING_CELLS)


def outperforms(source: OnRecord) -> Iterator[Row]:
    ends = {method: at(source, MLP, method, 1.0) for method in FIGURE5 if method in source.results.methods}
    order = sorted(ends, key=lambda method: ends[method])
    pairs = [duel(source.results, "mobster", method) for method in order if not method.startswith("mobster")]
    names = [method for method in order if not method.startswith("mobster")]
    told = ", ".join(f"{name} {lower}–{higher}" for name, (_, lower, higher) in zip(names, pairs, strict=True))
    text = ", ".join(f"{method} {ends[method]:.4f}" for method in order)
    yield claim(
        "both variants of MOBSTER outperform all baselines",
        f"{source.found[0].task['trainings']:g} trainings per worker, mean error at the end: {text}; seeds on which `mobster` "
        f"is lower and higher than {told}",
        set(order[:2]) == {"mobster", "mobster-stop"},
    )


def mlp_rows() -> Iterator[Row]:
    for source in (BASELINES_MLP, BASELINES_LONGER):
        if source.found:
            yield from outperforms(source)
            yield early(source, MLP)
    if HALVING_MLP.found:
        yield from halving_rows(HALVING_MLP)


# ---------------------------------------------------------------- Figure 3


def wins(source: OnRecord, what: str) -> tuple[int, int]:
    """Over all kinds of searches on record: how often the one ends with the lower regret, and how often the other."""
    found = [duel(source.results, *pair) for pair in DUELS[what]]
    return sum(one for _, one, _ in found), sum(other for _, _, other in found)


def halving_rows(source: OnRecord) -> Iterator[Row]:
    claims = {
        "promotion against stopping": "promotion ends better than stopping",
        "r_min = 1 against Hyperband": "r_min = 1 is as good as Hyperband or better",
        "model against random": "the model is ahead of random configurations",
    }
    for what, paper in claims.items():
        one, other = wins(source, what)
        yield claim(paper, f"lower regret in {one} pairs of searches, higher in {other}", one > other)


def scheduler_rows() -> Iterator[Row]:
    if HALVING.found:
        yield from halving_rows(HALVING)
    source = SCHEDULERS
    early, late = "1/8 of the time", "all of the time"
    stop, promote = (cell(source, name, late) for name in ("asha-stop", "asha"))
    yield claim("promotion ends better than stopping", f"mean rank at the end {promote:g} and {stop:g}", promote < stop)
    stop, promote = (cell(source, name, early) for name in ("asha-stop", "asha"))
    yield claim(
        "stopping is better early",
        f"mean rank at an eighth of the time {stop:g}, promotion {promote:g}",
        stop < promote,
    )
    one, all_ = (cell(source, name, late) for name in ("asha", "async-hyperband"))
    yield claim(
        "r_min = 1 is as good as Hyperband's brackets", f"mean rank at the end {one:g}, Hyperband {all_:g}", one <= all_
    )
