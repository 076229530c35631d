"""MOBSTER (Klein et al. 2020), figure by figure. The paper prints curves, no numbers: its claims are compared."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.harness.records import best_after
from benchmarks.mobster import DUELS, FIGURE5, duel
from benchmarks.papers.entry import Entry, Paper, Row, claim
from benchmarks.papers.sources import Earlier, OnRecord, cell

SHARE = Earlier("mobster.md", "Share of ASHA's time", "python -m benchmarks.mobster --part time --write")
SURROGATES = Earlier(
    "mobster.md", "Surrogates, four workers", "python -m benchmarks.mobster --part time --kernels --write"
)
LARGE = Earlier("mobster.md", "Many trials, 64 workers", "python -m benchmarks.mobster --part time --large --write")
BASELINES = OnRecord("mobster", "figure5", of=lambda task: task.problem != "electricity")
HALVING = OnRecord(
    "mobster", "figure3", ("--problems curves-mlp,curves-optimizer",), lambda task: task.problem != "electricity"
)
SCHEDULERS = Earlier("multifidelity.md", "Mean rank", "python -m benchmarks.multifidelity --processes 2 --write")
ELECTRICITY = tuple(
    OnRecord("mobster", part, ("--problems electricity", "--workers 4"), lambda task: task.problem == "electricity")
    for part in ("figure3", "figure5")
)
MEAN = "geometric mean"


def share_rows() -> Iterator[Row]:
    for count in (2, 4, 8, 16):
        values = [cell(SHARE, MEAN, f"mobster{variant}, {count}") for variant in ("", "-stop")]
        text = f"{count} workers: after {values[0]:.2f} (promotion) and {values[1]:.2f} (stopping) of ASHA's time"
        yield claim("MOBSTER reaches ASHA's final regret sooner", text, max(values) < 1.0)
    stuck = cell(SHARE, "klein-cnn", "mobster, 8")
    yield claim(
        "on every benchmark", f"on Klein's CNN curves it does not within ASHA's time (factor {stuck:.2f})", stuck < 1.0
    )


def surrogate_rows() -> Iterator[Row]:
    kinds = ("mobster", "mobster:matern", "mobster:decay", "mobster:decay-0", "mobster:decay-1")
    found = {name: cell(SURROGATES, name, "mean rank of the final regret") for name in kinds}
    text = ", ".join(f"{name} {rank:.1f}" for name, rank in found.items())
    plain = cell(SURROGATES, "asha", "mean rank of the final regret")
    # A kernel that is no better than no model at all is a trend.
    holds = max(found.values()) < plain
    yield claim("no consistent trend among the kernels", f"mean ranks: {text}; ASHA without a model {plain:.1f}", holds)


def baseline_rows() -> Iterator[Row]:
    places: dict[str, list[int]] = {method: [] for method in FIGURE5}
    for problem in BASELINES.results.problems:
        for count in {record.task["workers"] for record in BASELINES.results.of(problem)}:
            ends = {
                method: statistics.mean(
                    best_after(record.found["best"], record.found["seconds"])
                    for record in BASELINES.results.of(problem, method, workers=count)
                )
                for method in FIGURE5
                if BASELINES.results.of(problem, method, workers=count)
            }
            if len(ends) < len(FIGURE5):
                continue
            for method in ends:
                places[method].append(1 + sum(other < ends[method] for other in ends.values()))
    ranks = {method: statistics.mean(each) for method, each in places.items() if each}
    text = ", ".join(f"{name} {rank:.1f}" for name, rank in sorted(ranks.items(), key=lambda pair: pair[1]))
    yield claim(
        "MOBSTER is ahead of all baselines", f"mean ranks at the end: {text}", ranks["mobster"] <= min(ranks.values())
    )


def wins(what: str) -> tuple[int, int]:
    """Over all kinds of searches on record: how often the one ends with the lower regret, and how often the other."""
    found = [duel(HALVING.results, *pair) for pair in DUELS[what]]
    return sum(one for _, one, _ in found), sum(other for _, _, other in found)


def scheduler_rows() -> Iterator[Row]:
    if HALVING.found:
        one, other = wins("promotion against stopping")
        yield claim(
            "promotion ends better than stopping",
            f"lower regret in {one} pairs of searches, higher in {other}",
            one > other,
        )
        one, other = wins("r_min = 1 against Hyperband")
        yield claim(
            "r_min = 1 is as good as Hyperband or better",
            f"lower regret in {one} pairs, higher in {other}",
            one >= other,
        )
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


PAPER = Paper(
    "MOBSTER",
    "Klein et al. (2020), *Model-based Asynchronous Hyperparameter and Neural Architecture Search*.",
    (
        Entry(
            "Figures 1 and 2: synchronous and asynchronous, stopping and promotion",
            "Illustrations.",
            "The same from our schedulers: [Schedulers](schedulers.md).",
        ),
        Entry(
            "Figure 3: successive halving or Hyperband, promotion or stopping",
            "On the MLP (electricity) and on NAS-Bench-201, r_min = 1 is as good as or better than Hyperband.",
            "Synthetic learning curves of the library, eight workers, four trainings per worker. The second table: "
            "four LCBench surrogates and NAS-Bench-201 from its 12-epoch schedule on, twenty trainings, random configurations.",
            (HALVING, SCHEDULERS),
            scheduler_rows,
        ),
        Entry(
            "Figure 4, top: surrogates",
            "Matérn and three kinds of exponential decay under promotion and stopping.",
            "Sixteen problems in simulated time, four workers, five seeds (20 in the paper).",
            (SURROGATES,),
            surrogate_rows,
        ),
        Entry(
            "Figure 4, bottom; Figure 10: against ASHA, with more and more workers",
            "MOBSTER reaches ASHA's accuracy sooner, with 2 to 16 workers.",
            "Simulated time on LCBench surrogates, Klein's CNN curves and NAS-Bench-201; six trainings per worker; "
            "NAS-Bench-201 has two fidelities in the data at hand, not every epoch.",
            (SHARE, LARGE),
            share_rows,
        ),
        Entry(
            "Figure 5: all baselines",
            "RS, BO, BOHB, Hyperband, ASHA, Dragonfly; 20 runs each.",
            "Synthetic learning curves of the library, three seeds, eight workers; *ts* and *boca* stand for Dragonfly.",
            (BASELINES,),
            baseline_rows,
        ),
        Entry(
            "Figures 3 and 5 on the MLP itself",
            "The MLP on electricity, 4 workers, 81 epochs.",
            "A table of MLPs trained on a GPU, each configuration with the curve of the nearest; "
            "`python -m benchmarks.electricity_table` makes it.",
            ELECTRICITY,
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
