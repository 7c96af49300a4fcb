"""Interior points, thresholds and boxes: claims, privacy, utility, huge domains and bad input."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import Distribution, InputError
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.seeding import generator
from dpaudit_learners.boxes import controls as broken_boxes
from dpaudit_learners.boxes.concepts import Box, Boxes, BoxTightest, interval_number, interval_of
from dpaudit_learners.boxes.exponential import Axis, BoxExponential
from dpaudit_learners.boxes.interior_point import BoxInteriorPoint
from dpaudit_learners.domains import Grid, Interval
from dpaudit_learners.interior_points import controls as broken_interior_point
from dpaudit_learners.interior_points import controls as broken_stable_select
from dpaudit_learners.interior_points.interior_point import (
    InteriorPointExponential,
    InteriorPointRecConcave,
    InteriorPointTreeLog,
)
from dpaudit_learners.interior_points.thresholds import ThresholdInteriorPoint
from dpaudit_learners.mechanisms.steps import extremes

SOUND = (
    InteriorPointExponential,
    InteriorPointRecConcave,
    InteriorPointTreeLog,
    ThresholdInteriorPoint,
    BoxTightest,
    BoxInteriorPoint,
    BoxExponential,
)
BROKEN = (
    broken_stable_select.LEARNERS
    + broken_interior_point.LEARNERS
    + broken_boxes.LEARNERS
)  # fmt: skip
PRIVATE = [c for c in SOUND if c is not BoxTightest]
MORE = [
    ThresholdInteriorPoint(3, 2.0, 0.9),
    ThresholdInteriorPoint(40, 8.0, 0.5, 0.1, "rec-concave"),
    ThresholdInteriorPoint(20, 8.0, 0.5, 0.1, "tree-log"),
    BoxInteriorPoint(2, 1, 12.0, 0.9, 0.1),
    BoxInteriorPoint(39, 1, 12.0, 0.5, 0.2, "rec-concave"),
    BoxInteriorPoint(19, 1, 12.0, 0.5, 0.2, "tree-log"),
    BoxInteriorPoint(1, 2, 20.0, 0.9),
    BoxExponential(3, 1, 0.7),
]


def example_of(learner_class: Any) -> Any:
    return learner_class(**learner_class.instance.parameters)


def exact(learner: Any) -> Any:
    example = learner.instance
    if example.exhaustive and learner == example_of(type(learner)):
        return dpaudit.pac.audit_law(learner)
    n = max(example.n, 2 * getattr(learner, "m", 0) + 2)
    return dpaudit.pac.audit_law(learner, samples=crafted_pairs(learner.domain, n, limit=60))


def leaks_somewhere(learner: Any) -> bool:
    """Return whether delta at the claimed epsilon exceeds the claim on a crafted pair."""
    claim, law = learner.privacy, cache(learner.law)
    for pair in crafted_pairs(learner.domain, learner.instance.n, limit=None):
        left, right = (np.exp(law(s).log_prob) for s in (pair.data, pair.neighbour))
        for one, two in ((left, right), (right, left)):
            if float(np.maximum(one - math.exp(claim.epsilon) * two, 0).sum()) > claim.delta:
                return True
    return False


@pytest.mark.parametrize("learner", [*map(example_of, PRIVATE), *MORE], ids=repr)
def test_sound_learners_keep_their_claim_exactly(learner: Any) -> None:
    finding = exact(learner)
    assert finding.verdict == "consistent"
    assert finding.grade == "exact"
    assert learner.privacy.epsilon <= learner.epsilon * (1 + 1e-12)
    assert finding.epsilon > 0.05 * learner.epsilon
    assert learner.privacy.delta <= (getattr(learner, "delta", None) or 0) * (1 + 1e-12)


@pytest.mark.usefixtures("_fewer_runs")
@pytest.mark.parametrize("learner", MORE, ids=repr)
def test_more_learners_run_as_their_law_says(learner: Any) -> None:
    from dpaudit.conformance import check_run_agrees_with_law, check_symmetries

    check_run_agrees_with_law(learner)
    if learner.domain.size < 10:
        check_symmetries(learner)


@pytest.mark.parametrize("learner_class", BROKEN, ids=lambda c: c.id)
def test_broken_learners_leak_on_a_crafted_pair(learner_class: Any) -> None:
    learner = example_of(learner_class)
    sound = [c for c in PRIVATE if issubclass(learner_class, c)]
    for c in sound:
        parameters = {k: v for k, v in learner_class.instance.parameters.items() if k != "literal"}
        assert learner.privacy == c(**parameters).privacy
    # That runs convict them is a test of the calibration.
    assert leaks_somewhere(learner)


def test_the_claim_is_the_sum_of_the_calls() -> None:
    box = BoxInteriorPoint(2, 2, 1.0, 0.1)
    assert len(box.calls) == 5
    assert sum(c.epsilon for c in box.calls) == 1
    assert (box.privacy.epsilon, box.privacy.delta) == (1.0, 0.0)
    literal = BoxInteriorPoint(2, 2, 1.0, 0.1, literal=True)
    assert len(literal.calls) == 4
    threshold = ThresholdInteriorPoint(100, 1.0, 0.1, 1e-6, "tree-log")
    (call,) = threshold.calls
    assert (float(call.epsilon), float(call.delta)) == pytest.approx((1.0, 1e-6), rel=1e-12)
    assert InteriorPointRecConcave(33, 1.0, 0.1).privacy.delta == 0
    assert InteriorPointRecConcave(34, 1.0, 0.1).privacy.delta == pytest.approx(0.1)


def test_many_faces_are_cheaper_by_advanced_composition() -> None:
    pure = BoxInteriorPoint(7, 200, 1.0, 0.1)
    approximate = BoxInteriorPoint(7, 200, 1.0, 0.1, 1e-6)
    assert approximate.calls[0].epsilon > pure.calls[0].epsilon
    assert 0.99 < approximate.privacy.epsilon <= 1
    assert approximate.privacy.delta == pytest.approx(1e-6)
    assert approximate.m < pure.m
    # In the plane basic composition wins, and the claim is pure.
    plane = BoxInteriorPoint(7, 2, 1.0, 0.1, 1e-6)
    assert plane.privacy.delta == 0
    assert plane.calls == BoxInteriorPoint(7, 2, 1.0, 0.1).calls


def test_extremes_change_in_one_value_at_most() -> None:
    values = list(itertools.combinations_with_replacement(range(4), 3))
    for m, largest in itertools.product((1, 2, 4), (False, True)):
        padding = 0 if largest else 3

        def cut(data: tuple[int, ...], m: int = m, largest: bool = largest, padding: int = padding) -> list[int]:
            points, counts = extremes(np.array(data, dtype=np.int64), np.ones(len(data), np.int64), m, padding, largest)
            return [x for x, c in zip(points, counts, strict=True) for _ in range(c)]

        for data in values:
            slow = sorted([*data, *[padding] * m], reverse=largest)[:m]
            assert cut(data) == sorted(slow)
            for i, x in itertools.product(range(3), range(4)):
                for other in ((*data[:i], x, *data[i + 1 :]), (*data[:i], *data[i + 1 :])):
                    a, b = cut(data), cut(other)
                    assert min(len(set_minus(a, b)), len(set_minus(b, a))) <= 1
                    assert len(set_minus(a, b)) <= 1


def set_minus(a: list[int], b: list[int]) -> list[int]:
    return list((Counter(a) - Counter(b)).elements())


def test_intervals_and_boxes_are_numbered_without_gaps() -> None:
    for count in (1, 2, 5):
        pairs = [(a, b) for a in range(count) for b in range(a, count)]
        assert [interval_number(a, b, count) for a, b in pairs] == list(range(len(pairs)))
        assert [interval_of(i, count) for i in range(len(pairs))] == pairs
    huge = 2**64
    for a, b in ((0, 0), (0, huge - 1), (huge - 1, huge - 1), (123, 2**63), (2**63, 2**63 + 1)):
        assert interval_of(interval_number(a, b, huge), huge) == (a, b)
    concepts = Boxes(2, 2)
    points = interior_grid(2, 2)
    labels = concepts.evaluate(points)
    assert len({tuple(row) for row in labels}) == concepts.size == 37
    for code in range(concepts.size):
        box = concepts.concept(code)
        assert (box.predict(points) == labels[code]).all()
        assert concepts.number(box.lows, box.highs) == code
    assert concepts.number((1, 0), (0, 2)) == 0


def interior_grid(side: int, dimension: int) -> Any:
    return BoxTightest(side, dimension).domain.points()


@pytest.mark.parametrize(("side", "dimension"), [(1, 1), (3, 1), (1, 2), (2, 2), (1, 3)])
def test_the_vc_dimension_of_boxes_by_shattering(side: int, dimension: int) -> None:
    concepts = Boxes(side, dimension)
    labels = concepts.evaluate(interior_grid(side, dimension))
    sizes = range(1, labels.shape[1] + 1)

    def shattered(k: int) -> bool:
        return any(
            len(np.unique(labels[:, list(chosen)], axis=0)) == 2**k
            for chosen in itertools.combinations(range(labels.shape[1]), k)
        )

    assert max((k for k in sizes if 2**k <= concepts.size and shattered(k)), default=0) == concepts.vc_dimension


def test_axis_counts_every_interval() -> None:
    for values, count in (((), 4), ((0,), 4), ((1, 3), 5), ((0, 1, 6), 7)):
        axis = Axis(values, count)
        seen: dict[Any, int] = {}
        for a in range(count):
            for b in range(a, count):
                held = tuple(v for v in values if a <= v <= b)
                seen[held] = seen.get(held, 0) + 1
        assert sum(axis.sizes) == axis.total == count * (count + 1) // 2
        for (p, q), size in zip(axis.spans, axis.sizes, strict=False):
            assert seen[values[p : q + 1]] == size
        assert seen.get((), 0) == axis.total - axis.holding


def test_box_exponential_never_lists_a_huge_grid() -> None:
    side = 2**40 - 1
    learner = BoxExponential(side, 2, 2.0)
    sample = learner.domain.sample([[10, 10], [2**39, 2**39], [side, 5]], [1, 1, 0], [200, 200, 200])
    for code in learner.run(sample, generator(0, "huge"), 50):
        box = learner.decode(code)
        assert isinstance(box, Box)
        # 600 correct labels against 400: a factor e^200 beyond the 2^160 boxes of less score.
        assert sample.errors(box) == 0
    with pytest.raises(InputError, match="concepts for the exact law"):
        learner.law(sample)
    many = learner.domain.sample(np.stack([np.arange(200), np.arange(200)], axis=1), [1] * 200)
    with pytest.raises(InputError, match="use box-interior-point"):
        learner.run(many, generator(0, "cells"), 1)


def test_huge_lines_run_exactly_and_counts_of_1e12_too() -> None:
    size = 2**64
    points = np.array([5, 2**63, size - 7], dtype=object)
    for learner in (
        InteriorPointExponential(size, 1.0),
        InteriorPointTreeLog(size, 1.0, 1e-6, 0.1),
        InteriorPointRecConcave(size, 1.0, 1e-6),
    ):
        sample = learner.domain.sample(points, [0, 1, 0], [10**12, 1, 10**12])
        out = learner.run(sample, generator(1, learner.id), 40)
        assert all(type(x) is int and 5 <= x <= size - 7 for x in out)
    threshold = ThresholdInteriorPoint(size - 1, 1.0, 1e-12)
    sample = threshold.domain.sample(np.array([7, 9], dtype=object), [1, 0], [10**6, 10**6])
    assert set(threshold.run(sample, generator(2), 40)) <= {8, 9}
    box = BoxInteriorPoint(2**63, 2, 1.0, 1e-12)
    grid = box.domain.sample(np.array([[1, 2**62], [4, 2**63]], dtype=object), [1, 1], [10**6, 10**6])
    for code in box.run(grid, generator(3), 10):
        found = box.decode(code)
        assert 1 <= found.lows[0] <= found.highs[0] <= 4
        assert 2**62 <= found.lows[1] <= found.highs[1] <= 2**63


def test_runs_of_equal_score_weigh_by_their_length() -> None:
    # No data: uniform on 2^64 points; mean (2^64 - 1)/2 with deviation 2^64/sqrt(12 * 4000); seven of them: < 1e-11.
    learner = InteriorPointExponential(2**64, 1.0)
    out = learner.run(learner.domain.empty_sample(), generator(9, "uniform"), 4000)
    assert abs(sum(out) / 4000 / 2**64 - 0.5) < 7 / math.sqrt(12 * 4000)


@pytest.mark.parametrize(
    ("learner", "setting", "alpha", "beta"),
    [
        (ThresholdInteriorPoint(30, 1.0, 0.1), "empirical", 0.2, 0.1),
        (ThresholdInteriorPoint(30, 1.0, 0.1), "realizable", 0.2, 0.2),
        (BoxInteriorPoint(4, 1, 2.0, 0.1), "empirical", 0.2, 0.1),
        (BoxInteriorPoint(4, 1, 2.0, 0.1), "realizable", 0.2, 0.2),
        (BoxTightest(4, 2), "realizable", 0.2, 0.2),
        (BoxExponential(3, 1, 1.0), "empirical", 0.2, 0.1),
        (BoxExponential(3, 1, 1.0), "realizable", 0.2, 0.2),
    ],
    ids=repr,
)
def test_utility_is_not_refuted(learner: Any, setting: str, alpha: float, beta: float) -> None:
    size = learner.domain.size
    points = learner.domain.points()
    uniform = Distribution(points, np.full(size, 1 / size), "uniform")
    for concept in (learner.concepts.size // 2, learner.concepts.size - 1):
        finding = dpaudit.pac.audit_utility(
            learner, concept, uniform, alpha=alpha, beta=beta, trials=200, confidence=1 - 1e-6, setting=setting
        )
        assert finding.verdict in ("holds", "undecided")
        assert finding.failure_rate <= beta


def test_far_too_few_examples_do_refute_utility() -> None:
    learner = ThresholdInteriorPoint(30, 0.2, 0.1)
    uniform = Distribution(learner.domain.points(), np.full(30, 1 / 30), "uniform")
    finding = dpaudit.pac.audit_utility(
        learner, 15, uniform, alpha=0.05, beta=0.1, n=20, trials=200, confidence=1 - 1e-6, setting="empirical"
    )
    assert finding.verdict == "violation"


def test_errors_stay_below_m_on_the_sample_with_the_stated_probability() -> None:
    # The exact law on samples labelled by each concept, over all of them: Pr[more than m - 1 errors] <= beta.
    learner = ThresholdInteriorPoint(6, 4.0, 0.2)
    points = learner.domain.points()
    for j, weights in itertools.product(range(7), ((1, 1, 1, 1, 1, 1), (9, 0, 0, 0, 0, 9), (0, 0, 30, 30, 0, 1))):
        concept = learner.concepts.concept(j)
        sample = learner.domain.sample(points, concept.predict(points), weights)
        p = np.exp(learner.law(sample).log_prob)
        errors = np.array([sample.errors(learner.decode(code)) for code in range(7)])
        assert p[errors > learner.m - 1].sum() <= 0.2
    box = BoxInteriorPoint(3, 1, 4.0, 0.2)
    limit = box.utility(0.5, 0.2, "empirical").sample_size * 0.5
    for code in range(box.concepts.size):
        concept = box.concepts.concept(code)
        for n in (3, box.m, 3 * box.m):
            sample = box.domain.sample(box.domain.points(), concept.predict(box.domain.points()), [n] * 4)
            p = np.exp(box.law(sample).log_prob)
            errors = np.array([sample.errors(box.decode(c)) for c in range(box.concepts.size)])
            assert p[errors > limit].sum() <= 0.2
            # Negative examples inside the answer are rarer still: the padded answer lies inside the target.
            inside = np.array([(box.decode(c).predict(box.domain.points()) > concept.predict(box.domain.points())).any()
                               for c in range(box.concepts.size)])  # fmt: skip
            assert p[inside].sum() <= 0.2


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: InteriorPointExponential(2 ** (2**14) + 1, 1.0), "domain_size must be .* in .2, 2.16384."),
        (lambda: InteriorPointRecConcave(64, 1.0, 0.1, 0.6), "alpha"),
        (lambda: InteriorPointRecConcave(64, 1.0, 1.0), "delta"),
        (lambda: InteriorPointTreeLog(64, 1.0, 0.1, 1.0), "beta"),
        (lambda: ThresholdInteriorPoint(64, 1.0, 0.1, None, "tree-log"), "delta"),
        (lambda: ThresholdInteriorPoint(64, 1.0, 0.1, None, "median"), "variant"),
        (lambda: BoxInteriorPoint(0, 1, 1.0, 0.1), "side"),
        (lambda: BoxInteriorPoint(1, 0, 1.0, 0.1), "dimension"),
        (lambda: BoxTightest(1, 0), "dimension"),
        (lambda: BoxExponential(1, 1, math.inf), "epsilon"),
        (lambda: ThresholdInteriorPoint(64, 1.0, 0.1).utility(0.1, 0.1), "beta"),
        (lambda: ThresholdInteriorPoint(64, 1.0, 0.1).utility(0.1, 0.2, "agnostic"), "setting"),
        (lambda: InteriorPointTreeLog(64, 1.0, 0.1, 0.2).points_needed(0.1), "beta"),
        (lambda: InteriorPointExponential(5000, 1.0).law(Interval(5000).empty_sample()), "4096"),
        (lambda: BoxInteriorPoint(50, 2, 1.0, 0.1).law(Grid(50, 2).empty_sample()), "65536"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_by_name(make: Any, name: str) -> None:
    with pytest.raises(InputError, match=name):
        make()
