"""Structure is information: keys, shapes, order, types and signs of zero are promised, rare ones too.

An event of probability 0.1 on one side alone promises 1 at least: the seeds are fixed, and 80 of 800 runs show it, five
of which or fewer with a probability below 1e-25.
"""

from __future__ import annotations

import numpy as np
import pytest
from quick import by_turns
from structured_outputs import STRUCTURES

from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.plan import LeafPlan


@pytest.mark.parametrize(
    ("mechanism", "share"),
    [
        # What is always so is in every profile, and what is rarely so by turns.
        *(pytest.param(mechanism, 1.0, id=f"{name}-always") for name, mechanism in STRUCTURES.items()),
        *by_turns(pytest.param(mechanism, 0.1, id=f"{name}-rarely") for name, mechanism in STRUCTURES.items()),
    ],
)
def test_structure_is_promised(mechanism, share):
    rng = np.random.default_rng(5)
    runs = 200 if share == 1.0 else 800
    data = [mechanism(rng, 0) for _ in range(runs)]
    neighbour = [mechanism(rng, int(rng.random() < share)) for _ in range(runs)]
    found = screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 8_000)[0]
    assert found.promise > (4 if share == 1.0 else 1)


@pytest.mark.parametrize("other", [
    lambda rng: np.float64(rng.normal()), lambda rng: float(rng.normal()),
])  # fmt: skip
def test_a_scalar_of_numpy_is_the_same_as_one_of_python(other):
    rng = np.random.default_rng(0)
    data, neighbour = [float(rng.normal()) for _ in range(2_000)], [other(rng) for _ in range(2_000)]
    assert all(
        found.promise < 0.5 for found in screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 8_000)
    )
