"""What the digits of a decision depend on beside its history: versions, the kernels of BLAS, features of the processor.

OpenBLAS and NumPy choose their kernels by the processor and round differently in each. Where two environments agree, so do
decisions to the last bit. ``OPENBLAS_CORETYPE`` and ``NPY_DISABLE_CPU_FEATURES`` choose kernels by hand, and show here.
"""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType

from xstar.core.version import VERSION

PACKAGES = ("numpy", "scipy", "POT", "cmaes", "torch")
"""Those whose numbers decide something."""


@lru_cache(maxsize=1)
def environment() -> MappingProxyType[str, str]:
    """The environment of this process, as names and words."""
    found = {"xstar": VERSION, "python": ".".join(platform.python_version_tuple()[:2])}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    library, kernel = _blas()
    system = f"{platform.system()} {' '.join(part for part in platform.libc_ver() if part)}".strip()
    return MappingProxyType(found | {"system": system, "blas": library, "kernel": kernel, "processor": _processor()})


def _blas() -> tuple[str, str]:
    """NumPy's BLAS and the kernels that it has chosen; SciPy's own chooses alike, and its version is known by SciPy's."""
    import numpy.linalg  # noqa: F401  it loads the library
    from threadpoolctl import ThreadpoolController

    found = [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]
    first = min(found, key=lambda each: ("numpy" not in str(each.filepath), str(each.filepath)), default=None)
    if first is None:
        return "unknown", "unknown"
    return f"{first.internal_api} {first.version}", str(getattr(first, "architecture", "") or "unknown")


def _processor() -> str:
    """The machine and the groups of instructions that NumPy makes use of."""
    import numpy as np

    groups = np.show_config("dicts")["SIMD Extensions"]
    return " ".join([platform.machine(), *groups["baseline"], *groups.get("found", ())])
