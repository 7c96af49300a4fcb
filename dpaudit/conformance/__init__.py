"""The checks that every learner must pass, exported for third parties' learners.

In a test suite::

    from dpaudit import conformance

    @pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check):
        check(MyLearner(epsilon=1.0))

Each check takes a learner, returns nothing, and raises `NonConforming` with the learner's name and its defect.
``print(conformance.offers(MyLearner(epsilon=1.0)))`` lists the optional abilities that the learner offers, and those
that it may add.
"""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.conformance.checks import (
    Ability,
    NonConforming,
    Offers,
    check_bad_input,
    check_claims,
    check_codes_decode,
    check_constructor_only_stores,
    check_huge_counts,
    check_names,
    check_parts,
    check_random_state,
    offers,
)
from dpaudit.conformance.laws import (
    FALSE_ALARM,
    check_edges,
    check_law_is_a_law,
    check_run_agrees_with_law,
    check_symmetries,
    edges,
)
from dpaudit.contract import Learner

__all__ = ["CHECKS", "FALSE_ALARM", "Ability", "NonConforming", "Offers", "check_learner", "edges", "offers"]

CHECKS: tuple[Callable[[Learner], None], ...] = (
    check_parts,
    check_constructor_only_stores,
    check_names,
    check_claims,
    check_random_state,
    check_law_is_a_law,
    check_run_agrees_with_law,
    check_codes_decode,
    check_huge_counts,
    check_bad_input,
    check_symmetries,
    check_edges,
)


def check_learner(learner: Learner) -> None:
    """Run every check on a learner; the first that fails raises `NonConforming`.

    Optional abilities are checked where the learner offers them; see `offers`.
    """
    for check in CHECKS:
        check(learner)
