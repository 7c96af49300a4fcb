"""Training runs: how discretizers are compared, and what is asked of a learner's law."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from dpaudit.audit.trained_pair import TrainedPair, promise
from dpaudit.contract import Direction, Law, Pair
from dpaudit.events.discretizers import Identity
from dpaudit.events.event import CellSet
from dpaudit.events.selected import SelectedEvent


def _selected(slow: bool, expected: float, markdown: float) -> SelectedEvent:
    discretizer: Any = SimpleNamespace(slow=slow, screened=False)
    event = CellSet(frozenset({1}), frozenset({0}), False)
    training: Any = ()
    return SelectedEvent(discretizer, training, event, Direction.FORWARD, "score", (1, 0), 1, expected, markdown, ())


def test_a_slow_score_must_promise_more_than_its_markdown() -> None:
    quick, doubtful, sure = (
        promise(_selected(*each)) for each in ((False, 0.8, 0.1), (True, 1.0, 0.15), (True, 1.0, 0.01))
    )
    assert doubtful < quick < sure


def test_a_law_is_asked_for_once_a_pair() -> None:
    asked = []

    def law(data: int) -> Law:
        asked.append(data)
        return Law([0, data], np.array([-0.5, -1.0 - data]), 0.0)

    request: Any = SimpleNamespace(source=SimpleNamespace(law=law), sampler=None)
    pair = TrainedPair(request, 0, Pair(1, 2), [Identity()])
    found = pair.log_ratio
    assert found is pair.log_ratio
    assert found == {0: 0.0, 1: -2.0 + 745.0, 2: -745.0 + 3.0}
    assert asked == [1, 2]
