"""False accusations of the fixed design, whose fresh runs have a fair coin each for the side that they are made on.

Mechanisms here are private with equality in every state in which earlier runs leave them, and some use their state as
well as they can to look guilty. An audit accuses where its bound exceeds the claim, whatever its verdict. All seeds are
fixed; for others a correct audit would fail one of these tests with probability `ALARM` at most. Of `AUDITS` audits
most are made only where the first ones leave a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from auditor_trials import skip_power
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom
from two_stages import TwoStages

import dpaudit
from dpaudit.audit.confirmation import Hits
from dpaudit.audit.finding import CoinCount
from dpaudit.audit.power import Power
from dpaudit.audit.trained_pair import TrainedPair
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.events.selected import OrderedCells
from dpaudit.running.sampling import Sampler

ALARM, GAMMA, EPSILON, AUDITS = 1e-6, 0.05, 0.5, 60
TRUE = float(expit(EPSILON))
"""The probability that a response is true where epsilon-privacy holds with equality."""
AT_THE_LEVEL = TwoStages(AUDITS, int(binom.isf(ALARM, AUDITS, GAMMA)), first=15, few=1)
"""The greatest number of `AUDITS` audits that may accuse; an error of 0.4 would be seen with probability 0.99."""


@pytest.fixture(autouse=True, scope="module")
def quick() -> Iterator[None]:
    """Leave out what no bound depends on, in this module only."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("of_test", "of_bets"):
            patch.setattr(Power, name, getattr(Power, name))
        skip_power()
        yield


Mechanism = Callable[..., Any]


def accused(
    make: Callable[[], Mechanism], seeds: Iterable[int], pair: tuple[Any, Any] = (0, 1), **options: Any
) -> Iterator[bool]:
    """Yield for audits of a mechanism, made again for each, whether the bound is above the claim."""
    options = {"epsilon": EPSILON, "trials": 300, "confidence": 1 - GAMMA} | options
    for seed in seeds:
        finding = dpaudit.audit_privacy(make(), [pair], seed=seed, **options)
        assert finding.bound == "coin"
        yield finding.epsilon_lower > finding.epsilon


def rarely_accused(make: Callable[[], Mechanism], stages: TwoStages = AT_THE_LEVEL, **options: Any) -> None:
    stages.hold(lambda seeds: list(accused(make, seeds, **options)), range(stages.number))


def test_the_test_of_the_level_sees_what_it_is_said_to_see() -> None:
    assert AT_THE_LEVEL.failing(0.4) > 0.99
    assert AT_THE_LEVEL.failing(GAMMA) <= ALARM


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


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        pytest.param(mechanism, pair, id=f"{way}-{mechanism.__name__}", marks=[pytest.mark.full] * full)
        for way, pair in (("one way", (0, 1)), ("the other", (1, 0)))
        for mechanism in (response, rare, geometric, laplace)
        # Of doubles, whose features take longest, `test_auditor` judges the fixed design in every profile.
        for full in [mechanism is laplace]
    ],
)
def test_claims_that_hold_with_equality_are_refuted_at_the_level(mechanism: Mechanism, pair: tuple[int, int]) -> None:
    rarely_accused(lambda: mechanism, pair=pair, batched=True)


@pytest.mark.parametrize("mechanism", [response, pytest.param(laplace, marks=pytest.mark.full)])
def test_without_a_signal_no_privacy_at_all_is_refuted_at_the_level(mechanism: Mechanism) -> None:
    rarely_accused(lambda: mechanism, pair=(1, 1), batched=True, epsilon=0.0)


def test_guesses_with_the_wrong_sign_give_nothing() -> None:
    wrong = np.random.default_rng(0).random(400) < 1 - TRUE
    for number in (300, 400, 500):
        ordered = CoinCount.of_order(wrong, number, np.random.default_rng(1))
        of_sides = CoinCount.of_sides(int(wrong.sum()), int((~wrong).sum()), number, np.random.default_rng(1))
        for count in (ordered, of_sides):
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
    rarely_accused(make)


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
        for name, number in (("all hits", len(right)), ("the first", 3_900)):
            count = CoinCount.of_order(right, number, rng)
            accused[name] += float(epsilon_lower(count.right, count.guesses, GAMMA)) > EPSILON
    assert accused["the first"] <= binom.isf(ALARM, streams, GAMMA)
    assert accused["all hits"] > 0.35 * streams


def alarm(bit: int, rng: np.random.Generator) -> int:
    return int(rng.random() < 0.25 * np.exp(EPSILON * bit))


class Stopping:
    """Makes alarms until it is ahead; what it counts begins when an audit draws the coins of its fresh runs."""

    def __init__(self, runs: int, gamma: float) -> None:
        self.least = enough(runs, gamma)
        self.alarms, self.right = 0, 0

    def __call__(self, bit: int, rng: np.random.Generator) -> int:
        if self.right >= self.least[self.alarms]:
            return 0
        found = alarm(bit, rng)
        self.alarms += found
        self.right += found and bit
        return found


def every_hit(self: Hits, right: Any) -> None:
    """Count all hits in the place of the first ones."""
    self.right, self.seen = [self.right[0] + int(right.sum())], self.seen + len(right)
    self.numbers = [max(1, self.seen)]


def test_an_audit_does_not_accuse_who_stops_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    # One event has all of the error, which is the easiest to aim at.
    monkeypatch.setattr(OrderedCells, "guessed", lambda self, event, test, most: replace(event, guesses=(event.alone,)))
    monkeypatch.setattr(TrainedPair, "refuting_event", lambda self: None)
    mechanisms: list[Stopping] = []
    tossed = Sampler.tossed

    def begun(self: Sampler, *given: Any, **how: Any) -> Any:
        mechanisms[-1].alarms = mechanisms[-1].right = 0
        return tossed(self, *given, **how)

    def make() -> Stopping:
        mechanisms.append(Stopping(2_000, 2 * GAMMA))
        return mechanisms[-1]

    monkeypatch.setattr(Sampler, "tossed", begun)
    options, most = {"trials": 600, "confidence": 1 - 2 * GAMMA}, int(binom.isf(ALARM, AUDITS, 2 * GAMMA))
    # An error of 0.5 instead of 0.1 would be seen with probability 0.99.
    stages = TwoStages(AUDITS, most, first=15, few=2)
    assert stages.failing(0.5) > 0.99
    rarely_accused(make, stages, **options)
    # Counting all hits would accuse them.
    monkeypatch.setattr(Hits, "take", every_hit)
    assert sum(islice(filter(None, accused(make, range(AUDITS), **options)), most + 1)) > most
