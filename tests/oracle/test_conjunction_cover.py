"""The greedy cover of conjunctions: consistent and short on every labelled sample, and its sample size enough."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

import dpaudit
from dpaudit_learners.conjunctions.consistent import ConjunctionCover


@pytest.mark.parametrize(("dimension", "k", "n"), [(2, 1, 4), (2, 2, 4), (3, 1, 3), (3, 2, 3)])
def test_answers_are_consistent_and_short_on_every_sample_of_a_concept(dimension: int, k: int, n: int) -> None:
    learner = ConjunctionCover(dimension, k)
    grid = learner.domain.points()
    labels = learner.concepts.evaluate(grid)
    for chosen in combinations_with_replacement(range(len(grid)), n):
        # All labellings of these points that some concept gives.
        for row in np.unique(labels[:, list(chosen)], axis=0):
            sample = learner.domain.sample(grid[list(chosen)], row)
            code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
            assert sample.errors(learner.decode(code)) == 0
            # The greedy cover of n examples by k sets takes at most k ln n, and one where n = 1.
            assert code.bit_count() <= max(1, math.ceil(k * math.log(n)))


def test_the_literal_that_covers_most_is_chosen_first_and_only_as_many_as_needed() -> None:
    # v1 is false on 3 of 4 negative examples, v2 on 2; v1 alone leaves (1, 0, 1), which v2 covers.
    learner = ConjunctionCover(3, 2)
    sample = learner.domain.sample(
        [(0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (1, 1, 0)], [0, 0, 0, 1, 1], [2, 1, 1, 1, 1]
    )
    code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
    assert code == 0b000101  # v1 and v2
    assert learner.law(sample).log_prob[code] == 0


def test_samples_of_no_concept_get_an_answer_too() -> None:
    learner = ConjunctionCover(2, 1)
    both = learner.domain.sample([(0, 1), (0, 1)], [0, 1])
    assert int(learner.run(both, np.random.default_rng(0), 1)[0]) == 0
    assert int(learner.run(learner.domain.empty_sample(), np.random.default_rng(0), 1)[0]) == 0


@pytest.mark.parametrize(("dimension", "k"), [(2, 1), (10, 1), (20, 2), (31, 3)])
def test_the_sample_size_is_enough_from_there_on(dimension: int, k: int) -> None:
    learner = ConjunctionCover(dimension, k)
    alpha = 0.1
    beta = 0.05
    size = learner.sample_size(alpha, beta)
    classes = type(learner.concepts)
    # The most literals grow with n in steps: the condition could fail again at a step beyond the size.
    for n in range(size, size + 400):
        possible = classes(dimension, learner.most_literals(n)).size
        assert n >= (math.log(possible) - math.log(beta)) / alpha
    assert size <= dpaudit.pac.get_learner("conjunction-elimination", dimension=dimension).sample_size(alpha, beta)


@pytest.mark.parametrize(("dimension", "k"), [(0, 1), (32, 1), (3, 4), (3, 0)])
def test_bad_parameters_are_refused(dimension: int, k: int) -> None:
    with pytest.raises(dpaudit.InputError, match="must be an integer in"):
        ConjunctionCover(dimension, k)
