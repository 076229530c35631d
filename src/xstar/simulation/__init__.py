"""Methods compared in simulated time."""

from xstar.simulation.regret import (
    improvements as improvements,
    regret_at as regret_at,
    regret_over_time as regret_over_time,
)
from xstar.simulation.simulate import (
    TIME_IS_OVER as TIME_IS_OVER,
    fitted as fitted,
    rungs_at as rungs_at,
    simulate as simulate,
)
