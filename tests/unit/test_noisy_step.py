"""A noisy step as a mechanism: its claim, its direction, its neighbouring inputs, and what audits of it find."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import InputError
from dpaudit.training import joined, noisy_step, orthogonal_directions, random_directions, step_delta
from dpaudit_learners.training.accountant import Accountant

BATCH = np.array([[1.0, 0.0], [0.0, -0.5]])
CANARY = np.array([6.0, 8.0])


def step_of(clip: float, sigma: float):
    def step(gradients, rng, size):
        short = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1) / clip)[:, None]
        return (short.sum(axis=0) + sigma * rng.normal(size=(size, 2))) / 2

    return step


@cache
def accountant(q: float) -> Accountant:
    return Accountant(0.8, q)


@pytest.mark.parametrize("q", [1.0, 0.25])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0, 30.0])
def test_the_claim_of_a_step_is_the_accountants(q: float, epsilon: float) -> None:
    one = accountant(q)
    found = step_delta(epsilon, noise_multiplier=0.8, sampling_rate=q)
    assert one.delta(epsilon, upper=False) - 1e-12 <= found <= one.delta(epsilon) + 1e-12


def test_at_epsilon_zero_the_claim_is_the_total_variation() -> None:
    assert step_delta(0, noise_multiplier=2.0) == pytest.approx(math.erf(0.25 / math.sqrt(2)), rel=1e-12)
    assert step_delta(0, noise_multiplier=2.0, sampling_rate=0.1) == pytest.approx(
        0.1 * math.erf(0.25 / math.sqrt(2)), rel=1e-12
    )


@pytest.mark.parametrize(
    ("epsilon", "sigma", "q", "delta"),
    [
        (37, 0.1, 1, 0.883752525982872),
        (37.5, 0.1, 1, 0.873738644843785),
        (40, 0.1, 1, 0.814779437760082),
        (40, 0.1, 0.999999, 0.814778596415348),
        (40, 0.1, 0.5, 0.397900105968449),
        (710, 0.02, 0.25, 0.25),
        (5000, 0.01, 1, 0.496010976018642),
        (1e-6, 1e6, 1, 8.33155122454254e-8),
        (1e-7, 1e6, 0.3, 7.62708513116715e-8),
        (13.8, 0.15, 0.999999, 0.864560917341724),
        (200, 0.05, 1e-4, 3.0507771934196e-5),
    ],
)
def test_a_step_at_extreme_parameters(epsilon: float, sigma: float, q: float, delta: float) -> None:
    """Computed with 60 digits: the hockey-stick divergences of the two laws, each on its half-line."""
    assert step_delta(epsilon, noise_multiplier=sigma, sampling_rate=q) == pytest.approx(delta, rel=1e-8)


def test_a_step_has_a_delta_for_all_floats() -> None:
    for epsilon in (0.0, 5e-324, 1.0, 700.0, 1e308):
        for sigma in (5e-324, 1e-160, 1.0, 1e160, 1e308):
            for q in (5e-324, 0.5, 1 - 2**-53, 1.0):
                assert 0 <= step_delta(epsilon, noise_multiplier=sigma, sampling_rate=q) <= q
    with pytest.raises(InputError, match="noise_multiplier must be such that delta is below 1"):
        noisy_step(step_of(1.0, 1.0), BATCH, CANARY, noise_multiplier=0.01, batched=True)


def test_the_direction_is_the_canarys_gradient() -> None:
    made = noisy_step(step_of(1.0, 1.0), BATCH, CANARY, noise_multiplier=1.0, batched=True)
    assert made.direction == pytest.approx([0.6, 0.8])
    with_canary, without = made.pairs[0]
    assert len(with_canary) == 3
    assert without is BATCH
    rng = np.random.default_rng(0)
    difference = made(with_canary, rng, 40_000).mean() - made(without, rng, 40_000).mean()
    assert difference == pytest.approx(0.5, abs=0.0125)  # five standard errors


def test_a_right_step_is_not_accused_and_a_faulty_one_is() -> None:
    # The right step lies at the exact claim: accused once in a thousand seeds.
    for clip, sigma, verdict in ((1.0, 1.0, "consistent"), (9.0, 1.0, "violation"), (1.0, 0.5, "violation")):
        made = noisy_step(step_of(clip, sigma), BATCH, CANARY, noise_multiplier=1.0, batched=True)
        assert made.audit(trials=5_000).verdict == verdict


def test_steps_made_one_by_one_and_whole_trainings() -> None:
    def training(gradients, rng):
        return {"w": [(gradients.sum(axis=0) + rng.normal(size=2)) for _ in range(3)]}

    made = noisy_step(training, BATCH, np.array([1.0, 0.0]), noise_multiplier=1.0, steps=3)
    assert made.claim.delta == pytest.approx(step_delta(0, noise_multiplier=1 / math.sqrt(3)))
    assert made(BATCH, np.random.default_rng(0), 4).shape == (4, 3)
    assert made.audit(trials=500, execution=dpaudit.Execution(sequential=True)).verdict != "violation"


def test_canaries_join_data_of_every_form() -> None:
    assert joined([1], 2) == [1, 2]
    points, labels = joined((BATCH, np.array([0, 1])), (CANARY, 1))
    assert len(points) == len(labels) == 3
    assert joined({"x": BATCH}, {"x": CANARY})["x"][-1] == pytest.approx(CANARY)
    for wrong in (None, np.ones(3)):
        with pytest.raises(InputError, match="canary must be"):
            joined(BATCH, wrong)


def test_directions_have_their_norm_and_orthogonal_ones_are_orthogonal() -> None:
    rng = np.random.default_rng(0)
    assert np.linalg.norm(random_directions(5, 3, rng, norm=2.0), axis=1) == pytest.approx(2.0)
    basis = orthogonal_directions(3, 5, rng, norm=2.0)
    assert basis @ basis.T == pytest.approx(4 * np.eye(3), abs=1e-12)
    with pytest.raises(InputError, match="count must be"):
        orthogonal_directions(4, 3, rng)


def test_bad_input_is_refused() -> None:
    step = step_of(1.0, 1.0)
    for name, value in (("noise_multiplier", 0.0), ("sampling_rate", 0.0), ("steps", 0), ("epsilon", -1.0)):
        given = {"noise_multiplier": 1.0, name: value}
        with pytest.raises(InputError, match=f"{name} must be"):
            noisy_step(step, BATCH, CANARY, batched=True, **given)
    with pytest.raises(InputError, match="claim must be given"):
        noisy_step(step, BATCH, CANARY, noise_multiplier=1.0, steps=2, sampling_rate=0.5, batched=True)
    with pytest.raises(InputError, match="direction must be given"):
        noisy_step(step, BATCH, np.zeros(2), noise_multiplier=1.0, batched=True)
    made = noisy_step(step, BATCH, CANARY, noise_multiplier=1.0, direction=np.ones(3), batched=True)
    with pytest.raises(InputError, match="step must be"):
        made(BATCH, np.random.default_rng(0), 2)


def test_the_module_is_a_public_name() -> None:
    assert dpaudit.training.noisy_step is noisy_step
