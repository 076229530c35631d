"""LightGBM: ``Report``, a callback that reports each round, ends bad trials, and goes on from the booster of a paused one."""

from __future__ import annotations

from xstar.errors import InvalidArgument
from xstar.integrations import missing
from xstar.integrations.rounds import Rounds

try:
    import lightgbm
    from lightgbm.callback import CallbackEnv
except ImportError as error:
    raise missing("lightgbm", "lightgbm") from error


class Report(Rounds):
    """Reports the metrics of all validation sets, as ``valid_0-l2``, after every ``every`` rounds.

    ::

        def objective(trial):
            report = Report(trial)
            lightgbm.train({**trial.config, "objective": "l2"}, train, num_boost_round=report.rounds,
                           init_model=report.model, valid_sets=[valid], callbacks=[report])

    The objective returns nothing: its last report counts. The data set needs ``free_raw_data=False`` if it is used again.
    """

    order = 25
    """After callbacks that change parameters (10) or record (20), before early stopping (30), which skips those after it."""
    before_iteration = False

    @property
    def model(self) -> lightgbm.Booster | None:
        """The booster of an earlier run, for ``init_model``; ``None``: there is none."""
        return None if self._saved is None else lightgbm.Booster(model_str=self._saved)

    def __call__(self, env: CallbackEnv) -> None:
        metrics = {f"{result[0]}-{result[1]}": float(result[2]) for result in env.evaluation_result_list or ()}
        if not metrics:
            raise InvalidArgument("valid_sets", "must name a data set to report on", None, "valid_sets=[valid]")
        self._completed(env.iteration + 1, metrics, lambda: env.model.model_to_string(num_iteration=-1))

    def keep(self, booster: lightgbm.Booster) -> None:
        """Keep the booster that ``lightgbm.train`` returned, of its best round where its own early stopping has found one."""
        self._keep(lambda _: booster.model_to_string())
