"""Checks the symmetries that a learner states, by which the exact audit shrinks its enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import Law
from dpaudit.neighbours.multisets import checked_permutation

__all__ = ["check_symmetry"]

Array = NDArray[np.float64]


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
    ours, theirs = _aligned(before), _aligned(after)
    epsilons = np.append(np.union1d(_sizes(*ours), _sizes(*theirs)), [0.0, 700.0])
    return all(
        bool((np.abs(_curve(*pair, epsilons) - _curve(*other, epsilons)) <= slack).all())
        for pair, other in ((ours, theirs), (ours[::-1], theirs[::-1]))
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


def _aligned(pair: tuple[Law, ...]) -> tuple[Array, Array]:
    """Return the log-probabilities of both laws over the atoms of either."""
    p, q = pair
    if p.atoms == q.atoms:
        return p.log_prob, q.log_prob
    tables = [dict(zip(law.atoms, law.log_prob.tolist(), strict=True)) for law in pair]
    atoms = list(dict.fromkeys([*tables[0], *tables[1]]))
    first, second = (np.array([table.get(atom, -np.inf) for atom in atoms]) for table in tables)
    return first, second


def _losses(p: Array, q: Array) -> Array:
    """Return the privacy loss of each atom, NaN where both laws exclude it."""
    with np.errstate(invalid="ignore"):
        return p - q


def _sizes(p: Array, q: Array) -> Array:
    """Return the absolute values of the finite losses."""
    losses = _losses(p, q)
    return np.abs(losses[np.isfinite(losses)])


def _curve(p: Array, q: Array, epsilons: Array) -> Array:
    """Return Pr[p, loss > e] - exp(e) Pr[q, loss > e], which is delta(e), at every e."""
    losses = _losses(p, q)
    kept = np.flatnonzero(losses > 0)
    falling = kept[np.argsort(-losses[kept], kind="stable")]
    above = np.searchsorted(-losses[falling], -epsilons, side="left")
    first, second = (np.append(0.0, np.cumsum(np.exp(side[falling])))[above] for side in (p, q))
    return np.asarray(first - np.exp(epsilons) * second)
