"""Time audits of mechanisms by the kind of their outputs, as microseconds a run beside the mechanism alone.

    python scripts/bench_outputs.py [--runs N] [--repeat K] [--kinds KIND ...] [--forms FORM ...] [--seed S] [--json]

A figure is the CPU time of a whole audit, learning included, without that of the mechanism alone, over the runs on both
sides. It is also given as a multiple of the mechanism, and of the same figure for plain floats, which is measured in
the same run. The forms are `single`, one run a call, and `batch`, many runs a call. The aims are those of an idle core
at 100,000 runs: 3 microseconds a run and 0.1 a scalar, and for object arrays ten times their sampling. Nothing is
asserted.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from columns import line, positive
from numpy.typing import NDArray
from scipy import sparse

import dpaudit
from dpaudit.jsonable import jsonable
from dpaudit.seeding import generator

Rng: TypeAlias = np.random.Generator

CONFIDENCE = 0.95
CLAIM = 1.0
CHUNK = 10_000
BASELINE = "float"
FORMS = ("single", "batch")
HEAD = ("kind", "form", "scalars", "mechanism", "audit", "x mechanism", "x float", "aim")
WIDTHS = (16, 8, 9, 11, 11, 13, 10, 9)


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


def audited(mechanism: Callable[..., Any], form: str, runs: int, seed: int) -> float:
    """Return the CPU seconds of an audit."""
    batched = form == "batch"
    start = time.process_time()
    dpaudit.audit_privacy(
        mechanism, [(0, 1)], epsilon=CLAIM, delta=0.0, trials=runs, confidence=CONFIDENCE, seed=seed, batched=batched
    )
    return time.process_time() - start


def measure(name: str, form: str, runs: int, repeat: int, seed: int) -> dict[str, Any]:
    """Return the medians of a kind in a form, in microseconds a run; `audit` is None where the output is refused."""
    kind = KINDS[name]
    mechanism, micro = kind.mechanism(form), 1e6 / (2 * runs)
    pairs, refusal = [], None
    try:
        for i in range(repeat):
            own = alone(mechanism, form, runs, seed + i)
            pairs.append((own * micro, (audited(mechanism, form, runs, seed + i) - own) * micro))
    except dpaudit.InputError as error:
        refusal = str(error)
    own = statistics.median(pair[0] for pair in pairs) if pairs else own * micro
    audit = statistics.median(pair[1] for pair in pairs) if refusal is None else None
    aim = kind.aim(own)
    return {
        "kind": name, "form": form, "scalars": kind.scalars, "mechanism": own, "audit": audit, "aim": aim,
        "refusal": refusal,
    }  # fmt: skip


def in_columns(figures: dict[str, Any], baseline: float) -> str:
    """Return a line of the table; `baseline` is the figure of plain floats in the same form."""
    own, audit = figures["mechanism"], figures["audit"]
    ratios = ["refused", "-", "-"] if audit is None else [f"{v:.2f}" for v in (audit, audit / own, audit / baseline)]
    cells = [figures["kind"], figures["form"], str(figures["scalars"]), f"{own:.2f}", *ratios, f"{figures['aim']:.1f}"]
    return line(cells, WIDTHS)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=positive, default=100_000, help="runs on each side (default %(default)s)")
    parser.add_argument("--repeat", type=positive, default=3, help="repetitions; the median counts (default 3)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS), help="one run a call, or many")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; each repetition has its own (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    results = []
    # The first audit of a process that fits classifiers imports what audits need.
    audited(KINDS["array of 5"].batch, "batch", 5_000, options.seed)
    if not options.json:
        print(
            f"{options.runs:,} runs on each side; microseconds a run, median of {options.repeat}; baseline: {BASELINE}"
        )
        print(line(HEAD, WIDTHS), flush=True)
    for form in options.forms:
        first = measure(BASELINE, form, options.runs, options.repeat, options.seed)
        for name in [BASELINE, *(kind for kind in options.kinds if kind != BASELINE)]:
            again = (name, form, options.runs, options.repeat, options.seed)
            figures = first if name == BASELINE else measure(*again)
            results.append({**figures, "baseline": first["audit"]})
            if not options.json:
                print(in_columns(figures, first["audit"]), flush=True)
    if options.json:
        print(json.dumps(jsonable({"runs": options.runs, "repeat": options.repeat, "figures": results}), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
