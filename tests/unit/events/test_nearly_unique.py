"""Leaks in values that hardly ever repeat: the screen promises each at 1,000 runs a side, and events show values.

Seeds are fixed; every leak is certain, but for two whose events have probabilities of 0.3 and 0.1.
"""

from __future__ import annotations

import numpy as np
import pytest
from nearly_unique_outputs import KINDS

import dpaudit
from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.plan import LeafPlan


def sides(mechanism, runs=1_000, seed=3):
    rng = np.random.default_rng(seed)
    return [[mechanism(rng, x) for _ in range(runs)] for x in (0, 1)]


@pytest.mark.parametrize("mechanism", KINDS.values(), ids=KINDS.keys())
def test_a_leak_in_nearly_unique_values_is_promised(mechanism):
    data, neighbour = sides(mechanism)
    certain = mechanism not in (KINDS["last digit 7 now and then"], KINDS["overflow of 32 bits"])
    found = screen_features(LeafPlan.of([*data, *neighbour]), data, neighbour, 5_000, epsilon=0.5)
    assert found[0].promise > (3 if certain else 1.5)


def test_text_with_numbers_beyond_floats_is_taken_apart() -> None:
    def line(x: int, rng: np.random.Generator) -> str:
        word = "OK" if rng.random() < 0.5 + 0.25 * x else "Ok"
        return f"{rng.integers(9)}e{rng.integers(250, 330)} {word} {rng.integers(9)}e{rng.integers(250, 330)}"

    found = dpaudit.audit_privacy(line, [(0, 1)], epsilon=0.3, trials=3_000)
    assert found.verdict == "violation"
