"""Hard targets of planar regions, and further instances whose utility is audited."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit.contract import Instance
from dpaudit.evidence.perform import perform
from dpaudit.evidence.plan import PROFILES, make_plan
from dpaudit.registry import Entry, load
from dpaudit.utility.hard_cases import hard_cases
from dpaudit_learners.regions.concepts import ConvexPolygons, PolygonUnions
from dpaudit_learners.regions.discs import Discs
from dpaudit_learners.regions.pictures import plane_targets
from dpaudit_learners.regions.region_cover import ConvexPolygon
from dpaudit_learners.regions.region_selection import TriangleSelect

CLASSES = [(ConvexPolygons(3, 3), 3), (PolygonUnions(2, 2), 2), (Discs(3), 3), (ConvexPolygons(1, 1), 1)]


@pytest.mark.parametrize(("concepts", "side"), CLASSES, ids=str)
def test_what_each_target_is(concepts, side):
    found = {name: (code, law) for code, law, name in plane_targets(SimpleNamespace(concepts=concepts, side=side), 0.2)}
    for name, (code, law) in found.items():
        labels = concepts.concept(code).predict(law.points)
        mass = law.probabilities[labels == 1].sum()
        if "random" not in name:
            assert 0 < mass < 1
        if "tiny" in name or "one point" in name:
            (tiny,) = np.flatnonzero(np.isclose(law.probabilities, 0.2002, rtol=1e-9))
            assert labels[tiny] == 1
            # No other positive point touches it.
            gaps = np.abs(law.points[labels == 1] - law.points[tiny]).max(axis=1)
            assert sorted(gaps)[1:2] != [1]
        if "thin" in name:
            # The positives are on one line.
            positive = law.points[labels == 1].astype(int)
            steps = [np.subtract(*pair) for pair in pairwise(positive)]
            assert len(positive) >= 3
            assert all(a[0] * b[1] == a[1] * b[0] for a, b in pairwise(steps))
            assert mass == pytest.approx(0.5)
        if "boundary" in name:
            # Every point has one with the other label beside it.
            where = {tuple(p): label for p, label in zip(law.points.tolist(), labels, strict=True)}
            for (x, y), label in where.items():
                beside = [where.get((x + i, y + j)) for i, j in ((0, 1), (1, 0), (0, -1), (-1, 0))]
                assert 1 - label in beside
    assert sum("boundary" in name for name in found) == 1
    assert (side == 1) == (not any("thin" in name for name in found))


def test_a_class_that_is_too_large_has_none():
    assert plane_targets(SimpleNamespace(concepts=ConvexPolygons(5, 6), side=5), 0.2) == []
    assert plane_targets(SimpleNamespace(concepts=ConvexPolygons(9, 2), side=9), 0.2) == []


def test_hard_cases_end_with_the_learners_own():
    learner = ConvexPolygon(3, 3, 1.0, 1e-6, 0.1, 0.05)
    names = [case.name for case in hard_cases(learner, 0.2)]
    assert any("thin region" in name for name in names)
    assert any("tiny component" in name for name in names)
    assert sum("random target" in name for name in names) == 2
    assert len(set(names)) == len(names)


def test_further_instances_are_planned_with_fewer_runs_and_performed():
    entry = load(()).get("triangle-select")
    plan = make_plan([entry], profile="quick")
    (instance,) = TriangleSelect.audited
    tasks = [task for task in plan.tasks if task.kind == "utility" and task.parameters == instance.parameters]
    assert {task.arguments.trials for task in tasks} == {105}  # no failure in so many decides
    assert {task.arguments.n for task in tasks} == {TriangleSelect(3, 1.0).sample_size(0.1, 0.1)}
    assert sum(1 - task.arguments.confidence for task in tasks) == pytest.approx(0.001)
    thin = next(task for task in tasks if "thin" in task.arguments.case)
    assert perform(thin, seed=0).finding.verdict == "holds"
    assert PROFILES["default"].ladder_trials == 300


def test_an_instance_that_its_theorem_does_not_reach_is_a_fault():
    entry = load(()).get("triangle-select")
    wrong = (Instance({"side": 0, "epsilon": 1.0}, n=3),)
    plan = make_plan([Entry("triangle-select", type("Wrong", (TriangleSelect,), {"audited": wrong}), "here")])
    assert "side must be an integer" in plan.faults[0].error
    assert plan.tasks == ()
    assert make_plan([entry]).faults == ()
