"""Where a feature says what a score says, findings name the feature."""

from __future__ import annotations

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
