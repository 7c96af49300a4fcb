"""Halfplanes that fit subsamples, counted without a list: ranks, draws and short representations against lists."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.stats

from dpaudit.contract import Distribution, InputError
from dpaudit.seeding import generator
from dpaudit.utility.audit import audit_utility
from dpaudit_learners.halfspaces import controls
from dpaudit_learners.halfspaces import subsamples as subsample_module
from dpaudit_learners.halfspaces.concepts import Halfspace, Halfspaces, grid_halfspaces
from dpaudit_learners.halfspaces.depth.tukey_depth import tukey_depth
from dpaudit_learners.halfspaces.plane_consistent import Consistent, CutOrders, short_box
from dpaudit_learners.halfspaces.plane_dichotomies import PlaneDichotomies, plane_dichotomies
from dpaudit_learners.halfspaces.releases import DeepExponential
from dpaudit_learners.halfspaces.subsamples import Subsamples
from dpaudit_learners.halfspaces.tukey import HalfspaceTukey


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_ranks_cuts_and_short_normals_are_those_of_the_sorted_order(side: int) -> None:
    concepts = PlaneDichotomies(side)
    orders, (w, t) = CutOrders(concepts), short_box(side)
    for index, (a, b) in enumerate(concepts.directions.tolist()):
        x, y = concepts.points.T
        every = (side * (a + abs(b)) + 1) * (a * y - b * x) + a * x + b * y
        cuts = np.sort(every[(x + a <= side) & (0 <= y + b) & (y + b <= side)])
        assert concepts.cuts(index).tolist() == cuts.tolist()
        assert orders.sizes[index] == len(cuts)
        for keys in (every, every + 1, every - 1):
            assert (orders.ranks(np.full(len(keys), index), keys) == cuts.searchsorted(keys)).all()
        short = orders.normals[index]
        assert short @ concepts.directions[index] == 1
        assert np.abs(short).max() <= w
        for rank, cut in enumerate(cuts.tolist()):
            place = orders.cut(index, rank)
            assert place @ concepts.normals[index] == cut
            assert ((concepts.points @ short > short @ place) == (every > cut)).all()
            assert abs(short @ place) + 1 <= t


def subsamples(side: int) -> tuple[Any, ...]:
    """Return rows, labels and subsamples of some examples: two of seven see one label, one nothing, one is refuted."""
    rng = np.random.default_rng(side)
    size = (side + 1) ** 2
    target = Halfspace((2, 3), 3).predict(Halfspaces(side, 2).domain.points())
    rows, labels, groups = [], [], []
    for group in range(4):
        seen = rng.integers(0, size, 1 + group % 3)
        rows += seen.tolist()
        labels += target[seen].tolist()
        groups += [group] * len(seen)
    rows += [0, 0, size - 1]
    labels += [0, 1, 1]
    groups += [5, 5, 6]
    return np.array(rows), np.array(labels), np.array(groups), 7


def test_consistent_labellings_are_counted_and_drawn() -> None:
    side = 2
    rows, labels, groups, m = subsamples(side)
    table = grid_halfspaces(side, 2)[0]
    consistent = Consistent(plane_dichotomies(side), plane_dichotomies(side).points[rows], labels, groups, m)
    fits = np.array([(table[:, rows[groups == g]] == labels[groups == g]).all(axis=1) for g in range(m)])
    assert [consistent.count(group) for group in range(m)] == fits.sum(axis=1).tolist()
    assert fits[5].sum() == 0
    assert fits[4].all()
    # Where no labelling is consistent the labels are 0; all others are averages over the consistent ones.
    expected = sum(table[fit].mean(axis=0) for fit in fits if fit.any())
    rng = generator(1, "consistent")
    vars(consistent)["_ranges"] = cache(consistent._ranges)  # the same in every draw
    size = 150
    mean = sum(consistent.ones(rng) for _ in range(size)) / size
    # A sum of six shares deviates by at most sqrt(6/4).
    assert (np.abs(mean - expected) <= 5 * np.sqrt(1.5 / size)).all()


def test_halfplanes_of_large_subsamples_fit_and_are_uniform() -> None:
    concepts, rng = PlaneDichotomies(10), generator(2, "large")
    points = rng.integers(0, 11, (60, 2))
    labels = (points @ [3, 5] >= 40).astype(np.uint8)
    consistent = Consistent(concepts, points, labels, np.zeros(60, dtype=int), 1)
    fitting = set()
    for index, first in enumerate(concepts.firsts[:-1].tolist()):
        keys, cuts = points @ concepts.normals[index], concepts.cuts(index)
        for place, suffix in enumerate((True, False)):
            right = ((keys[:, None] > cuts) == (labels[:, None] == suffix)).all(axis=0)
            for code in (first + place * len(cuts) + np.flatnonzero(right)).tolist():
                functional = concepts.functional(code)
                fitting.add(tuple(Halfspace(functional[:2], functional[2]).predict(concepts.points).tolist()))
    assert consistent.count(0) == len(fitting) > 4
    vars(consistent)["_ranges"] = cache(consistent._ranges)  # the same in every draw
    size, found = 40 * len(fitting), dict.fromkeys(fitting, 0)
    for _ in range(size):
        ((w1, w2, t),) = consistent.chosen(rng)
        found[tuple((concepts.points @ [w1, w2] >= t).astype(int).tolist())] += 1
    # Six standard deviations: false-alarm rate below 1e-6 for some hundred halfplanes.
    assert all(abs(count - 40) <= 6 * math.sqrt(40) for count in found.values())


@pytest.mark.parametrize(
    ("variant", "epsilon", "subsamples"),
    [
        ("exponential", 400.0, 100),
        ("rec-concave", 6e4, 40),
        pytest.param("hull", 6e4, 40, marks=pytest.mark.full),
    ],
)
def test_halfplanes_are_learned_by_coordinates_on_large_grids(variant: str, epsilon: float, subsamples: int) -> None:
    learner, rng = HalfspaceTukey(12, 2, epsilon, subsamples=subsamples, variant=variant), generator(3, "coordinates")
    points = learner.domain.points()
    target = Halfspace((2, 3), 31).predict(points)
    sample = learner.domain.sample(points, target, np.full(len(points), 600))
    (code,) = learner.run(sample, rng, 1)
    decoded: Any = learner.decode(code)
    # Each of the subsamples has all points, so that only one labelling is consistent.
    # RecConcave promises nothing for so few, and at this epsilon finds their one representation all the same.
    promises = variant == "exponential"
    assert (learner.release.agreement(subsamples, 1e-6) >= 1) == promises
    assert (learner.utility(0.1, 0.1) is not None) == promises
    assert (decoded.predict(points) == target).all()
    assert len(learner.run(learner.domain.empty_sample(), rng, 2)) == 2
    with pytest.raises(InputError, match="side must be smaller for the exact law"):
        learner.law(sample)
    with pytest.raises(InputError, match="side must be smaller to simulate runs"):
        learner.simulate(0, np.full(169, 1 / 169), 1000, rng, 1)
    with pytest.raises(InputError, match="side must be 1 in dimension 2 where halfspaces are listed"):
        controls.HalfspaceOverlapping(2, 2, 1.0, variant=variant)
    for parameters, words in (
        ({"subsamples": 201}, "the planes through any three of the representations"),
        ({"side": 1001}, r"side must be an integer in \[1, 1000\]"),
    ):
        with pytest.raises(InputError, match=words):
            HalfspaceTukey(**{"side": 12, "dimension": 2, "epsilon": 1.0, "variant": variant, **parameters})


def test_a_deep_point_agrees_with_as_many_halfplanes() -> None:
    concepts, rng = PlaneDichotomies(20), generator(4, "agreement")
    nothing = np.zeros((0, 2), dtype=int), np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=int)
    chosen = np.array(list(Consistent(concepts, *nothing, 12).chosen(rng)))
    weights = np.full(12, 1000)
    release = DeepExponential(20, 3, 1.0)
    labels = chosen[:, :2] @ concepts.points.T >= chosen[:, 2:]
    for point in release.find(chosen, weights, rng, 3):
        depth = tukey_depth(chosen, weights, point)
        assert depth >= release.depth_guarantee(12_000, 1e-6) > 0
        agreeing = (labels == Halfspace(point[:2], point[2]).predict(concepts.points)).sum(axis=0)
        assert 1000 * agreeing.min() >= depth


def test_subsamples_with_the_same_examples_are_chosen_for_together() -> None:
    side = 2
    rows, labels, groups, m = subsamples(side)
    plane = plane_dichotomies(side)
    consistent = Consistent(plane, plane.points[rows], labels, groups, m)
    vars(consistent)["_ranges"] = cache(consistent._ranges)
    times = np.array([0, 400, 1, 300, 0, 7, 200])
    found, counts = consistent.chosen_of(times, generator(5, "alike"))
    assert counts.sum() == times.sum()
    assert len({tuple(row) for row in found.tolist()}) == len(found) <= plane.size + 1
    table = grid_halfspaces(side, 2)[0]
    fits = [(table[:, rows[groups == g]] == labels[groups == g]).all(axis=1) for g in range(m)]
    expected = sum(n * table[fit].mean(axis=0) for fit, n in zip(fits, times.tolist(), strict=True) if fit.any())
    ones = counts @ (found[:, :2] @ plane.points.T >= found[:, 2:])
    assert (np.abs(ones - expected) <= 5 * np.sqrt(times.sum() / 4)).all()


@pytest.mark.parametrize("rare", [0.0, 0.6])
def test_subsamples_without_an_example_have_the_law_of_all_draws(rare: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Once with numbers of copies for each subsample, once with the law of how many subsamples have none.
    monkeypatch.setattr(subsample_module, "RARE", rare)
    m, runs = 20, 4000
    concepts = Halfspaces(1, 1)
    scheme = Subsamples(concepts, m)
    sample = concepts.domain.sample([[0], [1]], [0, 1], [72, 80])
    rng = generator(6, "without", str(rare))
    missing = np.zeros((runs, 2), dtype=int)
    places = np.zeros(m, dtype=int)
    for run in range(runs):
        rows, times = scheme.seen_alike(sample, rng)
        assert times.sum() == m
        missing[run] = times @ ~rows
        places[scheme._without(72, rng)] += 1
    for i, count in enumerate((72, 80)):
        # The chance that e of the m get no copy, one copy after the other.
        law = np.eye(m + 1)[m]
        for _ in range(count):
            free = np.arange(m + 1) / m
            law = law * (1 - free) + np.append((law * free)[1:], 0.0)
        seen = np.bincount(np.minimum(missing[:, i], 2), minlength=3)
        due = runs * np.array([*law[:2], law[2:].sum()])
        assert scipy.stats.chisquare(seen, due).pvalue > 1e-6
    assert scipy.stats.chisquare(places).pvalue > 1e-6


@pytest.mark.parametrize("side", [1, 2])
def test_halfspaces_of_the_plane_are_learned_where_the_theorem_speaks(side: int) -> None:
    # What RecConcave asks for with |X| = 4 and 9 points of the plane.
    learner: Any = HalfspaceTukey(side, 2, 1.0, subsamples={1: 54_135, 2: 753_168}[side])
    assert HalfspaceTukey(side, 2, 1.0, subsamples=learner.subsamples - 1).utility(0.1, 0.1) is None
    target = Halfspace((2, 2), 2 * side + 1)
    points = learner.domain.points()
    law = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    finding = audit_utility(learner, target, law, alpha=0.1, beta=0.1, trials=2)
    assert (finding.failures, finding.n) == (0, learner.utility(0.1, 0.1).sample_size)
