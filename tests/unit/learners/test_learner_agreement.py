"""`run` against `law`, which are derived separately: each guards the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from learner_cases import BROKEN, SOUND, agreement, example_of

import dpaudit_learners.parities.gf2 as parity_module
from dpaudit.seeding import generator
from dpaudit_learners.conjunctions.controls import ConjunctionHalfSensitivity, ConjunctionUndivided
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace
from dpaudit_learners.parities.controls import ParityNoCoin, ParityOversampled
from dpaudit_learners.parities.private import ParityPrivate
from dpaudit_learners.points.controls import PointDoubled
from dpaudit_learners.points.exponential import PointExponential

RUNS = 40_000
# Deterministic by seed; under a fresh seed each single comparison would fail by chance with probability 1e-6.
LEVEL = 1e-6


def crafted(learner: Any) -> list[Any]:
    """Return the empty sample, a consistent one, inconsistent ones and one with huge counts."""
    domain, points = learner.domain, learner.domain.points()
    labels = learner.concepts.evaluate(points)[learner.concepts.size // 2]
    rng = generator(3, learner.id)
    several = rng.integers(0, len(points), 7)
    return [
        domain.empty_sample(),
        domain.sample(points, labels),
        domain.sample(points[[-1, -1, 0]], [0, 1, 1], [2, 1, 1]),
        domain.sample(points[several], rng.integers(0, 2, 7)),
        domain.sample(points[several], labels[several], [3, 1, 2, 1, 4, 1, 1]),
        domain.sample(points[[-1, 0]], [1, 0], [10**12, 10**12 - 2]),
    ]


@pytest.mark.parametrize("learner_class", SOUND + BROKEN, ids=lambda c: c.id)
def test_runs_follow_the_law(learner_class: Any, request: pytest.FixtureRequest) -> None:
    # Other samples, among them larger ones, are compared in `tests/conformance`.
    learner, runs = example_of(learner_class), RUNS if request.config.getoption("--profile") == "full" else RUNS // 4
    for i, sample in enumerate(crafted(learner)):
        assert agreement(learner, sample, runs, generator(11, learner.id, i)) > LEVEL, sample


@pytest.mark.parametrize(
    ("sound", "broken"),
    [
        (PointExponential(4, 1.0), PointDoubled(4, 1.0)),
        (ParityPrivate(2, 1.0), ParityNoCoin(2, 1.0)),
        (ParityPrivate(2, 0.5), ParityOversampled(2, 0.5)),
        (ConjunctionLaplace(2, 2.0, 0.9), ConjunctionUndivided(2, 2.0, 0.9)),
        (ConjunctionLaplace(1, 2.0, 0.9), ConjunctionHalfSensitivity(1, 2.0, 0.9)),
    ],
    ids=lambda learner: learner.id,
)
def test_the_comparison_sees_another_law(sound: Any, broken: Any) -> None:
    points = sound.domain.points()
    sample = sound.domain.sample(points[[-1, -1, 0]], [0, 1, 1], [1, 2, 2])
    assert agreement(broken, sample, RUNS, generator(5, broken.id), law=sound.law(sample)) < LEVEL


@pytest.mark.parametrize(("runs", "cells"), [(7, 2**22), (2**15, 64), (100, 1)])
def test_parity_runs_do_not_depend_on_how_they_are_cut(runs: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parity_module, "RUNS", runs)
    monkeypatch.setattr(parity_module, "CELLS", cells)
    learner = ParityPrivate(3, 1.5)
    points = learner.domain.points()
    sample = learner.domain.sample(points, points[:, 0], [1, 2, 1, 30, 1, 1, 20, 2])
    assert agreement(learner, sample, 4_000, generator(8, "cut", runs, cells)) > LEVEL


def test_parity_examples_after_full_rank_are_still_checked() -> None:
    # Seven points are kept almost surely, and about four of them settle a run of dimension 3; six contradicting
    # examples stand at random places in the order, so that some come after that.
    learner = ParityPrivate(3, 0.4)
    points = learner.domain.points()[1:]
    labels = points[:, 1]
    both = np.concatenate([points, points[:6]])
    sample = learner.domain.sample(both, np.concatenate([labels, 1 - labels[:6]]), [200] * 7 + [1] * 6)
    assert agreement(learner, sample, RUNS, generator(13, "rest")) > LEVEL
    fails = float(np.mean(learner.run(sample, generator(13, "rate"), RUNS) == -1))
    # Six standard deviations of a mean of RUNS coins: false alarm below 1e-8.
    assert abs(fails - (1 - 0.5 * 0.9**6)) < 6 * 0.5 / RUNS**0.5


def test_a_parity_run_of_dimension_63_finds_the_target() -> None:
    learner = ParityPrivate(63, 1.0)
    rng = generator(21, "large")
    points = rng.integers(0, 2, (4000, 63))
    target = rng.integers(0, 2, 63)
    codes = learner.run(learner.domain.sample(points, points @ target % 2), rng, 200)
    # A run that passes the coin keeps about 1000 random equations: it misses full rank with probability below 2^-900.
    assert set(codes.tolist()) == {-1, sum(int(b) << i for i, b in enumerate(target))}
    assert (learner.decode(int(codes.max())).predict(points) == points @ target % 2).all()
