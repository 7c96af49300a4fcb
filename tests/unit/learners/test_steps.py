"""Elementary steps that learners report with their runs."""

from __future__ import annotations

import numpy as np

from dpaudit.contract import count_steps, counting_steps
from dpaudit_learners.conjunctions.concepts import ConjunctionExponential
from dpaudit_learners.parities.private import ParityPrivate
from dpaudit_learners.regions.halfplane_select import HalfplaneSelect


def test_open_counts_get_all_steps_that_are_made_inside_of_them() -> None:
    count_steps("cells made", 7)
    with counting_steps() as outer:
        count_steps("cells made", 1)
        # Equal to the outer one when it ends.
        with counting_steps() as inner:
            count_steps("cells made", 2)
        count_steps("equations reduced", 3)
    count_steps("cells made", 7)
    assert inner == {"cells made": 2}
    assert outer == {"cells made": 3, "equations reduced": 3}


def test_an_error_ends_a_count() -> None:
    try:
        with counting_steps() as counts:
            raise ValueError
    except ValueError:
        count_steps("cells made", 1)
    assert not counts


def test_learners_count_what_their_theorems_do() -> None:
    literals = ConjunctionExponential(5, 2, 1.0)
    with counting_steps() as steps:
        literals.run(literals.domain.sample([[0] * 5], [1]), np.random.default_rng(0), 3)
    assert steps == {"candidates weighed": literals.concepts.size}
    plane = HalfplaneSelect(10, 1.0)
    with counting_steps() as steps:
        plane.run(plane.domain.sample([[0, 1], [3, 3]], [0, 1]), np.random.default_rng(0), 1)
    # Two lines that cross in the box cut it into four cells, which are made again where a draw takes more digits.
    assert set(steps) == {"cells made"}
    assert steps["cells made"] in range(4, 20, 4)
    parity = ParityPrivate(8, 1.0)
    points = np.eye(8, dtype=np.int64)
    sample = parity.domain.sample(points, [1] * 8, [10**6] * 8)
    with counting_steps() as steps:
        parity.run(sample, np.random.default_rng(0), 40)
    assert steps["equations reduced"] > 0


def test_outputs_do_not_depend_on_whether_steps_are_counted() -> None:
    learner = HalfplaneSelect(2**64, 1.0)
    sample = learner.domain.sample([[0, 1], [2**40, 3]], [0, 1], [5, 5])
    with counting_steps():
        counted = learner.run(sample, np.random.default_rng(3), 4)
    assert learner.run(sample, np.random.default_rng(3), 4) == counted
