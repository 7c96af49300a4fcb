"""Mixture learners with one known leak each, about the private examples."""

from __future__ import annotations

import numpy as np

from dpaudit.contract import Instance, Sample

from ..arrays import Bools, Integers
from ..controls import controls, fault, rate, top
from .halfspace import MixtureHalfspace

# On a line the crafted samples have private points beyond the public ones, where behaviours part.
ON_A_LINE = Instance({"dimension": 1, "epsilon": 1.0, "side": 4}, n=6, exhaustive=False)


def _first_of_each(self: MixtureHalfspace, sample: Sample, errors: Integers) -> Bools:
    """Return which hypotheses are the first of those that label the sample alike."""
    points = np.unique(sample.points.astype(np.int64), axis=0)
    first: dict[bytes, int] = {}
    for index, code in enumerate(self.codes(self.family(sample), np.arange(len(errors)))):
        first.setdefault(self.decode(code).predict(points).tobytes(), index)
    return np.isin(np.arange(len(errors)), list(first.values()))


LEARNERS = controls(
    MixtureHalfspace,
    "mixture",
    doubled=fault("weights exp(-epsilon errors): up to twice the claimed epsilon", _rate=rate(1)),
    distinct=fault(
        "keeps one hypothesis for each behaviour on the sample: behaviours show private points",
        instance=ON_A_LINE,
        _lists=True,
        _eligible=_first_of_each,
    ),
    all_points=fault(
        "builds the halfspaces from private points as well: their coordinates are in the output",
        _spanning=lambda self, sample: np.asarray(sample.points, dtype=np.int64),
    ),
    shortcut=fault(
        "chooses among the hypotheses with the fewest errors alone: one private example shows",
        instance=ON_A_LINE,
        _lists=True,
        _eligible=lambda self, sample, errors: top(-errors),
    ),
)
