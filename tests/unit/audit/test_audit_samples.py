"""Outputs recorded elsewhere: verdicts, calibration, types, how many are used, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from scipy.stats import binom
from two_stages import TwoStages

import dpaudit
from dpaudit import InputError, PrivacyClaim
from dpaudit.audit.samples import UNLUCKY, _Recording, _Side, _sides, usable
from dpaudit.report import schema

N = 2_000


def laplace(scale: float, seed: int, shift: float = 1.0, size: int = N) -> tuple[Any, Any]:
    rng = np.random.default_rng([seed, size])
    return rng.laplace(scale=scale, size=size), shift + rng.laplace(scale=scale, size=size)


def responses(epsilon: float, seed: int, size: int = N) -> tuple[list[int], list[int]]:
    rng, p = np.random.default_rng([seed, size]), math.exp(epsilon) / (1 + math.exp(epsilon))
    return (rng.random(size) < 1 - p).astype(int).tolist(), (rng.random(size) < p).astype(int).tolist()


def test_a_leak_is_a_violation_between_the_claim_and_the_truth() -> None:
    found = dpaudit.audit_samples(*laplace(0.5, 0), epsilon=1.0)
    assert found.verdict == "violation"
    assert 1.5 < found.epsilon_lower < 2
    assert found.relation is None
    assert (found.witness.data, found.witness.neighbour) == ("outputs", "neighbour_outputs")
    assert found.checks == ()
    assert not found.in_any_state
    assert found.recorded
    with pytest.raises(InputError, match="nothing is known of the inputs"):
        found.witness.build()


def test_the_finding_says_what_it_assumes_and_repeats_itself() -> None:
    outputs, neighbour_outputs = laplace(0.5, 0)
    found = dpaudit.audit_samples(outputs, neighbour_outputs[:1_500], epsilon=1.0, seed=3)
    used = "outputs recorded elsewhere, which the finding assumes to be independent: "
    assert found.warnings[0].startswith(used)
    assert found.warnings[0].endswith("of 1,500 neighbour_outputs were used")
    assert found.warnings[0] in found.summary()
    assert used in " ".join(str(found).split())
    assert "(99.9 % sure, assuming independent outputs)" in " ".join(str(found).split())
    assert "holds           for independent runs" in found.summary()
    names = {"dpaudit": dpaudit, "outputs": outputs, "neighbour_outputs": neighbour_outputs[:1_500]}
    assert eval(found.call, names) == found
    assert Draft202012Validator(schema.load("finding")).is_valid(found.to_dict())
    assert dpaudit.PrivacyFinding.from_dict(found.to_dict()) == found
    assert found.plot().axes


@pytest.mark.parametrize(
    "stages", [pytest.param(TwoStages(100, 21, first=40, few=8), marks=pytest.mark.full), TwoStages(60, 15, 24, 4)]
)
def test_mechanisms_at_their_claim_are_hardly_ever_accused(stages: TwoStages) -> None:
    """Claims are tight, so each audit errs with probability 0.1 at most: more come about by chance in 0.0003.

    At a probability of 0.3 more are accused with a probability of 0.71, of 100 audits with 0.95.
    """
    assert stages.failing(0.1) < 0.0003
    assert stages.failing(0.3) > (0.95 if stages.number == 100 else 0.71)
    bounds = []

    def accused(seed: int) -> bool:
        coins = seed % 2
        sides = responses(1.0, seed // 2, 600) if coins else laplace(1.0, seed // 2, size=600)
        found = dpaudit.audit_samples(*sides, epsilon=1.0, confidence=0.9)
        if coins:
            bounds.append(found.epsilon_lower)
        return found.verdict == "violation"

    stages.hold(lambda seeds: list(map(accused, seeds)), range(stages.number))
    assert np.mean(bounds) > 0.4  # not by being idle


@pytest.mark.parametrize("order", ["as made", "sorted"])
def test_no_signal_shows_nothing_in_whatever_order_it_is_recorded(order: str) -> None:
    sides = laplace(1.0, 4, shift=0.0)
    found = dpaudit.audit_samples(*(sides if order == "as made" else map(np.sort, sides)), epsilon=0.5)
    assert found.verdict == "consistent"
    assert found.epsilon_lower < 0.3
    assert 0.5 < found.detectable_epsilon < 1.2


def test_sides_that_are_swapped_swap_the_direction() -> None:
    outputs = [1] * 800 + [0] * 200, [1] * 80 + [0] * 920
    found, swapped = (dpaudit.audit_samples(*one, epsilon=1.0) for one in (outputs, outputs[::-1]))
    assert found.verdict == swapped.verdict == "violation"
    assert found.witness.direction != swapped.witness.direction


NAN = [math.nan] * 200
OTHERS = np.random.default_rng(5).normal(size=(3, N))


@pytest.mark.parametrize(
    ("outputs", "neighbour_outputs"),
    [
        ([*OTHERS[0, 200:], *NAN], OTHERS[1]),
        (np.stack([OTHERS[0], OTHERS[1]], axis=1), np.stack([OTHERS[0], OTHERS[2] + 2], axis=1)[::-1]),
        (["yes"] * 900 + ["no"] * 100, ["yes"] * 100 + ["no"] * 900),
        ([{"a": 1}] * 900 + [{"a": 2, "b": 0}] * 100, [{"a": 1}] * 1_000),
        ([b"\0"] * 900 + [None] * 100, [b"\0"] * 1_000),
        (pd.Series(["x"] * 500 + ["y"] * 500), pd.Series(["x"] * 990 + ["y"] * 10)),
        (pd.DataFrame({"n": [1] * 1_000}), pd.DataFrame({"n": [1] * 500 + [2] * 500})),
        (
            pd.DataFrame({"n": [1] * 1_000, "s": ["u"] * 1_000}),
            pd.DataFrame({"n": [1] * 1_000, "s": ["u"] * 500 + ["v"] * 500}),
        ),
        (np.array(["x"] * 1_000, dtype=object), ["x"] * 500 + ["y"] * 500),
        (np.arange(1_000) % 2, np.zeros(1_000)),
        (pd.DataFrame({"n": np.arange(1_000) % 2}), np.zeros(1_000)),
    ],
)
def test_outputs_of_any_type_are_looked_at(outputs: Any, neighbour_outputs: Any) -> None:
    found = dpaudit.audit_samples(outputs, neighbour_outputs, epsilon=0.5, delta=0.01)
    assert found.verdict == "violation", found.summary()


def test_whole_numbers_and_floats_of_equal_values_are_equal() -> None:
    found = dpaudit.audit_samples(np.arange(1_000) % 2, 1.0 * (np.arange(1_000) % 2), epsilon=0.5, float_bits=True)
    assert found.epsilon_lower < 0.2


@pytest.mark.parametrize("size", [25, 26, 31, 60, 333, 2_000])
def test_each_output_is_used_once_and_coins_seldom_ask_for_more(size: int) -> None:
    trials = usable(size)
    assert 10 <= trials < size
    assert usable(size + 1) in (trials, trials + 1)
    # The probability that the side of a coin has too few, however few runs choose the event.
    for confirming in range(1, trials + 1):
        assert 2 * binom.sf(size - trials + confirming, 2 * confirming, 0.5) <= UNLUCKY
    for seed in range(2):
        for sides in (laplace(1.0, seed, size=size), responses(1.0, seed, size)):
            found = dpaudit.audit_samples(*sides, epsilon=1.0, seed=seed)
            assert found.trials == trials
            assert found.witness.trials + found.witness.neighbour_trials <= 2 * found.confirmation_trials


def test_a_recording_gives_each_output_once() -> None:
    recording, rng = _Recording(([1, 2, 3, 4, 5], np.arange(7)), 0), np.random.default_rng(0)
    taken = [*recording(_Side(0), rng, 2), *recording(_Side(0), rng, 3)]
    assert sorted(taken) == [1, 2, 3, 4, 5]
    assert sorted(recording(_Side(1), rng, 7).tolist()) == list(range(7))
    with pytest.raises(dpaudit.ToolFault, match="the coins ask for more outputs than there are: take another seed"):
        recording(_Side(0), rng, 1)


def test_the_seed_decides_the_order_and_the_coins() -> None:
    sides = laplace(0.5, 0, size=500)
    one, again, other = (dpaudit.audit_samples(*sides, epsilon=1.0, seed=seed) for seed in (0, 0, 1))
    assert one == again
    assert one.witness != other.witness


def test_curves_and_claims_that_are_curves() -> None:
    sides = laplace(0.3, 0)
    found = dpaudit.audit_samples(*sides, PrivacyClaim(1.0, 1e-6), curve=True)
    assert (found.epsilon, found.delta, found.verdict) == (1.0, 1e-6, "violation")
    assert found.curve is not None
    gaussian = dpaudit.audit_samples(*sides, PrivacyClaim.gaussian(0.5))
    assert gaussian.verdict == "violation"
    assert gaussian.curve_test is not None


@pytest.mark.parametrize(
    ("sides", "claim", "message"),
    [
        (([], [1] * 100), {}, "outputs must be a list of at least 25 outputs, got 0"),
        (([1] * 100, [1] * 24), {}, "neighbour_outputs must be a list of at least 25 outputs, got 24"),
        (([1] * 100, ["a"] * 100), {}, "outputs are numbers, and neighbour_outputs are texts"),
        (([b"a"] * 100, [(1,)] * 100), {}, "outputs are bytes, and neighbour_outputs are tuple"),
        ((np.zeros((50, 2)), np.zeros((50, 3))), {}, r"outputs are arrays of shape \(2,\)"),
        ((np.zeros(50), np.zeros(50, dtype="M8[s]")), {}, "neighbour_outputs are datetime64"),
        (
            (pd.DataFrame({"a": [1] * 50}), pd.DataFrame({"b": [1] * 50})),
            {},
            "outputs are tables of the columns a, and",
        ),
        (("text", [1] * 50), {}, "outputs must be a list, an array or a table"),
        (({"a": 1}, [1] * 50), {}, "outputs must be a list, an array or a table"),
        (([1] * 50, iter([1])), {}, "neighbour_outputs must be a list, an array or a table"),
        (([1] * 50, 3), {}, "neighbour_outputs must be a list, an array or a table"),
        ((np.array(1.0), [1] * 50), {}, "outputs must be a list, an array or a table"),
        (([1] * 50, [1] * 50), {"epsilon": None}, "epsilon must be given"),
        (([1] * 50, [1] * 50), {"epsilon": -1.0}, "epsilon must be"),
        (([1] * 50, [1] * 50), {"confidence": 0.1}, "confidence must be"),
        (([1] * 50, [1] * 50), {"seed": -1}, "seed must be a non-negative integer"),
        (([1] * 50, [1] * 50), {"claim": PrivacyClaim(1.0)}, "claim"),
    ],
)
def test_bad_input(sides: tuple[Any, Any], claim: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dpaudit.audit_samples(*sides, **{"epsilon": 1.0} | claim)


def test_the_same_outputs_for_both_sides_are_refused() -> None:
    outputs = [1] * 100
    with pytest.raises(InputError, match="neighbour_outputs must be other outputs than outputs"):
        dpaudit.audit_samples(outputs, outputs, epsilon=1.0)


def test_what_cannot_be_seen_is_no_evidence_and_the_remedy_is_to_record_more() -> None:
    few = dpaudit.audit_samples(*laplace(1.0, 0, size=100), epsilon=8.0)
    assert few.verdict == "no evidence"
    assert "outputs on each side" in str(few)
    constant = dpaudit.audit_samples([0] * 1_000, [0] * 999, epsilon=1.0)
    assert constant.verdict == "no evidence"
    assert "record outputs on inputs on which they vary" in " ".join(str(constant).split())
    assert "trials=" not in str(few) + str(constant)


def test_arrays_of_both_sides_have_one_type() -> None:
    data, neighbour = _sides(np.arange(50), np.linspace(0, 1, 60))
    assert data.dtype == neighbour.dtype == np.float64
