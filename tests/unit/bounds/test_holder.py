"""The bet by Holder's inequality: its mean under the claim, at the boundary, without a signal, and its power."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpaudit.bounds.holder import PARTS, by_label, detectable_shortfall, fit_bet, label_ends

EDGES = np.linspace(-6, 7, 400)


def gaussian_cells(mu: float) -> np.ndarray:
    """Masses of cells, those likeliest at a shift first."""
    return np.diff(ndtr(np.concatenate([[-np.inf], EDGES, [np.inf]]) - mu))[::-1]


def moment(p: np.ndarray, q: np.ndarray, alpha: float) -> float:
    """D_alpha(P || Q)."""
    return float(np.log((p**alpha * q ** (1 - alpha)).sum()) / (alpha - 1))


@pytest.mark.parametrize("alpha", [1.02, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_pair_of_runs_has_a_mean_of_at_most_one_under_the_claim(alpha: float, seed: int) -> None:
    """Exactly, for laws at the boundary of the claim and a bet that was fitted to other ones, both ways round."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        p, q = rng.dirichlet(np.full(6, 0.7), 2) + 1e-9
        p, q = p / p.sum(), q / q.sum()
        epsilon = max(moment(p, q, alpha), moment(q, p, alpha), 1e-6)
        runs = int(rng.integers(5, 2000))
        trained = rng.multinomial(300, p).astype(float), rng.multinomial(300, q).astype(float)
        bet = fit_bet(*trained, [(alpha, epsilon)], runs, 0.05)
        assert np.isfinite(bet.paid).all()
        assert np.exp(bet.log_weights).sum() == pytest.approx(1)
        for on_data, on_neighbour in np.exp(bet.paid):
            assert (p @ on_data) * (q @ on_neighbour) <= 1 + 1e-9
            # With a fair coin for each run's side the mean is at most 1 as well, whatever earlier runs were.
            assert (p @ on_data + q @ on_neighbour) / 2 <= 1 + 1e-9


def evidence(mu: float, orders: list[tuple[float, float]], runs: int, rng: np.random.Generator) -> float:
    p, q = gaussian_cells(mu), gaussian_cells(0.0)
    trained = [rng.multinomial(runs // 4, law).astype(float) for law in (p, q)]
    fresh = [rng.multinomial(runs, law).astype(float) for law in (p, q)]
    ends = label_ends(trained[0] + trained[1])
    bet = fit_bet(*(by_label(side, ends) for side in trained), orders, runs, 0.05)
    return bet.log_evidence(*(by_label(side, ends) for side in fresh))


@pytest.mark.parametrize("orders", [[(2.0, 1.0)], [(1.02, 0.51), (1.5, 0.75), (3.0, 1.5)]], ids=["renyi", "zcdp"])
def test_noise_that_is_exact_is_not_accused_and_noise_that_is_too_small_is(orders: list[tuple[float, float]]) -> None:
    """The false alarms allowed are 5 %: of 60 audits more than 8 are accused with probability 0.003."""
    rng = np.random.default_rng(11)
    exact = [evidence(1.0, orders, 20_000, rng) >= math.log(20) for _ in range(60)]
    assert sum(exact) <= 8
    assert all(evidence(1 / 0.8, orders, 80_000, rng) >= math.log(20) for _ in range(5))


def test_noise_15_percent_too_small_is_seen_by_order_3_with_both_directions_at_once() -> None:
    """A single bet in one direction detected it in 94 % of audits; here a miss is a failure (power 1.000 of 300)."""
    rng = np.random.default_rng(5)
    assert all(evidence(1 / 0.85, [(3.0, 1.5)], 80_000, rng) >= math.log(20) for _ in range(40))


def test_the_evidence_is_the_mean_of_the_bets_with_their_weights() -> None:
    rng = np.random.default_rng(3)
    trained = [rng.multinomial(500, law).astype(float) for law in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])]
    bet = fit_bet(*trained, [(2.0, 0.2)], 100, 0.05)
    fresh = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    products = [float(np.exp((one * fresh).sum())) for one in bet.paid]
    assert bet.log_evidence(*fresh) == pytest.approx(math.log(np.exp(bet.log_weights) @ products))
    # A leak that is the same both ways is bet on both ways: the largest share is that of such a bet.
    assert len(PARTS[int(np.argmax(bet.log_weights))]) == 2


def test_no_signal_and_a_bet_on_constants_give_no_evidence() -> None:
    rng = np.random.default_rng(2)
    assert evidence(0.0, [(2.0, 1.0)], 20_000, rng) < 0
    one = np.array([1000.0])
    assert fit_bet(one, one, [(2.0, 1.0)], 1000, 0.05).log_evidence(one, one) <= 0
    none = np.array([0.0, 0.0])
    assert np.isfinite(
        fit_bet(none, none, [(2.0, 1.0)], 10, 0.05).log_evidence(np.array([5.0, 5.0]), np.array([5.0, 5.0]))
    )


def test_labels_keep_every_run_and_never_split_an_atom() -> None:
    counts = np.array([5.0, 0, 1, 200, 3, 3, 1])
    ends = label_ends(counts)
    assert by_label(counts, ends).sum() == counts.sum()
    assert (np.diff(ends) > 0).all()
    assert by_label(np.array([7.0]), label_ends(np.array([7.0]))).tolist() == [7.0]


def test_what_could_be_detected_shrinks_with_runs_and_high_orders_show_nothing() -> None:
    few, many = (detectable_shortfall([(2.0, 1.0)], 1.0, runs, 0.05) for runs in (8_000, 80_000))
    assert 0.02 < many < few < 0.25
    assert detectable_shortfall([(30.0, 15.0)], 1.0, 8_000, 0.05) == math.inf
