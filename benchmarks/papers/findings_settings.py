"""What each setting of NASBOT's model gives, search by search, on networks that were trained and on synthetic functions."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.harness.report import table
from benchmarks.papers.findings_nasbot import counts
from benchmarks.papers.findings_terms import Values, by_chance, ends, pairs
from benchmarks.papers.nasbot_records import CARRIES, MLPS, PARTS

UNLIKELY = 0.05
"""A sign test below it is told."""


@dataclass(frozen=True)
class Setting:
    """One setting, changed: pairs of methods, the changed one first."""

    what: str
    both: tuple[str, str]
    """On cells, of the default."""
    alone: tuple[str, str]
    """On cells, of distances alone."""
    trained: str
    """On MLPs, beside ``nasbot``."""
    functions: tuple[str, str] | None = None


SETTINGS = (
    Setting(
        "hyperparameters sampled, not at their MAP",
        ("both, sampled", "both"),
        ("OTMANN, sampled", "OTMANN alone"),
        "nasbot-sampled",
    ),
    Setting(
        "matrices projected, not jittered",
        ("both, projected", "both"),
        ("OTMANN, projected", "OTMANN alone"),
        "nasbot-projected",
        ("paper's kernel, p̄ = 2, projected", "paper's kernel, p̄ = 2"),
    ),
    Setting(
        "p̄ = 2, not 1",
        ("both, p̄ = 2", "both"),
        ("OTMANN, p̄ = 2", "OTMANN alone"),
        "nasbot-quadratic",
        ("paper's kernel, p̄ = 2", "paper's kernel"),
    ),
    Setting(
        "all distances exact, not those to the five nearest",
        ("both, all distances exact", "both"),
        ("OTMANN alone, all distances exact", "OTMANN alone"),
        "nasbot-exact",
    ),
)


def cells(method: str) -> Values:
    found = {problem: counts(problem, method) for problem in CARRIES.results.problems}
    return {(problem, seed): [float(count)] for problem, of in found.items() for seed, count in of.items()}


def perceptrons(method: str) -> Values:
    return ends(MLPS, method)


def functions(method: str) -> Values:
    return ends(PARTS, method)


Counts = tuple[int, int]
"""Searches that end lower – higher with a setting."""


def default(setting: Setting) -> list[Counts]:
    """Of the kernel with both terms, on cells and on trained MLPs."""
    return [pairs(cells, *setting.both), pairs(perceptrons, setting.trained, "nasbot")]


def alone(setting: Setting) -> list[Counts]:
    """Of the paper's distances alone, on cells and on f1 to f3."""
    return [pairs(cells, *setting.alone), pairs(functions, *setting.functions) if setting.functions else (0, 0)]


def together(found: list[Counts]) -> Counts:
    return sum(lower for lower, _ in found), sum(higher for _, higher in found)


def slower(setting: Setting) -> str:
    """How many times the time of a decision on the same MLPs."""
    ours, plain = (
        {(r.task.problem, r.task.seed): r.found["decided"] for r in MLPS.results.of(method=method)}
        for method in (setting.trained, "nasbot")
    )
    ratios = [ours[search] / plain[search] for search in ours.keys() & plain.keys()]
    return f"{statistics.median(ratios):.1f}" if ratios else "–"


def settings() -> Iterator[str]:
    yield from ("## NASBOT: its settings hardly matter", "")
    yield "The paper samples hyperparameters, projects matrices that are no covariances, and takes p̄ = 2; here the defaults are"
    yield "the MAP estimate, jitter and p̄ = 1, and a candidate has exact distances to its five nearest networks only. Each of"
    yield "these changed, and nothing else: searches of the same problem and seed that end lower – higher (on cells: arrive"
    yield "sooner – later) with the change than without. *Chance*: how probable counts as far apart are where neither is"
    yield "better. *Times a decision*: the processor time of a decision on the MLPs, with the change over without."
    rows = []
    for setting in SETTINGS:
        row, searches = [setting.what], len(perceptrons(setting.trained).keys() & perceptrons("nasbot").keys())
        for found in (default(setting), alone(setting)):
            row += ["{}–{}".format(*each) if any(each) else "–" for each in found]
            row.append(f"{by_chance(*together(found)):.2g}")
        row[2] += f" of {searches}"
        rows.append((*row, slower(setting)))
    heads = ["", "both terms: cells", "trained MLPs", "chance", "distances alone: cells", "f1 to f3", "chance"]
    yield from ("", *table([*heads, "times a decision"], rows), "")
    yield from verdict()
    yield "The cells have ten seeds or more on each of three data sets, f1 to f3 three each. The MLPs are trained on naval"
    yield "propulsion and protein structure; *of* is how many searches are compared, those that end alike among them."
    for source in (CARRIES, MLPS, PARTS):
        yield from ("", f"`{source.command}`: {source.about()}")


def verdict() -> Iterator[str]:
    """Of the default, which changes chance does not explain, and whether distances alone say the same."""
    likely = [each for each in SETTINGS if by_chance(*together(default(each))) < UNLIKELY]
    if not likely:
        yield "No change is ahead or behind by more than chance explains, so the cheaper settings stay the defaults."
    for each in likely:
        (lower, higher), (sooner, later) = together(default(each)), together(alone(each))
        side = "ahead" if lower > higher else "behind"
        yield f"One change is {side} by more than chance explains: {each.what}, {lower} to {higher}. With distances"
        yield f"alone, where an error of a distance should cost most, it is {sooner} to {later}, and a decision takes"
        yield f"{slower(each)} times as long. So it is not the default."
