"""The reference learners under the exact audit: known worst cases, and folding by symmetry against no folding."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import Learner, Relation
from dpaudit_learners.conjunctions import consistent as conjunctions
from dpaudit_learners.parities import private as parity
from dpaudit_learners.points import concepts, exponential

LEARNERS = [c for module in (concepts, exponential, parity, conjunctions) for c in module.LEARNERS if hasattr(c, "law")]
ENUMERABLE = [(1, 1), (1, 2), (1, 5), (1, 12), (2, 1), (2, 3), (2, 6), (3, 1), (3, 3), (4, 1), (4, 2), (5, 2)]


@pytest.mark.parametrize(("dimension", "n"), ENUMERABLE)
def test_private_parity_is_exactly_ln_five_thirds(dimension: int, n: int) -> None:
    learner = dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=dimension)
    finding = dpaudit.pac.audit_law(learner, n=n)
    assert abs(finding.epsilon - math.log(1.25 / 0.75)) <= 1e-9
    assert abs(finding.epsilon - math.log(1.25 / 0.75)) <= finding.error
    assert (finding.verdict, finding.grade) == ("consistent", "exact")
    assert finding.samples == math.comb(2 ** (dimension + 1) + n - 1, n)


# The worst case of the exponential mechanism over thresholds on k points with n examples at epsilon = 1, computed
# independently in ball arithmetic.
@pytest.mark.parametrize(
    ("points", "n", "epsilon"),
    [
        (3, 3, 0.887606712635789),
        (4, 4, 0.945290771808052),
        (6, 4, 0.962798211177859),
        pytest.param(8, 4, 0.971816454631778, marks=pytest.mark.full),
    ],
)
def test_the_exponential_mechanism_over_thresholds(points: int, n: int, epsilon: float) -> None:
    learner = dpaudit.pac.get_learner("threshold-exponential", domain_size=points, epsilon=1.0)
    finding = dpaudit.pac.audit_law(learner, n=n)
    assert abs(finding.epsilon - epsilon) <= 2e-15 + finding.error
    assert finding.samples == math.comb(2 * points + n - 1, n)


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ADD_REMOVE_ONE], ids=lambda r: r.value)
@pytest.mark.parametrize("kind", LEARNERS, ids=lambda c: c.id)
def test_folding_by_symmetry_changes_nothing_but_the_work(kind: type[Learner], relation: Relation) -> None:
    class Unfolded(kind):  # type: ignore[misc]  # the class is known at run time only
        def symmetries(self) -> list[np.ndarray]:
            return []

    # Unfolded audits go through all pairs of all samples: two examples are as many as is quick.
    n = min(2, kind.instance.n)
    folded = dpaudit.pac.audit_law(kind(**kind.instance.parameters), n=n, relation=relation)
    plain = dpaudit.pac.audit_law(Unfolded(**kind.instance.parameters), n=n, relation=relation)
    assert (folded.pairs, folded.samples) == (plain.pairs, plain.samples)
    assert folded.laws <= plain.laws
    # The first half speaks of infinite losses, whose difference is no number.
    assert folded.epsilon == plain.epsilon or abs(folded.epsilon - plain.epsilon) <= folded.error + plain.error
    for epsilon, delta in plain.curve:
        assert abs(folded.delta(epsilon) - delta) <= 2 * plain.profiles.delta_error(epsilon)
