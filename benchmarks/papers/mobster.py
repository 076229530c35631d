"""MOBSTER (Klein et al. 2020), figure by figure. The paper prints curves, no numbers: its claims are compared."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchmarks.harness.problems import NB201
from benchmarks.harness.records import Task, best_after
from benchmarks.harness.report import ranks
from benchmarks.mobster import DUELS, FIGURE5, VARIANTS
from benchmarks.papers.entry import Entry, Paper, Row, claim
from benchmarks.papers.sources import Earlier, OnRecord, Source, cell
from benchmarks.workloads.mobster_reports import duel

MLP = "electricity"
PLAIN = {f"{family}{variant}" for family in ("asha", "mobster") for variant in VARIANTS.values()}
LONGER = 24
"""Trainings per worker of the searches that last longer."""
COMMAND = "python -m benchmarks.mobster --part"


def either(new: OnRecord, old: Earlier) -> Source:
    """The records, or until there are some what was made before they were kept."""
    return new if new.found else old


def cells(task: Task) -> bool:
    return task.problem in NB201


def others(task: Task) -> bool:
    return task.problem not in (MLP, *NB201)


def mlp(task: Task) -> bool:
    return task.problem == MLP and task["trainings"] < LONGER


def longer(task: Task) -> bool:
    return task.problem == MLP and task["trainings"] == LONGER


COUNTS = (2, 4, 8, 16)


def shares_of(count: int) -> OnRecord:
    """The runs with so many workers; MOBSTER's own and ASHA's also serve the comparison of surrogates."""
    given = (f"--workers {count}", "--seeds 3" if count != 4 else "--seeds 5")
    return OnRecord("mobster", "time", given, lambda task: task["workers"] == count and task.method in PLAIN)


SHARES = {count: shares_of(count) for count in COUNTS}
SHARE = SHARES[4]
SHARE_BEFORE = Earlier("mobster.md", "Share of ASHA's time until", f"{COMMAND} time --write")
BY_KERNEL = OnRecord("mobster", "kernels", of=lambda task: task["workers"] == 4)
KERNEL_SEEDS = len({record.task.seed for record in BY_KERNEL.results.of(method="mobster:matern")})
# MOBSTER itself and ASHA are on record by the part ``time``: it is the others that make a comparison of kernels.
SURROGATES: Source = (
    BY_KERNEL
    if BY_KERNEL.results.of(method="mobster:matern")
    else Earlier("mobster.md", "Surrogates, four workers", f"{COMMAND} kernels --write")
)
LARGE = either(
    OnRecord("mobster", "large", ("--seeds 1",), lambda task: task["workers"] == 64),
    Earlier("mobster.md", "Many trials, 64 workers", f"{COMMAND} large --write"),
)
BASELINES, BASELINES_MLP = OnRecord("mobster", "figure5", of=others), OnRecord("mobster", "figure5-mlp", of=mlp)
HALVING, HALVING_MLP = OnRecord("mobster", "figure3", of=others), OnRecord("mobster", "figure3-mlp", of=mlp)
BASELINES_LONGER = OnRecord("mobster", "figure5-mlp", (f"--trainings {LONGER} --seeds 5",), longer)
BASELINES_CELLS = OnRecord("mobster", "figure5", (f"--problems {','.join(NB201)} --seeds 20",), cells)
HALVING_CELLS = OnRecord("mobster", "figure3", ("--problems nb201-cifar10 --seeds 20",), cells)
SCHEDULERS = OnRecord("multifidelity", "schedulers", of=lambda task: task.method != "signs")
SIGNS = OnRecord("multifidelity", "signs", of=lambda task: task.method == "signs")
FIGURE3_MLP, FIGURE3_CELLS, FIGURE5_MLP, FIGURE5_CELLS = (
    f"mobster-figure{number}-{where}.svg" for number in (3, 5) for where in ("mlp", "cells")
)
MEAN, RANK = "geometric mean", "mean rank of the final regret"


# ---------------------------------------------------------------- Figures 4 and 10


def share_rows() -> Iterator[Row]:
    for count, new in SHARES.items():
        source = new if new.found else SHARE_BEFORE
        values = [cell(source, MEAN, f"mobster{variant}, {count}") for variant in VARIANTS.values()]
        text = f"{count} workers: after {values[0]:.2f} (promotion) and {values[1]:.2f} (stopping) of ASHA's time"
        if source is SHARE_BEFORE:
            text += ", in runs made before"
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


def before() -> tuple[Source, ...]:
    """The table made before records were kept, as long as there are numbers of workers that only it has."""
    return () if all(source.found for source in SHARES.values()) else (SHARE_BEFORE,)


def told_before() -> str:
    missing = ", ".join(str(count) for count, source in SHARES.items() if not source.found)
    text = (
        f"The last table of shares, for {missing} workers, was made before, without the MLP and with another ladder. "
    )
    return text if missing else ""


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


TWO_RUNGS = (
    "NAS-Bench-201 has losses after 12 epochs (a schedule of its own, from which no training goes on) and after 200 in the "
    "data at hand, so two rungs; true curves of every epoch are there of three cells only."
)
PAPER = Paper(
    "MOBSTER",
    "Klein et al. (2020), *Model-based Asynchronous Hyperparameter and Neural Architecture Search*.",
    (
        Entry(
            "Figures 1, 2, 7, 8, 9: synchronous and asynchronous, stopping and promotion; Tables 1 to 4: search spaces",
            "Illustrations, and the spaces of the MLP, the ResNet, the LSTM and NAS-Bench-201.",
            "The illustrations from our schedulers: [Schedulers](schedulers.md). Of the spaces, those of the MLP and of "
            "NAS-Bench-201 are here: [Problems](problems.md).",
        ),
        Entry(
            "Figures 3 and 5 on the MLP itself",
            "The MLP on electricity, 4 workers, 81 epochs, 20 runs.",
            "A table of 2,048 MLPs that were trained on a GPU (`python -m benchmarks.electricity_table`), each configuration "
            "with the curve of the nearest; simulated time. Six trainings per worker, which are 402 s, and in the second table "
            "24, since the paper's searches seem to last longer: it calls the first 500 s the early phase. Figure 3 has the "
            "paper's ladder, rungs at 1, 3, 9, 27 and 81 epochs, Figure 5 every method as its name gives it here (*ts* and "
            "*boca* stand for Dragonfly).",
            (BASELINES_MLP, BASELINES_LONGER, HALVING_MLP),
            mlp_rows,
            pictures=(
                (FIGURE5_MLP, "Figure 5 on the MLP: the mean regret of all baselines over time"),
                (FIGURE3_MLP, "Figure 3 on the MLP: the mean regret of halving and Hyperband over time"),
            ),
        ),
        Entry(
            "Figures 3, 5 and 10 on NAS-Bench-201",
            "The cells of NAS-Bench-201, 8 workers, 20 runs; CIFAR-10 in Figures 3 and 5, the other data sets in Figure 10.",
            f"Four trainings per worker in simulated time; *ts* and *boca* stand for Dragonfly. {TWO_RUNGS} So r_min is 12.",
            (BASELINES_CELLS, HALVING_CELLS),
            cell_rows,
            pictures=(
                (FIGURE5_CELLS, "Figure 5 on NAS-Bench-201, CIFAR-10: the mean regret of all baselines over time"),
                (
                    FIGURE3_CELLS,
                    "Figure 3 on NAS-Bench-201, CIFAR-10: the mean regret of halving and Hyperband over time",
                ),
            ),
        ),
        Entry(
            "Figure 3: successive halving or Hyperband, promotion or stopping",
            "On the MLP (electricity) and on NAS-Bench-201, r_min = 1 is as good as or better than Hyperband.",
            "Problems besides these two, with the paper's ladder; eight workers, four trainings per worker. The second table: "
            "four LCBench surrogates and NAS-Bench-201, twenty trainings, random configurations; the third, how much the first "
            f"rungs say. {TWO_RUNGS}",
            (HALVING, SCHEDULERS, SIGNS),
            scheduler_rows,
        ),
        Entry(
            "Figure 4, top: surrogates",
            "Matérn and three kinds of exponential decay under promotion and stopping.",
            f"The MLP and 16 other problems in simulated time, four workers, {KERNEL_SEEDS} seeds (the paper: 20), our ladder."
            if isinstance(SURROGATES, OnRecord)
            else "Sixteen problems in simulated time, four workers, five seeds (20 in the paper).",
            (SURROGATES,),
            surrogate_rows,
        ),
        Entry(
            "Figure 4, bottom; Figure 10: against ASHA, with more and more workers",
            "MOBSTER reaches ASHA's accuracy sooner, with 2 to 16 workers.",
            "Simulated time on the MLP, LCBench surrogates, Klein's CNN curves and NAS-Bench-201; six trainings per worker. "
            f"{told_before()}{TWO_RUNGS}",
            (*(source for source in SHARES.values() if source.found), *before(), LARGE),
            share_rows,
        ),
        Entry(
            "Figure 5: all baselines",
            "RS, BO, BOHB, Hyperband, ASHA, Dragonfly; 20 runs each.",
            "Problems besides the MLP and NAS-Bench-201, eight workers, four trainings per worker; *ts* and *boca* stand for "
            "Dragonfly.",
            (BASELINES,),
            baseline_rows,
        ),
        Entry(
            "Figure 6: LSTM and ResNet",
            "On WikiText-2 and CIFAR-10.",
            "Not run; Klein's recorded CNN curves in the table above come nearest.",
            missing="there is no experiment for it.",
        ),
    ),
    "mobster.md",
)
