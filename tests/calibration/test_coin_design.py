"""False accusations of the fixed design, whose fresh runs have a fair coin each for the side that they are made on.

Mechanisms here are private with equality in every state in which earlier runs leave them, and some use their state as
well as they can to look guilty. An audit accuses where its bound exceeds the claim, whatever its verdict. All seeds are
fixed; for others a correct audit would fail one of these tests with probability `ALARM` at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from auditor_trials import skip_power
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

import dpaudit
from dpaudit.audit import candidate
from dpaudit.audit.finding import CoinCount
from dpaudit.audit.power import Power
from dpaudit.bounds.coin import epsilon_lower

ALARM, GAMMA, EPSILON, AUDITS = 1e-6, 0.05, 0.5, 60
TRUE = float(expit(EPSILON))
"""The probability that a response is true where epsilon-privacy holds with equality."""
MOST = int(binom.isf(ALARM, AUDITS, GAMMA))
"""Of so many audits this many may accuse: an audit with an error of 0.4 instead would be seen with probability 0.99."""


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Leave out what no bound depends on, in this module only."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("of_test", "of_bets"):
            patch.setattr(Power, name, getattr(Power, name))
        skip_power()
        yield


Mechanism = Callable[..., Any]


def accusations(make: Callable[[], Mechanism], pair: tuple[Any, Any] = (0, 1), **options: Any) -> int:
    """Return how many audits of a mechanism, made again for each, have a bound above the claim."""
    options = {"epsilon": EPSILON, "trials": 300, "confidence": 1 - GAMMA} | options
    findings = [dpaudit.audit_privacy(make(), [pair], seed=seed, **options) for seed in range(AUDITS)]
    assert all(finding.bound == "coin" for finding in findings)
    return sum(finding.epsilon_lower > finding.epsilon for finding in findings)


# --- without a state: at the boundary, without a signal, with the wrong sign ------------------------------------------


def response(bit: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    return np.where(rng.random(size) < TRUE, bit, 1 - bit)


def rare(bit: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Answer in 5 % of the runs."""
    return np.where(rng.random(size) < 0.05, response(bit, rng, size), 2)


def geometric(bit: int, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    p = 1 - np.exp(-EPSILON)
    return bit + rng.geometric(p, size) - rng.geometric(p, size)


def laplace(bit: int, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    return bit + rng.laplace(scale=1 / EPSILON, size=size)


@pytest.mark.parametrize("mechanism", [response, rare, geometric, laplace])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0)], ids=["one way", "the other"])
def test_claims_that_hold_with_equality_are_refuted_at_the_level(mechanism: Mechanism, pair: tuple[int, int]) -> None:
    assert accusations(lambda: mechanism, pair, batched=True) <= MOST


@pytest.mark.parametrize("mechanism", [response, laplace])
def test_without_a_signal_no_privacy_at_all_is_refuted_at_the_level(mechanism: Mechanism) -> None:
    assert accusations(lambda: mechanism, (1, 1), batched=True, epsilon=0.0) <= MOST


def test_guesses_with_the_wrong_sign_give_nothing() -> None:
    wrong = np.random.default_rng(0).random(400) < 1 - TRUE
    for number in (None, 300, 400, 500):
        count = CoinCount.of(wrong, number, np.random.default_rng(1))
        assert float(epsilon_lower(count.right, count.guesses, GAMMA)) == 0


# --- run by run, with a state -----------------------------------------------------------------------------------------


def drifting() -> Mechanism:
    """Return a response that is given ever more seldom, and at times replaced by a constant."""
    calls = [0]

    def once(bit: int, rng: np.random.Generator) -> int:
        calls[0] += 1
        if rng.random() < calls[0] / 1_000 or calls[0] % 100 < 30:
            return 1
        return int(response(bit, rng, 1)[0])

    return once


def remembering() -> Mechanism:
    """Return a response that is flipped where the last input was a 1."""
    last = [0]

    def once(bit: int, rng: np.random.Generator) -> int:
        flip, last[0] = last[0], bit
        return int(response(bit, rng, 1)[0]) ^ flip

    return once


def doubling() -> Mechanism:
    """Return a response that is given as long as the last one was a lie, and else in one run of four."""
    lied = [True]

    def once(bit: int, rng: np.random.Generator) -> int:
        if not lied[0] and rng.random() > 0.25:
            return 2
        found = int(response(bit, rng, 1)[0])
        lied[0] = found != bit
        return found

    return once


@pytest.mark.parametrize("make", [drifting, remembering, doubling])
def test_what_is_private_in_every_state_is_accused_at_the_level(make: Callable[[], Mechanism]) -> None:
    assert accusations(make) <= MOST


# --- a private mechanism that stops answering once it is ahead --------------------------------------------------------


def enough(runs: int, gamma: float) -> NDArray[np.int64]:
    """Return for each number of guesses the least right ones that refute the claim at level gamma."""
    return np.append(1, binom.isf(gamma, np.arange(1, runs + 1), TRUE) + 1).astype(np.int64)


def test_the_first_hits_accuse_nobody_who_stops_ahead_as_all_hits_would() -> None:
    """Of 1,000 private mechanisms that answer in half of 8,000 runs until they look guilty."""
    runs, streams, rng = 8_000, 1_000, np.random.default_rng(3)
    least = enough(runs, GAMMA)
    accused = {"all hits": 0, "the first": 0}
    for _ in range(streams):
        right = rng.random(int(rng.binomial(runs, 0.5))) < TRUE
        ahead = np.flatnonzero(np.cumsum(right) >= least[1 : len(right) + 1])
        right = right[: ahead[0] + 1] if len(ahead) else right
        for name, number in (("all hits", None), ("the first", 3_900)):
            count = CoinCount.of(right, number, rng)
            accused[name] += float(epsilon_lower(count.right, count.guesses, GAMMA)) > EPSILON
    assert accused["the first"] <= binom.isf(ALARM, streams, GAMMA)
    assert accused["all hits"] > 0.35 * streams


def stopping(start: int, least: NDArray[np.int64]) -> Callable[[], Mechanism]:
    """Return a maker of responses in half of the runs that, after `start` calls, end once they look guilty."""

    def make() -> Mechanism:
        calls, right, answers = [0], [0], [0]

        def once(bit: int, rng: np.random.Generator) -> int:
            calls[0] += 1
            confirms = calls[0] > start
            if rng.random() < 0.5 or (confirms and right[0] >= least[answers[0]]):
                return 2
            truth = rng.random() < TRUE
            answers[0] += confirms
            right[0] += confirms and truth
            return bit if truth else 1 - bit

        return once

    return make


def test_an_audit_does_not_accuse_who_stops_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    # One guess has all of the error, which is the easiest to aim at.
    monkeypatch.setattr(candidate, "MOST", 1)
    options, calls = {"trials": 600, "confidence": 1 - 2 * GAMMA}, []

    def counted(bit: int, rng: np.random.Generator) -> int:
        calls.append(bit)
        return int(rng.integers(3))

    runs = 2 * dpaudit.audit_privacy(counted, [(0, 1)], epsilon=EPSILON, **options).confirmation_trials
    make = stopping(len(calls) - runs, enough(runs, 2 * GAMMA))
    most, first = int(binom.isf(ALARM, AUDITS, 2 * GAMMA)), CoinCount.of
    assert accusations(make, **options) <= most
    # Counting all hits would accuse them.
    monkeypatch.setattr(CoinCount, "of", lambda right, number, fair: first(right, None, fair))
    n = accusations(make, **options)
    print(n, most)
    assert n > most
