"""One exponential mechanism over all candidate points: its law, its claim and its sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import Pair
from dpaudit.errors import InputError
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.hull_point import HullPointExponential
from dpaudit_learners.halfspaces.hull_point_joint import HullPointJoint


def test_the_law_is_a_softmax_of_depths_and_runs_follow_it() -> None:
    learner = HullPointJoint(1, 2, 2.0)
    sample = learner.domain.sample([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 0, 1], [2, 1, 1, 1])
    law = learner.law(sample)
    depths = [tukey_depth(sample.points, sample.counts, point) for point in law.atoms]
    weights = [math.exp(depth) for depth in depths]
    assert np.exp(law.log_prob) == pytest.approx([w / sum(weights) for w in weights], rel=1e-12)
    drawn = learner.run(sample, np.random.default_rng(0), 20_000)
    for point, log in zip(law.atoms, law.log_prob.tolist(), strict=True):
        expected = 20_000 * math.exp(log)
        # Seven standard deviations: false-alarm rate below 1e-11.
        assert abs(drawn.count(point) - expected) <= 7 * math.sqrt(expected) + 1


def test_its_whole_epsilon_is_spent_and_no_more() -> None:
    learner = HullPointJoint(1, 2, 1.0)
    assert dpaudit.pac.audit_law(learner, n=2).epsilon <= 1
    sample = learner.domain.sample
    pair = Pair(sample([[0, 0], [1, 1]], [0, 0], [200, 1]), sample([[0, 0]], [0], [201]))
    assert dpaudit.pac.audit_law(learner, samples=[pair]).epsilon == pytest.approx(1)


def test_the_sizes_are_those_of_the_proof() -> None:
    learner = HullPointJoint(2, 2, 1.0)
    loss = 2 * math.log(len(learner.extended.points) / 0.1)
    assert learner.sample_size(0.1, 0.1) == math.floor(3 * loss) + 1
    assert learner.explicit_examples(0.1) == math.ceil(6 * loss)
    assert learner.explicit_examples(0.1) < HullPointExponential(2, 2, 1.0).explicit_examples(0.1)


def test_a_grid_with_too_many_candidates_is_refused() -> None:
    with pytest.raises(InputError, match="side must be a grid with at most 16384 candidate points"):
        HullPointJoint(2**15, 1, 1.0)
