"""The grammar of certificates: reader and verifier accept the same files, and values mean the same to both."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick import by_turns
from source_tree import ROOT
from unit.evidence.test_verify import as_file, guessed, interval, told

from dpaudit import certificates
from dpaudit.certificate_grammar import cell, neighbours, value_of
from dpaudit.contract import Relation
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.certificate import Certificate
from dpaudit.neighbours.check import check_pair, check_pairs
from dpaudit.outputs.canonical import canonical
from dpaudit.outputs.values import JsonValue, decode_value, encode_value
from dpaudit.record import decode, encodable
from dpaudit.verify_certificate import verify

ODD = [None, True, False, -1, 0, 0.0, -0.0, 1, 1.0, 0.5, 2, 10**12, 10**13, 2**70, 1e300, "", "inf", "-inf", "nan", "é",
       "\0", [], [1], {}, {"kind": "threshold"}, {"kind": "cells"}, {"kind": "number", "value": "nan"}, [[1, 0]],
       {"kind": "items", "type": "set", "items": [{"kind": "items", "type": "list", "items": []}]},
       {"kind": "frame", "columns": [["a", {"kind": "items", "type": "list", "items": [1]}],
                                     ["b", {"kind": "items", "type": "list", "items": []}]]},
       {"kind": "array", "dtype": "int8", "shape": [1], "items": [300]}, interval("inf"), interval(1, 1)]  # fmt: skip
"""Values that are put in the place of others."""


def started() -> list[dict[str, Any]]:
    """Return certificates of several kinds that are right."""
    array = {"kind": "array", "dtype": "float64", "shape": [2, 1], "items": [0.5, {"kind": "number", "value": "nan"}]}
    cells = {"kind": "cells", "feature": "output", "ranges": [[1, 2], [5, 5]], "values": [], "rare": False}
    cells |= {"path": [0, "a"], "outputs": ["yes", 0.5], "complement": True}
    sample = {"kind": "sample", "points": [[1, 2], [3, 4]], "labels": [0, 1], "counts": [1, 4], "public": None}
    reference = {"kind": "reference", "place": "f.py:PAIRS[0]", "recipe": "", "digest": "0" * 32, "records": [1]}
    return [
        told(),
        told(**guessed()),
        told(event=cells, opposite=interval("-inf", 0.5), relation=None),
        told(relation=None, data={"kind": "value", "value": array, "digest": "a" * 32}),
        told(data={"kind": "value", "value": sample, "digest": ""}, neighbour=reference | {"index": 3}),
        told(bound="betting", counts=None, learned=9, event={"kind": "bets", "runs": 10, "log_stake": 7.5}),
    ]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in JSON data with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def mutated(rng: random.Random) -> bytes:
    """Return a certificate with one or two changes, most of them sealed."""
    stored = copy.deepcopy(rng.choice(started()))
    for _ in range(rng.choice((1, 1, 1, 2))):
        holder, key = rng.choice(list(places(stored)))
        change = rng.random()
        if change < 0.4:
            holder[key] = nearby(rng, holder[key])
        elif change < 0.75:
            holder[key] = copy.deepcopy(rng.choice(ODD))
        elif change < 0.85:
            del holder[key]
        elif change < 0.95 and isinstance(holder, dict):
            holder[rng.choice(["more", "kind", "seal", "index", "count"])] = rng.choice(ODD)
        else:
            holder[key] = [holder[key], holder[key]]
    data = as_file(stored)
    spoiled = rng.random()
    if spoiled < 0.04:
        return b"\xef\xbb\xbf" + data
    if spoiled < 0.08:
        return data.decode().encode("utf-16")
    if spoiled < 0.12:
        return data + rng.choice([b"\n ", b"x", b"{}", b"\0"])
    if spoiled < 0.2:
        return data.replace(
            rng.choice([b"1.0", b"0", b"1000"]), rng.choice([b"NaN", b"-0", b"1e0", b"1E400", b"01"]), 1
        )
    if spoiled < 0.24:
        return data.replace(b'"seed"', b'"seed": 7, "seed"')
    return data


def nearby(rng: random.Random, value: Any) -> Any:
    """Return a value of the same type, which the grammar may allow in its place."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.randint(-2, 5)
    if isinstance(value, float):
        return value * rng.choice([0.9, 1.0, 1.1])
    return value + rng.choice(["", "x", " é"]) if isinstance(value, str) else value


def typed(data: bytes) -> bool:
    """Return whether msgspec, which knows nothing of the grammar, takes a file for the type of certificates."""
    try:
        decode(data, Certificate)
    except (ToolFault, InputError):
        return False
    return True


def verified(data: bytes) -> int:
    try:
        return verify(data)[0]
    except (ValueError, RecursionError):
        return 2


def read(data: bytes, path: Path) -> bool:
    path.write_bytes(data)
    try:
        certificates.read(path)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("seed", by_turns(range(4)))
def test_reader_and_verifier_accept_the_same_files(seed: int, tmp_path: Path) -> None:
    rng, seen = random.Random(seed), {True: 0, False: 0}
    for stored in started():
        assert read(as_file(stored), tmp_path / "c.json")
    for _ in range(150):
        data = mutated(rng)
        accepted = verified(data) in (0, 3)
        assert read(data, tmp_path / "c.json") == accepted, data
        assert typed(data) or not accepted, data  # what the verifier lets through, every reader of the type takes
        seen[accepted] += 1
    assert min(seen.values()) >= 15


HOSTILE = {
    "threshold": as_file(told(event={"kind": "threshold"})),
    "a threshold alone": b'{"kind": "threshold"}',
    "no seal": json.dumps(told()).encode(),
    "an empty seal": json.dumps(told(seal="")).encode(),
    "deep": b'{"a":' * 10**5,
    "deep data": as_file(told()).replace(b"[0.5, 1.0]", b"[" * 40_000 + b"]" * 40_000),
    "a huge integer": as_file(told()).replace(b'"seed": 7', b'"seed": ' + b"7" * 5000),
    "no output": as_file(told(event={"kind": "cells", "feature": "output", "ranges": [], "values": [], "rare": False,
                                     "path": []})),
    "every output": as_file(told(event=interval("-inf"))),
    "raised or not": as_file(told(event=interval(0, feature="raised"))),
    "neither": as_file(told(event=interval(0.2, 0.8, feature="raised"))),
    "nobody": as_file(told(event=interval("-inf", "-inf"))),
    "all but none": as_file(told(event={"kind": "cells", "feature": "output", "ranges": [], "values": [], "rare": False,
                                        "path": [], "complement": True})),
    "hardly sure": as_file(told(confidence=1e-6)),
    "whole as a fraction": as_file(told(seed=7.0)),
    "true": as_file(told(searched=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_by_both(name: str, tmp_path: Path) -> None:
    assert verified(HOSTILE[name]) == 2
    assert not read(HOSTILE[name], tmp_path / "c.json")


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(width=16), st.sampled_from(["", "a", "b"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["a", 1, (2,)]), inner, max_size=2),
        st.frozensets(st.integers(0, 3), max_size=2),
        st.sets(st.one_of(st.none(), st.sampled_from(["a", "b"]), st.tuples(st.integers(0, 1))), max_size=2),
    ),
    max_leaves=8,
)
RECORDS = st.lists(st.one_of(st.integers(0, 2), st.tuples(st.integers(0, 1), st.booleans())), max_size=4)


@given(PLAIN, PLAIN)
@settings(max_examples=300)
def test_values_are_equal_to_the_verifier_if_they_are_to_dpaudit(first: Any, second: Any) -> None:
    one, other = (encodable(encode_value(value)) for value in (first, second))
    for told_, value in ((one, first), (other, second)):
        value_of(json.loads(json.dumps(told_)), "value")
        assert canonical(decode_value(decode(json.dumps(told_), JsonValue))) == canonical(value)
    assert (cell(one) == cell(other)) == (canonical(first) == canonical(second))


ONE, THREE, SEVEN = np.array([[1.0]]), np.ones((1, 3)), np.ones((1, 7))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1.0, 0.5], np.array([1.0, 0.0])),
        ([1, 2], (1, 3)),
        (np.array([1, 2]), np.array([1, 3], dtype=np.int8)),
        (THREE, SEVEN),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
        ({"a": [1], "b": [2]}, {"b": [2], "a": [1]}),
        ((ONE, THREE), (ONE, SEVEN)),
    ],
)
def test_datasets_of_two_forms_are_not_seen_to_be_neighbours(first: Any, second: Any) -> None:
    sides = [encodable(encode_value(value)) for value in (first, second)]
    found, words = neighbours("replace-one", *sides)
    assert found is None
    assert words.endswith("the inputs differ in types, widths or columns")
    (pair,) = check_pairs([(first, second)], None)
    assert not check_pair(0, pair, Relation.REPLACE_ONE)


def test_samples_of_points_of_two_widths_are_not_seen_to_be_neighbours() -> None:
    sides = [
        {"kind": "sample", "points": [[0] * width], "labels": [1], "counts": [1], "public": None} for width in (1, 2)
    ]
    assert neighbours("replace-one", *sides)[0] is None


def test_integers_of_one_hash_take_no_longer_than_others() -> None:
    modulus = 2**61 - 1
    values = [{"kind": "items", "type": "list", "items": [modulus * i for i in range(20_000 + j)]} for j in (0, 1)]
    assert neighbours("add-remove-one", *values)[0] is True  # minutes, if the hashes of the records were all 0
    entries = {"kind": "entries", "items": [[modulus * i, 0] for i in range(20_000)]}
    value_of(entries, "value")


@given(RECORDS, RECORDS, st.sampled_from(Relation))
@settings(max_examples=300)
def test_neighbours_are_those_of_dpaudit(first: Any, second: Any, relation: Relation) -> None:
    found = neighbours(relation.value, *(encodable(encode_value(value)) for value in (first, second)))[0]
    try:
        check_pairs([(first, second)], relation)
    except InputError:
        assert found is False
    else:
        same = canonical(first) == canonical(second)
        assert found is (
            False if same else None if relation == "replace-private" or moved(first, second) == 0 else True
        )


def moved(first: list[Any], second: list[Any]) -> int:
    """Return how many records stand in one list and not in the other, by taking out what both have, one by one."""
    left, gone = list(map(canonical, second)), 0
    for item in map(canonical, first):
        if item in left:
            left.remove(item)
        else:
            gone += 1
    return gone + len(left)


@pytest.mark.parametrize("words", [["-P", "-m", "dpaudit.verify_certificate"], ["-I", "SOURCE"], ["SOURCE"]])
def test_nothing_in_a_received_folder_is_imported(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(as_file(told()))
    for name in ("json", "math", "hashlib", "statistics", "decimal", "dpaudit", "certificate_grammar", "contextlib"):
        (tmp_path / f"{name}.py").write_text("print('taken over'); raise SystemExit(0)")
    words = [str(ROOT / "dpaudit" / "verify_certificate.py") if word == "SOURCE" else word for word in words]
    found = subprocess.run(
        [sys.executable, *words, "c.json"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (found.returncode, found.stdout[:6], found.stderr) == (0, "right:", "")
