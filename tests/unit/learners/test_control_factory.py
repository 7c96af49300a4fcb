"""Controls made of a sound learner and a fault: named, documented, picklable classes of the module that makes them."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from dpaudit.contract import InputError, Instance
from dpaudit_learners.boxes.interior_point import BoxInteriorPoint
from dpaudit_learners.controls import DOUBLED, control, controls, fault
from dpaudit_learners.points.exponential import PointExponential

HERE = Instance({"domain_size": 3, "epsilon": 1.0}, n=2)


def refuse_five(learner: Any) -> None:
    if learner.domain_size == 5:
        raise InputError("domain_size must not be 5")


PointTwice = control(PointExponential, "broken-point-twice", fault=DOUBLED.words, **DOUBLED.replaced)
PointTwiceHere = control(PointExponential, "broken-point-twice-here", HERE, fault="leaks twice", check=refuse_five)
BoxLiteral = control(BoxInteriorPoint, "broken-box-literal", fault="counts without noise", literal=True)
LISTED = controls(PointExponential, "point", HERE, far_off=fault("leaks", instance=Instance({}, n=9)), near=DOUBLED)


def test_control_is_a_class_of_the_calling_module() -> None:
    assert (PointTwice.__name__, PointTwice.__qualname__) == ("PointTwice", "PointTwice")
    assert PointTwice.__module__ == __name__
    assert globals()["PointTwice"] is PointTwice
    assert PointTwice.__doc__ == f"Broken control: {DOUBLED.words}."
    assert PointTwice.__mro__[:2] == (PointTwice, PointExponential)


def test_control_keeps_what_is_not_replaced() -> None:
    assert PointTwice.id == "broken-point-twice"
    assert PointTwice.fault == DOUBLED.words
    assert PointTwice.instance == PointExponential.instance
    assert PointTwiceHere.fault == "leaks twice"
    assert PointTwiceHere.instance is HERE
    assert PointTwice(4, 1.0)._rate == 2 * PointExponential(4, 1.0)._rate


def test_controls_share_a_stem_and_an_instance_that_a_fault_may_replace() -> None:
    assert [made.id for made in LISTED] == ["broken-point-far-off", "broken-point-near"]
    assert [made.instance.n for made in LISTED] == [9, HERE.n]
    assert [globals()[made.__name__] for made in LISTED] == list(LISTED)
    assert {made.__module__ for made in LISTED} == {__name__}
    assert DOUBLED.instance is None


def test_control_checks_its_parameters_after_those_of_the_sound_learner() -> None:
    with pytest.raises(InputError, match="domain_size must be an integer"):
        PointTwiceHere(1, 1.0)
    with pytest.raises(InputError, match="must not be 5"):
        PointTwiceHere(5, 1.0)


def test_control_claims_what_the_sound_learner_does() -> None:
    literal = BoxLiteral(2, 1, 2.0, 0.8)
    assert literal.literal
    assert {f.name: f.default for f in fields(BoxLiteral)}["literal"] is True
    assert literal.privacy == BoxInteriorPoint(2, 1, 2.0, 0.8).privacy


def test_control_is_a_frozen_dataclass_that_pickles() -> None:
    learner = PointTwice(domain_size=4, epsilon=1.0)
    assert pickle.loads(pickle.dumps(learner)) == learner
    assert repr(learner).startswith("PointTwice(domain_size=4, epsilon=1.0")
    assert learner != PointExponential(domain_size=4, epsilon=1.0)
    with pytest.raises(FrozenInstanceError):
        learner.epsilon = 2.0
