"""Bounds of all cases for noisy counts, calls on extremes, selections in a row and public families: brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest
from failing_rates import count_vectors, failures

import dpaudit
from dpaudit.contract import CaseFamily, Distribution, InputError
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.finding import SizeCertificate
from dpaudit.utility.hard_cases import HardCase
from dpaudit.utility.problem import CaseFailure
from dpaudit.utility.size_certificates import refuted
from dpaudit.utility.worst_case import known_size
from dpaudit_learners.mechanisms.selections import gap_at, lost, selections_failure

POPULATION: list[tuple[str, dict[str, Any], int]] = [
    ("conjunction-laplace", {"dimension": 1, "epsilon": 30.0, "beta": 0.1}, 14),
    ("conjunction-laplace", {"dimension": 2, "epsilon": 120.0, "beta": 0.1}, 9),
    ("box-interior-point", {"side": 2, "dimension": 1, "epsilon": 20.0, "beta": 0.3}, 12),
    ("box-interior-point", {"side": 1, "dimension": 2, "epsilon": 60.0, "beta": 0.5}, 8),
    ("threshold-interior-point", {"domain_size": 4, "epsilon": 12.0, "beta": 0.3}, 8),
    ("threshold-interior-point", {"domain_size": 3, "epsilon": 4.0, "beta": 0.3}, 10),
    ("mixture-halfspace", {"dimension": 1, "epsilon": 8.0, "side": 3}, 9),
    ("halfplane-select", {"side": 1, "epsilon": 8.0}, 8),
    ("triangle-select", {"side": 1, "epsilon": 8.0}, 8),
    ("halfspace-tukey", {"side": 1, "dimension": 1, "epsilon": 30.0, "subsamples": 3, "variant": "positive"}, 6),
    ("halfspace-tukey", {"side": 2, "dimension": 1, "epsilon": 30.0, "subsamples": 3, "variant": "positive"}, 5),
]


@pytest.mark.parametrize(("id", "parameters", "most"), POPULATION, ids=str)
def test_no_distribution_of_a_grid_fails_more_often_than_the_bound(
    id: str, parameters: dict[str, Any], most: int
) -> None:
    learner: Any = dpaudit.pac.get_learner(id, **parameters)
    masses = count_vectors(6, learner.domain.size) / 6
    bounds = []
    for n in (2, most // 2, most):
        bound = learner.worst_failure(0.3, n).upper
        assert failures(learner, 0.3, n, masses).max() <= bound + 1e-9
        bounds.append(bound)
    # It falls with n, and says something in the end.
    assert bounds == sorted(bounds, reverse=True)
    assert learner.worst_failure(0.3, 40).upper < 1


HULLS: list[tuple[str, dict[str, Any]]] = [
    ("hull-point-exponential", {"side": 1, "dimension": 2, "epsilon": 4.0}),
    ("hull-point-exponential", {"side": 2, "dimension": 1, "epsilon": 2.0}),
    ("hull-point-joint", {"side": 1, "dimension": 2, "epsilon": 2.0}),
    ("hull-point-rec-concave", {"side": 1, "dimension": 2, "epsilon": 12.0, "delta": 1e-6, "beta": 0.1}),
    ("interior-point-rec-concave", {"domain_size": 5, "epsilon": 2.0, "delta": 0.1}),
]


@pytest.mark.parametrize(("id", "parameters"), HULLS, ids=str)
def test_no_sample_fails_more_often_than_the_bound(id: str, parameters: dict[str, Any]) -> None:
    learner: Any = dpaudit.pac.get_learner(id, **parameters)
    points = learner.domain.points()
    bounds = []
    for n in (1, 4, 7):
        bound = learner.worst_failure(0.1, n).upper
        for row in count_vectors(n, len(points)):
            seen = row > 0
            sample = learner.domain.sample(points[seen], np.zeros(seen.sum(), dtype=np.int64), row[seen])
            law = learner.law(sample)
            rate = sum(
                math.exp(log)
                for atom, log in zip(law.atoms, law.log_prob, strict=True)
                if log > -40 and not learner.solves(atom, sample)
            )
            assert rate <= bound + 1e-9
        bounds.append(bound)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 1


def test_losses_of_selections_in_a_row_are_those_of_a_chain() -> None:
    # Two selections, enumerated: each loses t with the increments of its tails.
    sizes, rate, gap = (5, 3), 0.7, 4
    tails = [[1.0, *((k - 1) * math.exp(-rate * t) / (1 + (k - 1) * math.exp(-rate * t)) for t in range(1, 30))]
             for k in sizes]  # fmt: skip
    steps = [np.array(row) - np.array([*row[1:], 0.0]) for row in tails]
    both = np.convolve(*steps)
    assert lost(sizes, rate, gap) == pytest.approx(both[gap:].sum(), abs=1e-8)


def test_depths_that_may_not_be_lost() -> None:
    assert [gap_at(n, Fraction(1, 3), False) for n in (1, 3, 4)] == [1, 1, 2]
    assert [gap_at(n, Fraction(1, 6), True) for n in (5, 6, 7)] == [1, 2, 2]
    with pytest.raises(InputError, match="too long"):
        lost((4,), 0.5, 10**6)


THRESHOLDS = CaseFamily.THRESHOLD_CALLS
SIZES: list[tuple[str, dict[str, Any], float, CaseFamily, int]] = [
    ("conjunction-laplace", {"dimension": 3, "epsilon": 1.0, "beta": 0.05}, 0.1, CaseFamily.LITERALS, 1597),
    ("box-interior-point", {"side": 2, "dimension": 1, "epsilon": 1.0, "beta": 0.05}, 0.1, CaseFamily.FACES, 1132),
    ("threshold-interior-point", {"domain_size": 8, "epsilon": 1.0, "beta": 0.05}, 0.1, THRESHOLDS, 194),
    ("mixture-halfspace", {"dimension": 1, "side": 7, "epsilon": 1.0}, 0.1, CaseFamily.OUTPUTS, 150),
    ("hull-point-exponential", {"side": 1, "dimension": 2, "epsilon": 1.0}, 0.1, CaseFamily.SELECTIONS, 55),
    ("halfspace-tukey", {"side": 1, "dimension": 1, "epsilon": 1.0, "subsamples": 60, "variant": "positive"}, 0.1,
     CaseFamily.SUBSAMPLES, 253),
]  # fmt: skip


@pytest.mark.parametrize(("id", "parameters", "beta", "family", "n"), SIZES, ids=str)
def test_sizes_below_the_theorems_are_verified(
    id: str, parameters: dict[str, Any], beta: float, family: CaseFamily, n: int
) -> None:
    learner: Any = dpaudit.pac.get_learner(id, **parameters)
    claim = stated_claim(learner, 0.1, beta)
    assert claim is not None
    found = known_size(learner, 0.1, beta, claim)
    assert found is not None
    one = found.certificate
    assert (one.family, one.fails, one.suffices) == (family, 0, n)
    assert n < claim.sample_size
    # Fewer examples are not shown to suffice, and one step of beta decides the other way; depths are thirds of n.
    assert "suffice" in refuted(msgspec.structs.replace(one, suffices=n - 3), 0.1, beta)
    bound = learner.worst_failure(0.1, n)
    assert refuted(one, 0.1, bound.upper * (1 + 1e-9)) == ""
    assert "suffice" in refuted(one, 0.1, bound.upper * (1 - 1e-7))


@pytest.mark.parametrize(
    ("id", "changed", "message"),
    [("conjunction-laplace", {"scale": 0}, "scale must be"), ("conjunction-laplace", {"dimension": 0}, "dimension"),
     ("box-interior-point", {"m": 10**12}, "too long"), ("threshold-interior-point", {"m": 0}, "m must be"),
     ("mixture-halfspace", {"outputs": -1}, "outputs must be"), ("hull-point-joint", {"rate": 0}, "rate must be"),
     ("hull-point-joint", {"numerator": 10**9}, "too long"), ("halfspace-tukey", {"points": 3}, "fair only")],
    ids=str,
)  # fmt: skip
def test_impossible_numbers_are_refused(id: str, changed: dict[str, float], message: str) -> None:
    parameters = {one: given for one, given, *_ in [*HULLS, *SIZES]}[id]
    learner: Any = dpaudit.pac.get_learner(id, **parameters)
    found = learner.worst_failure(0.1, 50)
    one = SizeCertificate(family=found.family, numbers={**dict(found.numbers), **changed}, fails=0, suffices=50)
    assert message in refuted(one, 0.1, 0.1)


def test_what_the_bounds_do_not_cover_is_refused() -> None:
    recursing: dict[str, dict[str, Any]] = {
        "interior-point-rec-concave": {"domain_size": 64, "epsilon": 1.0, "delta": 1e-6},
        "hull-point-rec-concave": {"side": 3, "dimension": 2, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1},
        "box-interior-point": {"side": 40, "dimension": 1, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1,
                               "variant": "rec-concave"},
        "threshold-interior-point": {"domain_size": 40, "epsilon": 1.0, "delta": 1e-6, "beta": 0.1,
                                     "variant": "rec-concave"},
        "mixture-halfspace": {"dimension": 1, "epsilon": 1.0, "literal": True},
        "halfspace-tukey": {"side": 1, "dimension": 1, "epsilon": 1.0},
    }  # fmt: skip
    for id, parameters in recursing.items():
        learner: Any = dpaudit.pac.get_learner(id, **parameters)
        with pytest.raises(InputError, match=r"(of|on) all cases"):
            learner.worst_failure(0.1, 50)


def test_a_selection_without_rivals_loses_nothing() -> None:
    found = selections_failure((1,), 0.5, 10, Fraction(1, 2), strict=False)
    assert found.upper == 0


@pytest.mark.parametrize("side", [1, 2])
def test_halfspaces_of_many_subsamples_fail_less_often_than_the_bound(side: int) -> None:
    # By runs: more subsamples than a law lists.
    learner: Any = dpaudit.pac.get_learner(
        "halfspace-tukey", side=side, dimension=1, epsilon=3.0, subsamples=16, variant="positive"
    )
    rng = np.random.default_rng(5)
    target = learner.concepts.concept(learner.concepts.size // 2)
    masses = np.append(np.full(side, 0.31 / side), 1 - 0.31)
    law = Distribution(learner.domain.points(), masses)
    for n in (40, 120, 400):
        failure = CaseFailure(learner, HardCase(target, law, "a light point"), 0.3, "realizable")
        seen = failure.draws(n, rng, 200)
        assert seen.mean() <= learner.worst_failure(0.3, n).upper + 4 * math.sqrt(0.25 / 200)


def test_the_jump_of_tree_log_is_that_of_its_law() -> None:
    learner: Any = dpaudit.pac.get_learner(
        "interior-point-tree-log", domain_size=64, epsilon=2.0, delta=0.01, beta=0.1
    )
    tree = learner._tree(0)
    shallow = 2 * tree.margin + tree.deep
    rates = []
    for n in (shallow - 1, shallow + 1, shallow + 12):
        rate, words = learner.hard_failure(0.1, n)
        point = int(words.split("point ")[1].split(" ")[0])
        law = learner.law(learner.domain.sample([[point]], [0], [n]))
        rates.append((rate, 1 - math.exp(law.log_prob[point])))
    # With one example more than the exponential mechanism gets the failure rate jumps up.
    assert rates[0][1] < 0.01 < rates[1][1]
    assert rates[0][0] == pytest.approx(rates[1][0])
    for rate, exact in rates[1:]:
        assert rate == pytest.approx(exact, rel=0.02)
