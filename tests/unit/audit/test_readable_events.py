"""Where a feature says what a score says, findings name the feature."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpaudit


def of_another_length(x, rng):
    return list(rng.normal(size=3 + 2 * x))


def of_another_key(x, rng):
    return {"a" if rng.random() < 0.2 + 0.6 * x else "b": rng.normal()}


def raising(x, rng):
    if rng.random() < 0.3 * x:
        raise ValueError(f"at {rng.random()}")
    return rng.normal()


def telling(x, rng):
    return f'{{"id": {rng.integers(10**6)}, "total": {3 * x + rng.laplace():.3f}}}'


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (of_another_length, "len(output) < "),
        (of_another_key, "keys of output = {'"),
        (raising, "type of output = 'exception'"),
        (telling, "json.loads(output)['total'] < "),
    ],
)
def test_the_event_is_one_that_a_person_reads_off_the_output(mechanism, words):
    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=1.0, trials=3_000, seed=0)
    assert finding.verdict == "violation"
    assert words in " ".join(str(finding).split())


def mean(data, rng):
    """Return the mean of values between 0 and 1 with Laplace noise, without looking for NaN."""
    return float(np.clip(data, 0.0, 1.0).sum()) / 10 + rng.laplace(scale=0.1)


@pytest.mark.parametrize(
    ("mechanism", "subject"),
    [
        (mean, "output"),
        (lambda data, rng: np.float32(mean(data, rng)), "output"),
        (lambda data, rng: {"mean": mean(data, rng), "rows": 10}, "output['mean']"),
    ],
    ids=["float", "float32", "part"],
)
def test_an_output_that_becomes_nan_is_called_so(mechanism, subject):
    whole, broken = [0.5] * 10, [0.5] * 9 + [math.nan]
    # Seen from either side, the likelier one first.
    for pair, words in (((whole, broken), f"{subject} is not NaN: "), ((broken, whole), f"{subject} is NaN: ")):
        finding = dpaudit.audit_privacy(mechanism, [pair], epsilon=1.0, trials=3_000, seed=0)
        assert finding.verdict == "violation"
        assert words in " ".join(str(finding).split())


def test_a_nan_that_was_added_to_the_data_is_called_so():
    finding = dpaudit.audit_privacy(
        mean, data=[i / 10 for i in range(10)], bounds=(0, 1), epsilon=1.0, trials=2_000, seed=0
    )
    assert finding.verdict == "violation"
    text = " ".join(str(finding).split())
    assert "output is not NaN: 100 % on " in text
    assert "never on the same, a record with NaN (outside the bounds) added" in text
