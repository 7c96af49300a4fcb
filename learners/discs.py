"""Unions of discs by linearisation: halfspaces over the lifted points (x, y, x^2 + y^2) (KMMS, Section 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Example, Hypothesis, InputError
from learners.concepts.counting import Numbered, check_code
from learners.concepts.polygons import Union
from learners.covers.regions import Listed, RegionCover
from learners.domains import Grid
from learners.geometry.halfspace_dichotomies import halfspace_dichotomies
from learners.geometry.pictures import error_share
from learners.parameters import check_integer

__all__ = ["LEARNERS", "MAX_DISC_SIDE", "Disc", "DiscUnion", "Discs", "lifted"]

MAX_DISC_SIDE = 3
"""The largest side whose labellings by discs are listed."""


def lifted(points: NDArray[Any]) -> NDArray[Any]:
    """Return (x, y, x^2 + y^2) for points (m, 2), (m, 3)."""
    x, y = points[:, 0], points[:, 1]
    return np.stack([x, y, x * x + y * y], axis=1)


@dataclass(frozen=True)
class Disc:
    """f(x, y) = 1 iff u x + v y + w (x^2 + y^2) >= t: a disc for w < 0, its complement for w > 0, else a halfplane."""

    u: int
    v: int
    w: int
    t: int

    def predict(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels of points (m, 2), exactly."""
        normal = np.array([self.u, self.v, self.w], dtype=object)
        heights = lifted(np.asarray(points).astype(object)) @ normal
        return np.asarray(heights >= self.t, dtype=np.uint8)


@lru_cache(maxsize=4)
def _discs(side: int) -> tuple[NDArray[np.uint8], tuple[Disc, ...]]:
    found = halfspace_dichotomies(lifted(Grid(side, 2).points()))
    return np.array(list(found), dtype=np.uint8), tuple(Disc(*functional) for functional in found.values())


@dataclass(frozen=True)
class Discs(Numbered):
    """The labellings of {0 .. side}^2 by halfspaces over the lifted points, in lexicographic order; side at most 3.

    These are discs, their complements, and halfplanes: linearisation learns all of them together.
    """

    side: int

    def __post_init__(self) -> None:
        check_integer("side", self.side, 1, MAX_DISC_SIDE)

    @property
    def size(self) -> int:
        """How many labellings there are."""
        return len(_discs(self.side)[1])

    def evaluate(self, points: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the labels (size, m) of points (m, 2) of the grid."""
        rows = points[:, 0].astype(np.int64) * (self.side + 1) + points[:, 1].astype(np.int64)
        return _discs(self.side)[0][:, rows]

    def concept(self, code: int) -> Disc:
        """Return the disc with that number."""
        check_code(self, code)
        return _discs(self.side)[1][int(code)]


@dataclass(frozen=True)
class DiscUnion(RegionCover):
    """Unions of at most k discs: cover the positives by discs, spare the negatives.

    The discs are halfspaces over the lifted points, one for each labelling of the grid, with equal measure (the plain
    exponential mechanism on a finite class), so side is at most 3. Utility is claimed for targets that are one of
    `concepts`: any of them is a union of k regions. See `region_cover.RegionCover`.
    """

    id: ClassVar[str] = "disc-union"
    example: ClassVar[Example] = Example(
        {"side": 1, "k": 1, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.49, "beta": 0.2}, n=2, alpha=0.99, beta=0.5
    )
    _covered_label: ClassVar[int] = 1
    _theorem: ClassVar[tuple[str, str]] = ("KMMS-Thm3.2", "Theorem 3.2 and Section 6, linearisation,")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.side > MAX_DISC_SIDE:
            raise InputError(f"side must be at most {MAX_DISC_SIDE} to list the discs, got {self.side}")

    @property
    def concepts(self) -> Discs:
        """The regions themselves; unions of k of them are learned as well."""
        return Discs(self.side)

    @property
    def _log_ratio(self) -> float:
        return math.log(self.concepts.size)

    @property
    def _log_behaviours(self) -> float:
        return math.log(self.concepts.size)

    def listed(self) -> Listed:
        """Return the discs with equal measure."""
        labels = _discs(self.side)[0]
        return Listed(labels, np.zeros(len(labels)))

    def _member(self, code: int) -> Disc:
        return _discs(self.side)[1][code]

    def _join(self, members: tuple[Hypothesis, ...]) -> Union:
        return Union(members)

    def picture(self, sample: Any, codes: Any) -> dict[str, Any]:
        """Return {"side", "points", "hypotheses"}: as `geometry.pictures`, with "discs" [u, v, w, t] for polygons."""
        rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True)
        unions = [self.decode(code) for code in codes]
        return {
            "side": self.side,
            "points": [{"x": x, "y": y, "label": label, "count": count} for (x, y), label, count in rows],
            "hypotheses": [
                {
                    "error": error_share(sample, union),
                    "discs": [[d.u, d.v, d.w, d.t] for d in union.parts],  # type: ignore[attr-defined]
                }
                for union in unions
            ],
        }


LEARNERS = (DiscUnion,)
