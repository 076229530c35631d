"""How fast the GP decides beside Optuna's and BoTorch's, and what 16 workers lose.

    OMP_NUM_THREADS=1 python -m benchmarks.gp [--seeds 5] [--peers optuna-gp,botorch] [--sizes 25,50,100,200,400] [--write]

Speed. All are handed the same n evaluations of Hartmann's function (d = 6) or Levy's (d = 20) at random places and then asked
for the next ones, each told its value. xstar fits its hyperparameters at counts of a schedule, so its time is the average over
n/10 + 1 suggestions, in which there is a fit; the peers fit every time, and the average is over three. The time is processor
time on one thread: that of ask and tell.

Workers. Evaluations of Hartmann's function until -3.2 is reached, with one worker and with sixteen that choose in several ways;
and with as many that ask Optuna's GPSampler. Counts end at 400, which stands for all above.

The comparison of results, problem by problem, is ``python -m benchmarks.quality``.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.machine import describe_machine
from benchmarks.peers import METHODS, Informed, optuna_distribution
from xstar import problems
from xstar.problems.synthetic import Function, levy6
from xstar.searchers import GP

RESULT = Path(__file__).parent / "results" / "gp-speed.md"
TARGET = -3.2
MOST = 400


def functions() -> dict[int, problems.Problem]:
    return {6: problems.get("hartmann6"), 20: Function("levy20", levy6, [(-10, 10)] * 20, 0.0, (1.0,) * 20)}


def milliseconds(problem: problems.Problem, method: str, n: int, seed: int) -> float:
    """Per suggestion, after ``n`` evaluations."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        if not METHODS[method].ours:
            warnings.simplefilter("ignore")
        optimiser = METHODS[method].make(problem.space, seed, 10**6)
        if not isinstance(optimiser, Informed):
            raise SystemExit(f"{method} takes no evaluations made elsewhere; leave it out of --peers")
        for _ in range(n):
            config = problem.space.sample(rng)
            optimiser.know(config, problem.loss(config))
        count = n // 10 + 1 if METHODS[method].ours else 3
        spent = 0.0
        for _ in range(count):
            start = time.process_time()
            config = optimiser.ask()
            spent += time.process_time() - start
            loss = problem.loss(problem.space.parse(config))
            start = time.process_time()
            optimiser.tell(config, loss)
            spent += time.process_time() - start
    return 1000.0 * spent / count


def speed(peers: list[str], sizes: list[int], seeds: int) -> list[str]:
    made = functions()
    milliseconds(made[6], "xstar-gp", 10, 0)  # imports
    for peer in peers:
        milliseconds(made[6], peer, 12, 0)
    heads = " | ".join(f"{peer} | ratio" for peer in peers)
    lines = [f"| d | n | xstar-gp | {heads} |", "|---:|---:|---:|" + "---:|---:|" * len(peers)]
    for d, problem in made.items():
        for n in sizes:
            ours = statistics.mean(milliseconds(problem, "xstar-gp", n, seed) for seed in range(seeds))
            cells = [f"{ours:.1f} ms"]
            for peer in peers:
                theirs = statistics.mean(milliseconds(problem, peer, n, seed) for seed in range(seeds))
                cells += [f"{theirs:.0f} ms", f"{theirs / ours:.1f}×"]
            lines.append(f"| {d} | {n} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


WAYS = {
    "": GP(),
    ", 60 fantasies": GP(fantasies=60),
    ", hallucination": GP(pending="hallucination"),
    ", Thompson sampling": GP(acquisition="thompson"),
    ", 32 initial points": GP(initial=32),
}
"""Ways to choose 16 at a time."""


def evaluations_to_target(workers: int, ask: Callable[[], Any], tell: Callable[[Any, float], object]) -> int:
    """How many evaluations were finished when the target was reached, by trials of ours or of Optuna's."""
    problem, running = problems.get("hartmann6"), deque[Any]()
    for finished in range(1, MOST + 1):
        while len(running) < workers:
            running.append(ask())
        trial = running.popleft()
        loss = problem.loss(trial.config if isinstance(trial, xs.Trial) else trial.params)
        tell(trial, loss)
        if loss <= TARGET:
            return finished
    return MOST


def ours_to_target(workers: int, seed: int, searcher: GP) -> int:
    study = xs.Study(problems.get("hartmann6").space, searcher=searcher, seed=seed)
    return evaluations_to_target(workers, study.ask, study.tell)


def optunas_to_target(workers: int, seed: int) -> int:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    distributions = {
        name: optuna_distribution(given) for name, given in problems.get("hartmann6").space.parameters.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental
        study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed))
        return evaluations_to_target(workers, partial(study.ask, distributions), study.tell)


def workers(seeds: int, *, optuna: bool) -> list[str]:
    lines = ["| workers | median | mean | each seed |", "|---:|---:|---:|---|"]
    rows = {"1": partial(ours_to_target, 1, searcher=WAYS[""])}
    rows |= {f"16{way}": partial(ours_to_target, 16, searcher=searcher) for way, searcher in WAYS.items()}
    if optuna:
        rows |= {f"{count}, Optuna's GPSampler": partial(optunas_to_target, count) for count in (1, 16)}
    medians = {}
    for name, until in rows.items():
        found = [until(seed=seed) for seed in range(seeds)]
        medians[name] = statistics.median(found)
        each = " ".join(f"> {MOST}" if count == MOST else str(count) for count in found)
        lines.append(f"| {name} | {medians[name]:g} | {statistics.mean(found):.1f} | {each} |")
        print(lines[-1], flush=True)
    more = f"16 workers need {medians['16'] / medians['1']:.2f} times the evaluations (medians)"
    if optuna:
        one, sixteen = (medians[f"{count}, Optuna's GPSampler"] for count in (1, 16))
        more += f", Optuna's {sixteen / one:.2f} times"
    print(more + ".")
    return [*lines, "", more + "."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peers", default="optuna-gp,botorch")
    parser.add_argument("--sizes", default="25,50,100,200,400")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    peers = [peer for peer in options.peers.split(",") if peer]
    head = describe_machine(*("optuna", "botorch") if "botorch" in peers else ("optuna",))
    print(head)
    fast = speed(peers, [int(size) for size in options.sizes.split(",")], options.seeds)
    wide = workers(2 * options.seeds, optuna="optuna-gp" in peers)
    if options.write:
        text = ["# The GP's speed, and what parallel workers lose", "", head.removeprefix("# "), ""]
        text += ["Processor time per suggestion, `python -m benchmarks.gp --write`:", "", *fast, ""]
        text += [f"Evaluations of Hartmann's function until {TARGET} is reached:", "", *wide, ""]
        RESULT.write_text("\n".join(text))


if __name__ == "__main__":
    main()
