"""simplex-select, convex-polytope, simplex-union: three dimensions, small grids."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from learner_cases import agreement, worst_epsilon

import dpaudit
from dpaudit.contract import Distribution, InputError
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.seeding import generator
from dpaudit_learners.domains import Grid
from dpaudit_learners.regions import controls as broken
from dpaudit_learners.regions.polytopes import (
    LEARNERS,
    ConvexPolytope,
    Polytopes,
    SimplexSelect,
    SimplexUnion,
    SimplexUnions,
    halfspace_family,
    simplex_family,
)

# Deterministic by seed; under a fresh seed each comparison would fail by chance with probability 1e-6.
LEVEL = 1e-6
RUNS = 20_000
"""At this size another rate is seen, as a test below has it."""
COVERS = (ConvexPolytope, SimplexUnion)


def build(kind: Any, **changed: Any) -> Any:
    return kind(**{**kind.instance.parameters, **changed})


def samples(domain: Any) -> list[Any]:
    points = domain.points()
    return [
        domain.empty_sample(),
        domain.sample(points[:1], [1], [40]),
        domain.sample(points, [0, 1, 1, 0, 1, 0, 0, 1], [9, 4, 1, 6, 2, 7, 3, 5]),
        domain.sample(points[[0, 0, 3, 5]], [0, 1, 1, 0], [30, 4, 12, 25]),
    ]


def masks(labels: Any) -> list[int]:
    return [int("".join(map(str, row)), 2) for row in labels.tolist()]


def test_measures_of_simplices_by_inclusion_and_exclusion() -> None:
    # A quadruple makes a superset of a set if all four do; exact labellings follow by Moebius inversion.
    single, family = masks(halfspace_family(1).labels), simplex_family(1)
    counts = {mask: sum(mask & h == mask for h in single) ** 4 for mask in range(256)}
    for mask in sorted(counts, key=lambda m: -m.bit_count()):
        counts[mask] -= sum(counts[other] for other in range(256) if other != mask and other & mask == mask)
    assert dict(zip(masks(family.labels), family.volumes, strict=True)) == {m: c for m, c in counts.items() if c}
    assert sum(family.volumes) == 104**4


@pytest.mark.parametrize(("side", "count"), [(1, 104), pytest.param(2, 2702, marks=pytest.mark.full)])
def test_regions_make_their_labellings(side: int, count: int) -> None:
    # 104: the threshold functions of three variables.
    points, family = Grid(side, 3).points(), halfspace_family(side)
    assert len(family) == count
    table = np.array([region[0] for region in family.regions], dtype=object)
    heights = table[:, :3] @ points.T.astype(object) - table[:, 3:]
    assert ((heights > 0) == family.labels).all()
    assert (heights != 0).all()


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.id)
def test_runs_follow_the_law(kind: Any) -> None:
    learner = build(kind, **({"variant": "noiseless"} if kind in COVERS else {"epsilon": 0.2}))
    for i, sample in enumerate(samples(learner.domain)):
        assert agreement(learner, sample, RUNS, generator(1, kind.id, i)) > LEVEL
    # The comparison sees another rate.
    other = build(kind, epsilon=0.5, **({"variant": "noiseless"} if kind in COVERS else {}))
    assert agreement(other, sample, RUNS, generator(2, kind.id), law=learner.law(sample)) < LEVEL


@pytest.mark.parametrize("kind", COVERS, ids=lambda kind: kind.id)
def test_noisy_runs_follow_the_law(kind: Any) -> None:
    learner = build(kind, epsilon=1.0, beta=0.4)
    for i, sample in enumerate(samples(learner.domain)):
        assert agreement(learner, sample, RUNS, generator(3, kind.id, i)) > LEVEL


def test_the_law_of_a_simplex_by_its_definition() -> None:
    learner = SimplexSelect(1, 0.7)
    sample = samples(learner.domain)[2]
    family = simplex_family(1)
    weights = [v * math.exp(0.35 * (sample.n - sample.errors(learner.decode(i)))) for i, v in enumerate(family.volumes)]
    assert np.exp(learner.law(sample).log_prob) == pytest.approx(np.array(weights) / sum(weights), rel=1e-11)


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.id)
def test_claims_hold_exactly_and_symmetries_lose_nothing(kind: Any) -> None:
    learner = build(kind)
    finding = dpaudit.pac.audit_law(learner, n=1)
    assert finding.verdict == "consistent"
    assert finding.epsilon == pytest.approx(worst_epsilon(learner, 1), abs=1e-9)


@pytest.mark.parametrize("kind", COVERS, ids=lambda kind: kind.id)
def test_outputs_decode_to_hypotheses_of_the_class(kind: Any) -> None:
    learner = build(kind, alpha=0.3)
    sample = samples(learner.domain)[2]
    points = learner.domain.points()
    cover = learner._cover(points).T
    for code in learner.run(sample, generator(4, kind.id), 20):
        labels = learner.decode(code).predict(points)
        found, parts = int(code), []
        for _ in range(learner.rounds):
            found, member = divmod(found, len(cover))
            parts.append(cover[member])
        covered = np.array(parts).any(axis=0)
        assert (labels == (covered if kind is SimplexUnion else ~covered)).all()


def test_the_classes() -> None:
    assert Polytopes(1, 1).size == 104
    assert Polytopes(1, 4).size == 256  # the parity of three bits is the hardest: it needs four halfspaces
    assert Polytopes(1, 3).size < 256
    assert SimplexUnions(1, 1).size == 256
    points = Grid(1, 3).points()
    for concepts in (Polytopes(1, 2), SimplexUnions(1, 2)):
        labels = concepts.evaluate(points)
        for code in range(0, concepts.size, 7):
            assert (concepts.concept(code).predict(points) == labels[code]).all()


@pytest.mark.parametrize(
    ("learner", "alpha"),
    [(SimplexSelect(1, 1.0), 0.2), (ConvexPolytope(1, 2, 1.0, 1e-6, 0.1, 0.05), 0.2),
     pytest.param(ConvexPolytope(2, 1, 1.0, 1e-6, 0.1, 0.05, "noiseless"), 0.2, marks=pytest.mark.full),
     (SimplexUnion(1, 1, 1.0, 1e-6, 0.1, 0.05), 0.2)],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_utility_at_the_theorems_n(learner: Any, alpha: float) -> None:
    points = learner.domain.points()
    uniform = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    claim = learner.utility(alpha, 0.2, "realizable") if hasattr(learner, "settings") else learner.utility(alpha, 0.2)
    for code in (learner.concepts.size // 3, learner.concepts.size - 2):
        finding = dpaudit.pac.audit_utility(
            learner, code, uniform, alpha=alpha, beta=0.2, n=claim.sample_size, trials=60, seed=5, setting="realizable"
        )
        assert finding.verdict == "holds"


def test_a_run_over_the_larger_grid() -> None:
    learner = ConvexPolytope(2, 3, 1.0, 1e-6, 0.2, 0.1)
    points = learner.domain.points()
    labels = (points.sum(axis=1) <= 3).astype(np.int64)
    sample = learner.domain.sample(points, labels, np.full(len(points), 10**6))
    (code,) = learner.run(sample, generator(6, "larger"), 1)
    assert sample.errors(learner.decode(code)) == 0


CONTROLS = tuple(c for c in broken.LEARNERS if c(**c.instance.parameters).domain.dimension == 3)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.id)
def test_controls_are_convicted(control: Any) -> None:
    learner = build(control)
    pairs = crafted_pairs(learner.domain, control.instance.n, limit=60)
    assert dpaudit.pac.audit_law(learner, samples=pairs).verdict == "violation"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: SimplexSelect(3, 1.0), "side"),
        (lambda: SimplexSelect(2, 1.0).decode((1, 2, 3)), "code"),
        (lambda: SimplexSelect(2, 1.0).decode((1, 2, 3, 2702)), "code"),
        (lambda: SimplexSelect(2, 1.0).law(SimplexSelect(2, 1.0).domain.empty_sample()), "side"),
        (lambda: SimplexSelect(1, -1.0), "epsilon"),
        (lambda: SimplexSelect(1, 1.0).decode(256), "code"),
        (lambda: build(ConvexPolytope, side=3), "side"),
        (lambda: build(SimplexUnion, side=3), "side"),
        (lambda: build(SimplexUnion, side=2).law(build(SimplexUnion, side=2).domain.empty_sample()), "side"),
        (lambda: build(ConvexPolytope, k=0), "k"),
        (lambda: build(ConvexPolytope, delta=0.5), "delta must be below 1/e"),
        (lambda: build(ConvexPolytope, side=2).law(build(ConvexPolytope, side=2).domain.empty_sample()), "side and k"),
        (lambda: build(ConvexPolytope).run(SimplexSelect(1, 1.0).domain.sample([[0, 0, 2]], [1]), generator(0), 1),
         "points"),
        (lambda: build(SimplexUnion).utility(0.9, 0.5, "realizable"), "alpha must be at least"),
        (lambda: Polytopes(2, 2).size, "side and k"),
        (lambda: simplex_family(2), "side"),
        (lambda: halfspace_family(3), "side"),
    ],
)  # fmt: skip
def test_bad_input(call: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()


def test_an_empty_side_is_no_special_case() -> None:
    for kind, label in itertools.product(COVERS, (0, 1)):
        learner = build(kind, variant="noiseless")
        sample = learner.domain.sample([[0, 1, 0]], [label], [10**9])
        (code,) = learner.run(sample, generator(7, kind.id, label), 1)
        assert sample.errors(learner.decode(code)) == 0
