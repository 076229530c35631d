"""Methods compared in simulated time."""

from xstar.simulation.simulate import (
    TIME_IS_OVER as TIME_IS_OVER,
    fitted as fitted,
    regret_over_time as regret_over_time,
    rungs_at as rungs_at,
    simulate as simulate,
)
