"""In what order? The study, its two decisions, its settings and its limits."""

from xstar.storage import DEFAULT_STORAGE as DEFAULT_STORAGE, open_storage as open_storage
from xstar.study.limits import (
    FIRST_FAILURES as FIRST_FAILURES,
    NO_LIMITS as NO_LIMITS,
    Fuse as Fuse,
    Limits as Limits,
)
from xstar.study.study import Study as Study
