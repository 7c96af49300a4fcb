"""Mechanisms with outputs of every type, each with a certain leak in a part of it: (rng, x) -> output, x in {0, 1}."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import uuid
import zoneinfo

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Flags(enum.IntFlag):
    A = 1
    B = 2
    C = 4


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: tuple


class Slotted:
    __slots__ = ("__hidden", "a")

    def __init__(self, a, hidden):
        self.a, self.__hidden = a, hidden


class Model:
    """As pydantic's models are: fields in the dictionary, what was set in slots."""

    __slots__ = ("__dict__", "__fields_set__")

    def __init__(self, fields_set, **fields):
        self.__dict__.update(fields)
        self.__fields_set__ = fields_set


class Tagged(float):
    """A number that carries more than its value."""


class Tensor:
    """An array of another library."""

    def __init__(self, values):
        self._held = values

    def __dlpack__(self, **options):
        return self._held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._held.__dlpack_device__()


class Arrayed:
    def __init__(self, values):
        self._held = values

    def __array__(self, dtype=None, copy=None):
        return self._held


Point = collections.namedtuple("Point", "x y")
Other = collections.namedtuple("Other", "x y")
BERLIN, PARIS = zoneinfo.ZoneInfo("Europe/Berlin"), zoneinfo.ZoneInfo("Europe/Paris")
DAY = datetime.datetime(2020, 10, 25)


def number(rng):
    return float(rng.normal())


def tagged(value, tag):
    found = Tagged(value)
    found.tag = tag
    return found


def moment(rng):
    return DAY + datetime.timedelta(microseconds=int(rng.integers(10**10)))


def frame(rng, x=0, **options):
    return pd.DataFrame({"a": rng.normal(size=3), "b": rng.integers(9, size=3)}, **options)


def matrix(kind, rng, x, what):
    dense = np.round(rng.normal(size=(6, 8)), 3) * (rng.random((6, 8)) < 0.3)
    dense[2, 3] = 9.0 if what == "value" and x else 1.5
    dense[4, 4] = 2.0 if what == "pattern" and x else 0.0
    return getattr(sparse, f"{kind}_matrix")(dense)


def explicit_zero(kind, rng, x):
    found = sparse.coo_matrix((np.r_[rng.normal(size=3), 0.0], ([0, 1, 2, 3], [4, 4, 4, 4 + x])), shape=(6, 8))
    return found.asformat(kind)


TYPES = {
    "complex, real": lambda rng, x: complex(number(rng) + 50 * x, number(rng)),
    "complex, imaginary": lambda rng, x: complex(number(rng), number(rng) + 50 * x),
    "complex, zero of the real part": lambda rng, x: complex(-0.0 if x else 0.0, number(rng)),
    "complex, zero of the imaginary part": lambda rng, x: complex(number(rng), -0.0 if x else 0.0),
    "complex, both zero": lambda rng, x: complex(0.0, -0.0 if x else 0.0),
    "complex of numpy": lambda rng, x: np.complex64(complex(number(rng), number(rng) + 50 * x)),
    "array of complex": lambda rng, x: rng.normal(size=3) + 1j * (rng.normal(size=3) + 50 * x),
    "fraction, parity of the denominator": lambda rng, x: fractions.Fraction(
        2 * int(rng.integers(10**9)) + 1, 2 ** (1 + x) * 3**9),
    "decimal, exponent": lambda rng, x: decimal.Decimal(int(rng.integers(10**6))).scaleb(-4 - x) * 1,
    "decimal, trailing zero": lambda rng, x: decimal.Decimal(f"{rng.integers(10**6)}.5{'0' * x}"),
    "decimal, special": lambda rng, x: decimal.Decimal("sNaN") if x else decimal.Decimal("NaN"),
    "datetime, microsecond": lambda rng, x: moment(rng).replace(microsecond=2 * int(rng.integers(10**5)) + x),
    "datetime, zone": lambda rng, x: moment(rng).replace(tzinfo=PARIS if x else BERLIN),
    "datetime, aware": lambda rng, x: moment(rng).replace(tzinfo=datetime.UTC if x else None),
    "datetime, fold": lambda rng, x: DAY.replace(hour=2, microsecond=int(rng.integers(10**6)), fold=x),
    "time, zone": lambda rng, x: datetime.time(1, 2, int(rng.integers(60)), tzinfo=datetime.UTC if x else None),
    "timedelta": lambda rng, x: datetime.timedelta(microseconds=2 * int(rng.integers(10**9)) + x),
    "datetime64, unit": lambda rng, x: np.datetime64(int(rng.integers(10**6)), "s" if x else "ms"),
    "array of datetime64": lambda rng, x: np.array([int(rng.integers(10**6)), 10**9 * x]).astype("M8[s]"),
    "uuid": lambda rng, x: uuid.UUID(int=int.from_bytes(rng.bytes(15)) << 8 | 2 * int(rng.integers(128)) | x),
    "enum": lambda rng, x: Colour.BLUE if x else Colour.RED,
    "flags": lambda rng, x: Flags(int(rng.integers(4)) | 4 * x),
    "enum that is an integer": lambda rng, x: Flags.A if x else 1,
    "dataclass": lambda rng, x: Frozen(number(rng), (number(rng), 50 * x + number(rng))),
    "named tuple": lambda rng, x: Point(number(rng), number(rng) + 50 * x),
    "type of a named tuple": lambda rng, x: (Other if x else Point)(number(rng), number(rng)),
    "slots, private": lambda rng, x: Slotted(number(rng), number(rng) + 50 * x),
    "model, field": lambda rng, x: Model({"a"}, a=number(rng), b=[x]),
    "model, fields set": lambda rng, x: Model({"a", "b"} if x else {"a"}, a=number(rng), b=1),
    "attribute of a float": lambda rng, x: tagged(number(rng), 50 * x + number(rng)),
    "structured array": lambda rng, x: np.array([(number(rng), x)], dtype=[("a", "f8"), ("b", "f8")]),
    "structured scalar": lambda rng, x: np.array([(number(rng), x)], dtype=[("a", "f8"), ("b", "i4")])[0],
    "masked array, value": lambda rng, x: np.ma.array([number(rng), 50 * x + number(rng)], mask=[True, False]),
    "masked array, mask": lambda rng, x: np.ma.array(rng.normal(size=3), mask=[bool(x), True, False]),
    "set": lambda rng, x: {int(v) for v in rng.integers(10**6, size=4)} | {-1 - x},
    "set, size": lambda rng, x: {int(v) for v in rng.integers(10**12, size=4 + x)},
    "range": lambda rng, x: range(int(rng.integers(10**6)), 10**7, 2 + x),
    "empty range": lambda rng, x: range(int(rng.integers(10**6, 10**7)), 0, 1 + x),
    "slice": lambda rng, x: slice(int(rng.integers(10**6)), None, x),
    "deque": lambda rng, x: collections.deque([number(rng), number(rng) + 50 * x]),
    "bytes": lambda rng, x: bytearray(rng.bytes(9) + bytes([x])),
    "huge integer, middle bit": lambda rng, x: (
        int.from_bytes(rng.bytes(500)) & ~(1 << 2000) | 1 << 4000 | x << 2000),
    "huge integer, lowest bit": lambda rng, x: int.from_bytes(rng.bytes(1000)) & ~1 | 1 << 8000 | x,
    "huge integer, length": lambda rng, x: int.from_bytes(rng.bytes(600)) | 1 << 4900 + x,
    "series": lambda rng, x: pd.Series(rng.normal(size=3) + np.array([0, 0, 50 * x])),
    "series, name": lambda rng, x: pd.Series(rng.normal(size=3), name="b" if x else "a"),
    "series, index": lambda rng, x: pd.Series(rng.normal(size=3), index=["a", "b", "d" if x else "c"]),
    "series, missing": lambda rng, x: pd.Series([pd.NA if x else 1, int(rng.integers(9)), 3], dtype="Int64"),
    "series of times": lambda rng, x: pd.Series([pd.NaT if x else pd.Timestamp(5), pd.Timestamp(int(rng.integers(9)))]),
    "frame, values": lambda rng, x: frame(rng) + 50 * x,
    "frame, columns": lambda rng, x: frame(rng).rename(columns={"b": "c"} if x else {}),
    "frame, order of columns": lambda rng, x: frame(rng)[["b", "a"] if x else ["a", "b"]],
    "frame, index": lambda rng, x: frame(rng, index=[0, 1, 2 + x]),
    "frame, rows": lambda rng, x: frame(rng).iloc[: 2 + x],
    "index": lambda rng, x: pd.Index([int(rng.integers(10**6)), 10**7 + x]),
    "index, name": lambda rng, x: pd.Index([int(rng.integers(10**6))], name="n" if x else None),
    "categorical": lambda rng, x: pd.Categorical(["a", "b", "ab"[x]], categories=["a", "b"]),
    "categorical, unused category": lambda rng, x: pd.Categorical(["a"], categories=["a", "bc"[x]]),
    "categorical, ordered": lambda rng, x: pd.Categorical(["a"], ordered=bool(x)),
    "column of categories": lambda rng, x: pd.DataFrame({"a": pd.Categorical(["u", "uv"[x]], categories=["u", "v"])}),
    "NaT": lambda rng, x: pd.NaT if x else pd.Timestamp(int(rng.integers(10**15))),
    "NA": lambda rng, x: pd.NA if x else None,
    "nanosecond": lambda rng, x: pd.Timestamp(1000 * int(rng.integers(10**15)) + x),
    "nanosecond of a duration": lambda rng, x: pd.Timedelta(1000 * int(rng.integers(10**15)) + x),
    "object array": lambda rng, x: np.array([number(rng), "uv"[x], None], dtype=object),
    "array of text": lambda rng, x: np.array([f"{rng.integers(10**9)}", "uv"[x]]),
    "array protocol": lambda rng, x: Arrayed(rng.normal(size=4) + 50 * x),
    "dlpack": lambda rng, x: Tensor(rng.normal(size=4) + 50 * x),
    "long double": lambda rng, x: np.longdouble(number(rng)) + 50 * x,
    "matrix of 10^5 columns": lambda rng, x: sparse.csr_matrix(
        (np.r_[rng.normal(size=5), 50.0 * x + number(rng)], ([0] * 6, [*range(5), 127])), shape=(1, 10**5)),
    **{
        f"sparse {kind}, {what}": lambda rng, x, kind=kind, what=what: matrix(kind, rng, x, what)
        for kind in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr") for what in ("value", "pattern")
    },
    **{f"sparse {kind}, zero": lambda rng, x, kind=kind: explicit_zero(kind, rng, x) for kind in ("csr", "csc", "coo")},
}  # fmt: skip
