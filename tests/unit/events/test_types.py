"""A leak in any part of an output of any type is seen by the plan and the screen, at 50 runs a side.

Seeds are fixed; every leak is certain, so that it is missed with a probability far below one in a million.
"""

from __future__ import annotations

import numpy as np
import pytest
from quick import by_turns
from typed_outputs import TYPES

from dpaudit.events.feature_screening.search import screen_features
from dpaudit.outputs.plan import LeafPlan

RUNS = 50


def sides(mechanism, runs=RUNS, seed=0):
    rng = np.random.default_rng(seed)
    return [[mechanism(rng, x) for _ in range(runs)] for x in (0, 1)]


@pytest.mark.parametrize(
    "mechanism",
    # Columns of a wide matrix are chosen in `unit/audit/test_outputs.py` too.
    by_turns(
        pytest.param(mechanism, id=name, marks=[pytest.mark.full] * (name == "matrix of 10^5 columns"))
        for name, mechanism in TYPES.items()
    ),
)
def test_a_leak_in_every_part_of_a_value_of_every_type_is_promised(mechanism):
    data, neighbour = sides(mechanism, 30 if mechanism is TYPES["matrix of 10^5 columns"] else RUNS)
    plan = LeafPlan.of([*data, *neighbour])
    assert not plan.unseen
    assert screen_features(plan, data, neighbour, 5_000)[0].promise > (1 if len(data) < RUNS else 2)
