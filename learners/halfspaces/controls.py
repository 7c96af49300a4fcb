"""Halfspace and hull point learners with one known leak each."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpaudit.contract import Instance, Sample

from ..arrays import Bools, Integers
from ..controls import DOUBLED, SHORTCUT, SUPPORT, Fault, control, controls, fault, rate, some, top
from ..mechanisms.log_laws import placed
from .exponential import HalfspaceExponential
from .hull_point import HullPointExponential
from .hull_point_joint import HullPointJoint
from .hull_point_rec_concave import HullPointRecConcave
from .random_row import HullPointRandomRow
from .subsamples import Hit, Subsamples
from .tukey import HalfspaceTukey

SUBSAMPLES = Instance({"side": 1, "dimension": 1, "epsilon": 0.5, "subsamples": 3}, n=3)
FOUR = Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=4)
FOUR_RECURSIVE = Instance({**FOUR.parameters, "delta": 1e-6, "beta": 0.1}, n=4)


class _WholeSamples(Subsamples):
    def seen(self, sample: Sample, rng: np.random.Generator, runs: int) -> Bools:
        return np.ones((runs, self.subsamples, len(sample.labels)), dtype=np.bool_)

    def _hits(self, count: int) -> Iterator[Hit]:
        yield tuple(range(self.subsamples)), Fraction(1)


class _RefusingSubsamples(Subsamples):
    """A subsample without a consistent halfspace stops the run."""

    refuses = True


def _least(self: HullPointRandomRow, sample: Sample) -> tuple[Integers, Integers]:
    """Return the first point (1, d) in lexicographic order, with the weight of all."""
    points, counts = HullPointRandomRow._rows(self, sample)
    return points[:1], counts.sum(keepdims=True)[: len(points)]


# Larger grids are refused: which candidates are eligible is decided where they are listed.
LISTED = {"fractions": None, "lattice": None}
SEEN = SUPPORT.shown(Instance(FOUR.parameters, n=2), plane=None)


def _shallow(what: str, deepest: str) -> dict[str, Fault]:
    """Return the faults of never selecting what is shallow."""
    support = f"selects among {what} of positive depth alone: the support shows the convex hull"
    median = f"selects among the {deepest} alone: a Tukey median without noise"
    return {
        "support": fault(support, _eligible=lambda self, depths: some(depths > 0), **LISTED),
        "median": fault(median, _eligible=lambda self, depths: top(depths), **LISTED),
    }


HalfspaceRefusing = control(
    HalfspaceTukey,
    "broken-halfspace-refusing",
    SUBSAMPLES,
    fault="gives up where a subsample is inconsistent: failure shows that the sample is not realizable",
    _subsampling=_RefusingSubsamples,
)

LEARNERS = (
    *controls(
        HalfspaceExponential,
        "halfspace",
        doubled=DOUBLED,
        support=SEEN,
        shortcut=SHORTCUT.shown(None, plane=None),
    ),
    *controls(
        HalfspaceTukey,
        "halfspace",
        SUBSAMPLES,
        overlapping=fault(
            "subsamples overlap: one example changes every h_i",
            instance=Instance({"side": 1, "dimension": 1, "epsilon": 0.5, "subsamples": 8}, n=2),
            _subsampling=_WholeSamples,
        ),
        overspent=fault("releases the deep point with sixteen times the claimed epsilon", _spending=16.0),
    ),
    HalfspaceRefusing,
    *controls(
        HullPointExponential,
        "hull-point",
        FOUR,
        undivided=fault(
            "weights exp(epsilon Q) for every coordinate: neither halved nor divided over coordinates", _rate=rate(1)
        ),
        **_shallow("coordinates", "coordinates of greatest depth"),
    ),
    *controls(
        HullPointJoint,
        "hull-point-joint",
        FOUR,
        steep=fault(
            "weights exp(2 epsilon depth), not exp(epsilon depth/2): four times the claimed epsilon", _rate=rate(2)
        ),
        **_shallow("points", "deepest points"),
    ),
    *controls(
        HullPointRandomRow,
        "hull-point-random-row",
        lavish=fault(
            "releases each example with four times the delta: a rare point shows who was in the sample",
            _share=lambda self, n: min(4 * Fraction(self.delta), Fraction(1, max(1, n))),
        ),
        always=fault(
            "never fails: of few examples each is released with probability 1/n, more than delta",
            _share=lambda self, n: Fraction(1, max(1, n)),
        ),
        least=fault(
            "releases the least point in the place of a random one: one example decides which that is",
            _rows=_least,
            symmetries=lambda self: [],  # points have an order
        ),
    ),
    *controls(
        HullPointRecConcave,
        "hull-point",
        FOUR_RECURSIVE,
        overspent=fault("each coordinate spends four times the whole epsilon instead of epsilon/d", _spent=8),
        no_noise=fault(
            "returns the first deepest coordinate: the output is a function of the sample",
            _draw=lambda self, scores, axis, n, rng, size: np.full(size, scores.argmax(), dtype=np.int64),
            _log_law=lambda self, scores, *rest: (placed(len(scores), scores.argmax(), 0.0), 0.0),
        ),
        steep=fault(
            "takes 12 times the depth as its score: the sensitivity is 12, not 1",
            _draw=lambda self, scores, *rest: HullPointRecConcave._draw(self, 12 * scores, *rest),
            _log_law=lambda self, scores, *rest: HullPointRecConcave._log_law(self, 12 * scores, *rest),
        ),
    ),
)
