"""A lower bound for the failure rate of the learner from mixtures, which misses the facets that matter in d dimensions.

The public points, inside the target, are v = 0, b_i = -s e_i and c_i = -2 s (1, .., 1) + s e_i for i = 1 .. d, with
s = 2 d - 2; the private ones are z_i = e_i. (All are moved by 2 s into the grid {0 .. 4 d - 3}^d.) The target
sum x_i <= 0 has the former inside and the latter outside. Each z_i has 1.001 alpha/d of the mass, and the public points
share the rest equally, each of them more than alpha.

The b_i and c_i are the vertices of a cross-polytope: x = sum y_i b_i + (1 - sum y_i) m, where m = (b_i + c_i)/2, is in
it if sum g_i y_i <= 1 for all signs g. Of its 2^d facets v lies beyond the one through all b_i alone: it has
y_i = 1/(d - 1), so that q >= 1 minus signs make the sum (d - 2 q)/(d - 1) < 1. The hull of all public points thus has
2^d - 1 facets of the cross-polytope and d through v, x_i <= 0, and each is spanned by d public points. z_i is outside
x_i <= 0 and inside all others: it has y_j = (1 + 1/s)/(d - 1), less 1/s for j = i, and with q minus signs, i among
them, sum g_j y_j <= 1 says 2 d - 1 - 2 q <= s (2 q - 1), which holds for q >= 1; without i it is less.

Once all public points were seen, a hypothesis errs by at most alpha if and only if each of its halfspaces has all of
them inside, hence is one of these facets, and one of the d through v is among them: otherwise it errs on a public point
or on all z_i, while without one z_i it errs by 1.001 alpha (d - 1)/d < alpha. Of those whose halfspaces are facets,
beside r facets through v there are S(d - r) choices of at most d - r from the M = 2^d - 1 others,
S(t) = C(M, 0) + .. + C(M, t), and S(d) - 1 without any through v. Let w_i = exp(rate k_i), k_i the number of examples
at z_i. With the facets R through v the weight is, but for a factor common to all, prod_{i in R} w_i. The hypotheses
that have some public point outside fail and only add to the failure rate, so that

    Pr[failure | sample] >= 1/(1 + X),  X = sum over r = 1 .. d of e_r(w_1, .., w_d) S(d - r) / (S(d) - 1),

e_r the elementary symmetric polynomial. The counts are multinomial, E[prod_{i in R} w_i] = (1 + r a (e^rate - 1))^n for
r = |R| and a = 1.001 alpha/d, and 1/(1 + x) is convex. With q a lower bound for the probability that all public points
are seen, E[X | all seen] <= E[X]/q, and by Jensen's inequality

    Pr[failure] >= q^2 / (q + E[X]).

About alpha n/d examples distinguish a facet through v from some 2^d others, and a fixed beta takes n of the order of
(d/(rate alpha)) ln(2^d): the d^2/alpha of the theorem. Jensen's inequality takes E[w_i] in the place of a typical w_i,
which makes n smaller by the ratio of the rate to e^rate - 1.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import InputError
from learners.arrays import Floats

UNSEEN = 1e-6
"""Sizes at which some public point is unseen with a probability up to this are looked at, no smaller ones."""


def log_odds(dimension: int, log_products: Floats) -> float:
    """Return ln X, from the logarithms of e_1 .. e_d or of their means."""
    others = 2**dimension - 1
    steps = [math.log(others - j) - math.log(j + 1) for j in range(dimension)]
    counts = np.cumsum([0.0, *steps])
    at_most = np.logaddexp.accumulate(counts)
    return float(np.logaddexp.reduce(log_products + at_most[-2::-1]) - np.logaddexp.reduce(counts[1:]))


def expected_products(dimension: int, rate: float, mass: float, n: int) -> Floats:
    """Return ln E[e_r(w_1, .., w_d)] for r = 1 .. d, each z_i having that mass."""
    from scipy.special import gammaln

    r = np.arange(1, dimension + 1)
    choices = gammaln(dimension + 1) - gammaln(r + 1) - gammaln(dimension - r + 1)
    return np.asarray(choices + n * np.log1p(r * mass * math.expm1(rate)))


def facets_failure(dimension: int, rate: float, alpha: float, n: int) -> tuple[float, str]:
    """Return the lower bound for Pr[error > alpha] on n examples of the case above, and the case in words.

    It is the bound at n examples or, where these are too few to see all public points, at the least number that is
    enough: it does not increase with n.

    d is from 2 to 1000, `rate` the inverse temperature, per error. `InputError` if the public points cannot have more
    than alpha of the mass each.
    """
    from scipy.special import expit

    public = 2 * dimension + 1
    share = (1 - 1.001 * alpha) / public
    if share <= alpha:
        raise InputError.of("alpha", alpha, f"below 1/(2 d + 2.001) = {1 / (public + 1.001):.6g}")
    least = math.ceil(math.log(UNSEEN / public) / math.log1p(-share))
    mass, seen = 1.001 * alpha / dimension, 1 - UNSEEN
    odds = log_odds(dimension, expected_products(dimension, rate, mass, max(n, least)))
    words = f"mass {mass:.6g} beyond each of {dimension} facets of {public} public points, the rest on these"
    return seen * float(expit(math.log(seen) - odds)), f"{words}; a lower bound for the failure rate"
