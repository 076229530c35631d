"""The papers' tables and figures beside ours, from the records: ``python -m benchmarks.pages`` makes docs/results.md."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.budgets import VALIDATION
from benchmarks.cotrain import PAPER as MNIST, USUAL, alike, pooled
from benchmarks.dngo import TABLE1
from benchmarks.harness.compared import (
    FEWEST,
    SAME,
    USED,
    Row,
    chosen,
    claim,
    number,
    of,
    records,
    unmade,
    with_commits,
)
from benchmarks.harness.machine import ROOT
from benchmarks.harness.records import Record, best_after
from benchmarks.harness.report import mean_and_error, table
from benchmarks.harness.simulated import Comparison, sign_test, tally
from benchmarks.mobster import DUELS, FIGURE5, KERNELS, PAPER, SYNE_TUNE
from benchmarks.nasbot_real import PLAIN, missing
from benchmarks.workloads.architecture_search import DOMAINS
from benchmarks.workloads.dngo_crowds import CROWDS, PENDING
from benchmarks.workloads.mlp_training import TRAININGS

PAGE = ROOT / "docs" / "results.md"
CIFAR = "…cifar"
"""Trainings on CIFAR-10 that took a GPU. Their records are here, their programs in the commit that the page names."""
HEADS = ("table or figure", "the paper", "here", "seeds", "verdict", "commit", "`python -m benchmarks.…`")
HEAD = """# Results beside the papers

One row for each table or figure of the four papers: their number or claim, ours ± its standard error over the seeds, and
whether the two agree. *Equal* is within one percent or two standard errors; where the paper draws curves and prints no number,
its claim is compared: *level* is within two standard errors, or p > 0.05 of a sign test. Below three seeds there is no
verdict. Each row is made by the command in its last column, from runs of the commit beside it (of several, where seeds were
added later), and this page by `python -m benchmarks.pages` from `benchmarks/records`; a test checks that it is up to date.
Lower is better unless said.
The trainings on CIFAR-10 took a GPU; their programs are `nasbot_cifar` and `dngo_cifar` of commit 023aeac.
"""


# ---------------------------------------------------------------- one paper after the other


def nasbot() -> Iterator[Row]:
    names = {"nasbot": "NASBOT", "evolution": "EA", "nasbot-random": "RAND", "treebo": "TreeBO"}
    search, command = (
        {"nasbot": 0.1209, "evolution": 0.1411, "nasbot-random": 0.1342, "treebo": 0.1533},
        CIFAR,
    )
    for method, paper in search.items():
        found = [each["test"] for each in of("nasbot_cifar", "cifar10", method)]
        yield number(f"Table 3, Figure 2: CIFAR-10, test error, {names[method]}", paper, found, command)
    for method, paper in {
        "nasbot": 0.0869,
        "evolution": 0.0915,
        "nasbot-random": 0.0914,
        "treebo": 0.1121,
        "vgg-19": 0.1018,
    }.items():
        found = [each["test"] for each in of("nasbot_cifar", "winner", method, epochs=80)]
        yield number(f"Table 3: winners trained longer, {names.get(method, method)}", paper, found, CIFAR)
    errors = {"naval": (0.0075, 0.0075, 0.0079, 0.0103, 0.0102), "protein": (0.902, 0.902, 1.010, 0.948, 0.998)}
    for problem, papers in errors.items():
        for (method, name), paper in zip(
            {"nasbot-paper": "NASBOT as in the paper", **names}.items(), papers, strict=True
        ):
            runs = of("nasbot_real", problem, method, evaluations=50, **TRAININGS["full"])
            found = [statistics.median(each["tests"]) for each in runs]
            if found:
                what = f"Table 3: {problem}, {name} (at most 256 units, 3,000 steps of Adam)"
                yield number(what, paper, found, "nasbot_real --part mlp")
    yield unmade("Table 3: blog, indoor, slice, news", "0.731, 0.117, 0.615, 0.752", "the data are not at hand")
    for method, paper in {"nasbot": 46.13, "nasbot-random": 26.43, "evolution": 0.19, "treebo": 7.83}.items():
        seconds = [
            each["processor"] / 100
            for f in ("f1", "f2")
            for each in of("nasbot", f, method, workers=1, evaluations=100)
        ]
        yield number(
            f"Section 5: seconds for a network, {names[method]}", paper, seconds, "nasbot --part search", "{:.2g}"
        )
    for what, told, methods in FIGURE7:
        ends = {name: [highest(function, method) for function in DOMAINS] for name, method in methods.items()}
        if not all(each for found in ends.values() for each in found):
            yield unmade(what, told, "not run yet by `nasbot-paper`")
            continue
        first, *others = ([statistics.mean(each) for each in found] for found in ends.values())
        here = "; ".join(
            f"{f} " + ", ".join(f"{name} {statistics.mean(found[place]):.3g}" for name, found in ends.items())
            for place, f in enumerate(DOMAINS)
        )
        gaps = [statistics.mean(first) - statistics.mean(each) for each in others]
        error = math.hypot(*(mean_and_error(each)[1] for each in ends[next(iter(ends))])) / len(DOMAINS)
        holds = max(map(abs, gaps)) <= 2 * math.sqrt(2) * error if "differ" in told else min(gaps) > 0
        seeds = min(len(each) for found in ends.values() for each in found)
        what = f"{what}, after {NETWORKS} networks (higher is better)"
        yield claim(what, told, here, seeds, holds, f"nasbot --part ablation --evaluations {NETWORKS}")
    for problem in ("naval", "electricity"):
        runs = {method: chosen("nasbot_tradeoffs", problem, method) for method in PLAIN}
        runs = {method: each for method, each in runs.items() if each}
        shares = zip(runs, missing(list(runs.values()), 40), strict=True)
        here = ", ".join(f"{names.get(method, method)} {statistics.mean(each):.3f}" for method, each in shares)
        what = f"Two objectives: {problem}, error × weights of MLPs, share of the front missed after 40"
        yield what, "–", here, str(len(runs["nasbot"])), "–", "nasbot_real --part tradeoffs"
    yield unmade("Figures 4, 6, 8 to 19: distances, the networks found", "pictures", "drawn in [NASBOT](nasbot.md)")


FIGURE7 = (
    ("Section 5: f1 to f3", "NASBOT ahead of EA", {"NASBOT": "nasbot-paper", "EA": "evolution"}),
    (
        "Figure 7a: distances",
        "both ahead of each alone",
        {"both": "nasbot-paper", "d̄": "paper: only d̄", "d": "paper: only d"},
    ),
    (
        "Figure 7b: modifiers",
        "all ahead of a part",
        {"all": "nasbot-paper", "units": "paper: modifiers of units", "structure": "paper: modifiers of structure"},
    ),
    (
        "Figure 7c: p, p̄",
        "they hardly differ",
        {"1, 2": "nasbot-paper", "1, 1": "paper: p = p̄ = 1", "2, 2": "paper: p = p̄ = 2"},
    ),
)
"""What is compared, the paper's claim, and method by name, of which it is the first that is ahead."""


NETWORKS = 40
"""Of the 100 of the paper's figures: a suggestion by ``nasbot-paper`` takes a second."""


def highest(function: str, method: str) -> list[float]:
    """The highest value of the first networks of each search."""
    return [-best_after(each["best"], NETWORKS) for each in of("nasbot", function, method, workers=1)]


def dngo() -> Iterator[Row]:
    for problem, (count, _, paper) in TABLE1.items():
        for method in ("xstar-dngo-paper", "xstar-dngo"):
            found = [best_after(each["best"], count) for each in of("quality", problem, method)]
            if found:
                what = f"Table 1: {problem} after {count}, `{method.removeprefix('xstar-')}`"
                yield number(what, float(paper), found, "dngo --part table1", "{:.5g}")
    times = {n: of("dngo", "hartmann6", "xstar-dngo", part="figure1", n=n)[0]["seconds"] for n in (1000, 100_000)}
    here = "{:.0f} ms after 1,000 observations, {:.0f} ms after 100,000".format(
        *(1e3 * each for each in times.values())
    )
    yield ("Figure 1: time of a decision", "linear in n, a GP cubic", here, "1", "–", "dngo --part figure1")
    tanh, relu = (
        [each["best"][-1][1] for each in of("dngo", "hartmann6", m, part="variants")] for m in ("ours", "ours: ReLU")
    )
    ends = statistics.mean(tanh), statistics.mean(relu)
    here = "Hartmann's function: tanh {:.3f}, ReLU {:.3f}".format(*ends)
    yield claim(
        "Figure 2: activations", "tanh rather than ReLU", here, len(tanh), ends[0] < ends[1], "dngo --part variants"
    )
    crowd = {
        m: [e["best"][-1][1] for e in of("dngo", "captions", m, workers=800)]
        for m in ("xstar-dngo", "optuna-tpe", "xstar-random")
    }
    here = "simulated, best loss: DNGO {:.3f}, TPE {:.3f}, random {:.3f}".format(*map(statistics.mean, crowd.values()))
    what = "Table 2, Figures 3 and 5: captions, 2,500 trials by 800 workers"
    ahead = statistics.mean(crowd["xstar-dngo"]) < statistics.mean(crowd["optuna-tpe"])
    yield claim(what, "BLEU-4 26.7, as the best by hand", here, len(crowd["xstar-dngo"]), ahead, "dngo --part workers")
    for workers, trials in CROWDS.items():
        runs = [[e["best"][-1][1] for e in of("dngo", "captions", m, workers=workers, trials=trials)] for m in PENDING]
        if any(len(each) < FEWEST for each in runs):
            USED.clear()
            continue
        here = "best loss, spread {} ± {}, fantasies {} ± {}".format(
            *(f"{number:.2g}" for each in runs for number in mean_and_error(each))
        )
        what, seeds = f"Section 3.3: {workers} running trials", min(map(len, runs))
        yield what, "fantasies of all that runs", here, str(seeds), "–", "dngo --part pending"
    final = [each["test"] for each in of("dngo_cifar", "final", "dngo")]
    yield number("Table 4, Figure 4: CIFAR-10, test error (100 epochs, not 350)", 0.0637, final, CIFAR)
    yield unmade("Table 4: CIFAR-100", "0.274", "the data are not at hand")


LEVEL = 0.05
"""p of a sign test above which two sides are level."""
LENGTH: dict[str, Any] = {"workers": 4, "trainings": 24.0}
SHORTER: dict[str, Any] = {"workers": 4, "trainings": 8.0}
"""As long as Syne Tune's decisions could be waited for on the MLP."""


def mobster() -> Iterator[Row]:
    claims = {
        "promotion against stopping": "promotion ends lower",
        "one bracket against all": "r_min = 1 is as good or better",
        "model against random": "the model ends lower",
    }
    on = {"the MLP": "electricity", "NAS-Bench-201 (12 and 200 epochs)": "nb201-cifar10"}
    for where, problem in on.items():
        runs = comparison(problem)
        for what, pairs in DUELS.items():
            both = [runs.both(*pair) for pair in pairs]
            won, lost = (sum(each) for each in zip(*(tally(each)[0] for each in both), strict=True))
            seeds = min((len(each.get(problem, [])) for each in both), default=0)
            here = f"{won} searches of {won + lost} lower"
            if not seeds:
                continue
            holds = None if sign_test(won, lost) > LEVEL else won > lost
            yield claim(f"Figure 3: {where}, {what}", claims[what], here, seeds, holds, "mobster --part figure3")
    for where, problem in on.items():
        ends, seeds = lowest(problem, KERNELS)
        if len(ends) < 2:
            continue
        here = in_words({KERNELS[method]: end for method, end in ends.items()})
        (best, error), (learned, own) = next(iter(ends.values())), ends[PAPER]
        near = learned - best <= 2 * math.hypot(error, own)
        what = f"Figure 4, top: {where}, kernels"
        yield claim(what, "no clear difference, δ learned ahead", here, seeds, near, "mobster --part figure4")
    for where, problem in on.items():
        ends, seeds = lowest(problem, [m for m in FIGURE5 if m not in ("mobster", "mobster-stop", SYNE_TUNE)])
        if not ends:
            continue
        here = in_words(dict(list(ends.items())[:5]))
        holds = ahead(ends, [method for method in ends if method.startswith(PAPER)])
        yield claim(f"Figure 5: {where}", "MOBSTER lowest", here, seeds, holds, "mobster --part figure5")
        others, seeds = lowest(problem, ["mobster", "mobster-stop"])
        what = f"Figure 5: {where}, beside the paper's methods"
        if others:
            yield what, "–", in_words(others), str(seeds), "–", "mobster --part figure5"
        if where != "the MLP":
            ends, seeds = lowest(problem, ["asha", "asha-stop", "s-hb", "s-bohb"])
            what, holds = f"Figure 5: {where}, ASHA", ahead(ends, ["asha", "asha-stop"])
            yield claim(what, "ahead of S-HB and S-BOHB", in_words(ends), seeds, holds, "mobster --part figure5")
    for workers in (4, 8):
        runs = Comparison([r for r in chosen("budgets", workers=workers) if r.task.problem in VALIDATION], workers, 4.0)
        share, both = runs.ratio_of_times("mobster", "asha"), runs.both("mobster", "asha")
        assert share is not None
        here, seeds = (
            f"`mobster` in {share[0]:.2f} of it, {len(both)} tasks, {workers} workers",
            min(map(len, both.values())),
        )
        what = "Figures 4 (bottom), 10: time until ASHA's regret"
        yield claim(what, "half of the time", here, seeds, share[0] <= 0.5, "budgets")
    for length in (LENGTH, SHORTER):
        for where, problem in on.items():
            ends, seeds = lowest(problem, ["mobster-paper", "mobster", "asha", SYNE_TUNE], length)
            if SYNE_TUNE not in ends:
                USED.clear()
            else:
                what = f"Figure 5: {where}, {length['trainings']:g} trainings, Syne Tune's MOBSTER"
                yield what, "–", in_words(ends), str(seeds), "–", "mobster --part figure5"
    if SYNE_TUNE not in {record.task.method for record in records("mobster")}:
        yield unmade(
            "Figure 5: Syne Tune's MOBSTER",
            "–",
            "0.14 of a search of the MLP took 73 s of a processor, 0.25 of one of NAS-Bench-201 76 s",
        )
    yield unmade("Figure 6: LSTM and ResNet", "MOBSTER ahead", "the trainings are not at hand")


def comparison(problem: str, length: dict[str, Any] = LENGTH) -> Comparison:
    return Comparison(chosen("mobster", problem, workers=length["workers"]), **length)


def lowest(
    problem: str, methods: Iterable[str], length: dict[str, Any] = LENGTH
) -> tuple[dict[str, tuple[float, float]], int]:
    """The mean loss at the end of each method with enough seeds and its standard error, best first; and the seeds of all."""
    runs = comparison(problem, length)
    there = [method for method in methods if len(runs.seeds(problem, method)) >= FEWEST]
    seeds = runs.seeds(problem, *there) if there else []
    found = {m: mean_and_error([runs.runs[problem][m][seed]["best"][-1][1] for seed in seeds]) for m in there}
    return dict(sorted(found.items(), key=lambda each: each[1][0])), len(seeds)


def ahead(ends: Mapping[str, tuple[float, float]], ours: Sequence[str]) -> bool | None:
    """Whether the best of ours ends lower than the best of the others; None: within two standard errors."""
    (low, error), (other, own) = (
        min(end for method, end in ends.items() if (method in ours) == mine) for mine in (True, False)
    )
    return None if abs(low - other) <= 2 * math.hypot(error, own) else low < other


def in_words(ends: dict[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {mean:.4g} ± {error:.1g}" for name, (mean, error) in ends.items())


def igo() -> Iterator[Row]:
    def calls(problem: str, method: str, n: int) -> list[float]:
        found = [each for run in of("igo", problem, method, n=n, part="figure 1") for each in run["calls"]]
        return sorted(math.inf if each is None else each for each in found)

    def middle(values: Sequence[float]) -> str:
        return f"{value:,.0f}" if math.isfinite(value := statistics.median(values)) else "beyond the limit"

    sizes = {"OneMax": (100, 300, 1000, 3000), "LeadingOnes": (100, 300, 1000)}
    for problem, n in ((problem, n) for problem, each in sizes.items() for n in each):
        ours, theirs, small = (calls(problem, method, n) for method in ("PBIL-λ", "cGA, ε = 1/n", "PBIL-ε"))
        if not ours or not theirs:
            continue
        here = f"median calls: PBIL-λ {middle(ours)}, cGA {middle(theirs)}"
        what, holds = f"Figure 1: {problem}, n = {n:,}", statistics.median(ours) <= statistics.median(theirs)
        yield claim(what, "PBIL-λ as soon as cGA or sooner", here, len(ours), holds, "igo --part figure1")
        listed = [calls(problem, f"{method}, listing", n) for method in ("PBIL-λ", "PBIL-ε")]
        here = f"PBIL-λ {middle(ours)}, PBIL-ε {middle(small)}"
        if all(listed):
            here += f"; as listed, not by eq. 10: {middle(listed[0])}, {middle(listed[1])}"
        slower = statistics.median(small) >= statistics.median(ours)
        yield claim(f"{what}, PBIL-ε", "slower than PBIL-λ", here, len(small), slower, "igo --part figure1")
    for problem in sizes:
        by, listed = (
            [size for run in of("igo", problem, method, n=1000, part="figure 1") for size in run.get("largest", ())]
            for method in ("PBIL-λ", "PBIL-λ, listing")
        )
        if by and listed:
            peak = statistics.median(by)
            here = f"the largest, median: {peak:.1f} by eq. 10, {statistics.median(listed):.1f} as listed"
            near = 12 <= peak <= 20
            yield claim(f"Section 4: λ, {problem}, n = 1,000", "around 16", here, len(by), near, "igo --part figure1")
    for what, key in (("Figure 2: layers of an MLP", "layers"), ("Figure 3: activations", "activations")):
        of_key = [r for r in records("cotrain") if r.task.problem == key]
        task, run, _ = max(pooled(of_key), key=lambda run: (run[2], run[1]["iterations"]))
        USED[:] = [r for r in of_key if alike(r) == alike(Record(task, run, {}))]
        how = f"{run['iterations']:,} steps, rate {task['rate']:g}, weights of {task.get('init') or USUAL}"
        for method, (paper, *_) in MNIST[key].items():
            errors = run["curve"][-1][method]["error"]
            median, seeds = statistics.median(errors), len(errors)
            less = "equal" if abs(median - paper) <= SAME * paper else "better" if median < paper else "worse"
            shown = f"{median:.3f} (median)"
            yield (
                f"{what}, {method}, test error in % ({how})",
                f"{paper:.3f}",
                shown,
                str(seeds),
                less if seeds >= FEWEST else "–",
                "cotrain --part mnist",
            )
        if key == "activations":
            ends = {method: statistics.median(run["curve"][-1][method]["error"]) for method in MNIST[key]}
            here = ", ".join(f"{method} {end:.3f}" for method, end in ends.items())
            learned, fixed = (max(ends[m] for m in ("PBIL-λ", "PBIL-ε")), min(ends["ReLU"], ends["tanh"]))
            told = "PBIL-λ and PBIL-ε below tanh and ReLU"
            yield claim(
                "Figure 3: learned beside fixed", told, here, len(errors), learned < fixed, "cotrain --part mnist"
            )
    yield from fixed_networks()
    calls = {
        r.task.method: statistics.median(sorted(math.inf if each is None else each for each in r.found["calls"]))
        for r in chosen("igo", "OneMax", n=300, part="figure 4")
    }
    worst = max(calls.values()) / min(calls.values())
    here = f"OneMax, n = 300: {worst:.2f} times"
    runs = min((len(r.found["calls"]) for r in chosen("igo", "OneMax", n=300, part="figure 4")), default=0)
    yield claim(
        "Figure 4: α", "at most 1.4 times the calls of the best α", here, runs, worst <= 1.4, "igo --part figure4"
    )


def fixed_networks() -> Iterator[Row]:
    """Of all weights and rates that were tried, those whose networks end nearest to the paper's."""
    paper = {kind: MNIST["activations"][kind][0] for kind in ("tanh", "ReLU")}
    for run in chosen("cotrain", "fixed"):
        ends: dict[tuple[str, float], dict[str, float]] = {}
        for cell in run.found["curve"][-1]["cells"]:
            ends.setdefault((cell["init"], cell["rate"]), {})[cell["kind"]] = statistics.median(cell["error"])
        off = {how: max(abs(end[kind] - paper[kind]) for kind in paper) for how, end in ends.items()}
        init, rate = nearest = min(off, key=lambda how: off[how])
        told, here = (
            ", ".join(f"{kind} {value:.3f}" for kind, value in each.items()) for each in (paper, ends[nearest])
        )
        what = f"Figure 3: fixed networks, the nearest of {len(ends)} settings ({run.found['iterations']:,} steps)"
        here = f"weights of {init}, rate {rate:g}: {here} (medians)"
        yield claim(what, told, here, run.task["seeds"], off[nearest] <= SAME * paper["tanh"], "cotrain --part fixed")


PAPERS: dict[str, Callable[[], Iterator[Row]]] = {
    "NASBOT and OTMANN (Kandasamy et al. 2018), [how it is done here](nasbot.md)": nasbot,
    "DNGO (Snoek et al. 2015), [how it is done here](dngo.md)": dngo,
    "MOBSTER (Klein et al. 2020), [how it is done here](mobster.md)": mobster,
    "Parameterless IGO (Nishida et al. 2018), [how it is done here](igo.md)": igo,
}


def page() -> str:
    blocks = [HEAD]
    for title, rows in PAPERS.items():
        lines = [(*row[:5], commit, f"`{row[5]}`" if row[5] != "–" else "–") for row, commit in with_commits(rows())]
        blocks.append("\n".join((f"## {title}\n", *table(HEADS, lines, left=len(HEADS)))) + "\n")
    return "\n".join(blocks)
