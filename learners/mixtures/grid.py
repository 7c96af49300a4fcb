"""The grid whose samples carry public flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Hypothesis
from learners.domains import Grid
from learners.parameters import check_integer

__all__ = ["MixtureGrid"]


@dataclass(frozen=True)
class MixtureGrid(Grid):
    """A grid whose samples carry public flags: those given, else the label-determined ones.

    Parameters
    ----------
    side, dimension : int
        The grid {0 .. side}^dimension.
    public_label : {0, 1}
        Without flags, examples with this label are public, all others private.
    """

    public_label: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("public_label", self.public_label, 0, 1)

    def sample(self, points: Any, labels: Any, counts: Any = None, public: Any = None) -> Any:
        """Return the labelled multiset with its public flags."""
        flags = np.asarray(labels) == self.public_label if public is None else public
        return super().sample(points, labels, counts, flags)

    def draw(self, concept: Hypothesis, distribution: Distribution, n: int, rng: np.random.Generator) -> Any:
        """Draw n labelled examples; public are those that the distribution says, else those with the public label."""
        plain = super().draw(concept, distribution, n, rng)
        return self.sample(plain.points, plain.labels, plain.counts, plain.public)
