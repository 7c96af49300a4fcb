"""A curve as it is stored in a finding, and read again by a report."""

import json

import numpy as np
import pytest

from dpaudit.bounds.curve import Curve, fit_curve
from dpaudit.errors import InputError


def curve():
    return fit_curve([10, 400, 900], 1_000, [0, 100, 600], 1_000, 0.01)


def test_a_stored_curve_is_the_same_curve():
    before, after = curve(), Curve.from_dict(json.loads(json.dumps(curve().to_dict())))
    grid = np.linspace(0, 4, 41)
    np.testing.assert_array_equal(after.delta_lower(grid), before.delta_lower(grid))
    np.testing.assert_array_equal(after.trade_off_upper(grid / 4), before.trade_off_upper(grid / 4))
    assert after.epsilon_lower(0.1) == before.epsilon_lower(0.1)
    assert after.to_dict() == before.to_dict()
    assert after.delta_lower(0.0) > 0.2  # not vacuous


def test_mu_is_computed_from_the_limits_and_not_believed():
    assert Curve.from_dict({**curve().to_dict(), "mu_lower": 99.0}).mu_lower() == curve().mu_lower()


@pytest.mark.parametrize("field", ["false_positive_upper", "false_negative_upper", "gamma", "trials"])
def test_a_missing_field_is_named(field):
    stored = curve().to_dict()
    del stored[field]
    with pytest.raises(InputError, match=field):
        Curve.from_dict(stored)


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
    with pytest.raises(InputError):
        Curve.from_dict({**curve().to_dict(), **change})
