"""Draw sync-vs-async.svg and stop-vs-promote.svg: which trial trains when, under different schedulers.

    python docs/assets/make_rungs.py

The trials are those of simulated runs made here. Both pictures show the same problem, `curves-mlp`, whose configurations take
very different times per epoch. It takes a second.
"""

from pathlib import Path

from xstar import problems
from xstar.plots import rungs_chart
from xstar.schedulers import ASHA, Hyperband, StoppingASHA
from xstar.simulation import simulate
from xstar.trial import State

HERE = Path(__file__).parent
PROBLEM = problems.get("curves-mlp", max_budget=27)


def draw(name, panels, *, workers, seconds, seed, title):
    histories = {}
    for label, scheduler in panels.items():
        study = simulate(PROBLEM, scheduler=scheduler, workers=workers, seconds=seconds, seed=seed)
        histories[label] = study.history
        complete = study.history.count(State.COMPLETE)
        print(f"{name}: {label}: {len(study.history.trials)} trials, {complete} complete")
    on = "a single worker" if workers == 1 else f"{workers} workers"
    subtitle = f"epochs over time on {on}; small dots are low losses, dotted lines are pauses"
    picture = rungs_chart(histories, title=title, subtitle=subtitle, until=seconds, unit="simulated seconds")
    (HERE / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    draw(
        "sync-vs-async",
        {
            "synchronous: a rung is filled first": Hyperband(27, brackets=1),
            "asynchronous (ASHA): no one waits": ASHA(27),
        },
        workers=4,
        seconds=90.0,
        seed=1,
        title="Successive halving, synchronous and asynchronous",
    )
    draw(
        "stop-vs-promote",
        {
            "stopping: go on unless among the worse": StoppingASHA(27),
            "promotion: pause until among the best": ASHA(27),
        },
        workers=1,
        seconds=60.0,
        seed=40,  # one of few in which so short a run shows all: stops, pauses, a promotion to the top in both
        title="Asynchronous halving, stopping and promotion",
    )
