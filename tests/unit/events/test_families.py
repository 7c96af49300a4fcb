"""The choice of an event has its worth on fresh runs, by exact laws: the share of what the best event would give."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from dpaudit.events.discretizers import Discretizer, Identity, ScoreBins
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.prefixes import likelier_first
from dpaudit.events.selected import OrderedCells

Z = 1.6448536


def _worth(p: float, q: float, confirm: int) -> float:
    """Return the bound that an event of masses p and q can be expected to give."""
    if min(p, q) <= 0 or max(p, q) >= 1:
        return 0.0
    return max(0.0, math.log(p / q) - Z * math.sqrt((1 - p) / (confirm * p) + (1 - q) / (confirm * q)))


def _best(p: np.ndarray, q: np.ndarray, confirm: int) -> float:
    worth = []
    for a, b in ((p, q), (q, p)):
        order = np.argsort(-a / b, kind="stable")
        worth += [_worth(x, y, confirm) for x, y in zip(np.cumsum(a[order]), np.cumsum(b[order]), strict=True)]
    return max(worth)


class _Column(ScoreBins):
    """Bins of a column as it is, which estimates no ratio."""

    name, edges = "column", np.zeros(0)


def _reached(p: np.ndarray, q: np.ndarray, trained: int, ordered: bool, careful: bool) -> float:
    """Return the mean share of the best event's worth over 20 choices."""
    rng, confirm, shares = np.random.default_rng(0), 4 * trained, []
    discretizer: Discretizer = _Column() if ordered else Identity()
    for _ in range(20):
        data, neighbour = (Counter(dict(enumerate(rng.multinomial(trained, mass).tolist()))) for mass in (p, q))
        families = OrderedCells.of(discretizer, (data, neighbour), careful=careful)
        found = families.best(PlannedTest(confirm, 0, 0.05))
        inside = sorted(found.event.inside)
        shares.append(_worth(*likelier_first(found.direction, p[inside].sum(), q[inside].sum()), confirm))
    return float(np.mean(shares)) / _best(p, q, confirm)


def _law(ratio: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p, q = mass * np.exp(ratio / 2), mass * np.exp(-ratio / 2)
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize(
    ("atoms", "strength", "more"), [(11, 0.05, -0.02), (50, 0.05, 0.04), (200, 0.05, 0.3), (200, 0.3, -0.02)]
)
def test_among_many_weak_atoms_a_shared_prior_is_worth_more_than_counts(
    atoms: int, strength: float, more: float
) -> None:
    rng = np.random.default_rng(4)
    mass = rng.dirichlet(np.full(atoms, 0.5)) + 1e-5
    law = _law(rng.uniform(-strength, strength, atoms), mass / mass.sum())
    careful, plain = (_reached(*law, 250_000, False, flag) for flag in (True, False))
    assert careful > plain + more


def test_along_a_score_a_saturated_ratio_is_taken_whole_and_a_rising_one_at_its_end() -> None:
    position = np.linspace(-4, 4, 200)
    mass = np.exp(-(position**2) / 2)
    mass /= mass.sum()
    saturated = _law(np.clip(position, -0.5, 0.5) * 0.2, mass)
    assert _reached(*saturated, 250_000, True, True) > 0.93
    rising = _law(0.1 * position, mass)
    assert _reached(*rising, 250_000, True, True) > 0.75
    assert _reached(*rising, 250_000, True, True) > _reached(*rising, 250_000, True, False) - 0.02


def test_with_few_runs_a_saturated_ratio_is_taken_whole_too() -> None:
    # Laplace noise of scale 0.9 on values 1 apart: the ratio saturates at both ends, where luck makes it look as if it
    # rose. With steps as likely there as anywhere the shares are 0.983 and 0.997.
    position = np.linspace(-4, 5, 200)
    near, far = np.abs(position), np.abs(position - 1)
    law = _law((near - far) / 0.9, np.exp(-(near + far) / 1.8))
    assert _reached(*law, 1300, True, True) > 0.987
    assert _reached(*law, 5200, True, True) > 0.987
