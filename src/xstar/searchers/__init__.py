"""Search methods, which suggest configurations: one file or package per method."""

from xstar.searchers.auto import Auto as Auto, without_model as without_model
from xstar.searchers.base import (
    SEARCHERS as SEARCHERS,
    Finite as Finite,
    Searcher as Searcher,
)
from xstar.searchers.boca import BOCA as BOCA
from xstar.searchers.cma import CMA as CMA
from xstar.searchers.dngo.searcher import DNGO as DNGO, DNGOPaper as DNGOPaper
from xstar.searchers.evolution import (
    Evolution as Evolution,
    NetworkRandom as NetworkRandom,
    RegularisedEvolution as RegularisedEvolution,
)
from xstar.searchers.forest.searcher import Forest as Forest
from xstar.searchers.gp.searcher import GP as GP, MOBSTERPaper as MOBSTERPaper
from xstar.searchers.grid import Grid as Grid
from xstar.searchers.nasbot import NASBOT as NASBOT, NASBOTPaper as NASBOTPaper
from xstar.searchers.nsga2 import NSGA2 as NSGA2
from xstar.searchers.pbil import PBIL as PBIL
from xstar.searchers.random import Random as Random
from xstar.searchers.sobol import Sobol as Sobol
from xstar.searchers.tpe.searcher import TPE as TPE
from xstar.searchers.treebo import TreeBO as TreeBO
