"""SciPy's compiled functions: the same as the packages show, without their import."""

from __future__ import annotations

import subprocess
import sys

import pytest

from xstar.core import compiled

NAMES = {
    "linalg.blas": ["dtrsm"],
    "linalg.lapack": ["dpotrf", "dpotri"],
    "special": ["erfcx", "exp1", "log_ndtr", "ndtr"],
}


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_they_are_the_functions_that_the_packages_show_later_on() -> None:
    code = "from xstar.core import compiled; compiled.compiled('scipy.optimize._lbfgsb'); import scipy.optimize\n"
    for package, names in NAMES.items():
        code += f"import scipy.{package}\n"
        code += "".join(f"assert scipy.{package}.{name} is compiled.{name}\n" for name in names)
    code += (
        "from scipy.optimize import minimize; print(minimize(lambda x: (x - 1) @ (x - 1), [0.0], method='L-BFGS-B').x)"
    )
    assert run(code) == "[1.]\n"


@pytest.mark.parametrize("module", ["scipy.special._moved", "scipy.special._comb"])
def test_where_scipy_keeps_them_elsewhere_the_package_is_imported(module: str) -> None:
    from scipy.special import ndtr

    assert compiled.functions(module, "scipy.special", "ndtr") == [ndtr]


@pytest.mark.skipif(
    not hasattr(compiled.compiled("scipy.special._special_ufuncs"), "ndtr"),
    reason="this SciPy (1.15) has ndtr in scipy.special._ufuncs, which needs the package",
)
def test_a_first_model_imports_no_package_of_scipy() -> None:
    code = (
        "import sys, xstar as xs\n"
        "xs.minimize(lambda t: t['x'] ** 2, xs.Space(x=xs.Float(0, 1)), trials=9, method='gp', progress=False)\n"
        "print(*sys.modules)"
    )
    assert not {"scipy.special", "scipy.linalg", "scipy.optimize"} & set(run(code).split())
