"""Outputs as bytes: what comes back has the same cells, families and leaves; whatever the bytes are, none is run."""

import collections
import dataclasses
import datetime
import decimal
import enum
import os
import uuid
from fractions import Fraction

import msgspec
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dpaudit.errors import InputError, ToolFault
from dpaudit.outputs.canonical import Raised, canonical, kind_of
from dpaudit.outputs.decoding import decode
from dpaudit.outputs.encoding import encode
from dpaudit.outputs.plan import LeafPlan


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Flags(enum.Flag):
    A = 1
    B = 2


class Word(str):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: object


Named = collections.namedtuple("Named", "x y")
RECORDS = np.zeros(3, [("a", "<i4"), ("b", "<f8", (2,))])
PLAIN = [1, True, None, 1.5, float("nan"), -0.0, 2**70, -(2**64), -(2**63), 2**64 - 1, "a", "\ud800", b"x", 1j]
NUMPY = [np.complex64(1j), np.float32(0.1), np.int8(3), np.bool_(1), np.longdouble("0.1"), np.str_("u"), RECORDS[0]]
CONTAINERS = [[1, 2], (1, 2), [], (), {}, set(), {1, 2}, frozenset([1]), {"a": 1, "b": [1.0]}, {1: 2}, {(1, 2): {3}}]
ARRAYS = [
    np.arange(3),
    np.zeros((2, 0)),
    np.array(5),
    np.array(["a", "bc"]),
    np.array([b"q"]),
    np.array([1, "a", None]),
    np.array([[1], [2, 3]], dtype=object),
    np.array("2020-01-01", "M8[D]"),
    RECORDS,
    np.zeros(2, [("a", "O")]),
    np.ma.masked_array([1, 2], [0, 1]),
    np.array([1j]),
    np.zeros(2, ">f4"),
    np.zeros((2, 2), order="F"),
    np.array([], "U0"),
    np.zeros(2, "V4"),
    sp.csr_matrix([[0, 1.0]]),
    sp.coo_array([[0, 1]]),
    sp.dia_matrix(np.eye(3)),
    sp.lil_matrix([[0, 1]]),
]
OBJECTS = [
    collections.OrderedDict(a=1),
    collections.deque([1]),
    bytearray(b"y"),
    memoryview(b"z"),
    Fraction(1, 3),
    range(3),
    decimal.Decimal("1.50"),
    datetime.datetime(2020, 1, 1),
    datetime.timedelta(1),
    uuid.UUID(int=7),
    Color.RED,
    Flags.A | Flags.B,
    Point(1, [2]),
    Named(1, 2),
    Word("x"),
    Raised(ValueError("x")),
    ValueError("y"),
    pd.DataFrame({"a": [1, 2]}),
    pd.Series([1.0, 2]),
    {Color.RED: 1},
    np.datetime64("2020-01-01"),
    np.timedelta64(2, "D"),
]
ALL = [*PLAIN, *NUMPY, *CONTAINERS, *ARRAYS, *OBJECTS]


def leaves(outputs):
    return [
        (leaf.name.replace("<Color.RED: 1>", "Color('RED')"), leaf.representation)
        for leaf in LeafPlan.of(outputs).leaves
    ]


@pytest.mark.parametrize("output", ALL, ids=lambda value: type(value).__name__)
def test_what_comes_back_is_not_distinguished_from_what_was_sent(output):
    for outputs in ([output], [output] * 3, [output, [output], (output, 1.0)]):
        found = decode(encode(outputs), len(outputs))
        assert list(map(canonical, found)) == list(map(canonical, outputs))
        assert list(map(kind_of, found)) == list(map(kind_of, outputs))
        assert leaves(found) == leaves(outputs)


TABLES = [
    pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
    pd.DataFrame({"a": [1.5], 0: [(1, 2)]}, index=["u"]),
    pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None])})[::-1],
    pd.Series([1, 2, 3], name="a"),
    pd.Series(["x"], index=pd.Index([0.5], name="share")),
    pd.Series([], dtype=object),
]
STRANGE_TABLES = [
    pd.DataFrame(),
    pd.DataFrame([[1, 2]], columns=["a", "a"]),
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, 2)])),
]


def test_tables_of_pandas_come_back_as_they_were():
    tables = [*TABLES, *STRANGE_TABLES, *TABLES]
    found = decode(encode(tables), len(tables))
    assert list(map(canonical, found)) == list(map(canonical, tables))
    assert all(type(one).__mro__[1].__name__ == "StandIn" for one in found[len(TABLES) : -len(TABLES)])
    for one, table in zip((*found[: len(TABLES)], *found[-len(TABLES) :]), TABLES * 2, strict=True):
        assert type(one) is type(table)
        assert one.equals(table)
        assert str(getattr(one, "dtypes", None)) == str(table.dtypes)


@pytest.mark.parametrize("change", [("kind", "Index"), ("names", [1]), ("texts", []), ("label", 1), ("label", [[1]])])
def test_bytes_that_are_no_table_are_refused(change):
    rows, (form, length, held) = msgspec.msgpack.decode(encode([[TABLES[1]]]))
    content = dict(zip(("form", "kind", "names", "texts", "label", "columns"), held, strict=True))
    content[change[0]] = change[1]
    with pytest.raises(ToolFault, match="no batch of 1 outputs"):
        decode(msgspec.msgpack.encode([rows, [form, length, list(content.values())]]), 1)


def test_a_number_of_another_type_is_still_one():
    numbers = decode(encode([decimal.Decimal("1.50"), Color.RED]), 2)
    assert float(numbers[0]) == 1.5
    with pytest.raises(TypeError):
        float(numbers[1])


def test_outputs_of_all_types_come_in_one_batch():
    assert list(map(canonical, decode(encode(ALL), len(ALL)))) == list(map(canonical, ALL))


@pytest.mark.parametrize(
    "array", [np.arange(6.0).reshape(3, 2), np.array([Color.RED, Color.BLUE] * 8), np.zeros(4, bool)]
)
def test_a_batch_that_is_an_array_stays_one(array):
    found = decode(encode(array), len(array))
    assert (type(found), found.dtype, canonical(found)) == (np.ndarray, array.dtype, canonical(array))


def test_few_objects_of_many_outputs_stay_few():
    found = decode(encode([Color.RED, Color.BLUE] * 100), 200)
    assert len(set(map(id, found))) == 2


class Runs:
    def __reduce__(self):
        return os._exit, (1,)


def test_nothing_of_a_class_is_called_by_the_reader():
    (found,) = decode(encode([Runs()]), 1)
    assert (type(found).__qualname__, type(found).__module__, found.parts) == (
        "Runs",
        __name__,
        {"made of": (1,), "state": None},
    )


def fails(*_):
    raise OSError("no answer")


class Raises(Exception):
    __str__ = fails


@pytest.mark.parametrize("method", ["__repr__", "__len__", "__dict__", "__class__"])
def test_an_output_whose_methods_raise_is_refused_or_taken_apart(method):
    held = property(fails) if method in ("__class__", "__dict__") else fails
    kind = type("Hostile", (), {method: held, "__iter__": fails, "__contains__": fails})
    with pytest.raises(InputError, match="cannot be taken apart"):
        decode(encode([kind()]), 1)


def test_an_exception_that_cannot_be_shown_is_an_output():
    (found,) = decode(encode([Raises()]), 1)
    assert (found.kind, found.message) == ("Raises", "an exception that cannot be shown")


def test_an_output_that_holds_itself_is_refused():
    held = []
    held.append(held)
    with pytest.raises(InputError, match="holds itself, or is nested deeper than 100 levels"):
        encode([held])


HOSTILE = [
    b"",
    b"\xc1",
    [],
    [False],
    [False, 7],
    [False, ["no form"]],
    [False, ["plain", 7]],
    [False, ["plain", [1, 2]]],
    [False, ["plain", [[1]]]],
    [False, ["plain", [msgspec.msgpack.Ext(1, b"")]]],
    [False, ["list", 2**40, ["plain", []]]],
    [False, ["list", [-1], ["plain", []]]],
    [False, ["set", 1, ["list", 0, ["plain", []]]]],
    [False, ["mixed", [1], [["plain", [1]]]]],
    [False, ["array", "O", [1], b"12345678"]],
    [False, ["array", "<f8", [2**40], b""]],
    [False, ["array", "<U1", [1], b"\xff" * 4]],
    [False, ["array", "<f8", [-1, -1], bytes(8)]],
    [False, ["numbers", "os.system", b""]],
    [False, ["rational", ["plain", [1]], ["plain", [0]]]],
    [False, ["shared", [5], 1, ["foreign", "m", "C", False, ["plain", [1]]]]],
    [False, ["foreign", "m", "", False, ["plain", [1]]]],
    [False, ["foreign", "m", "a\0", False, ["plain", [1]]]],
    [False, ["raised", ["plain", [1]], ["plain", ["a"]], ["plain", ["a"]]]],
    [False, ["sparse", ["dict", [1], ["plain", ["format"]], ["plain", ["os"]]]]],
    [True, ["plain", [1.0]]],
    [True, ["array", "<f8", [2], bytes(16)]],
    [False, ["texts", [b"\xff"]]],
    [False, ["objects", [2**40], ["plain", []]]],
    [False, ["records", [2**40], [], []]],
]


@pytest.mark.parametrize("sent", HOSTILE, ids=map(str, range(len(HOSTILE))))
def test_bytes_that_are_no_batch_are_a_fault(sent):
    with pytest.raises(ToolFault, match="no batch of 1 outputs"):
        decode(sent if isinstance(sent, bytes) else msgspec.msgpack.encode(sent), 1)


def test_a_column_in_a_column_without_end_is_a_fault():
    column = ["plain", [1]]
    for _ in range(300):
        column = ["list", 1, column]
    with pytest.raises(ToolFault):
        decode(msgspec.msgpack.encode([False, column]), 1)


def test_altered_bytes_are_a_fault_or_a_batch():
    """Deterministic: 3,000 alterations of one batch, by a seed."""
    rng, content = np.random.default_rng(30), encode(ALL)
    for _ in range(3_000):
        altered = bytearray(content)
        for place in rng.integers(len(content), size=rng.integers(1, 4)):
            altered[place] = rng.integers(256)
        try:
            assert len(decode(bytes(altered), len(ALL))) == len(ALL)
        except ToolFault:
            pass
