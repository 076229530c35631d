"""How fast the GP decides beside Optuna's and BoTorch's, and what 16 workers lose.

    python -m benchmarks.gp [--part speed|workers] [--seeds 5] [--peers optuna-gp,botorch] [--sizes 25,50,100,200,400] [--write]

Speed. All are handed the same n evaluations of Hartmann's function (d = 6) or Levy's (d = 20) at random places and then asked
for the next ones, each told its value. The first suggestion is not counted: it makes up for what a search would have done
before. xstar fits its hyperparameters whenever the observations have grown by a tenth, and compares two kernels whenever they
have grown by a quarter, so its time is the average over n/4 suggestions, in which there is one comparison (over n/2 with
``effort="lean"``, where that is after a half); the peers fit every time, and the average is over three. The time is processor
time on one thread: that of ask and tell.

Workers. Evaluations of Hartmann's function until -3.2 is reached, with one worker and with sixteen that choose in several ways;
and with as many that ask Optuna's GPSampler. Twice as many seeds. Counts end at 400, which stands for all above.

The comparison of results, problem by problem, is ``python -m benchmarks.quality``.
"""

from __future__ import annotations

import statistics
import warnings
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.experiment import Experiment, Part, chosen_from, main, numbers
from benchmarks.harness.methods import LIBRARIES, METHODS, Informed, decide, made
from benchmarks.harness.peers import gp_sampler, optuna_distribution, quiet_optuna
from benchmarks.harness.problems import levy20
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, ratio, table
from xstar import problems
from xstar.searchers import GP

OURS, LEAN, OPTUNA = "xstar-gp", "xstar-gp-lean", "optuna-gp"
SHARES = {OURS: 4, LEAN: 2}
"""One comparison of kernels in n / 4 suggestions, or in n / 2."""
TARGET = -3.2
MOST = 400
WARM_UP = 25
"""More observations than any initial design has, so that a model is used, and what it needs is imported."""
FUNCTIONS: dict[str, tuple[int, Callable[[], problems.Problem]]] = {
    "hartmann6": (6, partial(problems.get, "hartmann6")),
    "levy20": (20, levy20),
}
WAYS = {
    "default": GP(),
    "60 fantasies": GP(fantasies=60),
    "hallucination": GP(pending="hallucination"),
    "Thompson sampling": GP(acquisition="thompson"),
    "32 initial points": GP(initial=32),
}
"""Ways to choose 16 at a time."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peers", default="optuna-gp,botorch")
    parser.add_argument("--sizes", default="25,50,100,200,400")


def peers_of(options: Namespace) -> list[str]:
    return chosen_from(options.peers, [name for name in METHODS if not METHODS[name].ours], "--peers")


# ---------------------------------------------------------------- speed


def speed_tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, method, n=n)
        for problem in FUNCTIONS
        for n in numbers(options.sizes)
        for method in (*SHARES, *peers_of(options))
        for seed in range(options.seeds)
    ]


def speed(task: Task, options: Namespace) -> Found:
    """Milliseconds per suggestion, after n evaluations. A few decisions come first, on a study of its own: imports."""
    problem, n = FUNCTIONS[task.problem][1](), task["n"]
    milliseconds(problem, task.method, WARM_UP, 0, 1)
    spent = milliseconds(problem, task.method, n, task.seed, n // SHARES[task.method] if task.method in SHARES else 3)
    return {"milliseconds": significant(spent)}


def milliseconds(problem: problems.Problem, method: str, n: int, seed: int, count: int) -> float:
    rng = np.random.default_rng(seed)
    with made(method, problem.space, seed, 10**6) as optimiser:
        if not isinstance(optimiser, Informed):
            raise SystemExit(f"{method} takes no evaluations made elsewhere; leave it out of --peers")
        for _ in range(n):
            config = problem.space.sample(rng)
            optimiser.know(config, problem.loss(config))
        decide(optimiser, problem)
        return 1e3 * statistics.mean(decide(optimiser, problem).processor for _ in range(count))


def speed_report(results: Results, options: Namespace) -> Iterator[str]:
    peers, rows = peers_of(options), []
    for problem, (d, _) in FUNCTIONS.items():
        for n in numbers(options.sizes):
            found = {m: [r.found["milliseconds"] for r in results.of(problem, m, n=n)] for m in (*SHARES, *peers)}
            mean = {method: statistics.mean(each) for method, each in found.items() if each}
            cells = [f"{mean[method]:.1f} ms" if method in mean else "–" for method in SHARES]
            for peer in peers:
                cells.append(f"{mean[peer]:.0f} ms" if peer in mean else "–")
                cells += [ratio(mean[peer], mean[own]) if {peer, own} <= set(mean) else "–" for own in SHARES]
            rows.append((str(d), str(n), *cells))
    yield "Processor time per suggestion, means over seeds, and how often ours fits into a peer's:"
    heads = [head for peer in peers for head in (peer, f"over {OURS}", f"over {LEAN}")]
    yield from ("", *table(["d", "n", *SHARES, *heads], rows, left=0))


# ---------------------------------------------------------------- workers


def worker_tasks(options: Namespace) -> list[Task]:
    rows = [(1, OURS, "default"), *((16, OURS, way) for way in WAYS)]
    rows += [(count, OPTUNA, "default") for count in (1, 16) if OPTUNA in peers_of(options)]
    seeds = range(2 * options.seeds)
    return [Task.of(seed, "hartmann6", method, workers=count, way=way) for count, method, way in rows for seed in seeds]


def until_target(task: Task, options: Namespace) -> Found:
    """How many evaluations were finished when the target was reached."""
    problem, running = problems.get(task.problem), deque[Any]()
    with warnings.catch_warnings():
        if task.method == OPTUNA:
            warnings.simplefilter("ignore")  # experimental
        ask, tell, config_of = asked_by(task, problem)
        for finished in range(1, MOST + 1):
            while len(running) < task["workers"]:
                running.append(ask())
            trial = running.popleft()
            loss = problem.loss(config_of(trial))
            tell(trial, loss)
            if loss <= TARGET:
                return {"evaluations": finished}
    return {"evaluations": MOST}


def asked_by(
    task: Task, problem: problems.Problem
) -> tuple[Callable[[], Any], Callable[..., object], Callable[..., Any]]:
    if task.method == OURS:
        study = xs.Study(problem.space, searcher=WAYS[task["way"]], seed=task.seed)
        return study.ask, study.tell, lambda trial: trial.config
    optuna = quiet_optuna()
    study = optuna.create_study(sampler=gp_sampler(task.seed))
    distributions = {name: optuna_distribution(given) for name, given in problem.space.parameters.items()}
    return partial(study.ask, distributions), study.tell, lambda trial: trial.params


def worker_report(results: Results, options: Namespace) -> Iterator[str]:
    groups: dict[tuple[str, int, str], list[int]] = {}
    for record in results.records:
        key = record.task.method, record.task["workers"], record.task["way"]
        groups.setdefault(key, []).append(record.found["evaluations"])
    rows = []
    for (method, count, way), found in groups.items():
        name = (
            f"{count}, Optuna's GPSampler"
            if method == OPTUNA
            else f"{count}" + ("" if way == "default" else f", {way}")
        )
        each = " ".join(f"> {MOST}" if number == MOST else str(number) for number in found)
        rows.append((name, f"{statistics.median(found):g}", f"{statistics.mean(found):.1f}", each))
    yield f"Evaluations of Hartmann's function until {TARGET} is reached:"
    yield from ("", *table(["workers", "median", "mean", "each seed"], rows), "")
    for method in (OURS, OPTUNA):
        pair = [groups.get((method, count, "default")) for count in (1, 16)]
        if all(pair):
            one, sixteen = (statistics.median(found) for found in pair if found)
            yield f"16 workers of {method} need {sixteen / one:.2f} times the evaluations (medians)."


EXPERIMENT = Experiment(
    name="gp",
    title="The GP's speed, and what parallel workers lose",
    result="gp-speed.md",
    description=__doc__,
    parts={
        "speed": Part("Time of a suggestion", speed_tasks, speed, speed_report, LIBRARIES),
        "workers": Part("Sixteen workers", worker_tasks, until_target, worker_report, LIBRARIES),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
