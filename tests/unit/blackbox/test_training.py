"""Training runs: how labellers are compared, and what is asked of a learner's law."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dpaudit.blackbox.training import Candidate, _worth
from dpaudit.contract import Pair
from dpaudit.distinguish.discretizers import AsTheyAre
from dpaudit.distinguish.families import FORWARD
from dpaudit.distinguish.histogram import LabelEvent
from dpaudit.distinguish.selected_event import LabelChoice


def _choice(value: float, doubt: float) -> LabelChoice:
    event = LabelEvent(frozenset({1}), frozenset({0}), False)
    return LabelChoice(((event, 1.0),), FORWARD, value, doubt, "score", 1, (1, 0))


def test_a_slow_score_must_promise_more_than_its_doubt() -> None:
    labellers: list[Any] = [SimpleNamespace(slow=slow) for slow in (False, True, True)]
    candidate = Candidate(0, Pair(0, 1), labellers)
    quick, doubtful, sure = _worth(candidate, [_choice(0.8, 0.1), _choice(1.0, 0.15), _choice(1.0, 0.01)])
    assert doubtful < quick < sure


def test_a_law_is_asked_for_once_a_pair() -> None:
    asked = []

    def ratios(pair: Pair) -> dict[Any, float]:
        asked.append(pair)
        return {0: 0.5}

    candidate = Candidate(0, Pair(0, 1), [AsTheyAre()])
    assert candidate.log_ratio(ratios) == candidate.log_ratio(ratios) == {0: 0.5}
    assert len(asked) == 1
