"""The diluted cube, on which parities are hardest to learn from a random subsample, and a bound for all cases.

The proof is in docs/results.md, "Sample complexities that are known".
"""

from __future__ import annotations

import numpy as np

from dpaudit.contract import CaseFamily, InputError, WorstFailure

ABOVE = 1e-9
"""By how much, relatively, an error that counts as a failure is above alpha in the worst case."""
LISTED = 6
"""Up to so many variables the points of the cube are listed."""

_PROOF = (
    "the share of bad ones among the 2^k solutions, times C(m, k)/(1 - 2^-k) for m more examples, does not grow on "
    "average, whatever the distribution; C(m, k) is the failure rate on the diluted cube"
)


def answered_right(dimension: int, keep: float, mass: float, n: int) -> float:
    """Return E 2^(r - d), r the rank of the kept examples, of which `mass` is shared by the nonzero points of the cube.

    An example matters only if it is kept and nonzero, with probability p w; then it is uniform on the nonzero points,
    so it raises the rank r of what is kept with probability (2^d - 2^r)/(2^d - 1), whatever came before. `dimension` is
    d, `keep` p and `mass` w; w may exceed 1 where p w does not.
    """
    ranks = np.arange(dimension + 1)
    # (2^d - 2^r)/(2^d - 1), without numbers that floats do not hold.
    rise = keep * mass * (1 - 2.0 ** (ranks - dimension)) / (1 - 2.0**-dimension)
    step = np.diag(1 - rise) + np.diag(rise[:-1], 1)
    return float(np.linalg.matrix_power(step, n)[0] @ 2.0 ** (ranks - dimension))


def diluted_mass(dimension: int, error: float) -> float:
    """Return the mass of the nonzero points at which every wrong parity has that error: error (2^d - 1)/2^(d-1)."""
    return error * (2 - 2.0 ** (1 - dimension))


def diluted_cube_failure(dimension: int, keep: float, failure: float, alpha: float, n: int) -> tuple[float, str]:
    """Return the failure rate of a subsampling learner on the diluted cube, and the case in words.

    The nonzero points of {0, 1}^d share a mass w evenly, and 0 has the rest. A wrong parity errs on 2^(d-1) of the
    2^d - 1 nonzero points; w = 1.001 alpha (2^d - 1)/2^(d-1), or 1 if that is more, makes every error 1.001 alpha or,
    at w = 1, a little more than 1/2. The answer is uniform among the 2^(d-r) solutions, r the rank of the kept
    examples, of which one is right, whence the failure rate is f + (1 - f) (1 - E 2^(r-d)).

    `dimension` is d, `keep` p, `failure` f; alpha is below 1/2, and no wrong parity errs on much more.
    """
    mass = min(1.0, diluted_mass(dimension, 1.001 * alpha))
    words = f"diluted cube: mass {mass:.6g} uniform on the nonzero points of {{0, 1}}^{dimension}, the rest on 0"
    return failure + (1 - failure) * (1 - answered_right(dimension, keep, mass, n)), words


def parity_failure(dimension: int, keep: float, failure: float, alpha: float, n: int) -> WorstFailure:
    """Return both ends of the failure rate f + (1 - f) (1 - E 2^(r - d)) over all distributions.

    The arguments are those of `diluted_cube_failure`. Upper: the chain of the diluted cube whose errors are alpha,
    which need not be a distribution where alpha is near 1/2. Lower: the cube whose errors are a little above alpha.

    Raises
    ------
    InputError
        If 2 p alpha > 1, where the proof does not hold.
    """
    if 2 * keep * alpha > 1:
        raise InputError(f"2 p alpha must be at most 1 for the worst case of parities, p = {keep!r}, got {alpha!r}")
    above = alpha * (1 + ABOVE)
    mass, exact = diluted_mass(dimension, above), diluted_mass(dimension, alpha)
    upper = failure + (1 - failure) * (1 - answered_right(dimension, keep, exact, n))
    numbers = {"dimension": dimension, "keep": keep, "failure": failure, "mass": above}
    if mass > 1:
        missing = "the diluted cube has no mass left where alpha is so large: which distribution is worst"
        return WorstFailure(0.0, min(1.0, upper), CaseFamily.PARITIES, numbers, _PROOF, missing)
    lower = failure + (1 - failure) * (1 - answered_right(dimension, keep, mass, n))
    points = tuple(np.ndindex((2,) * dimension)) if dimension <= LISTED else ()
    shares = (1 - mass, *[mass / (len(points) - 1)] * (len(points) - 1)) if points else ()
    case = f"diluted cube: mass {mass:.6g} uniform on the nonzero points of {{0, 1}}^{dimension}, the rest on 0"
    return WorstFailure(
        lower, min(1.0, upper), CaseFamily.PARITIES, numbers, _PROOF, "", 0 if points else None, points, shares, case
    )
