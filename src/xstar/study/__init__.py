"""In what order? The study, its two decisions, its settings and its limits."""

from xstar.study.limits import NO_LIMITS as NO_LIMITS
from xstar.study.limits import Limits as Limits
from xstar.study.place import DEFAULT_STORAGE as DEFAULT_STORAGE
from xstar.study.place import open_storage as open_storage
from xstar.study.study import Study as Study
