"""The exact audit on random laws: what post-processing, renaming and mixing must do to epsilon and delta."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit
from dpaudit.contract import Instance, Law, PrivacyClaim, Relation
from dpaudit.exact import profiles as profiles_module
from dpaudit.exact.profiles import LossProfiles
from dpaudit.neighbours.multisets import multisets, orbits, rank
from dpaudit_learners.domains import Interval

SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Random:
    """A learner with a random law for each sample of two points, zeros included; optional post-processing."""

    seed: int
    zeros: bool
    merge: bool = False
    rename: bool = False
    id: ClassVar[str] = "toy-random"
    instance: ClassVar[Instance] = Instance({}, n=2)
    privacy: ClassVar[PrivacyClaim] = PrivacyClaim(1.0, 0.05)
    domain: ClassVar[Interval] = Interval(2)

    def probabilities(self, sample: Any) -> np.ndarray[Any, Any]:
        row = [(int(x[0]), int(y), int(c)) for x, y, c in zip(sample.points, sample.labels, sample.counts, strict=True)]
        rng = np.random.default_rng([self.seed, *itertools.chain(*row)])
        weights = rng.gamma(0.7, size=5) * (rng.random(5) < 0.8 if self.zeros else 1.0)
        weights[0] += 1e-6
        return weights / weights.sum()

    def law(self, sample: Any) -> Law:
        p, atoms = self.probabilities(sample), list(range(5))
        if self.merge:
            p, atoms = np.array([p[0] + p[1], *p[2:]]), [0, 2, 3, 4]
        if self.rename:
            order = np.random.default_rng(sample.n + len(sample.points)).permutation(len(p))
            p, atoms = p[order], [atoms[i] for i in order]
        with np.errstate(divide="ignore"):
            return Law(atoms, np.log(p), 1e-14)


def slow(learner: Random, n: int, epsilon: float) -> tuple[float, float]:
    """Return (worst epsilon, worst delta) by plain loops over the neighbours of every multiset."""
    worst, delta = 0.0, 0.0
    for row in itertools.combinations_with_replacement(range(4), n):
        sample = learner.domain.sample([v // 2 for v in row], [v % 2 for v in row])
        for other in sample.neighbours(Relation.REPLACE_ONE):
            p, q = learner.probabilities(sample), learner.probabilities(other)
            delta = max(delta, sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True)))
            ratios = [math.inf if b == 0 else math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0]
            worst = max(worst, *ratios)
    return worst, delta


@settings(max_examples=25)
@given(SEEDS, st.booleans(), st.integers(1, 3), st.floats(0, 3))
def test_random_laws_give_what_plain_loops_give(seed: int, zeros: bool, n: int, epsilon: float) -> None:
    learner = Random(seed, zeros)
    finding = dpaudit.pac.audit_law(learner, n=n)
    worst, delta = slow(learner, n, epsilon)
    assert finding.epsilon == pytest.approx(worst, abs=1e-12)
    assert finding.delta(epsilon) == pytest.approx(delta, abs=1e-12)
    assert finding.verdict == ("violation" if slow(learner, n, 1.0)[1] > 0.05 else "consistent")


@settings(max_examples=25)
@given(SEEDS, st.booleans(), st.floats(0, 3))
def test_merging_outputs_cannot_hurt_and_renaming_changes_nothing(seed: int, zeros: bool, epsilon: float) -> None:
    plain = dpaudit.pac.audit_law(Random(seed, zeros), n=2)
    merged = dpaudit.pac.audit_law(Random(seed, zeros, merge=True), n=2)
    renamed = dpaudit.pac.audit_law(Random(seed, zeros, rename=True), n=2)
    assert merged.epsilon <= plain.epsilon + 1e-12
    assert merged.delta(epsilon) <= plain.delta(epsilon) + 1e-12
    assert renamed.epsilon == pytest.approx(plain.epsilon, abs=1e-15)
    assert renamed.delta(epsilon) == pytest.approx(plain.delta(epsilon), abs=1e-14)


@settings(max_examples=50)
@given(SEEDS, st.integers(2, 6), st.floats(-2, 4), st.floats(0, 2))
def test_delta_decreases_is_below_one_and_ends_at_epsilon(seed: int, atoms: int, e: float, step: float) -> None:
    rng = np.random.default_rng(seed)
    laws = np.log(rng.dirichlet(np.full(atoms, 0.5), size=6) + 1e-12)
    left, right = np.divmod(np.arange(36), 6)
    profiles = LossProfiles(laws, np.full(6, 1e-15), left, right)
    slack = profiles.delta_error(e)
    assert 0 <= profiles.delta(e + step) <= profiles.delta(e) + slack
    assert profiles.delta(e) <= 1
    assert profiles.delta(profiles.epsilon) <= slack
    assert profiles.delta(profiles.epsilon - 1e-3) > 0
    pair, atom = profiles.worst()
    assert laws[left[pair], atom] - laws[right[pair], atom] == pytest.approx(profiles.epsilon, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_cutting_into_blocks_and_stopping_early_changes_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    laws = np.log(rng.dirichlet(np.full(4, 0.5), size=30) + 1e-9)
    sides = rng.integers(0, 30, (2, 200))
    answers = []
    for block in (2**19, 64, 1):
        monkeypatch.setattr(profiles_module, "_BLOCK", block)
        found = LossProfiles(laws, np.full(30, 1e-15), *sides)
        answers.append([found.epsilon, found.worst(), *(found.delta(e) for e in (-1.0, 0.0, 0.5, 2.0, 5.0, 30.0))])
    assert answers[0] == answers[1] == answers[2]


@settings(max_examples=30)
@given(st.integers(1, 4), st.integers(1, 4), SEEDS, st.integers(0, 3))
def test_orbits_are_the_classes_of_a_search(half: int, n: int, seed: int, generators: int) -> None:
    universe = 2 * half
    rng = np.random.default_rng(seed)
    permutations = [rng.permutation(universe) for _ in range(generators)]
    firsts, sizes = orbits(multisets(universe, n), permutations, universe)
    unseen, classes = {tuple(r) for r in multisets(universe, n).tolist()}, []
    while unseen:
        front = [unseen.pop()]
        found = set(front)
        while front:
            row = front.pop()
            images = {tuple(sorted(int(p[v]) for v in row)) for p in permutations} - found
            found |= images
            front += images
        unseen -= found
        classes.append((min(int(rank(np.array([r]), universe)[0]) for r in found), len(found)))
    assert sorted(classes) == list(zip(firsts.tolist(), sizes.tolist(), strict=True))
