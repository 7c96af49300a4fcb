"""The p-value of a finding: the least error at which its claim is refuted, of each design and each kind of finding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET
from msgspec.structs import replace
from scipy.stats import binom

import dpaudit
from dpaudit.bounds import coin
from dpaudit.family_wise import adjusted
from dpaudit.utility.audit import failure_interval
from dpaudit.utility.finding import UtilityFinding


def response(bit: int, rng: np.random.Generator, size: int) -> Any:
    return np.where(rng.random(size) < 0.75, bit, 1 - bit)


def noisy(value: float, rng: np.random.Generator, size: int) -> Any:
    return value + rng.laplace(size=size)


BETS = dpaudit.Execution(sequential=True)


def audited(epsilon: float, **given: Any) -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(response, [(0, 1)], epsilon=epsilon, batched=True, trials=2000, **given)


@pytest.mark.parametrize("epsilon", [0.5, 0.9, 1.0, 1.1])
@pytest.mark.parametrize("confidence", [0.9, 0.999])
def test_a_claim_is_refuted_where_the_p_value_is_at_most_the_error(epsilon: float, confidence: float) -> None:
    for given in ({}, {"execution": BETS}):
        finding = audited(epsilon, confidence=confidence, **given)
        assert (finding.verdict == "violation") == (finding.p_value <= finding.errors["verdict"])


def test_several_tests_share_the_error_so_that_the_least_p_value_is_divided_by_its_share() -> None:
    finding = dpaudit.audit_privacy(noisy, [(0.0, 1.0)], epsilon=0.9, batched=True, trials=5000)
    assert len(finding.tests) > 1
    p = [
        coin.p_value(test.count.right, test.count.guesses, 0.9) / (test.error / finding.errors["verdict"])
        for test in finding.tests
    ]
    assert finding.p_value == pytest.approx(min(1.0, *map(float, p)))


def test_the_p_value_follows_from_what_is_stored() -> None:
    for given in ({}, {"execution": BETS}):
        finding = audited(0.9, **given)
        assert type(finding).from_dict(finding.to_dict()).p_value == finding.p_value


def test_bets_have_one_over_the_greatest_wealth() -> None:
    finding = audited(0.5, execution=BETS)
    assert finding.p_value == pytest.approx(math.exp(-finding.log_evidence), rel=1e-5)
    assert finding.p_value <= 0.001
    # A finding of an earlier version has the wealth at the end of its one pair.
    older = replace(finding, log_evidence=UNSET)
    assert older.p_value == pytest.approx(math.exp(-finding.witness.event.log_stake))


def test_the_power_of_a_curve_claim_counts_with_its_share() -> None:
    claim = dpaudit.PrivacyClaim.zero_concentrated(0.1)
    finding = dpaudit.audit_privacy(noisy, [(0.0, 1.0)], claim=claim, batched=True, trials=20_000)
    assert finding.curve_test is not None
    assert finding.curve_test.holder is not None
    assert (finding.verdict == "violation") == (finding.p_value <= finding.errors["verdict"])


def test_utility_has_the_p_value_of_the_binomial_test_of_both_sides() -> None:
    lower, upper = failure_interval(30, 200, 0.999)
    finding = UtilityFinding(
        verdict="undecided", failure_rate=0.15, failure_lower=lower, failure_upper=upper, failures=30, trials=200,
        alpha=0.1, beta=0.1, n=10, setting="realizable", concept="", distribution="", confidence=0.999, seed=0,
    )  # fmt: skip
    assert finding.p_value == pytest.approx(2 * binom.sf(29, 200, 0.1), rel=1e-5)


def test_exact_findings_have_no_chance() -> None:
    learner = dpaudit.pac.get_learner("point-exponential", domain_size=4, epsilon=1.0)
    assert dpaudit.pac.audit_law(learner, n=2).p_value == 1.0


def test_holm_adjusts_in_the_order_of_the_p_values() -> None:
    assert adjusted([]) == []
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
