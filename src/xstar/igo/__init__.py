"""Natural-gradient search of discrete and mixed spaces without tuning parameters: ask/tell cores without a study.

Nishida et al. (2018), Parameterless stochastic natural gradient method for discrete optimization and its application to
hyper-parameter optimization for neural network. Reading order: ``core.py`` (Algorithm 1),
``adaptation.py`` (W, λ and ε), ``family.py`` with ``discrete.py`` and ``gaussian.py``, ``layout.py`` (any space
as a family), ``generations.py`` (the state of a study), ``cotrain.py``.
"""

from xstar.igo.adaptation import Settings as Settings
from xstar.igo.core import IGO as IGO
from xstar.igo.discrete import Bernoulli as Bernoulli, Categorical as Categorical
from xstar.igo.family import Family as Family, Product as Product
from xstar.igo.gaussian import Gaussian as Gaussian
from xstar.igo.layout import Layout as Layout
