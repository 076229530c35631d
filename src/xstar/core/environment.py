"""What the digits of a decision depend on beside its history: versions, the kernels of BLAS, features of the processor.

OpenBLAS and NumPy choose their kernels by the processor and round differently in each. Where two environments agree, so do
decisions to the last bit. ``OPENBLAS_CORETYPE`` and ``NPY_DISABLE_CPU_FEATURES`` choose kernels by hand, and show here.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, requires, version
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


HOST = "host"


def environment_and_host() -> dict[str, str]:
    """The same with the name of the machine, as a journal has it: nothing is decided by the name, it says who ran what."""
    return {**environment(), HOST: platform.node()}


def without_host(parts: Mapping[str, str]) -> dict[str, str]:
    """What digits depend on."""
    return {name: value for name, value in parts.items() if name != HOST}


def host_of(environments: Sequence[Mapping[str, str]], by: int) -> str:
    """The machine of one of a journal's environments, by its place there; empty where that is not known."""
    return environments[by].get(HOST, "") if 0 <= by < len(environments) else ""


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


def show_versions() -> None:
    """Print the versions of xstar, of Python and of the packages that xstar uses, on this machine."""
    lines = {"xstar": VERSION, "python": platform.python_version(), "system": platform.platform(), **_packages()}
    width = max(map(len, lines))
    sys.stdout.write("".join(f"{name:<{width}}  {found}\n" for name, found in lines.items()))


def _packages() -> dict[str, str]:
    """What xstar depends on, and those of its extras that are installed."""
    found: dict[str, str] = {}
    for line in requires("xstar") or ():
        package = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"](.+?)['\"]", line)
        if package == "xstar" or (extra is not None and extra[1] == "dev"):
            continue
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            if extra is None:
                found[package] = "missing"
    return found
