"""Points derived from data, and the words for a probe that shows nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import dpaudit

X = np.random.default_rng(0).normal(size=(12, 2))
Y = (X[:, 0] > 0).astype(int)
PAIRS = [((X, Y), (np.concatenate([X[1:], [[9.0, 9.0]]]), np.append(Y[1:], 0)))]


def fit(data, rng):
    return LogisticRegression().fit(data[0] + rng.laplace(size=data[0].shape), data[1])


def test_records_of_one_side_come_first_and_points_between_and_beyond_follow():
    points = dpaudit.probe_of(PAIRS)
    assert sorted(points[:2].tolist()) == sorted([X[0].tolist(), [9.0, 9.0]])
    assert len(points) == 13 + 2 + 12
    assert (points.min(axis=0) < X.min(axis=0)).all()
    assert (points.max(axis=0) > 9.0).all()
    assert dpaudit.probe_of([([0.0, 1.0], [1.0, 1.0])]).tolist() == [0.0, 1.0, -1.0, 2.0, 0.5]
    assert len(dpaudit.probe_of(PAIRS, count=5)) == 5


def test_of_a_table_the_records_are_taken_with_their_columns():
    table = pd.DataFrame({"age": [1.0, 2.0], "town": ["A", "B"]})
    assert dpaudit.probe_of([(table, table.iloc[:1])]).equals(table)


def test_a_probe_from_the_data_tells_models_apart():
    finding = dpaudit.audit_privacy(fit, PAIRS, epsilon=1.0, trials=100, look=dpaudit.Look(probe="data"))
    assert not finding.warnings
    assert 'probe="data"' in str(finding) or "probe='data'" in str(finding)


@pytest.mark.parametrize(
    ("mechanism", "probe", "said"),
    [
        (lambda data, rng: 0.0 * rng.random(), X, "not used: no output has a method predict"),
        (lambda data, rng: LogisticRegression().fit(X, Y), [[1.0, 1.0], [2.0, 2.0]], "the same predictions in all of"),
    ],
)
def test_a_probe_that_shows_nothing_is_told(mechanism, probe, said):
    finding = dpaudit.audit_privacy(
        mechanism, PAIRS, epsilon=1.0, trials=100, look=dpaudit.Look(probe=probe), randomness="own"
    )
    assert any(said in warning for warning in finding.warnings)


@pytest.mark.parametrize(
    ("pairs", "probe", "said"),
    [
        (PAIRS, "points", "probe must be points, one a row"),
        (PAIRS, [], "probe must be points, one a row"),
        ([("some", "text")], "data", "cannot be derived from data of type str"),
        ([([], [])], "data", "without a record"),
        ([(X, X[:, :1])], "data", "different widths"),
    ],
)
def test_what_is_no_probe_is_refused(pairs, probe, said):
    with pytest.raises(dpaudit.InputError, match=said):
        dpaudit.audit_privacy(
            lambda data, rng: rng.random(), pairs, epsilon=1.0, trials=100, look=dpaudit.Look(probe=probe)
        )
