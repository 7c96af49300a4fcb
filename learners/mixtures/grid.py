"""The grid whose samples carry public flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Hypothesis
from learners.domains import Grid

__all__ = ["MixtureGrid"]


@dataclass(frozen=True)
class MixtureGrid(Grid):
    """A grid whose samples carry public flags: those given, else the label-determined ones (public iff labelled 0)."""

    def sample(self, points: Any, labels: Any, counts: Any = None, public: Any = None) -> Any:
        """Return the labelled multiset with its public flags."""
        flags = np.asarray(labels) == 0 if public is None else public
        return super().sample(points, labels, counts, flags)

    def draw(self, concept: Hypothesis, distribution: Distribution, n: int, rng: np.random.Generator) -> Any:
        """Draw n labelled examples; those labelled 0 are public."""
        plain = super().draw(concept, distribution, n, rng)
        return self.sample(plain.points, plain.labels, plain.counts)
