"""The neighbours that are proposed for datasets of every kind, their order, and the moves of a local search."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dpaudit.neighbours.own_data.pairs import neighbours_of, own_data_moves

DIGESTS: dict[str, str] = json.loads((Path(__file__).parent / "own_data.json").read_text(encoding="utf-8"))
FRAME = pd.DataFrame(
    {
        "user": [1, 1, 2, 3],
        "age": np.array([31, 32, 55, 60], dtype=np.int8),
        "share": np.array([0.5, 0.25, 1.0, np.nan], dtype=np.float32),
        "kind": pd.Categorical(["u", "v", "u", "u"]),
        "left": pd.array([1, None, 3, 4], dtype="Int16"),
        "since": pd.to_datetime(["2001-01-01", "2002-02-02", "2003-03-03", "2004-04-04"]),
    }
)
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "floats": ([0.2, 0.9, 0.4, 0.4], {"bounds": (0, 1)}),
    "with NaN": ([0.5, float("nan"), 2.0], {}),
    "texts": (["one", "two", "one"], {"group": 2}),
    "tuples": ([(1, "a"), (2, "b"), (2, "a")], {}),
    "lists": ([[1, 0.5], [2, 0.25], [4, 0.75]], {"bounds": [(0, 5), (0, 1)]}),
    "dictionaries": ([{"age": 31, "city": "Aa"}, {"age": 47, "city": "Bb"}], {"unit": ["x", "y"]}),
    "objects": ([{1}, {2, 3}], {}),
    "int8": (np.array([1, 2, 3] * 50, dtype=np.int8), {}),
    "rows": (np.arange(12.0).reshape(4, 3), {"outside": False}),
    "structured": (np.array([(1, 0.5), (2, 0.25)], dtype=[("age", "i2"), ("share", "f4")]), {}),
    "columns": ({"age": [31, 47, 60], "share": np.array([0.5, 0.25, 1.0])}, {}),
    "X and y": ((np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 0])), {}),
    "sparse": (sparse.csr_matrix(np.eye(4)), {}),
    "frame": (FRAME, {"bounds": {"age": (0, 100)}}),
    "users of a frame": (FRAME, {"unit": "user", "group": 2}),
    "series": (FRAME["age"], {"count": 7}),
}


def described(data: Any) -> Any:
    """Return a dataset as text that depends on no version of a library."""
    if isinstance(data, pd.DataFrame):
        return [[str(name), described(data[name])] for name in data]
    if isinstance(data, pd.Series):
        return [str(data.dtype), data.index.tolist(), repr([None if pd.isna(x) else str(x) for x in data])]
    if sparse.issparse(data):
        return [data.format, data.nnz, described(data.toarray())]
    if isinstance(data, np.ndarray):
        return [data.dtype.str, data.shape, repr(data.tolist())]
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    shown = [[str(name), described(part) if hasattr(part, "dtype") else repr(part)] for name, part in parts]
    return [type(data).__name__, shown]


@pytest.mark.parametrize("relation", ["add-remove-one", "replace-one"])
@pytest.mark.parametrize("name", CASES)
def test_the_neighbours_of_a_dataset_are_those_proposed_before(name: str, relation: str) -> None:
    data, options = CASES[name]
    made, moves = neighbours_of(data, relation, seed=3, **options), partial(own_data_moves, 3)
    pairs = [*made, *(near for pair in made[::3] for step in (0, 1) for near in moves(pair, step))]
    found = [[p.origin.text, p.origin.moves, p.in_words(), described(p.data), described(p.neighbour)] for p in pairs]
    assert hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16] == DIGESTS[f"{name}, {relation}"]
