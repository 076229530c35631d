"""Functions that SciPy compiles, without the packages that stand around them.

The import of ``scipy.special``, ``scipy.linalg`` or ``scipy.optimize`` takes 100 to 200 ms of processor time, as much as all
else up to a program's first model. The compiled modules inside take 4 ms together, and hold the very same functions. Where
another version of SciPy keeps them elsewhere, the package is imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import scipy


def compiled(name: str) -> ModuleType:
    """Return a compiled module of SciPy, such as ``scipy.linalg._flapack``; ``ImportError`` if this SciPy has none there."""
    if name not in sys.modules:
        folder = Path(scipy.__path__[0]).joinpath(*name.split(".")[1:-1])
        spec = PathFinder.find_spec(name, [str(folder)])
        if spec is None or spec.loader is None:
            raise ImportError(f"SciPy {scipy.__version__} has no module {name}", name=name)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module  # what imports the package later on finds it there
    return sys.modules[name]


def functions(module: str, package: str, *names: str) -> list[Any]:
    """Return functions of a compiled module, or those of the same names that the package shows."""
    try:
        found = compiled(module)
        return [getattr(found, name) for name in names]
    except (ImportError, AttributeError):
        return [getattr(import_module(package), name) for name in names]


if TYPE_CHECKING:
    from scipy.linalg.blas import dtrsm as dtrsm
    from scipy.linalg.lapack import dpotrf as dpotrf, dpotri as dpotri
    from scipy.special import erfcx as erfcx, exp1 as exp1, log_ndtr as log_ndtr, ndtr as ndtr
else:
    (dtrsm,) = functions("scipy.linalg._fblas", "scipy.linalg.blas", "dtrsm")
    dpotrf, dpotri = functions("scipy.linalg._flapack", "scipy.linalg.lapack", "dpotrf", "dpotri")
    erfcx, exp1, log_ndtr, ndtr = functions(
        "scipy.special._special_ufuncs", "scipy.special", "erfcx", "exp1", "log_ndtr", "ndtr"
    )
