"""A study's method in words, and two of them compared: names first, settings only where they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xstar.core.registry import Registry
from xstar.core.words import numbers, plural
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.events import Created
from xstar.journal.trial import State
from xstar.schedulers import SCHEDULERS
from xstar.searchers import SEARCHERS
from xstar.study.methods import METHODS, Method

Data = Mapping[str, Any]


def method_of(created: Created) -> str:
    """The name of a study's method, as in ``mobster``; of one without a name its parts, as in ``gp(samples=10) + asha``."""
    if created.method:
        return created.method
    stored_searcher, stored_scheduler = SEARCHERS.completed(created.searcher), SCHEDULERS.completed(created.scheduler)
    budget = created.scheduler.get("max_budget")
    for name, (make_searcher, make_scheduler) in METHODS.items():  # the parts of a user may be those of a method
        if SEARCHERS.dump(make_searcher()) == stored_searcher:
            try:
                scheduler = make_scheduler(budget)
            except InvalidArgument:  # it needs a budget, and this study has none
                continue
            if SCHEDULERS.dump(scheduler) == stored_scheduler:
                return name
    return f"{_part(SEARCHERS, stored_searcher)} + {_part(SCHEDULERS, stored_scheduler)}"


def rungs_of(created: Created) -> tuple[int, ...]:
    """The budgets at which a study's scheduler compares trials; none where only its own program knows the scheduler."""
    try:
        return tuple(SCHEDULERS.load(created.scheduler).rungs)
    except InvalidArgument:
        return ()


def described(created: Created) -> str:
    """The method with the epochs of a full training, where they are known: ``mobster, max_budget 81``."""
    budget = created.scheduler.get("max_budget")
    return method_of(created) + (f", max_budget {budget}" if budget is not None else "")


def _part(registry: Registry[Any], data: Data) -> str:
    if data["name"] == "custom":
        return str(data.get("class"))
    changed = [f"{key}={value}" for key, value in registry.changed(data).items() if key != "max_budget"]
    return f"{data['name']}({', '.join(changed)})" if changed else str(data["name"])


def differences(here: Method, created: Created, roles: Sequence[str]) -> list[str]:
    """What distinguishes a call's method from a stored one, a line each; ``roles`` are the parts that the call named."""
    lines: list[str] = []
    for role, registry in (("searcher", SEARCHERS), ("scheduler", SCHEDULERS)):
        ours, theirs = registry.dump(getattr(here, role)), registry.completed(getattr(created, role))
        if role not in roles or ours == theirs:
            continue
        if ours["name"] != theirs["name"]:
            lines.append(f"{role}: {ours['name']} here, {theirs['name']} in the stored study")
            continue
        for key in dict.fromkeys((*ours, *theirs)):
            if ours.get(key) != theirs.get(key):
                what = key if key == "max_budget" else f"{key} of {ours['name']}"
                lines.append(f"{what}: {ours.get(key)!r} here, {theirs.get(key)!r} in the stored study")
    there = method_of(created)
    if lines and here.name and here.name != there:  # the names say it all, but for the budget
        budgets = [line for line in lines if line.startswith("max_budget: ")]
        return [f"method: {here.name} here, {there} in the stored study", *budgets]
    return lines


def headline(history: History, digits: int = 6) -> str:
    """What was found, for people: ``error=0.031``, or ``5 trials in the front``; empty before there is anything."""
    if history.best is not None:
        return f"{history.goals.metrics[0]}={numbers(history.best.values.values(), digits)}"
    return f"{plural(len(history.front), 'trial')} in the front" if history.front else ""


def counts_of(history: History) -> dict[str, int]:
    """How many trials are in each state that has any."""
    return {state.value: history.count(state) for state in State if history.count(state)}


def say_reached(number: int, state: str, budget: int) -> str:
    """Which trial, and how far it got unless it is complete: ``trial 7``, ``trial 7, paused after 9 epochs``."""
    return f"trial {number}" + ("" if state == "complete" else f", {state} after {plural(budget, 'epoch')}")
