"""Findings of real audits are right by their counts; one whose numbers do not follow from its counts is not."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.results import AuditFinding
from dpaudit.verify_finding import (
    ASSUMED,
    BETS,
    CURVES,
    DISTANCES,
    HOLDER,
    LAWS,
    LEAST_P,
    POWER,
    VACUITY,
    checked,
    verify,
)
from tests.support.grouped import grouped

GAUSS = dpaudit.PrivacyClaim.gaussian(1.0)
RENYI = dpaudit.PrivacyClaim.renyi([(2.0, 0.2)])
THRESHOLDS = dpaudit.pac.get_learner("threshold-exponential", epsilon=1.0, domain_size=8)
PURE = dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=2)


def response(bit: int, rng: Any) -> int:
    return bit if rng.random() < 0.75 else 1 - bit


def responses(bit: int, rng: Any, size: int) -> Any:
    return np.where(rng.random(size) < 0.75, bit, 1 - bit)


def noisy(bit: int, rng: Any, size: int) -> Any:
    return bit + rng.normal(size=size, scale=0.5)


def slow(bit: int, rng: Any) -> int:
    time.sleep(1e-4 * bit)
    return 0


def _audited(mechanism: Callable[..., Any], **given: Any) -> AuditFinding:
    given = {"pairs": [(0, 1)], "trials": 2_000, "n_jobs": 1, "progress": False} | given
    return dpaudit.audit_privacy(mechanism, **grouped(**given))


def _one_run(**claim: Any) -> AuditFinding:
    coins = dpaudit.flip_coins(200, seed=1)
    scores = 3 * coins.included + np.random.default_rng(2).normal(size=200)
    return dpaudit.audit_scores(scores, coins, **claim)


MADE: dict[str, Callable[[], AuditFinding]] = {
    "run by run": partial(_audited, response, epsilon=0.5),
    "batched": partial(_audited, responses, epsilon=2.0, batched=True),
    "with delta": partial(_audited, responses, epsilon=0.5, delta=0.01, batched=True),
    "run by run, with delta": partial(_audited, response, epsilon=0.5, delta=0.01),
    "a curve": partial(_audited, noisy, epsilon=1.0, batched=True, curve=True),
    "float bits": partial(_audited, noisy, epsilon=5.0, batched=True, float_bits=True),
    "Gaussian": partial(_audited, noisy, claim=GAUSS, batched=True),
    "Gaussian, by bets": partial(_audited, noisy, claim=GAUSS, batched=True, sequential=True),
    "Renyi": partial(_audited, noisy, claim=RENYI, batched=True),
    "bets": partial(_audited, responses, epsilon=0.5, batched=True, sequential=True),
    "bets of pairs": partial(_audited, responses, pairs=[(0, 0), (0, 1)], epsilon=0.5, batched=True, sequential=True),
    "run times": partial(_audited, slow, epsilon=1.0, time=True, trials=400),
    "constant": partial(_audited, lambda data, rng: 0, epsilon=1.0),
    "few runs": partial(_audited, response, epsilon=4.0, trials=10),
    "a time limit": partial(_audited, response, epsilon=0.5, time_limit=0.2, trials=200_000),
    "data": partial(_audited, lambda data, rng: sum(data) + rng.laplace(), pairs=None, data=[0.1, 0.2, 0.5] * 9,
                    bounds=(0, 1), epsilon=0.2, relation="add-remove-one"),
    "one run": partial(_one_run, epsilon=1.0),
    "one run, with delta": partial(_one_run, epsilon=1.0, delta=1e-3, ranking="in"),
    "one run, Gaussian": partial(_one_run, claim=GAUSS),
    "laws": partial(dpaudit.pac.audit_law, PURE, n=1),
    "supremum": partial(dpaudit.pac.audit_supremum, PURE, starts=2),
    "scaling": partial(dpaudit.pac.scaling_law, "parity-private", "dimension", [1, 2, 3, 4, 5, 6], epsilon=1.0,
                       alpha=0.1, beta=0.6),
    "sample complexity": partial(dpaudit.pac.sample_complexity, THRESHOLDS, alpha=0.2, beta=0.2),
    "sensitivity": partial(dpaudit.audit_sensitivity, sum, [([0.0, 1.0], [0.0, 0.0])], claim=1.5),
    "too sensitive": partial(dpaudit.audit_sensitivity, sum, [([0.0, 2.0], [0.0, 0.0])], claim=1.5),
    "recorded noise": partial(dpaudit.audit_sensitivity, lambda rows, rng: sum(rows) + rng.laplace(),
                              [([0.0, 1.0], [0.0, 0.0])], epsilon=2.0, claim=1.5),
    "utility": partial(dpaudit.pac.audit_utility, PURE, 1, "uniform", alpha=0.2, beta=0.4, n=20, trials=50, most=800),
}  # fmt: skip


@cache
def made(name: str) -> AuditFinding:
    return MADE[name]()


def stored(name: str) -> dict[str, Any]:
    """Return the JSON of a finding."""
    found: dict[str, Any] = json.loads(json.dumps(made(name).to_dict()))
    return found


@pytest.mark.parametrize("name", MADE)
def test_what_an_audit_found_follows_from_what_it_stores(name: str) -> None:
    finding = made(name)
    assert type(finding).from_dict(finding.to_dict()) == finding
    checked(stored(name))


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("batched", [POWER]),
        ("bets", [POWER, BETS]),
        ("Renyi", [POWER, HOLDER]),
        ("one run", [POWER, ASSUMED]),
        ("one run, Gaussian", [POWER, ASSUMED, CURVES]),
        ("laws", [LAWS]),
        ("supremum", [LAWS]),
        ("sensitivity", [DISTANCES]),
        ("recorded noise", [DISTANCES]),
        ("sample complexity", ["the sizes", VACUITY]),
        ("scaling", ["findings of the kind 'scaling'"]),
    ],
)
def test_what_is_not_derived_is_named(name: str, left: list[str]) -> None:
    assert checked(stored(name)) == left


@pytest.mark.parametrize(
    ("name", "status"),
    [("batched", 0), ("Renyi", 0), ("bets", 3), ("one run", 0), ("one run, Gaussian", 3), ("laws", 3)],
)
def test_a_file_is_right_only_if_its_counts_decide(name: str, status: int) -> None:
    assert verify(json.dumps(stored(name)).encode())[0] == status


def test_an_audit_with_counts_is_no_bet() -> None:
    with pytest.raises(ValueError, match="design must be 'fixed'"):
        checked(stored("batched") | {"design": "sequential", "epsilon_lower": 5.0})


DERIVED = ("epsilon_lower", "verdict", "failure_lower", "failure_upper", "p_value", "hits", "neighbour_hits", "right",
           "guesses", "failures", "trials", "confirmation_trials")  # fmt: skip


def altered(document: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the document with each number and verdict that follows from others, or that others follow from, changed.

    What is not derived is left out: the event in plain words, run times, the curve, and power.
    """
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        here = f"{place}.{key}"
        apart = ("plain", "run_time", "gaps", "holder", "tested_claim", "curve", "representation", "stopped")
        if isinstance(value, dict | list) and key not in apart:
            for where, changed in altered(value, here):
                again = copy.copy(document)
                again[key] = changed
                yield where, again
        elif key in DERIVED:
            others = [word for word in ("violation", "consistent", "holds", "not refuted") if word != value]
            numbers = [] if isinstance(value, str | None) else [value * 2 + 1, value * 0.5 if value % 1 else value // 2]
            for other in others if isinstance(value, str) else numbers:
                if other != value and not (key == "p_value" and value < LEAST_P):
                    again = copy.copy(document)
                    again[key] = other
                    yield f"{here} = {other}", again


COUNTED = [
    name
    for name in MADE
    if name not in ("supremum", "laws", "scaling", "sensitivity", "too sensitive", "sample complexity")
]


@pytest.mark.parametrize("name", [name for name in COUNTED if name != "recorded noise"])
def test_what_does_not_follow_is_refused(name: str) -> None:
    tried = 0
    for where, document in altered(stored(name)):
        if "bets" in name and "verdict" not in where:
            continue
        if name == "one run, Gaussian" and where.startswith(".p_value"):
            continue
        tried += 1
        try:
            checked(document)
        except (ValueError, ArithmeticError):
            continue
        # The same bound and verdict may follow from other counts: those of a test that decided nothing.
        assert ".tests." in where or ".schedule." in where, where
    assert tried > 1


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("batched", {"trials": 10**9}),
        ("batched", {"errors": {"verdict": 0.5}}),
        ("batched", {"detectable_epsilon": "inf", "verdict": "consistent"}),
        ("Gaussian, by bets", {"epsilon": 1e6}),
        ("bets", {"epsilon_lower": "inf"}),
        ("laws", {"verdict": "violation"}),
        ("supremum", {"verdict": "violation"}),
        ("sample complexity", {"verdict": "undecided"}),
        ("sensitivity", {"distance": 2.0}),
        ("sensitivity", {"verdict": "violation"}),
        ("sensitivity", {"infinite": "NaN"}),
        ("sensitivity", {"moved": 0}),
        ("too sensitive", {"distance": 1.0}),
        ("recorded noise", {"wrong_epsilon": True}),
        ("laws", {"claimed_epsilon": 0.1, "verdict": "consistent"}),
        ("one run", {"reversed": True}),
        ("one run", {"confidence": 0.5}),
    ],
)
def test_numbers_that_nothing_can_follow_from_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        checked(stored(name) | changes)


def test_one_training_with_delta_is_derived_by_arithmetic_of_its_own() -> None:
    """p-value and bound of schedules, at claims below and above what the guesses show, on either side of the coins."""
    for seed, (canaries, shift, epsilon, delta, ranking) in enumerate(
        [(6, 3, 1.0, 0.0, "in"), (100, 1, 0.0, 1e-4, "two-sided"), (100, -3, 1.0, 1e-4, "in"),
         (1000, 3, 1.0, 1e-4, "two-sided"), (1000, 0, 1.0, 0.0, "two-sided"), (4000, 1, 0.5, 1e-5, "in")]
    ):  # fmt: skip
        coins = dpaudit.flip_coins(canaries, seed=seed)
        scores = shift * coins.included + np.random.default_rng(seed).normal(size=canaries)
        finding = dpaudit.audit_scores(scores, coins, epsilon=epsilon, delta=delta, ranking=ranking, confidence=0.95)
        document = json.loads(json.dumps(finding.to_dict()))
        assert checked(document) == [POWER, ASSUMED]
        with pytest.raises(ValueError, match="epsilon_lower"):
            checked(document | {"epsilon_lower": 1.1 * finding.epsilon_lower + 0.02})
