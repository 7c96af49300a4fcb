"""Box learners with one known leak each."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.contract import Instance

from ..controls import DOUBLED, SHORTCUT, SUPPORT, controls, fault
from ..interior_points.controls import interior_only
from ..interior_points.interior_point import ExponentialSolver
from .exponential import BoxExponential
from .interior_point import BoxInteriorPoint

SEEN = SUPPORT.shown(Instance({"side": 1, "dimension": 2, "epsilon": 1.0}, n=2))

LEARNERS = (
    *controls(
        BoxInteriorPoint,
        "box-ip",
        exact_count=fault(
            "whether there are m positive examples is tested without noise",
            instance=Instance({"side": 2, "dimension": 1, "epsilon": 8.0, "beta": 0.8}, n=4, beta=0.9),
            literal=True,
        ),
        undivided=fault(
            "the budget is not divided over the 2 d + 1 calls",
            instance=Instance({"side": 2, "dimension": 1, "epsilon": 2.0, "beta": 0.8}, n=6, beta=0.9),
            _shares=lambda self: (Fraction(self.epsilon), Fraction(self.delta or 0), Fraction(0)),
        ),
        hull=fault(
            "never puts a face outside of its m coordinates: the support shows the extreme examples",
            instance=Instance(
                {"side": 2, "dimension": 1, "epsilon": 2.0, "beta": 0.9}, n=24, beta=0.95, exhaustive=False
            ),
            _plan=lambda self: (
                ExponentialSolver(self.side + 1, self._shares()[0], eligible=interior_only),
                *BoxInteriorPoint._plan(self)[1:],
            ),
        ),
    ),
    *controls(BoxExponential, "box", doubled=DOUBLED, support=SEEN, shortcut=SHORTCUT),
)
