"""xstar finds x★: the hyperparameters and the architecture of a model, with as few, short and parallel runs as possible."""

from xstar import nets as nets
from xstar.api import Result as Result
from xstar.api import maximize as maximize
from xstar.api import minimize as minimize
from xstar.core.version import VERSION
from xstar.errors import Infeasible as Infeasible
from xstar.errors import Pruned as Pruned
from xstar.errors import XstarError as XstarError
from xstar.programs import Command as Command
from xstar.space import Bits as Bits
from xstar.space import Bool as Bool
from xstar.space import Choice as Choice
from xstar.space import Constant as Constant
from xstar.space import Domain as Domain
from xstar.space import Float as Float
from xstar.space import Int as Int
from xstar.space import Normal as Normal
from xstar.space import Ordinal as Ordinal
from xstar.space import Space as Space
from xstar.space import at_least as at_least
from xstar.space import at_most as at_most
from xstar.space import between as between
from xstar.study import Limits as Limits
from xstar.study import Study as Study
from xstar.trial import State as State
from xstar.trial import Trial as Trial
from xstar.trial import Verdict as Verdict

__version__ = VERSION
