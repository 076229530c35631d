"""What every searcher must do."""

from __future__ import annotations

import math

from xstar.journal.trial import Config
from xstar.look.audit import audit
from xstar.searchers import Searcher
from xstar.space import Bits, Bool, Choice, Float, Int, Ordinal, Space, at_least
from xstar.study import Study

SPACES: dict[str, Space] = {
    "one float": Space(x=Float(-5, 10)),
    "mixed": Space(
        lr=Float(1e-5, 1.0, log=True),
        units=Int(1, 1000, log=True),
        kind=Choice(["a", "b", "c"]),
        size=Ordinal([1, 2, 4]),
        flag=Bool(),
        mask=Bits(3),
        seed=7,
    ),
    "conditional": Space(
        layers=Int(1, 3),
        units_2=Int(4, 64, log=True, when={"layers": at_least(2)}),
        units_3=Int(4, 64, log=True, when={"layers": at_least(3)}),
        momentum=Float(0, 1, when={"optimizer": "sgd"}),
        optimizer=Choice(["sgd", "adam"]),
    ),
    "finite": Space(a=Choice(["x", "y", "z"]), b=Int(0, 3), c=Bool(when={"a": "x"})),
}


def loss(config: Config) -> float:
    """Some number that depends on every parameter."""
    numbers = [value if isinstance(value, float) else math.sin(len(str(value))) for value in config.values()]
    return sum(math.cos(place) * number for place, number in enumerate(numbers))


def check_searcher(searcher: Searcher, trials: int = 25) -> None:
    """Valid, repeatable, recomputable suggestions in all :data:`SPACES`; none twice in a finite one.

    What a searcher keeps in ``history.memo`` must not change what it suggests: a study that is resumed begins without it.
    """
    for name, space in SPACES.items():
        first, second = (_run(searcher, space, trials, seed=5, forgetful=forgetful) for forgetful in (False, True))
        configs = [trial.config for trial in first.history.trials]
        assert configs == [trial.config for trial in second.history.trials], (
            f"{name}: same seed, other suggestions when history.memo is emptied before each"
        )
        for config in configs:
            assert space.parse(config) == config, f"{name}: not in canonical form: {config}"
        assert audit(first).findings == [], f"{name}: decisions cannot be recomputed: {audit(first).findings[:3]}"
        keys = [space.key(config) for config in configs]
        if space.size < math.inf:
            assert len(set(keys)) == len(keys), (
                f"{name}: a configuration was suggested twice, though it ran or had failed"
            )
            assert len(keys) == min(trials, space.size), f"{name}: ended before all configurations were tried"


def _run(searcher: Searcher, space: Space, trials: int, seed: int, *, forgetful: bool) -> Study:
    """Some trials fail, some are infeasible, and some run on: these count as tried, too."""
    study = Study(space, searcher=searcher, seed=seed)
    for _ in range(trials):
        if forgetful:
            study.history.memo.clear()
        trial = study.ask()
        if trial is None:
            assert study.ended or study.history.running, "a searcher that is done says why"
            break
        kind = {5: "exception", 7: "infeasible"}.get(trial.number % 9)
        if kind is not None:
            study.fail(trial, "no reason", kind=kind)
        elif trial.number % 9 != 8:
            study.tell(trial, loss(trial.config))
    return study
