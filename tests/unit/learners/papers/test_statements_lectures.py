"""The statements of the slides and of lecture 12 on conjunctions: its verdict and the numbers that decide it."""

from __future__ import annotations

import math

import pytest
from ledger_rows import ledger_row

from dpaudit.contract import Statement
from learners.papers import nis_finite_classes, nis_parities, ste_conjunctions

MODULES = (nis_finite_classes, nis_parities, ste_conjunctions)
ALL = [statement for module in MODULES for statement in module.STATEMENTS]
EXPECTED: dict[str, tuple[str, dict[str, float]]] = {
    "NIS-Point": ("holds", {"n": 30, "failure": 0.8999**30}),
    "NIS-Occam": ("holds", {"n": 12}),
    "NIS-Thr": ("refuted", {"errors_literal": 1, "errors_repaired": 0}),
    "NIS-Sauer": ("holds", {}),
    "NIS-VC": ("holds", {"intervals": 2, "parity_6": 6}),
    "NIS-VC-Bounds": ("holds", {"lower": 36, "failure_below_lower": 0.89999**35}),
    "NIS-Generic": ("loose", {"epsilon": 1.0, "n": 369, "slides_factor": 1e4, "sufficient_factor": 4e3}),
    "NIS-Generic-LargeEpsilon": ("refuted", {"n": 5, "failure": 0.98999**5 / 2}),
    "NIS-DPgen": ("undecided", {"share": math.tanh(0.025) / 0.1}),
    "NIS-ParityLearner": ("loose", {"exact_epsilon": math.log(5 / 3)}),
    "NIS-ParityFailure": ("refuted", {"before": 0.5, "after": 0.625, "slides": 0.75}),
    "NIS-ParityAmplification": ("loose", {"epsilon_repeated": 10 * math.log1p(1 / 40)}),
    "NIS-ParityAmplification-Proved": ("holds", {"epsilon": 1.0, "paper": 10 * math.log1p(1 / 40), "n_proved": 7515}),
    "NIS-ParityRestart": ("holds", {"failure": 1e-3, "epsilon": 1.0}),
    "NIS-Effect": ("holds", {"least_share": 0.5}),
    "STE-NonPriv": ("holds", {"errors": 0}),
    "STE-Conj1": ("holds", {"replacement": 1.0, "add_remove": 0.5}),
    "STE-Conj1-Size": ("loose", {"d = 2: theorem's n": 702}),
    "STE-ConjExp": ("holds", {"epsilon": 1.0, "n": 20, "n_printed": 2}),
    "STE-Conj2": ("holds", {"epsilon_k1": 1.0, "epsilon_k2": 0.75, "add_remove": math.inf}),
    "STE-Conj2-Proved": ("holds", {"epsilon": 1.0, "gain": 1.603}),
    "STE-Conj2-Delta": (
        "refuted",
        {"rounds": 19, "probability": 1 - 1 / (1 + 18 * math.exp(-10 / 19) + math.exp(-20 / 19))},
    ),
    "STE-Conj2-Constant": ("refuted", {"failure_literal": 1.0}),
    "STE-Conj1-Delta": ("holds", {"n without delta, d=31": 494_317, "first d that gains": 5}),
}


@pytest.mark.parametrize("statement", ALL, ids=lambda statement: statement.id)
def test_verdict_and_numbers(statement: Statement) -> None:
    row = ledger_row(statement.id)
    verdict, numbers = EXPECTED[statement.id]
    assert row.verdict == verdict, row
    assert bool(row.witness) == (verdict == "refuted")
    for name, value in numbers.items():
        assert row.numbers[name] == pytest.approx(value, rel=1e-3), name
    assert len(row.summary) > 40


def test_ids_are_unique_and_all_are_expected() -> None:
    assert {statement.id for statement in ALL} == set(EXPECTED)
    assert len(ALL) == len(EXPECTED)
    assert all(s.statement and s.source for s in ALL)
