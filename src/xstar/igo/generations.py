"""Generations: the state of PBIL as a function of the trials on record.

``searchers/pbil.py`` says how generations open and what their origins mean. Here they are followed: every trial drawn from a
distribution belongs to the newest generation or opens the next ones, and its origin says which earlier generations the
distribution learned from before. So the distribution at any moment is recomputed from origins and results; the searcher and
the plot of θ do it by the same code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xstar.igo.core import IGO
from xstar.igo.family import Array
from xstar.igo.layout import Layout
from xstar.journal.history import History
from xstar.journal.results import has_result, ranks, result
from xstar.journal.trial import Origin
from xstar.space import Space

METHOD = "pbil"
"""The method that the origin of a trial names if it was drawn from a distribution."""

Step = tuple[int, list[int], list[int]]
"""A generation, the generations used for the update that opened it, and the earlier trials drawn again in it."""


@dataclass(frozen=True)
class Generation:
    """Trials drawn from one distribution."""

    theta: Array
    """Parameters of the distribution from which its trials are drawn."""
    samples: int
    """λ: the number of its trials."""
    members: tuple[int, ...] = ()
    """Their numbers, including those of earlier trials that were drawn again."""


@dataclass
class Generations:
    """The state, computed from the origins and results of the trials so far. A copy draws the next trial."""

    layout: Layout
    core: IGO
    """The distribution after all updates made when the newest generation opened."""
    trials: int = 0
    """The number of trials processed."""
    newest: int = -1
    """The number of the newest generation."""
    open: dict[int, Generation] = field(default_factory=dict)
    """The generations not yet used for an update, by number, including the newest."""
    steps: list[Step] = field(default_factory=list)
    """In a copy: the steps that it took."""
    origin: Origin | None = None
    """In a copy: the origin that records those steps."""
    draft: Generations | None = None
    """The last copy. It is kept so that its work is not repeated once the trial it drew is in the history."""

    @classmethod
    def new(
        cls,
        space: Space,
        adapt: str = "samples",
        weights: str = "quarters",
        step: float | None = None,
        samples: int | None = None,
    ) -> Generations:
        """Return the state before the first trial; the settings are those of the searcher."""
        layout = Layout(space)
        return cls(layout, IGO(layout.family, adapt=adapt, step=step, samples=samples, weights=weights))

    def copy(self) -> Generations:
        # The fold replaces a core and never modifies it, and generations are frozen.
        return Generations(self.layout, self.core, self.trials, self.newest, dict(self.open))

    # --- read ---------------------------------------------------------------------------------------------------

    def caught_up(self, history: History) -> Generations:
        """Process the trials that were added since: each belongs to the newest generation or opens the next ones."""
        fold = self
        for number in range(self.trials, len(history.trials)):
            # The copy that drew this trial has already taken the steps recorded in its origin.
            drawn = fold.draft
            if drawn is not None and drawn.trials == number and drawn.origin == history.trials[number].origin:
                fold = drawn
                fold.add(number)
                fold.trials = number + 1
            else:
                fold.take(number, history)
        fold.steps, fold.origin, fold.draft = [], None, None
        return fold

    def take(self, number: int, history: History) -> None:
        """Process the next trial; those that were not drawn from the distribution are passed over."""
        origin = history.trials[number].origin
        if origin.method == METHOD:
            self.follow(origin, history)
            self.add(number)
        self.trials = number + 1

    def follow(self, origin: Origin, history: History) -> None:
        """Take the steps that an origin records."""
        for generation, learned, again in origin.numbers.get("steps", ()):
            if generation > self.newest:
                self.open_next(learned, history)
            for number in again:
                self.add(number)

    # --- write --------------------------------------------------------------------------------------------------

    def current(self, history: History) -> Generation:
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
            points, active = self.layout.points([trial.searched for trial in trials])
            order = ranks([result(trial, history) for trial in trials], history)
            self.core.update(points, order, active=active, at=generation.theta)
        self.newest += 1
        self.open[self.newest] = Generation(self.core.theta, self.core.samples)

    def add(self, number: int) -> None:
        """Add a trial, new or drawn again, to the newest generation."""
        newest = self.open[self.newest]
        self.open[self.newest] = Generation(newest.theta, newest.samples, (*newest.members, number))
        if self.steps:
            self.steps[-1][2].append(number)

    def segments(self) -> list[str]:
        texts = []
        for generation, learned, again in self.steps:
            text = f"generation {generation}" + (f", learned {_written(learned)}" if learned else "")
            texts.append(text + (f", again {' '.join(map(str, again))}" if again else ""))
        return texts


def _written(numbers: Iterable[int]) -> str:
    """Format numbers as ranges: 0, 1, 2, 5 become ``0-2 5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
