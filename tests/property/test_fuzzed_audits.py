"""Audits of datasets, mechanisms and options drawn at random: each ends in a verdict or in an InputError.

No draw may end in another exception. Mechanisms that are private as they are drawn are accused no more often than the
confidence allows.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import math
import traceback
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom

import dpaudit
from dpaudit.errors import InputError
from tests.support.grouped import grouped

QUICK, FULL, SHARDS = 5, 3_000, 60
"""Draws of the ordinary profile, of the full one, and the parts that the latter is run in."""
CONFIDENCE = 0.999
"""A private mechanism is accused in one audit of a thousand at most."""


@dataclasses.dataclass
class Person:
    age: int
    city: str


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


Visit = collections.namedtuple("Visit", "user spent")


def day(random: Random) -> datetime.date:
    return datetime.date(1980 + random.randrange(40), 1 + random.randrange(12), 1 + random.randrange(28))


SCALARS: dict[str, Callable[[Random], Any]] = {
    "float": lambda r: round(r.uniform(-3, 9), r.randrange(4)),
    "int": lambda r: r.randrange(-2, 12),
    "big": lambda r: r.choice([2**53 + 1, 2**62, -(2**63), 3, 10**30]),
    "special": lambda r: r.choice([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, 5e-324, 1.5]),
    "bool": lambda r: r.random() < 0.5,
    "text": lambda r: r.choice(["Aa", "Bb", "", "é", "a long text", "Cc"]),
    "bytes": lambda r: r.choice([b"", b"a", b"\xff\x00"]),
    "date": day,
    "datetime": lambda r: datetime.datetime.combine(day(r), datetime.time(r.randrange(24))),
    "zone": lambda r: datetime.datetime.combine(day(r), datetime.time(r.randrange(24)), datetime.UTC),
    "delta": lambda r: datetime.timedelta(days=r.randrange(9)),
    "decimal": lambda r: decimal.Decimal(r.randrange(1_000)) / 100,
    "fraction": lambda r: fractions.Fraction(r.randrange(9), 1 + r.randrange(9)),
    "complex": lambda r: complex(r.randrange(3), r.randrange(3)),
    "colour": lambda r: r.choice(list(Colour)),
    "numpy": lambda r: r.choice([np.float32, np.int8, np.uint16])(r.randrange(9)),
}


def missing(random: Random, values: list[Any], *, of: Any = None) -> list[Any]:
    """Return values of which some are missing in one dataset of three."""
    return [of if random.random() < 0.2 else value for value in values] if random.random() < 0.33 else values


def columns(random: Random, size: int) -> dict[str, list[Any]]:
    """Return columns of a table: users, numbers, texts, and some others."""
    found = {"user": [random.choice(["u1", "u2", "u3", "u4"]) for _ in range(size)]}
    kinds = random.sample(["float", "int", "bool", "text", "date", "decimal", "datetime"], random.randint(1, 4))
    return found | {kind: missing(random, [SCALARS[kind](random) for _ in range(size)]) for kind in kinds}


def records(random: Random, size: int) -> Any:
    kind = random.choice(
        [*SCALARS, "tuple", "named", "dictionary", "class", "list", "ragged", "mixed", "set", "nested"]
    )
    if kind in SCALARS:
        return missing(random, [SCALARS[kind](random) for _ in range(size)])
    makes: dict[str, Callable[[], Any]] = {
        "tuple": lambda: (SCALARS["int"](random), SCALARS["text"](random)),
        "named": lambda: Visit(random.randrange(4), random.random()),
        "dictionary": lambda: {"age": random.randrange(99), "city": SCALARS["text"](random)},
        "class": lambda: Person(random.randrange(99), SCALARS["text"](random)),
        "list": lambda: [SCALARS["float"](random), SCALARS["float"](random)],
        "ragged": lambda: [SCALARS["float"](random) for _ in range(random.randrange(4))],
        "mixed": lambda: SCALARS[random.choice(["int", "text"])](random),
        "set": lambda: {random.randrange(5) for _ in range(3)},
        "nested": lambda: {"a": [1, {"b": random.randrange(3)}], "c": (random.random(),)},
    }
    found = [makes[kind]() for _ in range(size)]
    return tuple(found) if random.random() < 0.2 else found


def array(random: Random, size: int) -> Any:
    rng = np.random.default_rng(random.randrange(2**32))
    kind = random.choice(
        ["f8", "f4", "f2", "i1", "i8", "u1", "u8", "?", "c16", "M8[D]", "m8[s]", "U3", "S3", "O", "longdouble"]
    )
    shape = (size, *random.choice([(), (), (3,), (2, 2), (0,)]))
    values = rng.integers(0, 9, size=shape)
    if kind == "structured":
        return np.array([(1, 0.5)] * size, dtype=[("age", "i2"), ("share", "f4")])
    return values.astype(str).astype(kind) if kind in ("U3", "S3") else values.astype(kind)


def frame(random: Random, size: int) -> Any:
    found = pd.DataFrame(columns(random, size))
    how = random.randrange(8)
    if how == 0:
        found["kind"] = pd.Categorical([random.choice("uv") for _ in range(size)])
    elif how == 1:
        found = found.convert_dtypes()
    elif how == 2:
        found = found.set_index("user", drop=False)
    elif how == 3:
        found.index = pd.MultiIndex.from_arrays([found["user"], range(size)])
    elif how == 4:
        found["user"] = found["user"].astype(object).where(np.arange(size) % 3 > 0, None)
    elif how == 5:
        found = found.astype({"user": "category"})
    elif how == 6:
        found.attrs["of"] = "the table"
    return found


def polars(random: Random, size: int) -> Any:
    pl = pytest.importorskip("polars")
    found = pl.DataFrame(columns(random, size), strict=False)
    if random.random() < 0.3:
        found = found.with_columns(pl.col("user").cast(pl.Categorical))
    how = random.randrange(6)
    return found.lazy() if how == 0 else found.to_series(1) if how == 1 else found


def pyarrow(random: Random, size: int) -> Any:
    pa = pytest.importorskip("pyarrow")
    found = pa.table(columns(random, size))
    how = random.randrange(6)
    if how == 0:
        return found.combine_chunks().to_batches()[0]
    return found.column(1) if how == 1 else found.column(1).combine_chunks() if how == 2 else found


def xarray(random: Random, size: int) -> Any:
    xr = pytest.importorskip("xarray")
    rng = np.random.default_rng(random.randrange(2**32))
    data = {"heat": (("day", "place"), rng.random((size, 2))), "count": ("day", rng.integers(0, 9, size))}
    coords: dict[str, Any] = {"place": ["x", "y"]} if random.random() < 0.5 else {}
    if random.random() < 0.5:
        coords["day"] = random.choice(
            [pd.date_range("2001-01-01", periods=size), list(range(size)), [f"d{i}" for i in range(size)]]
        )
    found = xr.Dataset(data, coords=coords)
    return found["heat"] if random.random() < 0.3 else found


def geopandas(random: Random, size: int) -> Any:
    gpd = pytest.importorskip("geopandas")
    points = gpd.points_from_xy([random.random() for _ in range(size)], [0.0] * size)
    return gpd.GeoDataFrame(columns(random, size), geometry=points)


def parts(random: Random, size: int) -> Any:
    makes = [frame, array, lambda r, n: [r.random() for _ in range(n)]]
    if random.random() < 0.5:
        return {f"part {i}": random.choice(makes)(random, size) for i in range(random.randint(1, 3))}
    return np.arange(2.0 * size).reshape(size, 2), np.array([random.randrange(2) for _ in range(size)])


def sparse_matrix(random: Random, size: int) -> Any:
    form = random.choice(["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
    matrix = np.random.default_rng(random.randrange(2**32)).integers(0, 2, size=(size, random.randint(1, 12)))
    kind = random.choice([np.float64, np.int32, np.float32])
    return getattr(sparse, f"{form}_{random.choice(['array', 'matrix'])}")(matrix.astype(kind))


DATASETS: tuple[Callable[[Random, int], Any], ...] = (
    records,
    records,
    records,
    array,
    frame,
    frame,
    polars,
    pyarrow,
    xarray,
    geopandas,
    parts,
    sparse_matrix,
)


def cells(data: Any) -> list[Any]:
    """Return what a dataset holds, one after the other, whatever its kind."""
    if isinstance(data, dict) and not sparse.issparse(data):
        return [value for part in data.values() for value in cells(part)]
    if isinstance(data, tuple) and data and hasattr(data[0], "dtype"):
        return [value for part in data for value in cells(part)]
    if sparse.issparse(data):
        return list(data.toarray().ravel().tolist())
    if hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "rows"):
        return [value for row in data.rows() for value in row]
    if hasattr(data, "to_pylist"):
        return [value for row in data.to_pylist() for value in (row.values() if isinstance(row, dict) else [row])]
    if isinstance(data, pd.DataFrame):
        return [value for row in data.itertuples(index=False) for value in row]
    if hasattr(data, "data_vars"):
        return [value for held in data.data_vars.values() for value in held.values.ravel().tolist()]
    if hasattr(data, "to_list"):
        return list(data.to_list())
    return list(np.asarray(data).ravel().tolist()) if hasattr(data, "dtype") else list(data)


def size_of(data: Any) -> int:
    """Return the number of records, whatever the kind of the dataset."""
    if hasattr(data, "collect"):
        data = data.collect()
    if isinstance(data, dict) and not sparse.issparse(data):
        return size_of(next(iter(data.values())))
    if isinstance(data, tuple) and data and hasattr(data[0], "dtype"):
        return size_of(data[0])
    if hasattr(data, "sizes"):
        return int(data.sizes.get("day", 0)) if hasattr(data, "data_vars") or "day" in data.sizes else len(data)
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def numbers(data: Any) -> list[float]:
    found = []
    for value in cells(data):
        try:
            found.append(float(value))
        except (TypeError, ValueError, OverflowError):
            continue
    return found


Mechanism = Callable[[Any, np.random.Generator], Any]
PRIVATE: dict[str, Callable[[int], Mechanism]] = {
    "noise alone": lambda scale: lambda data, rng: float(rng.laplace()),
    "a coin": lambda scale: lambda data, rng: bool(rng.random() < 0.5),
    "a text": lambda scale: lambda data, rng: rng.choice(["a", "b", "c"]).item(),
    "a table": lambda scale: lambda data, rng: pd.DataFrame({"x": rng.integers(0, 3, 2), "y": ["a", "b"]}),
    "a dictionary": lambda scale: lambda data, rng: {"n": int(rng.integers(5)), "x": [float(rng.normal())]},
    "an array": lambda scale: lambda data, rng: rng.normal(size=3),
    "raises": lambda scale: lambda data, rng: 1 / int(rng.integers(2)),
    "size": lambda scale: lambda data, rng: float(size_of(data) + rng.laplace(scale=scale)),
    "whole size": lambda scale: (
        lambda data, rng: int(
            size_of(data) + rng.geometric(1 - math.exp(-1 / scale)) - rng.geometric(1 - math.exp(-1 / scale))
        )
    ),
    "many at times": lambda scale: lambda data, rng: [float(rng.random())] * int(rng.integers(3)),
    "special": lambda scale: lambda data, rng: [None, math.nan, math.inf, -0.0, 2**70, b"", ()][int(rng.integers(7))],
    "day": lambda scale: lambda data, rng: datetime.date(2000, 1, 1 + int(rng.integers(20))),
}
"""By the scale of noise that hides so many records: those whose size is told are private where a record is a unit."""
OF_SIZE = ("size", "whole size")


def first(data: Any, rng: np.random.Generator) -> Any:
    return next(iter(cells(data)), None)


def greatest(data: Any, rng: np.random.Generator) -> Any:
    return max(numbers(data), default=0.0)


def any_cell(data: Any, rng: np.random.Generator) -> Any:
    found = cells(data)
    return found[int(rng.integers(len(found)))] if found else None


def total(data: Any, rng: np.random.Generator) -> float:
    return float(sum(numbers(data)) + rng.laplace())


def mean(data: Any, rng: np.random.Generator) -> float:
    found = numbers(data)
    return sum(found) / len(found) + float(rng.laplace())


def everything(data: Any, rng: np.random.Generator) -> Any:
    return data


def least_and_noise(data: Any, rng: np.random.Generator) -> Any:
    return {"least": min(numbers(data), default=None), "noise": float(rng.normal())}


def raises_by_size(data: Any, rng: np.random.Generator) -> Any:
    if size_of(data) % 3 == int(rng.integers(3)):
        raise ValueError(f"{size_of(data)} records")
    return size_of(data)


def always_raises(data: Any, rng: np.random.Generator) -> Any:
    raise KeyError("always")


def counts(data: Any, rng: np.random.Generator) -> Any:
    found = collections.Counter(map(repr, cells(data)))
    return {key: count + round(float(rng.laplace()), 2) for key, count in sorted(found.items())[:5]}


def texts(data: Any, rng: np.random.Generator) -> str:
    return ",".join(sorted(map(repr, cells(data))))[: int(rng.integers(1, 30))]


def frame_out(data: Any, rng: np.random.Generator) -> Any:
    return pd.DataFrame({"x": numbers(data)[:3], "noise": rng.normal(size=len(numbers(data)[:3]))})


OTHERS: tuple[Mechanism, ...] = (
    first, greatest, any_cell, total, total, mean, everything, least_and_noise, raises_by_size, always_raises, counts,
    texts, frame_out,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Draw:
    """The arguments of an audit, and whether its claim is true."""

    name: str
    mechanism: Mechanism
    arguments: dict[str, Any]
    true: bool


def claim_of(random: Random) -> dict[str, Any]:
    how = random.randrange(10)
    if how == 0:
        return {"claim": dpaudit.PrivacyClaim.gaussian(2.0)}
    if how == 1:
        return {"claim": dpaudit.PrivacyClaim.zero_concentrated(0.5)}
    if how == 2:
        return {"claim": dpaudit.PrivacyClaim.points([(1.0, 0.01), (2.0, 0.0)])}
    return {
        "epsilon": random.choice([0.0, 0.5, 1.0, 1.0, 1.0, 3.0]),
        "delta": random.choice([0.0, 0.0, 0.0, 1e-5, 0.1]),
    }


def draw(seed: int) -> Draw:
    """Return the audit of a seed."""
    random = Random(seed)
    size = random.choice([1, 2, 3, 5, 8, 20, 60])
    dataset = random.choice(DATASETS)
    data = dataset(random, size)
    arguments: dict[str, Any] = {
        "trials": int(math.exp(random.uniform(math.log(150), math.log(2_000)))),
        "seed": seed % 7,
    }
    arguments |= claim_of(random)
    arguments["relation"] = random.choice(["replace-one", "add-remove-one"])
    unit = False
    group = 1
    if random.random() < 0.75:
        arguments["data"] = data
        if random.random() < 0.3:
            arguments["bounds"] = random.choice([(0, 5), (-1.5, 2.25), {"float": (0, 1)}])
        if random.random() < 0.25:
            unit = True
            arguments["unit"] = random.choice(["user", [f"u{random.randrange(3)}" for _ in range(size)], [None] * size])
        if random.random() < 0.25:
            group = arguments["group"] = random.randint(2, 3)
        if random.random() < 0.2:
            arguments["outside"] = False
        if random.random() < 0.2:
            arguments["include_data"] = True
    elif random.random() < 0.6:
        options = {"relation": arguments["relation"], "count": random.choice([1, 3, 12])}
        try:
            pairs = dpaudit.neighbours_of(data, **options)
        except InputError:
            pairs = [(data, data)]
        plain = random.random() < 0.7
        arguments["pairs"] = [
            (pair.data, pair.neighbour) if plain and not isinstance(pair, tuple) else pair for pair in pairs
        ]
        if random.random() < 0.5:
            del arguments["relation"]
    else:
        arguments["pairs"] = [
            (SCALARS[random.choice([*SCALARS])](random), SCALARS[random.choice([*SCALARS])](random)) for _ in range(3)
        ]
        del arguments["relation"]
    if random.random() < 0.2:
        arguments["sequential"] = True
    if random.random() < 0.06:
        arguments["curve"] = True
    if random.random() < 0.1:
        arguments["float_bits"] = True
    if random.random() < 0.03:
        arguments |= {"n_jobs": 2, "backend": "threading"}
    if random.random() < 0.03:
        arguments["timeout"] = 5.0
    if random.random() < 0.03:
        arguments["time_limit"] = 5.0
    if random.random() < 0.03:
        arguments["time"] = True
    name = random.choice([*PRIVATE]) if random.random() < 0.45 else ""
    if not name:
        mechanism = random.choice(OTHERS)
        return Draw(f"{mechanism.__name__} of {dataset.__name__}", mechanism, arguments, False)
    # Noise for one record of a claim of 1: two differ where one replaces another, and sizes then do not.
    of_size = name in OF_SIZE
    loss = group if of_size else 0
    claimed = arguments.get("epsilon", 0.0)
    true = not of_size or (not unit and "data" in arguments and claimed >= loss)
    # A time may differ whatever the output is.
    true = true and "time" not in arguments
    return Draw(f"{name} of {dataset.__name__}", PRIVATE[name](1), arguments, true)


def outcome(seed: int) -> tuple[str, str]:
    """Return how the audit of a seed ends, "violation", "consistent", "no evidence", "refused" or "fault", and why."""
    drawn = draw(seed)
    words = f"{seed}: {drawn.name}, {', '.join(name for name in drawn.arguments)}"
    with warnings.catch_warnings():
        # Mechanisms warn of what they compute of infinities, as people's do.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ResourceWarning)
        try:
            finding = dpaudit.audit_privacy(drawn.mechanism, **grouped(**drawn.arguments))
            assert str(finding)
            assert finding.summary()
            assert dpaudit.PrivacyFinding.from_dict(finding.to_dict()).verdict == finding.verdict
        except InputError as error:
            return "refused", f"{words}: {error}"
        except Exception:
            return "fault", f"{words}\n{traceback.format_exc()}"
    verdict = str(finding.verdict)
    return "accused" if drawn.true and verdict == "violation" else verdict, words


def check(seeds: range) -> None:
    found: dict[str, list[str]] = collections.defaultdict(list)
    for seed in seeds:
        kind, words = outcome(seed)
        found[kind].append(words)
    print({kind: len(words) for kind, words in found.items()})
    assert not found["fault"], "\n".join(found["fault"])
    # By chance once in ten thousand shards if every audit of a private mechanism accused it as often as it may.
    assert binom.sf(len(found["accused"]) - 1, len(seeds), 1 - CONFIDENCE) > 1e-4, "\n".join(found["accused"])
    assert len(found["refused"]) < 0.6 * len(seeds)


def test_audits_end_in_a_verdict_or_an_input_error() -> None:
    check(range(QUICK))


@pytest.mark.full
@pytest.mark.parametrize("shard", range(SHARDS))
def test_many_audits_end_in_a_verdict_or_an_input_error(shard: int) -> None:
    """Run one part of many: `-k "shard and 17"` or `-k "input_error[17]"` runs it alone."""
    each = FULL // SHARDS
    check(range(QUICK + shard * each, QUICK + (shard + 1) * each))
