"""Where? This process, worker processes on this machine, or a cluster."""

from xstar.run.contract import Executor as Executor, RunsInPoll as RunsInPoll
from xstar.run.devices import Place as Place
from xstar.run.inline import InlineExecutor as InlineExecutor
from xstar.run.objective import Objective as Objective, check_objective as check_objective
from xstar.run.processes import ProcessExecutor as ProcessExecutor
from xstar.run.run import Answer as Answer, Channel as Channel, run_job as run_job
