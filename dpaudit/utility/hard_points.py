"""Points at which a concept is hardest to tell from the others of its class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import ConceptClass

__all__ = ["HardPoint", "hard_points"]

MAX_LABELS = 2**22
"""Classes are evaluated whole up to this many labels (concepts times points), others at some concepts."""
SOME = 256
"""The number of concepts of a larger class that are tried, spread over the codes, besides the target's near codes."""


class HardPoint(NamedTuple):
    """A point at which a concept differs from its nearest rival.

    Attributes
    ----------
    hard, easy : int
        Rows of a point where the two differ, and of one where they agree.
    word : {"positive", "negative"}
        The concept's label of the hard point.
    distance : int
        On how many points the two differ.
    """

    hard: int
    easy: int
    word: str
    distance: int


def hard_points(concepts: ConceptClass, points: NDArray[Any], code: int) -> Iterator[HardPoint]:
    """Yield the hard points of a concept, at most one for each label, positive first.

    Parameters
    ----------
    concepts : ConceptClass
        The class; evaluated whole on the points if that gives at most 2^22 labels, else at some of its concepts.
    points : array, shape (m, k)
        The points among which they are looked for.
    code : int
        The concept.
    """
    own, rivals = _labels(concepts, points, code)
    differing = rivals != own
    sizes = differing.sum(axis=1)
    for label, word in ((1, "positive"), (0, "negative")):
        telling = (differing & (own == label)).any(axis=1) & (sizes < len(points))
        if telling.any():
            nearest = differing[np.argmin(np.where(telling, sizes, len(points) + 1))]
            hard, easy = np.flatnonzero(nearest & (own == label))[-1], np.flatnonzero(~nearest)[0]
            yield HardPoint(int(hard), int(easy), word, int(nearest.sum()))


def _labels(concepts: ConceptClass, points: NDArray[Any], code: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of one concept, (m,), and of the whole class or of some other concepts, (rivals, m)."""
    if concepts.size * len(points) <= MAX_LABELS:
        labels = concepts.evaluate(points)
        return labels[code], labels
    rivals = [concepts.concept(rival).predict(points) for rival in _some_codes(concepts.size, code)]
    return concepts.concept(code).predict(points), np.array(rivals)


def _some_codes(size: int, code: int) -> list[int]:
    """Return codes spread evenly over the class, and those near to `code` as numbers and as bit patterns."""
    spread = {i * (size - 1) // (SOME - 1) for i in range(SOME)}
    near = {code - 1, code + 1, *(code ^ (1 << bit) for bit in range(size.bit_length()))}
    return sorted(c for c in spread | near if 0 <= c < size and c != code)
