"""Write the dump of the present database format; run once per format, before its release."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import xstar as xs
from xstar.storage.tables import FORMAT


def main() -> None:
    times = iter(range(1_700_000_000, 1_800_000_000))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.db"
        space = xs.Space(
            lr=xs.Float(1e-4, 1e-1, log=True),
            layers=xs.Int(1, 3),
            optimizer=xs.Choice(["sgd", "adam"]),
            momentum=xs.Float(0, 1, when={"optimizer": "sgd"}),
            mask=xs.Bits(4),
        )
        with xs.Study(
            space, name="kept", storage=path, seed=5, max_budget=3, clock=lambda: float(next(times))
        ) as study:
            study.enqueue({"lr": 0.01, "layers": 2, "optimizer": "adam", "mask": (0, 1, 1, 0)})
            study.add({"lr": 0.02, "layers": 1, "optimizer": "sgd", "momentum": 0.9, "mask": (1, 1, 1, 1)}, 0.75)
            endings = ["tell", "report", "exception", "nan", "infeasible", "killed", "tell"]
            for ending in endings:
                trial = study.ask()
                assert trial is not None
                if ending == "killed":
                    study.fail(trial, "signal 9", kind="killed")
                    trial = study.ask()
                    assert trial is not None
                if ending in ("exception", "infeasible"):
                    study.fail(trial, "a reason", kind=ending)
                elif ending == "nan":
                    study.report(trial, {"value": float("nan"), "other": 1.0})
                elif ending == "report":
                    for epoch in trial.epochs():
                        study.report(trial, {"value": 1.0 / epoch, "other": float("inf")})
                else:
                    study.tell(trial, trial["lr"])
        connection = sqlite3.connect(path)
        Path(__file__).with_name(f"format-{FORMAT}.sql").write_text("\n".join(connection.iterdump()) + "\n")
        connection.close()


if __name__ == "__main__":
    main()
