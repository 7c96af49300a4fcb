"""Datasets of other libraries, and of cells that are missing: neighbours have the type that was given."""

from __future__ import annotations

import datetime
import math
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dpaudit
from dpaudit.neighbours.own_data.data_columns import ValueKind
from dpaudit.neighbours.own_data.pairs import own_data_moves
from dpaudit.neighbours.own_data.tables import table_of
from tests.support.grouped import grouped

DAYS = [datetime.date(2001, 1, 1), None, datetime.date(2003, 3, 3), datetime.date(2004, 4, 4)]


def polars_frame() -> Any:
    pl = pytest.importorskip("polars")
    return pl.DataFrame(
        {
            "user": ["a", "a", None, "b"],
            "age": pl.Series([31, None, 55, 60], dtype=pl.Int8),
            "share": pl.Series([0.5, float("nan"), None, 1.0], dtype=pl.Float32),
            "big": pl.Series([2**53 + 1, 2**63 - 1, 2**60 + 1, 0], dtype=pl.Int64),
            "paid": [True, None, False, True],
            "kind": pl.Series(["u", None, "v", "u"], dtype=pl.Categorical),
            "level": pl.Series(["lo", "hi", None, "lo"], dtype=pl.Enum(["lo", "hi", "never"])),
            "list": [[1, 2], None, [], [3]],
            "struct": [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, {"x": 3, "y": None}, {"x": 4, "y": "d"}],
            "day": DAYS,
            "price": pl.Series([Decimal("1.25"), None, Decimal("3.50"), Decimal("9.99")], dtype=pl.Decimal(6, 2)),
            "wide": pl.Series([1, 2**100, None, 3], dtype=pl.Int128),
        }
    )


def arrow_table() -> Any:
    pa = pytest.importorskip("pyarrow")
    fields = [
        pa.field("user", pa.string(), metadata={"of": "the column"}),
        pa.field("age", pa.int16(), nullable=True),
        pa.field("share", pa.float32()),
        pa.field("paid", pa.bool_()),
        pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        pa.field("price", pa.decimal128(5, 2)),
        pa.field("day", pa.date32()),
        pa.field("list", pa.list_(pa.int64())),
        pa.field("id", pa.int64(), nullable=False),
        pa.field("since", pa.timestamp("us", tz="Europe/Paris")),
    ]
    values = [
        ["a", None, "b", "a"],
        [31, None, 55, 60],
        [0.5, float("nan"), None, 1.0],
        [True, None, False, True],
        ["u", None, "v", "u"],
        [Decimal("1.25"), None, Decimal("3.50"), Decimal("9.99")],
        DAYS,
        [[1], None, [], [2, 3]],
        [2**53 + 1, 2, 3, 4],
        [datetime.datetime(2001, 1, 1), None, datetime.datetime(2003, 3, 3), datetime.datetime(2004, 1, 1)],
    ]
    schema = pa.schema(fields, metadata={"of": "the table"})
    return pa.table([pa.array(one, type=field.type) for one, field in zip(values, fields, strict=True)], schema=schema)


def xarray_dataset() -> Any:
    xr = pytest.importorskip("xarray")
    return xr.Dataset(
        {
            "heat": (("day", "place"), np.arange(8.0).reshape(4, 2), {"units": "K"}),
            "count": ("day", np.array([1, 2, 3, 4], dtype=np.int16)),
            "weight": ("place", [0.5, 2.0]),
        },
        coords={"day": pd.date_range("2001-01-01", periods=4), "place": ["x", "y"], "rain": ("day", [True, False] * 2)},
        attrs={"of": "the dataset"},
    )


def geo_frame() -> Any:
    gpd = pytest.importorskip("geopandas")
    points = gpd.points_from_xy([0.0, 1.0, 2.0], [3.0, 4.0, 5.0])
    return gpd.GeoDataFrame({"age": [31, 47, 60]}, geometry=points, crs="EPSG:4326")


def with_attrs() -> pd.DataFrame:
    frame = pd.DataFrame({"age": [31, 47, 60]})
    frame.attrs["of"] = "the table"
    return frame


class Named(pd.DataFrame):
    """A subclass whose rows are of pandas' own class."""


class Kept(pd.DataFrame):
    """A subclass whose rows are of it."""

    @property
    def _constructor(self) -> Callable[..., Any]:
        return Kept


def arrow(kind: Any) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pd.ArrowDtype(kind(pa))


DATASETS: dict[str, Callable[[], Any]] = {
    "polars": polars_frame,
    "a lazy frame": lambda: polars_frame().lazy(),
    "a series of polars": lambda: polars_frame()["age"],
    "texts of polars": lambda: polars_frame()["user"],
    "pyarrow": arrow_table,
    "a record batch": lambda: arrow_table().combine_chunks().to_batches()[0],
    "chunks of pyarrow": lambda: arrow_table()["age"],
    "an array of pyarrow": lambda: arrow_table()["age"].combine_chunks(),
    "columns of polars": lambda: {"age": polars_frame()["age"], "y": np.arange(4)},
    "X of polars and y": lambda: (polars_frame().select("share", "age"), np.array([0, 1, 1, 0])),
    "xarray": xarray_dataset,
    "an array of xarray": lambda: xarray_dataset()["heat"],
    "values of xarray": lambda: xarray_dataset()["count"].reset_coords(drop=True),
    "xarray without labels": lambda: xarray_dataset().drop_vars(["day", "place"]),
    "geopandas": geo_frame,
    "a column of geopandas": lambda: geo_frame()["geometry"],
    "attrs": with_attrs,
    "attrs of a series": lambda: with_attrs()["age"],
    "a subclass of a frame": lambda: Named({"age": [31, 47, 60]}),
    "a subclass that is kept": lambda: Kept({"age": [31, 47, 60]}),
    "texts with NaN": lambda: pd.DataFrame(
        {"city": pd.Series(["Aa", float("nan"), "Bb"], dtype=object), "x": [1, 2, 3]}
    ),
    "texts with None": lambda: pd.Series(["Aa", None, "Bb"], dtype=object),
    "texts with both": lambda: pd.Series(["Aa", None, float("nan"), pd.NA, "Bb"], dtype=object),
    "truths with NaN": lambda: pd.Series([True, float("nan"), False], dtype=object),
    "dates with NaT": lambda: pd.DataFrame({"day": pd.to_datetime(["2001-01-01", None, "2003-03-03"])}),
    "dates of Python": lambda: pd.Series([*DAYS, float("nan")], dtype=object),
    "time zones": lambda: pd.DataFrame({"at": pd.to_datetime(["2001-01-01", None, "2003-03-03"]).tz_localize("UTC")}),
    "categories with NaN": lambda: pd.DataFrame({"kind": pd.Categorical(["u", None, "v", "u"], ordered=True)}),
    "nullable types": lambda: pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int8"),
            "f": pd.array([0.5, None, 1.0], dtype="Float32"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "s": pd.array(["a", None, "b"], dtype="string"),
        }
    ),
    "arrow-backed": lambda: pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype=arrow(lambda pa: pa.int8())),
            "s": pd.array(["a", None, "b"], dtype=arrow(lambda pa: pa.string())),
            "b": pd.array([True, None, False], dtype=arrow(lambda pa: pa.bool_())),
            "d": pd.array([Decimal("1.5"), None, Decimal("2.25")], dtype=arrow(lambda pa: pa.decimal128(5, 2))),
            "k": pd.array(["u", None, "v"], dtype=arrow(lambda pa: pa.dictionary(pa.int8(), pa.string()))),
            "t": pd.array([None, datetime.datetime(2001, 1, 1), None], dtype=arrow(lambda pa: pa.timestamp("us"))),
        }
    ),
    "several indexes": lambda: pd.DataFrame(
        {"x": [1.0, 2.0, 3.0]}, index=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    ),
    "several heads": lambda: pd.DataFrame(
        [[1, 2.0], [3, 4.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
    ),
    "one row": lambda: pd.DataFrame({"x": [1.0], "city": ["Aa"]}),
    "decimals": lambda: [Decimal("1.25"), Decimal("3.5"), Decimal("10")],
    "texts of a width": lambda: np.array(["one", "two", "six"]),
    **{
        f"{form} of SciPy": lambda form=form: getattr(sparse, form)(np.eye(4))
        for form in (
            f"{name}_{kind}"
            for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
            for kind in ("array", "matrix")
        )
    },
}
RELATIONS = ("unbounded", "bounded")


def records(data: Any) -> list[str]:
    """Return the records of a dataset as texts; float32 and its double are the same."""
    if sparse.issparse(data):  # some are dictionaries
        return [repr(row.tolist()) for row in data.toarray()]
    if isinstance(data, dict | tuple):
        parts = [records(part) for part in (data.values() if isinstance(data, dict) else data)]
        return [repr(one) for one in zip(*parts, strict=True)]
    if hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "rows"):
        return list(map(repr, data.rows()))
    if hasattr(data, "to_pylist"):
        return list(map(repr, data.to_pylist()))
    if hasattr(data, "dims"):
        return [
            repr({name: held["data"] for name, held in _variables(data.isel(day=[i])).items()})
            for i in range(data.sizes["day"])
        ]
    if isinstance(data, pd.DataFrame):
        return [repr(one) for one in data.itertuples(index=False, name=None)]
    return [repr(one) for one in (data.tolist() if hasattr(data, "tolist") else data)]


def _variables(data: Any) -> dict[str, Any]:
    shown = data.to_dict()
    held = {**shown.get("data_vars", {"value": {"data": shown.get("data")}}), **shown["coords"]}
    return {name: one for name, one in held.items() if name != "day"}


def form(data: Any) -> Any:
    """Return all that neighbours must share: types, schema, metadata."""
    if sparse.issparse(data):
        return type(data), data.format, data.dtype, data.shape[1:]
    if isinstance(data, dict):
        return {name: form(part) for name, part in data.items()}
    if isinstance(data, tuple):
        return tuple(map(form, data))
    if hasattr(data, "collect"):
        return form(data.collect())
    found: list[Any] = [
        type(data),
        getattr(data, "attrs", None),
        getattr(data, "name", None),
        getattr(data, "crs", None),
    ]
    schema = getattr(data, "schema", None)
    if hasattr(schema, "metadata"):  # of pyarrow
        found += [schema, schema.metadata, [schema.field(i).metadata for i in range(len(schema))]]
        assert [
            column.num_chunks for column in getattr(data, "itercolumns", list)() if hasattr(column, "num_chunks")
        ] == [1 for column in getattr(data, "itercolumns", list)() if hasattr(column, "num_chunks")] or not len(data)
    elif hasattr(data, "rows") and hasattr(data, "schema"):
        found += [data.schema, data.n_chunks()]
    elif hasattr(data, "dims") and hasattr(data, "coords"):
        held = data.variables if hasattr(data, "variables") else {"value": data.variable, **data.coords.variables}
        found += [(name, one.dims, one.dtype, one.attrs) for name, one in held.items()]
    elif isinstance(data, pd.DataFrame):
        found += [data.dtypes.tolist(), data.columns.tolist(), data.columns.names, data.index.names]
    else:
        found.append(str(getattr(data, "dtype", None) or getattr(data, "type", None)))
    return found


def kinds_and_relations() -> Iterator[Any]:
    """Yield every kind with both relations, which take turns in the quick profile."""
    for i, name in enumerate(DATASETS):
        for j, relation in enumerate(RELATIONS):
            late = [pytest.mark.full] * ((i + j) % 2)
            yield pytest.param(name, relation, marks=late, id=f"{name}-{relation}")


@pytest.mark.parametrize(("name", "relation"), list(kinds_and_relations()))
def test_neighbours_differ_in_one_record_and_keep_their_form(name: str, relation: str) -> None:
    data = DATASETS[name]()
    before = records(data)
    pairs = dpaudit.neighbours_of(data, relation, count=60)
    moves = partial(own_data_moves, 1)
    pairs += [near for pair in pairs[::20] for near in moves(pair, 0)]
    assert pairs
    for pair in pairs:
        first, second = Counter(records(pair.data)), Counter(records(pair.neighbour))
        gone, come = first - second, second - first
        assert max(gone.total(), come.total()) <= 1, pair
        if relation == "unbounded":
            assert gone.total() + come.total() == 1, pair
        else:
            assert gone.total() == come.total(), pair
        assert repr(form(pair.data)) == repr(form(pair.neighbour)) == repr(form(data))
    assert records(data) == before
    assert pickle.loads(pickle.dumps(pairs[0])).origin == pairs[0].origin


@pytest.mark.parametrize(
    # Pairs of all of them are looked at above; every third is audited in every profile.
    "name",
    [pytest.param(name, marks=[pytest.mark.full] * (i % 3 != 0)) for i, name in enumerate(DATASETS)],
)
def test_an_audit_of_them_ends_in_a_verdict(name: str) -> None:
    def noisy_size(data: Any, rng: np.random.Generator) -> float:
        part = next(iter(data.values())) if type(data) is dict else data[0] if type(data) is tuple else data
        part = part.collect() if hasattr(part, "collect") else part
        size = part.sizes["day"] if hasattr(part, "sizes") else part.shape[0] if hasattr(part, "shape") else len(part)
        return float(size + rng.laplace())

    finding = dpaudit.audit_privacy(noisy_size, data=DATASETS[name](), epsilon=1.0, trials=60)
    assert finding.verdict in ("consistent", "no evidence")
    assert str(finding)


def added(data: Any, words: str, **options: Any) -> Any:
    """Return the last record of the neighbour whose recipe is that the data gain a record with these words."""
    found = {p.origin.text: p for p in dpaudit.neighbours_of(data, count=2_000, **options)}
    return found[f"the data; a record {words} added"].neighbour


def test_values_that_are_tried_have_the_type_of_their_column() -> None:
    frame = polars_frame()
    row = added(frame, "with the greatest value").row(-1, named=True)
    assert (row["age"], row["share"], row["price"], row["big"]) == (60, 1.0, Decimal("9.99"), 2**63 - 1)
    bounds = {"price": (0.005, 7.777), "age": (0, 100)}
    row = added(frame, "with the greatest value", bounds=bounds).row(-1, named=True)
    assert (row["price"], row["age"]) == (Decimal("7.77"), 100)
    assert added(frame, "with the least value", bounds=bounds).row(-1, named=True)["price"] == Decimal("0.01")
    far = added(frame, "with a value far above the greatest (outside the bounds)", bounds=bounds).row(-1, named=True)
    assert (far["price"], far["age"]) == (Decimal("7767.77"), 31)  # Int8 ends before it; the price has six digits
    assert math.isnan(added(frame, "with NaN").row(-1, named=True)["share"])
    unseen = added(frame, "with a text that the data do not hold").row(-1, named=True)
    assert (unseen["user"], unseen["kind"], unseen["level"]) == ("unseen", "u", "lo")


def test_decimals_of_parquet_are_numbers(tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    prices = pd.DataFrame({"price": [Decimal("1.25"), None, Decimal("3.50")], "city": ["Aa", None, "Bb"]})
    prices.to_parquet(tmp_path / "prices.parquet")
    data = dpaudit.read_dataset(tmp_path / "prices.parquet")
    column = table_of(data).columns[0]
    assert (column.kind, column.numeric) == (ValueKind.REAL, True)
    value = added(data, "with the greatest value", bounds={"price": (0, 10.129)})["price"].iloc[-1]
    assert (value, type(value)) == (Decimal("10.12"), Decimal)
    texts = [pair.origin.text for pair in dpaudit.neighbours_of(data, count=500)]
    assert not any("NaN" in text or "infinity" in text for text in texts)  # a column of decimals holds neither
    finding = dpaudit.audit_privacy(
        lambda d, rng: float(sum(min(max(v, 0), 2) for v in d["price"].tolist() if v is not None)) + rng.laplace(),
        data=dpaudit.Dataset(data, bounds={"price": (0, 2)}), epsilon=1.0, trials=3_000,
    )  # fmt: skip
    assert finding.verdict == "violation"  # a record moves the sum by two


def test_decimals_and_numbers_may_stand_together() -> None:
    for data in ([Decimal("1.5"), 2, 3.5], [Decimal("NaN"), Decimal(1)], [Decimal("Infinity"), Decimal("0.5")]):
        assert dpaudit.neighbours_of(data)


def test_texts_of_an_array_are_no_longer_than_its_type_holds() -> None:
    found = {
        str(record)
        for pair in dpaudit.neighbours_of(np.array(["Aaaaaa", "Bb"]), count=500)
        for record in pair.neighbour
    }
    assert found == {"Aaaaaa", "Bb", "", "unseen"}
    found = {
        str(record) for pair in dpaudit.neighbours_of(np.array(["Aa", "Bb"]), count=500) for record in pair.neighbour
    }
    assert found == {"Aa", "Bb", ""}


def test_labels_of_xarray_are_counted_on_or_are_fresh() -> None:
    xr = pytest.importorskip("xarray")
    counted = xr.Dataset({"x": ("t", [1.0, 2.0, 3.0])}, coords={"t": [0, 1, 2]})
    others = counted.assign_coords(t=[5, 7, 9])
    for pair in dpaudit.neighbours_of(counted):
        assert pair.neighbour["t"].values.tolist() == list(range(pair.neighbour.sizes["t"]))
    assert added(others, "with the greatest value")["t"].values.tolist() == [5, 7, 9, 10]
    with pytest.raises(dpaudit.InputError, match="data must hold variables with a dimension"):
        dpaudit.neighbours_of(xr.Dataset({"x": 1.0}))


@pytest.mark.parametrize("kind", ["pandas", "object", "numbers", "polars", "pyarrow", "dictionaries", "list"])
def test_a_row_without_a_name_is_a_unit_of_its_own(kind: str) -> None:
    names: list[Any] = ["a", "a", None, None, "b", "b"]
    visits = [1, 2, 3, 4, 5, 6]
    unit: Any = "user"
    data: Any
    if kind == "polars":
        data = pytest.importorskip("polars").DataFrame({"user": names, "visits": visits})
    elif kind == "pyarrow":
        data = pytest.importorskip("pyarrow").table({"user": names, "visits": visits})
    elif kind == "dictionaries":
        data = [{"user": user, "visits": visit} for user, visit in zip(names, visits, strict=True)]
    elif kind == "list":
        data, unit = visits, [*names[:3], float("nan"), *names[4:]]
    elif kind == "numbers":
        data = pd.DataFrame({"user": [1, 1, None, None, 2, 2], "visits": visits})
    else:
        data = pd.DataFrame({"user": pd.Series(names, dtype=object if kind == "object" else None), "visits": visits})
    found = {pair.origin.text: pair for pair in dpaudit.neighbours_of(data, unit=unit, count=400)}
    gone = found["the data; row 2, which names no unit removed"]
    assert Counter(records(gone.data)).total() - Counter(records(gone.neighbour)).total() == 1
    assert found["the data; the unit of row 4 (2 rows) removed"]
    if kind == "list":
        return
    crowd = found["the data; a new unit of 20 rows without a name with the greatest value added"]
    assert len(records(crowd.neighbour)) == len(visits) + 20
    assert "the data; a new unit without a name with the greatest value added" in found
    inside = [pair.origin.text for pair in dpaudit.neighbours_of(data, unit=unit, count=400, outside=False)]
    assert "the data; a new unit without a name with the greatest value added" in inside
    assert not any("rows without a name" in text for text in inside)


def test_names_whose_type_holds_no_missing_one_have_none() -> None:
    frame = pd.DataFrame({"user": [1, 1, 2], "visits": [1, 2, 3]})
    assert not any("without a name" in p.origin.text for p in dpaudit.neighbours_of(frame, unit="user", count=500))


def unlimited_without_a_name(frame: Any, rng: np.random.Generator) -> float:
    """Return a noisy sum of two rows a user, of which rows without a name are not limited."""
    return of_users(frame, rng, lambda user, rows: rows < 2 or pd.isna(user))


def limited(frame: Any, rng: np.random.Generator) -> float:
    return of_users(frame, rng, lambda user, rows: rows < 2)


def of_users(frame: Any, rng: np.random.Generator, taken: Callable[[Any, int], bool]) -> float:
    """Return a noisy sum of visits; pandas' own way of grouping takes a hundred times as long."""
    rows: Counter[Any] = Counter()
    total = 0.0
    for user, visits in zip(frame["user"].tolist(), frame["visits"].tolist(), strict=True):
        name = None if pd.isna(user) else user
        if taken(name, rows[name]) and not pd.isna(visits):
            total += min(max(visits, 0), 5)
        rows[name] += 1
    return float(total + rng.laplace(scale=10))


def test_a_user_without_a_name_whose_rows_are_not_limited_is_found() -> None:
    frame = pd.DataFrame({"user": np.repeat([f"p{i}" for i in range(12)], 3), "visits": [0, 3, 5] * 12})
    options = {"data": frame, "unit": "user", "epsilon": 1.0, "bounds": {"visits": (0, 5)}, "trials": 1_000}
    wrong = dpaudit.audit_privacy(unlimited_without_a_name, **grouped(**options))
    assert wrong.verdict == "violation"
    assert "without a name" in wrong.witness.origin.text
    assert dpaudit.audit_privacy(limited, **grouped(**options)).verdict == "consistent"


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_an_empty_table_is_refused(kind: str) -> None:
    data = (polars_frame if kind == "polars" else arrow_table)()
    with pytest.raises(dpaudit.InputError, match="data must hold at least one record, got an empty"):
        dpaudit.neighbours_of(data[:0])
    empty = pytest.importorskip("polars").DataFrame() if kind == "polars" else data.select([])
    with pytest.raises(dpaudit.InputError, match="data must hold at least one column"):
        dpaudit.neighbours_of(empty)
    with pytest.raises(dpaudit.InputError, match=r"must name a column of .*data"):
        dpaudit.neighbours_of(data, unit="usr")


def test_pairs_of_tables_are_checked_as_neighbours() -> None:
    frame = polars_frame()
    table = arrow_table()
    for data in (frame, table):
        dpaudit.audit_privacy(
            lambda d, rng: len(d) + rng.laplace(), [(data, data[:3])], epsilon=1.0, trials=20, relation="unbounded"
        )
        with pytest.raises(dpaudit.InputError, match="not a pair of neighbours"):
            dpaudit.audit_privacy(
                lambda d, rng: len(d) + rng.laplace(), [(data, data[:2])], epsilon=1.0, trials=20, relation="unbounded"
            )


@pytest.mark.parametrize("kind", ["string_view", "binary_view", "runs"])
def test_types_of_arrow_from_which_it_takes_no_rows_are_audited(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    if kind == "runs":
        column = pa.RunEndEncodedArray.from_arrays([2, 4], [1, 2])
    elif kind == "string_view":
        column = pa.array(["a", None, "b", "a"], pa.string_view())
    else:
        column = pa.array([b"a", None, b"b", b"a"], pa.binary_view())
    table = pa.table({"x": pa.chunked_array([column.slice(0, 1), column.slice(1)]), "n": [1, 2, 3, 4]})
    for relation in RELATIONS:
        found = dpaudit.neighbours_of(table, relation=relation, bounds={"n": (0, 5)})
        assert found
        assert all(side.schema == table.schema for pair in found for side in (pair.data, pair.neighbour))
    finding = dpaudit.audit_privacy(
        lambda t, rng: t.num_rows + rng.laplace(0, 0.1), data=table, epsilon=0.5, trials=300
    )
    assert finding.verdict == "violation"
