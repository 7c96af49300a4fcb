"""Checks the symmetries that a learner states, by which the exact audit shrinks its enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Law
from dpaudit.neighbours.exhaustive import checked_permutation

__all__ = ["check_symmetry"]


def check_symmetry(learner: Any, sample: Any, neighbour: Any, permutation: Any) -> bool:
    """Say whether a permutation of the examples keeps what the laws of two samples tell apart.

    The exact audit looks at one pair of each orbit, so epsilon and delta must be functions of the orbit: for every e,
    sum over o of (Pr[A(S) = o] - exp(e) Pr[A(S') = o])_+ must be the same for (S, S') and for its image, in both
    directions, to within the laws' errors. That single laws are the same up to names of atoms is not enough: the names
    could differ between S and S'.

    Parameters
    ----------
    learner : Learner
        With `law`.
    sample, neighbour : Sample
        The pair.
    permutation : array, shape (2 * domain size,)
        Example (x_i, y) is number 2 i + y.
    """
    before = learner.law(sample), learner.law(neighbour)
    after = tuple(learner.law(_moved(learner.domain, side, permutation)) for side in (sample, neighbour))
    slack = 4 * sum(law.error for law in (*before, *after)) + 1e-12
    return all(
        abs(ours - theirs) <= slack for ours, theirs in zip(_curves(before, after), _curves(after, before), strict=True)
    )


def _moved(domain: Any, sample: Any, permutation: Any) -> Any:
    """Return the sample with each example replaced by its image."""
    if not len(sample.counts):
        return sample
    where = {tuple(int(v) for v in x): i for i, x in enumerate(domain.points())}
    examples = zip(sample.points, sample.labels, strict=True)
    index = [2 * where[tuple(int(v) for v in x)] + int(y) for x, y in examples]
    image = checked_permutation(permutation, 2 * domain.size)[np.array(index, dtype=np.int64)]
    return domain.sample(domain.points()[image // 2], image % 2, sample.counts)


def _curves(pair: tuple[Law, ...], other: tuple[Law, ...]) -> Iterator[float]:
    """Yield delta(e) of a pair, in both directions, at every loss of either pair."""
    (p, q), (r, s) = _aligned(pair), _aligned(other)
    with np.errstate(invalid="ignore"):
        losses = np.concatenate([p - q, r - s])
    at = np.unique(np.abs(losses[np.isfinite(losses)]))
    for e in np.concatenate([at, [0.0, 700.0]]):
        for first, second in ((p, q), (q, p)):
            yield float(np.maximum(np.exp(first) - np.exp(np.minimum(e + second, 700.0)), 0.0).sum())


def _aligned(pair: tuple[Law, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-probabilities of both laws over the atoms of either."""
    tables = [dict(zip(law.atoms, law.log_prob.tolist(), strict=True)) for law in pair]
    atoms = list(dict.fromkeys([*tables[0], *tables[1]]))
    first, second = (np.array([table.get(atom, -np.inf) for atom in atoms]) for table in tables)
    return first, second
