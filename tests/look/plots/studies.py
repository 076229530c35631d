"""Studies at the edges of what a plot has to show: none, one, many trials; failed, conditional, with architectures; hostile."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import xstar as xs
from tests.trials import ask, run_trials
from xstar import nets
from xstar.journal import events as ev
from xstar.look.exchange import export_events, import_events
from xstar.look.view import StudyView
from xstar.nets.synthetic import f3

HOSTILE = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>'


def _told(study: xs.Study, trials: int, value: Callable[[Any], float]) -> xs.Study:
    run_trials(study, trials, value)
    return study


def plain(trials: int, seed: int = 1, direction: str = "minimize") -> xs.Study:
    space = xs.Space(x=xs.Float(0, 1), lr=xs.Float(1e-5, 1e-1, log=True), kind=xs.Choice(["a", "b"]), n=xs.Int(1, 9))
    study = xs.Study(space, method="random", seed=seed, direction=direction)
    return _told(study, trials, lambda t: (t["x"] - 0.3) ** 2 + 0.1 * (t["kind"] == "a") + 0.001 * t["n"])


HALF = "\udcff"
"""Half of a surrogate pair: what Python makes of a byte in a file's name that is no UTF-8. No page and no file can have it."""


def unreadable(storage: Path, name: str = "s") -> None:
    """A stored study with such names and words, and with lists that are too deep to show, as an import may bring it."""
    space = xs.Space(x=xs.Float(0, 1), kind=xs.Choice(["HALF", "b"]), deep=xs.Choice(["NESTED", "c"]))
    study = xs.Study(space, method="random", seed=1, metric="loss")
    for _ in range(9):
        trial = ask(study)
        if trial.number % 3 == 2:
            study.fail(trial, "Traceback\nOSError: HALF")
        else:
            study.tell(trial, {"loss": trial["x"], "HALF size": 1.0})
        study.annotate(trial, {"HALF name": "HALF", "deep": "DEEP", "dict": {"HALF": "DEEP"}})
    deep = "[" * 400 + "1" + "]" * 400
    words = {"HALF": "\\udcff", '"DEEP"': deep, '"NESTED"': deep[360:-360]}
    lines = list(export_events(study))
    for word, put in words.items():
        lines = [line.replace(word, put) for line in lines]
    import_events(lines, name, storage)


def failed() -> xs.Study:
    study = xs.Study(xs.Space(x=xs.Float(0, 1), kind=xs.Choice(["a", "b"])), method="random", seed=1)
    for _ in range(20):
        trial = ask(study)
        if trial["x"] > 0.5:
            study.fail(trial, f"Traceback …\nRuntimeError: out of memory at {trial.number}")
        elif trial["x"] > 0.3:
            study.fail(trial, "too slow", "infeasible")
        else:
            study.tell(trial, trial["x"])
    return study


def all_failed() -> xs.Study:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1)
    for _ in range(3):
        study.tell(ask(study), float("nan"))
    return study


def conditional() -> xs.Study:
    space = xs.Space(
        optimizer=xs.Choice(["sgd", "adam"]),
        momentum=xs.Float(0.0, 0.99, when={"optimizer": "sgd"}),
        layers=xs.Ordinal([1, 2, 4]),
        dropout=xs.Bool(),
        mask=xs.Bits(3),
        batch=32,
    )
    study = xs.Study(space, method="random", seed=2)
    return _told(study, 25, lambda t: t["layers"] * 0.1 + t.config.get("momentum", 0.5))


def distribution(trials: int = 80) -> xs.Study:
    """PBIL over every kind of parameter, some of them conditional, some trials failed."""
    space = xs.Space(
        mask=xs.Bits(6),
        optimizer=xs.Choice(["sgd", "adam"]),
        momentum=xs.Float(0.1, 0.99, log=True, when={"optimizer": "sgd"}),
        kind=xs.Choice([HOSTILE, "relu", "tanh"]),
        layers=xs.Ordinal([1, 2, 4]),
        width=xs.Int(8, 128, log=True),
        batch=32,
    )
    study = xs.Study(space, method="pbil", seed=1)
    for _ in range(trials):
        trial = ask(study)
        if trial.number % 9 == 8:
            study.fail(trial, "out of memory")
        else:
            study.tell(trial, -float(sum(trial["mask"])) + (trial["kind"] != "tanh") + trial["layers"])
    return study


def networks() -> xs.Study:
    space = xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1))
    study = xs.Study(space, method="evolution", metric="score", direction="maximize", seed=3)
    return _told(study, 14, lambda t: f3(t["net"]))


def multi_fidelity() -> xs.Study:
    space = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
    study = xs.Study(space, method="asha", max_budget=9, seed=1, metric="loss")
    for step in range(40):
        trial = ask(study)
        if step == 7:
            study.fail(trial, "worker died", "killed")
            continue
        for epoch in trial.epochs():
            verdict = study.report(trial, {"loss": trial["x"] + 1 / epoch, "other": float(epoch)})
            if verdict is not xs.Verdict.CONTINUE:
                break
    study.ask()
    return study


def hostile() -> xs.Study:
    space = xs.Space(a=xs.Float(0, 1), kind=xs.Choice([HOSTILE, "b"]), z=xs.Float(0, 1))
    study = xs.Study(space, method="random", metric=HOSTILE, seed=1)
    for _ in range(12):
        trial = ask(study)
        if trial.number % 4 == 3:
            study.fail(trial, f"Traceback\n{HOSTILE}")
        else:
            study.tell(trial, {HOSTILE: trial["z"]})
    return study


def several(trials: int, *names: str, method: str = "random") -> xs.Study:
    """Objectives that pull apart, the second one maximised."""
    metric = {name: "max" if place == 1 else "min" for place, name in enumerate(names)}
    space = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1), kind=xs.Choice(["a", "b"]))
    study = xs.Study(space, method=method, seed=1, metric=metric)
    for _ in range(trials):
        trial = ask(study)
        if trial.number % 7 == 6:
            study.fail(trial, "out of memory")
            continue
        x, y = trial["x"], trial["y"]
        values = [x + 0.3 * y, x**2 - y, (x - y) ** 2, 1 - x]
        study.tell(trial, dict(zip(names, values, strict=False)))
    return study


def several_over_budgets() -> xs.Study:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="asha", max_budget=9, seed=1, metric=["loss", "size"])
    for _ in range(30):
        trial = ask(study)
        for epoch in trial.epochs():
            if study.report(trial, {"loss": trial["x"] + 1 / epoch, "size": 1 - trial["x"]}) is not xs.Verdict.CONTINUE:
                break
    return study


@lru_cache(maxsize=1)
def many(trials: int = 100_000) -> StudyView:
    """So many trials, as events folded at once: a study would take its time to make them."""
    first = xs.Study(xs.Space(x=xs.Float(0, 1), y=xs.Float(1e-4, 1, log=True)), method="random", seed=1)
    rng = np.random.default_rng(0)
    xs_, ys = rng.random(trials).tolist(), (10 ** (-4 * rng.random(trials))).tolist()
    made: list[ev.Event] = list(first.journal.read(0))
    for number, (x, y) in enumerate(zip(xs_, ys, strict=True)):
        made.append(ev.Asked(number, {"x": x, "y": y}, "random", 1, float(number)))
        made.append(ev.Reported(number, 1, {"value": x + y}, number + 0.5, 1, final=True))
    from xstar.journal import History, MemoryJournal

    history = History()
    history.extend(made)
    return StudyView("many", history, MemoryJournal(made))


EDGES: dict[str, Callable[[], Any]] = {
    "empty": lambda: plain(0),
    "one": lambda: plain(1),
    "plain": lambda: plain(30),
    "maximize": lambda: plain(30, direction="maximize"),
    "same value": lambda: _told(xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1), 8, lambda t: 1.0),
    "constant": lambda: _told(xs.Study(xs.Space(x=3), method="random", seed=1), 1, lambda t: 1.0),
    "huge": lambda: _told(xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1), 9, lambda t: 1e300 * t["x"]),
    "failed": failed,
    "all failed": all_failed,
    "conditional": conditional,
    "networks": networks,
    "distribution": distribution,
    "multi-fidelity": multi_fidelity,
    "hostile": hostile,
    "no front": lambda: several(0, "error", "score"),
    "one in the front": lambda: several(1, "error", "score"),
    "two objectives": lambda: several(30, "error", "score"),
    "two over budgets": several_over_budgets,
    "three objectives": lambda: several(30, "error", "score", "time"),
    "four hostile objectives": lambda: several(20, HOSTILE, "score", HOSTILE + "2", "time"),
}


@lru_cache(maxsize=len(EDGES))
def edge(name: str) -> Any:
    """The study of that name, made once."""
    return EDGES[name]()
