"""The bound on a schedule of guesses against the worst law of right guesses on the cube, by a linear program."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from dpaudit.bounds.guess_schedules import Schedule
from dpaudit.bounds.tangent import ClaimPoints


def worst(guesses, critical, m, epsilon, delta):
    """Return the largest probability that some N_k >= c_k, of laws of m right or wrong guesses that are private.

    Variables: the probability of each outcome x, and of each coin i the positive part of P(x) - e^epsilon P(x with i
    wrong) for each x with guess i right. As coins and guesses are given the sign, delta bounds its sum for each coin.
    """
    outcomes = list(product((0, 1), repeat=m))
    place = {x: i for i, x in enumerate(outcomes)}
    rows = []
    columns = []
    values = []
    limits = []
    at = 0
    extra = len(outcomes)
    for i in range(m):
        own = []
        for x in outcomes:
            if x[i]:
                wrong = (*x[:i], 0, *x[i + 1 :])
                # P(x) - e^epsilon P(x with i wrong) - positive part <= 0.
                rows += [at, at, at]
                columns += [place[x], place[wrong], extra]
                values += [1.0, -np.exp(epsilon), -1.0]
                limits.append(0.0)
                own.append(extra)
                at += 1
                extra += 1
        # The positive parts of one coin sum to at most delta.
        rows += [at] * len(own)
        columns += own
        values += [1.0] * len(own)
        limits.append(delta)
        at += 1
    crosses = [any(sum(x[:k]) >= c for k, c in zip(guesses, critical, strict=True)) for x in outcomes]
    gain = np.zeros(extra)
    # linprog minimises.
    gain[: len(outcomes)] = -np.array(crosses, float)
    whole = np.zeros((1, extra))
    whole[0, : len(outcomes)] = 1
    above = coo_matrix((values, (rows, columns)), shape=(at, extra))
    return -linprog(gain, A_ub=above, b_ub=limits, A_eq=whole, b_eq=[1.0], bounds=(0, None)).fun


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
def test_no_private_law_crosses_more_often_than_the_bound(epsilon, delta):
    m = 7
    schedule = Schedule((2, 4, 7), 7)
    points = ClaimPoints.one(epsilon, delta)
    for critical in ((2, 4, 7), (3, 4, 6), (2, 5, 6)):
        optimum = worst(schedule.guesses, critical, m, epsilon, delta)
        bound = schedule._crossing(np.array(critical), points)
        assert bound >= optimum * (1 - 1e-7)
        if delta == 0:
            assert bound == pytest.approx(optimum, rel=1e-6)
        else:
            # With delta the bound need not be attained.
            assert bound <= optimum + 0.3 * m * delta


def test_the_p_value_bounds_the_worst_probability_of_what_was_seen():
    epsilon = 1.0
    delta = 0.01
    m = 6
    schedule = Schedule((3, 6), m)
    points = ClaimPoints.one(1.0, 0.01)
    for right in ((3, 5), (3, 6), (2, 5)):
        found = schedule.test(right, points).p_value
        t = float(schedule.p_values(right, points)[0].min())
        assert found >= worst(schedule.guesses, tuple(schedule.critical(t, points)), m, epsilon, delta) * (1 - 1e-7)
