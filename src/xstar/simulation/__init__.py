"""Methods compared in simulated time."""

from xstar.simulation.regret import improvements as improvements
from xstar.simulation.regret import regret_at as regret_at
from xstar.simulation.regret import regret_over_time as regret_over_time
from xstar.simulation.simulate import TIME_IS_OVER as TIME_IS_OVER
from xstar.simulation.simulate import fitted as fitted
from xstar.simulation.simulate import rungs_at as rungs_at
from xstar.simulation.simulate import simulate as simulate
