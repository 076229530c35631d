"""What a machine has and how workers share it: cores, the threads of numerical libraries, GPUs.

Nothing here imports a training library. GPUs are those that ``CUDA_VISIBLE_DEVICES`` names or, where it is not set, those
that ``nvidia-smi -L`` lists; the parts of a divided GPU (MIG) count in its place. A worker process is started with its own
``CUDA_VISIBLE_DEVICES`` and with as many threads as it has cores: both have to be there before a library looks for them.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xstar.core.checks import unwrap, whole_number
from xstar.core.words import plural
from xstar.errors import InvalidArgument

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""What numerical libraries read when they are loaded; torch and the boosting libraries read OpenMP's."""

VISIBLE = "CUDA_VISIBLE_DEVICES"

LISTING_SECONDS = 60.0
"""How long ``nvidia-smi`` may take: several seconds where the driver has to be woken up first."""

_LISTED = re.compile(r"(\s*)(GPU|MIG)\b.*\(UUID: ([^)\s]+)\)\s*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trial runs."""

    worker: int = 0
    """The worker's number."""
    shared_cores: int | None = None
    """How many cores are its share; ``None``: all of the machine's."""
    gpus: tuple[str, ...] | None = None
    """The GPUs that it sees; ``None``: nobody shared them out, and it sees all."""

    @property
    def cores(self) -> int:
        return self.shared_cores or available_cores()

    @property
    def device(self) -> str:
        gpus = visible_gpus() if self.gpus is None else self.gpus
        return "cuda:0" if gpus else "cpu"

    def shares_gpu(self, other: Place) -> bool:
        """Whether a GPU that one sees is seen by the other, too."""
        return self.gpus is None or other.gpus is None or not set(self.gpus).isdisjoint(other.gpus)

    def environment(self, given: Mapping[str, str], *, overrule: bool = False) -> dict[str, str]:
        """The variables with which its worker process is started.

        A number of threads that is ``given`` is the user's own choice; ``overrule`` it if ``cores=`` is a later one.
        """
        made = dict(given)
        if self.shared_cores is not None:
            for name in THREADS:
                if overrule or name not in made:
                    made[name] = str(self.shared_cores)
        if self.gpus is not None:
            made[VISIBLE] = ",".join(self.gpus)
        return made


HERE = Place()
"""This process, with all that the machine has."""


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(workers: int, cores: int | None = None, gpus: float | None = None) -> list[Place]:
    """A place for each worker: ``cores`` and ``gpus`` are for one of them; by default the cores are shared evenly."""
    workers = whole_number("workers", workers, least=1, remedy="e.g. workers=2 for two trials at a time")
    if cores is not None:
        cores = whole_number("cores", cores, least=1, remedy="it is the number of cores of one worker")
    each = cores
    if each is None and workers > 1:  # one worker has them all, and its libraries know best how many threads that makes
        each = max(1, available_cores() // workers)
    shares = [None] * workers if gpus is None else share_gpus(workers, gpus, visible_gpus())
    return [Place(number, each, own) for number, own in enumerate(shares)]


def share_gpus(workers: int, gpus: float, found: Sequence[str]) -> list[tuple[str, ...]]:
    """The GPUs of each worker: ``gpus`` whole ones, or one that is shared by as many workers as ``gpus`` goes into 1.

    >>> share_gpus(4, 0.5, ["0", "1"])
    [('0',), ('0',), ('1',), ('1',)]
    """
    number = check_gpus(gpus)
    if number == 0:
        return [()] * workers
    if number >= 1:
        whole, sharing = int(number), 1
    else:
        whole, sharing = 1, int(1 / number + 1e-9)  # 1/3 three times is one GPU, though 3 · 0.3333 is not quite
    needed = -(-workers // sharing) * whole
    if needed > len(found):
        rule = f"{plural(workers, 'worker')} with {number:g} each need {plural(needed, 'GPU')}"
        raise InvalidArgument("gpus", rule, _described(found), _remedy(found))
    return [tuple(found[worker // sharing * whole : worker // sharing * whole + whole]) for worker in range(workers)]


def check_gpus(gpus: object) -> float:
    """GPUs for one worker: a whole number, or a fraction below 1."""
    number = unwrap(gpus)
    remedy = "1: a GPU for each worker; 0.5: two workers share one; 0: none; leave it out and every worker sees all"
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < float("inf"):
        raise InvalidArgument("gpus", "must be a number of GPUs for each worker", gpus, remedy)
    if number > 1 and number != int(number):
        raise InvalidArgument("gpus", "must be a whole number, or below 1", gpus, remedy)
    return float(number)


def _described(found: Sequence[str]) -> str:
    if not found:
        return f"found=none ({VISIBLE} is {os.environ[VISIBLE]!r})" if VISIBLE in os.environ else "found=none"
    return f"found={len(found)} ({', '.join(found)})"


def _remedy(found: Sequence[str]) -> str:
    if found:
        return "ask for fewer workers, or for less of a GPU each: two with gpus=0.5 share one"
    where = f"change {VISIBLE}" if VISIBLE in os.environ else "`nvidia-smi -L` lists those that the driver knows"
    return f"{where}; or pass gpus=0 to train on the CPU"


def visible_gpus() -> tuple[str, ...]:
    """The GPUs of this process: their numbers or UUIDs, as ``CUDA_VISIBLE_DEVICES`` takes them."""
    named = os.environ.get(VISIBLE)
    if named is None:
        return _listed(shutil.which("nvidia-smi"))
    found: list[str] = []
    for name in (part.strip() for part in named.split(",")):
        if not re.fullmatch(r"\d+|(GPU|MIG)-\S+", name):
            break  # as CUDA does: what is none, such as -1, ends the list
        found.append(name)
    return tuple(found)


@functools.cache
def _listed(program: str | None) -> tuple[str, ...]:
    """What ``nvidia-smi -L`` says; by UUID, since CUDA may number GPUs in another order."""
    if program is None:
        return ()
    try:
        said = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=LISTING_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    if said.returncode != 0:  # it is installed, but has no driver to ask
        return ()
    found: list[str] = []
    divided: str | None = None  # a GPU whose first part has yet to come
    for line in said.stdout.splitlines():
        parts = _LISTED.fullmatch(line)
        if parts is None:
            continue
        if parts[2] == "MIG" and divided in found:
            found.remove(divided)
        found.append(parts[3])
        divided = parts[3] if parts[2] == "GPU" else None
    return tuple(found)
