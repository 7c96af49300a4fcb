"""False accusations of audits in one run: at the boundary, without a signal, with delta, several runs, of trainings."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit
from dpaudit import PrivacyClaim
from dpaudit.audit.one_run import RankedScores, guess_test
from dpaudit.bounds.guess_schedules import Schedule
from dpaudit.bounds.tangent import ClaimPoints, gaussian_delta, gaussian_epsilons
from dpaudit_learners.training.noisy_sgd import Examples, Logistic, NoisySGD, one_training


@pytest.mark.parametrize("m", [100, 1000, 20_000])
def test_the_exact_rate_at_the_boundary_is_within_the_level_and_close_to_it(m):
    """Independent randomised responses are the worst case; the walk over their right guesses is enumerated."""
    closest = 0.0
    for epsilon, gamma in product((0.0, 0.5, 1.0, 4.0), (0.05, 0.01, 1e-3)):
        points = ClaimPoints.one(epsilon, 0.0)
        schedule = Schedule.doubling(m).useful(points, gamma)
        rate = schedule.crossing(schedule.critical(schedule.level(points, gamma), points), epsilon)
        assert rate <= gamma
        closest = max(closest, rate / gamma)
    assert closest > 0.9


def accused(make, points, gamma, audits, **options):
    tests = (
        guess_test(RankedScores.of(*make(np.random.default_rng(seed)), None), points, gamma, **options)
        for seed in range(audits)
    )
    return sum(test.rejects(points) for test in tests)


def responses(rng, m=100, epsilon=1.0, leak=0.0, shape=None):
    """Return randomised responses, of which a share leak their coin for certain."""
    coins = rng.random(shape or m) < 0.5
    answers = np.where(rng.random(coins.shape) < 1 / (1 + math.exp(-epsilon)), coins, ~coins)
    leaks = rng.random(coins.shape) < leak
    return np.where(leaks, 2.0 * coins - 1, np.where(answers, 0.5, -0.5)) + 1e-3 * rng.random(coins.shape), coins


@pytest.mark.parametrize(
    ("options", "points"),
    [
        ({}, ClaimPoints.one(1.0, 0.0)),
        ({"leak": 0.002}, ClaimPoints.one(1.0, 0.002)),
        ({"shape": (4, 25)}, ClaimPoints.one(1.0, 0.0)),
        ({"epsilon": 0.0}, ClaimPoints.one(0.0, 0.0)),
    ],
    ids=["responses", "delta", "four runs", "no signal"],
)
def test_accusations_through_scores_are_within_the_level(options, points):
    audits, gamma = 200, 0.05
    found = accused(lambda rng: responses(rng, **options), points, gamma, audits)
    assert binom.sf(found - 1, audits, gamma) > 1e-4
    assert found > 0  # not by being idle


def test_the_ranking_of_positive_guesses_keeps_the_level_too():
    found = accused(responses, ClaimPoints.one(1.0, 0.0), 0.05, 200, ranking="in")
    assert binom.sf(found - 1, 200, 0.05) > 1e-4


def test_ignoring_the_choice_of_the_number_of_guesses_would_not():
    schedule, points = Schedule.doubling(100), ClaimPoints.one(1.0, 0.0)
    found = sum(
        schedule.p_values(
            RankedScores.of(*responses(np.random.default_rng(seed)), None).counts("two-sided", schedule), points
        )[0].min()
        <= 0.05
        for seed in range(400)
    )
    assert binom.sf(found - 1, 400, 0.05) < 1e-4


def test_exact_gaussian_scores_are_not_accused_of_a_larger_mu():
    epsilon = gaussian_epsilons(1.0)
    points = ClaimPoints(epsilon, gaussian_delta(1.0, epsilon))

    def make(rng):
        coins = rng.random(200) < 0.5
        return rng.normal(size=200) + coins, coins

    assert accused(make, points, 0.05, 60, guesses=64) <= 3


def training(fault, seed, score):
    m = 100
    right = NoisySGD(Logistic(4 * m), noise_multiplier=1.5, sampling_rate=0.1, examples=m, steps=20)
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(m, 4 * m))
    canaries = 5 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    data = Examples(np.zeros((0, 4 * m)), np.zeros(0, int), np.empty((0, 4 * m)))
    made = [one_training(replace(right, fault=fault), data, canaries, rng) for _ in range(2)]
    scores, coins = np.array([one[score] for one in made]), np.array([one[2] for one in made])
    return dpaudit.audit_scores(scores, coins, PrivacyClaim.profile(right.accountant.delta), confidence=0.95)


def test_a_right_training_is_not_accused_and_faulty_ones_are():
    for score in (0, 1):
        assert [training("", seed, score).verdict for seed in range(2)] == ["consistent"] * 2
    for fault, score in (("noise reused", 1), ("wrong batch size", 0), ("no clipping", 0)):
        assert training(fault, 0, score).verdict == "violation", fault
