"""The statements of the slides and of lecture 12 on conjunctions: its verdict and the numbers that decide it."""

from __future__ import annotations

import math

import pytest
from ledger_rows import ledger_row, rows_in_quick

from dpaudit.contract import ACCUSATIONS
from dpaudit_learners.papers import (
    nis_consistent,
    nis_finite_classes,
    nis_parities,
    ste_conjunctions,
    ste_greedy,
)

MODULES = (nis_consistent, nis_finite_classes, nis_parities, ste_conjunctions, ste_greedy)
ALL = [statement for module in MODULES for statement in module.STATEMENTS]
EXPECTED: dict[str, tuple[str, dict[str, float]]] = {
    "NIS-Generic-agnostic": ("derived", {"n": 15_320, "realizable": 766}),
    "NIS-Point": ("holds", {"n": 30, "failure": 0.8999**30}),
    "NIS-Occam": ("holds", {"n": 12}),
    "NIS-Thr": ("misprint", {"errors_literal": 1, "errors_repaired": 0}),
    "NIS-Thr-size": ("derived", {"failure": 0.8999**30}),
    "NIS-Thr-random": ("false", {"failure": 8 / 9}),
    "NIS-Point-random": ("false", {"failure": 1 / 8}),
    "NIS-Sauer-small": ("misprint", {"most": 4, "printed": 8}),
    "NIS-VC-log": ("holds", {"share": 1.0}),
    "NIS-Thr-privacy": ("holds", {"epsilon": math.inf}),
    "NIS-Parity-size": ("derived", {"n": 15}),
    "NIS-Sauer": ("holds", {}),
    "NIS-VC": ("holds", {"intervals": 2, "parity_6": 6}),
    "NIS-Memorizer": ("holds", {"unseen": (63 / 64) ** 16, "n": 16}),
    "NIS-VC-Bounds": ("undecided", {"lower": 36, "failure_below_lower": 0.89999**35}),
    "NIS-Generic": ("derived", {"epsilon": 1.0, "n": 369, "slides_factor": 1e4, "sufficient_factor": 4e3}),
    "NIS-DPgen": ("undecided", {"share": math.tanh(0.025) / 0.1}),
    "NIS-ParityLearner": ("loose", {"exact_epsilon": math.log(5 / 3), "at 3.4": math.log(7.4 / 0.6)}),
    "NIS-ParityLearner-large": ("false", {"loss": math.log(79)}),
    "NIS-ParityFailure": ("loose", {"before": 0.5, "after": 0.625, "slides": 0.75}),
    "NIS-ParityAmplification": ("derived", {"epsilon_repeated": 10 * math.log1p(1 / 40)}),
    "NIS-ParityAmplification-Proved": ("holds", {"epsilon": 1.0, "paper": 10 * math.log1p(1 / 40), "n_proved": 7515}),
    "NIS-ParityRestart": ("holds", {"failure": 1e-3, "epsilon": 1.0}),
    "NIS-Effect": ("holds", {"least_share": 0.5}),
    "STE-NonPriv": ("holds", {"errors": 0}),
    "STE-Conj1": ("holds", {"replacement": 1.0, "add_remove": 0.5}),
    "STE-Conj1-Size": ("loose", {"n": 702, "enough": 426, "too few": 199}),
    "STE-ConjExp-Size": ("false", {"failure": 1 - 1 / (1 + 61 * math.exp(-3.5) + math.exp(-7)), "n": 14}),
    "STE-Conj-count": ("derived", {}),
    "STE-Conj1-Noise": ("holds", {}),
    "STE-Conj2-Score": ("holds", {"wrong": 0}),
    "STE-Conj2-Rounds": ("holds", {}),
    "STE-Conj2-Strong": ("derived", {}),
    "STE-ConjExp": ("holds", {"epsilon": 1.0, "n": 20}),
    "STE-Conj2": ("holds", {"epsilon_k1": 1.0, "epsilon_k2": 0.75, "add_remove": math.inf}),
    "STE-Conj2-Proved": ("holds", {"epsilon": 1.0, "gain": 1.603}),
    "STE-Conj2-Delta": (
        "misprint",
        {"rounds": 19, "probability": 1 - 1 / (1 + 18 * math.exp(-10 / 19) + math.exp(-20 / 19))},
    ),
    "STE-Conj2-Constant": ("edge case", {"failure_literal": 1.0}),
    "STE-Conj1-Delta": ("derived", {"n without delta, d=31": 494_317, "first d that gains": 5}),
}


@pytest.mark.parametrize("id", rows_in_quick(statement.id for statement in ALL))
def test_verdict_and_numbers(id: str) -> None:
    row = ledger_row(id)
    verdict, numbers = EXPECTED[id]
    assert row.verdict == verdict, row
    assert bool(row.witness) == (verdict in ACCUSATIONS)
    for name, value in numbers.items():
        assert row.numbers[name] == pytest.approx(value, rel=1e-3), name
    assert len(row.summary) > 40


def test_ids_are_unique_and_all_are_expected() -> None:
    assert {statement.id for statement in ALL} == set(EXPECTED)
    assert len(ALL) == len(EXPECTED)
    assert all(s.statement and s.source for s in ALL)


def test_the_failure_with_noise_is_that_of_the_laws() -> None:
    learner, alpha, n = nis_finite_classes.ThresholdExponential(2, 1.0), 0.2, 7
    (point,), p, expected = learner.domain.points()[:1].tolist(), 0.6 + 1e-10, 0.0
    ones = learner.concepts.evaluate(learner.domain.points()[:1])[:, 0]
    for right in range(n + 1):
        law = learner.law(learner.domain.sample([point] * n, [1] * right + [0] * (n - right)))
        wrong = sum(math.exp(lp) for atom, lp in zip(law.atoms, law.log_prob, strict=True) if not ones[atom])
        expected += math.comb(n, right) * p**right * (1 - p) ** (n - right) * wrong
    assert nis_finite_classes.noisy_failure(learner, alpha, n) == pytest.approx(expected, rel=1e-8)
