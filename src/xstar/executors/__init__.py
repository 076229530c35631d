"""Where? This process, worker processes on this machine, or a cluster in virtual time."""

from xstar.executors.contract import Executor as Executor, RunsInPoll as RunsInPoll
from xstar.executors.devices import Place as Place
from xstar.executors.inline import InlineExecutor as InlineExecutor
from xstar.executors.objective import Objective as Objective, check_objective as check_objective
from xstar.executors.processes import ProcessExecutor as ProcessExecutor, check_workers as check_workers
from xstar.executors.run import Answer as Answer, Channel as Channel, run_job as run_job
from xstar.executors.simulator import Simulator as Simulator
