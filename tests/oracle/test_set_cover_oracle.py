"""The Set Cover Learner's law against plain recursion over multisets and adaptive quadrature; the game against it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.integrate import quad

from dpaudit.contract import Relation
from dpaudit.exact.audit import audit_law
from dpaudit_learners.conjunctions.set_cover import SetCoverConjunction, SetCoverDisjunction
from dpaudit_learners.covers.accounting import KINDS, SLICES, _corners, calibrate, game_delta, game_epsilon
from dpaudit_learners.covers.rounds import LaplaceNoise, Round

Row = tuple[tuple[int, ...], int, int]


def value(literal: int, x: tuple[int, ...]) -> int:
    """Return the value of literal v_1, not v_1, v_2, .. at x."""
    if literal % 2 == 0:
        return x[literal // 2]
    return 1 - x[literal // 2]


def slow_round(rows: list[Row], learner: SetCoverConjunction | SetCoverDisjunction, conjunction: bool) -> list[float]:
    """Return Pr[h] for each literal, by the words of the algorithm and `quad` over the noise."""
    literals = range(2 * learner.dimension)
    # A conjunction covers negative examples by literals that are false on them, a disjunction positive ones by true.
    goal, hit = (0, 0) if conjunction else (1, 1)
    left = sum(c for _, y, c in rows if y == goal)
    good = [sum(c for x, y, c in rows if y == goal and value(h, x) == hit) for h in literals]
    bad = [sum(c for x, y, c in rows if y != goal and value(h, x) == hit) for h in literals]

    def softmax(b: float, chosen: int) -> float:
        q = [min(g - b / learner.k, -float(s)) for g, s in zip(good, bad, strict=True)]
        total = sum(math.exp(learner.selection_epsilon / 2 * (v - max(q))) for v in q)
        return math.exp(learner.selection_epsilon / 2 * (q[chosen] - max(q))) / total

    if learner.variant == "noiseless":
        return [softmax(left, h) for h in literals]
    rounds = math.ceil(2 * learner.k * math.log(2 / learner.alpha))
    scale = rounds / learner.epsilon
    # The noisy count is lowered by what the noise exceeds with a probability below beta / rounds.
    offset = scale * math.log(rounds / learner.beta)
    # Where the minimum in q changes its side the integrand has a corner: quad integrates between them.
    kinks = sorted({0.0, *(learner.k * (g + s) - left + offset for g, s in zip(good, bad, strict=True))})
    ends = [-40 * scale + kinks[0], *kinks, kinks[-1] + 40 * scale]

    def integrand(w: float, h: int) -> float:
        return softmax(left + w - offset, h) * math.exp(-abs(w) / scale) / (2 * scale)

    return [
        sum(
            quad(integrand, u, v, args=(h,), epsabs=1e-14, epsrel=1e-12, limit=200)[0]
            for u, v in itertools.pairwise(ends)
        )
        for h in literals
    ]


def slow_law(rows: list[Row], learner: SetCoverConjunction | SetCoverDisjunction, conjunction: bool) -> list[float]:
    rounds = math.ceil(2 * learner.k * math.log(2 / learner.alpha))
    literals = range(2 * learner.dimension)
    law = [0.0] * len(literals) ** rounds
    for chosen in itertools.product(literals, repeat=rounds):
        remaining = rows
        probability = 1.0
        for h in chosen:
            key = tuple(remaining)
            if key not in KNOWN:
                KNOWN[key] = slow_round(remaining, learner, conjunction)
            probability *= KNOWN[key][h]
            remaining = [row for row in remaining if value(h, row[0]) != (0 if conjunction else 1)]
        law[sum(h * len(literals) ** j for j, h in enumerate(chosen))] = probability
    return law


# Rounds that recur among the sequences of one case.
KNOWN: dict[tuple[Row, ...], list[float]] = {}


@pytest.mark.parametrize("variant", ["paper", "noiseless", "composition"])
@pytest.mark.parametrize("conjunction", [True, False])
@pytest.mark.parametrize("k", [1, 2])
def test_law_is_the_recursion_over_multisets(variant: str, conjunction: bool, k: int) -> None:
    KNOWN.clear()
    kind = SetCoverConjunction if conjunction else SetCoverDisjunction
    learner = kind(2, k, 0.9, 1e-3, 0.49 if k == 1 else 0.8, 0.3, variant)
    rng = np.random.default_rng(k)
    points = rng.integers(0, 2, (4, 2))
    labels = rng.integers(0, 2, 4)
    counts = rng.integers(1, 9, 4)
    sample = learner.domain.sample(points, labels, counts)
    rows = [
        (tuple(x), y, c)
        for x, y, c in zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True)
    ]
    law = learner.law(sample)
    slow = slow_law(rows, learner, conjunction)
    # quad reports errors near 1e-13 a round.
    assert np.abs(law.log_prob - np.log(slow)).max() < 1e-10
    assert law.error < 1e-9
    assert abs(math.fsum(np.exp(law.log_prob)) - 1) < math.expm1(law.error) + 1e-14


@pytest.mark.parametrize(("rate", "scale"), [(0.02, 30.0), (0.5, 3.0), (4.0, 1.0)])
def test_quadrature_within_its_bound(rate: float, scale: float) -> None:
    flint = pytest.importorskip("flint")
    covered = np.array([3.0, 0.0, 2.0])
    spoiled = np.array([1.0, 0.0, 4.0])
    measures = np.array([0.0, -1.5, 0.75])
    logs, error = LaplaceNoise(scale, 7.0).round_law(Round(covered, spoiled, 5, 2, rate, measures))
    assert error < 1e-10
    breaks = sorted({0.0, *(2 * (covered + spoiled) - 5 + 7.0)})
    ends = [breaks[0] - 60 * scale, *breaks, breaks[-1] + 60 * scale]

    def integral(h: int, u: float, v: float) -> float:
        middle = (u + v) / 2
        left = [2 * (c + s) - 5 + 7.0 > middle for c, s in zip(covered, spoiled, strict=True)]

        def f(w: flint.acb, _: bool) -> flint.acb:
            q = [
                flint.acb(-s) if before else flint.acb(c) - (w + 5 - 7) / 2
                for c, s, before in zip(covered, spoiled, left, strict=True)
            ]
            total = sum(((value - q[h]) * rate + m - measures[h]).exp() for value, m in zip(q, measures, strict=True))
            return (w * (1 if middle < 0 else -1) / scale).exp() / (2 * scale) / total

        return float(flint.acb.integral(f, u, v, rel_tol=1e-30, abs_tol=1e-40).real.mid())

    with flint.ctx.workprec(200):
        exact = [math.fsum(integral(h, u, v) for u, v in itertools.pairwise(ends)) for h in range(3)]
    for h, true in enumerate(exact):
        assert abs(logs[h] - math.log(true)) < error + 1e-14


@pytest.mark.parametrize("label", [0, 1])
def test_the_game_bounds_exact_laws(label: int) -> None:
    # The noiseless learner at a rate chosen here: the game holds for any noise, none included.
    kind = (SetCoverConjunction, SetCoverDisjunction)[label]
    learner = kind(1, 1, 0.9, 1e-3, 0.49, 0.3, "noiseless")
    for relation in (Relation.REPLACE_ONE, Relation.ADD_REMOVE_ONE):
        finding = audit_law(learner, n=3, relation=relation)
        for epsilon in (0.05, 0.2, 0.4):
            bound = game_delta(1, learner.rounds, learner.selection_epsilon / 2, epsilon, relation)
            assert finding.delta(epsilon) <= bound + 1e-12
        assert finding.delta(0.05) > 0


def test_the_game_is_nearly_reached_by_a_constant_hazard() -> None:
    # An example not to be covered: one hypothesis covers it, with the same probability p in every round.
    rounds = 12
    rate = 1 / (2 * (1 + 6 * math.log(10))) / 2
    k = 2

    def reached(epsilon: float, p: float) -> float:
        there = p * math.exp(rate) / (1 - p + p * math.exp(rate))
        here = [p * (1 - p) ** t for t in range(rounds)] + [(1 - p) ** rounds]
        other = [there * (1 - there) ** t for t in range(rounds)] + [(1 - there) ** rounds]
        both = ((here, other), (other, here))
        return max(sum(max(0.0, u - math.exp(epsilon) * v) for u, v in zip(one, two, strict=True)) for one, two in both)

    best = max(reached(0.09, p) for p in np.linspace(0.01, 0.99, 99))
    bound = game_delta(k, rounds, rate, 0.09, Relation.ADD_REMOVE_ONE)
    assert best <= bound <= 4 * best


@pytest.mark.parametrize("log_ratio", [0.03, -0.03, 2.0, -2.0])
def test_no_masses_of_two_kinds_lie_outside_the_triangles(log_ratio: float) -> None:
    masses, one, two = _corners(log_ratio)
    image = masses * np.exp(one)
    assert np.allclose(1 - image, (1 - masses) * np.exp(two), rtol=0, atol=1e-14)
    corners = [np.array([masses[i], image[i]]) for i in range(len(masses))]

    def side(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
        return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    for i in range(SLICES):
        a = corners[i]
        tip = corners[SLICES + 1 + i]
        b = corners[i + 1]
        turn = side(a, tip, b)
        for p in np.linspace(a[0], b[0], 9)[1:-1]:
            at = (p, p * math.exp(log_ratio) / (1 + p * math.expm1(log_ratio)))
            assert all(side(u, v, at) * turn > 0 for u, v in ((a, tip), (tip, b), (b, a)))


def test_the_game_of_the_notes() -> None:
    # Values measured by another implementation of the game, to 2 %.
    rate = 1 / (2 * (1 + 6 * math.log(10))) / 2
    assert game_epsilon(2, 12, rate, 1e-6, 0.5, Relation.ADD_REMOVE_ONE) == pytest.approx(0.101, rel=0.02)
    assert game_epsilon(2, 12, rate, 1e-6, 0.5) == pytest.approx(0.155, rel=0.02)
    assert game_epsilon(2, 12, 2 * rate, 1e-6, 0.5, Relation.ADD_REMOVE_ONE) == pytest.approx(0.214, rel=0.025)


def test_one_round_of_one_example_is_the_exponential_mechanism() -> None:
    # k = 1: a replaced example moves scores by up to 1 either way: epsilon at most 2 rate, delta 0 beyond.
    for relation in KINDS:
        assert game_delta(1, 1, 0.25, 0.55, relation) == 0
    assert game_delta(1, 1, 0.25, 0.3) > 0


def test_calibration_spends_the_budget_and_no_more() -> None:
    share = calibrate(1, 3, 1.0, 1e-3)
    assert game_delta(1, 3, share / 2, 1.0) <= 1e-3
    assert game_delta(1, 3, 1.03 * share / 2, 1.0) > 1e-3
    assert share > 1 / 3
