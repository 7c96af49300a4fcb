"""Exact non-coverage: Pr[epsilon_lower > epsilon], summed over every outcome, at the worst q of a grid; no sampling.

The event epsilon_lower > epsilon is the event p_value(epsilon) <= gamma (tests/unit/bounds/test_bounds.py); it is
{x >= least(y)}, and its probability on the boundary p = exp(epsilon) q + delta must be at most gamma for every q.
Nothing here is random, so nothing here can fail by chance.
"""

import math
from itertools import product

import numpy as np
import pytest
from oracle.clopper_pearson import ClopperPearson
from oracle.conditional import Conditional
from scipy.stats import binom

from dpaudit.bounds.detectable import rejection_boundary
from dpaudit.bounds.melded import Melded

GAMMAS = (0.05, 0.01, 1e-3, 1e-6)
DELTAS = (0.0, 0.01, 0.1, 0.3)
EPSILONS = (0.0, 0.5, 1.0, 2.0, 4.0, 6.0)


def worst_error(bound, n1, n2, epsilon, delta, gamma, points=100):
    """The largest probability, over q on the boundary of the hypothesis, that epsilon is excluded."""
    ys = np.arange(n2 + 1.0)
    least = rejection_boundary(bound, ys, n1, n2, epsilon=epsilon, delta=delta, gamma=gamma)
    top = min(1.0, (1 - delta) * math.exp(-epsilon))
    q = top * np.concatenate([np.geomspace(1e-6, 1, points), np.linspace(0, 1, points)])[:, None]
    p = np.minimum(math.exp(epsilon) * q + delta, 1)
    return float((binom.pmf(ys, n2, q) * binom.sf(least - 1, n1, p)).sum(axis=1).max())


def ratios(bound, sizes, gammas=GAMMAS, deltas=DELTAS, epsilons=EPSILONS, points=100):
    """Worst error / gamma for each gamma."""
    worst = dict.fromkeys(gammas, 0.0)
    for (n1, n2), gamma, delta, epsilon in product(sizes, gammas, deltas, epsilons):
        worst[gamma] = max(worst[gamma], worst_error(bound, n1, n2, epsilon, delta, gamma, points) / gamma)
    return worst


def test_melded_holds_its_level():
    worst = ratios(Melded(), [(20, 20), (30, 100), (100, 30)], epsilons=(0.0, 1.0, 2.0, 6.0))
    assert max(worst.values()) <= 1
    assert worst[0.05] > 0.75  # not by being idle


def test_melded_holds_its_level_where_it_comes_closest():
    assert 0.9 < worst_error(Melded(), 1000, 100, 0.5, 0.0, 0.05) / 0.05 <= 1


def test_clopper_pearson_holds_its_level():
    worst = ratios(ClopperPearson(), [(20, 20), (60, 25)], (0.05, 1e-3), epsilons=(0.0, 1.0, 4.0))
    assert max(worst.values()) <= 1
    assert worst[0.05] < 0.6  # the price of splitting the error


def _random_label_error(bound, n, epsilon, delta, gamma, points=60):
    """The same for the design in which a coin with Pr = share decides the side of each of n runs."""
    top = min(1.0, (1 - delta) * math.exp(-epsilon))
    q = top * np.concatenate([np.geomspace(1e-4, 1, points), np.linspace(0, 1, points)])[:, None]
    p = np.minimum(math.exp(epsilon) * q + delta, 1)
    error = np.zeros(len(q))
    for n1 in range(1, n):
        ys = np.arange(n - n1 + 1.0)
        least = rejection_boundary(bound, ys, n1, n - n1, epsilon=epsilon, delta=delta, gamma=gamma)
        inner = (binom.pmf(ys, n - n1, q) * binom.sf(least - 1, n1, p)).sum(axis=1)
        error += binom.pmf(n1, n, bound.share) * inner
    return float(error.max())


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_conditional_holds_its_level_in_its_design(share, request):
    # The bound is a twin that others are compared with; 20 runs have all its cases.
    runs = 30 if request.config.getoption("--profile") == "full" else 20
    errors = {
        (gamma, delta, epsilon): _random_label_error(Conditional(share), runs, epsilon, delta, gamma) / gamma
        for gamma, delta, epsilon in product((0.05, 1e-3), (0.0, 0.02, 0.2), (0.0, 1.0, 3.0))
    }
    assert max(errors.values()) <= 1
    assert max(v for (_, delta, _), v in errors.items() if delta == 0) > 0.5


def test_a_bound_without_its_safeguard_would_be_caught():
    # The control: with the upper limit's distribution of q replaced by Beta(y, n2 - y + 1) the level is exceeded.
    class TooBold(Melded):
        def p_value(self, x, n1, y, n2, **claim):
            return super().p_value(x, n1, np.maximum(np.asarray(y) - 1, 0), n2, **claim)

    assert worst_error(TooBold(), 20, 20, 1.0, 0.0, 0.05) > 0.06


@pytest.mark.full
def test_melded_holds_its_level_on_the_large_grid():
    equal = [(20, 20), (50, 50), (200, 200), (400, 400)]
    unequal = [(30, 100), (100, 30), (12, 200), (40, 1000), (1000, 100), (500, 20)]
    worst = ratios(Melded(), equal + unequal, points=250)
    assert max(worst.values()) <= 1


@pytest.mark.full
def test_clopper_pearson_holds_its_level_on_the_large_grid():
    worst = ratios(ClopperPearson(), [(20, 20), (30, 100), (100, 30), (200, 200)], points=250)
    assert max(worst.values()) <= 1
