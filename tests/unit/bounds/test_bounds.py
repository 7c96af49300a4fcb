"""The bounds: input, shapes, boundary, no signal, wrong sign, extremes, and how their methods agree."""

import math

import numpy as np
import pytest
from oracle.clopper_pearson import ClopperPearson
from oracle.conditional import Conditional

from dpaudit.bounds.melded import Melded, epsilon_lower, last_rejected
from dpaudit.errors import InputError

ALL = [Melded(), Conditional(), ClopperPearson()]
named = pytest.mark.parametrize("bound", ALL, ids=[b.name for b in ALL])


@named
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": 11}, r"x must be in \[0, 10\], got 11"),
        ({"x": -1}, r"x must be in \[0, 10\], got -1"),
        ({"x": 2.5}, "x must be integers, got 2.5"),
        ({"x": math.nan}, "x must be integers, got nan"),
        ({"x": "3"}, "x must be integers"),
        ({"x": True}, "x must be integers"),
        ({"y": [1, 2, 13]}, r"y must be in \[0, 12\], got 13"),
        ({"n1": 0}, r"n1 must be in \[1, 1e\+12\], got 0"),
        ({"n2": 10**13}, r"n2 must be in \[1, 1e\+12\], got 1e\+13"),
        ({"x": [1, 2], "y": [1, 2, 3]}, "must broadcast"),
        ({"gamma": 0.0}, r"gamma must be in \(0, 1\), got 0.0"),
        ({"gamma": 1.0}, r"gamma must be in \(0, 1\), got 1.0"),
        ({"gamma": math.nan}, r"gamma must be in \(0, 1\), got nan"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1.0"),
        ({"delta": -0.1}, r"delta must be in \[0, 1\), got -0.1"),
        ({"delta": [0.1, 0.2]}, "delta must broadcast"),
    ],
)
def test_bad_input_names_the_parameter(bound, change, message):
    arguments = {"x": 5, "n1": 10, "y": 3, "n2": 12, "delta": 0.0, "gamma": 0.05} | change
    counts = [arguments.pop(k) for k in ("x", "n1", "y", "n2")]
    with pytest.raises(InputError, match=message):
        bound.epsilon_lower(*counts, **arguments)


@named
def test_bad_epsilon_and_parameters(bound):
    for epsilon in (-0.1, math.inf, math.nan):
        with pytest.raises(InputError, match="epsilon must be in"):
            bound.p_value(5, 10, 3, 10, epsilon=epsilon)


def test_parameters_of_bounds_are_checked():
    for make in (
        lambda: Conditional(share=0.0),
        lambda: Conditional(excess_error=1.0),
    ):
        with pytest.raises(InputError, match=r"must be in \(0, 1\)"):
            make()


@named
def test_shapes(bound):
    scalar = bound.epsilon_lower(9, 10, 1, 10, gamma=0.05)
    assert np.shape(scalar) == ()
    x, y = np.array([[9], [8]]), np.array([0, 1, 2])
    table = bound.epsilon_lower(x, 10, y, 10, gamma=0.05)
    assert table.shape == (2, 3)
    assert table[0, 1] == pytest.approx(float(scalar), abs=1e-6)
    assert bound.p_value(x, 10, y, 10, epsilon=[0.1, 0.2, 0.3], delta=0.01).shape == (2, 3)
    assert bound.epsilon_lower([], 10, [], 10, gamma=0.05).shape == (0,)


@named
@pytest.mark.parametrize("n", [3, 40, 1000])
def test_no_signal_wrong_sign_and_nothing_seen_give_zero(bound, n):
    half = n // 2
    for x, y in [(0, 0), (0, n), (half, half), (half, n), (0, 1), (n, n), (1, half), (half - 1, half)]:
        for delta in (0.0, 0.1):
            assert bound.epsilon_lower(x, n, y, n, delta=delta, gamma=0.05) == 0, (x, y, delta)
        assert bound.p_value(x, n, y, n, epsilon=0.0) > 0.05


@named
def test_swapping_the_sides_of_a_signal_gives_zero(bound):
    assert bound.epsilon_lower(400, 1000, 100, 1000, gamma=0.05) > 1.1
    assert bound.epsilon_lower(100, 1000, 400, 1000, gamma=0.05) == 0


@named
def test_certain_p_values(bound):
    for x, n1, y, n2 in [(0, 10, 0, 10), (0, 10, 5, 10), (10, 10, 10, 10), (5, 10, 10, 10)]:
        for delta in (0.0, 0.3):
            assert bound.p_value(x, n1, y, n2, epsilon=0.5, delta=delta) >= 0.2
    for bound_ in (Melded(), ClopperPearson()):
        assert bound_.p_value(5, 10, 10, 10, epsilon=0) == 1
        assert bound_.p_value(0, 10, 0, 10, epsilon=0) == 1


@named
def test_at_the_boundary_the_estimate_is_not_accused(bound):
    # p^ = e^epsilon q^ + delta exactly: the bound must lie below epsilon, well so at small gamma.
    for epsilon, delta, y, n in [(math.log(2), 0.0, 200, 1000), (math.log(3), 0.1, 100, 1000), (0.0, 0.05, 10, 100)]:
        x = round(n * (math.exp(epsilon) * y / n + delta))
        assert bound.epsilon_lower(x, n, y, n, delta=delta, gamma=0.05) <= max(epsilon - 0.05, 0)
        assert bound.p_value(x, n, y, n, epsilon=epsilon, delta=delta) > 0.4


@named
@pytest.mark.parametrize("gamma", [0.05, 1e-9])
@pytest.mark.parametrize("n", [10**8, 10**12])
def test_extreme_counts_give_finite_bounds(bound, gamma, n):
    x, y = np.array([n, n, n, 1, 0, n - 1, n]), np.array([0, 1, n - 1, 0, 0, 0, n])
    with np.errstate(all="raise", under="ignore"):
        for delta in (0.0, 1e-6, 0.5):
            lower = bound.epsilon_lower(x, n, y, n, delta=delta, gamma=gamma)
            assert np.isfinite(lower).all()
            assert (lower >= 0).all()
            assert lower[0] > lower[1] > 9
            assert lower[0] < math.log(n)
            assert lower[6] == lower[4] == 0
        assert bound.epsilon_lower(1, 1, 0, 1, gamma=gamma) == 0


@named
def test_a_bound_is_where_its_p_value_crosses_gamma(bound):
    cases = [(30, 40, 4, 50, 0.0), (12, 12, 0, 90, 0.1), (500, 1000, 100, 700, 0.01), (20, 25, 3, 20, 0.2)]
    for x, n1, y, n2, delta in cases:
        for gamma in (0.05, 1e-3):
            at = float(bound.epsilon_lower(x, n1, y, n2, delta=delta, gamma=gamma))
            if at > 0:
                assert bound.p_value(x, n1, y, n2, epsilon=at, delta=delta) <= gamma * (1 + 1e-9)
            above = bound.p_value(x, n1, y, n2, epsilon=at + 0.02, delta=delta)
            assert above > gamma, (x, y, delta, gamma)


def test_many_events_at_once_equal_one_at_a_time():
    rng = np.random.default_rng(1)
    n1, n2 = rng.integers(1, 10**6, 60), rng.integers(1, 10**6, 60)
    x, y = rng.binomial(n1, 0.3), rng.binomial(n2, 0.1)
    delta = rng.choice([0.0, 0.01], 60)
    for bound in (Melded(), Conditional(), ClopperPearson()):
        together = bound.epsilon_lower(x, n1, y, n2, delta=delta, gamma=1e-3)
        alone = [float(bound.epsilon_lower(*v, delta=d, gamma=1e-3)) for *v, d in zip(x, n1, y, n2, delta, strict=True)]
        np.testing.assert_allclose(together, alone, rtol=0, atol=0)


def test_melded_beats_clopper_pearson():
    for x, y, n in [(500, 184, 1000), (50, 18, 100), (272, 100, 10_000)]:
        melded, slow = (float(b.epsilon_lower(x, n, y, n, gamma=0.05)) for b in (Melded(), ClopperPearson()))
        assert melded > slow + 0.02


def test_search_returns_only_what_it_saw_rejected():
    seen = []

    def tail(t, index):
        p = np.where(t < np.array([0.3, 5.0, 0.0])[index], 1e-3, 0.9)  # a jump: the hardest case for secants
        seen.extend(zip(index, t, p, strict=True))
        return p

    found = last_rejected(tail, 0.05, np.array([0.1, 40.0, 2.0]), np.ones(3), 100.0)
    assert found[:2] == pytest.approx([0.3, 5.0], abs=1e-9)
    assert found[2] == 0
    assert all(any(i == k and t == found[k] and p <= 0.05 for i, t, p in seen) for k in (0, 1))


def test_the_public_bound_is_the_melded_one_with_its_own_names():
    counts, delta = ([750, 250, 0], 1000, [250, 750, 0], 900), [0.0, 0.1, 0.0]
    found = epsilon_lower(*counts, delta=delta, confidence=0.95)
    assert found.tolist() == Melded().epsilon_lower(*counts, delta=delta, gamma=1 - 0.95).tolist()
    one = epsilon_lower(750, 1000, 250, 900, confidence=0.95)
    assert (type(one), one) == (float, found[0])
    assert epsilon_lower(750, 1000, 250, 900) < one < math.log(0.75 / (250 / 900))
    assert found[1:].tolist() == [0, 0]  # swapped, and nothing seen
    # At the boundary, where p = e^epsilon q + delta, the estimate itself is not accused.
    assert epsilon_lower(400, 1000, 200, 1000, confidence=0.9) < math.log(2)
    assert epsilon_lower(500, 1000, 200, 1000, delta=0.1, confidence=0.9) < math.log(2)
    for change, message in [
        ({"hits": 1001}, r"^hits must be in \[0, 1000\], got 1001"),
        ({"runs": 0}, r"^runs must be in \[1, 1e\+12\], got 0"),
        ({"neighbour_hits": 0.5}, "^neighbour_hits must be integers, got 0.5"),
        ({"neighbour_runs": [9, math.nan]}, "^neighbour_runs must be integers, got nan"),
        ({"hits": [1, 2], "runs": [3, 3, 3]}, "^hits, runs, neighbour_hits and neighbour_runs must broadcast"),
        ({"confidence": 1.0}, r"^confidence must be in \(0, 1\), got 1.0"),
        ({"delta": 1.0}, r"^delta must be in \[0, 1\), got 1.0"),
    ]:
        given = {"hits": 1, "runs": 1000, "neighbour_hits": 2, "neighbour_runs": 1000} | change
        with pytest.raises(InputError, match=message):
            epsilon_lower(**given)
