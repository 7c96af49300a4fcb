"""An audit says when it had no evidence, and why; a violation stays one."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import dpaudit
from dpaudit.audit.checks_and_gaps import (
    AllRaised,
    Answer,
    Check,
    CheckName,
    Constant,
    FewRuns,
    Gap,
    Identical,
    Meaningless,
    NotLookedAt,
    Observations,
    Powerless,
    gaps_of,
    identical,
    verdict_of,
)
from dpaudit.audit.finding import PowerAt, PrivacyFinding
from dpaudit.contract import Pair
from dpaudit.errors import InputError
from dpaudit.record import decode, encodable
from tests.support.grouped import grouped

SEEN = Observations(2_000, 1_500, Counter())
A = ("A",)


def gaps(seen: Observations = SEEN, **changes: Any) -> tuple[Any, ...]:
    given = {"pairs": [Pair(0, 1)], "confirming": 1_000, "least": 20, "detectable": 1.1}
    return gaps_of(seen, **(given | changes))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (gaps(), ()),
        (gaps(Observations(2_000, 0, Counter())), (Constant(2_000, 2_000),)),
        (gaps(Observations(2_000, 19, Counter())), (Constant(1_981, 2_000),)),
        (gaps(Observations(2_000, 20, Counter())), ()),
        (
            gaps(Observations(2_000, 7, Counter({("A",): 1_000, ("B", "b"): 1_000}))),
            (AllRaised(2_000, 2_000, "A", "A"),),
        ),
        (gaps(Observations(2_000, 30, Counter({("A", "a: b"): 1_981}))), (AllRaised(1_981, 2_000, "A: a: b", "A"),)),
        (gaps(Observations(2_000, 30, Counter({A: 1_980}))), ()),  # twenty could have refuted the claim
        (
            gaps(Observations(20_000, 300, Counter({A: 19_801}))),
            (AllRaised(19_801, 20_000, "A", "A"),),
        ),  # one in a hundred
        (gaps(Observations(10, 2, Counter({A: 1})), confirming=5), (FewRuns(5, 20, 26),)),  # not because of the one
        (gaps(Observations(10, 2, Counter({A: 9})), confirming=5), (AllRaised(9, 10, "A", "A"), FewRuns(5, 20, 26))),
        (gaps(pairs=[Pair(1, 1), Pair([2], [2])]), (Identical(2),)),
        (gaps(pairs=[Pair(1, 1), Pair(1, 2)]), ()),
        (gaps(confirming=19, detectable=math.inf), (FewRuns(19, 20, 26),)),
        (gaps(detectable=math.inf), (Powerless(),)),
        (gaps(not_looked_at=("output[3]",)), (NotLookedAt(("output[3]",)),)),
        (gaps(checks=[Check(CheckName.SEED, Answer.DEPENDS, 8)]), (Meaningless(CheckName.SEED),)),
        (gaps(checks=[Check(CheckName.GENERATOR, Answer.OWN, 8)]), ()),
    ],
)
def test_each_gap_has_its_condition(found: Any, expected: Any) -> None:
    assert found == expected


def test_a_violation_stays_one_unless_its_runs_are_no_evidence() -> None:
    def verdicts(*gaps: Gap, run_by_run: bool = False) -> list[str]:
        return [str(verdict_of(refuted, gaps, run_by_run=run_by_run)) for refuted in (True, False)]

    assert verdicts() == ["violation", "consistent"]
    assert verdicts(Powerless()) == ["violation", "no evidence"]
    assert verdicts(Powerless(), Meaningless(CheckName.STATE)) == ["no evidence", "no evidence"]
    assert verdicts(Meaningless(CheckName.STATE), run_by_run=True) == ["violation", "no evidence"]
    assert verdicts(Meaningless(CheckName.SEED), run_by_run=True) == ["no evidence", "no evidence"]


@pytest.mark.parametrize("sequential", [False, True])
def test_mechanisms_that_show_nothing(sequential: bool) -> None:
    def audited(mechanism: Any, pair: Any = (0, 1), **options: Any) -> PrivacyFinding:
        given = {"epsilon": 1.0, "trials": 2_000, "sequential": sequential}
        return dpaudit.audit_privacy(mechanism, [pair], **grouped(**(given | options)))

    constant = audited(lambda x, rng: 7)
    assert (constant.verdict, type(constant.gaps[0])) == ("no evidence", Constant)
    same = audited(lambda x, rng: float(np.sum(x) + rng.laplace()), (np.arange(3), np.arange(3)))
    assert (same.verdict, same.gaps) == ("no evidence", (Identical(1),))
    high = audited(lambda x, rng: x + rng.laplace(), epsilon=8.0)
    assert (high.verdict, type(high.gaps[0])) == ("no evidence", FewRuns)
    assert high.epsilon_lower > 0.5  # what was found is told all the same
    # A test that asks for a least power fails, and the JSON says the same.
    assert all(math.isinf(one.detectable_epsilon) for one in (constant, same, high))
    assert PrivacyFinding.from_dict(constant.to_dict()).detectable_epsilon == math.inf
    refuted = audited(lambda x, rng: x)
    assert (refuted.verdict, refuted.gaps) == ("violation", ())


@pytest.mark.parametrize("trials", [2_000, 20_000])
@pytest.mark.parametrize("sequential", [False, True])
def test_a_coin_that_leaks_nothing_is_consistent(trials: int, sequential: bool) -> None:
    # No event of probability 1/2 can become likelier by e; but it could have become less likely, which would show.
    found = dpaudit.audit_privacy(
        lambda x, rng, size: rng.integers(2, size=size), [(0, 1)], epsilon=1.0, trials=trials, batched=True,
        execution=dpaudit.Execution(sequential=sequential),
    )  # fmt: skip
    assert (found.verdict, found.gaps) == ("consistent", ())
    assert 1 < found.detectable_epsilon < 2


def test_what_is_said_to_be_detectable_on_the_likelier_side_is_detected() -> None:
    found = dpaudit.audit_privacy(
        lambda x, rng, size: rng.random(size) < 0.6, [(0, 1)], epsilon=1.0, trials=4_000, batched=True
    )
    assert found.detectable_at == PowerAt.LIKELIER
    share = 0.6 * math.exp(-found.detectable_epsilon)

    def leaks(x: int, rng: Any, size: int) -> Any:
        return rng.random(size) < (share if x else 0.6)

    verdicts = [
        dpaudit.audit_privacy(leaks, [(0, 1)], epsilon=1.0, trials=4_000, batched=True, seed=seed).verdict
        for seed in range(20)
    ]
    # Promised with probability 0.95: fewer than 15 of 20 have probability 3e-4.
    assert verdicts.count("violation") >= 15


def test_gaps_and_checks_are_stored() -> None:
    found = dpaudit.audit_privacy(lambda x, rng: 7, [(0, 0)], epsilon=1.0, trials=100)
    assert decode(json.dumps(encodable(found)), PrivacyFinding) == found
    with pytest.raises(dpaudit.InputError, match="'no evidence' where there are gaps"):
        replace(found, gaps=())


def test_inputs_are_compared_as_far_as_they_can_be() -> None:
    one = object()
    assert identical(Pair(one, one))
    assert not identical(Pair(one, object()))
    assert identical(Pair([np.arange(2)], [np.arange(2)]))
    assert not identical(Pair([np.arange(2)], [np.arange(1, 3)]))


@pytest.mark.parametrize("trials", [50, 200])
def test_outputs_that_vary_are_not_called_constant_where_runs_are_few(trials: int) -> None:
    """The event tested may have one outcome in all of a few runs; the reason is then their number."""

    def release(data: int, rng: np.random.Generator, size: int) -> list[dict[str, float]]:
        return [{"a": a, "b": b} for a, b in rng.normal(size=(size, 2)).tolist()]

    for seed in range(6):
        found = dpaudit.audit_privacy(release, [(0, 1)], epsilon=1.0, trials=trials, batched=True, seed=seed)
        assert not any(isinstance(gap, Constant) and not gap.varied for gap in found.gaps)


def outdated(data: Any, rng: Any) -> float:
    return float(rng.randint(9))


def test_a_mechanism_that_always_raises_is_shown_with_its_line() -> None:
    found = dpaudit.audit_privacy(outdated, [(0, 1)], epsilon=1.0, trials=200)
    (gap,) = [one for one in found.gaps if isinstance(one, AllRaised)]
    assert gap.error_type == "AttributeError"
    assert gap.usual.endswith("has no attribute 'randint'; it has integers")
    assert gap.place == f"test_checks_and_gaps.py, line {outdated.__code__.co_firstlineno + 1}"
    assert "mend the mechanism" in str(found)


def test_a_mechanism_that_fails_on_the_dataset_itself_is_bad_input() -> None:
    def oldest(data: Any, rng: np.random.Generator) -> float:
        return float(data["age"]) if len(data) > 2 else float(rng.normal())

    def secret(data: list[int], rng: np.random.Generator) -> float:
        raise ValueError(f"no such person: {data[0]}")

    with pytest.raises(
        InputError, match=r"oldest fails on data: in all of 8 runs TypeError \(include_data .*\(test_checks_and_gaps"
    ):
        dpaudit.audit_privacy(oldest, data=[31, 47, 52], epsilon=1.0, trials=200)
    with pytest.raises(InputError, match="in all of 8 runs ValueError") as refused:
        dpaudit.audit_privacy(secret, data=[610_102, 47, 52], epsilon=1.0, trials=200)
    assert "610" not in str(refused.value)
