"""Objective perturbation: the minimiser, its law against runs, its loss against the claim, and what audits find."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

import dpaudit
from dpaudit.errors import InputError
from dpaudit_learners.training import objective_perturbation
from dpaudit_learners.training.objective_perturbation import FAULTS, ObjectivePerturbation

CASES = [ObjectivePerturbation(1.0, 4, 1.0), ObjectivePerturbation(1.0, 4, 0.0025)]
"""With Delta = 0, and with Delta > 0."""
LINE = np.array([[1.0], [-0.5], [0.3], [2.5]]), np.array([1, 1, 0, 0])
PLANE = np.array([[0.6, 0.8], [-0.5, 0.2], [0.3, 0.1], [3.0, -4.0]]), np.array([1, 1, 0, 0])


def test_noise_and_logarithms_spend_epsilon() -> None:
    for one, positive in zip(CASES, (True, False), strict=True):
        assert one.noise_epsilon + 2 * math.log1p(0.25 / one.ridge) == pytest.approx(1.0)
        assert (one.ridge == 4 * one.regularisation) == positive
        assert (one.noise_epsilon == 0.5) != positive


@pytest.mark.parametrize("one", CASES)
def test_a_run_is_the_minimiser_for_its_noise(one: ObjectivePerturbation) -> None:
    # Of rows of zeros the minimiser is -b / ridge, which shows the b of equal generators.
    noise = -one.ridge * one.run((0 * PLANE[0], PLANE[1]), np.random.default_rng(0), 2_000)
    found = one.run(PLANE, np.random.default_rng(0), 2_000)
    gradients = one.ridge * found + noise
    for point, label in zip(*PLANE, strict=True):
        short = point / max(1, np.linalg.norm(point))
        gradients += (1 / (1 + np.exp(-found @ short)) - label)[:, None] * short
    assert (np.linalg.norm(gradients, axis=1) < 1e-10 * np.maximum(1, np.linalg.norm(noise, axis=1)) + 1e-13).all()
    # The norm of b is Gamma(2) of mean 4 / epsilon': within five standard errors but for one seed in 1,700,000.
    assert np.linalg.norm(noise, axis=1).mean() * one.noise_epsilon == pytest.approx(4, abs=5 * math.sqrt(8 / 2_000))


@pytest.mark.parametrize("one", [*CASES, *CASES[1].faulty()])
@pytest.mark.parametrize("data", [LINE, PLANE], ids=["line", "plane"])
def test_runs_follow_the_density(one: ObjectivePerturbation, data: tuple[np.ndarray, np.ndarray]) -> None:
    made = one.run(data, np.random.default_rng(1), 20_000)
    # u / (1 - u^2) takes (-1, 1) to the line; the density is integrated over cells of u by midpoints of a fine grid.
    d, fine, cells = made.shape[1], {1: 100_000, 2: 800}[made.shape[1]], {1: 40, 2: 8}[made.shape[1]]
    scale = 4 / one.noise_epsilon / one.ridge
    middle = (np.arange(fine) + 0.5) * 2 / fine - 1
    grid = np.stack(np.meshgrid(*[middle] * d, indexing="ij"), axis=-1).reshape(-1, d)
    stretch = scale * (1 + grid**2) / (1 - grid**2) ** 2 * 2 / fine
    mass = np.exp(one.log_density(data, scale * grid / (1 - grid**2))) * stretch.prod(axis=1)
    assert mass.sum() == pytest.approx(1, abs=1e-3)
    ends = np.linspace(-1, 1, cells + 1)[1:-1]
    due = 20_000 * np.histogramdd(grid, bins=[np.linspace(-1, 1, cells + 1)] * d, weights=mass)[0].reshape(-1)
    places = [np.searchsorted(scale * ends / (1 - ends**2), column) for column in made.T]
    seen = np.bincount(np.ravel_multi_index(places, (cells,) * d), minlength=cells**d)
    rare = due < 10  # cells that are counted as one
    due, seen = (np.bincount(np.where(rare, rare.argmax(), np.arange(len(due))), each) for each in (due, seen))
    due, seen = due[due > 0], seen[due > 0]
    # One seed in a million is rejected.
    assert chi2.sf(((seen - due) ** 2 / due).sum(), len(due) - 1) > 1e-6


def greatest(one: ObjectivePerturbation) -> float:
    """Return the greatest loss that is found in one dimension: two other examples, equal, and one that is replaced."""
    weights = np.concatenate([-np.geomspace(1e3, 1e-3, 400), np.geomspace(1e-3, 1e3, 400)])[:, None]
    found, labels = 0.0, np.ones(3, dtype=np.int64)
    for other in np.linspace(0, 1, 5):
        laws = [
            one.log_density((np.array([[other], [other], [own]]), labels), weights) for own in np.linspace(-1, 1, 9)
        ]
        found = max(found, *(float((first - second).max()) for first, second in itertools.permutations(laws, 2)))
    return found


def test_the_loss_stays_below_epsilon_and_without_the_log_term_it_does_not() -> None:
    shares = []
    for epsilon, regularisation in itertools.product((0.1, 1.0, 4.0), (0.001, 0.1, 1.0, 10.0)):
        one = ObjectivePerturbation(epsilon, 3, regularisation)
        assert greatest(one) <= one.noise_epsilon + math.log1p(0.25 / one.ridge) + 1e-9
        shares.append(greatest(one) / epsilon)
    assert 0.5 < max(shares) < 0.53  # in one dimension at most about half of the claim is used
    assert greatest(ObjectivePerturbation(1.0, 3, 0.001, "no log term")) > 3


@pytest.mark.parametrize(
    ("fault", "rows"),
    [("no log term", (1.0, 0.0)), pytest.param("rows as they are", (9.0, -9.0), marks=pytest.mark.full)],
)
def test_an_audit_detects_each_fault_and_does_not_accuse_the_right_one(fault: str, rows: tuple[float, float]) -> None:
    others, labels = [[1.0, 0.0], [-0.5, 0.0], [0.3, 0.0]], np.array([1, 0, 1, 1])
    pair = tuple((np.array([*others, [0.0, row]]), labels) for row in rows)
    for one, verdict in ((CASES[1], "consistent"), (replace(CASES[1], fault=fault), "violation")):
        # The right one uses a quarter of its claim on these pairs.
        made = dpaudit.audit_privacy(one.run, [pair], epsilon=one.privacy.epsilon, trials=5_000, batched=True)
        assert made.verdict == verdict


def test_a_minimiser_that_is_not_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objective_perturbation, "_STEPS", 1)
    with pytest.raises(ArithmeticError, match="did not reach"):
        CASES[0].run(LINE, np.random.default_rng(0), 5)


def test_bad_parameters_and_data_are_refused() -> None:
    assert {one.fault for one in CASES[0].faulty()} == FAULTS.keys()
    for wrong in ({"fault": "none"}, {"epsilon": 0.0}, {"examples": 0}, {"regularisation": 0.0}):
        with pytest.raises(InputError, match="must be"):
            ObjectivePerturbation(**wrong)
    with pytest.raises(InputError, match="data must be 3 examples"):
        ObjectivePerturbation(1.0, 3).run(LINE, np.random.default_rng(0), 1)
    assert CASES[0].run(LINE, np.random.default_rng(0), 0).shape == (0, 1)
