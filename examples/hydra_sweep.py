"""A program of Hydra's, swept by xstar: the same command again goes on where the sweep ended.

python examples/hydra_sweep.py --multirun hydra/sweeper=xstar 'lr=tag(log,interval(1e-4,1))' optimizer=sgd,adam
python examples/hydra_sweep.py [TRIALS]         # a sweep with its overrides filled in; a few seconds
"""

import math
import sys

import hydra
from hydra.core.config_store import ConfigStore

ConfigStore.instance().store(name="config", node={"lr": 0.1, "layers": 1, "optimizer": "sgd"})
SWEEP = ["--multirun", "hydra/sweeper=xstar", "lr=tag(log,interval(1e-4,1))", "layers=range(1,5)", "optimizer=sgd,adam"]


@hydra.main(version_base="1.3", config_path=None, config_name="config")
def train(cfg):
    """What you already have; the number it returns is what the sweep makes small."""
    return math.log10(cfg.lr / 0.01) ** 2 + 0.1 * (cfg.layers - 3) ** 2 + (cfg.optimizer == "sgd")


if __name__ == "__main__":
    if len(sys.argv) == 1 or sys.argv[1].isdecimal():
        trials = sys.argv[1] if len(sys.argv) > 1 else "30"
        sys.argv[1:] = [*SWEEP, f"hydra.sweeper.trials={trials}", "hydra.sweeper.seed=1"]
    train()
