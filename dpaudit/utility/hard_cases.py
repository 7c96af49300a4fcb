"""Hard cases for a utility audit, made from the concept class itself.

A theorem promises its bound for every concept and every distribution; an audit runs a few. These are chosen
so that a sample is likely to miss what tells the concept from its nearest rival: little probability, but more
than alpha, on a point where the two differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import ConceptClass, Distribution, Learner
from dpaudit.errors import InputError

__all__ = ["HardCase", "hard_cases"]

MAX_POINTS = 2**12
"""Domains up to this size are used whole; of larger ones the landmarks."""
MAX_LABELS = 2**22
"""Classes are evaluated whole up to this many labels (concepts times points), others at some concepts."""
SOME = 256
"""How many concepts of a larger class are spread over the codes, apart from the target's near codes."""


@dataclass(frozen=True)
class HardCase:
    """A concept and a distribution, with a name in words."""

    concept_code: int
    distribution: Distribution
    name: str


def hard_cases(learner: Learner, alpha: float) -> list[HardCase]:
    """Return adversarial (concept, distribution) pairs for a learner at accuracy alpha, in a fixed order.

    For the middle concept c of the class, and each label that c gives: the nearest rival (least symmetric
    difference D with c) that differs from c at a point with that label; that hard point has probability just
    above alpha, and one point where both agree has the rest. For the first of them also: the rest spread over
    all other points, and probabilities halving towards the hard point. The same two points for the last
    concept. The uniform distribution with the first, middle and last concept. Rivals differing at positive
    points come first: learners that look at positive examples only err there.

    Parameters
    ----------
    learner : Learner
        Its `domain` and `concepts` are used, nothing is run.
    alpha : float
        In (0, 1).
    """
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    whole = learner.domain.size <= MAX_POINTS
    points = learner.domain.points() if whole else learner.domain.landmarks()
    concepts = learner.concepts
    found: dict[tuple[int, bytes], HardCase] = {}
    uniform = "uniform" if whole else "uniform on landmarks"
    for code, weights, name in _candidates(concepts, points, alpha, uniform):
        seen = weights > 0
        law = Distribution(points[seen], weights[seen] / weights.sum(), name)
        word = {0: "first", concepts.size // 2: "middle"}.get(code, "last")
        found.setdefault((code, weights.tobytes()), HardCase(code, law, f"{name}; {word} concept"))
    return list(found.values())


_Candidate = tuple[int, NDArray[np.float64], str]


def _candidates(
    concepts: ConceptClass, points: NDArray[Any], alpha: float, uniform: str
) -> Iterator[_Candidate]:
    """Yield (code, weights of the points, name of the distribution), the hardest first, repeats included."""
    middle, last = concepts.size // 2, concepts.size - 1
    mass = alpha + min(alpha, 1 - alpha) / 1000
    for code, take in ((middle, 2), (last, 1)):
        hard_points = list(_hard_points(concepts, points, code))[:take]
        for hard, easy, label in hard_points:
            yield code, _two_point(len(points), hard, easy, mass), f"just above alpha on a {label} point"
        for hard, _, label in hard_points[:1] if code == middle else ():
            yield code, _spread(len(points), hard, mass), f"just above alpha on a {label} point, the rest spread"
            yield code, _halving(len(points), hard, alpha), f"probabilities halving towards a {label} point"
    for code in (0, middle, last):
        yield code, np.full(len(points), 1 / len(points)), uniform


def _hard_points(
    concepts: ConceptClass, points: NDArray[Any], code: int
) -> Iterator[tuple[int, int, str]]:
    """Yield (hard point, a point of agreement, "positive" or "negative") for each label that has a hard point."""
    own, rivals = _labels(concepts, points, code)
    differing = rivals != own
    sizes = differing.sum(axis=1)
    for label, word in ((1, "positive"), (0, "negative")):
        telling = (differing & (own == label)).any(axis=1) & (sizes < len(points))
        if telling.any():
            nearest = differing[np.argmin(np.where(telling, sizes, len(points) + 1))]
            yield int(np.flatnonzero(nearest & (own == label))[-1]), int(np.flatnonzero(~nearest)[0]), word


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


def _two_point(size: int, hard: int, easy: int, mass: float) -> NDArray[np.float64]:
    weights = np.zeros(size)
    weights[hard], weights[easy] = mass, 1 - mass
    return weights


def _spread(size: int, hard: int, mass: float) -> NDArray[np.float64]:
    weights = np.full(size, (1 - mass) / max(1, size - 1))
    weights[hard] = mass
    return weights


def _halving(size: int, hard: int, alpha: float) -> NDArray[np.float64]:
    """Return probabilities 1/2, 1/4, ... on the points nearest to the hard one, the hard one last and least.

    As many points as bring the least probability below alpha.
    """
    nearest = np.argsort(np.abs(np.arange(size) - hard), kind="stable")
    chosen = nearest[: min(size, math.ceil(math.log2(1 / alpha)) + 3)][::-1]
    weights = np.zeros(size)
    weights[chosen] = 2.0 ** -np.arange(1, len(chosen) + 1)
    return np.asarray(weights / weights.sum(), dtype=np.float64)
