"""A feature is a function of one output alone: in a batch it is what it is for each output by itself."""

from __future__ import annotations

import numpy as np
import pytest
from nearly_unique_outputs import KINDS
from structured_outputs import STRUCTURES
from typed_outputs import TYPES

from dpaudit.events.feature_screening.features import groups_of
from dpaudit.outputs.plan import Plan

OUTPUTS = {**KINDS, **STRUCTURES, **{name: made for name, made in TYPES.items() if "10^5" not in name}}
TRAINING, FRESH = 60, 7


@pytest.mark.parametrize("mechanism", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_features_of_a_batch_are_those_of_each_output_alone(mechanism):
    rng = np.random.default_rng(0)
    training = [mechanism(rng, x) for x in (0, 1) for _ in range(TRAINING)]
    # Fresh outputs of one side are what tells a width or category of the batch from one of the plan.
    fresh = [mechanism(rng, 1) for _ in range(FRESH)]
    for leaf in Plan.of(training).leaves:
        values, _ = leaf.read(training)
        for owner, _, group in groups_of(leaf, values):
            (batch, where), alone = owner.read(fresh), [owner.read([output]) for output in fresh]
            there = [i for i in range(FRESH) if where is None or i in where]
            assert there == [i for i, (_, at) in enumerate(alone) if at is None or len(at)]
            if not there:
                continue
            for j in range(len(group.names)):
                assert group.column(batch, j).tolist() == [int(group.column(alone[i][0], j)[0]) for i in there], (
                    leaf.name, group.names[j])  # fmt: skip


@pytest.mark.parametrize("rows", [
    np.random.default_rng(0).normal(size=(9, 3)), np.random.default_rng(0).integers(2**60, size=(9, 20)),
    np.random.default_rng(0).integers(2**40, size=9), np.random.default_rng(0).normal(size=(9, 4, 5)),
    np.random.default_rng(0).random(size=(9, 2)) < 0.5,
])  # fmt: skip
def test_rows_of_one_array_have_the_features_of_a_list_of_outputs(rows):
    listed = list(rows)
    for plan in (Plan.of(rows), Plan.of(listed)):
        for leaf in plan.leaves:
            (direct, _), (walked, _) = leaf.read(rows), leaf.read(listed)
            for owner, read, group in groups_of(leaf, direct):
                other = owner.read(listed)[0] if owner is not leaf else walked
                for j in range(len(group.names)):
                    assert group.column(read, j).tolist() == group.column(other, j).tolist()
