"""Asynchronous successive halving: promotion (ASHA) and stopping, and asynchronous Hyperband over both.

Choose it whenever an objective reports while it trains: most configurations are dropped after a fraction of the budget, and no
worker ever waits for another. Promotion pauses every trial at each rung until it has earned the next one; stopping lets a
trial run on unless it is among the worse. In the paper stopping is ahead early and promotion later; on the problems of
``benchmarks/multifidelity.py`` the two are equal within a standard error. The lowest rung matters more: where the first epoch
says nothing about the last one, raise ``min_budget`` or use several brackets.

Section 2 of the MOBSTER paper: ``continue(x, r, y)`` is true iff y is in the top 1/η of the records at rung r, y itself
included. Among n records that are the best ⌊n/η⌋; ties go to the earlier trial. With several brackets (asynchronous
Hyperband) each bracket has rungs of its own and begins at a higher one.

Three rules are ours. The lowest rung is 1/27 of the full budget, unless ``min_budget`` says otherwise. The ladder is built
from the top, so that its short step, if there is one, is the lowest (``ladder.py`` has the reasons of both). And the best
trial of the last rung but one always goes on, however few there are: ⌊n/η⌋ would wait for three there, hence for 27 trials
at the bottom of four rungs, and a short search would end with nothing trained to the end. On the 20 development tasks of
``benchmarks/budgets.py`` (ten seeds, four workers, four trainings each) 7 of 200 searches of ASHA had no complete trial by
half of the time; with the rules of the paper, 47. Where the good trials are slow ones, only a first one that goes up at once
is complete by then. So by promotion, while none is complete or on its way there, the best of those that train quickly does
(``last_rung="quick"``, ``quick.py``): then 1 of the 200 had none, and of MOBSTER's 0 instead of 10. It takes one of few workers
for less than a training while there is most to find out: 19 searches ended higher than without (``"best"``) and 6 lower, of
MOBSTER's 77 and 65.

A fourth is for promotion and about copies, trials with the very curve of another (``copies.py`` says when they count as such):
of n records, the best ⌊n/η⌋ *curves* go on, each once. So copies take neither full trainings nor the places of others, and
where a model suggests little else its workers train what there is. On Klein's 265 curves, where every configuration has the
curve of the nearest, one that is the best after an epoch and the 71st after 40 took 22 of the 79 trials of a search of MOBSTER,
and all but one of its full trainings; of 2,048 networks a search of 1,443 trials tried 59. Where no two curves are equal,
nothing changes. By stopping the same rule was no better (4–8 in twenty searches of these two tables).

A fifth is about ties. Of trials with equal losses the latest go on: a model has suggested them knowing most, and without one
it makes no difference. (Those that went on first would be the initial design, and by stopping none would go on after the
first.) And from a rung at which all of η² trials or more are equal, all go on: accuracy at chance, a reward that is still 0
or a warm-up say nothing, and to drop two thirds of the trials there would cost two thirds of the time up to there.

Two more are about what says nothing. A trial that diverges loses its places at the rungs that it had passed (``standing.py``).
And a rung whose losses differ by little more than noise compares nothing: trials pass it (``journal/silence.py``).

Where a ladder is given one by one its last step may be short, 27 → 52. Dropping two thirds of the trials there would save
little; ⌊n · r_(K−1)/r_K⌋ go on instead. And a step may be long, 12 → 200 of NAS-Bench-201. Promotion of a third of the trials
would leave five sixths of the time to full trainings, of 12 of 32 networks; halving gives all rungs the same share of it, so
⌊n · r_k/r_(k+1)⌋ go on there, too (8 of 92): on its three data sets ASHA reaches its former regret in 0.63 of the time, MOBSTER
ASHA's in 0.50 instead of 0.94 (ten seeds, four workers).

References: Li et al. (2020), A system for massively parallel hyperparameter tuning, MLSys; Liaw et al. (2018), Tune.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xstar.core.checks import check_names
from xstar.journal import History
from xstar.journal.copies import Copies
from xstar.journal.silence import Silence
from xstar.schedulers.base import SCHEDULERS
from xstar.schedulers.earlier import promoting_of_earlier_releases, stopping_of_earlier_releases
from xstar.schedulers.ladder import OnLadder, geometric_rungs, rungs_from_top
from xstar.schedulers.quick import first_up
from xstar.schedulers.repetition import Repetition
from xstar.schedulers.standing import Records, Standing, all_records
from xstar.trial import New, Promote, Report, State, Trial, Verdict

LADDERS = ("top", "bottom")
LAST_RUNGS = ("quick", "soon", "best", "ratio", "eta")
OF_STOPPING = LAST_RUNGS[2:]
REPEATS = ("distinct", "once", "each")
LONG_STEPS = ("ratio", "eta")
TIES = ("latest", "earliest")
DIVERGED = ("drop", "keep")
SILENT = ("pass", "compare")


FULL_SHARE = 4
"""The first full-budget trial begins after the epochs of three trainings. Until then the rungs are the faster way to a good
region; within it they tell less and less, as all that a model suggests there is good after a few epochs. On the development
tasks of ``benchmarks/budgets.py`` (four workers; not on record) losses after 10, 15 and 30 trainings on each are lower – higher
than without in 37–29, 50–21 and 44–27 searches; a share of a half from the start is behind for the first 15."""


class Halved:
    """A fold of the history: the epochs of trials that are compared at rungs."""

    def __init__(self) -> None:
        self.epochs = 0
        self._taken = 0
        self._reached: dict[int, int] = {}

    def catch_up(self, history: History) -> None:
        observed, top = history.observed, len(history.levels) - 1
        for place in range(self._taken, len(observed)):
            number, budget, _ = observed[place]
            if 0 <= history.trials[number].bracket < top:
                self.epochs += budget - self._reached.get(number, 0)
                self._reached[number] = budget
        self._taken = len(observed)


@dataclass(frozen=True)
class Asynchronous(OnLadder):
    """The settings of asynchronous halving (abstract)."""

    min_budget: int | None = None
    last_rung: str = "best"
    """How many trials of the last rung but one get the full budget: the ``ratio`` of the two budgets where that is more than
    1/η; the same, and the ``best`` one in any case (above the rung where it began); or 1/``eta`` as at the other rungs."""
    ladder: str = "top"
    """Where ``min_budget`` and ``eta`` are counted from: r_max/η, r_max/η², … down to r_min, or r_min·η, r_min·η², … up."""
    ties: str = "latest"
    """Which of several trials with equal losses go on, where not all of them do: the ``latest``, or the ``earliest``. With
    ``latest``, all go on from a rung whose records, η² or more, are all equal."""

    diverged: str = "drop"
    """What becomes of the records of a trial that diverged, at the rungs that it had passed: ``drop`` them, or ``keep`` them,
    so that they take places there (``standing.py``)."""
    silent: str = "pass"
    """At rungs whose losses differ by little more than noise (``journal/silence.py``), trials ``pass`` without a comparison, or
    are ``compare``-d as at others."""

    def __post_init__(self) -> None:
        check_names(
            self,
            {"last_rung": self._last_rungs(), "ladder": LADDERS, "ties": TIES, "diverged": DIVERGED, "silent": SILENT},
        )
        super().__post_init__()

    def _last_rungs(self) -> tuple[str, ...]:
        return OF_STOPPING

    def _geometric(self, lowest: int) -> tuple[int, ...]:
        build = rungs_from_top if self.ladder == "top" else geometric_rungs
        return build(lowest, self.max_budget, self.eta)

    def _is_long(self, place: int) -> bool:
        """Whether fewer than 1/η go on from the rung of this place, as the next one is far above."""
        return False

    def kept(self, count: int, place: int, bracket: int = 0) -> int:
        """How many of ``count`` records at the rung of this place go on to the next."""
        kept = count * self.rungs[place] // self.rungs[place + 1] if self._is_long(place) else count // self.eta
        if place == len(self.rungs) - 2 and self.last_rung != "eta":
            kept = max(kept, count * self.rungs[place] // self.rungs[place + 1])
            # Where a bracket begins nothing has been compared yet, and the first trial is not the best of any.
            if self.last_rung in ("quick", "soon", "best") and place > bracket:
                kept = max(kept, min(count, 1))
        return kept

    def records(self, history: History, budget: int, bracket: int) -> Records:
        """What is compared at a rung: (loss, trial number), the best first."""
        return self._standing(history)(history, budget, bracket)

    def _standing(self, history: History) -> Callable[[History, int, int], Records]:
        """What maps a rung to its records, as of now."""
        return all_records if self.diverged == "keep" else history.memo.fold(Standing, history).records

    def is_compared(self, history: History, trial: Trial, budget: int) -> bool:
        """Whether a report is decided on: at a rung that the trial came to, unless it differs from others by noise there."""
        if not self.at_rung(trial, budget):
            return False
        return self.silent == "compare" or not history.memo.fold(Silence, history).is_narrow(budget)

    def says_nothing(self, records: Records) -> bool:
        """Whether all trials of a rung have had the same loss, so that there is nothing to compare: all go on."""
        return self.ties == "latest" and len(records) >= self.eta**2 and bool(records[0][0] == records[-1][0])


@dataclass(frozen=True)
class ASHA(Asynchronous):
    """The promotion variant: pause at every rung, promote the best of each."""

    last_rung: str = "quick"
    """As ``best``, and while no trial is complete or on its way there, the best of the quick ones goes up at once
    (``quick.py``); ``best``, ``ratio`` or ``eta``: none does. ``soon``, which studies keep that were begun with it: the best
    one of every rung above the one where it began goes on, however slow it is."""
    repeats: str = "distinct"
    """Of trials that are copies of each other, ``distinct``: one goes on, and together they take one place; ``each``: each goes
    on that is among the best. ``once``, the rule in between: one with equal losses goes on, and each takes a place."""

    full_share: bool = False
    """Whether one epoch in ``FULL_SHARE`` goes to full-budget trials, which are compared at no rung (``mobster``)."""

    long_steps: str = "ratio"
    """From a rung whose next one is more than η√η times as high, which can be with ``levels``, the ``ratio`` of the two budgets
    goes on, or 1/``eta`` as from the others."""

    def __post_init__(self) -> None:
        check_names(self, {"repeats": REPEATS, "long_steps": LONG_STEPS})
        super().__post_init__()

    def _last_rungs(self) -> tuple[str, ...]:
        return LAST_RUNGS

    def _is_long(self, place: int) -> bool:
        low, high = self.rungs[place : place + 2]
        return self.long_steps == "ratio" and high**2 > self.eta**3 * low**2

    def next(self, history: History) -> New | Promote:
        if (first := self.first_up(history)) is not None:
            return Promote(first.number, self.rungs[self.rungs.index(first.budget) + 1])
        soon = self.last_rung == "soon" and not self._one_is_near(history)
        copies = history.memo.fold(Copies, history) if self.repeats == "distinct" else None
        once = self.repeats == "once" and history.memo.fold(Repetition, history).seen
        records_of = self._standing(history)
        for budget, bracket in self._from_the_top():
            paused, place = history.rung(budget, bracket).paused, self.rungs.index(budget)
            records = records_of(history, budget, bracket)
            places = self.kept(len(records), place, bracket)
            if self.says_nothing(records):
                places = len(records)
            if soon and place > bracket:
                places = max(places, min(len(records), 1))
            if not places:
                continue
            if copies is not None and copies.told_at(budget):
                number = copies.best_paused(history, budget, bracket, places, latest=self.ties == "latest")
            elif self.ties == "latest" and not once:
                number = _latest_paused(records, paused, places)
            else:
                number = _best_paused(records, paused, places, once)
            if number is not None:
                return Promote(number, self.rungs[place + 1])
        top = len(self.rungs) - 1
        if self.full_share and top and self._is_full_due(history):
            return New(self.max_budget, top)
        bracket = self.bracket_of(history.seed, len(history.trials))
        return New(self.rungs[bracket], bracket)

    def _is_full_due(self, history: History) -> bool:
        """Whether full-budget trials, the next one included, have one epoch in ``FULL_SHARE``, or less."""
        full = (history.started[len(self.rungs) - 1] + 1) * self.max_budget
        return full * (FULL_SHARE - 1) <= history.memo.fold(Halved, history).epochs

    def first_up(self, history: History) -> Trial | None:
        """The trial that goes up at once, while none is complete or on its way there."""
        if self.last_rung != "quick" or not history.running or history.count(State.COMPLETE):
            return None
        return first_up(history, self._from_the_top(), self.max_budget, self.eta)

    def _from_the_top(self) -> Iterator[tuple[int, int]]:
        """The rungs at which trials pause, and their brackets: what is nearest to a result goes first."""
        for place in range(len(self.rungs) - 2, -1, -1):
            for bracket in range(min(len(self.sizes), place + 1)):
                yield self.rungs[place], bracket

    def _one_is_near(self, history: History) -> bool:
        """Whether a trial is complete, or will be with its present run."""
        if history.count(State.COMPLETE):
            return True
        live = itertools.chain(history.running.values(), history.waiting.values())
        return any(trial.target == self.max_budget for trial in live)

    def distinct(self, history: History, budget: int, bracket: int) -> Sequence[tuple[float, int]] | None:
        """The records of a rung by curves, if there are copies: (loss, the first trial with it), the best first."""
        copies = history.memo.fold(Copies, history) if self.repeats == "distinct" else None
        return copies.rung(budget, bracket).ranked if copies is not None and copies.told_at(budget) else None

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        return Verdict.PAUSE if self.is_compared(history, trial, report.budget) else Verdict.CONTINUE

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # as records come in, any paused trial may still rise into the top 1/η


def _latest_paused(records: Records, paused: Records, places: int) -> int | None:
    """The best trial that pauses and has one of the ``places``; of equal ones, of which as many may go on as have places, the
    latest."""
    most, _ = records[places - 1]
    if not paused or paused[0][0] > most:
        return None
    loss, number = paused[0]
    if loss < most and (len(paused) == 1 or paused[1][0] > loss):
        return number
    first, last = (loss, -1), (math.nextafter(loss, math.inf), -1)
    better, waiting = records.bisect_left(first), paused.bisect_left(last)
    gone = records.bisect_left(last) - better - waiting
    return paused[waiting - 1][1] if gone < places - better else None


def _best_paused(records: Records, paused: Records, places: int, once: bool) -> int | None:
    """The best trial that pauses among the first ``places`` records; ``once``: and whose loss none has that went on before."""
    last = records[places - 1]
    at = 0
    while at < len(paused) and paused[at] <= last:
        loss, number = paused[at]
        if not once:
            return number
        alike, behind = (each.bisect_left((math.nextafter(loss, math.inf), 0)) for each in (records, paused))
        if alike - records.bisect_left((loss, 0)) == behind - at:  # all of them pause
            return number
        at = behind
    return None


@dataclass(frozen=True)
class StoppingASHA(Asynchronous):
    """The stopping variant: go on while among the best of the rung, or while fewer than η trials reached it."""

    def next(self, history: History) -> New:
        bracket = self.bracket_of(history.seed, len(history.trials))
        return New(self.rungs[bracket], bracket)

    def judge(self, history: History, report: Report) -> Verdict:
        trial = history.trials[report.trial]
        if not self.is_compared(history, trial, report.budget):
            return Verdict.CONTINUE
        records = self.records(history, report.budget, trial.bracket)
        count = len(records) + 1  # this one included, which the history does not hold yet
        if count < self.eta:
            return Verdict.CONTINUE
        # In the top k of them all iff better than the k-th of the others. One look-up and one comparison: finding its rank
        # compares it with twenty records, each a miss of the cache among a million (87,000 against 359,000 verdicts/s).
        place, loss = self.rungs.index(report.budget), history.loss_of(report.metrics)
        kept = self.kept(count, place, trial.bracket)
        last = records[kept - 1]
        if loss == last[0] and self.ties == "latest":
            # As many of equal trials go on as there are places: this one, if there is one more of them with it.
            goes_on = kept > self.kept(count - 1, place, trial.bracket) or self.says_nothing(records)
        else:
            goes_on = (loss, report.trial) < last
        return Verdict.CONTINUE if goes_on else Verdict.STOP

    def retired(self, history: History, trial: Trial) -> tuple[int, ...]:
        return ()  # nothing ever pauses


SCHEDULERS.register("asha", ASHA, readings=promoting_of_earlier_releases)
SCHEDULERS.register("asha-stop", StoppingASHA, readings=stopping_of_earlier_releases)
