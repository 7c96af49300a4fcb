"""Box learners with one known leak each."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.contract import Instance
from learners.boxes.exponential import BoxExponential
from learners.boxes.interior_point import BoxInteriorPoint
from learners.controls import DOUBLED, SHORTCUT, SUPPORT, control
from learners.interior_points.controls import interior_only
from learners.interior_points.interior_point import ExponentialSolver

LEARNERS = (
    control(
        BoxInteriorPoint,
        "broken-box-ip-exact-count",
        Instance({"side": 2, "dimension": 1, "epsilon": 8.0, "beta": 0.8}, n=4, beta=0.9),
        fault="whether there are m positive examples is tested without noise",
        literal=True,
    ),
    control(
        BoxInteriorPoint,
        "broken-box-ip-undivided",
        Instance({"side": 2, "dimension": 1, "epsilon": 2.0, "beta": 0.8}, n=6, beta=0.9),
        fault="the budget is not divided over the 2 d + 1 calls",
        _shares=lambda self: (Fraction(self.epsilon), Fraction(self.delta or 0), Fraction(0)),
    ),
    control(
        BoxInteriorPoint,
        "broken-box-ip-hull",
        Instance({"side": 2, "dimension": 1, "epsilon": 2.0, "beta": 0.9}, n=24, beta=0.95, exhaustive=False),
        fault="never puts a face outside of its m coordinates: the support shows the extreme examples",
        _plan=lambda self: (
            ExponentialSolver(self.side + 1, self._shares()[0], eligible=interior_only),
            *BoxInteriorPoint._plan(self)[1:],
        ),
    ),
    control(BoxExponential, "broken-box-doubled", **DOUBLED),
    control(
        BoxExponential, "broken-box-support", Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=2), **SUPPORT
    ),
    control(BoxExponential, "broken-box-shortcut", **SHORTCUT),
)
