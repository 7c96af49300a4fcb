"""Findings of real audits come back from their JSON; one whose numbers do not follow from its counts does not."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from operator import getitem
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.errors import DpauditError, ToolFault
from dpaudit.evidence.recomputed import recomputed
from dpaudit.results import AuditFinding
from tests.support.grouped import grouped

GAUSS = dpaudit.PrivacyClaim.gaussian(1.0)
RENYI = dpaudit.PrivacyClaim.renyi([(2.0, 0.2)])
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
    "sensitivity": partial(dpaudit.audit_sensitivity, sum, [([0.0, 1.0], [0.0, 0.0])], claim=1.5),
    "too sensitive": partial(dpaudit.audit_sensitivity, sum, [([0.0, 2.0], [0.0, 0.0])], claim=1.5),
    "recorded noise": partial(dpaudit.audit_sensitivity, lambda rows, rng: sum(rows) + rng.laplace(),
                              [([0.0, 1.0], [0.0, 0.0])], epsilon=2.0, claim=1.5),
    "utility": partial(dpaudit.pac.audit_utility, PURE, 1, "uniform", alpha=0.2, beta=0.4, n=20, trials=50, most=800),
}  # fmt: skip


@cache
def made(name: str) -> AuditFinding:
    return MADE[name]()


@pytest.mark.parametrize("name", MADE)
def test_what_an_audit_found_follows_from_what_it_stores(name: str) -> None:
    finding = made(name)
    back = type(finding).from_dict(finding.to_dict())
    assert back == finding
    assert back.not_recomputed == recomputed(finding)
    assert ("not recomputed" in back.summary()) == bool(back.not_recomputed)


def test_what_cannot_be_recomputed_is_named() -> None:
    assert recomputed(made("batched")) == ("the power stated",)
    assert recomputed(made("bets")) == ("the power stated", "bets")
    assert recomputed(made("Renyi")) == ("the power stated", "the evidence by Holder's inequality")
    assert recomputed(made("run times")) == ("the power stated", "bounds of run times")
    assert recomputed(made("one run")) == recomputed(made("utility")) == ()
    assert recomputed(made("laws")) == ("exact laws",)
    assert recomputed(made("sensitivity")) == recomputed(made("recorded noise")) == ("distances",)


DERIVED = ("epsilon_lower", "verdict", "delta_lower", "mu_lower", "false_positive_upper", "failure_lower",
           "failure_rate", "p_value", "critical", "hits", "neighbour_hits", "right", "guesses", "failures")  # fmt: skip


def altered(document: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the document with each number and verdict that follows from others, or that others follow from, changed.

    What is not recomputed is left out: the event in plain words, and what is named so.
    """
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        here = f"{place}.{key}"
        if isinstance(value, dict | list) and key not in ("plain", "run_time", "gaps", "holder"):
            for where, changed in altered(value, here):
                again = copy.copy(document)
                again[key] = changed
                yield where, again
        elif key in DERIVED or (isinstance(key, int) and place.endswith(DERIVED)):
            others = [word for word in ("violation", "consistent", "holds", "not refuted") if word != value]
            numbers = [] if isinstance(value, str | None) else [value * 2 + 1, value * 0.5 if value % 1 else value // 2]
            for other in others if key == "verdict" else numbers:
                if other != value:
                    again = copy.copy(document)
                    again[key] = other
                    yield f"{here} = {other}", again


@pytest.mark.parametrize("name", [name for name in MADE if name not in ("supremum", "laws")])
def test_what_does_not_follow_is_refused(name: str) -> None:
    finding, tried = made(name), 0
    for where, document in altered(finding.to_dict()):
        if "bets" in name and "verdict" not in where and "mu_lower" not in where:
            continue
        tried += 1
        try:
            back = type(finding).from_dict(document)
        except DpauditError:
            continue
        # The same bound and verdict may follow from other counts: those of a test that decided nothing.
        kept = {key: getattr(back, key, None) for key in ("verdict", "epsilon_lower", "p_value")}
        assert kept == {key: getattr(finding, key, None) for key in kept}, where
        assert ".tests." in where or ".schedule." in where or ".representation" in where, where
    assert tried > 1


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("batched", "epsilon", 1e308),
        ("Gaussian, by bets", "epsilon", 1e6),
        ("Gaussian, by bets", "epsilon_lower", 1e308),
        ("scaling", "points.0.x", 0.0),
        ("scaling", "points.1.x", 1.0),
        ("scaling", "points.5.theorem", 0.0),
        ("sensitivity", "distance", 2.0),
        ("sensitivity", "moved", 0),
        ("sensitivity", "infinite", "NaN"),
        ("too sensitive", "distance", 1.0),
    ],
)
def test_numbers_that_nothing_can_follow_from_are_refused(name: str, place: str, value: Any) -> None:
    document = json.loads(json.dumps(made(name).to_dict()))
    *path, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    reduce(getitem, path, document)[last] = value
    with pytest.raises(ToolFault):
        type(made(name)).from_dict(document)
