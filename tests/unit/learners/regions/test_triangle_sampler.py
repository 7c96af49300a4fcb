"""The exact sampler of triangles against full enumeration, and the parts that it is made of."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.arrays import PackedSums, packed_rows
from dpaudit_learners.geometry.arrangement import sweep
from dpaudit_learners.geometry.polygons import Bits, area, polygon
from dpaudit_learners.regions.families import halfplane_family, triangle_family
from dpaudit_learners.regions.refinement import Pieces, Products
from dpaudit_learners.regions.snapping import full_grid, region_of
from dpaudit_learners.regions.tuple_draws import TupleSampler

# Deterministic by seed; under a fresh seed each comparison would fail by chance with probability 1e-6.
LEVEL = 1e-6
RATES = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2))
CASES = [
    # Every side with every rate; in quick with the two scores in turn, and but for the greatest, which is dear.
    pytest.param(side, rate, kind, marks=[pytest.mark.full] * (side == 4 or (side + i + j) % 2))
    for side in (1, 2, 3, 4)
    for i, rate in enumerate(RATES)
    for j, kind in enumerate(("right", "cover"))
]


def right(covered: Any, spoiled: Any) -> Any:
    return covered - spoiled


def cover(covered: Any, spoiled: Any) -> Any:
    return np.minimum(2 * covered - 5, -2 * spoiled)


SCORES = {"right": right, "cover": cover}


def instance(side: int, rate: Fraction, kind: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Distinct points, some with both labels, weights from 1 to 6."""
    rng = generator(1, "triangle instance", side, str(rate), kind)
    grid = [(x, y) for x in range(side + 1) for y in range(side + 1)]
    count = min(len(grid), int(rng.integers(3, 8)))
    points = [grid[i] for i in rng.choice(len(grid), count, replace=False)]
    weights = [(int(a), int(b)) for a, b in rng.integers(0, 4, (count, 2)) * rng.integers(0, 3, (count, 2))]
    return points, weights


def exact_shares(side: int, points: Any, weights: Any, score: Any, rate: Fraction, family: Any) -> Any:
    """Probabilities of all labellings of the grid, from all of them."""
    rows = [x * (side + 1) + y for x, y in points]
    covered, spoiled = family.labels[:, rows].astype(np.int64) @ np.array(weights).T[0], None
    spoiled = family.labels[:, rows].astype(np.int64) @ np.array(weights).T[1]
    logs = family.log_shares + float(rate) * score(covered, spoiled)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def fit(counts: Any, shares: Any) -> float:
    """The p-value of the likelihood-ratio test of fit; cells expected fewer than 20 times are one."""
    expected = shares * counts.sum()
    large = expected >= 20
    seen = np.append(counts[large], counts[~large].sum())
    due = np.append(expected[large], expected[~large].sum())
    if due[-1] < 20:
        top = due[:-1].argmax()
        seen[top], due[top] = seen[top] + seen[-1], due[top] + due[-1]
        seen, due = seen[:-1], due[:-1]
    statistic = 2 * sum(o * math.log(o / e) for o, e in zip(seen, due, strict=True) if o)
    return float(scipy.stats.chi2.sf(statistic, len(due) - 1)) if len(due) > 1 else 1.0


def labelling(side: int, regions: Any) -> bytes:
    """The labels of the grid by the intersection of halfplanes, by their definition."""
    return np.array(held(regions, itertools.product(range(side + 1), repeat=2)), dtype=np.uint8).tobytes()


def held(regions: Any, points: Any) -> list[bool]:
    """Which points lie in all halfplanes (z, a, b), z y >= z (a x + b), in integers: times a common denominator."""
    common = [math.lcm(Fraction(a).denominator, Fraction(b).denominator) for _, a, b in regions]
    whole = [(z * d, int(z * d * a), int(z * d * b)) for (z, a, b), d in zip(regions, common, strict=True)]
    return [all(d * y >= a * x + b for d, a, b in whole) for x, y in points]


def drawn(sampler: TupleSampler, side: int, family: Any, runs: int, seed: Any) -> Any:
    place = {row.tobytes(): i for i, row in enumerate(family.labels)}
    bits, resolve, known = Bits(generator(2, *seed)), region_of(side), {}
    counts = np.zeros(len(family), dtype=np.int64)
    for _ in range(runs):
        regions = sampler.draw(bits, resolve)
        assert list(regions) == sorted(regions)
        if regions not in known:
            known[regions] = place[labelling(side, regions)]
        counts[known[regions]] += 1
    return counts


@pytest.mark.parametrize(("side", "rate", "kind"), CASES)
def test_draws_follow_the_enumerated_law(side: int, rate: Fraction, kind: str) -> None:
    points, weights = instance(side, rate, kind)
    family = triangle_family(side)
    shares = exact_shares(side, points, weights, SCORES[kind], rate, family)
    sampler = TupleSampler(points, weights, side, SCORES[kind], rate)
    assert fit(drawn(sampler, side, family, 800, (side, str(rate), kind)), shares) > LEVEL


@pytest.mark.parametrize(
    ("side", "rate", "runs"), [(1, Fraction(1), 2_000), (2, Fraction(1, 2), 8_000), (3, Fraction(1, 4), 2_000)]
)
def test_more_draws_on_a_few_instances(side: int, rate: Fraction, runs: int) -> None:
    points, weights = instance(side, rate, "right")
    family = triangle_family(side)
    shares = exact_shares(side, points, weights, right, rate, family)
    counts = drawn(TupleSampler(points, weights, side, right, rate), side, family, runs, ("more", side))
    assert fit(counts, shares) > LEVEL
    # The comparison sees half the rate.
    assert fit(counts, exact_shares(side, points, weights, right, rate / 2, family)) < LEVEL


def test_single_halfplanes_follow_their_law() -> None:
    points, weights = instance(3, Fraction(1), "cover")
    family = halfplane_family(3)
    shares = exact_shares(3, points, weights, cover, Fraction(1, 2), family)
    sampler = TupleSampler(points, weights, 3, cover, Fraction(1, 2), components=1)
    assert fit(drawn(sampler, 3, family, 5_000, ("single",)), shares) > LEVEL


@pytest.mark.parametrize("bound", ["MAX_PRODUCTS", "MAX_MASKS"])
def test_out_of_memory_the_law_stays_exact(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, weights = instance(3, Fraction(1, 4), "right")
    family, rate = triangle_family(3), Fraction(1, 4)
    free = TupleSampler(points, weights, 3, right, rate)
    monkeypatch.setattr(f"dpaudit_learners.regions.refinement.{bound}", 30)
    monkeypatch.setattr("dpaudit_learners.regions.refinement.BATCH", 4)
    sampler = TupleSampler(points, weights, 3, right, rate)
    assert len(sampler.products) < 60 < len(free.products)
    assert not sampler.products._tight()
    counts = drawn(sampler, 3, family, 1_500, ("bound", bound))
    assert fit(counts, exact_shares(3, points, weights, right, rate, family)) > LEVEL
    assert sampler.tries > 1.5 * counts.sum()


@pytest.mark.parametrize("slack", [2.0**-29, 0.2])
def test_few_bits_at_a_time_give_the_same_law(slack: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Eight bits leave nearly every choice open; with much slack, many draws cannot be decided from floats at all.
    monkeypatch.setattr("dpaudit_learners.regions.tuple_draws.SLACK", slack)
    points, weights = instance(2, Fraction(1), "right")
    family, rate = triangle_family(2), Fraction(1)
    shares = exact_shares(2, points, weights, right, rate, family)
    sampler = TupleSampler(points, weights, 2, right, rate)
    place = {row.tobytes(): i for i, row in enumerate(family.labels)}
    bits, resolve = Bits(generator(3, "few bits", str(slack))), region_of(2)
    counts = np.zeros(len(family), dtype=np.int64)
    for _ in range(1_500):
        counts[place[labelling(2, sampler.draw(bits, resolve, 8))]] += 1
    assert fit(counts, shares) > LEVEL
    assert sampler._cumulative.cache_info().currsize > 1


@pytest.mark.parametrize(
    ("side", "rate"), [(3, Fraction(3)), (2**64, Fraction(2**60, 7)), (2**256 - 1, Fraction(1, 1000))]
)
def test_floats_enclose_the_cumulative_weights(side: int, rate: Fraction) -> None:
    points = [(0, 0), (side, 0), (side // 3, side), (side, side // 2), (1, side - 1)]
    sampler = TupleSampler(points, [(1, 0), (2, 5), (7, 0), (0, 3), (4, 4)], side, right, rate)
    rounded, exact = sampler._cumulative(0), sampler._cumulative(1)
    for low, high, least, most in zip(*rounded, *exact, strict=True):
        assert low * exact[0][-1] <= least * rounded[1][-1]
        assert most * rounded[0][-1] <= high * exact[1][-1]
    # The slack leaves little open.
    assert (rounded[1][-1] - rounded[0][-1]) << 27 < rounded[0][-1]


def test_the_envelope_encloses_every_score() -> None:
    side, rate = 3, 0.5
    points, weights = instance(side, Fraction(2), "right")
    products = Products(Pieces(points, side), np.array(weights, dtype=float), right, rate, 3)
    pieces = products.pieces
    surely, possibly = (np.unpackbits(mask, axis=1, count=len(points)) for mask in products.masks(products.codes))
    for row, low, high, sure, maybe in zip(
        products.codes.tolist(), products.lower.tolist(), products.upper.tolist(), surely, possibly, strict=True
    ):
        middles = [_middle(pieces, code) for code in row]
        inside = np.array(held(middles, points))
        assert (sure <= inside).all()
        assert (inside <= maybe).all()
        score = sum((c - e) * bool(h) for (c, e), h in zip(weights, inside, strict=True))
        assert low <= score <= high


def _middle(pieces: Pieces, code: int) -> tuple[int, Fraction, Fraction]:
    corners = pieces._shapes[code >> 1]
    a = sum(Fraction(p, q) for p, _, q in corners) / len(corners)
    b = sum(Fraction(r, q) for _, r, q in corners) / len(corners)
    return 1 - 2 * (code & 1), a, b


@pytest.mark.parametrize("side", [1, 3, 2**20, 2**64, 2**200])
def test_products_partition_the_space(side: int) -> None:
    rng = generator(4, "partition", side)
    points = [(int(x * side), int(y * side)) for x, y in rng.random((12, 2))] if side > 4 else [(0, 0), (1, 1), (1, 0)]
    weights = [(int(c), int(1 - c) * 3) for c in rng.integers(0, 2, len(points))]
    pieces = Pieces(points, side)
    products = Products(pieces, np.array(weights, dtype=float), right, 3.0, 2)
    whole = (32 * side**4 << pieces._precision) ** 2
    low = high = 0
    for row, orders in zip(products.codes.tolist(), products.orders.tolist(), strict=True):
        bounds = [pieces.area(code >> 1, 0) for code in row]
        low += orders * math.prod(a for a, _ in bounds)
        high += orders * math.prod(b for _, b in bounds)
    assert low <= whole <= high
    assert (high - low) * 2**90 < whole


def test_pieces_are_cut_exactly() -> None:
    # Points on few lines, far out: many dual lines meet in one vertex, where floating point cannot tell the side.
    side = 2**64
    points = [(i * 2**60, (i % 3) * 2**60 + i // 3) for i in range(12)] + [(side, side), (0, side)]
    pieces = Pieces(points, side)
    todo, leaves = [0], []
    while todo:
        piece = todo.pop()
        open_ = ~(pieces.inside(2 * piece) | pieces.outside(2 * piece))
        if np.unpackbits(open_, count=len(points)).any():
            pieces.cut(piece, np.unpackbits(open_, count=len(points)))
            todo += pieces.parts[piece].tolist()
        else:
            leaves.append(piece)
    arrangement = sweep(points, [(1 << i, 0) for i in range(len(points))], side)
    assert len(leaves) == arrangement.cells
    known = dict(zip(arrangement.below[:, 0].tolist(), range(arrangement.cells), strict=True))
    for piece in leaves:
        cell = known[sum(1 << i for i, below in enumerate(np.unpackbits(pieces.inside(2 * piece + 1))) if below)]
        true = area(polygon(arrangement, cell))
        for level in (0, 1):
            low, high = pieces.area(piece, level)
            assert low <= true * 2 ** (pieces._precision + 256 * level) <= high
            assert (high - low) * 2**100 <= low


@pytest.mark.parametrize("side", [1, 2])
def test_measures_of_triangles_are_sums_over_all_triples_of_cells(side: int) -> None:
    grid, family = full_grid(side), triangle_family(side)
    cells = [(~row, value) for row, value in zip(grid.below, grid.areas, strict=True)]
    cells += [(row, value) for row, value in zip(grid.below, grid.areas, strict=True)]
    pairs: dict[bytes, Fraction] = {}
    for (one, u), (two, v) in itertools.product(cells, cells):
        key = (one & two).tobytes()
        pairs[key] = pairs.get(key, Fraction(0)) + u * v
    total: dict[bytes, Fraction] = {}
    for key, u in pairs.items():
        mask = np.frombuffer(key, dtype=np.bool_)
        for three, v in cells:
            both = (mask & three).astype(np.uint8).tobytes()
            total[both] = total.get(both, Fraction(0)) + u * v
    whole = sum(total.values())
    assert whole == (32 * side**4) ** 3
    assert {row.tobytes() for row in family.labels} == set(total)
    for row, volume, regions in zip(family.labels, family.volumes, family.regions, strict=True):
        assert Fraction(volume, sum(family.volumes)) == total[row.tobytes()] / whole
        assert labelling(side, regions) == row.tobytes()
    assert np.exp(family.log_shares).sum() == pytest.approx(1.0, abs=1e-12)


def test_huge_weights_and_a_huge_grid() -> None:
    side = 2**64
    points = [(0, 0), (side, 0), (side // 2, side), (side // 2, side // 2), (side // 3, side // 7)]
    weights = [(0, 10**12), (0, 10**12), (0, 10**12), (10**15, 0), (10**15, 1)]
    sampler = TupleSampler(points, weights, side, right, Fraction(1, 1000))
    bits, resolve = Bits(generator(5, "huge")), region_of(side)
    first = [sampler.draw(bits, resolve) for _ in range(5)]
    assert len(set(first)) == 5
    for regions in first:
        assert held(regions, points) == [False, False, False, True, True]
    again = Bits(generator(5, "huge"))
    assert first == [sampler.draw(again, resolve) for _ in range(5)]


@pytest.mark.parametrize(("points", "most"), [(0, 0), (1, 1), (7, 3), (64, 3333), (130, 9), (130, 10**6), (300, 2**45)])
def test_sums_over_packed_points(points: int, most: int) -> None:
    # Few bits of weights are counted, many are looked up; those in front and behind may have none.
    rng = generator(7, "packed sums", points, most)
    weights = 6 * rng.integers(0, most + 1, points) * (np.arange(points) % 100 > 20)
    flags = rng.random((50, points)) < 0.4
    assert PackedSums(weights).of(packed_rows(flags)).tolist() == (flags @ weights).tolist()


def test_refinement_goes_on_from_that_of_another_score() -> None:
    points, weights = instance(3, Fraction(1, 4), "right")
    family, rate = triangle_family(3), Fraction(1, 4)
    first = TupleSampler(points, weights, 3, right, rate)
    before = first.products.codes.copy()
    sampler = TupleSampler(points, weights, 3, cover, rate, before=first)
    assert len(sampler.products) >= len(before)
    assert (first.products.codes == before).all()
    shares = exact_shares(3, points, weights, cover, rate, family)
    assert fit(drawn(sampler, 3, family, 1_500, ("again",)), shares) > LEVEL
    assert fit(drawn(first, 3, family, 1_500, ("first",)), shares) < LEVEL


def test_bounds_that_are_tightened_without_a_cut_hold() -> None:
    # Random tuples of random leaves of tightened products; with bounds one lower some tuple would be above.
    side, rng = 2**16, generator(8, "tightened")
    points = [(int(x), int(y)) for x, y in rng.integers(0, side + 1, (90, 2))]
    weights = [(5, 0) if 2 * y > x + side // 8 and y < side - x // 2 else (0, 5) for x, y in points]
    pieces = Pieces(points, side)

    def score(covered: Any, spoiled: Any) -> Any:
        return np.minimum(2 * covered - sum(one for one, _ in weights), -2 * spoiled)

    products = Products(pieces, np.array(weights, dtype=float), score, 2.0, 3)
    upper, lower = products._scores(*products.masks(products.codes))
    assert (products.upper <= upper).all()
    assert (products.lower >= lower).all()
    tightened = np.flatnonzero((products.upper < upper) | (products.lower > lower))
    assert len(tightened) > 20
    reached = 0
    for i in np.tile(tightened, 1 + 2000 // len(tightened)).tolist():
        regions = []
        for code in products.codes[i].tolist():
            piece = code >> 1
            while pieces.parts[piece, 0] >= 0:
                piece = int(pieces.parts[piece, rng.integers(2)])
            regions.append(_middle(pieces, 2 * piece + (code & 1)))
        covered, spoiled = held(regions, points) @ np.array(weights)
        assert products.lower[i] <= score(covered, spoiled) <= products.upper[i]
        reached += score(covered, spoiled) == products.upper[i]
    assert reached


def test_no_points_at_all() -> None:
    sampler = TupleSampler([], [], 5, right, Fraction(1))
    assert len(sampler.draw(Bits(generator(6, "none")), region_of(5))) == 3


def test_too_many_examples_or_too_large_a_grid() -> None:
    with pytest.raises(InputError, match="2\\^53"):
        TupleSampler([(0, 0)], [(2**53, 0)], 1, right, Fraction(1))
    with pytest.raises(InputError, match="side"):
        triangle_family(5)
