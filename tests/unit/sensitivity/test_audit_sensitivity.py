"""Sensitivities of functions: one pair is a proof, and what was not found is not said to hold."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit import InputError, SensitivityFinding, audit_sensitivity

ROWS = [round(float(x), 3) for x in np.random.default_rng(0).random(50)]


def clipped_sum(data: Any) -> float:
    return math.fsum(min(max(x, 0.0), 1.0) for x in data if x == x)


def of_function(*args: Any, **settings: Any) -> SensitivityFinding:
    found = audit_sensitivity(*args, **settings)
    assert isinstance(found, SensitivityFinding)
    return found


def test_a_true_claim_is_not_refuted_and_the_claim_below_is() -> None:
    found = of_function(clipped_sum, data=ROWS, bounds=(0, 1), claim=1)
    assert (found.verdict, found.distance, found.grade) == ("not refuted", 1.0, "exact")
    assert of_function(clipped_sum, data=ROWS, bounds=(0, 1), claim=Fraction(999, 1000)).verdict == "violation"


def test_the_local_search_goes_beyond_the_pairs_that_are_made() -> None:
    # The mean of the values in the upper half moves farthest where few are there.
    found = of_function(lambda data: sum(x > 0.5 for x in data) / max(1, len(data)), data=ROWS, claim=Fraction(1, 50))
    assert found.verdict == "violation"
    assert found.distance >= 0.5


def mean(data: Any) -> float:
    return math.fsum(data) / len(data)


def noisy_mean(data: Any, rng: Any) -> Any:
    return mean(data) + rng.laplace(scale=0.2)


@pytest.mark.parametrize("f", [mean, noisy_mean])
def test_a_counterexample_is_the_pair_that_was_given_with_its_own_distance(f: Any) -> None:
    # Every dataset has 4 records: inputs of other sizes are none of the function's.
    met = [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]
    found = audit_sensitivity(f, [met, ([0.0] * 4, [0.0, 0.0, 0.0, 0.9])], claim=0.2)
    assert (found.verdict, found.pairs) == ("violation", 2)
    assert found.witness is not None
    assert (found.witness.origin.kind, found.witness.data, found.witness.neighbour) == ("given", *map(repr, met))
    assert (found.distance if isinstance(found, SensitivityFinding) else found.moves[0].distance) == 0.25


def test_a_long_counterexample_is_shown_around_the_record_that_differs() -> None:
    found = of_function(sum, [(ROWS, [*ROWS, 0.777123])], claim=0)
    assert found.witness is not None
    assert found.witness.neighbour.startswith("51 elements: 47 before, [")
    assert found.witness.neighbour.endswith("0.777123]")


def test_replacing_moves_a_histogram_by_two_and_adding_by_one() -> None:
    data = list("abcabcabcaab")
    for relation, distance in (("add-remove-one", 1.0), ("replace-one", 2.0)):
        found = of_function(lambda rows: dict(Counter(rows)), data=data, relation=relation, claim=1, metric="l1")
        assert (found.distance, found.verdict == "violation") == (distance, distance > 1)


def test_a_nan_that_passes_is_said_beside_a_finite_counterexample() -> None:
    def leaky(data: Any) -> float:
        return sum(min(max(x, 0.0), 2.0) for x in data)

    found = of_function(leaky, data=ROWS, bounds=(0, 1), claim=1)
    assert (found.verdict, found.distance) == ("violation", 2.0)
    alone = of_function(leaky, data=ROWS, bounds=(0, 1), claim=2)
    assert (alone.verdict, alone.distance) == ("violation", math.inf)
    for finding in (found, alone):
        assert finding.infinite == "a number is finite on one input and NaN on the other"
    inside = of_function(leaky, data=ROWS, bounds=(0, 1), claim=1, outside=False)
    assert (inside.verdict, inside.infinite) == ("not refuted", "")


def test_no_value_of_a_record_is_shown_unless_asked_for() -> None:
    data = [*ROWS, 0.777123]
    for included in (False, True):
        found = of_function(lambda rows: 0.777123 in rows, data=data, claim=0, include_data=included)
        for shown in (str(found), found.summary(), str(found.to_dict()), found._repr_html_()):
            assert ("0.777123" in shown) is included


def test_a_function_that_ignores_its_data_is_no_evidence() -> None:
    found = of_function(lambda data: 3, data=ROWS, claim=1)
    assert (found.verdict, found.moved, found.distance) == ("no evidence", 0, 0.0)
    assert "gives equal outputs on all pairs" in str(found)


def test_exceptions_are_counted_and_said() -> None:
    found = of_function(lambda data: sum(data) / len(data), data=ROWS, claim=1, outside=False)
    assert found.refused > 0
    assert found.raised.startswith("ZeroDivisionError")
    assert "raise an exception (ZeroDivisionError (include_data or --include-data shows more)" in " ".join(
        str(found).split()
    )
    with pytest.raises(InputError, match=r"f must return outputs; on all \d+ pairs it raises NameError"):
        of_function(lambda data: undefined, data=ROWS, claim=1)  # type: ignore[name-defined]  # noqa: F821


class Transformation:
    """A stand-in for a transformation of OpenDP: a sum whose map is right for one relation."""

    input_metric, output_metric = "SymmetricDistance()", "AbsoluteDistance(f64)"

    def __init__(self, sensitivity: float) -> None:
        self.sensitivity = sensitivity

    def invoke(self, data: Any) -> float:
        return clipped_sum(data)

    def map(self, distance: int) -> float:
        return distance * self.sensitivity


def test_a_transformation_is_held_to_its_own_map_and_metric() -> None:
    assert of_function(Transformation(1.0), data=ROWS, bounds=(0, 1)).verdict == "not refuted"
    found = of_function(Transformation(0.5), data=ROWS, bounds=(0, 1))
    assert (found.verdict, found.sensitivity, found.metric) == ("violation", 0.5, "absolute")
    replaced = of_function(Transformation(0.5), data=ROWS, bounds=(0, 1), relation="replace-one")
    assert (replaced.verdict, replaced.sensitivity) == ("not refuted", 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "claim must be given"),
        ({"claim": -1}, "claim must be a finite number >= 0"),
        ({"claim": 1, "metric": "l7"}, "metric must be one of"),
        ({"claim": 1, "epsilon": 1}, "epsilon is a claim of a mechanism with noise"),
        ({"claim": 1, "pairs": [([1], [2])]}, "one of pairs and data must be given"),
        ({"claim": 1, "data": None}, "one of pairs and data must be given"),
        ({"claim": 1, "data": None, "pairs": [([1], [2])], "bounds": (0, 1)}, "bounds belongs to data"),
        ({"claim": 1, "relation": "sideways"}, "relation"),
        ({"claim": 1, "data": []}, "data must hold at least one record"),
    ],
)
def test_bad_input_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit_sensitivity(clipped_sum, **{"data": ROWS, **settings})
    with pytest.raises(InputError, match=r"f must be a function \(data\) -> output"):
        audit_sensitivity(3, data=ROWS, claim=1)


def test_a_finding_is_stored_shown_and_drawn(tmp_path: Any) -> None:
    found = of_function(clipped_sum, data=ROWS, bounds=(0, 1), claim=0.5)
    found.save(tmp_path / "finding.json")
    assert SensitivityFinding.load(tmp_path / "finding.json") == found
    assert "VIOLATION" in str(found)
    assert "moves 1" in str(found)
    assert "dpaudit.audit_sensitivity(clipped_sum, data=data, claim=0.5, bounds=(0, 1))" in found.call
    assert found.plot().axes
    assert "<img" in found._repr_html_()
    assert dpaudit.to_frame([found])["distance"].tolist() == [1.0]


def test_integers_beyond_floats_are_compared() -> None:
    found = of_function(lambda data: 10**400 * len(data), data=ROWS, claim=1, include_data=True)
    assert (found.verdict, found.distance) == ("violation", np.finfo(float).max)
