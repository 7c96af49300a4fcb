"""Controls made of a sound learner and a fault: named, documented, picklable classes of the module that makes them."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import pytest

from dpaudit.contract import Instance
from learners.controls import control
from learners.finite.faults import Doubled
from learners.points.exponential import PointExponential

HERE = Instance({"domain_size": 3, "epsilon": 1.0}, n=2)
PointTwice = control(PointExponential, Doubled, "broken-point-twice", "points at twice the rate")
PointTwiceHere = control(
    PointExponential,
    Doubled,
    "broken-point-twice-here",
    "points at twice the rate",
    HERE,
    fault="leaks twice",
)


def test_control_is_a_class_of_the_calling_module() -> None:
    assert (PointTwice.__name__, PointTwice.__qualname__) == ("PointTwice", "PointTwice")
    assert PointTwice.__module__ == __name__
    assert PointTwice.__doc__ == "Broken control: points at twice the rate."
    assert PointTwice.__mro__[:3] == (PointTwice, Doubled, PointExponential)


def test_control_keeps_what_is_not_said() -> None:
    assert PointTwice.id == "broken-point-twice"
    assert PointTwice.fault == Doubled.fault
    assert PointTwice.instance == PointExponential.instance
    assert PointTwiceHere.fault == "leaks twice"
    assert PointTwiceHere.instance is HERE


def test_control_is_a_frozen_dataclass_that_pickles() -> None:
    learner = PointTwice(domain_size=4, epsilon=1.0)
    assert pickle.loads(pickle.dumps(learner)) == learner
    assert repr(learner).startswith("PointTwice(domain_size=4, epsilon=1.0")
    assert learner != PointExponential(domain_size=4, epsilon=1.0)
    with pytest.raises(FrozenInstanceError):
        learner.epsilon = 2.0
