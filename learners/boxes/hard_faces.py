"""The failure rate of boxes by interior points on a case with a little mass on each of the 2 d faces, for any d.

The target is the whole grid. Each face has one point with 1.001 alpha/(2 d) of the mass, its other coordinates in the
middle, and the middle of the grid has the rest. An answer errs by more than alpha if it misses every face, or the
middle. The former makes it hard: each call must miss with a probability near 1, so that about half of what it sees must
be at its face, and n is about d m/alpha.
"""

from __future__ import annotations

import math

import numpy as np

from learners.arrays import Floats

__all__ = ["call_probabilities", "faces_failure"]

TAIL = 12
"""Standard deviations of a count beyond which its probability, below 1e-30, is left out."""


def call_probabilities(m: int, rate: float, between: int, beyond: int, most: int) -> tuple[Floats, Floats]:
    """Return for k = 0 .. `most` Pr[not beyond the middle] and Pr[that, and not at the face] of a call.

    It sees min(k, m) values at the face and the rest of its m values in the middle. With scores min{#<= x, #>= x} the
    face has weight exp(rate min(k, m)), the middle exp(rate (m - k)), each of the values between both the lesser of the
    two, and each of those beyond the middle 1.
    """
    here = np.minimum(np.arange(most + 1), m).astype(np.float64)
    there = m - here
    missed = rate * there
    if between:
        missed = np.logaddexp(missed, rate * np.minimum(here, there) + math.log(between))
    inside = np.logaddexp(missed, rate * here)
    total = np.logaddexp(inside, math.log(beyond)) if beyond else inside
    return np.exp(inside - total), np.exp(missed - total)


def faces_failure(side: int, dimension: int, m: int, rate: float, alpha: float, n: int) -> tuple[float, str]:
    """Return the probability that an answer misses the middle or all faces on n examples, and the case in words.

    The counts at the faces are multinomial: independent Poisson counts given that their sum with the rest is n. Where
    call i has probability g_i(k_i), and f_i(x) = sum_k g_i(k) Pois(k) x^k, all of them together have

        sum_t [x^t] (f_low f_high)^d Pr[rest = n - t] / Pr[sum = n].

    Each call is taken to see its face and the middle alone, as it does if the middle has at least m examples.
    """
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.stats import poisson

    middle, faces = side // 2, 2 * dimension
    mass = 1.001 * alpha / faces
    most = min(n, math.ceil(n * mass + TAIL * math.sqrt(n * mass) + TAIL))
    counts = poisson.pmf(np.arange(most + 1), n * mass)
    length = next_fast_len(faces * most + 1, real=True)
    t = np.arange(min(n, faces * most) + 1)
    shares = np.exp(poisson.logpmf(n - t, n * (1 - faces * mass)) - poisson.logpmf(n, n))
    low = call_probabilities(m, rate, middle - 1, side - middle, most)
    high = call_probabilities(m, rate, side - middle - 1, middle, most)
    inside, missed = (
        float(irfft((rfft(a * counts, length) * rfft(b * counts, length)) ** dimension, length)[: len(t)] @ shares)
        for a, b in zip(low, high, strict=True)
    )
    words = f"mass {mass:.6g} on each of {faces} faces, the rest in the middle"
    return min(max(1 - inside + missed, 0.0), 1.0), words
