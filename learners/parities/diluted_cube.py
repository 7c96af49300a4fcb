"""The hard case of parities: every wrong parity errs on a little more than alpha."""

from __future__ import annotations

import numpy as np

__all__ = ["diluted_cube_failure"]


def diluted_cube_failure(dimension: int, keep: float, failure: float, alpha: float, n: int) -> tuple[float, str]:
    """Return the failure rate of a subsampling learner on the diluted cube, and the case in words.

    The nonzero points of {0, 1}^d share a mass w evenly, and 0 has the rest. A wrong parity errs on 2^(d-1) of the
    2^d - 1 nonzero points; w = 1.001 alpha (2^d - 1)/2^(d-1), or 1 if that is more, makes every error 1.001 alpha or,
    at w = 1, a little more than 1/2. An example tells something only if it is kept and nonzero, with probability p w;
    then it is uniform on the nonzero points, so it raises the rank r of what is kept with probability
    (2^d - 2^r)/(2^d - 1), whatever came before. The answer is uniform among the 2^(d-r) solutions, of which one is
    right, whence the failure rate is f + (1 - f) (1 - E 2^(r-d)), with the law of r after n steps of that chain.

    Parameters
    ----------
    dimension : int
        d.
    keep : float
        p, the probability with which an example is kept.
    failure : float
        f, the probability of failing on consistent examples.
    alpha : float
        The accuracy, below 1/2: no wrong parity errs on much more.
    n : int
        Examples.
    """
    mass = min(1.0, 1.001 * alpha * (2 - 2.0 ** (1 - dimension)))
    ranks = np.arange(dimension + 1)
    # (2^d - 2^r)/(2^d - 1), without numbers that floats do not hold.
    rise = keep * mass * (1 - 2.0 ** (ranks - dimension)) / (1 - 2.0**-dimension)
    step = np.diag(1 - rise) + np.diag(rise[:-1], 1)
    law = np.linalg.matrix_power(step, n)[0]
    right = float(law @ 2.0 ** (ranks - dimension))
    words = f"diluted cube: mass {mass:.6g} uniform on the nonzero points of {{0, 1}}^{dimension}, the rest on 0"
    return failure + (1 - failure) * (1 - right), words
