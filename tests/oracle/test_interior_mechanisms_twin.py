"""RecConcave, TreeLog and the scores behind them against slow, obvious twins that list the whole domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from dpaudit_learners.mechanisms.rec_concave import RecConcave
from dpaudit_learners.mechanisms.stable_select import Standing
from dpaudit_learners.mechanisms.steps import Steps, interior_scores, widest_windows
from dpaudit_learners.mechanisms.tree_log import TreeLog, _balanced_nodes, leaving_depths

F = Fraction
Number = int | Fraction


def listed_score(data: list[int], size: int) -> list[int]:
    return [min(sum(x <= z for x in data), sum(x >= z for x in data)) for z in range(size)]


def expanded(score: Steps) -> list[Number]:
    return [v for v, n in zip(score.values, score.lengths, strict=True) for _ in range(n)]


def counted(data: list[int]) -> tuple[list[int], list[int]]:
    points = sorted(set(data))
    return points, [data.count(x) for x in points]


def softmax(weights: dict[int, float]) -> dict[int, float]:
    top = max(weights.values())
    total = math.fsum(math.exp(w - top) for w in weights.values())
    return {x: math.exp(w - top) / total for x, w in weights.items()}


def test_interior_scores_against_counting() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = int(rng.integers(2, 12))
        data = rng.integers(0, size, int(rng.integers(0, 8))).tolist()
        q = expanded(interior_scores(*counted(data), size))
        assert q == listed_score(data, size)
        assert max(q) >= len(data) / 2
        for i in range(size):
            for j in range(i, size):
                assert all(q[k] >= min(q[i], q[j]) for k in range(i, j))


def test_widest_windows_against_all_windows() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        starts = [0, *sorted(set(rng.integers(1, 30, 5).tolist()))]
        size = 32
        values = rng.integers(-2, 5, len(starts)).tolist()
        score = Steps.of(starts, values, size)
        q = expanded(score)
        slow = [max(min(q[i : i + 2**j]) for i in range(size - 2**j + 1)) for j in range(6)]
        assert widest_windows(score, 5) == slow


def slow_concave(q: Sequence[Number], r: Number, alpha: Number, mechanism: RecConcave) -> dict[int, float]:
    """Return the law of RecConcave, step by step on lists."""
    top = len(q) - 1
    rate = float(mechanism.epsilon) / 2
    if top <= mechanism.base:
        return softmax({x: rate * float(v) for x, v in enumerate(q)})
    width = 1
    while width < top:
        width *= 2
    padded = [*q, *[min(0, q[-1])] * (width - top)]
    log = width.bit_length() - 1
    widest = [max(min(padded[i : i + 2**j]) for i in range(len(padded) - 2**j + 1)) for j in range(log + 1)]
    widest.append(min(0, widest[-1]))
    inner = [min(widest[j] - (1 - alpha) * r, r - widest[j + 1]) for j in range(log + 1)]
    select = mechanism.stable(mechanism.epsilon, mechanism.delta)
    law = dict.fromkeys(range(top + 1), 0.0)
    for k, chance in slow_concave(inner, alpha * r / 2, F(1, 4), mechanism).items():
        options = []
        for shift in (0, 4 * 2**k):
            cells: dict[int, list[int]] = {}
            for x in range(len(padded)):
                cells.setdefault((x + shift) // (8 * 2**k), []).append(x)
            height = {i: max(padded[x] for x in xs) for i, xs in cells.items()}
            order = sorted(cells, key=lambda i: (-height[i], i))
            gap = height[order[0]] - height[order[1]] if len(order) > 1 else None
            named = math.exp(select.log_law(Standing(0, gap))[0])
            options.append([(named, cells[order[0]]), (1 - named, [])])
        for pa, a in options[0]:
            for pb, b in options[1]:
                union = sorted(set(a) | set(b))
                if union:
                    last = softmax({x: rate * float(padded[x]) for x in union})
                else:
                    last = {0: 1.0}
                for x, p in last.items():
                    law[min(x, top)] += chance * pa * pb * p
    return law


@pytest.mark.parametrize(("top", "base"), [(40, 32), (13, 3), (16, 3), (17, 2), (9, 9), (64, 32)])
def test_rec_concave_law_against_lists(top: int, base: int) -> None:
    rng = np.random.default_rng(top)
    for n in (0, 3, 9, 20):
        data = rng.integers(0, top + 1, n).tolist()
        mechanism = RecConcave(top, F(n, 2), F(1, 2), F(3, 2), F(1, 10), base)
        log_prob, error = mechanism.log_law(interior_scores(*counted(data), top + 1))
        slow = slow_concave(listed_score(data, top + 1), F(n, 2), F(1, 2), mechanism)
        assert error < 1e-11
        assert np.exp(log_prob) == pytest.approx([slow[x] for x in range(top + 1)], abs=1e-10)


def test_rec_concave_runs_on_any_step_function() -> None:
    rng = np.random.default_rng(8)
    values = rng.integers(-3, 6, 20).tolist()
    mechanism = RecConcave(19, F(4), F(1, 2), F(2), F(1, 10), 4)
    slow = slow_concave(values, F(4), F(1, 2), mechanism)
    assert np.exp(mechanism.log_law(Steps.of_values(values))[0]) == pytest.approx(
        [slow[x] for x in range(20)], abs=1e-10
    )
    drawn = np.bincount(mechanism.draw(Steps.of_values(values), rng, 20_000), minlength=20)
    for x, p in slow.items():
        # Seven standard deviations and one: false-alarm rate below 1e-10 for all twenty.
        assert abs(drawn[x] - 20_000 * p) <= 7 * math.sqrt(20_000 * p) + 1


def test_balanced_nodes_and_depths_against_the_whole_tree() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        height = int(rng.integers(1, 6))
        data = rng.integers(0, 2**height, int(rng.integers(1, 12))).tolist()
        nodes = {}
        for level in range(height):
            half = 2 ** (height - level - 1)
            for start in range(0, 2**height, 2 * half):
                left = sum(start <= x < start + half for x in data)
                right = sum(start + half <= x < start + 2 * half for x in data)
                if min(left, right):
                    nodes[start + half - 1] = min(left, right)
        points, counts = counted(data)
        assert _balanced_nodes((points, counts)) == dict(sorted(nodes.items()))
        assert leaving_depths(points, counts, height) == [slow_depth(x, data, height) for x in points]


def slow_depth(x: int, data: list[int], height: int) -> int:
    """Return how many steps of the heavy path x follows, at most `height`."""
    prefix = ""
    for depth in range(height):
        inside = [format(d, f"0{height}b") for d in data]
        zeros = sum(d.startswith(prefix + "0") for d in inside)
        ones = sum(d.startswith(prefix + "1") for d in inside)
        prefix += "1" if ones > zeros else "0"
        if not format(x, f"0{height}b").startswith(prefix):
            return depth
    return height


def slow_tree(data: list[int], tree: TreeLog) -> dict[int, float]:
    """Return the law of TreeLog on a list of elements, step by step."""
    size = tree.size
    rate = float(tree.epsilon) / 2
    law = dict.fromkeys(range(size), 0.0)
    scores = listed_score(data, size)
    if tree.inner is None:
        return softmax({x: rate * v for x, v in enumerate(scores)})
    height = tree.height
    middle = sorted(data)[tree.margin : len(data) - tree.margin]
    named, nothing, _ = tree._choice.log_law(_balanced_nodes(counted(middle)))
    for x, log in zip(_balanced_nodes(counted(middle)), named, strict=True):
        law[x] += math.exp(log)
    depths = {x: slow_depth(x, middle, height) for x in middle}
    ordered = sorted(middle, key=lambda x: (-depths[x], x))
    deep = ordered[: tree.deep]
    rest = ordered[tree.deep :]
    for y, chance in slow_tree([depths[x] for x in rest], tree.inner).items():
        shift = height - y
        weight = {v: sum(x >> shift == v for x in deep) for v in range(2**y)}
        order = sorted(weight, key=lambda v: (-weight[v], v))
        gap = weight[order[0]] - weight[order[1]] if len(order) > 1 else None
        chosen = math.exp(tree._selection.log_law(Standing(0, gap))[0])
        first = order[0] << shift
        last = ((order[0] + 1) << shift) - 1
        candidates = {min(c, size - 1) for c in (first, (first + last) // 2, last)}
        for x, p in softmax({c: rate * scores[c] for c in candidates}).items():
            law[x] += math.exp(nothing) * chance * chosen * p
        law[0] += math.exp(nothing) * chance * (1 - chosen)
    return law


@pytest.mark.parametrize(("size", "base"), [(20, 16), (16, 4), (11, 3)])
def test_tree_log_law_against_the_whole_tree(size: int, base: int) -> None:
    rng = np.random.default_rng(size)
    for spread in (1, 2, 5, size):
        tree = TreeLog(size, 0, F(12), F(1, 5), 0.5, base)
        n = tree.points_needed + 3
        tree = TreeLog(size, n, F(12), F(1, 5), 0.5, base)
        assert tree.inner is not None
        centres = rng.integers(0, size, spread)
        data = rng.choice(centres, n, p=rng.dirichlet(np.full(spread, 0.3))).tolist()
        log_prob, error = tree.log_law(*counted(data))
        slow = slow_tree(data, tree)
        assert error < 1e-10
        assert np.exp(log_prob) == pytest.approx([slow[x] for x in range(size)], abs=1e-10)
        drawn = np.bincount(tree.draw(*counted(data), rng, 5000), minlength=size)
        for x, p in slow.items():
            # Seven standard deviations and one: false-alarm rate below 1e-9 for all points together.
            assert abs(drawn[x] - 5000 * p) <= 7 * math.sqrt(5000 * p) + 1
