"""Search spaces: parameters of several kinds, conditions between them, and configurations as points to search.

Reading order: ``parameter.py`` (what a kind can do), ``numeric.py``, ``options.py``, ``binary.py`` (the kinds),
``conditions.py`` and ``structure.py`` (who is active when), ``space.py`` (all together), ``cube.py`` (the unit cube).
"""

from xstar.space.binary import Bits as Bits, Bool as Bool
from xstar.space.conditions import (
    When as When,
    at_least as at_least,
    at_most as at_most,
    between as between,
    read_when as read_when,
    when_from_json as when_from_json,
)
from xstar.space.cube import Encoder as Encoder
from xstar.space.numeric import Float as Float, Int as Int
from xstar.space.options import Choice as Choice, Constant as Constant, Ordinal as Ordinal
from xstar.space.parameter import Parameter as Parameter
from xstar.space.parameters import Domain as Domain, register_domain as register_domain
from xstar.space.priors import Normal as Normal
from xstar.space.space import Config as Config, Space as Space
from xstar.space.values import Value as Value
