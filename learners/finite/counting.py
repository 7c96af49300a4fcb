"""Finite classes of concepts and their learners: numbers, lists, scores on a sample, and laws on the concepts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpaudit.contract import (
    FAIL,
    ConceptClass,
    HasSymmetries,
    Hypothesis,
    InputError,
    Law,
    PrivacyClaim,
    Sample,
    UtilityClaim,
)

from ..arrays import Integers
from ..domains import ENUMERABLE, Cube, Grid, Interval
from ..mechanisms.log_laws import placed
from ..parameters import check_integer, check_probability


class Numbered:
    """A class of concepts that are numbered 0 .. size - 1 and made by `concept(code)`."""

    @property
    def size(self) -> int:
        """The number of concepts."""
        raise NotImplementedError("a concept class has a size")

    def concept(self, code: int) -> Hypothesis:
        """Return the concept with that number."""
        raise NotImplementedError("a concept class makes its concepts")

    def enumerate(self) -> Iterator[Hypothesis]:
        """Yield all concepts in the order of their numbers; `InputError` if there are too many to list."""
        check_listable(self)
        return (self.concept(code) for code in range(self.size))

    def symmetries(self) -> list[Integers]:
        """Return generators of the permutations of the examples that permute the class; none by default."""
        return []


class ClassLearner:
    """A learner of a class of concepts, which gives it its domain, the meaning of its codes, and symmetries."""

    @property
    def concepts(self) -> Any:
        """The class that is learned."""
        raise NotImplementedError("a learner has a class of concepts")

    @property
    def domain(self) -> Interval | Cube | Grid:
        """The domain of the points."""
        domain: Interval | Cube | Grid = self.concepts.domain
        return domain

    def decode(self, code: Any) -> Hypothesis | None:
        """Return the concept with that number, None for `FAIL`."""
        return None if code == FAIL else self.concepts.concept(code)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the sample size of the first claim of `utility`."""
        return self.utility(alpha, beta).sample_size

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size."""
        raise NotImplementedError("a learner claims a sample size")

    def symmetries(self) -> list[Integers]:
        """Return the symmetries of the class."""
        if isinstance(self.concepts, HasSymmetries):
            return [*self.concepts.symmetries()]
        return []


def _pure(self: Any) -> PrivacyClaim:
    """Pure epsilon-differential privacy under replacement of one example."""
    return PrivacyClaim(self.epsilon, claim_id=self.claim_id, source=self.source)


pure_privacy = property(_pure)
"""The property `privacy` of a learner that spends its epsilon."""


# The setting of a theorem that promises that the answer solves a problem, not that its error is small.
SOLUTION = ("solution",)


def solution_utility(self: Any, alpha: float, beta: float, setting: str = "solution") -> UtilityClaim:
    """Return the claim that the answer is a solution with probability 1 - beta, for every sample of that size.

    It is the method `utility` of learners with the one setting `SOLUTION`, whose `_failure` says in words what happens
    where the answer is no solution.
    """
    if setting not in SOLUTION:
        raise InputError(f"setting must be solution, got {setting!r}: the theorem is not on errors")
    check_probability("alpha", alpha)
    size = self.sample_size(alpha, beta)
    return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source, self._failure)


def check_code(concepts: ConceptClass, code: int) -> None:
    """Raise `InputError` unless `code` numbers a concept of the class."""
    check_integer("code", code, 0, concepts.size - 1)


def check_listable(concepts: ConceptClass | Numbered) -> None:
    """Raise `InputError` if the class has more concepts than are ever listed."""
    if concepts.size > ENUMERABLE:
        raise InputError(f"{concepts} has {concepts.size} concepts, more than the {ENUMERABLE} that can be listed")


def as_codes(codes: list[int], size: int) -> Integers | list[int]:
    """Return codes below `size` as an int64 array, or as they are where they may be too large."""
    # The greatest code is size - 1, which is still an int64 at 2^63.
    return np.array(codes, dtype=np.int64) if size <= 2**63 else codes


# The number of labels that are evaluated at a time.
BLOCK = 2**24


@runtime_checkable
class CountsCorrect(Protocol):
    """A class that has a faster way to count the examples that each concept labels correctly."""

    def correct(self, sample: Sample) -> Integers:
        """Return the numbers, (size,), exactly."""


def scores(concepts: ConceptClass, sample: Sample) -> Integers:
    """Return how many examples each concept labels correctly, (size,), exactly.

    A class that counts them itself is asked; any other is evaluated on the distinct points.
    """
    if isinstance(concepts, CountsCorrect):
        return np.asarray(concepts.correct(sample), dtype=np.int64)
    total = np.zeros(concepts.size, dtype=np.int64)
    # In blocks of examples, so that a table of labels stays in memory whatever the sample.
    step = max(1, BLOCK // concepts.size)
    for start in range(0, len(sample.labels), step):
        part = slice(start, start + step)
        right = concepts.evaluate(sample.points[part]) == sample.labels[part]
        total += right.astype(np.int64) @ sample.counts[part]
    return total


def check_law_size(concepts: ConceptClass) -> None:
    """Raise `InputError` if the exact law of a learner of the class would list too many concepts."""
    if concepts.size > ENUMERABLE:
        most = f"at most {ENUMERABLE} concepts for the exact law"
        raise InputError(f"{concepts} must have {most}, got {concepts.size}; run the learner instead")


def point_law(atoms: Sequence[Hashable], atom: Hashable) -> Law:
    """Return the law that puts all mass on one atom; exact."""
    return Law(atoms, placed(len(atoms), atoms.index(atom), 0.0), 0.0)
