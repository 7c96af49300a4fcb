"""Greedy private covers: the bound of all cases against brute force, and the verifier against the maker."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
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
from dpaudit_learners.conjunctions.concepts import Conjunction
from dpaudit_learners.covers.worst_case import Covering, covering_failure

COVER = {"k": 1, "delta": 1e-6, "alpha": 0.6, "beta": 0.05}
SMALL: list[tuple[str, dict[str, Any]]] = [
    ("conjunction-greedy", {"dimension": 2, "k": 2, "epsilon": 40.0, "rounds": 3}),
    ("conjunction-greedy", {"dimension": 1, "k": 1, "epsilon": 60.0}),
    ("set-cover-conjunction", {"dimension": 2, "epsilon": 30.0, "variant": "noiseless", **COVER}),
    ("set-cover-disjunction", {"dimension": 2, "epsilon": 30.0, "variant": "composition", **COVER}),
    ("convex-polygon", {"side": 1, "epsilon": 40.0, "variant": "composition", **COVER}),
]


@pytest.mark.parametrize(("id", "parameters"), SMALL, ids=str)
def test_no_distribution_of_a_grid_fails_more_often_than_the_bound(id: str, parameters: dict[str, Any]) -> None:
    learner: Any = dpaudit.pac.get_learner(id, **parameters)
    masses = count_vectors(4, learner.domain.size) / 4
    seen = []
    for n in (1, 3):
        bound = learner.worst_failure(0.39, n).upper
        most = float(failures(learner, 0.39, n, masses).max())
        assert most <= bound + 1e-9
        seen.append(bound)
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize("k", [1, 2])
def test_no_distribution_on_three_points_fails_more_often_than_a_bound_below_one(k: int) -> None:
    # Targets v_1, and v_1 and v_2, on points that any literal may spoil or leave.
    learner: Any = dpaudit.pac.get_learner("conjunction-greedy", dimension=2, k=k, epsilon=60.0, rounds=3 * k)
    target = Conjunction(2, 0b0001 if k == 1 else 0b0101)
    tight = []
    for n in (30, 60):
        bound = learner.worst_failure(0.3, n).upper
        worst = 0.0
        for masses in (*product((0.31,), (0.31, 0.1, 0.2)), (0.16, 0.16), (0.31, 0.0)):
            for points in ([[1, 1], [0, 1], [1, 0]], [[0, 1], [1, 1], [1, 0]], [[0, 0], [1, 0], [1, 1]]):
                weights = np.array([*masses, 1 - sum(masses)])
                law = Distribution(np.array(points)[weights > 0], weights[weights > 0])
                interval = CaseFailure(learner, HardCase(target, law, "three points"), 0.3, "realizable").exact(n)
                assert interval is not None
                worst = max(worst, interval[0])
        assert worst <= bound
        tight.append((worst, bound))
    # At the larger n the bound says something.
    assert tight[-1][1] < 0.5


SIZES: list[tuple[str, dict[str, Any], int]] = [
    ("set-cover-conjunction", {"dimension": 2, "k": 1, "epsilon": 1.0, "variant": "noiseless"}, 509),
    ("conjunction-greedy", {"dimension": 2, "k": 1, "epsilon": 1.0}, 1995),
]


@pytest.mark.parametrize(("id", "parameters", "n"), SIZES, ids=str)
def test_sizes_far_below_the_theorems(id: str, parameters: dict[str, Any], n: int) -> None:
    own = {} if id == "conjunction-greedy" else {"delta": 1e-6, "alpha": 0.1, "beta": 0.05}
    learner: Any = dpaudit.pac.get_learner(id, **parameters, **own)
    claim = stated_claim(learner, 0.2, 0.2)
    assert claim is not None
    found = known_size(learner, 0.2, 0.2, claim)
    assert found is not None
    assert found.certificate.family == CaseFamily.COVERS
    assert (found.certificate.fails, found.certificate.suffices) == (0, n)
    assert n < claim.sample_size / 10
    less = msgspec.structs.replace(found.certificate, suffices=n - 2)
    assert "suffice" in refuted(less, 0.2, 0.2)


COVERINGS = [
    Covering(1, 1 / 12, 6, 3, 3, 3, 10, True),
    Covering(2, 0.5, 0, 4, 4, 3, 10, True),
    Covering(1, 1 / 12, 6, 373.4, 300.5, 4, 16, False),
    Covering(3, 0.03, 15, 20, 19, 5, 100, True, 15.0, 90.0),
]


@pytest.mark.parametrize("covering", COVERINGS, ids=str)
def test_the_verifier_encloses_what_the_maker_computes(covering: Covering) -> None:
    for n in (900, 7000):
        found = covering_failure(covering, 0.2, n)
        one = SizeCertificate(family=found.family, numbers=dict(found.numbers), fails=0, suffices=n)
        # Sums of floats leave out, and so add, some 1e-16.
        if 1e-9 < found.upper < 1:
            assert refuted(one, 0.2, found.upper * (1 + 1e-6)) == ""
            assert "suffice" in refuted(one, 0.2, found.upper * (1 - 1e-6))
        assert found.upper < 0.9 or n == 900


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"k": 0}, "k must be"), ({"rounds": 10**12}, "rounds must be"), ({"share": 0.2}, "share must be below"),
     ({"scale": -1.0}, "scale and offset"), ({"scale": 200.0}, "scale and offset"), ({"level": 0}, "level must be"),
     ({"k": 65, "rounds": 0}, "k must be at most 64"), ({"bad": 0}, "bad must be"), ({"distinct": 2}, "at most 1")],
    ids=str,
)  # fmt: skip
def test_impossible_numbers_are_refused(changed: dict[str, float], message: str) -> None:
    found = covering_failure(COVERINGS[0], 0.2, 900)
    numbers = {**dict(found.numbers), **changed}
    assert message in refuted(SizeCertificate(family=found.family, numbers=numbers, fails=0, suffices=900), 0.2, 0.2)


def test_what_the_bound_does_not_cover_is_refused() -> None:
    greedy: Any = dpaudit.pac.get_learner("conjunction-greedy", dimension=2, k=1, epsilon=1.0, literal=True)
    with pytest.raises(InputError, match="literal must be"):
        greedy.worst_failure(0.2, 100)
    other: Any = dpaudit.pac.get_learner("conjunction-greedy", dimension=2, k=1, epsilon=1.0, delta=1e-6)
    with pytest.raises(InputError, match="rounds must be given"):
        other.worst_failure(0.2, 100)
    with pytest.raises(InputError, match="too high for the noise"):
        Covering(1, 1.0, 6, 3, 3, 3, 10, True, 6.0, 1.0)


def test_what_is_left_is_that_of_a_simulated_chain() -> None:
    # One set of k covers exactly its share, and all others nothing: the law of the chain is known.
    covering = Covering(2, 0.02, 12, 5, 5, 3, 10, True)
    n = 600
    rng = np.random.default_rng(3)
    left = np.full(4000, float(n))
    for _ in range(12):
        stays = 5 * np.exp(-0.02 * left / 2)
        left = np.where(rng.random(4000) < stays / (1 + stays), left, left / 2)
    for level in (0.02, 0.05, 0.1):
        share = (left >= level * n).mean()
        assert share - 4 * math.sqrt(share * (1 - share) / 4000) <= covering.left(12, level, n)


def counts_after(
    cover: np.ndarray, shares: np.ndarray, wanted: np.ndarray, counts: np.ndarray, rate: float, rounds: int, k: int
) -> dict[tuple[int, int], float]:
    """Return the law of the numbers of examples that are spoiled and that are left, without noise, by recursion."""
    states = {(True,) * cover.shape[1]: 1.0}
    for _ in range(rounds):
        following: dict[tuple[bool, ...], float] = {}
        for state, chance in states.items():
            alive = np.array(state)
            covered = (cover * (alive & wanted)) @ counts
            spoiled = (cover * (alive & ~wanted)) @ counts
            left = counts[alive & wanted].sum()
            weights = shares * np.exp(rate * np.minimum(covered - left / k, -spoiled))
            for row, weight in zip(cover == 1, weights / weights.sum(), strict=True):
                key = tuple((alive & ~row).tolist())
                following[key] = following.get(key, 0.0) + chance * float(weight)
        states = following
    law: dict[tuple[int, int], float] = {}
    for state, chance in states.items():
        alive = np.array(state)
        key = int(counts[~alive & ~wanted].sum()), int(counts[alive & wanted].sum())
        law[key] = law.get(key, 0.0) + chance
    return law


REGIONS = {"side": 1, "epsilon": 1.0, **COVER}
LITERALS = {"dimension": 2, "epsilon": 1.0, **COVER}


@pytest.mark.parametrize(
    ("id", "parameters"),
    [("convex-polygon", REGIONS), ("polygon-union", REGIONS), ("disc-union", REGIONS),
     ("polygon-union", {**REGIONS, "k": 2, "alpha": 0.8}), ("set-cover-conjunction", LITERALS),
     ("set-cover-disjunction", {**LITERALS, "k": 2})],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("variant", ["noiseless", "composition"])
def test_no_sample_is_spoiled_or_left_more_often_than_the_bounds(
    id: str, parameters: dict[str, Any], variant: str
) -> None:
    learner: Any = dpaudit.pac.get_learner(id, variant=variant, **parameters)
    cover = learner._cover(learner.domain.points()).T.astype(np.int64)
    shares = np.exp(learner._log_measures)
    # The bound of the variant with noise holds without it as well.
    covering = replace(learner._covering, scale=0.0, offset=0.0)
    ways = math.exp(covering.log_ways(learner.rounds))
    rng = np.random.default_rng(7)
    nearest = [0.0, 0.0]
    for _ in range(25):
        rate = float(rng.choice([0.1, 1.0, 5.0]))
        counts = rng.multinomial(int(rng.integers(1, 60)), rng.dirichlet(np.full(4, 0.6)))
        n = int(counts.sum())
        members = rng.choice(len(cover), size=learner.k)
        law = counts_after(cover, shares, cover[members].any(axis=0), counts, rate, learner.rounds, learner.k)
        here = replace(covering, rate=rate)
        for axis in (0, 1):
            for least in sorted({key[axis] for key in law} - {0}):
                chance = sum(p for key, p in law.items() if key[axis] >= least)
                bound = ways * math.exp(-rate * least) if axis == 0 else here.left(learner.rounds, least / n, n)
                assert chance <= bound * (1 + 1e-9)
                nearest[axis] = max(nearest[axis], chance / bound)
    # For a target of one set both are reached up to a factor on some sample.
    if learner.k == 1:
        assert min(nearest) > 1 / 300
