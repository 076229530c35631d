"""LCBench (Zimmer et al. 2021): networks on tabular data sets, 52 epochs, seven hyperparameters — in two forms.

``lcbench-<task>`` is the surrogate of YAHPO Gym (Pfisterer et al. 2022) itself, a network that maps (task, configuration,
epoch) to accuracy and seconds: continuous, so that a searcher is not tied to rows, at about half a millisecond a curve.
``lcbench-table-<task>`` is a table of 1,000 configurations evaluated beforehand *by the same surrogate*, at a few
microseconds a curve; a configuration gets the curve of the nearest row (``tabular.Scattered`` says why). Neither holds
raw measurements. The surrogate knows more tasks than the table has; ``TABLED`` are those of both.

Both are free of noise: the seed changes nothing. Losses are validation errors in percent: 100 - accuracy. The surrogate's
seconds do not always increase from epoch to epoch; ``data.increasing`` puts them in order.

The optimum of the table is its best row. That of the surrogate is not known in closed form: ``OPTIMA`` holds the best of a
search far larger than any comparison's, made once by ``lcbench_optima.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import data
from benchmarks.tables.data import Entry
from benchmarks.tables.tabular import Scattered
from xstar.space import Config, Float, Int, Space
from xstar.testing.problems import Curve

MODEL = "lcbench_surrogate/model.onnx"
ENCODING = "lcbench_surrogate/encoding.json"
TABLE = "lcbench_surrogate/curves.npz"
EPOCHS = 52
UNIT = "validation error in percent"

# In the order in which the model takes them, after the epoch.
SPACE = Space(
    batch_size=Int(16, 512, log=True),
    learning_rate=Float(1e-4, 1e-1, log=True),
    momentum=Float(0.1, 0.99),
    weight_decay=Float(1e-5, 1e-1),
    num_layers=Int(1, 5),
    max_units=Int(64, 1024, log=True),
    max_dropout=Float(0.0, 1.0),
)

# task: (optimum, the configuration that reaches it, in the space's order).
# The optimum is rounded *down* to four decimals: float32 arithmetic differs from machine to machine, and a regret shall not
# become negative by that.
OPTIMA: dict[str, tuple[float, tuple[float, ...]]] = {
    "126025": (0.5274, (16.0, 0.1, 0.989991553, 0.00046666263, 5.0, 1024.0, 0.846091786)),
    "146212": (0.8028, (106.0, 0.000828694228, 0.99, 0.0206386242, 5.0, 964.0, 0.0)),
    "167104": (3.0079, (16.0, 0.1, 0.99, 0.000688192564, 5.0, 1024.0, 0.721450437)),
    "167168": (10.5734, (16.0, 0.0158891418, 0.99, 0.0160254104, 5.0, 711.0, 0.0)),
    "167184": (11.7991, (16.0, 0.1, 0.99, 0.00175345431, 5.0, 64.0, 0.609281278)),
    "167200": (9.721, (16.0, 0.1, 0.99, 0.000589106029, 5.0, 64.0, 0.866553786)),
    "167201": (13.8821, (16.0, 0.1, 0.119733305, 2.6739339e-05, 5.0, 64.0, 0.0)),
    "168330": (23.2798, (16.0, 0.000366992106, 0.99, 0.00375988506, 5.0, 64.0, 0.0)),
    "168331": (13.1189, (512.0, 0.1, 0.989997163, 1e-05, 5.0, 64.0, 0.0)),
    "189865": (0.9673, (16.0, 0.1, 0.99, 0.000402648606, 5.0, 1024.0, 0.689774627)),
    "189866": (5.3032, (16.0, 0.1, 0.99, 0.000329389456, 5.0, 1024.0, 0.0)),
    "189909": (12.7142, (16.0, 0.0068215678, 0.99, 0.000313148038, 5.0, 64.0, 0.0)),
    # The surrogate alone.
    "126026": (0.2515, (16.0, 0.1, 0.99, 0.000450081848, 5.0, 1024.0, 0.832352243)),
    "126029": (0.7162, (16.0, 0.1, 0.99, 0.000411229697, 5.0, 1024.0, 0.767915785)),
    "167083": (19.0222, (16.0, 0.1, 0.99, 0.000898079575, 5.0, 64.0, 1.0)),
    "167149": (0.5148, (16.0, 0.1, 0.99, 1e-05, 4.0, 467.0, 0.81679797)),
    "167152": (1.2849, (512.0, 0.0624446402, 0.989990508, 0.000101098144, 3.0, 1024.0, 0.0)),
    "167161": (8.2121, (16.0, 0.1, 0.99, 0.000266876467, 5.0, 1024.0, 0.790809789)),
    "168329": (45.0486, (16.0, 0.1, 0.1, 0.000784858311, 5.0, 439.0, 0.0)),
    "168910": (11.1199, (16.0, 0.0431248133, 0.99, 1.4200127e-05, 5.0, 1024.0, 0.623818673)),
    "189906": (4.7245, (16.0, 0.0495745623, 0.99, 6.6546433e-05, 4.0, 1024.0, 0.69477403)),
    "7593": (8.3024, (512.0, 0.1, 0.99, 0.000284285706, 5.0, 1024.0, 0.352010497)),
}
TABLED = tuple(OPTIMA)[:12]


class Surrogate:
    """One task of the surrogate: a continuous problem."""

    space = SPACE
    budgets = tuple(range(1, EPOCHS + 1))
    unit = UNIT

    def __init__(self, task: str) -> None:
        self.name = f"lcbench-{task}"
        self.optimum, values = OPTIMA[task]
        self.best: Config = SPACE.parse(dict(zip(SPACE, values, strict=True)))
        self._task = task
        self._run, encoding = data.surrogate(data.path(MODEL), data.path(ENCODING))
        self._code = encoding["OpenML_task_id"][task]
        self._category = np.full((EPOCHS, 1), self._code, np.int32)
        self._epochs = np.arange(1, EPOCHS + 1, dtype=np.float32)

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        rows = np.empty((EPOCHS, 1 + len(SPACE)), np.float32)
        rows[:, 0] = self._epochs
        rows[:, 1:] = self._values(config)
        seconds, losses = self._predict(self._category, rows)
        return Curve(losses.tolist(), data.increasing(seconds).tolist())

    def loss(self, config: Mapping[str, Any]) -> float:
        # By way of the curve, so that the two agree to the last bit: a call with one row takes other float32 kernels than
        # one with many, and differs by up to 4e-4.
        return self.curve(config, 0).losses[-1]

    def losses(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """``loss`` of many configurations at once, to 4e-4: ``values`` (n, 7) in the space's order, in natural units."""
        rows = np.concatenate([np.full((len(values), 1), EPOCHS), values], axis=1, dtype=np.float32)
        return self._predict(np.full((len(values), 1), self._code, np.int32), rows)[1]

    def _values(self, config: Mapping[str, Any]) -> tuple[float, ...]:
        try:
            return SPACE.key(config)
        except KeyError:
            SPACE.parse(config)  # says in words what is missing
            raise

    def _predict(self, category: NDArray[np.int32], rows: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[Any]]:
        (answer,) = self._run(None, {"x_cat": category, "x_cont": rows})  # (n, 6): seconds, accuracy, and four more
        return answer[:, 0], 100.0 - answer[:, 1].astype(np.float64)

    def __reduce__(self) -> tuple[type[Surrogate], tuple[str]]:
        return type(self), (self._task,)  # a session cannot be pickled, and need not be


@cache
def _arrays(path: Path, task: str) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as table:
        place = table["tasks"].tolist().index(task)
        columns = table["configs"].T
        rows = dict(zip(table["config_names"].tolist(), columns, strict=True))
        losses = 100.0 - table["val_accuracy"][place].astype(np.float64)  # (rows, epochs)
        seconds = data.increasing(table["time_s"][place])
    return {"rows": rows, "losses": losses[:, None, :], "seconds": seconds[:, None, :]}


def table_problem(task: str) -> Scattered:
    arrays = _arrays(data.path(TABLE), task)
    return Scattered(f"lcbench-table-{task}", SPACE, **arrays, budgets=range(1, EPOCHS + 1), unit=UNIT)


ENTRIES = {
    **{f"lcbench-{task}": Entry(partial(Surrogate, task), (MODEL, ENCODING), ("onnxruntime",)) for task in OPTIMA},
    **{f"lcbench-table-{task}": Entry(partial(table_problem, task), (TABLE,)) for task in TABLED},
}
