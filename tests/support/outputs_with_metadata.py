"""Outputs with something beside their values: each maker takes what differs, 0 or 1, and a number that is the value."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import email.message
import fractions
import functools
import pathlib
import re
import types
import uuid
import zoneinfo
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

Make = Callable[[int, int], Any]


class Derived(pd.DataFrame):
    """A frame with an attribute."""

    @property
    def _constructor(self) -> type:
        return Derived


class Quantity(np.ndarray):
    """An array with a unit."""

    def __array_finalize__(self, other: Any) -> None:
        self.unit = getattr(other, "unit", None)


class Converts:
    """An object with an array protocol, and a unit beside the array."""

    def __init__(self, value: float, unit: str) -> None:
        self._values = np.array([float(value)])
        self.unit = unit

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._values


class Closes:
    """An object whose method has a variable around it."""

    def __init__(self, value: float, held: Any) -> None:
        self.value = value
        self.read = lambda: held


class Elsewhere:
    """An object that keeps an attribute in its class, and shows it where it is printed, pickled or asked."""

    kept: dict[int, Any] = {}  # noqa: RUF012

    def __init__(self, value: float, held: Any) -> None:
        self.value = value
        self.kept[id(self)] = held


class Printed(Elsewhere):
    def __repr__(self) -> str:
        return f"Printed({self.value}, {self.kept[id(self)]})"


class Property(Elsewhere):
    @property
    def held(self) -> Any:
        return self.kept[id(self)]

    def __repr__(self) -> str:
        return f"Property({self.value}, {self.held})"


class Pickled(Elsewhere):
    def __getstate__(self) -> dict[str, Any]:
        return {"value": self.value, "held": self.kept[id(self)]}


class Slotted:
    __slots__ = ("held", "value")

    def __init__(self, value: float, held: Any) -> None:
        self.value = value
        self.held = held


class Elements(Elsewhere):
    """A container whose elements are kept elsewhere."""

    def __iter__(self) -> Any:
        return iter([self.value, self.kept[id(self)]])

    def __len__(self) -> int:
        return 2

    def __contains__(self, item: object) -> bool:
        return item in list(self)


class Queue(collections.deque): ...  # type: ignore[type-arg]


class Share(fractions.Fraction): ...


class Money(decimal.Decimal): ...


class Day(datetime.date): ...


class Named(collections.namedtuple("Named", "x")): ...


class Word(str):
    """A text that is shown as another one."""

    def __str__(self) -> str:
        return "a word"


class Grid(np.matrix): ...


class SlottedError(Exception):
    __slots__ = ("held",)


def record_with_gap(held: int, value: int) -> Any:
    """Return a record behind whose fields there are bytes that belong to none."""
    made = np.zeros(1, {"names": ["a"], "formats": ["i4"], "itemsize": 8})
    made["a"] = value
    made.view(np.uint8)[7] = held
    return made


def named_error(held: int, value: int) -> Exception:
    return ImportError(str(value % 3), name="ab"[held])


def with_attribute(output: Any, held: Any) -> Any:
    output.held = held
    return output


def raised(held: int, value: int) -> Exception:
    error = ValueError(str(value % 3))
    error.add_note(f"note {held}")
    return error


def pandas_frame(held: int, value: int) -> pd.DataFrame:
    frame = pd.DataFrame({"a": [value]})
    frame.attrs["s"] = held
    return frame


def message(held: int, value: int) -> email.message.EmailMessage:
    made = email.message.EmailMessage()
    made["Subject"] = f"{value} {held}"
    return made


ALWAYS: dict[str, Make] = {
    "attrs of pandas": pandas_frame,
    "dtype of a column": lambda x, n: pd.DataFrame({"a": np.array([n], ["i4", "i8"][x])}),
    "name of the columns": lambda x, n: pd.DataFrame([[n]], columns=pd.Index(["a"], name="xy"[x])),
    "names of columns": lambda x, n: pd.DataFrame([[n]], columns=["ab"[x]]),
    "name of a series": lambda x, n: pd.Series([n], name="ab"[x]),
    "name of an index": lambda x, n: pd.Series([n], index=pd.Index([0], name="xy"[x])),
    "dtype of an index": lambda x, n: pd.Series([n], index=pd.Index(np.array([0], ["i4", "i8"][x]))),
    "frequency of an index": lambda x, n: pd.Series(
        [n, n], index=pd.date_range("2020-01-01", periods=2) if x else pd.DatetimeIndex(["2020-01-01", "2020-01-02"])
    ),
    "zone of times": lambda x, n: pd.Series(pd.to_datetime([n]).tz_localize(["UTC", "Asia/Tokyo"][x])),
    "categories": lambda x, n: pd.Series(pd.Categorical(["a"], categories=["a", "bc"[x]])),
    "order of categories": lambda x, n: pd.Series(pd.Categorical(["a"], categories=["a", "b"], ordered=bool(x))),
    "unused label of an index": lambda x, n: pd.Series(
        [n, 1, 2], index=pd.MultiIndex.from_tuples([(1, "a"), (2, "b"), (2, "cd"[x])])
    ).iloc[:2],
    "window": lambda x, n: pd.Series([n, x]).rolling(2),
    "match": lambda x, n: re.match("a*", "aab"[: 2 + x]),
    "missing or not": lambda x, n: pd.Series(pd.array([n, [None, 0][x]], dtype="Int64")),
    "flags": lambda x, n: pd.DataFrame({"a": [n]}).set_flags(allows_duplicate_labels=bool(x)),
    "subclass of a frame": lambda x, n: with_attribute(Derived({"a": [n]}), x),
    "large integers": lambda x, n: pd.DataFrame({"id": [2**60 + x], "x": [n / 3]}),
    "large integers in a row": lambda x, n: np.array([2**60] * 20 + [2**60 + x]),
    "large integers in a list": lambda x, n: [2**60] * 20 + [2**60 + x],
    "closed interval": lambda x, n: pd.Interval(0, 1 + n, closed=["left", "right"][x]),
    "frequency of a period": lambda x, n: pd.Period("2020-01", "MD"[x]),
    "unit of a time": lambda x, n: pd.Timestamp(2020, 1, 1 + n % 9).as_unit(["s", "ns"][x]),
    "dtype of an array": lambda x, n: np.array([n], ["f4", "f8"][x]),
    "memory order": lambda x, n: np.array([[n, 1], [2, 3]], order="CF"[x]),
    "class of a scalar": lambda x, n: [np.float32, np.float64][x](n),
    "class of an array": lambda x, n: np.array([[n]]).view([np.ndarray, np.matrix][x]),
    "class of a sequence": lambda x, n: [list, tuple][x]([n]),
    "class of a set": lambda x, n: [set, frozenset][x]([n]),
    "class of a mapping": lambda x, n: [dict, collections.OrderedDict][x](a=n),
    "class of bytes": lambda x, n: [bytes, bytearray][x]([n % 256]),
    "class of an element": lambda x, n: (n, [1, np.int32(1)][x]),
    "class of a sparse matrix": lambda x, n: [sparse.csr_matrix, sparse.csr_array][x]([[0, n]]),
    "format of a sparse matrix": lambda x, n: sparse.csr_matrix([[0, n]]).asformat(["csr", "coo"][x]),
    "dtype of a sparse matrix": lambda x, n: sparse.csr_matrix(np.array([[0, n]], ["f4", "f8"][x])),
    "types of records": lambda x, n: np.array([(1, n)], [("a", ["i4", "i8"][x]), ("b", "f8")]),
    "fill value": lambda x, n: np.ma.array([n, 2], mask=[0, 1], fill_value=7 + x),
    "under the mask": lambda x, n: np.ma.array([n, 2 + x], mask=[0, 1]),
    "attribute of an array": lambda x, n: with_attribute(np.full(2, n).view(Quantity), x),
    "attribute of a matrix": lambda x, n: with_attribute(np.array([[n]]).view(Grid), x),
    "unit of an array": lambda x, n: Converts(n, "ms"[x]),
    "around a function": lambda x, n: Closes(n, x),
    "printed": lambda x, n: Printed(n, x),
    "property": lambda x, n: Property(n, x),
    "pickled": lambda x, n: Pickled(n, x),
    "slots": lambda x, n: Slotted(n, x),
    "elements": lambda x, n: Elements(n, x),
    "maxlen": lambda x, n: collections.deque([n], maxlen=5 + x),
    "attribute of a queue": lambda x, n: with_attribute(Queue([n]), x),
    "attribute of a fraction": lambda x, n: with_attribute(Share(n, 3), x),
    "attribute of a decimal": lambda x, n: with_attribute(Money(n), x),
    "attribute of a date": lambda x, n: with_attribute(Day(2020, 1, 1 + n % 9), x),
    "attribute of a named tuple": lambda x, n: with_attribute(Named(n), x),
    "attribute of a text": lambda x, n: with_attribute(Word("a"), n + x),
    "text that shows another": lambda x, n: Word("ab"[x]),
    "default factory": lambda x, n: collections.defaultdict([int, list][x], {"a": n}),
    "maps": lambda x, n: collections.ChainMap({"a": n}, *[{}] * x),
    "attribute of a mapping": lambda x, n: with_attribute(collections.UserDict(a=n), x),
    "type code": lambda x, n: array.array("bl"[x], [n % 100]),
    "format of a view": lambda x, n: memoryview(array.array("bB"[x], [n % 100])),
    "places in records": lambda x, n: np.array(
        [(n, 1)], {"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [[0, 4], [4, 0]][x]}
    ),
    "size of records": lambda x, n: np.array([(n,)], {"names": ["a"], "formats": ["i4"], "itemsize": 8 + 4 * x}),
    "types of a record": lambda x, n: np.array([(n, 1)], [("a", "f8"), ("b", ["i4", "i8"][x])])[0],
    "titles of records": lambda x, n: np.array([(n,)], [(("st"[x], "a"), "i4")]),
    "class of records": lambda x, n: np.array([(n,)], [("a", "f8")]).view([np.ndarray, np.recarray][x]),
    "gap in a record": record_with_gap,
    "unit of a duration": lambda x, n: np.timedelta64(n, ["s", "ms"][x]),
    "unit of durations": lambda x, n: np.array([n], ["m8[s]", "m8[ms]"][x]),
    "dtype of the columns": lambda x, n: pd.DataFrame([[n]], columns=pd.Index([1], dtype=["i4", "i8"][x])),
    "class of an index": lambda x, n: pd.Series([n, 1], index=[pd.RangeIndex(1, 3), pd.Index([1, 2])][x]),
    "class of an index that counts": lambda x, n: pd.Series([n, 1], index=[pd.RangeIndex(2), pd.Index([0, 1])][x]),
    "under what is missing": lambda x, n: pd.Series(pd.arrays.IntegerArray(np.array([n, 5 + x]), np.array([0, 1]) > 0)),
    "under what is missing, of pandas": lambda x, n: pd.array([n, 7 + x], dtype="Int64") + pd.array([0, None], "Int64"),
    "under a missing truth": lambda x, n: pd.Series(
        pd.arrays.BooleanArray(np.array([n > 3, x > 0]), np.array([0, 1]) > 0)
    ),
    "types of the keys": lambda x, n: {[1, 1.0][x]: n},
    "truth as a key": lambda x, n: {[1, True][x]: n},
    "class of a zone": lambda x, n: datetime.datetime(
        2020, 1, 1 + n % 9, tzinfo=[datetime.UTC, zoneinfo.ZoneInfo("UTC")][x]
    ),
    "class of the zone of a time": lambda x, n: datetime.time(
        n % 24, tzinfo=[datetime.UTC, zoneinfo.ZoneInfo("UTC")][x]
    ),
    "safety": lambda x, n: uuid.UUID(int=n, is_safe=[uuid.SafeUUID.safe, uuid.SafeUUID.unsafe][x]),
    "view that is read alone": lambda x, n: memoryview([bytes, bytearray][x]([n % 100])),
    "partial": lambda x, n: types.SimpleNamespace(a=n, f=functools.partial(int, str(x))),
    "partial as a factory": lambda x, n: collections.defaultdict(functools.partial(int, x), {"a": n}),
    "name of an error": named_error,
    "slot of an error": lambda x, n: with_attribute(SlottedError(n % 3), x),
    "class of a mapped array": lambda x, n: np.array([n]).view([np.ndarray, np.memmap][x]),
    "class of an array of texts": lambda x, n: np.array([str(n)]).view([np.ndarray, np.char.chararray][x]),
    "zero as a key": lambda x, n: {[0.0, -0.0][x]: n},
    "types in a key": lambda x, n: {("a", [1, True][x]): n},
    "what a method is bound to": lambda x, n: types.SimpleNamespace(a=n, f=[x].append),
    "whose method": lambda x, n: types.SimpleNamespace(a=n, f=Printed(n, x).__repr__),
    "note": raised,
    "message": message,
    "class": lambda x, n: [int, str][x],
    "class made in a run": lambda x, n: type("Made", (), {"held": x}),
    "function of an attribute": lambda x, n: types.SimpleNamespace(a=n, f=[abs, len][x]),
    "path": lambda x, n: pathlib.PurePosixPath(f"{n}/{x}"),
    "generator": lambda x, n: types.SimpleNamespace(a=n, rng=np.random.default_rng(x)),
}
"""Outputs of the standard library, NumPy, SciPy and pandas. Of a generator nobody can look at the state."""


def of_polars() -> dict[str, Make]:
    import polars as pl

    return {
        "names": lambda x, n: pl.DataFrame({"xy"[x]: [n]}),
        "dtype": lambda x, n: pl.DataFrame({"x": pl.Series([n], dtype=[pl.Int16, pl.Int64][x])}),
        **(
            {"Int128": lambda x, n: pl.Series([n + x * 2**100, None], dtype=pl.Int128)} if hasattr(pl, "Int128") else {}
        ),
        "categories": lambda x, n: pl.Series("x", ["a"], dtype=pl.Enum(["a", "bc"[x]])),
        "null or NaN": lambda x, n: pl.Series("x", [None if x else float("nan"), n], dtype=pl.Float64),
        "null or nothing": lambda x, n: pl.Series("x", [None if x else "", str(n)]),
        "name": lambda x, n: pl.Series("xy"[x], [n]),
        "record": lambda x, n: pl.Series("x", [{"a": n, "b": x}]),
        "large integers": lambda x, n: pl.DataFrame({"id": [2**60 + x], "x": [n / 3]}),
        "zone": lambda x, n: pl.Series([datetime.datetime(2020, 1, 1 + n % 9)]).dt.replace_time_zone(
            ["UTC", "Asia/Tokyo"][x]
        ),
        "attribute": lambda x, n: with_attribute(pl.DataFrame({"a": [n]}), x),
        "under a null of polars": lambda x, n: pl.DataFrame({"a": [5 + x, n], "gone": [True, False]}).select(
            pl.when("gone").then(None).otherwise("a")
        ),
        "known order": lambda x, n: pl.Series("a", [n, 100]).set_sorted(descending=bool(x)),
        "known order in a frame": lambda x, n: pl.DataFrame(
            {"a": pl.Series([n, 100]).set_sorted(descending=bool(x)), "b": ["x", "y"]}
        ),
    }


def of_pyarrow() -> dict[str, Make]:
    import pyarrow as pa

    def table(x: int, n: int, **kept: Any) -> Any:
        return pa.table([pa.array([n])], schema=pa.schema([pa.field("a", pa.int64(), **kept)]))

    class Stream:
        """Exports an Arrow stream, and nothing else."""

        def __init__(self, held: Any) -> None:
            self.held = held

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return self.held.__arrow_c_stream__(requested_schema)

    class Slots:
        """Exports an Arrow array, and holds something beside it."""

        __slots__ = ("_held", "_more")

        def __init__(self, held: Any, more: int) -> None:
            self._held = held
            self._more = more

        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return self._held.__arrow_c_array__(requested_schema)

    return {
        "names": lambda x, n: pa.table({"xy"[x]: [n]}),
        "metadata": lambda x, n: pa.table({"a": [n]}).replace_schema_metadata({"s": str(x)}),
        "metadata of a field": lambda x, n: table(x, n, metadata={"s": str(x)}),
        "label that no value has": lambda x, n: pa.table({"a": pa.DictionaryArray.from_arrays([0], ["a", "bc"[x]])}),
        "label that no value of an array has": lambda x, n: pa.array(["a", "bc"[x]]).dictionary_encode()[:1],
        "metadata inside of a field": lambda x, n: pa.table(
            [pa.array([{"a": n}], pa.struct([pa.field("a", pa.int64(), metadata={"s": str(x)})]))], names=["s"]
        ),
        "nullable": lambda x, n: table(x, n, nullable=bool(x)),
        "names of a batch": lambda x, n: pa.record_batch([pa.array([n])], names=["xy"[x]]),
        "type of an array": lambda x, n: pa.array([n], [pa.int16(), pa.int64()][x]),
        "null in a piece": lambda x, n: pa.chunked_array([[n], [None if x else 2]]),
        "type of a scalar": lambda x, n: pa.scalar(n, [pa.int16(), pa.int64()][x]),
        "metadata of a schema": lambda x, n: pa.schema([pa.field("a", pa.int64())], metadata={"s": str(x)}),
        "field": lambda x, n: pa.field("ab"[x], pa.int64()),
        "names of a stream": lambda x, n: Stream(pa.table({"xy"[x]: [n]})),
        "metadata of a stream": lambda x, n: Stream(pa.table({"a": [n]}).replace_schema_metadata({"s": str(x)})),
        "slot of a stream": lambda x, n: Slots(pa.array([n]), x),
        "pieces": lambda x, n: pa.table({"a": pa.chunked_array([[[n], [2]], [[n, 2]]][x])}),
        "pieces of an array": lambda x, n: pa.chunked_array([[[n], [2]], [[n, 2]]][x]),
        "before the rows": lambda x, n: pa.array([x, n])[1:],
        "behind the rows": lambda x, n: pa.table({"a": pa.array([n, x])}).slice(0, 1),
        "under a null": lambda x, n: pa.Array.from_buffers(
            pa.int64(), 2, [pa.py_buffer(b"\2"), pa.py_buffer(np.array([5 + x, n]))]
        ),
        "text under a null": lambda x, n: pa.Array.from_buffers(
            pa.string(),
            2,
            [pa.py_buffer(b"\2"), pa.py_buffer(np.array([0, 1, 3], "i4")), pa.py_buffer(f"{x}{n % 90 + 10}".encode())],
        ),
        "storage of texts": lambda x, n: pd.Series([str(n)], dtype=pd.StringDtype(["python", "pyarrow"][x])),
        "pandas in Arrow": lambda x, n: pd.Series(pd.array([n, None if x else 2], dtype=pd.ArrowDtype(pa.int64()))),
    }


def of_xarray() -> dict[str, Make]:
    import xarray as xr

    found: dict[str, Make] = {
        "name": lambda x, n: xr.DataArray([n], dims="d", name="xy"[x]),
        "dims": lambda x, n: xr.DataArray([n], dims="xy"[x]),
        "attrs": lambda x, n: xr.DataArray([n], dims="d", attrs={"s": x}),
        "coords": lambda x, n: xr.DataArray([n], dims="d", coords={"d": [x]}),
        "attrs of coords": lambda x, n: xr.DataArray([n], dims="d", coords={"d": ("d", [1], {"s": x})}),
        "names": lambda x, n: xr.Dataset({"xy"[x]: ("d", [n])}),
        "attrs of a dataset": lambda x, n: xr.Dataset({"v": ("d", [n])}, attrs={"s": x}),
        "attrs of variables": lambda x, n: xr.Dataset({"v": ("d", [n], {"s": x})}),
        "coords of a dataset": lambda x, n: xr.Dataset({"v": ("d", [n])}, coords={"w": x}),
        "variable": lambda x, n: xr.Variable("d", [n], {"s": x}),
        "encoding": lambda x, n: xr.Variable("d", [n], encoding={"scale": x}),
    }
    if hasattr(xr, "DataTree"):
        found["tree"] = lambda x, n: xr.DataTree.from_dict({"/a": xr.Dataset({"v": n}, attrs={"s": x})})
    return found


def of_geopandas() -> dict[str, Make]:
    import geopandas as gpd
    import shapely

    place = shapely.Point(1, 2)
    return {
        "crs": lambda x, n: gpd.GeoDataFrame({"a": [n]}, geometry=[place], crs=["EPSG:4326", "EPSG:3857"][x]),
        "geometry": lambda x, n: gpd.GeoSeries([shapely.Point(n, x)]),
        "attrs": lambda x, n: with_attrs(gpd.GeoDataFrame({"a": [n]}, geometry=[place]), x),
        "shape": lambda x, n: shapely.LineString([(0, n), (1, x)]),
    }


def with_attrs(output: Any, held: Any) -> Any:
    output.attrs["s"] = held
    return output


def of_awkward() -> dict[str, Make]:
    import awkward as ak

    return {
        "ragged": lambda x, n: ak.Array([[1, n], [x] * (1 + x)]),
        "type": lambda x, n: ak.values_astype(ak.Array([[1, n], [3]]), [np.int32, np.int64][x]),
        "attrs": lambda x, n: ak.Array([[1, n], [3]], attrs={"s": x}),
        "record": lambda x, n: ak.Array([{"a": n, "b": [x]}])[0],
    }


def of_ml_dtypes() -> dict[str, Make]:
    import ml_dtypes

    names = [name for name in ("float8_e5m2", "float8_e4m3fn", "bfloat16", "int4", "uint4") if hasattr(ml_dtypes, name)]
    kinds = [getattr(ml_dtypes, name) for name in names]
    scalars: dict[str, Make] = {f"{kind.__name__} scalar": lambda x, n, kind=kind: kind(x) for kind in kinds}
    arrays: dict[str, Make] = {
        f"{kind.__name__} array": lambda x, n, kind=kind: np.array([x, n % 4], kind) for kind in kinds
    }
    return {
        **scalars,
        **arrays,
        "without dimensions": lambda x, n: np.array(x, ml_dtypes.bfloat16),
        "dtype": lambda x, n: np.array([n % 4], kinds[x]),
        "class": lambda x, n: kinds[x](n % 4),
    }


LIBRARIES: dict[str, Callable[[], dict[str, Make]]] = {
    "polars": of_polars,
    "pyarrow": of_pyarrow,
    "xarray": of_xarray,
    "geopandas": of_geopandas,
    "awkward": of_awkward,
    "ml_dtypes": of_ml_dtypes,
}
"""Functions that make outputs of libraries that need not be there."""
