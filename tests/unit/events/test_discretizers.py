"""Outcome cells, scores and events: what is counted, in what order, and which event is taken."""

from __future__ import annotations

from collections import Counter
from math import inf

import numpy as np
import pytest

from dpaudit.contract import Direction
from dpaudit.events.cells import separation, tally
from dpaudit.events.discretizers import Atoms, Identity, PackedRows, Pilot, Ranked
from dpaudit.events.event import RARE, Cells, CellSet, Interval
from dpaudit.events.expected_bound import PlannedTest, expected_bound, prefix_bounds
from dpaudit.events.fitting import Scored, fitted_discretizers
from dpaudit.events.flattening import GROUPS, Flattener, group_columns
from dpaudit.events.scores import NaiveBayes
from dpaudit.events.selected import OrderedCells

TEST = PlannedTest(1000, 0, 0.05)


@pytest.mark.parametrize(
    "values", [[3, 3, -1, 0], [10**15, 1, 1], [0], [-(2**62), 2**62], list(range(1000)) * 2, [5] * 70_000]
)
def test_tally_counts_like_a_counter(values: list[int]) -> None:
    assert tally(np.array(values)) == Counter(values) == tally(values)


def test_an_event_counts_arrays_and_lists_alike() -> None:
    outputs = np.array([0, 1, 2, 3, 3, 9])
    for rare, expected in ((False, 3), (True, 4)):
        event = CellSet(frozenset({1, 3}), frozenset({0, 2}), rare)
        assert event.hits(tally(outputs)) == event.hits(tally(outputs.tolist())) == expected
        assert event.hits(event.with_rare_merged(tally(outputs))) == expected
        assert event.with_rare_merged(tally(outputs))[RARE] == 1


def test_events_as_data() -> None:
    cells = {1, 2, 3, 7, 9, 10, ("str", "b"), ("str", "a")}
    assert Cells.of("output", cells) == Cells("output", ((1, 3), (7, 7), (9, 10)), ("'a'", "'b'"), False)
    assert Cells.of("rows", {-1}, True) == Cells("rows", ((-1, -1),), (), True)
    assert Cells.of("output", (), True) == Cells("output", (), (), True)


def test_a_discretizer_describes_an_event_by_its_cells_or_by_an_interval_of_its_score() -> None:
    event = CellSet(frozenset({1, 2}), frozenset({0}), False)
    assert Identity().describe(event) == Cells("output", ((1, 2),))
    assert Atoms({}).describe(event) == Cells("repeated outputs", ((1, 2),))
    binned = Scored(Flattener(1, False, {}), ("values",), None, np.array([0.5, 1.5, 2.5]), "value")
    assert binned.describe(event) == Interval("value", 0.5, 2.5)
    assert binned.describe(CellSet(frozenset({0, 1, 2, 3}), frozenset(), False)) == Interval("value", -inf, inf)


def test_the_expected_bound_is_asymptotically_the_normal_one() -> None:
    m, confirm = 10**9, 4 * 10**9
    x, y, delta = 3 * 10**8, 10**8, 0.01
    p, q = x / m, y / m
    v = p * (1 - p) / (p - delta) ** 2 + (1 - q) / q
    wanted = np.log((p - delta) / q) - 1.6448536269514722 * np.sqrt(v / confirm) - 1.5 * np.sqrt(v / m)
    got = expected_bound(np.array([x]), m, np.array([y]), m, PlannedTest(confirm, delta, 0.05))
    assert got[0] == pytest.approx(wanted, abs=1e-7)


def test_the_expected_bound_of_few_counts() -> None:
    got = expected_bound(np.array([100, 0, 1]), 1000, np.array([0, 0, 0]), 1000, PlannedTest(1000, 0, 0.05))
    # 100 to 0 gives a bound of about 3.3 on fresh runs; marked down for luck it must stay above 1. 0 to 0: nothing.
    assert 1 < got[0] < 3.3
    assert got[1] < 0
    assert got[2] < 0
    assert expected_bound(np.array([1]), 999, np.array([0]), 999, PlannedTest(999, 0.3, 0.05))[0] == -np.inf


def test_the_best_prefix_takes_a_saturated_ratio_whole() -> None:
    # Three atoms of equal ratio and one of ratio 1: the greatest event of the saturated ratio is best.
    sides = np.array([3000, 3000, 3000, 1000]), np.array([1000, 1000, 1000, 7000])
    bounds, markdowns = prefix_bounds(*sides, PlannedTest(10_000, 0, 0.05))
    assert np.argmax(bounds) == 2
    assert (markdowns == 0).all()


def test_one_event_of_many_rivals_is_marked_down_for_them() -> None:
    sides, test = (np.array([16, 1728]), np.array([5, 1739])), PlannedTest(16_000, 0, 0.05)
    alone, among = (prefix_bounds(*sides, test, rivals=rivals)[0][0] for rivals in (1, 20))
    assert alone == pytest.approx(float(expected_bound(np.array([16]), 1744, np.array([5]), 1744, test, events=1)[0]))
    # With so few runs the luck of twenty such events is as great as what this one shows.
    assert among < 0.1 < 0.8 < alone


def test_the_direction_is_the_one_with_the_signal() -> None:
    common, only = Counter({0: 900, 1: 100}), Counter({0: 1000})
    assert OrderedCells.of(Identity(), (common, only)).best(TEST).direction is Direction.FORWARD
    found = OrderedCells.of(Identity(), (only, common)).best(TEST)
    assert (found.direction, found.event.inside) == (Direction.BACKWARD, frozenset({1}))


def test_rare_cells_are_one_atom() -> None:
    data = Counter({"common": 500, **{f"seen once {i}": 1 for i in range(500)}})
    found = OrderedCells.of(Identity(), (data, Counter({"common": 1000}))).best(TEST)
    assert found.event.rare
    assert found.event.has("never seen")
    assert not found.event.has("common")


def test_the_law_orders_events_where_it_is_known() -> None:
    rng = np.random.default_rng(0)
    truth = {i: 0.5 if i < 50 else -0.7 for i in range(100)}
    data, neighbour = (Counter(dict(enumerate(rng.poisson(20, 100).tolist()))) for _ in range(2))
    found = OrderedCells.of(Identity(), (data, neighbour), log_ratio=truth).best(PlannedTest(10**6, 0, 0.05))
    assert found.order in ("law", "likelihood ratio")


def test_few_kinds_of_output_need_no_score() -> None:
    pilot = Pilot.of(np.arange(1000) % 7)
    assert pilot == Pilot(Identity(), True, different=857)
    assert not pilot.plan.leaves
    assert pilot.shared == [Identity()]
    rows = Pilot.of(np.random.default_rng(0).integers(0, 2, (1000, 3))).discretizer
    assert isinstance(rows, PackedRows)
    assert sorted(set(rows(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [2, 0, 0]])).tolist())) == [-1, 0, 1, 7]
    continuum = Pilot.of(np.random.default_rng(0).normal(size=1000))
    assert continuum.atoms is None
    assert (continuum.discretizer, continuum.sufficient, continuum.width) == (None, False, 0)
    some = np.concatenate([np.random.default_rng(0).normal(size=1000), [0.0] * 3, [1.0] * 5, [2.0] * 2])
    repeated = Pilot.of(some)
    assert repeated.discretizer is None
    assert repeated.atoms is not None
    assert np.unique(repeated.atoms(some), return_counts=True)[1].tolist() == [1002, 5, 3]  # 2.0 may be chance
    assert Pilot.of(["a", "b"] * 50).discretizer == Identity()
    many = Pilot.of(np.arange(1200) % 300)
    assert (many.discretizer, many.sufficient) == (Identity(), False)


def test_rows_of_narrow_integers_are_packed_over_their_whole_range() -> None:
    rows = np.repeat(np.array([[0, 3], [255, 3], [7, 4]], dtype=np.uint8), 10, axis=0)
    packed = Pilot.of(rows).discretizer
    assert packed == PackedRows((0, 3), (256, 2))
    assert packed(rows[::10]).tolist() == [0, 510, 15]


def test_atoms_in_a_continuum_are_found() -> None:
    rng = np.random.default_rng(0)
    data = np.where(rng.random(4000) < 0.1, np.nan, rng.normal(size=4000))
    neighbour = np.where(rng.random(4000) < 0.1, -0.0, rng.normal(size=4000))
    ranked = [
        found
        for found in fitted_discretizers(data, neighbour, thorough=False, float_bits=False)
        if isinstance(found, Ranked) and isinstance(found.base, Atoms)
    ]
    assert len(ranked) == 1
    cells = ranked[0](np.array([np.nan, -0.0, 0.0, 1.5]))
    # NaN tells of the data and -0.0 of the neighbour; all other values lie between.
    assert cells[0] > cells[2] > cells[1]
    assert cells[2] == cells[3]
    assert cells.tolist() == ranked[0]([float("nan"), -0.0, 0.0, 1.5]).tolist()


@pytest.mark.parametrize(
    ("outputs", "width"),
    [
        (np.zeros(4), 1), (np.zeros((4, 3)), 3), (np.zeros((4, 2, 2)), 4), ([(1, 2.5)] * 4, 2),
        ([{"b": 1, "a": (2, 3)}] * 4, 3), (["one", "three"] * 2, 2), ([None, 1, ValueError("x"), "a"], 1),
        ([[1], [1, 2], [], [1, 2, 3]], 4), ([{1, 2}] * 4, 2),
    ],
)  # fmt: skip
def test_anything_flattens_to_finite_columns(outputs: object, width: int) -> None:
    matrix = Flattener.fit([outputs])(outputs)
    assert matrix.shape == (4, width)
    assert np.isfinite(matrix).all()


def test_infinities_and_nan_are_values_like_others() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.0])
    assert len(set(Flattener.fit([values])(values)[:, 0].tolist())) == 4


def test_every_group_gives_finite_columns() -> None:
    base = np.random.default_rng(0).normal(size=(50, 5))
    assert set(group_columns(base)) == set(GROUPS)
    for columns in GROUPS.values():
        out = columns(base)
        assert out.shape[0] == 50
        assert np.isfinite(out).all()


def test_the_bits_of_a_float() -> None:
    exponent, lowest, trailing, low, sign = GROUPS["float bits"](np.array([[-1.5]]))[0]
    assert (exponent, lowest, trailing, low, sign) == (1, -1, 51, 0, 1)
    assert GROUPS["float bits"](np.array([[2.0**-1074]]))[0][1] == -1074


def test_naive_bayes_recovers_an_independent_ratio() -> None:
    rng = np.random.default_rng(0)
    data, neighbour = rng.normal(0.5, 1, (50_000, 3)), rng.normal(0.0, 1, (50_000, 3))
    fresh = rng.normal(0, 1, (2000, 3))
    truth = (0.5 * fresh - 0.125).sum(axis=1)
    for pooled in (False, True):
        score = NaiveBayes.fit(data, neighbour, pooled=pooled)(fresh)
        assert np.corrcoef(score, truth)[0, 1] > 0.98
    # Without a signal most of the noise, 0.088 unsmoothed, is shrunk away.
    assert NaiveBayes.fit(neighbour, rng.normal(0.0, 1, (50_000, 3)))(fresh).std() < 0.06


def test_ranking_merges_many_cells_and_keeps_unknown_ones_in_the_middle() -> None:
    data = Counter({i: 50 + i for i in range(100)})
    neighbour = Counter({i: 150 - i for i in range(100)})
    ranked = Ranked.fit(Identity(), list(data.elements()), np.array(list(neighbour.elements())))
    bins = ranked(np.array([0, 50, 99, 12345]))
    assert bins[0] < bins[1] <= bins[2]
    assert bins[0] < bins[3] < bins[2]
    assert ranked([0, 50, 99, 12345]).tolist() == bins.tolist()


def test_a_score_is_binned_in_its_own_order() -> None:
    rng = np.random.default_rng(0)
    data, neighbour = rng.laplace(1, 1, 4000), rng.laplace(0, 1, 4000)
    for found in fitted_discretizers(data, neighbour, thorough=False, float_bits=True):
        assert isinstance(found, Scored)
        order = np.argsort(found.scores(data), kind="stable")
        assert (np.diff(found(data)[order]) >= 0).all()


def test_scores_of_two_halves_are_one_score_with_bins_of_the_same_size() -> None:
    rng = np.random.default_rng(5)

    def runs(shift: float) -> np.ndarray:
        return rng.laplace(shift, 10.0, (20_000, 8))

    first, second, fresh = ([runs(1.0), runs(0.0)] for _ in range(3))
    found = fitted_discretizers(*first, thorough=False, float_bits=False)
    one = next(each for each in found if each.name == "naive Bayes on values")
    assert isinstance(one, Scored)
    other = one.refit(*second)
    assert other is not None
    both = one.joined(other, first, second)
    new = np.bincount(np.concatenate([one(side) for side in second] + [other(side) for side in first]))
    held = np.bincount(np.concatenate([both(side) for side in fresh]), minlength=len(new))
    # 40,000 fresh runs against 80,000: in every quarter of the score as many, to four standard errors.
    for quarter in np.array_split(np.arange(len(new)), 4):
        assert held[quarter].sum() == pytest.approx(new[quarter].sum() / 2, abs=4 * np.sqrt(new[quarter].sum() * 0.75))

    def apart(score: Scored) -> float:
        return separation(*(tally(score(side)) for side in fresh))

    assert apart(both) > max(apart(one), apart(other))
    rows = fresh[0][:500]
    np.testing.assert_allclose(both.scores(rows), (one.scores(rows) + other.scores(rows)) / 2, atol=1e-12)


def test_a_column_as_it_is_is_its_own_second_fit_and_slow_scores_have_none() -> None:
    rng = np.random.default_rng(6)
    sides = [rng.normal(size=(2000, 2)), rng.normal(size=(2000, 2))]
    slow = [found for found in fitted_discretizers(*sides, thorough=True, float_bits=False) if found.slow]
    assert len(slow) == 1  # boosted trees
    assert [found.refit(*sides) for found in slow] == [None]
    columns = [side[:, 0] for side in sides]
    (value, *_) = fitted_discretizers(*columns, thorough=False, float_bits=False)
    assert value.name == "value"
    assert value.refit(*columns) is value
    assert value.joined(value, columns, columns) is value


def test_only_scores_without_atoms_are_fitted_twice() -> None:
    rng = np.random.default_rng(0)
    smooth = [rng.laplace(shift, 1.0, (4000, 2)) for shift in (0.0, 1.0)]
    mixed = [np.where(rng.random((4000, 1)) < 0.05, 7.0, side) for side in smooth]
    for sides, again in ((smooth, True), (mixed, False)):
        fitted = fitted_discretizers(*sides, thorough=False, float_bits=False, discrete=Identity())
        score = next(one for one in fitted if isinstance(one, Scored) and one.name == "naive Bayes on values")
        assert (score.refit(*sides) is not None) == again
