"""The score of each concept of a finite class on a sample, and laws on the concepts."""

from __future__ import annotations

import numpy as np

from dpaudit.contract import ConceptClass, InputError, Law, Sample
from learners.arrays import Integers
from learners.domains import ENUMERABLE
from learners.mechanisms.log_laws import placed

__all__ = ["check_law_size", "point_law", "scores"]

BLOCK = 2**24
"""The number of labels that are evaluated at a time."""


def scores(concepts: ConceptClass, sample: Sample) -> Integers:
    """Return how many examples each concept labels correctly, (size,), exactly.

    A class with its own method `correct(sample)` is asked; any other is evaluated on the distinct points.
    """
    if (correct := getattr(concepts, "correct", None)) is not None:
        return np.asarray(correct(sample), dtype=np.int64)
    total = np.zeros(concepts.size, dtype=np.int64)
    step = max(1, BLOCK // concepts.size)
    for start in range(0, len(sample.labels), step):
        part = slice(start, start + step)
        right = concepts.evaluate(sample.points[part]) == sample.labels[part]
        total += right.astype(np.int64) @ sample.counts[part]
    return total


def check_law_size(concepts: ConceptClass) -> None:
    """Raise `InputError` if the exact law of a learner of the class would list too many concepts."""
    if concepts.size > ENUMERABLE:
        raise InputError(f"{concepts} must have at most {ENUMERABLE} concepts for the exact law, got {concepts.size}; "
                         "run the learner instead")  # fmt: skip


def point_law(atoms: range, atom: int) -> Law:
    """Return the law that puts all mass on one atom; exact."""
    return Law(atoms, placed(len(atoms), atoms.index(atom), 0.0), 0.0)
