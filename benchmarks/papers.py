"""The papers' tables and figures beside ours, from the records: ``python -m benchmarks.pages`` makes docs/results.md."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.budgets import VALIDATION
from benchmarks.cotrain import PAPER as MNIST, pooled
from benchmarks.dngo import TABLE1
from benchmarks.harness.compared import BAD, FEWEST, GOOD, Group, Paper, Row, ahead, by_seed, chosen, number, records
from benchmarks.harness.machine import ROOT
from benchmarks.harness.records import best_after
from benchmarks.harness.report import table
from benchmarks.harness.simulated import Comparison
from benchmarks.mobster import DUELS, KERNELS, PAPER
from benchmarks.workloads.architecture_search import DOMAINS
from benchmarks.workloads.dngo_crowds import CROWDS, PENDING
from benchmarks.workloads.hitting_times import limit
from benchmarks.workloads.mlp_training import TRAININGS

PAGE = ROOT / "docs" / "results.md"
HEADS = ("table or figure", "the paper", "here", "effect (95 % interval)", "seeds", "verdict")
WIDTH = 128
RULE = """**The rule.** Each row has an effect for each seed: by how much ours is better than the paper's number, or
by how much the side that the paper has ahead is ahead of the other one with the same seed; and the 95 % interval of
the mean over seeds (Student's t). *Equal*: all of it within 1 %; *better* and *worse*, of a claim *holds* and
*fails*: all of it on one side of 0; *undecided*: neither. Below three seeds there is no verdict. Lower is better
unless said; means ± standard errors. `python -m benchmarks.pages` makes this page from `benchmarks/records`, where
each run has its commit, machine and versions.
"""
Ends = dict[Any, float]


# ---------------------------------------------------------------- NASBOT

METHODS = {
    "nasbot-paper": "NASBOT",
    "nasbot": "our default",
    "evolution": "EA",
    "nasbot-random": "RAND",
    "treebo": "TreeBO",
}
TABLE3 = {
    "naval": {"nasbot-paper": 0.0075, "nasbot": 0.0075, "evolution": 0.0079, "nasbot-random": 0.0103, "treebo": 0.0102},
    "protein": {"nasbot-paper": 0.902, "nasbot": 0.902, "evolution": 1.010, "nasbot-random": 0.948, "treebo": 0.998},
}
CIFAR = {
    "nasbot": (0.1209, 0.0869),
    "evolution": (0.1411, 0.0915),
    "nasbot-random": (0.1342, 0.0914),
    "treebo": (0.1533, 0.1121),
}
"""Test errors of the search, and of winners that were trained longer."""
SECONDS = {"nasbot-paper": 46.13, "nasbot": 46.13, "nasbot-random": 26.43, "evolution": 0.19, "treebo": 7.83}
NETWORKS = 40
"""Of the 100 of the paper's figures: a suggestion by ``nasbot-paper`` takes a second."""
FIGURE7 = (
    ("f1 to f3, against EA", "ahead", "nasbot-paper", "evolution", "EA"),
    ("Figure 7a: against d̄ alone", "ahead", "nasbot-paper", "paper: only d̄", "d̄"),
    ("Figure 7a: against d alone", "ahead", "nasbot-paper", "paper: only d", "d"),
    ("Figure 7b: against modifiers of units", "ahead", "nasbot-paper", "paper: modifiers of units", "units"),
    (
        "Figure 7b: against modifiers of structure",
        "ahead",
        "nasbot-paper",
        "paper: modifiers of structure",
        "structure",
    ),
    ("Figure 7c: p = 1, p̄ = 2 and p = p̄ = 1", "alike", "nasbot-paper", "paper: p = p̄ = 1", "1, 1"),
    ("Figure 7c: p = 1, p̄ = 2 and p = p̄ = 2", "alike", "nasbot-paper", "paper: p = p̄ = 2", "2, 2"),
)


def tested(problem: str, method: str) -> Ends:
    """The median test error of the network that each search chose, trained anew."""
    runs = by_seed("nasbot_real", problem, method, evaluations=50, training="full", **TRAININGS["full"])
    return {seed: statistics.median(found["tests"]) for seed, found in runs.items()}


def trained_networks() -> Iterator[Row]:
    for problem, errors in TABLE3.items():
        ends = {method: tested(problem, method) for method in errors}
        for method, paper in errors.items():
            yield number(f"Table 3: {problem}, {METHODS[method]}", paper, list(ends[method].values()), "{:.3g}")
        runs = by_seed("nasbot_real", problem, "nasbot", evaluations=50, training="full", **TRAININGS["full"])
        pool = [found["first"] for found in runs.values()]
        yield number(f"{problem}, no search: the best of the first ten", errors["nasbot"], pool, "{:.3g}")
        for method in ("nasbot-paper", "nasbot"):
            names = METHODS[method], "EA"
            what, both = f"{problem}: {METHODS[method]} against EA", (ends[method], ends["evolution"])
            yield ahead(what, "lower", *both, names=names, log=True, form="{:.3g}")


def highest(method: str) -> Ends:
    """The highest value of the first networks, by function and seed."""
    return {
        (function, seed): -best_after(found["best"], NETWORKS)
        for function in DOMAINS
        for seed, found in by_seed("nasbot", function, method, workers=1).items()
    }


def synthetic() -> Iterator[Row]:
    for what, claim, ours, other, name in FIGURE7:
        both = highest(ours), highest(other)
        names = "NASBOT", name
        yield ahead(what, claim, *both, names=names, claim=claim, higher=True, form="{:.3g}")


def seconds(method: str) -> list[float]:
    evaluations = 40 if method == "nasbot-paper" else 100
    runs = [by_seed("nasbot", f, method, workers=1, evaluations=evaluations) for f in ("f1", "f2")]
    return [found["processor"] / evaluations for of in runs for found in of.values()]


def nasbot() -> Paper:
    how = TRAININGS["full"]
    searched = {m: [r.found["test"] for r in chosen("nasbot_cifar", "cifar10", m)] for m in CIFAR}
    winners = {m: [r.found["test"] for r in chosen("nasbot_cifar", "winner", m, epochs=80)] for m in (*CIFAR, "vgg-19")}
    resnet = chosen("nasbot_cifar", "winner", "resnet-18", epochs=80)[0].found["test"]
    papers = {method: pair[1] for method, pair in CIFAR.items()} | {"vgg-19": 0.1018}
    cifar = [number(f"Table 3, Figure 2: {METHODS[m]}", CIFAR[m][0], searched[m]) for m in CIFAR]
    longer = [number(f"Table 3: {METHODS.get(m, m)}", papers[m], winners[m]) for m in winners]
    spent = [number(METHODS[m], SECONDS[m], seconds(m), "{:.2g}") for m in SECONDS]
    return Paper(
        "NASBOT and OTMANN (Kandasamy et al. 2018), [how it is done here](nasbot.md)",
        (
            Group("CIFAR-10, searches", "", SEARCHES, cifar),
            Group("CIFAR-10, winners trained longer", "", WINNERS.format(resnet), longer),
            Group("MLPs", "nasbot_real --part mlp", TRAINED.format(**how), [*trained_networks()]),
            Group("Synthetic functions", f"nasbot --part ablation --evaluations {NETWORKS}", FUNCTIONS, [*synthetic()]),
            Group("Seconds of a processor for a network", "nasbot --part search", TIMES, spent, brief=True),
        ),
        {
            "Table 3: blog, indoor, slice, news": "the data are not at hand",
            "Table 3: SGD as in the paper": "at the paper's rate, networks of so many units learn nothing of naval propulsion",
            "Table 3: CIFAR-10 by the method as in the paper": "no GPU time yet",
            "Figures 4, 6, 8 to 19: distances, the networks found": "pictures; ours are on the page of NASBOT",
        },
    )


SEARCHES = """60 networks a search by 4 workers, each trained for 8 of the paper's 48 epochs; at most 256 units a
layer and 20 layers (the paper: 1,024 and 60), five of the ten networks of the pool, JPEG of quality 75. All runs are
of our default, none of the method as in the paper. A GPU is needed; the program is not in the repository at
present."""
WINNERS = """The best network of each search for 80 epochs, the paper's for 120 of its own. ResNet-18 by the same
training: {}."""
TRAINED = """50 networks a search, at most {most_units} units a layer and {max_layers} layers, all training rows,
{iterations:,} steps of Adam ({batch} rows, a rate of {rate} that falls to 0), on a GPU. The paper: 1,024 units,
20,000 steps of SGD at 1e-5. Errors are of test, of the network with the lowest validation error, median of three
trainings. The training alone explains the distance to the paper; what a search adds is the difference to the row
without one."""
FUNCTIONS = "40 networks (the paper: 100), three seeds of three functions, paired. Higher is better."
TIMES = "f1 and f2, 100 networks (NASBOT 40). The paper's processor is eight years older."


# ---------------------------------------------------------------- DNGO


def last(file: str, problem: str, method: str, **settings: Any) -> Ends:
    return {seed: found["best"][-1][1] for seed, found in by_seed(file, problem, method, **settings).items()}


def table1() -> Iterator[Row]:
    for problem, (count, _, paper) in TABLE1.items():
        found = [best_after(each["best"], count) for each in by_seed("quality", problem, "xstar-dngo-paper").values()]
        yield number(f"Table 1: {problem} after {count}", float(paper), found, "{:.5g}")
    tanh, relu = (last("dngo", "hartmann6", m, part="variants") for m in ("ours", "ours: ReLU"))
    yield ahead("Figure 2: our default by tanh against ReLU", "tanh ahead", tanh, relu, names=("tanh", "ReLU"))
    times = {n: by_seed("dngo", "hartmann6", "xstar-dngo", part="figure1", n=n)[0]["seconds"] for n in (1000, 100_000)}
    here = f"{1e3 * times[1000]:.0f} ms, then {1e3 * times[100_000]:.0f} ms"
    less = math.log(100.0 * times[1000] / times[100_000])
    yield Row("Figure 1: 100 times as many observations", "100 × the time", here, (less,), factor=True)


def crowds() -> Iterator[Row]:
    crowd = {m: last("dngo", "captions", m, workers=800) for m in ("xstar-dngo", "optuna-tpe", "xstar-random")}
    for other, name in (("optuna-tpe", "TPE"), ("xstar-random", "random")):
        what = f"Section 4: 2,500 trials by 800 workers, against {name}"
        names = "DNGO", name
        yield ahead(what, "ahead", crowd["xstar-dngo"], crowd[other], names=names, log=True, form="{:.3f}")
    for workers, trials in CROWDS.items():
        own, fantasies = (last("dngo", "captions", m, workers=workers, trials=trials) for m in PENDING)
        if len(own.keys() & fantasies.keys()) >= FEWEST:
            what, names = f"Section 3.3: fantasies of {workers} running trials, against ours", ("fantasies", "ours")
            yield ahead(what, "fantasies", fantasies, own, names=names, log=True, form="{:.3f}")


def dngo() -> Paper:
    final = {m: [r.found["test"] for r in chosen("dngo_cifar", "final", m)] for m in ("dngo", "random", "paper")}
    cifar = TUNED.format(final["random"][0], final["paper"][0])
    return Paper(
        "DNGO (Snoek et al. 2015), [how it is done here](dngo.md)",
        (
            Group("Benchmarks", "dngo --part table1|variants|figure1", OPTIMISED, [*table1()]),
            Group("Hundreds of workers", "dngo --part workers|pending", CAPTIONS, [*crowds()]),
            Group("CIFAR-10", "", cifar, [number("Table 4, Figure 4: test error", 0.0637, final["dngo"])]),
        ),
        {"Table 2: BLEU of captions; Table 4: CIFAR-100": "the data are not at hand"},
    )


OPTIMISED = "The method as in the paper with as many evaluations; the figures on Hartmann's function in six dimensions."
CAPTIONS = """A made-up loss with the eleven hyperparameters of the paper's captions, simulated; the paper's BLEU
cannot be compared with it."""
TUNED = """80 trials of 10 epochs, the winner trained for 100 epochs, not 350. One search. Controls by the same
training: the best of random search {}, the hyperparameters that the paper found {}. A GPU is needed; the program is
not in the repository at present."""


# ---------------------------------------------------------------- MOBSTER


def ends_of(comparison: Comparison, problem: str) -> dict[str, Ends]:
    """The last loss of each method's searches."""
    return {m: {s: f["best"][-1][1] for s, f in of.items()} for m, of in comparison.runs[problem].items()}


def searches(problem: str) -> Iterator[Row]:
    ends = ends_of(Comparison(chosen("mobster", problem, workers=4), 4, 24.0), problem)
    claims = {
        "promotion against stopping": "promotion lower",
        "one bracket against all": "one lower",
        "model against random": "the model lower",
    }
    for what, pairs in DUELS.items():
        pairs = [pair for pair in pairs if ends.get(pair[0]) and ends.get(pair[1])]
        ours, other = ({(n, s): e for n, pair in enumerate(pairs) for s, e in ends[pair[at]].items()} for at in (0, 1))
        row = ahead(f"Figure 3: {what}", claims[what], ours, other, names=tuple(what.split(" against ")))  # type: ignore[arg-type]
        yield averaged(row, len(pairs), [key for key in ours if key in other])
    for method, kernel in KERNELS.items() if problem != "electricity" else ():
        if method != PAPER and ends.get(method):
            yield ahead(
                f"Figure 4: δ learned, and {kernel}",
                "alike",
                ends[PAPER],
                ends[method],
                names=("δ learned", kernel),
                claim="alike",
            )
    for other, name in {"asha": "ASHA", "s-bohb": "S-BOHB", "ts": "Dragonfly"}.items():
        yield ahead(
            f"Figure 5: MOBSTER against {name}", "MOBSTER lower", ends[PAPER], ends[other], names=("MOBSTER", name)
        )
    for other, name in {"asha": "ASHA", PAPER: "the paper's"}.items():
        yield ahead(
            f"Our `mobster` against {name}", "–", ends["mobster"], ends[other], names=("`mobster`", name), claim=""
        )
    if problem != "electricity":
        yield ahead("Figure 5: ASHA against S-HB", "ASHA lower", ends["asha"], ends["s-hb"], names=("ASHA", "S-HB"))
        yield ahead(
            "Figure 5: ASHA against S-BOHB", "ASHA lower", ends["asha"], ends["s-bohb"], names=("ASHA", "S-BOHB")
        )


def averaged(row: Row, pairs: int, keys: Iterable[tuple[int, int]]) -> Row:
    """Several pairs of methods with the same seeds are one effect a seed."""
    by: dict[int, list[float]] = {}
    for (_, seed), effect in zip(keys, row.effects, strict=True):
        by.setdefault(seed, []).append(effect)
    means = tuple(statistics.mean(each) for each in by.values() if len(each) == pairs)
    return Row(row.what, row.paper, row.here, means, row.claim)


def shares() -> Iterator[Row]:
    """Of ASHA's time until its last regret, a task each."""
    for workers in (4, 8):
        found = []
        for problem in VALIDATION:
            runs = Comparison(chosen("budgets", problem, workers=workers), workers, 4.0)
            if share := runs.ratio_of_times("mobster", "asha"):
                found.append(math.log(0.5 / share[0]))
        share = math.exp(math.log(0.5) - statistics.mean(found))
        what = f"Figures 4 (bottom), 10: time until ASHA's regret, {workers} workers"
        yield Row(what, "half", f"`mobster` in {share:.2f} of it", tuple(found), "ahead", factor=True)


def mobster() -> Paper:
    return Paper(
        "MOBSTER (Klein et al. 2020), [how it is done here](mobster.md)",
        (
            Group("The MLP on a table", "mobster", NEAREST, [*searches("electricity")]),
            Group("NAS-Bench-201", "mobster", CELLS, [*searches("nb201-cifar10")]),
            Group("Time", "budgets --part validation", VALIDATED, [*shares()], brief=True),
        ),
        {
            "Figure 5: Syne Tune's MOBSTER": "a search of the MLP takes it some nine minutes of a processor",
            "Figure 6: LSTM and ResNet": "the trainings are not at hand",
            "Section A.1: skipping of refits; 2 and 16 workers": "no run yet",
        },
    )


NEAREST = """The paper's nine hyperparameters, but each configuration gets the curve of the nearest of 2,048 that were
trained. Neighbours of the table resemble each other little (rank correlation 0.59), so a model has little to learn,
and no verdict here is one on the paper. 4 workers, 24 trainings on each."""
CELLS = "CIFAR-10 in two rungs, 12 and 200 epochs of separate schedules. 4 workers, 24 trainings on each."
VALIDATED = """Thirteen tasks that nothing was chosen on, ten seeds each, four trainings a worker; a *seed* is a task
here. The method is our `mobster`."""


# ---------------------------------------------------------------- IGO

SIZES = {"OneMax": (1000, 3000), "LeadingOnes": (100, 300)}


def calls(problem: str, method: str, n: int) -> Ends:
    """First hitting times; the limit where the optimum was not hit."""
    most = limit(problem, n)
    found = [each for r in chosen("igo", problem, method, n=n, part="figure 1") for each in r.found["calls"]]
    return {place: most if each is None else each for place, each in enumerate(found)}


def hitting_times() -> Iterator[Row]:
    best = {"OneMax": "cGA, ε = n^-½", "LeadingOnes": "cGA, ε = 1/n"}
    for problem, sizes in SIZES.items():
        for n in sizes:
            lambdas, small, epsilon = (calls(problem, m, n) for m in ("PBIL-λ", best[problem], "PBIL-ε"))
            for what, paper, ours, other, names in (
                (f"PBIL-λ against {best[problem]}", "fewer calls", lambdas, small, ("PBIL-λ", "cGA")),
                ("PBIL-λ against PBIL-ε", "fewer calls", lambdas, epsilon, ("PBIL-λ", "PBIL-ε")),
            ):
                yield ahead(f"{problem}, n = {n:,}: {what}", paper, ours, other, names=names, log=True, form="{:,.0f}")


def robustness() -> Iterator[Row]:
    """PBIL-λ with other α: the factor to the best of them."""
    for problem, alphas, paper in (
        ("OneMax", ("1.1", "1.25", "1.5", "2.0", "3.0"), "at most 1.4 ×"),
        ("LeadingOnes", ("1.5", "2.0", "3.0"), "stable (here: at most 1.4 ×)"),
    ):
        times = {a: hits(problem, a) for a in alphas}
        best, worst = (pick(times, key=lambda a: statistics.median(times[a])) for pick in (min, max))
        floor = statistics.median(times[best])
        effects = tuple(math.log(1.4 * floor / each) for each in times[worst])
        here = f"{statistics.median(times[worst]) / floor:.2f} × (α = {worst} to {best})"
        yield Row(f"Figure 4: {problem}, α from {alphas[0]} to 3, n = 300", paper, here, effects, "ahead", factor=True)
    slow, usual = (dict(enumerate(hits("LeadingOnes", a))) for a in ("1.1", "1.5"))
    what, names = "Figure 4: LeadingOnes, α = 1.1, n = 300", ("α = 1.5", "α = 1.1")
    yield ahead(what, "much slower", usual, slow, names=names, log=True, form="{:,.0f}")


def hits(problem: str, alpha: str) -> list[float]:
    most = limit(problem, 300)
    found = chosen("igo", problem, alpha, n=300, part="figure 4")
    return [most if each is None else each for record in found for each in record.found["calls"]]


def mnist() -> Iterator[tuple[str, list[Row]]]:
    for what, key in (("Figure 2: layers of an MLP", "layers"), ("Figure 3: activations", "activations")):
        runs = [(task, run) for task, run, _ in pooled([r for r in records("cotrain") if r.task.problem == key])]
        rates = {"layers": 0.01, "activations": 0.03}
        task, run = max(
            ((task, run) for task, run in runs if task["rate"] == rates[key]),
            key=lambda each: len(each[1]["curve"][-1]["cGA"]["error"]),
        )
        ends = {method: dict(enumerate(run["curve"][-1][method]["error"])) for method in MNIST[key]}
        rows = [number(f"{what}, {m}", paper, list(ends[m].values())) for m, (paper, *_) in MNIST[key].items()]
        if key == "activations":
            for ours, other in (("PBIL-λ", "ReLU"), ("PBIL-λ", "tanh"), ("PBIL-ε", "ReLU"), ("PBIL-ε", "tanh")):
                rows.append(
                    ahead(f"Figure 3: {ours} against {other}", "lower", ends[ours], ends[other], names=(ours, other))
                )
        yield (
            f"{run['iterations']:,} steps at a rate of {task['rate']:g} from weights of {task.get('init') or 'LeCun'}",
            rows,
        )


def igo() -> Paper:
    (layers, first), (activations, second) = mnist()
    trained = MNIST_TEXT.format(layers, activations)
    return Paper(
        "Parameterless IGO (Nishida et al. 2018), [how it is done here](igo.md)",
        (
            Group("First hitting times", "igo --part figure1|figure4", HITS, [*hitting_times(), *robustness()]),
            Group("MNIST, test error in %", "cotrain --part mnist", trained, [*first, *second]),
        ),
        {"Figures 2 and 3 with 30 trials": "ten so far"},
    )


HITS = """Calls until the optimum, medians of ten runs; PBIL with λ by equation (10), cGA with the step that the paper
finds best there. A run that did not arrive counts with the limit of calls, so the factor is at least so large."""
MNIST_TEXT = """Figure 2: {}. Figure 3: {}. The paper names none of the three; the rate of Figure 3 is the one at
which fixed networks of tanh end as the paper's. The paper's numbers are medians of 30 trials."""


# ---------------------------------------------------------------- the page


def papers() -> list[Paper]:
    return [nasbot(), dngo(), mobster(), igo()]


def summary(found: Iterable[Paper]) -> Iterator[str]:
    """How many rows came out how, by paper."""
    rows = []
    for paper in found:
        verdicts = Counter(row.verdict for group in paper.groups for row in group.rows)
        counts = (
            sum(verdicts[v] for v in GOOD),
            verdicts["undecided"],
            sum(verdicts[v] for v in BAD),
            verdicts["few seeds"],
            len(paper.unmade),
        )
        rows.append((paper.title.split(" (")[0], *map(str, counts)))
    heads = [
        "paper",
        "equal or better, claims that hold",
        "undecided",
        "worse, claims that fail",
        "few seeds",
        "not run",
    ]
    yield from table(heads, rows)


def block(group: Group) -> Iterator[str]:
    made = f" `python -m benchmarks.{group.command}`." if group.command else ""
    head = f"**{group.title}.**{made} {group.conditions}"
    shown, brief = ([r for r in group.rows if (r.decidable and not group.brief) == kept] for kept in (True, False))
    told = ("" if group.brief else "Too few seeds for a verdict: ") + "; ".join(map(in_words, brief)) + "."
    if not shown:
        yield from (*wrapped(f"{head} {told}"), "")
        return
    rows = [(r.what, r.paper, r.here, r.effect, str(len(r.effects)), r.verdict) for r in shown]
    yield from (*wrapped(head), "", *table(HEADS, rows, left=len(HEADS)), "")
    if brief:
        yield from (*wrapped(told), "")


def in_words(row: Row) -> str:
    seeds = "1 seed" if len(row.effects) == 1 else f"{len(row.effects)} seeds"
    told = f", {row.verdict}" if row.decidable else ""
    return f"{row.what} {row.here} (the paper {row.paper}; {row.effect}, {seeds}{told})"


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def page() -> str:
    found = papers()
    lines = ["# Results beside the papers", "", *summary(found), "", *RULE.splitlines(), ""]
    for paper in found:
        lines += [f"## {paper.title}", ""]
        for group in paper.groups:
            lines += block(group)
        told = "; ".join(f"{what} ({why})" for what, why in paper.unmade.items())
        lines += [*wrapped(f"Not run: {told}."), ""]
    return "\n".join(lines).rstrip() + "\n"
