"""The random walk along a score: its mode, its evidence and its errors against slow and obvious twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from dpaudit.events import random_walk
from dpaudit.events.random_walk import RIDGE, Walk, fit_line, fit_walk


def _posterior(g: np.ndarray, hits: np.ndarray, others: np.ndarray, offset: float, precision: np.ndarray) -> float:
    fit = hits @ log_expit(g + offset) + others @ log_expit(-g - offset)
    return float(-fit + 0.5 * (precision @ np.diff(g) ** 2 + RIDGE * g @ g))


def _dense(total: np.ndarray, share: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """The precision of g as a full matrix: prior, sum of (e_i - e_{i+1}) outer products, plus the likelihood's."""
    matrix = np.diag(RIDGE + total * share * (1 - share))
    for i, weight in enumerate(precision):
        step = np.zeros(len(total))
        step[i], step[i + 1] = 1, -1
        matrix += weight * np.outer(step, step)
    return matrix


def _example() -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    rng = np.random.default_rng(3)
    hits, others = rng.poisson(30, 12).astype(float), rng.poisson(40, 12).astype(float)
    return hits, others, float(np.log(hits.sum() / others.sum())), rng.uniform(0.5, 20, 11)


def _walk(hits: np.ndarray, total: np.ndarray, offset: float, precision: np.ndarray) -> random_walk.Walk:
    one_row = (one[None] for one in (hits, total, np.full(12, offset), precision, np.zeros(12)))
    mode, evidence, factor = random_walk.modes(*one_row)
    return random_walk.Walk(mode[0], float(evidence[0]), factor[:, 0])


def test_the_mode_is_the_one_that_an_optimiser_finds() -> None:
    hits, others, offset, precision = _example()
    walk = _walk(hits, hits + others, offset, precision)
    slow = minimize(_posterior, np.zeros(12), (hits, others, offset, precision), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(walk.ratio, slow.x, atol=1e-5)
    # Laplace: log posterior at the mode, plus half the log-determinants of prior (but for its ridge) and posterior.
    dense = _dense(hits + others, expit(walk.ratio + offset), precision)
    wanted = -slow.fun + 0.5 * np.log(precision).sum() - 0.5 * np.linalg.slogdet(dense)[1]
    assert walk.evidence == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("descending", [False, True])
def test_prefixes_and_their_errors(descending: bool) -> None:
    hits, others, offset, precision = _example()
    total = hits + others
    walk = _walk(hits, total, offset, precision)

    def log_ratios(g: np.ndarray) -> np.ndarray:
        share = expit(g + offset)
        p, q = total * share / (total @ share), total * (1 - share) / (total @ (1 - share))
        if descending:
            p, q = p[::-1], q[::-1]
        return np.log(np.cumsum(p) / np.cumsum(q))

    ratio, error = walk.prefixes(total, offset, descending=descending)
    np.testing.assert_allclose(ratio, log_ratios(walk.ratio), atol=1e-12)
    # The deviation is linear in g with the total masses held; a prefix that is not everything hardly moves them.
    covariance = np.linalg.inv(_dense(total, expit(walk.ratio + offset), precision))
    share = expit(walk.ratio + offset)
    p, q = total * share, total * (1 - share)
    index = np.arange(12)[::-1] if descending else np.arange(12)
    for t in (0, 4, 8):
        inside = index[: t + 1]
        slope = np.zeros(12)
        slope[inside] = p[inside] * (1 - share[inside]) / p[inside].sum() + q[inside] * share[inside] / q[inside].sum()
        assert error[t] == pytest.approx(np.sqrt(slope @ covariance @ slope), rel=1e-8)


def test_no_signal_is_flattened_and_a_step_is_kept() -> None:
    rng = np.random.default_rng(0)
    mass = np.full(200, 1 / 200)
    hits, others = (rng.multinomial(20_000, mass).astype(float) for _ in range(2))
    # Each atom's own ratio has a standard deviation of 0.14.
    assert np.abs(fit_walk(hits, others).ratio).max() < 0.05
    tilted = np.where(np.arange(200) < 100, 1.5, 0.5) * mass
    walk = fit_walk(rng.multinomial(20_000, tilted).astype(float), others)
    truth = np.log(tilted / mass)
    away = np.abs(np.arange(200) - 99.5) > 10
    assert np.abs(walk.ratio - truth)[away].mean() < 0.07


def test_where_counts_are_few_the_score_speaks() -> None:
    rng = np.random.default_rng(1)
    score = np.linspace(-3, 3, 60)
    mass = np.exp(-(score**2) * 2)
    mass /= mass.sum()
    tilted = mass * np.exp(0.4 * score)
    hits, others = rng.multinomial(50_000, tilted / tilted.sum()), rng.multinomial(50_000, mass)
    hits, others = hits.astype(float), others.astype(float)
    seen = hits + others > 0
    around = fit_walk(hits[seen], others[seen], scores=7 * score[seen] - 5)
    alone = fit_walk(hits[seen], others[seen])
    truth = np.log(tilted / tilted.sum() / mass)[seen]
    ends = np.abs(score[seen]) > 1.5
    assert ends.sum() > 5
    assert np.abs(around.ratio - truth)[ends].mean() < 0.1 < np.abs(alone.ratio - truth)[ends].mean()
    assert around.line is not None
    # The errors of the line are added to those of the walk.
    total, offset = (hits + others)[seen], float(np.log(hits.sum() / others.sum()))
    bare = Walk(around.ratio, around.evidence, around.factor)
    assert (around.prefixes(total, offset)[1] >= bare.prefixes(total, offset)[1]).all()


def test_a_line_is_the_regression_that_an_optimiser_finds() -> None:
    hits, others, offset, _ = _example()
    scores = np.arange(12.0) ** 2
    line = fit_line(scores, hits, hits + others, offset)
    assert line is not None

    def loss(beta: np.ndarray) -> float:
        g = beta[0] + beta[1] * scores / 100 + offset
        return -float(hits @ log_expit(g) + others @ log_expit(-g))

    slow = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(line[0], slow.x[0] + slow.x[1] * scores / 100, atol=1e-5)
    assert fit_line(np.ones(12), hits, hits + others, offset) is None


def test_a_side_that_is_never_seen_in_an_atom_gives_finite_numbers() -> None:
    hits = np.array([0.0, 0, 0, 50, 100, 1000, 1000, 1000])
    others = np.array([1000.0, 1000, 1000, 100, 50, 0, 0, 1])
    walk = fit_walk(hits, others)
    assert isinstance(walk, Walk)
    ratio, error = walk.prefixes(hits + others, 0.0)
    assert np.isfinite(ratio).all()
    assert np.isfinite(error).all()
    assert ratio[0] < -3
    assert abs(ratio[-1]) < 1e-9
