"""Where? This process, or worker processes on this machine."""

from xstar.executors.base import Executor as Executor
from xstar.executors.inline import InlineExecutor as InlineExecutor
from xstar.executors.objective import Objective as Objective
from xstar.executors.objective import RunningTrial as RunningTrial
from xstar.executors.processes import ProcessExecutor as ProcessExecutor
