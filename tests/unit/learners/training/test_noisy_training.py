"""The accountant against stored numbers of dp-accounting; gradients against differences; faults that are visible."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dpaudit import Execution, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.training import noisy_step
from dpaudit_learners.training.accountant import Accountant
from dpaudit_learners.training.noisy_sgd import FAULTS, Examples, Logistic, Model, Network, NoisySGD, one_training

# dp-accounting 0.6.0: PLDAccountant(value_discretization_interval=1e-4).compose(PoissonSampledDpEvent(q,
# GaussianDpEvent(sigma)), T), for q = 1 without the sampling; get_epsilon(1e-2), get_epsilon(1e-5), get_delta(0.5).
REFERENCE = {
    (0.1, 1.5, 20): (0.59626, 1.6927, 0.0162781),
    (0.25, 1.0, 1): (0.74201, 2.70651, 0.0206877),
    (1.0, 2.0, 10): (4.32223, 7.51128, 0.4611286),
    (0.1, 1.0, 100): (3.4348, 7.0466, 0.3134435),
}


@pytest.mark.parametrize("case", REFERENCE)
def test_the_bracket_holds_the_numbers_of_another_accountant(case: tuple[float, float, int]) -> None:
    q, sigma, steps = case
    one = Accountant(sigma, q, steps)
    for delta, known in zip((1e-2, 1e-5), REFERENCE[case], strict=False):
        assert one.epsilon(delta, upper=False) - 1e-4 <= known <= one.epsilon(delta) + 1e-4
        assert one.epsilon(delta) - one.epsilon(delta, upper=False) <= 1.1 * steps * one._step
    assert one.delta(0.5, upper=False) <= REFERENCE[case][2] <= one.delta(0.5) + 1e-7


def test_an_accountant_refuses_what_is_out_of_range() -> None:
    for wrong in ({"noise_multiplier": 0.0}, {"noise_multiplier": 1.0, "sampling_rate": 0.0}):
        with pytest.raises(InputError, match="must be"):
            Accountant(**wrong)
    with pytest.raises(InputError, match="steps must be"):
        Accountant(1.0, 0.5, 0)
    with pytest.raises(InputError, match="delta must be"):
        Accountant(1.0).epsilon(0.0)
    with pytest.raises(InputError, match="noise and steps"):
        Accountant(0.01, 0.5, 100)
    assert Accountant(1.0).epsilon(0.5) == 0.0  # the total variation distance is 0.38


@pytest.mark.parametrize("model", [Logistic(3), Network(3, 2)])
def test_gradients_are_those_of_the_loss(model: Model) -> None:
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(4, 3)), np.array([0, 1, 1, 0])
    parameters = rng.normal(size=(2, model.dimension))

    def loss(w: np.ndarray, x: np.ndarray, label: int) -> float:
        if isinstance(model, Network):
            h = model.hidden
            hidden = np.tanh(w[: 3 * h].reshape(h, 3) @ x + w[3 * h : 4 * h])
            margin = w[4 * h : 5 * h] @ hidden + w[-1]
        else:
            margin = w @ x
        return float(np.log1p(np.exp(-(2 * label - 1) * margin)))

    found = model.gradients(parameters, points, labels)
    for r, i, j in np.ndindex(found.shape):
        move = 1e-6 * np.eye(model.dimension)[j]
        above, below = (loss(parameters[r] + side * move, points[i], labels[i]) for side in (1, -1))
        assert found[r, i, j] == pytest.approx((above - below) / 2e-6, abs=1e-7)


def data(gradients: np.ndarray | None = None) -> Examples:
    rng = np.random.default_rng(1)
    return Examples(
        rng.normal(size=(6, 2)), rng.integers(0, 2, 6), np.empty((0, 2)) if gradients is None else gradients
    )


def test_a_step_is_the_mean_of_clipped_gradients_with_the_noise_that_is_claimed() -> None:
    sgd = NoisySGD(Logistic(2), clip=0.5, noise_multiplier=2.0, examples=6)
    made = sgd.step(data(np.array([[3.0, 4.0]])), np.random.default_rng(0), 40_000)
    gradients = (0.5 - data().labels)[:, None] * data().points
    gradients *= np.minimum(1, 0.5 / np.linalg.norm(gradients, axis=1))[:, None]
    mean = (gradients.sum(axis=0) + np.array([0.3, 0.4])) / 6
    # The noise has standard deviation 1 / 6, its mean 1 / 1,200: within 5 of them but for one seed in 900,000.
    assert made.mean(axis=0) == pytest.approx(mean, abs=5 / 1200)
    assert made.std(axis=0) == pytest.approx(1 / 6, rel=0.02)


def test_each_fault_does_what_its_name_says() -> None:
    assert {one.fault for one in NoisySGD(Logistic(2)).faulty()} == FAULTS.keys()
    quiet = NoisySGD(Logistic(2), noise_multiplier=0.1, examples=6, sampling_rate=0.5, steps=3, learning_rate=0.0)
    canary, rng = data(np.array([[30.0, 40.0]])), np.random.default_rng(0)
    largest = {one.fault: np.abs(one.updates(canary, rng, 50)).max() for one in (quiet, *quiet.faulty())}
    assert largest[""] < 3 < 12 < largest["no clipping"]
    assert largest["clipping by batch"] < 1.2
    none = Examples(np.empty((0, 2)), np.empty(0, dtype=np.int64), np.empty((0, 2)))
    reused = replace(quiet, fault="noise reused").updates(none, rng, 5)
    assert (reused == reused[:, :1]).all()
    short = replace(quiet, fault="wrong batch size", steps=1).updates(none, rng, 20_000).std()
    assert short == pytest.approx(0.1 / 6, rel=0.03)  # a standard error is 0.4 %
    fixed = replace(quiet, fault="without replacement")._batches(7, rng, 100)
    assert (fixed.sum(axis=1) == 3).all()


@cache
def verdict(fault: str, trials: int, case: str) -> str:
    """The verdict of bets on trainings with a fault, or none, beside the other examples on which a fault shows."""
    canary, others = np.array([3.0, 4.0]), data()
    if case == "without replacement":  # every other example opposes the canary: displacing one adds to it
        others = Examples(others.points[:0], others.labels[:0], np.tile(-canary, (8, 1)))
    if case == "noise reused":  # the steps of a run differ only where there is an example that comes and goes
        others = Examples(others.points[:0], others.labels[:0], others.gradients)
    sgd = NoisySGD(Logistic(2), sampling_rate=0.5, examples=8, steps=8, fault=fault)
    claim = PrivacyClaim(0.5, sgd.accountant.delta(0.5), Relation.ADD_REMOVE_ONE)
    made = noisy_step(
        sgd.updates, others, canary, noise_multiplier=1.0, steps=8, claim=claim, direction=canary, batched=True,
        join=Examples.adding,
    )  # fmt: skip
    return made.audit(trials=trials, execution=Execution(sequential=True)).verdict


@cache
def right_verdict(case: str) -> str:
    """Return the verdict on the right algorithm, with which several faults are compared."""
    return verdict("", 300, case)


# Of two faults of the clipping, and of two of the noise, one each is detected in every profile.
LIKE_OTHERS = {"wrong batch size", "clipping by batch"}


@pytest.mark.parametrize(
    "fault", [pytest.param(one, marks=[pytest.mark.full] * (one in LIKE_OTHERS)) for one in FAULTS]
)
def test_bets_on_whole_trainings_detect_each_fault(fault: str) -> None:
    case = fault if fault in ("without replacement", "noise reused") else ""
    # The right algorithm is accused at most once in a thousand seeds.
    assert right_verdict(case) != "violation"
    assert verdict(fault, 2_000, case) == "violation"


def test_bad_parameters_are_refused() -> None:
    for wrong in ({"fault": "none"}, {"clip": 0.0}, {"examples": 0}, {"start": (1.0,)}, {"noise_multiplier": -1.0}):
        with pytest.raises(InputError, match="must be"):
            NoisySGD(Logistic(2), **wrong)


def test_one_training_scores_canaries_that_are_in_above_those_that_are_not() -> None:
    canaries = 5 * np.eye(50)[:40]
    others = Examples(np.empty((0, 50)), np.empty(0, dtype=np.int64), np.empty((0, 50)))
    sgd = NoisySGD(Logistic(50), noise_multiplier=0.5, examples=40, steps=20)
    sums, spreads, included = one_training(sgd, others, canaries, np.random.default_rng(0))
    assert sums.shape == spreads.shape == included.shape == (40,)
    assert ((sums > 0.5) == included).all()  # the mean of 20 steps has standard deviation 0.11
