"""Discretizers by one feature of the screen: its cells as they are, or the bins of a real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpaudit.events.discretizers import Discretizer, ScoreBins
from dpaudit.events.event import Cells as CellsEvent
from dpaudit.events.event import Event, Interval
from dpaudit.events.feature_screening.feature import Cells, Feature
from dpaudit.events.feature_screening.float_support_gaps import samplers_of
from dpaudit.events.feature_screening.search import Parity, screen
from dpaudit.events.histogram import CellEvent
from dpaudit.events.ranked import Ranked
from dpaudit.events.scored import score_edges
from dpaudit.outputs import readers
from dpaudit.outputs.plan import Plan

__all__ = ["FeatureBins", "FeatureCells", "hole_discretizers", "screened_discretizers"]

KEPT = 3
"""Features of the screen that meet the fitted scores on runs that chose neither."""
MOST_HOLES = 8
"""Samplers whose holes are compared, of outputs of many floats."""
MANY = 6
"""More cells have an order by luck: sixty without a signal promised an epsilon of 0.3 of 50,000 runs, and gave 0."""


@dataclass(frozen=True)
class FeatureCells(Discretizer):
    """Takes the cells of a feature."""

    feature: Feature | Parity
    name: str
    screened = True

    def __call__(self, outputs: Any) -> Cells:
        """Return the cell of each output."""
        return self.feature(outputs)

    def describe(self, event: CellEvent) -> Event:
        """Return an event over the cells, each as a person would write it."""
        shown = sorted(str(self.feature.cell(code)) for code in event.inside if isinstance(code, int))
        return CellsEvent(self.name, (), tuple(shown), event.rare)


@dataclass(frozen=True)
class FeatureBins(ScoreBins):
    """Takes the bins of a real feature."""

    feature: Feature
    name: str
    edges: Any = field(repr=False)
    screened = True

    @property
    def midpoints(self) -> None:
        """Return None: the number of a feature estimates no ratio, and may be infinite where an output has none."""

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The column of reduced rows that the feature reads."""
        return (self.feature.index,) if self.feature.reduced else None

    def __call__(self, outputs: Any) -> Cells:
        """Return the bin of each output's number."""
        return np.searchsorted(self.edges, self.feature.real(outputs), side="right").astype(np.int64)

    def describe(self, event: CellEvent) -> Event:
        """Return an interval of the feature; of a number itself it is called by where it stands in the output."""
        found = super().describe(event)
        if not isinstance(found, Interval) or self.feature.kind != "value" or self.feature.reduced:
            return found
        where = self.feature.leaf.name
        return Interval("value" if where == "output" else where, found.low, found.high)


@dataclass(frozen=True)
class FeatureRanks(Ranked):
    """Takes the cells of a feature of many, in bins of their likelihood ratio on the runs that chose the feature."""

    screened = True

    def describe(self, event: CellEvent) -> Event:
        """Return an event over the cells themselves, each as a person would write it."""
        assert isinstance(self.base, FeatureCells)
        shown = sorted(str(self.base.feature.cell(int(str(cell)))) for cell, b in self.bins.items() if event.has(b))
        return CellsEvent(self.base.name, (), tuple(shown), event.has(self.middle))


def screened_discretizers(
    data: Sequence[Any], neighbour: Sequence[Any], confirm: int, *, epsilon: float, stored: bool | None, plan: Plan
) -> list[Discretizer]:
    """Return discretizers by the most promising features of training outputs.

    Parameters
    ----------
    data, neighbour : batch
        Training outputs.
    confirm : int
        Fresh runs a side to come.
    epsilon : float
        The claim.
    stored : bool
        Whether features of how values are stored take part; None for these alone.
    plan : Plan
        The leaves of the outputs.
    """
    found: list[Discretizer] = []
    for promising in screen(plan, data, neighbour, confirm, epsilon=epsilon, stored=stored)[:KEPT]:
        feature = promising.feature
        if isinstance(feature, Feature) and feature.ordered:
            pooled = np.concatenate([feature.real(side) for side in (data, neighbour)])
            found.append(FeatureBins(feature, feature.name, score_edges(pooled)))
        else:
            found.append(_of_cells(feature, data, neighbour))
    return found


def hole_discretizers(data: Sequence[Any], neighbour: Sequence[Any], plan: Plan) -> list[Discretizer]:
    """Return discretizers by the holes of the floating-point samplers that have made floats of training outputs."""
    found: list[Discretizer] = []
    for leaf in plan.leaves:
        if leaf.reader is readers.real and not leaf.representation and len(found) < MOST_HOLES:
            samplers = [sampler for side in (data, neighbour) for sampler in samplers_of(leaf.read(side)[0])]
            features = [Feature(leaf, sampler.feature, "holes") for sampler in dict.fromkeys(samplers)]
            found += [FeatureCells(feature, feature.name) for feature in features]
    return found


def _of_cells(feature: Feature | Parity, data: Sequence[Any], neighbour: Sequence[Any]) -> Discretizer:
    """Return the cells of a feature as they are; if they are many, ranked, for their order must meet other runs."""
    cells = FeatureCells(feature, feature.name)
    if len({*cells(data).tolist(), *cells(neighbour).tolist()}) <= MANY:
        return cells
    ranked = FeatureRanks.fit(cells, data, neighbour)
    return replace(ranked, name=feature.name)
