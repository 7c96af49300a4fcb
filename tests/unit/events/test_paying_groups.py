"""Classifiers see, where the signal is clear, the groups of columns that promise more; none is a second opinion."""

from __future__ import annotations

import numpy as np
import pytest

import dpaudit
from dpaudit.events.fitting import CLEAR, LEAST_TRIED_ROWS, fitted_discretizers
from dpaudit.events.fitting import _paying as paying
from dpaudit.events.flattening import GROUPS
from dpaudit.events.selected import OrderedCells

ROWS = 2 * LEAST_TRIED_ROWS
NAMES = ("values", "differences", "order statistics", "summaries", "halves")
CONFIRM = 20_000


def groups_of(shift, rows=ROWS, common=0.0):
    rng = np.random.default_rng(0)
    sides = [rng.normal(size=(rows, 8)) + common * rng.normal(size=(rows, 1)) + x * shift for x in (0, 1)]
    return paying({name: (GROUPS[name](sides[0]), GROUPS[name](sides[1])) for name in NAMES}, CONFIRM)


@pytest.mark.parametrize(
    ("shift", "common", "paid", "spared"),
    [
        (np.eye(8)[2] * 2, 0.0, (), "halves"),  # one number, which sums hide
        (np.eye(8)[2] * 2, 5.0, ("differences",), "halves"),  # what all numbers share hides it
        (np.zeros(8), 0.0, NAMES[1:], None),  # nothing: what columns say together may be all there is
    ],
    ids=["one", "hidden", "none"],
)
def test_groups_that_pay(shift, common, paid, spared):
    groups, naive = groups_of(shift, common=common)
    assert groups[0] == "values"
    assert set(paid) <= set(groups)
    assert spared not in groups
    assert (naive > CLEAR) == bool(np.any(shift))


def test_few_rows_take_all_groups():
    assert groups_of(np.eye(8)[2] * 2, ROWS - 2) == (NAMES, 0.0)


def test_a_discriminant_is_fitted_on_no_group_that_is_linear_in_the_values():
    rng = np.random.default_rng(1)
    data, neighbour = rng.normal(size=(2, 400, 5))
    found = fitted_discretizers(data, neighbour, thorough=True, float_bits=False)
    (name,) = (one.name for one in found if one.name.startswith("linear discriminant"))
    assert "differences" not in name
    assert "halves" not in name
    assert any(one.name.startswith("boosted trees on values, differences") for one in found)


def test_no_slow_score_is_a_second_opinion(monkeypatch):
    asked = []
    usual = OrderedCells.refuting

    def refuting(families, *given):
        asked.append(families.discretizer)
        return usual(families, *given)

    def halves_that_agree(x, rng, size):  # only trees see the product of three signs
        rows = rng.normal(size=(size, 6))
        rows[:, 0] *= np.sign(rows[:, 0] * rows[:, 1] * rows[:, 2]) if x else 1
        return rows

    monkeypatch.setattr(OrderedCells, "refuting", refuting)
    finding = dpaudit.audit_privacy(halves_that_agree, [(0, 1)], epsilon=9.0, trials=4_000, batched=True)
    assert any(name.startswith("boosted trees") for name in finding.scores)
    assert asked
    assert not any(one.slow for one in asked)
