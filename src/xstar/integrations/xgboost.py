"""XGBoost: ``Report``, a callback that reports each round, ends bad trials, and goes on from the booster of a paused one."""

from __future__ import annotations

from typing import Any

from xstar.errors import InvalidArgument
from xstar.integrations import missing
from xstar.integrations.rounds import Rounds

try:
    import xgboost
    from xgboost.callback import TrainingCallback
except ImportError as error:
    raise missing("xgboost", "xgboost") from error


class Report(Rounds, TrainingCallback):
    """Reports the metrics of all evaluation sets, as ``valid-rmse``, after every ``every`` rounds.

    ::

        def objective(trial):
            report = Report(trial)
            xgboost.train(trial.config, train, num_boost_round=report.rounds, xgb_model=report.model,
                          evals=[(valid, "valid")], verbose_eval=False, callbacks=[report])

    The objective returns nothing: its last report counts.
    """

    @property
    def model(self) -> xgboost.Booster | None:
        """The booster of an earlier run, for ``xgb_model``; ``None``: there is none."""
        if self._saved is None:
            return None
        booster = xgboost.Booster()
        booster.load_model(bytearray(self._saved))  # earlier versions kept bytes
        return booster

    def after_iteration(self, model: Any, epoch: int, evals_log: dict[str, dict[str, list[Any]]]) -> bool:
        """One round is done; returns whether to end, which is left to ``xs.Pruned``."""
        metrics = {
            f"{data}-{name}": float(values[-1][0] if isinstance(values[-1], tuple) else values[-1])
            for data, log in evals_log.items()
            for name, values in log.items()
        }
        if not metrics:
            raise InvalidArgument("evals", "must name a data set to report on", None, 'evals=[(valid, "valid")]')
        # The booster knows how many rounds it has; `epoch` counts from 0 when training goes on.
        self._completed(model.num_boosted_rounds(), metrics, lambda: model.save_raw("ubj"))
        return False

    def after_training(self, model: Any) -> Any:
        """Training is over, maybe by early stopping of XGBoost's own: keep the booster of the last report."""
        self._ended(lambda rounds: _dump(model, rounds))
        return model

    def keep(self, booster: xgboost.Booster) -> None:
        """Keep the booster that ``xgboost.train`` returned, of its best round where its own early stopping has found one."""
        best = booster.attr("best_iteration")
        self._keep(lambda rounds: _dump(booster, rounds if best is None else int(best) + 1))


def _dump(booster: Any, rounds: int) -> Any:
    """The booster of the first so many rounds; fewer where it was cut already, as by ``EarlyStopping(save_best=True)``."""
    return (booster if booster.num_boosted_rounds() <= rounds else booster[:rounds]).save_raw("ubj")
