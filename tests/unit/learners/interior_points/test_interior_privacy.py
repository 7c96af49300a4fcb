"""Exact privacy and utility of RecConcave and TreeLog on domains small enough to try everything."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.contract import InputError
from dpaudit_learners.interior_points.interior_point import VARIANTS, make_solver
from dpaudit_learners.mechanisms import exponential
from dpaudit_learners.mechanisms.composition import basic
from dpaudit_learners.mechanisms.rec_concave import RecConcave
from dpaudit_learners.mechanisms.steps import Steps, interior_scores
from dpaudit_learners.mechanisms.tree_log import Choosing, TreeLog

F = Fraction


def multisets(size: int, n: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations_with_replacement(range(size), n))


def counted(data: tuple[int, ...]) -> tuple[list[int], list[int]]:
    points = sorted(set(data))
    return points, [data.count(x) for x in points]


def neighbours(data: tuple[int, ...], size: int) -> set[tuple[int, ...]]:
    return {tuple(sorted((*data[:i], x, *data[i + 1 :]))) for i in range(len(data)) for x in range(size)} - {data}


def excess(left: Any, right: Any, epsilon: float) -> float:
    return float(np.maximum(np.exp(left) - math.exp(epsilon) * np.exp(right), 0).sum())


@pytest.mark.parametrize(
    ("base", "levels", "delta"),
    [
        (9, 1, 0.02),
        (4, 2, 0.8),
        (2, 3, 0.02),
        *(pytest.param(*case, marks=pytest.mark.full) for case in ((9, 1, 0.8), (4, 2, 0.02), (2, 3, 0.8))),
    ],
)
def test_rec_concave_keeps_its_claim_on_every_pair(base: int, levels: int, delta: float) -> None:
    size, n = 10, 4
    mechanism = RecConcave.within(size - 1, F(n, 2), F(1, 2), 3.0, delta, base=base)
    assert mechanism.levels == levels
    assert len(mechanism.calls) == 3 * levels - 2
    assert float(mechanism.cost.epsilon) == pytest.approx(3.0, abs=1e-12)
    assert float(mechanism.cost.delta) == pytest.approx(delta if levels > 1 else 0, abs=1e-12)
    laws = {s: mechanism.log_law(interior_scores(*counted(s), size))[0] for s in multisets(size, n)}
    worst, ratio = 0.0, 0.0
    for s, law in laws.items():
        others = np.stack([laws[other] for other in neighbours(s, size)])
        worst = max(worst, float(np.maximum(np.exp(law) - math.exp(3.0) * np.exp(others), 0).sum(axis=1).max()))
        ratio = max(ratio, float((law - others).max()))
    assert worst <= float(mechanism.cost.delta) + 1e-12
    assert ratio > 0.3


def test_rec_concave_levels_never_are_log_star() -> None:
    tops = {4: 1, 32: 1, 33: 2, 2**16: 2, 2**32: 2, 2**33: 3, 2**64: 3, 2**900: 3}
    assert {t: RecConcave(t, F(1), F(1, 2), F(1), F(1, 10**6)).levels for t in tops} == tops


@pytest.mark.parametrize(
    ("top", "needed"), [(31, 23), (63, 716), (2**16, 798), (2**32, 883), (2**64 - 1, 10674), (2**900, 11307)]
)
def test_promises_needed(top: int, needed: int) -> None:
    # epsilon 1, delta 1e-6, beta 0.1, alpha 1/2; the figures of the refined bound, computed apart from this code.
    mechanism = RecConcave.within(top, F(1), F(1, 2), 1.0, 1e-6)
    assert math.ceil(mechanism.promise_needed(0.1)) == pytest.approx(needed, abs=1)


def test_rec_concave_finds_what_it_promises() -> None:
    # Exact failure probability on the hardest shapes: all equal, two piles, spread evenly.
    size, beta = 64, 0.1
    needed = math.ceil(RecConcave.within(size - 1, F(1), F(1, 2), 4.0, 0.05).promise_needed(beta))
    n = 2 * needed
    shapes = [([0], [n]), ([63], [n]), ([31, 32], [needed, needed]), ([0, 63], [needed, needed]), ([7, 8], [n - 1, 1])]
    shapes.append((list(range(64)), [n // 64 + (i < n % 64) for i in range(64)]))
    for points, counts in shapes:
        q = interior_scores(points, counts, size)
        mechanism = RecConcave.within(size - 1, F(n, 2), F(1, 2), 4.0, 0.05)
        values = np.repeat([float(v) for v in q.values], q.lengths)
        p = np.exp(mechanism.log_law(q)[0])
        assert p[values < n / 4].sum() <= beta


@dataclasses.dataclass(frozen=True)
class BareChoosing(Choosing):
    """No noise on the test of the best score."""

    def log_law(self, scores: Mapping[Hashable, int]) -> tuple[Any, float, float]:
        if max(scores.values(), default=0) < self.threshold:
            return np.full(len(scores), -np.inf), 0.0, 0.0
        logs, error = exponential.log_law(np.array(list(scores.values())), self.rate)
        return logs, -math.inf, error


class BareTree(TreeLog):
    """TreeLog whose choice among nodes is not tested with noise."""

    @property
    def _choice(self) -> Choosing:
        return BareChoosing(self.epsilon, self.delta, self.height)


def tree_pairs(size: int, n: int, rng: np.random.Generator) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return neighbours of which most lie around a balance in some node."""
    pairs = []
    for _ in range(150):
        spread = int(rng.integers(1, 4))
        data = sorted(rng.choice(rng.integers(0, size, spread), n, p=rng.dirichlet(np.full(spread, 0.5))).tolist())
        other = sorted([*data[: (i := int(rng.integers(n)))], int(rng.integers(size)), *data[i + 1 :]])
        pairs.append((tuple(data), tuple(other)))
    for low in range(1, n - 1):
        for a, b in ((0, size - 1), (size // 2 - 1, size // 2), (size // 4, size - 1)):
            pairs.append(((a,) * low + (b,) * (n - low), (a,) * (low + 1) + (b,) * (n - low - 1)))
    return pairs


def worst_tree(tree: TreeLog, epsilon: float, enough: float = math.inf) -> float:
    """Return the greatest excess over pairs, of which the last is the first that shows `enough`."""
    pairs = tree_pairs(tree.size, tree.n, np.random.default_rng(6))
    worst = 0.0
    for left, right in pairs:
        p, q = tree.log_law(*counted(left))[0], tree.log_law(*counted(right))[0]
        worst = max(worst, excess(p, q, epsilon), excess(q, p, epsilon))
        if worst > enough:
            break
    return worst


@pytest.mark.parametrize("base", [4, 16])
def test_tree_log_keeps_its_claim_and_needs_its_noise(base: int) -> None:
    epsilon, delta = 16.0, 0.3
    bare = TreeLog.within(24, 0, epsilon, delta, 0.5, base=base)
    tree = TreeLog.within(24, bare.points_needed + 2, epsilon, delta, 0.5, base=base)
    assert tree.levels == (2 if base == 16 else 3)
    assert len(tree.calls) == 3 * tree.levels - 2
    assert basic(tree.calls) == tree.cost
    assert float(tree.cost.epsilon) == pytest.approx(epsilon)
    assert float(tree.cost.delta) == pytest.approx(delta)
    assert worst_tree(tree, epsilon) <= delta
    assert worst_tree(BareTree(**vars(tree)), epsilon, enough=0.9) > 0.9


def test_tree_log_finds_interior_points() -> None:
    size, beta = 24, 0.1
    needed = TreeLog.within(size, 0, 8.0, 0.05, beta).points_needed
    rng = np.random.default_rng(0)
    for n in (needed, needed + 50):
        tree = TreeLog.within(size, n, 8.0, 0.05, beta)
        for left, _ in tree_pairs(size, n, rng):
            p = np.exp(tree.log_law(*counted(left))[0])
            assert 1 - p[left[0] : left[-1] + 1].sum() <= beta


def test_with_too_few_points_tree_log_is_the_exponential_mechanism() -> None:
    tree = TreeLog.within(64, 9, 1.0, 1e-3, 0.1)
    assert len(tree.calls) == 1
    assert tree.cost.delta == 0
    expected = interior_scores([3, 50], [4, 5], 64).log_exponential(float(tree.epsilon) / 2, 64)[0]
    assert (tree.log_law([3, 50], [4, 5])[0] == expected).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_solvers_need_what_they_say(variant: str) -> None:
    solver, needed = make_solver(variant, 40, 0, F(4), F(1, 20), 0.2)
    solver, again = make_solver(variant, 40, needed, F(4), F(1, 20), 0.2)
    assert needed == again
    assert float(solver.cost.epsilon) == pytest.approx(4)
    for points, counts in (([5], [needed]), ([5, 6], [1, needed - 1]), ([0, 39], [needed // 2, needed - needed // 2])):
        p = np.exp(solver.log_law(points, counts)[0])
        assert p[points[0] : points[-1] + 1].sum() >= 0.8


def test_limits_and_scores_are_checked() -> None:
    huge = RecConcave.within(2**64 - 1, F(5), F(1, 2), 1.0, 1e-6)
    score = interior_scores([3, 2**63], [5, 5], 2**64)
    with pytest.raises(InputError, match="at most 4096"):
        huge.log_law(score)
    assert all(0 <= x < 2**64 for x in huge.draw(score, np.random.default_rng(0), 20))
    with pytest.raises(InputError, match=r"score must be given on 0 \.\. 5"):
        RecConcave(5, F(1), F(1, 2), F(1), F(1, 10)).log_law(Steps.of_values([1, 2]))
    for bad in ({"top": 0}, {"alpha": F(3, 4)}, {"promise": F(-1)}, {"base": 1}):
        with pytest.raises(InputError, match=next(iter(bad))):
            RecConcave(**{"top": 9, "promise": F(1), "alpha": F(1, 2), "epsilon": F(1), "delta": F(1, 9), **bad})
    with pytest.raises(InputError, match="n = 5 points"):
        TreeLog.within(64, 5, 1.0, 0.1, 0.1).draw([1], [4], np.random.default_rng(0), 1)
    with pytest.raises(InputError, match="common denominator"):
        RecConcave(5, F(1), F(0.3), F(1), F(1, 10)).draw(
            Steps.of_values([F(0.1), F(10**9, 7), 0, 0, 0, 0]), np.random.default_rng(0), 1
        )
