"""Training runs: how labellers are compared, and what is asked of a learner's law."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

from dpaudit.contract import Pair
from dpaudit.distinguish.families import FORWARD
from dpaudit.distinguish.histogram import LabelEvent
from dpaudit.distinguish.label_choice import LabelChoice
from dpaudit.distinguish.labellers import AsTheyAre
from dpaudit.privacy.training import Candidate, _worth


def _choice(value: float, doubt: float) -> LabelChoice:
    event = LabelEvent(frozenset({1}), frozenset({0}), False)
    return LabelChoice(((event, 1.0),), FORWARD, value, doubt, "score", 1, (1, 0))


def test_a_slow_score_must_promise_more_than_its_doubt() -> None:
    labellers: list[Any] = [SimpleNamespace(slow=slow, unfitted=False) for slow in (False, True, True)]
    candidate = Candidate(0, Pair(0, 1), labellers)
    quick, doubtful, sure = _worth(candidate, [_choice(0.8, 0.1), _choice(1.0, 0.15), _choice(1.0, 0.01)])
    assert doubtful < quick < sure


def test_a_score_fitted_once_must_promise_more_than_one_fitted_on_both_halves() -> None:
    labellers: list[Any] = [SimpleNamespace(slow=False, unfitted=False) for _ in range(2)]
    candidate = Candidate(0, Pair(0, 1), labellers)
    for side in (0, 1):
        candidate.count(side, [Counter({1: 500}), Counter({1: 250})])
    twice, once = _worth(candidate, [_choice(1.0, 0.1), _choice(1.1, 0.1)])
    assert once < twice
    for side in (0, 1):
        candidate.count(side, [Counter(), Counter({1: 250})])
    twice, once = _worth(candidate, [_choice(1.0, 0.1), _choice(1.1, 0.1)])
    assert once > twice


def test_labels_that_owe_nothing_to_the_sides_make_no_score_one_that_is_fitted_once() -> None:
    labellers: list[Any] = [SimpleNamespace(slow=False, unfitted=unfitted) for unfitted in (True, False)]
    candidate = Candidate(0, Pair(0, 1), labellers)
    for side in (0, 1):
        candidate.count(side, [Counter({1: 500}), Counter({1: 250})])
    histogram, score = _worth(candidate, [_choice(1.0, 0.1), _choice(1.1, 0.1)])
    assert score > histogram


def test_a_law_is_asked_for_once_a_pair() -> None:
    asked = []

    def ratios(pair: Pair) -> dict[Any, float]:
        asked.append(pair)
        return {0: 0.5}

    candidate = Candidate(0, Pair(0, 1), [AsTheyAre()])
    assert candidate.log_ratio(ratios) == candidate.log_ratio(ratios) == {0: 0.5}
    assert len(asked) == 1
