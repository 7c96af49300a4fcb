"""Exact counts of a weighted sample on a line, and the check of a concept's number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import ConceptClass, InputError, Sample
from learners.domains import ENUMERABLE
from learners.parameters import check_integer

__all__ = ["check_code", "check_listable", "excess_of_ones"]


def check_code(concepts: ConceptClass, code: int) -> None:
    """Raise `InputError` unless `code` numbers a concept of the class."""
    check_integer("code", code, 0, concepts.size - 1)


def check_listable(concepts: ConceptClass) -> None:
    """Raise `InputError` if the class has more concepts than are ever listed."""
    if concepts.size > ENUMERABLE:
        raise InputError(f"{concepts} has {concepts.size} concepts, more than the {ENUMERABLE} that can be listed")


def excess_of_ones(sample: Sample, domain_size: int) -> tuple[int, NDArray[np.int64]]:
    """Return N_0, the number of negative examples, and n_1(x) - n_0(x) for every x in {0 .. domain_size - 1}.

    All sums are int64 and exact while the sample has fewer than 2^63 examples.
    """
    positive = sample.labels == 1
    excess = np.zeros(domain_size, dtype=np.int64)
    np.add.at(excess, sample.points[:, 0], np.where(positive, sample.counts, -sample.counts))
    return int(sample.counts[~positive].sum()), excess
