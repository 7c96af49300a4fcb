"""A record that is typed well and makes no sense is refused."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from sealed_runs import KINDS, header_of, result

from dpaudit.contract import PrivacyClaim
from dpaudit.errors import ToolFault
from dpaudit.evidence.records import Result
from dpaudit.evidence.store import check_record

PRIVACY, EXACT, UTILITY = (result(kind) for kind in ("privacy", "exact", "utility"))


def found(record: Result, **changes: Any) -> Result:
    """Return a result whose finding has other fields."""
    return replace(record, finding=replace(record.finding, **changes))


def check(record: Result, planned: Result | None = None, **changes: Any) -> None:
    check_record(header_of(planned or record, state="not sealed", **changes), record)


@pytest.mark.parametrize("kind", KINDS)
def test_what_makes_sense_is_let_through(kind: str) -> None:
    check(result(kind))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (found(PRIVACY, epsilon=2.0), "epsilon 2.0 is not that of the claim, 1.0"),
        (found(PRIVACY, trials=21), "trials 21 is not that of the task, 20"),
        (found(PRIVACY, confidence=0.9), "confidence 0.9 is not that of the task"),
        (found(PRIVACY, seed=4), "seed 4 is not that of the header, 3"),
        (found(PRIVACY, versions={}), "versions {} is not that of the header"),
        (found(EXACT, claimed_epsilon=None), "claimed_epsilon None is not that of the claim, 1.0"),
        (found(EXACT, n=2), "n 2 is not that of the task, 1"),
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


def test_a_record_is_that_of_its_place_in_the_plan() -> None:
    with pytest.raises(ToolFault, match="learner 'b' is not that of the plan, 'a'"):
        check(replace(EXACT, learner="b"), EXACT)
    with pytest.raises(ToolFault, match="is not task 1 of the plan"):
        check(replace(EXACT, index=1))
