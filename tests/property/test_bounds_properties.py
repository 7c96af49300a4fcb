"""Laws of the bounds for all counts: monotone in every argument, never negative, antisymmetric in signal."""

import math

import numpy as np
from dpaudit.bounds.unconditional import Unconditional
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.clopper_pearson import ClopperPearson
from oracle.conditional import Conditional

from dpaudit.bounds.melded import Melded

FAST = [Melded(), Conditional(), ClopperPearson()]
runs = st.one_of(st.integers(1, 60), st.integers(1, 10**8))
deltas = st.sampled_from([0.0, 1e-6, 0.01, 0.3, 0.9])
levels = st.sampled_from([0.05, 1e-3, 1e-9])


@st.composite
def counts(draw, most=None):
    n1, n2 = (draw(runs if most is None else st.integers(1, most)) for _ in range(2))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


@given(counts(), deltas, levels)
@settings(max_examples=80)
def test_bounds_are_monotone_finite_and_certified(c, delta, gamma):
    x, n1, y, n2 = c
    for bound in FAST:
        lower = bound.epsilon_lower([x, min(x + 1, n1), x], n1, [y, y, min(y + 1, n2)], n2, delta=delta, gamma=gamma)
        assert np.isfinite(lower).all()
        assert (lower >= 0).all()
        slack = 1e-4 * (1 + lower[0])
        assert lower[1] >= lower[0] - slack
        assert lower[2] <= lower[0] + slack
        if lower[0] > 0:
            estimate = math.log(max((x / n1 - delta) * n2, 1e-300) / max(y, 1e-9))
            assert lower[0] <= estimate or bound.name == "conditional"  # whose design fixes the share, not n1 and n2
            assert bound.p_value(x, n1, y, n2, epsilon=lower[0], delta=delta) <= gamma


@given(counts(), deltas, st.floats(0, 8))
@settings(max_examples=80)
def test_p_values_are_monotone_probabilities(c, delta, epsilon):
    x, n1, y, n2 = c
    for bound in FAST:
        p = bound.p_value(
            [x, min(x + 1, n1), x, x, x],
            n1,
            [y, y, min(y + 1, n2), y, y],
            n2,
            epsilon=[epsilon, epsilon, epsilon, epsilon + 0.1, epsilon],
            delta=[delta, delta, delta, delta, min(delta + 0.01, 0.99)],
        )
        assert ((p >= 0) & (p <= 1)).all()
        up = p[0] * (1 + 1e-7) + 1e-16
        assert p[1] <= up
        assert (p[2:] * (1 + 1e-7) + 1e-16 >= p[0]).all()


@given(counts(), levels)
@settings(max_examples=60)
def test_one_direction_at_most_is_accused(c, gamma):
    x, n1, y, n2 = c
    for bound in (Melded(), ClopperPearson()):
        forward = bound.epsilon_lower(x, n1, y, n2, gamma=gamma)
        backward = bound.epsilon_lower(y, n2, x, n1, gamma=gamma)
        assert min(forward, backward) == 0


@given(counts(most=25), deltas, st.sampled_from([0.05, 1e-3]))
@settings(max_examples=12)
def test_strict_bound_is_monotone_and_certified(c, delta, gamma):
    x, n1, y, n2 = c
    bound = Unconditional()
    lower = bound.epsilon_lower([x, min(x + 1, n1), x], n1, [y, y, min(y + 1, n2)], n2, delta=delta, gamma=gamma)
    # p-values are known to 1 % of the squared normal deviate, so bounds to about 0.02 of their standard deviations
    assert (lower >= 0).all()
    assert lower[1] >= lower[0] - 0.05
    if lower[0] > 0:
        assert bound.p_value(x, n1, y, n2, epsilon=lower[0], delta=delta, gamma=gamma) <= gamma * (1 + 1e-9)
