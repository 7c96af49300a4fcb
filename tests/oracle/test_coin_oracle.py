"""The bounds on coins against slow twins: a linear program over all laws of the count, a mechanism that attains it."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import comb, expit
from scipy.stats import binom

from dpaudit.bounds.coin import p_value


def most_likely(v, r, epsilon, delta_runs):
    """Return the largest Pr[N >= v] of a law of N that meets the constraints of the theorem, by a linear program.

    Variables: P_0, ..., P_r, and the positive parts of j P_j - e^epsilon (r - j + 1) P_{j-1} for j = 1, ..., r.
    """
    j = np.arange(1, r + 1)
    above = np.zeros((r, 2 * r + 1))
    # A set of j right coins has j neighbours with one fewer, and each of these has r - j + 1 with one more.
    above[j - 1, j] = j
    above[j - 1, j - 1] = -np.exp(epsilon) * (r - j + 1)
    above[j - 1, r + j] = -1
    budget = np.concatenate([np.zeros(r + 1), np.ones(r)])
    gain = -np.concatenate([np.arange(r + 1) >= v, np.zeros(r)]).astype(float)
    whole = np.concatenate([np.ones(r + 1), np.zeros(r)])
    found = linprog(
        gain, np.vstack([above, budget]), np.append(np.zeros(r), delta_runs), whole[None], [1.0], method="highs"
    )
    return -found.fun


@pytest.mark.parametrize("delta_runs", [1e-3, 0.02, 0.3])
def test_no_law_of_the_count_exceeds_the_bound(delta_runs):
    close = []
    for r, epsilon in product((1, 3, 8, 15), (0.0, 0.7, 2.0)):
        for v in range(1, r + 1):
            best = most_likely(v, r, epsilon, delta_runs)
            found = float(p_value(v, r, epsilon, delta_runs=delta_runs))
            assert best <= found * (1 + 1e-7)
            if v > r * expit(epsilon) and found < 0.3:
                close.append(best / found)
    assert len(close) > 15
    assert np.median(close) > 0.999  # it is attained, where mass can be taken from below


def attaining(v, r, epsilon, delta_runs):
    """Return the law of the count at which the first bound is attained: one increment of G, at v."""
    p = expit(epsilon)
    b = binom.pmf(np.arange(r + 1), r, p)
    tail = binom.sf(v - 1, r, p)
    # The positive part at v, which is v b[v] times the step, uses all of delta; the other ones are zero.
    step = delta_runs / (v * b[v])
    return b * (1 - step * tail + step * (np.arange(r + 1) >= v))


def test_an_exchangeable_mechanism_that_attains_it_is_private():
    """The mechanism publishes the coins with N of them right, all such sets alike: compared on the whole cube."""
    r = 6
    v = 6
    epsilon = 0.8
    delta = 0.004
    law = attaining(v, r, epsilon, r * delta)
    assert (law >= 0).all()
    assert law.sum() == pytest.approx(1)
    bits = np.array(list(product((0, 1), repeat=r)))
    # Outputs y given coins s: the probability depends on how many agree; flipping coin 0 changes that by one.
    agree = (bits == 1).sum(axis=1)
    flipped = agree - np.where(bits[:, 0] == 1, 1, -1)
    mass = law / comb(r, np.arange(r + 1))
    hockey = np.maximum(mass[agree] - np.exp(epsilon) * mass[flipped], 0).sum()
    assert hockey == pytest.approx(delta, rel=1e-9)
    assert law[v:].sum() == pytest.approx(float(p_value(v, r, epsilon, delta_runs=r * delta)), rel=1e-5)
    assert float(p_value(v, r, epsilon)) < 0.98 * law[v:].sum()  # without the term for delta it would be accused
