"""Certificates of wrong sensitivities: the writer and the verifier agree, and a forged one is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import InputError, audit_sensitivity, certificates
from dpaudit.certificates.certificate import seal_of
from dpaudit.outputs.values import encode_value
from dpaudit.record import encodable
from dpaudit.sensitivity.metrics import METRICS
from dpaudit.verify_sensitivity import distance, verify

ROWS = [0.25, 0.5, 1.0, 0.75]


def total(data: Any) -> float:
    return math.fsum(min(max(x, 0.0), 2.0) for x in data if x == x)


def noisy_total(data: Any, rng: np.random.Generator) -> float:
    return total(data) + rng.laplace(scale=1.0)


def written(tmp_path: Path, f: Any = total, **settings: Any) -> Path:
    asked = {"data": ROWS, "claim": "1/2", "include_data": True, **settings}
    made = certificates.make_of_sensitivity(audit_sensitivity(f, **asked), "sums.py:total")
    made.write(tmp_path / "certificate.json")
    return tmp_path / "certificate.json"


@pytest.mark.parametrize("f", [total, noisy_total])
def test_a_certificate_is_recomputed_and_repeated(f: Any, tmp_path: Path) -> None:
    path = written(tmp_path, f)
    status, words = verify(path.read_bytes())
    assert (status, words.partition(":")[0]) == (0, "right")
    found = certificates.read_of_sensitivity(path)
    assert found is not None
    assert found.place == "" or found.place.startswith("test_sensitivity_certificates.py, line")
    assert found.again(f).verdict == "violation"
    assert found.again(lambda data: 0.0).verdict == "no evidence"


VALUES = st.one_of(
    st.integers(-5, 5),
    st.floats(-3, 3),
    st.sampled_from([math.inf, -math.inf, math.nan]),
    st.lists(st.integers(-3, 3), max_size=4),
    st.lists(st.floats(-2, 2), min_size=2, max_size=2),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 4)),
    st.lists(st.integers(0, 5), min_size=3, max_size=3).map(np.array),
)


@given(st.sampled_from(sorted(METRICS)), VALUES, VALUES)
def test_the_verifier_computes_the_same_distances(metric: str, first: Any, second: Any) -> None:
    try:
        mine = METRICS[metric](first, second).power
    except InputError:
        return
    if type(first) is not type(second):
        return
    try:
        theirs = distance(metric, *(encodable(encode_value(value)) for value in (first, second)))[0]
    except ValueError:  # the verifier takes dictionaries, of elements and by floats, for no certificate
        return
    assert theirs == mine


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sensitivity", "9"),
        ("distance", 7.0),
        ("data", [1, 2]),
        ("relation", "replace-one"),
        ("sensitivity", "1e999999999"),
        ("values", [1.0, 1.0]),
        ("metric", "l9"),
        ("values", [1.0]),
        ("sensitivity", "-1"),
    ],
)
def test_a_forged_certificate_is_wrong_or_refused(field: str, value: Any, tmp_path: Path) -> None:
    path = written(tmp_path)
    stored = json.loads(path.read_text()) | {field: value}
    stored["seal"] = seal_of(stored)
    try:
        assert verify(json.dumps(stored).encode())[0] == 1
    except ValueError:
        pass
    path.write_text(json.dumps(stored))
    with pytest.raises(InputError, match=r"is no certificate|is wrong"):
        certificates.read_of_sensitivity(path)


def test_an_altered_certificate_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace("sums.py:total", "sums.py:other"))
    with pytest.raises(InputError, match="it was altered"):
        certificates.read_of_sensitivity(path)
    with pytest.raises(ValueError, match="altered"):
        verify(path.read_bytes())


def test_what_cannot_have_one_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only violations have a certificate"):
        written(tmp_path, claim=2)
    with pytest.raises(InputError, match="pass include_data=True"):
        written(tmp_path, include_data=False)
    refuted = audit_sensitivity(len, [([1j], [1j, 2j])], claim=0)
    with pytest.raises(InputError, match="cannot be written in a certificate"):
        certificates.make_of_sensitivity(refuted, "len")
    with pytest.raises(InputError, match="cannot be read"):
        certificates.read_of_sensitivity(tmp_path / "none.json")


def test_rounding_of_floats_has_no_certificate_and_integers_have_one() -> None:
    close = audit_sensitivity(lambda data: data[0], [([0.0], [1 + 1e-12])], claim=1)
    assert close.verdict == "not refuted"
    whole = audit_sensitivity(lambda data: data[0], [([0], [10**12 + 1])], claim=10**12)
    made = certificates.make_of_sensitivity(whole, "first")
    assert Fraction(made.sensitivity) == 10**12
