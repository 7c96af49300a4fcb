"""Run times as a part of the output: what they reveal counts if asked for, and if equal inputs take equal times.

The clock is a fake, so that every finding is a function of its seed. A true claim is refuted with probability 0.001.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fake_clock import FakeClock
from msgspec import UNSET
from toy_learners import ToyCoin

import dpaudit
from dpaudit import certificates
from dpaudit.audit import run_time
from dpaudit.audit.clock import Clock, Stopped
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.errors import InputError
from dpaudit.report.words.finding import brief_lines
from dpaudit.running import adapters
from dpaudit.running.adapters import as_mechanism, timed
from dpaudit.running.isolated import Timeout
from tests.support.grouped import grouped


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    return FakeClock(monkeypatch)


def audit(mechanism: Any, pairs: Any = ((0, 1),), **options: Any) -> PrivacyFinding:
    return dpaudit.audit_privacy(
        mechanism, list(pairs), **grouped(**{"epsilon": 1.5, "trials": 2_000, "time": True} | options)
    )


@pytest.fixture(scope="module")
def found_slow() -> PrivacyFinding:
    """Return what is found of a mechanism that takes longer on 1."""
    with pytest.MonkeyPatch.context() as patch:
        return audit(slow_on_one(FakeClock(patch)))


def words(finding: PrivacyFinding) -> str:
    return dict(brief_lines(finding))["run time"]


def constant(clock: FakeClock) -> Callable[..., float]:
    """Return a mechanism whose time is noise alone."""

    def run(data: int, rng: np.random.Generator) -> float:
        clock.pass_(1_000 + rng.exponential(50))
        return data + rng.laplace()

    return run


def slow_on_one(clock: FakeClock) -> Callable[..., float]:
    """Return a mechanism that takes longer on 1."""

    def run(data: int, rng: np.random.Generator) -> float:
        clock.pass_(1_000 + 100 * data + rng.exponential(50))
        return data + rng.laplace()

    return run


def slow_noise(clock: FakeClock, released: bool = True) -> Callable[..., float]:
    """Return a mechanism that takes longer the larger its noise is, on any data; it may keep the sum to itself."""

    def run(data: int, rng: np.random.Generator) -> float:
        noise = rng.geometric(0.6) - rng.geometric(0.6)
        clock.pass_(1_000 + 100 * abs(noise) + rng.exponential(20))
        return float(data + noise) if released else 0.0

    return run


def test_by_default_no_clock_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> int:
        raise AssertionError("the clock was read")

    monkeypatch.setattr(adapters, "perf_counter_ns", read)
    finding = audit(lambda data, rng: data + rng.laplace(), time=False)
    assert finding.run_time is UNSET
    assert not finding.rests_on_time
    assert "run time" not in dict(brief_lines(finding))


@pytest.mark.parametrize(
    ("mechanism", "sequential"),
    [
        (slow_on_one, False),
        (slow_noise, True),
        pytest.param(slow_on_one, True, marks=pytest.mark.full),
        pytest.param(slow_noise, False, marks=pytest.mark.full),
    ],
)
def test_what_times_reveal_is_a_violation_if_asked_for(
    clock: FakeClock, mechanism: Callable[[FakeClock], Any], sequential: bool
) -> None:
    finding = audit(mechanism(clock), sequential=sequential)
    assert (finding.verdict, finding.rests_on_time) == ("violation", True)
    assert finding.run_time is not UNSET
    assert finding.epsilon_lower == finding.run_time.epsilon_lower > 1.5
    assert finding.run_time.control == 0
    assert "which counts" in words(finding)
    assert audit(mechanism(clock), sequential=sequential, time=False, trials=1_000).verdict == "consistent"


def test_noise_that_takes_its_time_is_seen_with_the_output_only(clock: FakeClock) -> None:
    finding = audit(slow_noise(clock, released=False))
    assert finding.verdict != "violation"
    assert finding.run_time.epsilon_lower == 0


def test_times_that_do_not_depend_on_the_data_are_consistent(clock: FakeClock) -> None:
    finding = audit(constant(clock))
    assert (finding.verdict, finding.run_time.control) == ("consistent", UNSET)
    assert 0.5 < finding.run_time.epsilon_lower <= 1.0 < finding.run_time.detectable_epsilon
    assert "would be detected" in words(finding)


def test_the_finding_of_outputs_is_the_one_without_times_at_half_of_the_error(
    clock: FakeClock, found_slow: PrivacyFinding
) -> None:
    finding = audit(constant(clock), confidence=0.99)
    alone = audit(constant(clock), confidence=0.995, time=False)
    assert (finding.witness, finding.tests, finding.epsilon_lower) == (alone.witness, alone.tests, alone.epsilon_lower)
    assert finding.confidence == 0.99
    assert finding.errors == pytest.approx({"verdict": 0.005, "run time": 0.005})
    assert found_slow.errors == pytest.approx({"verdict": 0.0005, "outputs alone": 0.0005})


def test_times_that_distinguish_equal_inputs_are_not_counted(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Placed(list[int]):
        slow = False

    def copied(data: list[int]) -> Placed:
        copy = Placed(data)
        copy.slow = next(places) % 2 == 0  # data are copied before their neighbour
        return copy

    def run(data: Placed, rng: np.random.Generator) -> float:
        clock.pass_(1_500 if data.slow else 1_000)
        return rng.laplace()

    places = itertools.count()
    monkeypatch.setattr(run_time, "deepcopy", copied)
    finding = audit(run, [(Placed([1, 2]), Placed([1, 2, 3]))])
    assert (finding.verdict, finding.rests_on_time) == ("consistent", False)
    assert finding.run_time.epsilon_lower > 1.5
    assert finding.run_time.control > 1.5
    assert "no evidence here" in words(finding)


def test_where_outputs_refute_the_claim_times_are_not_needed(clock: FakeClock) -> None:
    def open_book(data: int, rng: np.random.Generator) -> int:
        clock.pass_(1_000 + data)
        return data

    finding = audit(open_book)
    assert (finding.verdict, finding.rests_on_time, finding.run_time.control) == ("violation", False, UNSET)
    assert finding.errors.keys() == {"verdict", "run time"}


def test_the_checks_are_those_of_the_outputs(clock: FakeClock, found_slow: PrivacyFinding) -> None:
    assert found_slow.rests_on_time
    assert found_slow.checks == audit(slow_on_one(clock), time=False).checks


def test_the_time_until_an_exception_counts(clock: FakeClock) -> None:
    def fails(data: int, rng: np.random.Generator) -> int:
        clock.pass_(1_000 + 100 * data)
        if rng.random() < 0.5:
            raise ValueError("no")
        return 0

    assert audit(fails).rests_on_time
    run = timed(as_mechanism(fails)).function
    kinds = {type(one["output"]).__name__: one["nanoseconds"] for one in run(1, np.random.default_rng(0), 20)}
    assert kinds == {"int": 1_100, "Raised": 1_100}


def test_runs_with_a_timeout_are_timed_in_their_own_process(clock: FakeClock) -> None:
    finding = audit(slow_on_one(clock), timeout=60)
    assert finding.rests_on_time
    assert clock.now == 0
    mechanism = timed(as_mechanism(slow_on_one(clock), probe=[1.0], timeout=Timeout(60)))
    assert {type(one["nanoseconds"]) for one in mechanism(0, np.random.default_rng(0), 3)} == {int}
    mechanism.function._child().close()


def test_predictions_are_made_after_the_clock_is_read(clock: FakeClock) -> None:
    class Model:
        def predict(self, points: Any) -> Any:
            clock.pass_(5_000)
            return points

    def fit(data: int, rng: np.random.Generator) -> Model:
        clock.pass_(7)
        return Model()

    (made,) = timed(as_mechanism(fit, probe=[1.0, 2.0]))(0, np.random.default_rng(0), 1)
    assert (made["output"].tolist(), made["nanoseconds"]) == ([1.0, 2.0], 7)


def test_each_chunk_of_runs_has_copies_of_its_inputs_where_there_are_any() -> None:
    pair = run_time._copied(dpaudit.Pair([1, 2], [1], "a note"))
    assert (pair.data, pair.neighbour, pair.origin.text) == ([1, 2], [1], "a note")
    assert pair.data is not pair.data
    assert pair.in_words() == dpaudit.Pair([1, 2], [1]).in_words()
    assert run_time._copied(pair, 0, 0).sides == (pair.sides[0], pair.sides[0])
    generator = (one for one in ())
    assert run_time._copied(dpaudit.Pair(generator, [1])).data is generator


def test_the_control_is_made_of_the_pair_that_leaks(clock: FakeClock) -> None:
    finding = audit(slow_on_one(clock), [(0, 0.0), (0, 1)], trials=4_000)
    assert (finding.witness.pair, finding.rests_on_time) == (1, True)


@pytest.mark.parametrize(
    ("mechanism", "options", "message"),
    [
        (ToyCoin(1.0), {"pairs": None}, "time=True needs a function that makes one run in a call"),
        (lambda data, rng, size: rng.laplace(size=size), {"batched": True}, "leave it out for learners, and where"),
        (lambda data, rng: 0, {"continued": "runs.jsonl"}, "continued keeps outputs alone: leave out time"),
    ],
)
def test_what_cannot_be_timed_is_refused(mechanism: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dpaudit.audit_privacy(mechanism, **grouped(**{"pairs": [(0, 1)], "epsilon": 1.0, "time": True} | options))


def test_a_time_limit_is_shared_and_a_stop_is_repeated() -> None:
    passed = [5.0]
    whole = Clock(9.0, lambda: passed[0])
    passed[0] = 12.0
    assert whole.part(3).left == pytest.approx(2 / 3)  # of the two seconds that are left
    assert not Clock(None).part(3).limited
    stopped = Stopped(100, 2)
    again = Clock(stopped).part(3)
    assert (again.trials(400, 2, lambda runs: None, 10), again.over(1), again.over(2)) == (100, False, True)


def test_there_is_no_certificate_of_times(found_slow: PrivacyFinding) -> None:
    with pytest.raises(InputError, match="rests on run times"):
        certificates.make(found_slow, [(0, 1)])
