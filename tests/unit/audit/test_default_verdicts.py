"""With all defaults and the default seed, no textbook mechanism with a tight claim is accused, and evidence is found.

The false-alarm rate of one audit is at most 0.001; that of the ten together at most 0.01.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.arguments import CONFIDENCE
from dpaudit.evidence.plan import make_plan

Mechanism = Callable[..., Any]


def laplace(x: int, rng: Any, size: int) -> Any:
    return x + rng.laplace(size=size)


def gaussian(x: int, rng: Any, size: int) -> Any:
    return x + rng.normal(scale=SIGMA, size=size)


def geometric(x: int, rng: Any, size: int) -> Any:
    stop = 1 - math.exp(-1)
    return x + rng.geometric(stop, size) - rng.geometric(stop, size)


def randomised_response(x: int, rng: Any, size: int) -> Any:
    return np.where(rng.random(size) < math.e / (1 + math.e), x, 1 - x)


def exponential(x: int, rng: Any, size: int) -> Any:
    weights = np.exp(np.array([x, 1 - x]) * 0.5)  # of sensitivity 1, with epsilon / 2: ratios of e^0.5 in the weights
    return rng.choice(2, size, p=weights / weights.sum())


def noisy_max(x: Any, rng: Any, size: int) -> Any:
    # One record moves all counts by one: noise of scale 2 / epsilon, and exponential noise makes it tight.
    return (np.array(x) + rng.exponential(2, (size, len(x)))).argmax(axis=1)


def above_threshold(x: Any, rng: Any, size: int) -> Any:
    noisy = np.array(x) + rng.laplace(scale=4, size=(size, len(x))) >= rng.laplace(scale=2, size=(size, 1))
    return np.where(noisy.any(axis=1), noisy.argmax(axis=1), -1)


def histogram(x: Any, rng: Any, size: int) -> Any:
    return np.array(x) + rng.laplace(size=(size, len(x)))  # one record is added to one cell


def vector_laplace(x: Any, rng: Any, size: int) -> Any:
    return np.array(x) + rng.laplace(scale=3, size=(size, len(x)))


def k_ary_response(x: int, rng: Any, size: int) -> Any:
    other = rng.integers(1, 5, size)
    return np.where(rng.random(size) < math.e / (math.e + 4), x, (x + other) % 5)


SIGMA = 3.730631634815942
"""The least standard deviation for which the Gauss mechanism of sensitivity 1 is (1, 1e-5)-private (Balle, Wang)."""
TEXTBOOK: dict[str, tuple[Mechanism, Any, dict[str, float]]] = {
    "Laplace": (laplace, (0, 1), {"epsilon": 1.0}),
    "Gauss": (gaussian, (0, 1), {"epsilon": 1.0, "delta": 1e-5}),
    "geometric": (geometric, (0, 1), {"epsilon": 1.0}),
    "randomised response": (randomised_response, (0, 1), {"epsilon": 1.0}),
    "exponential mechanism": (exponential, (0, 1), {"epsilon": 0.5}),
    "noisy maximum": (noisy_max, ([1, 0, 0], [0, 1, 1]), {"epsilon": 1.0}),
    "above threshold": (above_threshold, ([1, 1, 1, 0], [0, 0, 0, 1]), {"epsilon": 1.0}),
    "histogram": (histogram, ([3, 2, 0], [3, 2, 1]), {"epsilon": 1.0}),
    "vector of Laplace noise": (vector_laplace, ([0, 0, 0], [1, 1, 1]), {"epsilon": 1.0}),
    "k-ary response": (k_ary_response, (0, 1), {"epsilon": 1.0}),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_no_tight_claim_of_a_textbook_is_accused(name: str) -> None:
    mechanism, pair, claim = TEXTBOOK[name]
    found = dpaudit.audit_privacy(mechanism, [pair], batched=True, **claim)
    assert found.verdict == "consistent"
    assert (found.confidence, found.seed, found.trials) == (0.999, 0, 100_000)
    assert math.isfinite(found.detectable_epsilon)


def test_a_newcomers_first_audit_accuses_nobody() -> None:
    found = dpaudit.audit_privacy(lambda x, rng: x + rng.laplace(), [(0, 1)], epsilon=1.0)
    assert found.verdict == "consistent"
    assert 0.9 < found.epsilon_lower <= 1.0


def test_the_default_confidence_is_the_same_everywhere() -> None:
    for function in (dpaudit.audit_privacy, dpaudit.pac.audit_utility, make_plan):
        assert inspect.signature(function).parameters["confidence"].default == CONFIDENCE == 0.999


@pytest.mark.parametrize("seed", [1, 9])
def test_outputs_that_vary_are_not_constant_where_a_learned_event_is(seed: int) -> None:
    """The tested event may be a score that all outputs have."""
    finding = dpaudit.audit_privacy(
        lambda data, rng: "".join("abcdefgh"[i] for i in rng.permutation(8)),
        [(0, 1)],
        epsilon=0.5,
        trials=4_000,
        seed=seed,
    )
    assert (finding.verdict, finding.gaps) == ("consistent", ())
