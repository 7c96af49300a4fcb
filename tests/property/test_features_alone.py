"""A feature is a function of one output alone: in a batch it is what it is for each output by itself."""

from __future__ import annotations

import numpy as np
import pytest
from nearly_unique_outputs import KINDS
from quick import by_turns
from structured_outputs import STRUCTURES
from typed_outputs import TYPES

from dpaudit.events.feature_screening.search import features_of
from dpaudit.outputs.plan import LeafPlan

OUTPUTS = {**KINDS, **STRUCTURES, **{name: made for name, made in TYPES.items() if "10^5" not in name}}
TRAINING, FRESH = 60, 4


@pytest.mark.parametrize("mechanism", by_turns(pytest.param(one, id=name) for name, one in OUTPUTS.items()))
def test_features_of_a_batch_are_those_of_each_output_alone(mechanism):
    rng = np.random.default_rng(0)
    training = [mechanism(rng, x) for x in (0, 1) for _ in range(TRAINING)]
    # Fresh outputs of one side are what tells a width or category of the batch from one of the plan.
    fresh = [mechanism(rng, 1) for _ in range(FRESH)]
    alone = fresh[:1]  # one list for all features, which read what they share of it once
    for leaf in LeafPlan.of(training).leaves:
        values, _ = leaf.read(training)
        for _, features in features_of(leaf, values):
            for feature in features:
                assert feature(fresh)[0] == feature(alone)[0], feature.name


@pytest.mark.parametrize("rows", [
    np.random.default_rng(0).normal(size=(9, 3)), np.random.default_rng(0).integers(2**60, size=(9, 20)),
    np.random.default_rng(0).integers(2**40, size=9), np.random.default_rng(0).normal(size=(9, 4, 5)),
    np.random.default_rng(0).random(size=(9, 2)) < 0.5,
])  # fmt: skip
def test_rows_of_one_array_have_the_features_of_a_list_of_outputs(rows):
    listed = list(rows)
    for plan in (LeafPlan.of(rows), LeafPlan.of(listed)):
        for leaf in plan.leaves:
            for _, features in features_of(leaf, leaf.read(rows)[0]):
                for feature in features:
                    assert feature(rows).tolist() == feature(listed).tolist(), feature.name
