"""A curve as it is stored in a finding, and read again by a report."""

import json

import numpy as np
import pytest

from dpaudit.bounds.curve import Curve, fit_curve
from dpaudit.errors import ToolFault
from dpaudit.record import decode, encodable


def curve():
    return fit_curve([10, 400, 900], 1_000, [0, 100, 600], 1_000, 0.01)


def read(**changes):
    return decode(json.dumps({**encodable(curve()), **changes}), Curve)


def test_a_stored_curve_is_the_same_curve():
    before, after = curve(), read()
    grid = np.linspace(0, 4, 41)
    np.testing.assert_array_equal(after.delta_lower(grid), before.delta_lower(grid))
    np.testing.assert_array_equal(after.trade_off_upper(grid / 4), before.trade_off_upper(grid / 4))
    assert after.epsilon_lower(0.1) == before.epsilon_lower(0.1)
    assert after == before
    assert after.delta_lower(0.0) > 0.2  # not vacuous


def test_mu_follows_from_the_limits():
    with pytest.raises(ToolFault, match="mu_lower must be what follows from the limits"):
        read(mu_lower=99.0)


@pytest.mark.parametrize("field", ["false_positive_upper", "false_negative_upper", "gamma", "trials"])
def test_a_missing_field_is_named(field):
    stored = encodable(curve())
    del stored[field]
    with pytest.raises(ToolFault, match=field):
        decode(json.dumps(stored), Curve)


@pytest.mark.parametrize(
    "change",
    [
        {"false_positive_upper": [0.1]},
        {"false_positive_upper": [], "false_negative_upper": []},
        {"false_positive_upper": [0.1, 0.2, 0.0]},
        {"false_negative_upper": [0.1, 0.2, 1.1]},
        {"false_negative_upper": [0.1, 0.2, "nan"]},
        {"false_negative_upper": 0.5, "false_positive_upper": 0.5},
        {"false_negative_upper": None},
        {"gamma": 0.0},
        {"gamma": "x"},
        {"trials": None},
    ],
)
def test_what_is_no_curve_is_refused(change):
    with pytest.raises(ToolFault):
        read(**change)
