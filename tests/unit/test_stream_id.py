"""A learner that is renamed keeps its random streams by its old id."""

from __future__ import annotations

from typing import Any

import pytest
from toy_learners import ToyCoin

import dpaudit
from dpaudit.arguments import stream_id_of
from dpaudit.contract import Instance, Panel, Picture
from dpaudit.engine.perform import draw_picture
from dpaudit.record import encodable
from dpaudit.running.adapters import as_mechanism


class Drawn(ToyCoin):
    id = "toy-drawn"
    instance = Instance({"gain": 1.0}, n=2)

    def picture(self, sample: Any, codes: Any, target: Any) -> Picture:
        return Picture((Panel(f"{sample!r} {list(codes)}", (0.0, 1.0), (0.0, 1.0), ()),))


class Renamed(Drawn):
    id = "toy-renamed"
    stream_id = "toy-drawn"


class Other(Drawn):
    id = "toy-other"


class Below(Renamed):
    """Inherits the id, and so the streams."""


class Control(Renamed):
    """Has an id of its own, and so streams of its own."""

    id = "broken-toy-renamed"
    fault = "nothing"


def found(learner: Any) -> list[Any]:
    """Return all that the audits find on a learner's random streams."""
    return [
        encodable(finding)
        for finding in (
            dpaudit.audit_privacy(learner, n=1, trials=200, confidence=0.9),
            dpaudit.audit_privacy(learner, n=1, trials=200, confidence=0.9, sequential=True),
            dpaudit.audit_utility(learner, 1, "uniform", alpha=0.3, beta=0.3, n=2, trials=200),
            draw_picture(learner, 5, 20, 0),
        )
    ]


def test_a_renamed_learner_gives_the_same_outputs() -> None:
    old, new, other = found(Drawn(1.0)), found(Renamed(1.0)), found(Other(1.0))
    assert new == old
    assert all(theirs != ours for theirs, ours in zip(other, old, strict=True))


@pytest.mark.parametrize(
    ("kind", "stream_id"),
    [
        (Drawn, "toy-drawn"),
        (Renamed, "toy-drawn"),
        (Below, "toy-drawn"),
        (Other, "toy-other"),
        (Control, "broken-toy-renamed"),
    ],
)
def test_an_id_of_its_own_is_a_stream_of_its_own(kind: type[Any], stream_id: str) -> None:
    learner = kind(1.0)
    assert stream_id_of(learner) == stream_id
    mechanism = as_mechanism(learner)
    assert mechanism.stream == f"{stream_id} gain=1.0"
    assert mechanism.name == f"{learner.id} gain=1.0"
    assert as_mechanism(learner, probe=[[0]]).stream == mechanism.stream


def test_a_function_has_its_name() -> None:
    mechanism = as_mechanism(lambda data, rng: data)
    assert mechanism.stream == mechanism.name
