"""A record that is typed well and makes no sense is refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from sealed_runs import KINDS, header_of, result
from toy_records import privacy_finding

from dpaudit.audit.checks_and_gaps import Answer, Check, CheckName
from dpaudit.audit.finding import CoinCount, EventTest
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.contract import PrivacyClaim, PrivacyVerdict, UtilityVerdict
from dpaudit.errors import ToolFault
from dpaudit.events.event import Bets
from dpaudit.evidence.recomputed import BETS, POWER, recomputed
from dpaudit.evidence.records import Result, State
from dpaudit.evidence.store import check_record

DEPENDS = Check(CheckName.GENERATOR, Answer.DEPENDS, 2)
PRIVACY, EXACT, UTILITY = (result(kind) for kind in ("privacy", "exact", "utility"))


def found(record: Result, **changes: Any) -> Result:
    """Return a result whose finding has other fields."""
    return replace(record, finding=replace(record.finding, **changes))


def check(record: Result, planned: Result | None = None, **changes: Any) -> None:
    check_record(header_of(planned or record, state=State.OPEN, **changes), record)


@pytest.mark.parametrize("kind", KINDS)
def test_what_makes_sense_is_let_through(kind: str) -> None:
    check(result(kind))


def test_of_bets_the_verdict_is_that_of_the_bound_and_the_stake() -> None:
    none = dict.fromkeys(("hits", "trials", "neighbour_hits", "neighbour_trials"))
    bets = privacy_finding(
        "violation",
        epsilon_lower=1.5,
        design="sequential",
        bound="betting",
        witness=replace(PRIVACY.finding.witness, event=Bets(20, 4.0), **none),
        budget={"used": 20, "allowed": 40, "checks": 0},
        seed=3,
        versions=PRIVACY.finding.versions,
    )
    assert recomputed(bets) == (POWER, BETS)
    check(replace(PRIVACY, finding=bets))
    for changes, words in (
        (
            {"verdict": PrivacyVerdict.CONSISTENT},
            "verdict 'consistent', with epsilon >= 1.5 and a claim of 1.0, is not what",
        ),
        ({"epsilon_lower": 0.5}, "'violation', with epsilon >= 0.5 and a claim of 1.0, is not what follows"),
        ({"epsilon_lower": float("inf")}, "epsilon_lower inf is no bound that runs can show"),
        ({"budget": {**bets.budget, "used": 60}}, "budget used 60 are more than 40"),
        ({"witness": replace(bets.witness, event=Bets(20, 2.0))}, "a stake of exp(2) refutes no claim"),
        ({"witness": replace(bets.witness, event=Bets(21, 4.0))}, "runs that were bet on 21 are more than 20"),
    ):
        with pytest.raises(ToolFault) as caught:
            check(replace(PRIVACY, finding=replace(bets, **changes)))
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (found(PRIVACY, verdict=PrivacyVerdict.VIOLATION), "'violation', with epsilon >= 0.684"),
        (
            found(PRIVACY, epsilon_lower=float("inf")),
            "of an event inf is not what its counts give, 0.684",
        ),
        (found(PRIVACY, epsilon_lower=0.5), "epsilon_lower of an event 0.5 is not what its counts give, 0.684"),
        (found(PRIVACY, detectable_epsilon=float("inf")), "'consistent' of an audit that could have detected no leak"),
        (found(PRIVACY, bound="toy"), "bound 'toy' is not that of its counts, 'melded'"),
        (found(PRIVACY, selection_trials=9), "selection_trials 9 is not that of its budget, 10"),
        (found(PRIVACY, checks=(DEPENDS,)), "the gaps are not those of the checks that failed: generator"),
        (found(PRIVACY, epsilon=2.0), "epsilon 2.0 is not that of the claim, 1.0"),
        (found(PRIVACY, trials=21), "trials 21 is not that of the task, 20"),
        (found(PRIVACY, confidence=0.9), "confidence 0.9 is not that of the task"),
        (found(PRIVACY, seed=4), "seed 4 is not that of the header, 3"),
        (found(PRIVACY, versions={}), "versions {} is not that of the header"),
        (found(PRIVACY, errors={"verdict": 0.1}), "do not add up to 1 - 0.95"),
        (found(PRIVACY, confirmation_trials=11), "confirmation_trials 11 is not that of its budget, 10"),
        (
            found(PRIVACY, witness=replace(PRIVACY.finding.witness, trials=11)),
            "runs of the witness 21 is not twice confirmation_trials, 20",
        ),
        (found(PRIVACY, witness=replace(PRIVACY.finding.witness, hits=11)), "hits 11 are more than 10"),
        (found(EXACT, verdict=PrivacyVerdict.VIOLATION), "violation with epsilon 1.0, delta 0.0 at the claim"),
        (found(EXACT, epsilon=float("inf")), "consistent with epsilon inf"),
        (found(EXACT, claimed_epsilon=None), "claimed_epsilon None is not that of the claim, 1.0"),
        (found(EXACT, n=2), "n 2 is not that of the task, 1"),
        (found(UTILITY, verdict=UtilityVerdict.VACUOUS), "verdict 'vacuous' is not that of its interval, 'holds'"),
        (found(UTILITY, failure_upper=0.2), "0.2) is not what 4 failures of 100 give"),
        (found(UTILITY, failures=6), "failure_rate 0.04 is not what its counts give, 0.06"),
        (found(UTILITY, failures=101), "failures 101 are more than 100"),
        (found(UTILITY, failure_lower=0.06), "the interval (0.06, 0.09"),
        (found(UTILITY, trials=101), "trials 101 are more than 100"),
        (found(UTILITY, beta=0.2), "beta 0.2 is not that of the task, 0.1"),
        (found(result("ledger"), statement="It is not."), "statement 'It is not.' is not that of the task"),
        (found(result("picture"), runs=2), "runs 2 is not that of the task, 1"),
        (replace(EXACT, fault="it leaks"), "fault 'it leaks' is not that of the header, None"),
        (replace(EXACT, claim=PrivacyClaim(1.0, 0.1)), "claimed_delta 0.0 is not that of the claim, 0.1"),
        (replace(EXACT, parameters={"gain": 2.0}), "learner, parameters and arguments are those of a/exact/n1-"),
    ],
)
def test_what_makes_no_sense_is_refused(record: Result, words: str) -> None:
    with pytest.raises(ToolFault) as caught:
        check(record)
    assert words.replace("\\", "") in str(caught.value)


def guessed(right: int, guesses: int, lower: float | None = None, **changes: Any) -> Result:
    """Return a result that coins decided, with the bound that its guesses give or another one."""
    lower = float(epsilon_lower(right, guesses, 0.05)) if lower is None and right <= guesses else lower or 0.0
    witness, count = PRIVACY.finding.witness, CoinCount(right, guesses)
    test = EventTest(witness.event, 0.05, 9, 1, lower, witness.direction, count=count)
    witness = replace(witness, trials=9, neighbour_trials=11, count=count, **{"hits": 9, "neighbour_hits": 1})
    return found(PRIVACY, **({"tests": (test,), "witness": witness, "epsilon_lower": lower, "bound": "coin"} | changes))


def test_guesses_of_coins_give_their_bound() -> None:
    check(guessed(9, 10))
    with pytest.raises(ToolFault, match="right guesses 11 are more than 10"):
        check(guessed(11, 10))
    with pytest.raises(ToolFault, match=r"epsilon_lower of an event 0\.7 is not what its counts give, 0\.4"):
        check(guessed(9, 10, 0.7))
    # 10 hits are possible on the side with 11 runs, and not on the other.
    more = guessed(9, 10).finding
    with pytest.raises(ToolFault, match="hits 10 are more than 9"):
        check(found(guessed(9, 10), tests=(replace(more.tests[0], hits=10),)))
    with pytest.raises(ToolFault, match="the witness is not the event of the best bound"):
        check(guessed(9, 10, witness=replace(more.witness, hits=8)))


def test_a_record_is_that_of_its_place_in_the_plan() -> None:
    with pytest.raises(ToolFault, match="learner 'b' is not that of the plan, 'a'"):
        check(replace(EXACT, learner="b"), EXACT)
    with pytest.raises(ToolFault, match="is not task 1 of the plan"):
        check(replace(EXACT, index=1))


def test_a_claim_with_delta_is_refuted_by_its_delta() -> None:
    curve = ((0.0, 0.5), (1.0, 0.2))
    broken = found(EXACT, claimed_delta=0.1, delta_at_claim=0.2, verdict=PrivacyVerdict.VIOLATION, curve=curve)
    check(replace(broken, claim=PrivacyClaim(1.0, 0.1)))
    with pytest.raises(ToolFault, match=r"violation with epsilon 1\.0, delta 0\.1 at the claim"):
        check(replace(found(broken, delta_at_claim=0.1), claim=PrivacyClaim(1.0, 0.1)))
    with pytest.raises(ToolFault, match=r"consistent with epsilon 1\.0, delta 0\.2 at the claim"):
        check(replace(found(broken, verdict=PrivacyVerdict.CONSISTENT), claim=PrivacyClaim(1.0, 0.1)))
    with pytest.raises(ToolFault, match=r"delta_at_claim 0\.3 is not that of its curve, 0\.2"):
        check(replace(found(broken, delta_at_claim=0.3), claim=PrivacyClaim(1.0, 0.1)))
