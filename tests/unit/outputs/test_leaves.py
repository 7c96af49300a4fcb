"""Outputs taken apart: every kind has its leaves, a leaf is a function of one output alone, the unknown is refused."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import math
import uuid
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.errors import InputError
from dpaudit.events.event import numbers_of
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.leaf import Step, walk
from dpaudit.outputs.parts import parts, register_flattener
from dpaudit.outputs.plan import POSITIONS, LeafPlan
from dpaudit.outputs.readers import Block, whole


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Box:
    low: float
    high: tuple[float, ...]


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Opaque:
    """Knows nothing of its own content."""


Point = collections.namedtuple("Point", "x y")

KINDS = {
    "int": [1, 2, 3, 2**70],
    "float": [0.5, float("nan"), -0.0, float("inf")],
    "mixed numbers": [1, 2.0, True, 3],
    "text": ["a", "bc", "", "\ud800"],
    "bytes": [b"", b"ab", bytearray(b"x")],
    "none": [None, 1, None],
    "tuple": [(1, "a", 2.0)] * 3,
    "ragged": [[1.0], [1.0, 2.0], []],
    "nested": [{"a": [1, (2, "x")], "b": {"c": None}}] * 3,
    "dictionary": [{"a": 1}, {"b": 2}, {}],
    "set": [{1, 2}, {2}, frozenset({3})],
    "array": [np.zeros((2, 2)), np.ones((2, 2))],
    "shapes": [np.zeros((1, 2)), np.zeros((2, 1)), np.zeros(3)],
    "records": [np.array([(1.0, 2)], dtype=[("a", "f8"), ("b", "i8")])] * 2,
    "masked": [np.ma.array([1.0, 2.0], mask=[True, False])] * 2,
    "complex": [1 + 2j, complex(0.0, -0.0)],
    "fraction": [Fraction(1, 3), Fraction(10**400)],
    "decimal": [decimal.Decimal("1.50"), decimal.Decimal("NaN"), decimal.Decimal("sNaN")],
    "datetime": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), datetime.datetime(1900, 1, 1)],
    "date": [datetime.date(2020, 1, 1)],
    "time": [datetime.time(1, 2, 3, 4)],
    "timedelta": [datetime.timedelta(seconds=-1.5)],
    "uuid": [uuid.UUID(int=5)],
    "enum": [Colour.RED, Colour.BLUE],
    "dataclass": [Box(1.0, (2.0, 3.0))] * 2,
    "named tuple": [Point(1, 2.0)] * 2,
    "slots": [Slotted(1, "x")] * 2,
    "range": [range(3), range(1, 9, 2)],
    "exception": [Raised(ValueError("a")), Raised(KeyError("b"))],
    "numpy scalars": [np.float32(1.5), np.int8(3), np.bool_(True), np.datetime64("2020-01-01"), np.timedelta64(2, "D")],
    "object array": [np.array([1, "a", None], dtype=object)] * 2,
}


@pytest.mark.parametrize("rows", KINDS.values(), ids=KINDS.keys())
def test_a_leaf_of_a_batch_is_that_of_each_output_alone(rows):
    plan = LeafPlan.of(rows)
    assert not plan.unseen
    for leaf in plan.leaves:
        values, where = leaf.read(rows)
        places = range(len(rows)) if where is None else where.tolist()
        whole = dict(zip(places, _listed(values), strict=True))
        for i, row in enumerate(rows):
            alone, there = leaf.read([row])
            present = there is None or len(there) == 1
            assert present == (i in whole)
            if present:
                assert repr(_listed(alone)[0]) == repr(whole[i])


def _listed(values):
    """Return what a reader returned as one value for each row."""
    if hasattr(values, "low"):
        return list(zip(values.low.tolist(), values.high.tolist(), values.sign.tolist(), values.length.tolist(),
                        values.real.tolist(), strict=True))  # fmt: skip
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


@pytest.mark.parametrize(("rows", "name"), [
    ([1, "a"] * 9, "type of output"),
    ([{"a": 1.0}, {"b": 1.0}] * 9, "keys of output"),
    ([{"a": 1, "b": 2}, {"b": 2, "a": 1}] * 9, "order of the keys of output"),
    ([np.zeros((1, 2)), np.zeros((2, 1))] * 9, "shape of output"),
    ([[1.0], [1.0, 2.0]] * 9, "len(output)"),
    ([(1, 2.0), (1.0, 2)] * 9, "types of output"),
    ([Raised(ValueError("1")), Raised(TimeoutError("1"))] * 9, "exception type of output"),
])  # fmt: skip
def test_structure_is_a_leaf(rows, name):
    assert name in [leaf.name for leaf in LeafPlan.of(rows).leaves]


@pytest.mark.parametrize("value", [0, 1, -1, 2**62, -(2**63), 2**63 - 1, 2**64, -(2**200) - 7, 2**53 + 1])
def test_integers_of_every_size_keep_their_bits(value):
    found = whole([value])
    magnitude = abs(value)
    assert int(found.low[0]) == magnitude & (2**64 - 1)
    assert int(found.length[0]) == magnitude.bit_length()
    assert int(found.sign[0]) == (value > 0) - (value < 0)
    assert int(found.high[0]) == (magnitude << 64 >> magnitude.bit_length()) & (2**64 - 1) if magnitude else True


def test_rows_of_every_kind_of_sequence_are_alike():
    expected = np.array([[1.0, 2.0], [3.0, 4.0]])
    for rows in ([[1, 2], [3, 4]], [(1.0, 2), (3, 4.0)], [np.array([1.0, 2.0]), np.array([3, 4])], expected):
        assert (Block(2)(rows) == expected).all()
    assert Block(3)([[1.0]]).tolist() == [[1.0, -1.1e300, -1.1e300]]
    assert Block(1)([[1.0, 2.0]]).tolist() == [[1.0]]


def test_what_cannot_be_taken_apart_is_refused_with_its_type_and_the_line_to_register_it():
    with pytest.raises(InputError, match=r"type Opaque cannot be taken apart.*register_flattener\(Opaque, lambda"):
        LeafPlan.of([Opaque()])
    with pytest.raises(InputError, match="generator"):
        LeafPlan.of([(x for x in (1, 2))])


def test_a_registered_type_is_taken_apart():
    class Mine:
        def __init__(self, inside):
            self.__dict__["_hidden"] = lambda: inside

    register_flattener(Mine, lambda mine: [mine._hidden()])
    assert [leaf.name for leaf in LeafPlan.of([Mine(1), Mine(2)]).leaves] == ["output", "output[0]"]
    register_flattener(Mine, lambda mine: Opaque())
    with pytest.raises(InputError, match=r"flattener registered for .*Mine must return numbers.*Opaque"):
        LeafPlan.of([Mine(1)])
    for bad in (("Mine", len), (Mine, 3)):
        with pytest.raises(InputError, match="must be"):
            register_flattener(*bad)


def test_sparse_matrices_show_pattern_and_values():
    from scipy.sparse import csr_matrix

    found = parts(csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]])))
    assert found["shape"] == (2, 2)
    assert (found["pattern"].tolist(), found["values"].tolist()) == ([[0, 1], [1, 0]], [2.0, 3.0])


def test_frames_show_columns_index_and_categories():
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])}, index=["p", "q"])
    found = parts(frame)
    assert found.metadata.held["columns"] == ("a", "b")
    assert found.metadata.held["index"] == {"names": (None,), "values": ("p", "q")}
    assert found.values["0 a"].tolist() == [1.0, 2.0]
    assert found.values["1 b"].values["codes"].tolist() == [0, 1]
    series = parts(pd.Series([1, 2], name="s"))
    assert (series.values["values"].tolist(), series.metadata.held["name"]) == ([1, 2], "s")


def test_what_is_not_looked_at_is_said():
    rows = [("a", *range(POSITIONS + 5)) for _ in range(6)]
    assert LeafPlan.of(rows).unseen == [f"elements {POSITIONS} to {POSITIONS + 5} of output"]


def test_numbers_in_text_are_read_with_sign_decimals_and_exponent() -> None:
    values = ["at -0.25 s", "at +3 s", "from 2026-01-05T10:00 on", "x-7", "1e-3 of 2.5"]
    assert Step("decimals")(values) == ([(-0.25,), (3.0,), (2026.0, 1.0, 5.0, 10.0, 0.0), (7.0,), (0.001, 2.5)], None)
    paths = [leaf.name for leaf in LeafPlan.of([f"at {n / 8:+.3f} s" for n in range(-40, 40)]).leaves]
    assert "decimal numbers in output[0]" in paths
    assert not any("decimal" in leaf.name for leaf in LeafPlan.of([f"run {n} of 99" for n in range(80)]).leaves)


def test_stored_entries_of_rows_are_those_of_coordinates():
    from scipy import sparse

    from dpaudit.outputs.readers import entries

    rng = np.random.default_rng(0)
    for _ in range(50):
        by_rows = sparse.random(*rng.integers(1, 9, 2), density=rng.random(), format="csr", random_state=rng)
        by_rows.data[rng.random(by_rows.nnz) < 0.2] = 0
        for other in ("csc", "coo"):
            for found, wanted in zip(entries(by_rows), entries(by_rows.asformat(other)), strict=True):
                assert found.tolist() == wanted.tolist()
    places, held = entries(sparse.csr_matrix(([1.0, 2.0, 3.0], [2, 0, 2], [0, 3]), shape=(1, 4)))
    assert (places.tolist(), held.tolist()) == ([0, 2], [2.0, 4.0])  # twice the same place, in no order


def test_columns_of_a_frame_are_told_by_place_whatever_their_type():
    import pandas as pd

    zoned = pd.to_datetime(["2020-01-01", "2021-01-01"]).tz_localize("UTC")
    columns = [[1, 2], [0.5, np.nan], [True, False], ["a", "b"], [1, "a"], zoned, pd.array([1, None], dtype="Int64")]
    frame = pd.concat([pd.Series(column, name="same") for column in columns], axis=1)
    found = parts(frame)
    assert found.metadata.held["columns"] == ("same",) * len(columns)
    assert found.values["6 same"].values["values"].tolist() == [1, 0]
    assert found.values["6 same"].values["missing"].tolist() == [False, True]
    for i in range(len(columns) - 1):
        wanted = np.asarray(frame.iloc[:, i])
        assert repr(list(found.values[f"{i} same"])) == repr(
            wanted.tolist() if wanted.dtype == object else list(wanted)
        )


def test_two_sides_of_a_batch_are_taken_apart_once():
    class Box:
        pass

    taken = []
    register_flattener(Box, lambda box: taken.append(box) or 1)
    first, second = [Box() for _ in range(3)], [Box() for _ in range(4)]
    for rows in (first, second, first, second):
        assert walk(rows, (Step("parts"),))[0] == [1] * len(rows)
    assert taken == [*first, *second]


@pytest.mark.parametrize("kind", [lambda: collections.defaultdict(int), collections.Counter])
def test_a_missing_key_of_a_mapping_with_a_default_is_missing_and_stays_so(kind):
    rows = [kind() for _ in range(20)]
    for i, row in enumerate(rows):
        row.update({"a": 1, "b": 2} if i % 2 else {"a": 1})
    kept = [dict(row) for row in rows]
    leaves = {leaf.name: leaf for leaf in LeafPlan.of(rows).leaves}
    assert "presence of 'b' of output" in leaves
    for leaf in leaves.values():
        leaf.read(rows)
    assert leaves["output['b']"].read(rows)[1].tolist() == list(range(1, 20, 2))
    assert numbers_of(rows, "value", ("b",)).tolist()[1::2] == [2.0] * 10
    assert np.isnan(numbers_of(rows, "value", ("b",))[::2]).all()
    assert [dict(row) for row in rows] == kept


def test_a_value_that_is_no_number_is_nan_where_training_saw_numbers_alone() -> None:
    plan = LeafPlan.of([1, 2.5, math.nan, 3] * 20)
    leaf = next(leaf for leaf in plan.leaves if leaf.name == "value of output")
    found, where = leaf.read([1, (), b"", None, 10**400, "x", 2.5])
    assert where is None
    assert np.isnan(found[[1, 2, 3, 5]]).all()
    assert found[[0, 4, 6]].tolist() == [1.0, math.inf, 2.5]


def test_one_text_has_no_relation_that_is_named():
    from dpaudit.events.feature_screening.search import not_compared

    for texts, names in ((["point"] * 40, 0), (["point", "lines"] * 20, 1)):
        outputs = [{"kind": text, "x": float(i)} for i, text in enumerate(texts)]
        assert len([name for name in not_compared(LeafPlan.of(outputs), outputs) if "'kind'" in name]) == names
