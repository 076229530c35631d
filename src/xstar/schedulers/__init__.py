"""How much? One file per scheduler."""

from xstar.schedulers.base import SCHEDULERS as SCHEDULERS
from xstar.schedulers.base import Scheduler as Scheduler
from xstar.schedulers.fifo import FIFO as FIFO
