"""Values of certificates: what is encoded comes back equal and of its own type, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpaudit.errors import InputError, ToolFault
from dpaudit.outputs.canonical import Raised, canonical
from dpaudit.outputs.values import MOST_ITEMS, JsonValue, decode_value, digest_of, encode_value
from dpaudit.record import Frozen, decode, encodable
from dpaudit_learners.points.exponential import PointExponential


class Held(Frozen, frozen=True):
    value: JsonValue


def there_and_back(value: Any, domain: Any = None) -> Any:
    text = json.dumps(encodable(Held(encode_value(value))), allow_nan=False)
    return decode_value(decode(text, Held).value, domain)


VALUES = [
    None, True, 3, -(2**80), 0.1, -0.0, math.nan, -math.inf, "", "na\u00efve", [], [1, 1.0, [True]], (1, (2,)), {3, 1},
    frozenset({"a"}), {}, {"a": [1.5], 2: None, (1,): {"b": math.nan}}, np.float64(0.25), np.int64(7), np.bool_(False),
    np.arange(6).reshape(2, 3), np.array([[0.5, np.nan, np.inf]]), np.zeros((0, 3)), np.array([1, 2], np.uint8),
    pd.DataFrame({"age": [30, 41], "name": ["a", "b"], "weight": [0.5, np.nan]}), Raised(ValueError("no")),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__} {value!r:.30}")
def test_values_come_back_as_they_were(value: Any) -> None:
    found = there_and_back(value)
    assert type(found) is type(value)
    assert canonical(found) == canonical(value)
    assert getattr(found, "dtype", None) is getattr(value, "dtype", None) or (found.dtype == value.dtype)
    assert digest_of(found) == digest_of(value) != ""


def test_samples_come_back_over_the_learners_domain() -> None:
    domain = PointExponential(domain_size=4, epsilon=1.0).domain
    for sample in (domain.sample([0, 3, 3], [0, 1, 1]), domain.empty_sample(), domain.sample([1], [0], [10**12])):
        found = there_and_back(sample, domain)
        assert found == sample
        assert digest_of(found) == digest_of(sample) != digest_of(domain.sample([2], [0]))
    with pytest.raises(InputError, match="give the learner as the mechanism"):
        there_and_back(domain.sample([1], [0]))


@pytest.mark.parametrize(
    "value",
    [
        object(),
        1j,
        b"bytes",
        "\ud800",
        type("Number", (int,), {})(3),
        pd.DataFrame({"a": [1]}, index=[5]),
        list(range(MOST_ITEMS + 1)),
        np.zeros(MOST_ITEMS + 1),
        [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]],
    ],
    ids=lambda value: f"{type(value).__name__} {value!r:.20}".encode("ascii", "backslashreplace").decode(),
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InputError):
        encode_value(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"value": {"kind": "items", "type": "deque", "items": []}}',
        '{"value": {"kind": "nothing"}}',
        '{"value": [1]}',
        '{"value": {"kind": "number", "value": "1"}}',
        '{"value": {"kind": "array", "dtype": "object", "shape": [1], "items": [1]}}',
        '{"value": {"kind": "array", "dtype": "int64", "shape": [-1], "items": [1]}}',
        '{"value": NaN}',
    ],
)
def test_decoding_is_strict(text: str) -> None:
    with pytest.raises(ToolFault):
        decode(text, Held)


def test_arrays_must_have_the_elements_of_their_shape() -> None:
    for dtype, shape, items in (("int64", [2], [1]), ("int64", [1], ["x"]), ("uint8", [1], [300])):
        text = json.dumps({"value": {"kind": "array", "dtype": dtype, "shape": shape, "items": items}})
        with pytest.raises(InputError, match="array"):
            decode_value(decode(text, Held).value)


def test_digests_tell_values_apart() -> None:
    digests = [digest_of(value) for value in VALUES]
    assert len(set(digests)) == len(digests)
    assert digest_of(lambda: 1) == ""
