"""The greatest loss between the neighbours that share all examples but one: a star of laws."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.contract import Law, Relation
from dpaudit.errors import InputError
from dpaudit.exact.profiles import UNBOUNDED, LawTable
from dpaudit.exact.supremum.universe import Universe, Weights, plus
from dpaudit.progress import Tell

__all__ = ["Peak", "Star"]

Change = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Peak:
    """The greatest loss of a star.

    Parameters
    ----------
    weights : Weights
        The examples that all samples of the star share.
    left, right : Change
        What the sample on which the output is the likelier, and the other one, have besides.
    atom : Hashable
        The output.
    loss, error : float
        The logarithm of the ratio, and a bound on its error.
    """

    weights: Weights
    left: Change
    right: Change
    atom: Hashable
    loss: float
    error: float

    @property
    def safe(self) -> float:
        """The loss that is certain; what is compared, for errors grow with counts."""
        return self.loss - self.error


class Star:
    """The objective of a search: shared examples T -> the greatest loss between T + e and T + e', over all e and e'.

    With m examples to choose from, m laws give m (m - 1) pairs: for each output the greatest log-probability minus the
    least one. Under ADD_REMOVE_ONE the pairs are T and T + e instead.

    Parameters
    ----------
    universe : Universe
        The examples.
    relation : Relation
        The relation of neighbours.
    law : callable
        The law of a sample, or its limit along a ray.
    limits : bool
        Whether `law` gives limits.
    tell : callable, optional
        Is told of each law.
    """

    def __init__(
        self,
        universe: Universe,
        relation: Relation,
        law: Callable[[Any], Law],
        *,
        limits: bool = False,
        tell: Tell | None = None,
    ) -> None:
        self._universe, self._law, self._limits, self._tell = universe, law, limits, tell
        self._centred = relation is Relation.ADD_REMOVE_ONE
        self._changes: list[Change] = [((item, 1),) for item in universe.changed]
        if self._centred:
            self._changes.insert(0, ())
        self._known: dict[Weights, Peak | None] = {}
        self.laws = 0
        self.refusal: InputError | None = None
        self.numeric = False

    def __call__(self, weights: Weights) -> Peak | None:
        """Return the greatest loss of a star; None where a law refuses one of its samples."""
        if weights not in self._known:
            self._known[weights] = self._peak(weights)
        return self._known[weights]

    def _peak(self, weights: Weights) -> Peak | None:
        table = LawTable(len(self._changes), limits=self._limits)
        for change in self._changes:
            sample = self._universe.sample(plus(weights, change))
            try:
                table.add(self._law(sample), sample)
            except InputError as refusal:
                self.refusal = refusal
                return None
            self.laws += 1
            if self._tell is not None:
                self._tell(1)
        self.numeric |= table.grade == "numeric"
        loss, atom, left, right = self._centred_loss(table) if self._centred else _spread(table)
        error = float(table.error[left] + table.error[right])
        changes = self._changes[left], self._changes[right]
        return Peak(weights, *changes, table.atoms[atom], loss if loss < UNBOUNDED else np.inf, error)

    def _centred_loss(self, table: LawTable) -> tuple[float, int, int, int]:
        """Return the greatest loss between law 0 and another, its atom, and the two laws in their order."""
        losses = table.log_prob[0] - table.log_prob[1:]
        row, atom = np.unravel_index(np.abs(losses).argmax(), losses.shape)
        loss, other = float(losses[row, atom]), int(row) + 1
        return (loss, int(atom), 0, other) if loss >= 0 else (-loss, int(atom), other, 0)


def _spread(table: LawTable) -> tuple[float, int, int, int]:
    """Return the greatest loss between two laws of a table, its atom, and the two laws in their order."""
    logs = table.log_prob
    spread = logs.max(axis=0) - logs.min(axis=0)
    atom = int(spread.argmax())
    left, right = int(logs[:, atom].argmax()), int(logs[:, atom].argmin())
    # Where all laws are alike, any two samples will do, but they must be two.
    return float(spread[atom]), atom, left, right if right != left else (left + 1) % len(logs)
