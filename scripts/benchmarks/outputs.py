"""Time audits of mechanisms by the kind of their outputs, as microseconds a run beside the mechanism alone.

    python scripts/bench.py outputs [--runs N] [--repeat K] [--kinds KIND ...] [--forms FORM ...] [--against REVISION]

A figure is the CPU time of a whole audit, learning included, without that of the mechanism alone, over the runs on both
sides. It is also given as a multiple of the mechanism, and of the same figure for plain floats, which is measured in
the same run. The forms are `single`, one run a call, and `batch`, many runs a call. The aims are those of an idle core
at 100,000 runs: 3 microseconds a run and 0.1 a scalar, and for object arrays ten times their sampling. Nothing is
asserted. With a git revision to compare with, its package is loaded into the same process, and both audit by turns:
then the ratio of the new figure to the old one is given, the median over the repetitions. The head of the table has the
time of an empty call that draws one number, by which figures of two machines can be compared.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

import dpaudit
from benchmarks.columns import line, positive
from dpaudit.jsonable import jsonable
from dpaudit.seeding import generator

Rng: TypeAlias = np.random.Generator

CONFIDENCE = 0.95
CLAIM = 1.0
CHUNK = 10_000
BASELINE = "float"
FORMS = ("single", "batch")
HEAD = ("kind", "form", "scalars", "mechanism", "audit", "x mechanism", "x float", "aim", "before", "x before")
WIDTHS = (16, 8, 9, 11, 11, 13, 10, 9, 9, 10)
EMPTY = 200_000
"""Calls that show how long an empty one takes."""


class Colour(enum.Enum):
    """A colour, as an output."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"
    GREY = "grey"


@dataclasses.dataclass(frozen=True)
class Point:
    """A named point, as an output."""

    name: str
    place: tuple[float, float]


COLOURS = np.array(list(Colour), dtype=object)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of output, and a mechanism in both forms.

    Parameters
    ----------
    scalars : int
        The numbers and categories in an output.
    batch : callable
        ``(x, rng, size) -> size outputs``.
    single : callable, optional
        ``(x, rng) -> output``; by default the only output of a batch of one.
    objects : bool
        Whether it is an object array, whose aim is a multiple of its sampling.
    """

    scalars: int
    batch: Callable[[int, Rng, int], Any]
    single: Callable[[int, Rng], Any] | None = None
    objects: bool = False

    def mechanism(self, form: str) -> Callable[..., Any]:
        """Return the mechanism of a form, as an audit takes it."""
        if form == "batch":
            return self.batch
        return self.single or (lambda x, rng: self.batch(x, rng, 1)[0])

    def aim(self, alone: float) -> float:
        """Return the microseconds a run that are aimed at, beside a mechanism that takes `alone`."""
        return 10 * alone if self.objects else 3 + 0.1 * self.scalars


def table(x: int, rng: Rng, size: int, width: int) -> NDArray[np.float64]:
    """Return rows of normal numbers, the last of which are moved by x."""
    rows = rng.normal(size=(size, width))
    rows[:, -1] += x
    return rows


def colours(x: int, rng: Rng, size: tuple[int, ...]) -> NDArray[np.object_]:
    """Return members of an enumeration, of which the last one is likelier where x is 1."""
    return np.asarray(COLOURS[np.minimum(rng.integers(4 + x, size=size), 3)])


def row(x: int, rng: Rng, width: int) -> NDArray[np.float64]:
    values = rng.normal(size=width)
    values[-1] += x
    return values


def arrays(width: int) -> Kind:
    return Kind(width, lambda x, rng, size: table(x, rng, size, width), lambda x, rng: row(x, rng, width))


def rows(width: int, make: Callable[[list[float]], Any]) -> Kind:
    """Return the kind whose outputs are made of rows of numbers, one by one."""
    return Kind(
        width,
        lambda x, rng, size: [make(values) for values in table(x, rng, size, width).tolist()],
        lambda x, rng: make(row(x, rng, width).tolist()),
    )


def each(scalars: int, single: Callable[[int, Rng], Any]) -> Kind:
    """Return the kind of a mechanism that is run one by one, in batches too."""
    return Kind(scalars, lambda x, rng, size: [single(x, rng) for _ in range(size)], single)


def sparse_row(x: int, rng: Rng) -> Any:
    columns = np.sort(rng.integers(0, 99, 5)) + np.arange(5) + x
    return sparse.csr_matrix((rng.normal(size=5), columns, [0, 5]), shape=(1, 128))


def frame(x: int, rng: Rng) -> pd.DataFrame:
    return pd.DataFrame({"size": rng.integers(9, size=4), "mean": rng.normal(x, 1, 4)})


KINDS: dict[str, Kind] = {
    "int": Kind(1, lambda x, rng, size: x + rng.geometric(0.5, size), lambda x, rng: int(x + rng.geometric(0.5))),
    "large int": Kind(
        1,
        lambda x, rng, size: rng.integers(10**6, size=size) + 10**5 * x,
        lambda x, rng: int(rng.integers(10**6)) + 10**5 * x,
    ),
    "float": Kind(1, lambda x, rng, size: x + rng.laplace(size=size), lambda x, rng: x + rng.laplace()),
    "tuple of five": rows(5, tuple),
    "dict of three": rows(3, lambda values: dict(zip("abc", values, strict=True))),
    "array of 5": arrays(5),
    "array of 100": arrays(100),
    "array of 300": arrays(300),
    "list of 20": rows(20, list),
    "nested": rows(4, lambda v: {"rows": [(v[0], [v[1]])], "meta": (v[2], v[3])}),
    "text": rows(1, lambda v: f"value {v[0]:.3f}"),
    "enum": Kind(
        1,
        lambda x, rng, size: list(colours(x, rng, (size,))),
        lambda x, rng: COLOURS[min(int(rng.integers(4 + x)), 3)],
    ),
    "dataclass": rows(3, lambda v: Point("north" if v[0] > 0 else "south", (v[1], v[2]))),
    "Fraction": Kind(
        1,
        lambda x, rng, size: [Fraction(n, 4096) for n in rng.integers(4096 * x, 4096 * (x + 2), size).tolist()],
    ),
    "eight enums": Kind(8, lambda x, rng, size: colours(x, rng, (size, 8)), objects=True),
    "eight floats": Kind(8, lambda x, rng, size: table(x, rng, size, 8).astype(object), objects=True),
    "sparse": each(10, sparse_row),
    "DataFrame": each(8, frame),
}


def alone(mechanism: Callable[..., Any], form: str, runs: int, seed: int) -> float:
    """Return the CPU seconds of the mechanism by itself, for the runs on both sides."""
    rng = generator(seed, "bench-outputs")
    start = time.process_time()
    for x in (0, 1):
        if form == "single":
            for _ in range(runs):
                mechanism(x, rng)
        else:
            for done in range(0, runs, CHUNK):
                mechanism(x, rng, min(CHUNK, runs - done))
    return time.process_time() - start


class Package:
    """A version of the package: all its modules, of which one version at a time is imported.

    The one that stands in the repository, or, given a git revision, that one, exported to a folder.
    """

    def __init__(self, revision: str | None = None, folder: str = "") -> None:
        self.modules = dict(_modules())
        if revision is not None:
            root = Path(__file__).resolve().parents[2]
            archive = subprocess.run(
                ["git", "archive", "--format=tar", revision, "dpaudit"], cwd=root, check=True, stdout=subprocess.PIPE
            )
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            self.modules = {}
            self.use()
            sys.path.insert(0, folder)
            importlib.import_module("dpaudit")
            self.modules = dict(_modules())
            sys.path.remove(folder)

    def use(self) -> None:
        """Let imports, those within functions too, find this version's modules."""
        for name in _modules():
            del sys.modules[name]
        sys.modules.update(self.modules)

    def audited(self, mechanism: Callable[..., Any], form: str, runs: int, seed: int) -> float:
        """Return the CPU seconds of an audit."""
        self.use()
        given: dict[str, Any] = {"epsilon": CLAIM, "delta": 0.0, "trials": runs, "confidence": CONFIDENCE, "seed": seed}
        start = time.process_time()
        try:
            self.modules["dpaudit"].audit_privacy(mechanism, [(0, 1)], batched=form == "batch", **given)
        except ValueError as error:  # `InputError` is one in each version
            raise dpaudit.InputError(str(error)) from error
        finally:
            spent = time.process_time() - start
            self.modules |= _modules()
        return spent


def _modules() -> dict[str, Any]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "dpaudit"}


def empty_call() -> float:
    """Return the microseconds of a call that draws one number, as a mechanism does."""
    rng = generator(0, "bench-outputs")
    mechanism = lambda x, rng: rng.random()  # noqa: E731
    start = time.process_time()
    for _ in range(EMPTY):
        mechanism(0, rng)
    return (time.process_time() - start) * 1e6 / EMPTY


def measure(name: str, form: str, runs: int, repeat: int, seed: int, versions: Sequence[Package]) -> dict[str, Any]:
    """Return the medians of a kind in a form, in microseconds a run; `audit` is None where the output is refused.

    The first of the versions is what is measured, a second one what it is compared with.
    """
    kind = KINDS[name]
    mechanism = kind.mechanism(form)
    micro = 1e6 / (2 * runs)
    made: list[list[float]] = []
    refusal = None
    try:
        for i in range(repeat):
            own = alone(mechanism, form, runs, seed + i)
            times = [version.audited(mechanism, form, runs, seed + i) - own for version in versions]
            made.append([own * micro, *(spent * micro for spent in times)])
    except dpaudit.InputError as error:
        refusal = str(error)
    own = statistics.median(times[0] for times in made) if made else own * micro
    done = refusal is None
    both = done and len(versions) > 1
    return {
        "kind": name, "form": form, "scalars": kind.scalars, "mechanism": own,
        "audit": statistics.median(times[1] for times in made) if done else None, "aim": kind.aim(own),
        "before": statistics.median(times[2] for times in made) if both else None,
        "ratio": statistics.median(times[1] / times[2] for times in made) if both else None, "refusal": refusal,
    }  # fmt: skip


def in_columns(figures: dict[str, Any], baseline: float) -> str:
    """Return a line of the table; `baseline` is the figure of plain floats in the same form."""
    own = figures["mechanism"]
    audit = figures["audit"]
    ratios = ["refused", "-", "-"] if audit is None else [f"{v:.2f}" for v in (audit, audit / own, audit / baseline)]
    cells = [figures["kind"], figures["form"], str(figures["scalars"]), f"{own:.2f}", *ratios, f"{figures['aim']:.1f}"]
    cells += ["-" if figures[key] is None else f"{figures[key]:.2f}" for key in ("before", "ratio")]
    return line(cells, WIDTHS)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=positive, default=100_000, help="runs on each side (default %(default)s)")
    parser.add_argument("--repeat", type=positive, default=3, help="repetitions; the median counts (default 3)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS), help="one run a call, or many")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; each repetition has its own (default 0)")
    parser.add_argument("--against", metavar="REVISION", help="a git revision whose package audits by turns")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    with tempfile.TemporaryDirectory() as folder:
        versions = [Package(), *([Package(options.against, folder)] if options.against else [])]
        try:
            return compare(options, versions)
        finally:
            versions[0].use()


def compare(options: argparse.Namespace, versions: Sequence[Package]) -> int:
    """Measure all kinds in all forms, and print what was measured."""
    results = []
    # The first audit of a process that fits classifiers imports what audits need.
    for version in versions:
        version.audited(KINDS["array of 5"].batch, "batch", 5_000, options.seed)
    empty = empty_call()
    if not options.json:
        print(
            f"{options.runs:,} runs on each side; microseconds a run, median of {options.repeat}; baseline: {BASELINE}"
        )
        print(f"an empty call takes {empty:.2f}")
        print(line(HEAD, WIDTHS), flush=True)
    for form in options.forms:
        first = measure(BASELINE, form, options.runs, options.repeat, options.seed, versions)
        for name in [BASELINE, *(kind for kind in options.kinds if kind != BASELINE)]:
            again = (name, form, options.runs, options.repeat, options.seed, versions)
            figures = first if name == BASELINE else measure(*again)
            results.append({**figures, "baseline": first["audit"]})
            if not options.json:
                print(in_columns(figures, first["audit"]), flush=True)
    if options.json:
        found = {"runs": options.runs, "repeat": options.repeat, "empty call": empty, "figures": results}
        print(json.dumps(jsonable(found), indent=2))
    return 0
