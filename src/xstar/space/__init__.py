"""Search spaces: parameters of several kinds, conditions between them, and configurations as points to search.

Reading order: ``parameter.py`` (what a kind can do), ``number.py``, ``numeric.py``, ``options.py``, ``binary.py`` (the kinds),
``conditions.py`` and ``structure.py`` (who is active when), ``space.py`` (all together), ``encode.py`` (the unit cube).
"""

from xstar.space.binary import Bits as Bits
from xstar.space.binary import Bool as Bool
from xstar.space.conditions import When as When
from xstar.space.conditions import at_least as at_least
from xstar.space.conditions import at_most as at_most
from xstar.space.conditions import between as between
from xstar.space.conditions import read_when as read_when
from xstar.space.conditions import when_from_json as when_from_json
from xstar.space.encode import Encoder as Encoder
from xstar.space.numeric import Float as Float
from xstar.space.numeric import Int as Int
from xstar.space.options import Choice as Choice
from xstar.space.options import Constant as Constant
from xstar.space.options import Ordinal as Ordinal
from xstar.space.parameter import Parameter as Parameter
from xstar.space.parameters import Domain as Domain
from xstar.space.parameters import register_domain as register_domain
from xstar.space.priors import Normal as Normal
from xstar.space.space import Config as Config
from xstar.space.space import Space as Space
from xstar.space.values import Value as Value
