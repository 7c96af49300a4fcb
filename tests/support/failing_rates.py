"""Failure rates of learners by brute force: all concepts, on many distributions of all points of a small domain."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np


def count_vectors(n: int, cells: int) -> np.ndarray:
    """Return all vectors of so many counts that add up to n."""
    return np.array([np.bincount(one, minlength=cells) for one in combinations_with_replacement(range(cells), n)])


def failures(learner: Any, alpha: float, n: int, masses: np.ndarray) -> np.ndarray:
    """Return the greatest failure rate over all concepts, for each distribution on the points of the domain."""
    points = learner.domain.points()
    counts = count_vectors(n, len(points))
    ways = [math.factorial(n) / math.prod(map(math.factorial, row)) for row in counts.tolist()]
    chances = np.array(ways) * np.prod(masses[:, None, :] ** counts[None, :, :], axis=2)
    worst = np.zeros(len(masses))
    predicted: dict[Any, np.ndarray] = {}
    for target in learner.concepts.evaluate(points):
        total = np.zeros(len(masses))
        for row, chance in zip(counts, chances.T, strict=True):
            seen = row > 0
            law = learner.law(learner.domain.sample(points[seen], target[seen], row[seen]))
            by_labels: dict[bytes, float] = {}
            for atom, log in zip(law.atoms, law.log_prob.tolist(), strict=True):
                # An output that is never made may be no hypothesis.
                if log == -math.inf:
                    continue
                if atom not in predicted:
                    predicted[atom] = np.asarray(learner.decode(atom).predict(points)).astype(np.uint8)
                key = predicted[atom].tobytes()
                by_labels[key] = by_labels.get(key, 0.0) + math.exp(log)
            rates = np.zeros(len(masses))
            for key, probability in by_labels.items():
                wrong = np.frombuffer(key, dtype=np.uint8) != target
                rates += probability * (masses @ wrong > alpha + 1e-12)
            total += chance * rates
        worst = np.maximum(worst, total)
    return worst
