"""DNGO (Snoek et al. 2015), table by table."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.dngo import BASIN, TABLE1, VARIANTS
from benchmarks.papers.entry import Entry, Paper, Row, claim, compare
from benchmarks.papers.sources import Earlier, OnRecord, cell

TABLE = Earlier("dngo.md", "Table 1: the best loss found", "python -m benchmarks.dngo --part table1 --write")
WHICH = OnRecord("dngo", "variants", (), lambda task: task.get("part") == "variants")
TIME = Earlier("dngo.md", "Figure 1: processor time", "python -m benchmarks.dngo --part figure1 --write")
HEAD = Earlier("dngo.md", "The linear part, and training on a GPU", "python -m benchmarks.dngo --part head --write")
CALIBRATION = OnRecord("dngo", "calibration", (), lambda task: task.get("part") == "calibration")
INTERVALS = Earlier("dngo.md", "How often the truth lies", "python -m benchmarks.dngo --part calibration --write")
CROWD = Earlier("dngo.md", "Hundreds of workers", "python -m benchmarks.dngo --part workers --write")


def table_rows() -> Iterator[Row]:
    for problem, (count, _, paper) in TABLE1.items():
        yield compare(f"{problem} after {count}", float(paper), cell(TABLE, problem, "xstar-dngo"), "{:.6g}")


def variant_rows() -> Iterator[Row]:
    for variant in ("paper", "ours"):
        ends = [record.found["best"][-1][1] for record in WHICH.results.of("hartmann6", variant)]
        if ends:
            inside = (
                f"{variant}: Hartmann's function, {sum(end < BASIN for end in ends)} of {len(ends)} in the lowest basin"
            )
            yield compare(inside, -3.319, statistics.mean(ends), "{:.4f}")


def time_rows() -> Iterator[Row]:
    first, last = cell(TIME, "1,000", "xstar-dngo"), cell(TIME, "100,000", "xstar-dngo")
    yield claim(
        "linear cost: a suggestion does not slow down as a GP's does",
        f"{first:.0f} ms after 1,000 observations, {last:.0f} ms after 100,000",
        last < 2 * first,
    )


def activation_rows() -> Iterator[Row]:
    for who in ("ours", "paper"):
        ends = {
            name: [record.found["best"][-1][1] for record in WHICH.results.of("hartmann6", f"{who}{name}")]
            for name in ("", ": ReLU")
        }
        if all(ends.values()):
            tanh, relu = (statistics.mean(each) for each in ends.values())
            yield claim("tanh rather than ReLU", f"{who}: tanh {tanh:.4f}, ReLU {relu:.4f}", tanh < relu)


PAPER = Paper(
    "DNGO",
    "Snoek et al. (2015), *Scalable Bayesian Optimization Using Deep Neural Networks*.",
    (
        Entry(
            "Table 1: five problems",
            "The best loss found, ten runs each.",
            "The problems and their numbers of evaluations are the paper's. `xstar-dngo` has ten networks instead of one.",
            (TABLE,),
            table_rows,
        ),
        Entry(
            "Table 1, Hartmann's function: which settings matter",
            "DNGO ends at -3.319 ± 0.00 after 200 evaluations.",
            f"Those on record of {len(VARIANTS)} variants between ours and the paper's. The paper tuned its networks' training "
            "by Bayesian optimisation and does not publish the values; ours are trained by Adam at counts of a schedule.",
            (WHICH,),
            variant_rows,
        ),
        Entry(
            "Figure 1: the time of a decision",
            "Seconds per iteration of DNGO and of a GP, over the number of observations.",
            "Processor time of a suggestion, amortised, and peak memory. Our GP keeps at most a fixed number of observations.",
            (TIME, HEAD),
            time_rows,
        ),
        Entry(
            "Figure 2: activations",
            "Predictions with tanh, ReLU, and ReLU with tanh last: ReLU's uncertainty explodes.",
            "The same picture from our networks, in [DNGO](dngo.md#ten-networks-instead-of-one); how often the truth lies "
            "within the intervals; and what a search finds with each.",
            (CALIBRATION if CALIBRATION.found else INTERVALS,),
            activation_rows,
        ),
        Entry(
            "Table 2, Figures 3 and 5, Table 7: image captions",
            "2,500 trials of a language model on MS COCO, 800 at a time, most of them infeasible; BLEU-4 26.7.",
            "The model and its data are not at hand: a simulated problem with as many workers and as large an infeasible part.",
            (CROWD,),
        ),
        Entry(
            "Table 4, Figure 4, Tables 3, 5, 6: CIFAR-10 and CIFAR-100",
            "Test errors 6.37 % and 27.4 % of a tuned CNN, 200 epochs each, 350 for the winner.",
            "Not run: hundreds of trainings of 200 epochs are days of one GPU.",
            missing="there is no experiment for it.",
        ),
    ),
    "dngo.md",
)
