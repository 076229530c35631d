"""How much? One file per scheduler."""

from xstar.schedulers.asha import ASHA as ASHA, StoppingASHA as StoppingASHA
from xstar.schedulers.base import (
    SCHEDULERS as SCHEDULERS,
    Advises as Advises,
    Scheduler as Scheduler,
)
from xstar.schedulers.fifo import FIFO as FIFO
from xstar.schedulers.hyperband import Hyperband as Hyperband
from xstar.schedulers.median import Median as Median
from xstar.schedulers.rungs import geometric_rungs as geometric_rungs
from xstar.schedulers.searcher_budget import SearcherBudget as SearcherBudget
