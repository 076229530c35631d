"""Points of the Sobol sequence, number by number those of ``scipy.stats.qmc.Sobol``, without importing ``scipy.stats``.

That import takes longer than all others of a first search together. Points with more than :data:`MOST_OWN` numbers are SciPy's.
Direction numbers are those of Joe & Kuo (2008), *Constructing Sobol sequences with better two-dimensional projections*; the
scrambling is Matoušek's (1998): a random lower triangular matrix of bits and a digital shift.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Digits = NDArray[np.uint32]

BITS = 30
"""Binary digits of a number: at most 2³⁰ points."""
MOST = 21_201
"""Numbers of a point for which direction numbers are known."""
TABLE = """
1:1 3:1 7:1,3 11:1,3,1 13:1,1,1 19:1,1,3,3 25:1,3,5,13 37:1,1,5,5,17 41:1,1,5,5,5 47:1,1,7,11,19 55:1,1,5,1,1
59:1,1,1,3,11 61:1,3,5,5,31 67:1,3,3,9,7,49 91:1,1,1,15,21,21 97:1,3,1,13,27,49 103:1,1,1,15,7,5 109:1,3,1,15,13,25
115:1,1,5,5,19,61 131:1,3,7,11,23,15,103 137:1,3,7,13,13,15,69 143:1,1,3,13,7,35,63 145:1,3,5,9,1,25,53
157:1,3,1,13,9,35,107 167:1,3,1,5,27,61,31 171:1,1,5,11,19,41,61 185:1,3,5,3,3,13,69 191:1,1,7,13,1,19,1
193:1,3,7,5,13,19,59 203:1,1,3,9,25,29,41 211:1,3,5,13,23,1,55 213:1,3,7,3,13,59,17 229:1,3,1,3,5,53,69
239:1,1,5,5,23,33,13 241:1,1,7,7,1,61,123 247:1,1,7,9,13,61,49 253:1,3,3,5,3,55,33 285:1,3,1,15,31,13,49,245
299:1,3,5,15,31,59,63,97 301:1,3,1,11,11,11,77,249 333:1,3,1,11,27,43,71,9 351:1,1,7,15,21,11,81,45
355:1,3,7,3,25,31,65,79 357:1,3,1,1,19,11,3,205 361:1,1,5,9,19,21,29,157 369:1,3,7,11,1,33,89,185
391:1,3,3,3,15,9,79,71 397:1,3,7,11,15,39,119,27 425:1,1,3,1,11,31,97,225 451:1,1,1,3,23,43,57,177
463:1,3,7,7,17,17,37,71 487:1,3,1,5,27,63,123,213 501:1,1,3,5,11,43,53,133 529:1,3,5,5,29,17,47,173,479
539:1,3,3,11,3,1,109,9,69 545:1,1,1,5,17,39,23,5,343 557:1,3,1,5,25,15,31,103,499 563:1,1,1,11,11,17,63,105,183
601:1,1,5,11,9,29,97,231,363 607:1,1,5,15,19,45,41,7,383 617:1,3,7,7,31,19,83,137,221 623:1,1,1,3,23,15,111,223,83
631:1,1,5,13,31,15,55,25,161 637:1,1,3,13,25,47,39,87,257
"""
"""A primitive polynomial, as the binary digits of an integer, and its first direction numbers, for each number of a point."""
MOST_OWN = len(TABLE.split())


def sobol(dimensions: int, start: int, count: int, rng: np.random.Generator | None = None) -> Floats:
    """Return points ``start … start + count − 1``, each of ``dimensions`` numbers in [0, 1); ``rng`` scrambles the sequence."""
    if dimensions > MOST_OWN:
        return _of_scipy(dimensions, start, count, rng)
    vectors, shift = _directions(dimensions), np.zeros(dimensions, np.uint32)
    if rng is not None:
        vectors, shift = _scrambled(vectors, rng)
    numbers = np.arange(start, start + count, dtype=np.uint32)
    digits = numbers ^ (numbers >> np.uint32(1))  # neighbours in Gray code differ by one digit
    points = np.broadcast_to(shift, (count, dimensions)).copy()
    for bit in range(int(start + count).bit_length()):
        chosen = (digits >> np.uint32(bit)) & np.uint32(1) == 1
        points[chosen] ^= vectors[:, bit]
    scaled: Floats = points * np.float64(2.0**-BITS)
    return scaled


@lru_cache(maxsize=8)
def _directions(dimensions: int) -> Digits:
    """One row of ``BITS`` direction numbers for each dimension, by the recurrence over its polynomial (Joe & Kuo, eq. 2)."""
    rows = np.zeros((dimensions, BITS), np.uint32)
    for row, entry in zip(rows, TABLE.split(), strict=False):
        polynomial, _, first = entry.partition(":")
        numbers, digits = [int(each) for each in first.split(",")], f"{int(polynomial):b}"
        degree = len(digits) - 1
        for bit in range(len(numbers), BITS):
            if degree == 0:  # the first dimension: van der Corput's sequence
                numbers.append(1)
                continue
            made = numbers[bit - degree] ^ (numbers[bit - degree] << degree)
            for back in range(1, degree):
                if digits[back] == "1":
                    made ^= numbers[bit - back] << back
            numbers.append(made)
        row[:] = [number << (BITS - 1 - bit) for bit, number in enumerate(numbers)]
    return rows


def _scrambled(vectors: Digits, rng: np.random.Generator) -> tuple[Digits, Digits]:
    """Direction numbers times a random matrix, and a random shift; drawn as SciPy draws them, from a child of ``rng``."""
    (rng,), dimensions = rng.spawn(1), len(vectors)
    powers = np.uint32(1) << np.arange(BITS, dtype=np.uint32)
    shift = rng.integers(2, size=(dimensions, BITS), dtype=np.uint32) @ powers
    lower = np.tril(rng.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint32))
    lower[:, np.arange(BITS), np.arange(BITS)] = 1
    high_first = powers[::-1]
    digits = (vectors[:, None, :] & high_first[None, :, None]) != 0  # dimension, digit, direction number
    made = np.einsum("dpk,dkj->dpj", lower, digits.astype(np.uint32)) & np.uint32(1)
    return np.einsum("dpj,p->dj", made, high_first).astype(np.uint32), shift.astype(np.uint32)


def _of_scipy(dimensions: int, start: int, count: int, rng: np.random.Generator | None) -> Floats:
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=rng is not None, rng=rng)
    if start:
        sequence.fast_forward(start)
    points: Floats = sequence.random(count)
    return points
