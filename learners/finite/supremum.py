"""The supremum of the privacy loss of softmax weights on linear scores."""

from __future__ import annotations

import numpy as np

from dpaudit.contract import Domain, Pair, Supremum
from learners.arrays import Labels

__all__ = ["softmax_supremum"]


def softmax_supremum(domain: Domain, labels: Labels, rate: float) -> Supremum | None:
    """Return the supremum 2 rate of weights mu(h) exp(rate q(h)), q = examples labelled rightly, mu > 0.

    Not above: q moves by D(h) in [-1, 1], and ln p_S(h)/p_S'(h) = rate D(h) + ln sum_g p_S(g) exp(-rate D(g))
    <= 2 rate. Reached: let g and h differ at x. S has t copies of every (z, g(z)) and one of (x, h(x)), S' has
    (x, g(x)) instead. Then D(h) = 1 and D = -1 on all codes of the function g, on which the law of S concentrates, as
    every other function is wrong t - 1 times more often at least. So the loss of h tends to rate + rate: with r the
    ratio of the measure elsewhere to that of g, times exp(-rate (t - 1)), it is at least 2 rate + ln(1 - r (1 -
    exp(-2 rate))). It is not attained: at finite n every code has mass.

    Parameters
    ----------
    domain : Domain
        The domain.
    labels : array of uint8, shape (size, points)
        The labels that the concepts give to all points of the domain.
    rate : float
        The inverse temperature.

    Returns
    -------
    Supremum or None
        None where all concepts are one function.
    """
    rival = int((labels != labels[0]).any(axis=1).argmax())
    if rival == 0:
        return None
    points, ours = domain.points(), labels[0].astype(np.int64)
    x = int((labels[rival] != labels[0]).argmax())

    def ray(t: int) -> Pair:
        more = np.full(len(points) + 1, t)
        more[-1] = 1
        places = [*range(len(points)), x]
        left, right = (domain.sample(points[places], [*ours, label], more) for label in (1 - ours[x], ours[x]))
        return Pair(left, right, "one function fits all examples but one")

    proof = (
        "softmax weights with D = q_S - q_S' in [-1, 1] lose at most twice the rate; with t copies of every example of "
        "a function and one of a rival's, which is replaced, the law tends to the function, where D = -1, while D = 1 "
        "at the rival"
    )
    return Supremum(2 * rate, proof, ray)
