"""Walks that are fitted in step have the numbers of walks that are fitted alone, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack

from dpaudit.events.random_walk import fit_walk, fit_walks


def counts(runs: int, columns: int, spread: float) -> np.ndarray:
    rng = np.random.default_rng([runs, columns])
    return np.array([[rng.multinomial(runs, rng.dirichlet(np.full(64, spread))) for _ in range(columns)]
                     for _ in range(2)]) + 0.5  # fmt: skip


@pytest.mark.parametrize(("runs", "columns", "spread"), [(50, 4, 1.0), (5_000, 20, 100.0), (10**6, 3, 0.1)])
def test_every_walk_is_the_one_fitted_alone(runs: int, columns: int, spread: float) -> None:
    hits, others = counts(runs, columns, spread)
    alone = [fit_walk(a, b, cuts=()).ratio for a, b in zip(hits, others, strict=True)]
    assert (fit_walks(hits, others) == np.stack(alone)).all()
    assert np.abs(alone).max() > 0


def test_a_precision_without_a_factor_is_left_to_its_own_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, others = counts(1_000, 3, 1.0)
    expected = fit_walks(hits, others)
    found = lapack.dpbtrf
    monkeypatch.setattr(lapack, "dpbtrf", lambda band: (found(band)[0], 1))
    assert (fit_walks(hits, others) == expected).all()


def test_no_columns_have_no_walks() -> None:
    assert len(fit_walks(np.zeros((0, 64)), np.zeros((0, 64)))) == 0
