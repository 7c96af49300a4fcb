"""The id of a learner and its parameters are the address of its random streams."""

from __future__ import annotations

from typing import Any

import pytest
from toy_learners import ToyCoin

import dpaudit
from dpaudit.contract import Instance, Panel, Picture
from dpaudit.evidence.perform import draw_picture
from dpaudit.record import encodable
from dpaudit.running.adapters import as_mechanism


class Drawn(ToyCoin):
    id = "toy-drawn"
    instance = Instance({"gain": 1.0}, n=2)

    def picture(self, sample: Any, codes: Any, target: Any) -> Picture:
        return Picture((Panel(f"{sample!r} {list(codes)}", (0.0, 1.0), (0.0, 1.0), ()),))


class Below(Drawn):
    """Inherits the id, and so the streams."""


class Other(Drawn):
    """Has an id of its own, and so streams of its own."""

    id = "toy-other"


def found(learner: Any) -> list[Any]:
    """Return all that the audits find on a learner's random streams."""
    return [
        encodable(finding)
        for finding in (
            dpaudit.audit_privacy(learner, pairs="crafted:1", trials=200, confidence=0.9),
            dpaudit.audit_privacy(
                learner, pairs="crafted:1", trials=200, confidence=0.9, execution=dpaudit.Execution(sequential=True)
            ),
            dpaudit.pac.audit_utility(learner, 1, "uniform", alpha=0.3, beta=0.3, n=2, trials=200),
            draw_picture(learner, 5, 20, 0),
        )
    ]


def test_learners_of_one_id_give_the_same_outputs() -> None:
    one, below, other = found(Drawn(1.0)), found(Below(1.0)), found(Other(1.0))
    assert below == one
    assert all(theirs != ours for theirs, ours in zip(other, one, strict=True))


@pytest.mark.parametrize("kind", [Drawn, Below, Other])
def test_a_learner_s_id_and_parameters_are_the_address(kind: type[Any]) -> None:
    mechanism = as_mechanism(kind(1.0))
    assert mechanism.stream == mechanism.name == f"{kind.id} gain=1.0"
    assert as_mechanism(kind(1.0), probe=[[0]]).stream == mechanism.stream


def test_a_function_has_its_name() -> None:
    mechanism = as_mechanism(lambda data, rng: data)
    assert mechanism.stream == mechanism.name
