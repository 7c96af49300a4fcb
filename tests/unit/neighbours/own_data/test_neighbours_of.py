"""Neighbours of a dataset differ in one record by construction, keep its types, and come the most useful first."""

from __future__ import annotations

import doctest
import pickle
import tracemalloc
from collections import Counter, OrderedDict
from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dpaudit
from dpaudit.contract import MadePair, OriginKind
from dpaudit.jsonable import jsonable, stable_repr
from dpaudit.neighbours.own_data import pairs as make
from dpaudit.neighbours.own_data import tables as kinds
from dpaudit.neighbours.own_data.backgrounds import Rows
from dpaudit.neighbours.own_data.pairs import own_data_moves


class Visit(NamedTuple):
    user: int
    spent: float


@dataclass
class Person:
    age: int
    city: str


class Names(list): ...  # type: ignore[type-arg]


class Arrays(NamedTuple):
    x: Any
    y: Any


FRAME = pd.DataFrame(
    {
        "user": [1, 1, 2, 3],
        "city": ["Aa", "Bb", "Aa", "Aa"],
        "age": np.array([31, 32, 55, 60], dtype=np.int8),
        "share": np.array([0.5, 0.25, 1.0, np.nan], dtype=np.float32),
        "kind": pd.Categorical(["u", "v", "u", "u"]),
        "left": pd.array([1, None, 3, 4], dtype="Int16"),
        "paid": [True, False, True, True],
        "since": pd.to_datetime(["2001-01-01", "2002-02-02", "2003-03-03", "2004-04-04"]),
    }
)
DATASETS: dict[str, Any] = {
    "integers": [3, 1, 4, 1, 5],
    "floats": [0.2, 0.9, 0.4, 0.4],
    "booleans": [True, False, True],
    "texts": ["one", "two", "one"],
    "a tuple": (3, 1, 4),
    "tuples": [(1, "a"), (2, "b"), (2, "a")],
    "named tuples": [Visit(1, 0.5), Visit(1, 0.7), Visit(2, 0.1)],
    "dictionaries": [{"age": 31, "city": "Aa"}, {"age": 47, "city": "Bb"}],
    "data classes": [Person(31, "Aa"), Person(47, "Bb")],
    "spans of time": [np.timedelta64(3, "D"), np.timedelta64(1, "D"), np.timedelta64("NaT", "D")],
    "floats of several widths": [0.5, np.float16(1.5), np.float32(2.5), 1e300],
    "lists of any length": [[1, 2], [3], [1, 2, 3]],
    "objects": [object(), object()],
    "int8": np.array([1, 2, 3], dtype=np.int8),
    "float32": np.array([0.5, 0.25, 1.0], dtype=np.float32),
    "rows": np.arange(12.0).reshape(4, 3),
    "images": np.arange(24.0).reshape(3, 2, 4),
    "structured": np.array([(1, 0.5), (2, 0.25)], dtype=[("age", "i2"), ("share", "f4")]),
    "an array of objects": np.array(["a", "b", None], dtype=object),
    "records with names": np.rec.array([(1, 0.5), (2, 0.25)], dtype=[("age", "i2"), ("share", "f4")]),
    "the other order of bytes": np.array([0.5, 0.25, 1.0], dtype=">f8"),
    "places of fields": np.array(
        [(1, 0.5), (2, 0.25)], dtype={"names": ["age", "share"], "formats": ["i2", "f4"], "offsets": [0, 8]}
    ),
    "a derived list": Names(["Ada", "Bob"]),
    "an ordered dictionary": OrderedDict(age=[31, 47], name=["Ada", "Bob"]),
    "a named tuple of arrays": Arrays(np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 0])),
    "a frame": FRAME,
    "a frame with names of rows": FRAME.set_index("since"),
    "a series": FRAME["age"],
    "a dictionary of columns": {"age": [31, 47, 60], "share": np.array([0.5, 0.25, 1.0])},
    "X and y": (np.arange(8.0).reshape(4, 2), np.array([0, 1, 1, 0])),
    "csr": sparse.csr_matrix(np.eye(4)),
    "coo": sparse.coo_array(np.eye(4)),
}
RELATIONS = ("unbounded", "bounded")


def records(data: Any) -> list[str]:
    """Return the records of a dataset as texts, found in another way than the code does."""
    if isinstance(data, pd.DataFrame | pd.Series):
        frame = data.reset_index(drop=True).to_frame() if isinstance(data, pd.Series) else data
        names = list(frame)
        return [repr([*zip(names, record, strict=True)]) for record in frame.itertuples(index=False, name=None)]
    if sparse.issparse(data):
        return [repr(row.tolist()) for row in data.toarray()]
    if isinstance(data, dict):
        return [repr(record) for record in zip(*data.values(), strict=True)]
    if isinstance(data, tuple) and any(isinstance(part, np.ndarray) for part in data):
        return [repr((x.tolist(), y.tolist())) for x, y in zip(*data, strict=True)]
    return [repr(record.tolist() if isinstance(record, np.ndarray) else record) for record in data]


def kinds_and_relations() -> list[Any]:
    """Return every kind with both relations, which take turns in the quick profile."""
    return [
        pytest.param(name, relation, marks=[pytest.mark.full] * ((i + j) % 2), id=f"{name}-{relation}")
        for i, name in enumerate(DATASETS)
        for j, relation in enumerate(RELATIONS)
    ]


@pytest.mark.parametrize(("name", "relation"), kinds_and_relations())
def test_datasets_differ_in_one_record_and_keep_their_kind(name: str, relation: str) -> None:
    data = DATASETS[name]
    pairs = dpaudit.neighbours_of(data, relation, count=200)
    assert pairs
    for pair in pairs:
        first, second = records(pair.data), records(pair.neighbour)
        gone, come = Counter(first) - Counter(second), Counter(second) - Counter(first)
        assert sorted((gone.total(), come.total())) == ([0, 1] if relation == "unbounded" else [1, 1]), pair
        assert type(pair.data) is type(pair.neighbour) is type(data)
        assert (
            getattr(pair.data, "dtype", None) == getattr(pair.neighbour, "dtype", None) == getattr(data, "dtype", None)
        )
        assert pair.origin.kind is OriginKind.OWN_DATA


@pytest.mark.parametrize("name", DATASETS)
def test_no_pair_stands_twice_and_fewer_are_the_first_of_more(name: str) -> None:
    data = DATASETS[name]
    if name in ("objects", "images"):
        return
    pairs = dpaudit.neighbours_of(data, count=200)
    assert len({frozenset((repr(records(p.data)), repr(records(p.neighbour)))) for p in pairs}) == len(pairs)
    few = dpaudit.neighbours_of(data, count=3)
    assert [pair.origin for pair in few] == [pair.origin for pair in pairs[:3]]


def test_types_are_kept() -> None:
    for pair in dpaudit.neighbours_of(FRAME, count=200):
        for made in (pair.data, pair.neighbour):
            assert made.dtypes.equals(FRAME.dtypes)
            assert made.index.equals(pd.RangeIndex(len(made)))
    for pair in dpaudit.neighbours_of(DATASETS["structured"], count=200):
        assert pair.data.dtype == pair.neighbour.dtype == DATASETS["structured"].dtype
    for pair in dpaudit.neighbours_of(DATASETS["int8"], count=200):
        assert pair.data.dtype == pair.neighbour.dtype == np.int8


def recipes(data: Any, relation: str = "unbounded", **options: Any) -> dict[str, Any]:
    return {pair.origin.text: pair for pair in dpaudit.neighbours_of(data, relation, count=1000, **options)}


def test_what_an_attacker_would_try_is_there() -> None:
    found = recipes([0.2, 0.9, 0.4, 0.4], bounds=(0, 1))
    assert found["the data; row 1 removed"].neighbour == [0.2, 0.4, 0.4]
    assert found["the data; a copy of row 1 added"].neighbour == [0.2, 0.9, 0.4, 0.4, 0.9]
    assert found["the data; a record with the greatest value at the front added"].neighbour[0] == 1.0
    assert found["no record; a record with the greatest value added"].neighbour == [1.0]
    assert found["one record with the least value; a record with the greatest value added"].neighbour == [0.0, 1.0]
    assert found["4 records, all with the greatest value; a record with the least value added"].data == [1.0] * 4
    ties = "2 records with the least value and 2 with the greatest; a record with the greatest value added"
    assert found[ties].neighbour == [0.0, 0.0, 1.0, 1.0, 1.0]
    assert (
        found["the data; a record with a value far above the greatest (outside the bounds) added"].neighbour[-1] == 1001
    )
    assert np.isnan(found["the data; a record with NaN (outside the bounds) added"].neighbour[-1])
    assert found["the data; a record with minus infinity (outside the bounds) added"].neighbour[-1] == -np.inf


@pytest.mark.parametrize("relation", ["add-remove-one", "replace-one"])
@pytest.mark.parametrize("name", ["floats", "wide", "users"])
def test_the_usual_pairs_have_values_outside_the_bounds_and_say_so(name: str, relation: str) -> None:
    wide = pd.DataFrame(np.random.default_rng(0).integers(1, 9, size=(40, 8)).astype(float)).add_prefix("c")
    data, options = {
        "floats": ([0.1 * i for i in range(10)], {}),
        "wide": (wide, {}),
        "users": (wide, {"unit": [f"user {i // 4}" for i in range(40)]}),
    }[name]
    pairs = dpaudit.neighbours_of(data, relation, bounds=(0.0, 10.0), **options)
    said = ["outside the bounds" in pair.origin.text for pair in pairs]
    sides = [(np.asarray(pair.data), np.asarray(pair.neighbour)) for pair in pairs]
    assert said == [not all(((side >= 0) & (side <= 10)).all() for side in both) for both in sides]
    assert any("far above" in pair.origin.text for pair in pairs)


def test_bounds_that_are_not_given_are_not_spoken_of() -> None:
    assert not any("bounds" in text for text in recipes([0.2, 0.9, 0.4]))
    found = recipes({"age": [31, 47], "share": [0.5, 0.25]}, bounds={"age": (0, 100)})
    assert "no record; a record with NaN added" in found
    assert "no record; a record with a value above the greatest in column 'age' (outside the bounds) added" in found
    ends = recipes(np.array([1, 2], dtype=np.uint8), bounds=(0, 300))
    assert "the data; a record with the greatest number of its type, or next to it added" in ends


def test_bounds_are_those_of_the_data_where_none_are_given() -> None:
    found = recipes([0.2, 0.9, 0.4])
    assert found["no record; a record with the greatest value added"].neighbour == [0.9]
    assert recipes([3, 1, 4])["no record; a record with the least value added"].neighbour == [1]


def test_values_that_bounds_do_not_allow_are_left_out_if_something_else_clips() -> None:
    pairs = dpaudit.neighbours_of([0.2, 0.9], bounds=(0, 1), outside=False, count=1000)
    for pair in pairs:
        assert all(0 <= value <= 1 for value in [*pair.data, *pair.neighbour])


def test_a_type_holds_what_it_can() -> None:
    found = recipes(np.array([1, 2], dtype=np.uint8))
    assert found["the data; a record with the greatest number of its type, or next to it added"].neighbour[-1] == 255
    assert not any("far above" in text for text in found)


def test_sums_that_wrap_round_or_lose_digits_are_tried() -> None:
    found = recipes(np.array([0, 1] * 100, dtype=np.int8))
    assert int(found["127 records with the greatest value; a record with the greatest value added"].data.sum()) == 127
    small = np.full(1000, 0.5, dtype=np.float16)
    lost = recipes(small, bounds=(0, 1))[
        "1000 records with a value that floating-point sums lose, after the place of what comes; "
        "a record with the greatest value added"
    ]
    sums = [np.add.accumulate(side, dtype=np.float16)[-1] for side in (lost.data, lost.neighbour)]
    assert float(sums[1]) - float(sums[0]) > 1.1  # one record of at most 1 changed the sum by more


def test_a_group_about_to_become_empty_is_tried() -> None:
    data = [("Aa", 1), ("Bb", 2), ("Aa", 3), ("Bb", 4), ("Aa", 5)]
    pair = recipes(data)["the data with row 1 alone of its group in column '0'; row 1 removed"]
    assert Counter(city for city, _ in pair.data)["Bb"] == 1
    assert Counter(city for city, _ in pair.neighbour)["Bb"] == 0


@pytest.mark.parametrize("relation", RELATIONS)
def test_rows_of_a_user_come_and_go_together(relation: str) -> None:
    for pair in dpaudit.neighbours_of(FRAME, relation, unit="user", count=150):
        first, second = ({u: records(rows) for u, rows in side.groupby("user")} for side in (pair.data, pair.neighbour))
        changed = [u for u in {*first, *second} if first.get(u) != second.get(u)]
        replaced = relation == "bounded" and len(changed) == 1  # the new user has other rows
        assert replaced or len(changed) == (1 if relation == "unbounded" else 2)
        assert all((u in first) != (u in second) or replaced for u in changed)


def test_users_may_be_named_beside_the_data() -> None:
    data, users = [0.1, 0.2, 0.3, 0.4], ["x", "y", "x", "z"]
    found = recipes(data, unit=users)
    assert found["the data; the unit of row 0 (2 rows) removed"].neighbour == [0.2, 0.4]
    assert found["the data; a new unit of 20 rows each with the greatest value added"].neighbour == [*data, *[0.4] * 20]


class Head(tuple):  # type: ignore[type-arg]
    """A tuple that is not made of its elements."""

    def __new__(cls, first: Any, *others: Any) -> Any:
        return super().__new__(cls, (first, *others))


def test_a_class_that_is_not_made_of_any_number_of_records_gives_way_to_the_plain_one() -> None:
    for data in (Visit(1, 0.5), Head(3, 1, 4)):
        assert {type(side) for pair in dpaudit.neighbours_of(data) for side in (pair.data, pair.neighbour)} == {tuple}


def test_decimals_in_thousands_are_varied() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array([Decimal("1e3"), None, Decimal("7e3")], pa.decimal128(5, -2))})
    for pair in dpaudit.neighbours_of(table):
        assert pair.data.schema == pair.neighbour.schema == table.schema


def test_groups_of_records_differ_together() -> None:
    data = [0.1, 0.2, 0.3, 0.4]
    for pair in dpaudit.neighbours_of(data, group=2, count=300):
        gone, come = Counter(pair.data) - Counter(pair.neighbour), Counter(pair.neighbour) - Counter(pair.data)
        assert 1 <= gone.total() + come.total() <= 2
    assert recipes(data, group=2)["the data; rows 2, 3 removed"].neighbour == [0.1, 0.2]


def test_a_kind_of_ones_own_can_be_registered() -> None:
    class Ages:
        def __init__(self, years: list[int]) -> None:
            self.years = years

    with pytest.raises(dpaudit.InputError, match=r"got a .*Ages; .*dpaudit.register_dataset\(.*Ages"):
        dpaudit.neighbours_of(Ages([31, 47]))
    dpaudit.register_dataset(Ages, lambda ages: ages.years, Ages)
    pair = dpaudit.neighbours_of(Ages([31, 47]), count=1)[0]
    assert type(pair.neighbour) is Ages
    assert pair.neighbour.years == [31]
    with pytest.raises(dpaudit.InputError, match="kind must be a class"):
        dpaudit.register_dataset(3, list, list)
    with pytest.raises(dpaudit.InputError, match="rebuild must be a callable"):
        dpaudit.register_dataset(Ages, list, 3)


def test_a_million_rows_are_made_one_dataset_at_a_time() -> None:
    data = np.random.default_rng(0).random(1_000_000)
    tracemalloc.start()
    pairs = dpaudit.neighbours_of(data, bounds=(0, 1))
    for pair in pairs:
        assert abs(len(pair.data) - len(pair.neighbour)) == 1
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(pairs) > 30
    assert held < 3 * data.nbytes
    assert peak < 8 * data.nbytes


def test_pairs_travel_and_are_compared_by_their_recipes() -> None:
    pair, other = dpaudit.neighbours_of([1, 2, 3], count=2)
    assert isinstance(pair, MadePair)
    assert pair == pair != other
    assert len({pair, other, pair}) == 2
    again = pickle.loads(pickle.dumps(pair))
    assert (again.data, again.neighbour, again.origin) == (pair.data, pair.neighbour, pair.origin)
    assert again.in_words() == pair.in_words()


def test_what_shows_a_pair_made_from_data_by_its_fields_shows_no_value() -> None:
    pair = dpaudit.neighbours_of([4242.5, 1717.5], count=1)[0]
    assert not is_dataclass(pair)
    assert "4242" not in repr(pair) + repr(vars(pair)) + stable_repr([pair]) + repr(jsonable([pair]))


@pytest.mark.parametrize("name", ["floats", "a frame", "texts", "csr", "X and y"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_local_search_keeps_pairs_neighbours(name: str, relation: str) -> None:
    moves = partial(own_data_moves, 3)
    for pair in dpaudit.neighbours_of(DATASETS[name], relation, seed=3)[::5]:
        for step in range(3):
            for near in moves(pair, step):
                first, second = Counter(records(near.data)), Counter(records(near.neighbour))
                gone, come = first - second, second - first
                assert max(gone.total(), come.total()) <= 1
                assert gone.total() + come.total() <= (1 if relation == "unbounded" else 2)
                assert near.origin.moves == pair.origin.moves + 1


@pytest.mark.parametrize("group", [2, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["floats", "a frame", "texts", "X and y"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_local_search_changes_no_more_records_than_a_group_has(name: str, relation: str, group: int) -> None:
    # Records of a group stand apart: what lies between them is shared.
    moves = partial(own_data_moves, 5)
    seen = 0
    for pair in dpaudit.neighbours_of(DATASETS[name], relation, group=group, seed=3)[::4]:
        for step in range(4):
            for near in moves(pair, step):
                first, second = Counter(records(near.data)), Counter(records(near.neighbour))
                gone, come = first - second, second - first
                assert max(gone.total(), come.total()) <= group
                assert gone.total() + come.total() <= (group if relation == "unbounded" else 2 * group)
                seen += 1
                pair = near  # the next step begins there
    assert seen > 20


def test_rows_are_replaced_in_their_places() -> None:
    rows, new = np.array([3, 4, 5, 6]), np.array([8, 9])
    at = {"apart": [0, 2], "one": [1], "three": [0, 1, 3], "all": [0, 1, 2, 3]}
    which = {name: np.isin(np.arange(4), places) for name, places in at.items()}
    found = {name: make._replaced(rows, some, new).tolist() for name, some in which.items()}
    assert found == {"apart": [8, 4, 9, 6], "one": [3, 8, 9, 5, 6], "three": [8, 9, 5], "all": [8, 9]}
    assert make._replaced(rows[:0], which["one"][:0], new).tolist() == [8, 9]


@pytest.mark.parametrize("relation", RELATIONS)
def test_local_search_moves_one_user_alone(relation: str) -> None:
    made, moves = dpaudit.neighbours_of(FRAME, relation, unit="user", seed=1), partial(own_data_moves, 1)
    near = [one for pair in made[::2] for one in moves(pair, 0)]
    assert near
    for pair in near:
        first, second = ({u: records(rows) for u, rows in side.groupby("user")} for side in (pair.data, pair.neighbour))
        changed = [u for u in {*first, *second} if first.get(u) != second.get(u)]
        assert len(changed) <= (1 if relation == "unbounded" else 2)


def test_rows_are_told_in_few_numbers() -> None:
    assert Rows.of(np.arange(1_000_000)) == Rows(((0, 1_000_000, 1),))
    rng = np.random.default_rng(0)
    for size in range(12):
        for _ in range(30):
            index = rng.integers(0, 5, size=size)
            assert Rows.of(index).index().tolist() == index.tolist()
            assert len(Rows.of(index)) == size


@pytest.mark.parametrize("module", [make, kinds])
def test_the_examples_of_docstrings_work(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("size", [50, 51])
def test_where_records_are_replaced_all_large_datasets_have_the_size_of_the_one_given(size: int) -> None:
    pairs = dpaudit.neighbours_of([float(i % 3) for i in range(size)], "replace-one", bounds=(0, 5))
    assert {len(side) for pair in pairs for side in (pair.data, pair.neighbour)} == {1, 2, size}


def test_rounding_of_a_sum_of_equal_records_is_among_the_pairs() -> None:
    low, size = 2.0**50, 50
    data = [low + float(i % 5) / 4 for i in range(size)]
    pairs = dpaudit.neighbours_of(data, "replace-one", bounds=(low, low + 1))
    moved = [
        abs(float(np.cumsum(pair.data)[-1] - np.cumsum(pair.neighbour)[-1])) for pair in pairs if len(pair.data) == size
    ]
    assert max(moved) >= 8


def test_what_a_column_holds_already_is_not_called_outside_the_bounds() -> None:
    def words(data: list[float]) -> str:
        pairs = dpaudit.neighbours_of(data, bounds=(0, 5), count=200)
        return " ".join(" ".join(pair.in_words()) for pair in pairs)

    assert "NaN (outside the bounds)" in words([1.0, 2.0])
    assert "NaN (outside the bounds)" not in words([1.0, float("nan"), 2.0])
    assert "with NaN" in words([1.0, float("nan"), 2.0])
    assert "infinity (outside the bounds)" in words([1.0, float("nan"), 2.0])
    assert "a record with infinity (outside the bounds)" not in words([1.0, float("inf"), 2.0])


def test_each_side_of_a_pair_is_a_recipe_of_its_own() -> None:
    for relation in ("add-remove-one", "replace-one"):
        for pair in dpaudit.neighbours_of([1.0, 2.0, 4.0], relation, bounds=(0, 5), count=100):
            assert not any("the same" in side for side in pair.in_words())
    recipes = {
        pair.in_words()[1] for pair in dpaudit.neighbours_of([1.0, 2.0, 4.0], "replace-one", bounds=(0, 5), count=100)
    }
    assert "the data with row 2 replaced by a record with NaN (outside the bounds)" in recipes
    assert "the data without row 2 and a record with the least value" in recipes
