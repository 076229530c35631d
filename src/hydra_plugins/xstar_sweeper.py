"""Where Hydra looks for sweepers: ``hydra/sweeper=xstar``. The sweep itself is in ``xstar.integrations.hydra``.

Hydra imports every module of this namespace whenever one of its programs starts, so nothing of xstar is imported before a
sweep. It does so before the module has its place in ``sys.modules``, where dataclasses would look up annotations that are
words: so there is no ``from __future__ import annotations`` here.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class XstarSweeperConf:
    """The settings of a sweep; ``docs/integrations/tools.md`` explains them."""

    _target_: str = "hydra_plugins.xstar_sweeper.XstarSweeper"
    study: str | None = "${hydra.job.name}"
    storage: str | None = None
    trials: int | None = 20
    seconds: float | None = None
    workers: int = 1
    method: str | None = None
    max_budget: int | None = None
    metric: Any = None
    direction: str = "minimize"
    seed: int | None = None
    budget_key: str | None = None
    checkpoint_key: str | None = None
    max_failures: int | None = 5
    params: dict[str, Any] = field(default_factory=dict)


ConfigStore.instance().store(group="hydra/sweeper", name="xstar", node=XstarSweeperConf, provider="xstar")


class XstarSweeper(Sweeper):
    """Asks a study what to run and has Hydra's launcher run it."""

    def __init__(self, **settings: Any) -> None:
        self.settings = SimpleNamespace(**settings)

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """What Hydra says before the sweep."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        """Run the sweep that a command line describes."""
        from xstar.integrations.hydra import Sweep

        return Sweep(self).run(arguments)
