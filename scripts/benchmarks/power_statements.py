"""Plant leaks of exactly the size that findings promise to detect, and count the audits that detect them.

    python scripts/bench.py power_statements [--audits N] [--runs N] [--kinds KIND ...] [--shapes SHAPE ...] [--claim E]
                                             [--confidence C] [--nulls K] [--seed S] [--json]

A finding promises that an event of probability q on the unlikelier side, and exp(`detectable_epsilon`) q on the other
one, would have been detected with probability 0.95; q is the probability of the event that it tested first, which its
counts tell where nothing is planted. `frontier` says the same of other q, and `detectable_delta` is the least
probability of an event that is impossible on the other side.
For each kind of output the promise is that of the middle one of some audits with nothing planted, and the shapes are:

* atom: one value has probability exp(epsilon) q on the one side and q on the other;
* tail: all values above a threshold have together;
* shift: noise, exponential to the right, moves by one: the ratio is exp(epsilon) for a tail of probability q;
* rare atom: an atom with q = 0.001 and the epsilon of the frontier;
* rare key: outputs with one key, entry or type more, on one side alone, with probability `detectable_delta`.

At least 95 % are asked. Exit status: 1 if the 95 % interval (Clopper-Pearson) of a cell lies below that, else 0.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpaudit
from benchmarks.columns import line, positive
from benchmarks.power_kinds import ATOM, KINDS, RARE, Kind
from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.jsonable import jsonable

ASKED = 0.95
RARE_MASS = 0.001
SHAPES = ("atom", "tail", "shift", "rare atom", "rare key")
HEAD = ("kind", "shape", "mass", "epsilon", "detected", "share", "interval", "")
WIDTHS = (16, 11, 10, 10, 14, 8, 18, 12)


@dataclass(frozen=True)
class Leak:
    """A shape with its size: the mass of the event where it is unlikelier, and the log-ratio; inf: its other mass.

    Where `epsilon` is inf the event is impossible on the one side and has probability `mass` on the other one.
    """

    shape: str
    mass: float
    epsilon: float

    def likelier(self) -> float:
        """Return the probability of the event on the side where it is likelier."""
        return self.mass if math.isinf(self.epsilon) else self.mass * math.exp(self.epsilon)

    def places(self, side: int, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return places in [0, 1), which kinds turn into outputs, uniform but for the leak; or `ATOM` or `RARE`."""
        if self.shape == "shift":
            return self._shifted(side, rng, size)
        p = self.likelier() if side else 0.0 if math.isinf(self.epsilon) else self.mass
        inside = rng.random(size) < p
        places = rng.random(size)
        if self.shape == "tail":
            return np.asarray(np.where(inside, 1 - self.mass * (1 - places), (1 - self.mass) * places))
        return np.asarray(np.where(inside, RARE if self.shape == "rare key" else ATOM, places))

    def _shifted(self, side: int, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """Return places of noise that is above 0 with probability P and above 1 with exp(-epsilon) P = `mass`.

        The density falls from 0 at rate epsilon to the right and at rate epsilon P / (1 - P) to the left, where it is
        continuous; so P <= 1 / 2 keeps all log-ratios below epsilon.
        """
        above = self.likelier()
        left = self.epsilon * above / (1 - above)
        right = rng.random(size) < above
        noise = side + np.where(right, rng.exponential(1 / self.epsilon, size), -rng.exponential(1 / left, size))
        upper = 1 - above * np.exp(-self.epsilon * np.maximum(noise, 0))
        return np.asarray(np.where(noise < 0, (1 - above) * np.exp(left * np.minimum(noise, 0)), upper))


@dataclass(frozen=True)
class Planted:
    """A mechanism of some kind of output, with a leak or with none."""

    kind: Kind
    leak: Leak | None = None

    def __call__(self, side: int, rng: np.random.Generator, size: int) -> list[Any]:
        """Return `size` outputs."""
        places = rng.random(size) if self.leak is None else self.leak.places(side, rng, size)
        return [self.kind.output(place, rng) for place in places.tolist()]


@dataclass(frozen=True)
class Promise:
    """The sizes that a finding promises to detect; see the module."""

    epsilon: float
    mass: float
    delta: float
    frontier: dict[float, float]  # epsilon by mass

    @classmethod
    def of(cls, finding: dpaudit.PrivacyFinding) -> Promise:
        """Return what a finding says."""
        # Nothing is planted, so the event is as likely on both sides.
        hits = finding.tests[0].hits + finding.tests[0].neighbour_hits if finding.tests else 0
        mass = hits / (2 * finding.confirmation_trials)
        return cls(finding.detectable_epsilon, mass, finding.detectable_delta, dict(finding.frontier))

    def __str__(self) -> str:
        stated = ", ".join(f"{epsilon:.4f} at {mass:g}" for mass, epsilon in self.frontier.items())
        return f"{self.epsilon:.4f} at mass {self.mass:.4f} ({stated}), detectable delta {self.delta:.5f}"

    def leak(self, shape: str) -> Leak | None:
        """Return the leak of a shape of exactly the size that is promised, or None where nothing is.

        An event so likely that its complement leaks more is replaced by the likeliest of the frontier that is not.
        """
        if shape == "rare key":
            return Leak(shape, self.delta, math.inf) if self.delta <= 1 else None
        sizes = [(self.mass, self.epsilon), *sorted(self.frontier.items(), reverse=True)]
        if shape == "rare atom":
            sizes = [(RARE_MASS, self.frontier.get(RARE_MASS, math.inf))]
        fitting = [Leak(shape, q, e) for q, e in sizes if q > 0 and math.isfinite(e) and q * math.exp(e) <= 0.5]
        return fitting[0] if fitting else None


@dataclass(frozen=True)
class Cell:
    """The audits of a kind with a leak: how many detect it; `refusal` says why there are none."""

    kind: str
    shape: str
    promise: Promise | None = None
    leak: Leak | None = None
    audits: int = 0
    detected: int = 0
    refusal: str = ""

    def interval(self) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of the share that is detected, at 95 %."""
        low, high = (float(limit(self.detected, self.audits, 0.025)) for limit in (lower_limit, upper_limit))
        return low, high

    def below(self) -> bool:
        """Return whether less is detected than is asked."""
        return self.audits > 0 and self.interval()[1] < ASKED


def audit(mechanism: Planted, seed: int, options: argparse.Namespace) -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(
        mechanism,
        [(0, 1)],
        epsilon=options.claim,
        delta=0.0,
        trials=options.runs,
        confidence=options.confidence,
        seed=seed,
        batched=True,
    )


def promised(kind: Kind, options: argparse.Namespace) -> Promise:
    """Return the promise of the middle one of some audits of a kind with nothing planted."""
    seeds = range(options.seed, options.seed + options.nulls)
    promises = sorted((Promise.of(audit(Planted(kind), seed, options)) for seed in seeds), key=lambda p: p.epsilon)
    return promises[len(promises) // 2]


def measure(name: str, shape: str, promise: Promise, options: argparse.Namespace) -> Cell:
    """Return the cell of a kind and a shape."""
    kind = KINDS[name]
    cell = Cell(name, shape, promise, promise.leak(shape))
    if shape in ("tail", "shift") and not kind.ordered:
        return replace(cell, refusal="no order")
    if cell.leak is None:
        return replace(cell, refusal="not promised")
    # These seeds are others than those of the promise.
    first = options.seed + options.nulls
    findings = [audit(Planted(kind, cell.leak), first + i, options) for i in range(options.audits)]
    return replace(cell, audits=options.audits, detected=sum(f.verdict == "violation" for f in findings))


def cells_of(name: str, options: argparse.Namespace) -> Iterator[Cell]:
    """Yield the cells of a kind; all of them say so where its outputs are refused."""
    try:
        promise = promised(KINDS[name], options)
    except dpaudit.InputError:
        yield from (Cell(name, shape, refusal="refused") for shape in options.shapes)
        return
    if not options.json:
        print(f"{name}: detectable epsilon {promise}")
    yield from (measure(name, shape, promise, options) for shape in options.shapes)


def in_columns(cell: Cell) -> str:
    leak = cell.leak
    size = ["-", "-"] if leak is None else [f"{leak.mass:.5f}", f"{leak.epsilon:.4f}"]
    if not cell.audits:
        return line([cell.kind, cell.shape, *size, "-", "-", "-", cell.refusal], WIDTHS)
    low, high = cell.interval()
    shares = [f"{cell.detected} of {cell.audits}", f"{cell.detected / cell.audits:.3f}", f"[{low:.3f}, {high:.3f}]"]
    return line([cell.kind, cell.shape, *size, *shares, "BELOW" if cell.below() else "ok"], WIDTHS)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=positive, default=100, help="audits of each cell (default %(default)s)")
    parser.add_argument("--runs", type=positive, default=20_000, help="runs on each side (default %(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), help="as described in the module")
    parser.add_argument("--claim", type=float, default=0.5, help="the epsilon that is claimed (default %(default)s)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of each verdict (default %(default)s)")
    parser.add_argument("--nulls", type=positive, default=3, help="audits with nothing planted, for the promise")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    cells = []
    if not options.json:
        print(f"{options.runs:,} runs on each side, claim {options.claim:g}, confidence {options.confidence:g}")
        print(line(HEAD, WIDTHS), flush=True)
    for name in options.kinds:
        for cell in cells_of(name, options):
            cells.append(cell)
            if not options.json:
                print(in_columns(cell), flush=True)
    if options.json:
        print(json.dumps(jsonable([{**asdict(cell), "below": cell.below()} for cell in cells]), indent=2))
    return int(any(cell.below() for cell in cells))
