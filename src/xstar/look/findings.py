"""A study in sentences: what was searched, what was found, how far ahead that is, what mattered, what failed."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

from xstar.core.words import number, plural, seconds
from xstar.errors import NoValue
from xstar.journal import History
from xstar.journal.constraints import how_many_beyond
from xstar.journal.trial import State, Trial, losses_of
from xstar.look.describe import Description, say_counts
from xstar.look.plots import failures, importance
from xstar.look.plots.source import valued
from xstar.look.view import StudyView


def _equal(trial: Trial, best: Trial) -> bool:
    """Whether a trial's value may be compared with the best one's: both are complete, or both stand at the same budget."""
    if best.state is State.COMPLETE:
        return trial.state is State.COMPLETE
    return trial.budget == best.budget


def _repeated(history: History, trials: list[Trial]) -> tuple[float, int] | None:
    """The pooled standard deviation of configurations that were run more than once, and how many they are."""
    groups: dict[Hashable, list[float]] = {}
    for trial in trials:
        groups.setdefault(history.space.key(trial.config), []).append(trial.scores[0])
    repeated = [np.array(values) for values in groups.values() if len(values) > 1]
    degrees = sum(len(values) - 1 for values in repeated)
    if degrees < 2:
        return None
    squares = sum(float(((values - values.mean()) ** 2).sum()) for values in repeated)
    return math.sqrt(squares / degrees), len(repeated)


def sentences(view: StudyView, made: Description) -> dict[str, str]:
    """What a reader wants to know, by question."""
    history = view.history
    one = not history.goals.several  # a lead, and what mattered, is a matter of one objective
    answers = {
        "What was searched": searched(history, made),
        "What was found": found(history) if one else tradeoffs(history),
        "What the bounds left": bounded(history) if history.bounds else "",
        "How far ahead is it": lead(history) if one else "",
        "What mattered": mattered(view) if one else "",
        "What failed": failed(view),
    }
    return {question: answer for question, answer in answers.items() if answer}


def goal(made: Description) -> str:
    """The goal and, where other metrics have bounds, these: ``minimize error, with latency ≤ 50 and accuracy ≥ 0.8``."""
    return ", with ".join(filter(None, [made["goal"], " and ".join(made["constraints"])]))


def searched(history: History, made: Description) -> str:
    """Space, goal, method and effort."""
    bounds, comma = (f", with {' and '.join(made['constraints'])}", ",") if made["constraints"] else ("", "")
    why = f" ({made['why']})" if made["why"] else ""
    over = f"{made['goal']} over {plural(len(made['parameters']), 'parameter')}{bounds}{comma}"
    text = f"The goal was to {over} by {made['settings']}{why}."
    if not made["trials"]:
        return f"{text} No trial has begun yet."
    ends = [trial.reports[-1].at for trial in history.trials if trial.reports]
    took = f" in {seconds(max(ends) - made['created'])}" if ends else ""
    effort = f", {made['epochs']:,} epochs together" if made["epochs"] > made["trials"] else ""
    return f"{text} {plural(made['trials'], 'trial')}{took}{effort}: {say_counts(made['counts'])}."


def found(history: History) -> str:
    """The best value, and what it is compared with."""
    best = history.best
    if best is None or best.value is None:
        return "No trial has a value yet."
    metric = history.created.metric
    stand = "" if best.state is State.COMPLETE else f", {best.state.value} at epoch {best.budget}: none is complete yet"
    text = f"The best {metric} is {number(best.value, 8)}, of trial {best.number}{stand}, suggested by {best.origin}."
    values = [trial.value for trial in valued(history) if _equal(trial, best) and trial.value is not None]
    if len(values) > 4:
        middle, first = number(float(np.median(values)), 6), number(values[0], 6)
        text += f" The median of the {len(values):,} trials of that budget is {middle}; the first of them had {first}."
    steps = [step for step in history.best_over_time if step.complete]
    if len(steps) > 1:
        since = len(history.trials) - steps[-1].begun
        text += (
            f" It was found after {plural(steps[-1].begun, 'trial')} had begun; {since} more have not improved on it."
        )
    return text


def bounded(history: History) -> str:
    """What the best trial has of the bounded metrics, and how many trials are beyond a bound."""
    best, beyond = history.best, how_many_beyond(history.bounds, history.trials)
    names = dict.fromkeys(bound.metric for bound in history.bounds)
    known = [f"{name} {number(best.metrics[name], 6)}" for name in names if name in best.metrics] if best else []
    text = f"The best trial has {' and '.join(known)}. " if known else ""
    return f"{text}Of the trials, {beyond}." if beyond else f"{text}No trial is beyond a bound."


def tradeoffs(history: History) -> str:
    """The front: how large it is, and the best of each objective."""
    front, goals = history.front, history.goals
    if not front:
        return "No trial is in the front yet."
    ends = []
    for place, name in enumerate(goals.metrics):
        best = min(front, key=lambda trial: (losses_of(trial)[place], trial.number))
        ends.append(f"{name} {number(best.values[name], 6)} in trial {best.number}")
    text = f"{plural(len(front), 'trial')} of {history.count(State.COMPLETE):,} complete in the front: no other is better in "
    text += f"one objective and as good in all others. The best of each objective: {', '.join(ends)}."
    since = len(history.trials) - history.fronts.steps[-1].begun
    return f"{text} {plural(since, 'trial')} begun since the front last changed."


def lead(history: History) -> str:
    """How far the best trial is ahead, and how much equal configurations differed where some ran more than once."""
    best, key = history.best, history.space.key
    trials = [trial for trial in valued(history) if best is not None and _equal(trial, best)]
    others = [trial for trial in trials if best is not None and key(trial.config) != key(best.config)]
    if best is None or not others:
        return "There is nothing to compare the best trial with yet."
    second = min(others, key=lambda trial: (trial.scores, trial.number))
    ahead = number(second.scores[0] - best.scores[0], 3)
    text = f"Trial {best.number} leads the next best configuration (trial {second.number}) by {ahead}."
    if spread := _repeated(history, trials):
        deviation, configs = spread
        text += f" Values of equal configurations differ by {number(deviation, 3)} (standard deviation within "
        text += f"{plural(configs, 'configuration')} that ran more than once)."
    return f"{text} Whether the lead is more than chance is not known: run both again with other seeds."


def mattered(view: StudyView) -> str:
    """The most important parameters."""
    try:
        data = importance.compute(view)
    except NoValue as error:
        return f"Not known: it {error}."
    parts = [
        f"{name} {total:.0%} (± {error:.0%})"
        for name, total, error in zip(data.names, data.total, data.total_error, strict=True)
        if total >= 0.05
    ]
    minor = [name for name, total in zip(data.names, data.total, strict=True) if total < 0.05]
    text = f"Of the differences in {data.metric}: {', '.join(parts[:6]) or 'none stands out'}"
    less = f"; {', '.join(minor[:8])} hardly any" if minor else ""
    means = (
        f"functional ANOVA of a random forest, interactions included, ± over its trees, {data.trials:,} {data.which}"
    )
    return f"{text}{less} ({means})."


def failed(view: StudyView) -> str:
    """How many failed, and the most frequent reason."""
    data = failures.compute(view)
    total = data.failed + data.infeasible
    if not total:
        return "No trial failed."
    reason, count, trial = data.reasons[0]
    counts = ((data.failed, "failed"), (data.infeasible, "were infeasible"))
    kinds = ", ".join(f"{count:,} {words}" for count, words in counts if count)
    text = f"{total:,} of {data.trials:,} trials that are over have no value: {kinds}."
    text += f" Most often ({count} times, last in trial {trial}): {reason}"
    if data.panels and data.panels[0][3] > 0.5 and total > 2:
        text += f" They gather along {data.panels[0][0].name}."
    return text
