"""PBIL: a distribution over the whole space, improved by natural gradient, without tuning parameters.

Choose it for many discrete parameters (masks of features, layers or connections; hundreds of switches) and objectives
that are cheap enough for hundreds of trials or more. The time of a suggestion is linear in the number of parameters and
does not depend on the number of trials. For fewer than a hundred trials and a few parameters, a model-based method is
the better choice.

Generations. Trials are drawn in generations of λ, each from one distribution. Generation g + 1 opens as soon as λ
trials of generation g have been *drawn*, without waiting for their results. When a generation opens, the distribution
is updated with every earlier generation whose trials all have results and that was not used before, in ascending order.
The trials of a generation are ranked among themselves, and the step is applied to the current distribution, with the
gradient of the distribution from which they were drawn. A late result therefore delays only its own generation. With
one worker this is exactly Algorithm 1.

    pbil: generation 12                      drawn from the distribution of generation 12
    pbil: generation 13, learned 9-10 12     the first of its generation; it opened after updates from those three
    pbil: generation 13, again 4             trial 4 was drawn once more: its result counts in this generation, too
    pbil: generation 12, again 7; generation 13, learned 12     trial 7 filled generation 12, and 13 opened

The journal stores these origins. Together with the results they determine the state completely: which generations had
their results when the next one opened does not depend on a clock.

Results. A trial has a result when it ends, or pauses for the first time. Trials are ranked by the budget reached there
(more is better), then by the loss. Failed and infeasible trials come last, and ties share a rank. Trials that a user
enqueued or added were not drawn from the distribution and are not used for updates.

Repetitions. In a finite space no configuration is suggested twice. If a draw repeats a tried configuration, its old
result is used in its place, if necessary for several generations, until an untried configuration is drawn: Algorithm 1
with a cache. (Redrawing until a configuration is untried, without counting the known ones, samples from a different
distribution: a search that did so for the last trial of each generation had not found the optimum of LeadingOnes-50
after 20,000 trials in any of 3 runs; this one takes 8,416, the median of 3.)

References: Nishida et al. (2018), Algorithm 1; ``igo/`` for the mathematics and its notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from xstar.errors import InvalidArgument
from xstar.igo import IGO, Layout
from xstar.igo.adaptation import Settings
from xstar.igo.family import Array
from xstar.igo.ranking import WEIGHTS
from xstar.journal import History
from xstar.searchers.base import SEARCHERS, at_random, exhausted
from xstar.searchers.results import has_result, ranks, result
from xstar.space import Space
from xstar.trial import Done, New, Origin, Suggestion

SEGMENT = re.compile(r"generation (\d+)(?:, learned ([\d -]+))?(?:, again ([\d ]+))?")

DRAWS = 64
"""Draws for one suggestion before an untried configuration is drawn from the prior. At the margins, two draws in three
differ from the most probable configuration, and one in four differs in two variables or more. The limit is reached only
when a small space is nearly exhausted.
"""


@dataclass(frozen=True, slots=True)
class PBIL:
    """Natural-gradient search in any space."""

    adapt: str = "samples"
    """``samples``: PBIL-λ, which adapts the size of a generation; ``step``: PBIL-ε, with generations of two; ``none``:
    neither, as in cGA and UMDA."""
    weights: str = "quarters"
    """How much the ranks of a generation count (``igo/ranking.py``): ``quarters``, ``truncation``, ``umda`` or
    ``exponential``, which takes ranks for losses here."""
    step: float | None = None
    """ε; the default is n^(−½) for n parameters of the distribution."""
    samples: int | None = None
    """λ, or the least λ if it is adapted; the default is 2."""

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise InvalidArgument("weights", f"must be one of {', '.join(WEIGHTS)}", self.weights, "leave it out")
        Settings.of(10, self.adapt, self.step, self.samples)  # says what is wrong with the others

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        fold = history.memo.get(_Fold, self)
        if fold is None:
            try:
                fold = _Fold.new(history.space, self)
            except InvalidArgument as error:
                return at_random(history, rng, f"pbil has nothing to learn about, {error.rule}")
        fold = history.memo.put(fold.caught_up(history), self)
        draft = fold.copy()
        for _ in range(DRAWS):
            generation = draft.current(history)
            config = draft.layout.config(draft.core.family.draw(generation.theta, 1, rng)[0], rng)
            known = history.tried(config)
            if known is None or history.space.size == float("inf"):
                steps = [(generation, [*learned], [*again]) for generation, learned, again in draft.steps]
                draft.origin = Origin("pbil", "; ".join(draft.segments()), steps=steps)
                fold.draft = draft
                return Suggestion(config, draft.origin)
            draft.add(known)
        return at_random(history, rng, f"pbil: generation {fold.newest} and on drew nothing but tried ones")


Step = tuple[int, list[int], list[int]]
"""A generation, the generations used for the update that opened it, and the earlier trials drawn again in it."""


@dataclass(frozen=True)
class _Generation:
    theta: Array
    """Parameters of the distribution from which its trials are drawn."""
    samples: int
    """λ: the number of its trials."""
    members: tuple[int, ...] = ()
    """Their numbers, including those of earlier trials that were drawn again."""


@dataclass
class _Fold:
    """The state, computed from the origins and results of the trials so far. A copy draws the next trial."""

    layout: Layout
    core: IGO
    """The distribution after all updates made when the newest generation opened."""
    trials: int = 0
    """The number of trials processed."""
    newest: int = -1
    """The number of the newest generation."""
    open: dict[int, _Generation] = field(default_factory=dict)
    """The generations not yet used for an update, by number, including the newest."""
    steps: list[Step] = field(default_factory=list)
    """In a copy: the steps that it took."""
    origin: Origin | None = None
    """In a copy: the origin that records those steps."""
    draft: _Fold | None = None
    """The last copy. It is kept so that its work is not repeated once the trial it drew is in the history."""

    @classmethod
    def new(cls, space: Space, settings: PBIL) -> _Fold:
        layout = Layout(space)
        step, samples, weights = settings.step, settings.samples, settings.weights
        core = IGO(layout.family, adapt=settings.adapt, step=step, samples=samples, weights=weights)
        return cls(layout, core)

    def copy(self) -> _Fold:
        # The fold replaces a core and never modifies it, and generations are frozen.
        return _Fold(self.layout, self.core, self.trials, self.newest, dict(self.open))

    # --- read ---------------------------------------------------------------------------------------------------

    def caught_up(self, history: History) -> _Fold:
        """Process the trials that were added since: each belongs to the newest generation or opens the next ones."""
        fold = self
        for number in range(self.trials, len(history.trials)):
            origin = history.trials[number].origin
            if origin.method == "pbil":
                # The copy that drew this trial has already taken the steps recorded in its origin.
                if fold.draft is not None and fold.draft.trials == number and fold.draft.origin == origin:
                    fold = fold.draft
                else:
                    fold.follow(origin, history)
                fold.add(number)
            fold.trials = number + 1
        fold.steps, fold.origin, fold.draft = [], None, None
        return fold

    def follow(self, origin: Origin, history: History) -> None:
        for generation, learned, again in _steps(origin):
            if generation > self.newest:
                self.open_next(learned, history)
            for number in again:
                self.add(number)

    # --- write --------------------------------------------------------------------------------------------------

    def current(self, history: History) -> _Generation:
        """Return the generation of the next draw; open it if necessary."""
        newest = self.open.get(self.newest)
        if newest is not None and len(newest.members) < newest.samples:
            if not self.steps:
                self.steps.append((self.newest, [], []))
            return newest
        ready = tuple(
            number
            for number, generation in self.open.items()
            if all(has_result(history.trials[member]) for member in generation.members)
        )
        self.open_next(ready, history)
        self.steps.append((self.newest, list(ready), []))
        return self.open[self.newest]

    def open_next(self, learned: Sequence[int], history: History) -> None:
        """Update the distribution with the generations ``learned``, in order, then open the next generation."""
        if learned:
            self.core = self.core.copy()
        for number in learned:
            generation = self.open.pop(number)
            trials = [history.trials[member] for member in generation.members]
            points, active = self.layout.points([trial.config for trial in trials])
            order = ranks([result(trial, history) for trial in trials])
            self.core.update(points, order, active=active, at=generation.theta)
        self.newest += 1
        self.open[self.newest] = _Generation(self.core.theta, self.core.samples)

    def add(self, number: int) -> None:
        """Add a trial, new or drawn again, to the newest generation."""
        newest = self.open[self.newest]
        self.open[self.newest] = _Generation(newest.theta, newest.samples, (*newest.members, number))
        if self.steps:
            self.steps[-1][2].append(number)

    def segments(self) -> list[str]:
        texts = []
        for generation, learned, again in self.steps:
            text = f"generation {generation}" + (f", learned {_written(learned)}" if learned else "")
            texts.append(text + (f", again {' '.join(map(str, again))}" if again else ""))
        return texts


def _steps(origin: Origin) -> Iterable[Step]:
    """Return the steps that an origin records; journals of schema 1 contain them as text only."""
    if origin.numbers:
        yield from origin.numbers["steps"]
        return
    for segment in origin.detail.split("; "):
        found = SEGMENT.fullmatch(segment)
        assert found is not None, f"not an origin of ours: {origin}"
        generation, learned, again = found.groups()
        yield int(generation), list(_read(learned or "")), [int(number) for number in (again or "").split()]


def _written(numbers: Iterable[int]) -> str:
    """Format numbers as ranges: 0, 1, 2, 5 become ``0-2 5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _read(text: str) -> tuple[int, ...]:
    """Parse the format of ``_written``."""
    ends = [run.partition("-") for run in text.split()]
    return tuple(number for first, _, last in ends for number in range(int(first), int(last or first) + 1))


SEARCHERS.register("pbil", PBIL)
