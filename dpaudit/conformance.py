"""The checks that every learner must pass, for the tests of learners written elsewhere.

In a test suite::

    from dpaudit import conformance

    @pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check):
        check(MyLearner(epsilon=1.0))

Each check takes a learner, returns nothing, and raises `NonConforming` with the learner's name and its defect.
``print(conformance.offers(MyLearner(epsilon=1.0)))`` lists the optional abilities that the learner offers, and those
that it may add. This module is the public name of `dpaudit.registry.conformance`.
"""

from __future__ import annotations

from dpaudit.registry.conformance import *
