"""halfplane-select: exact draws, its law, its two claims, its controls."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from learner_cases import agreement, every_sample, worst_epsilon

import dpaudit
from dpaudit.contract import InputError
from dpaudit.seeding import generator
from dpaudit_learners.geometry.arrangement import sweep
from dpaudit_learners.geometry.polygons import Bits
from dpaudit_learners.regions import controls, halfplane_select
from dpaudit_learners.regions.halfplane_select import HalfplaneSelect, _scores
from dpaudit_learners.regions.snapping import full_grid
from dpaudit_learners.regions.tuple_draws import Selector, exponential_bounds
from dpaudit_learners.samples import distinct_points

# Deterministic by seed; under a fresh seed each comparison would fail by chance with probability 1e-6.
LEVEL = 1e-6


def sample_of(learner: Any, *rows: tuple[int, int, int, int]) -> Any:
    return learner.domain.sample([r[:2] for r in rows], [r[2] for r in rows], [r[3] for r in rows])


@pytest.mark.parametrize(("side", "epsilon", "convention"), [(1, 1.0, "half"), (2, 0.7, "full"), (3, 2.0, "half")])
def test_runs_follow_the_law(side: int, epsilon: float, convention: str) -> None:
    learner = HalfplaneSelect(side, epsilon, convention)
    samples = [
        learner.domain.empty_sample(),
        sample_of(learner, (0, 0, 1, 1)),
        sample_of(learner, (0, 0, 1, 2), (0, side, 0, 1), (side, side, 1, 3), (side, 0, 0, 1), (side, 0, 1, 1)),
        sample_of(learner, (0, side, 0, 10**12), (1, 0, 1, 10**12 - 3), (1, 1, 0, 1)),
    ]
    for i, sample in enumerate(samples):
        decoded = _Indexed(learner)
        assert agreement(decoded, sample, 4_000, generator(1, "halfplane", side, i), decoded.law(sample)) > LEVEL


def test_runs_without_an_arrangement_follow_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halfplane_select, "SWEPT_POINTS", 0)
    monkeypatch.setattr(halfplane_select, "sweep", None)
    for side, epsilon, convention in ((2, 0.7, "full"), (3, 2.0, "half")):
        rows = [(0, 0, 1, 2), (0, side, 0, 1), (side, side, 1, 3), (side, 0, 0, 1), (side, 0, 1, 1), (1, 1, 0, 2)]
        decoded = _Indexed(HalfplaneSelect(side, epsilon, convention))
        sample = sample_of(decoded.learner, *rows)
        law = decoded.law(sample)
        assert agreement(decoded, sample, 4_000, generator(1, "refined", side), law) > LEVEL
        # The comparison sees half the rate.
        other = _Indexed(HalfplaneSelect(side, epsilon / 2, convention)).law(sample)
        assert agreement(decoded, sample, 4_000, generator(1, "refined", side), other) < LEVEL


def test_thousands_of_points_at_the_side_of_words() -> None:
    side = 2**64
    learner = HalfplaneSelect(side, 1.0)
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2**63, (2_000, 2)).astype(object) * 2
    labels = (points[:, 1] > points[:, 0] // 2).astype(int)
    sample = learner.domain.sample(points, labels)
    codes = learner.run(sample, generator(0, "many"), 2)
    # Theorem's bound at 1e-9: max q - q <= (1/rate) ln(64 d^7 / b), and some halfplane makes no error.
    most = 2 * (math.log(64) + 7 * math.log(side) - math.log(1e-9))
    assert all(sample.errors(learner.decode(code)) <= most for code in codes)


class _Indexed:
    """The learner with the numbers of its atoms as outputs, which is what `agreement` counts."""

    def __init__(self, learner: HalfplaneSelect) -> None:
        self.learner = learner

    def law(self, sample: Any) -> Any:
        law = self.learner.law(sample)
        self.place = {atom: i for i, atom in enumerate(law.atoms)}
        return dpaudit.pac.Law(range(len(law.atoms)), law.log_prob, law.error)

    def run(self, sample: Any, rng: Any, size: int) -> list[int]:
        return [self.place[code] for code in self.learner.run(sample, rng, size)]


@pytest.mark.parametrize("rate", [0.3, 4.0])
def test_few_bits_at_a_time_give_the_same_law(rate: float) -> None:
    # Eight bits leave most choices open: nearly every draw takes more bits, and some take tighter enclosures.
    learner = HalfplaneSelect(2, 2 * rate)
    sample = sample_of(learner, (0, 1, 1, 1), (2, 1, 0, 2), (1, 2, 1, 1))
    points, weights = distinct_points(sample)
    build, grid = partial(sweep, points, weights, 2), full_grid(2)
    asked = []

    def building(extra: int) -> Any:
        asked.append(extra)
        return build(extra)

    selector = Selector(building, _scores(build(), weights), Fraction(rate))
    law = learner.law(sample)
    place = {atom: i for i, atom in enumerate(law.atoms)}

    def resolve(z: int, cell: int, box: Any, bits: int) -> Any:
        found = grid.locate(box)
        return None if found is None else (z, *grid.points[found])

    class Small:
        def run(self, sample: Any, rng: Any, size: int) -> list[int]:
            bits = Bits(rng)
            return [place[selector.draw(bits, resolve, 8)] for _ in range(size)]

    indexed = dpaudit.pac.Law(range(len(law.atoms)), law.log_prob, law.error)
    assert agreement(Small(), sample, 3_000, generator(2, "bits", str(rate)), indexed) > LEVEL
    assert max(asked) > 0


@pytest.mark.parametrize("exponent", ["0", "-1/3", "-100", "-10000000000/7", "-1/1000000000000000000000"])
def test_exponentials_are_enclosed(exponent: str) -> None:
    flint = pytest.importorskip("flint")
    value = Fraction(exponent)
    old, flint.ctx.prec = flint.ctx.prec, 2000
    try:
        for bits in (8, 256, 512):
            low, high = exponential_bounds(value, bits)
            true = flint.arb(flint.fmpq(value.numerator, value.denominator)).exp() * flint.arb(2) ** bits
            assert 0 <= low < high <= low + 3
            assert true >= low
            assert true <= high
    finally:
        flint.ctx.prec = old


def test_scores_of_the_sweep_are_the_examples_labelled_correctly() -> None:
    for side in (1, 2, 3):
        learner, grid = HalfplaneSelect(side, 1.0), full_grid(side)
        rng = generator(4, "scores", side)
        points = rng.integers(0, side + 1, (6, 2))
        sample = learner.domain.sample(points, rng.integers(0, 2, 6), rng.integers(1, 10**12, 6))
        spots, weights = distinct_points(sample)
        arrangement = sweep(spots, weights, side)
        expected: dict[int, Fraction] = {}
        correct = learner._correct(learner._outputs(sample)[1], sample).reshape(2, -1)
        for z, row in zip((1, -1), correct, strict=True):
            for (a, b), q, area in zip(grid.points, row.tolist(), grid.areas, strict=True):
                assert sample.n - sample.errors(learner.decode((z, a, b))) == q
                expected[q] = expected.get(q, Fraction(0)) + area
        scores = _scores(arrangement, weights).ravel().tolist()
        found: dict[int, int] = {}
        for q, area_ in zip(scores, arrangement.areas * 2, strict=True):
            found[q] = found.get(q, 0) + area_
        assert found.keys() == expected.keys()
        for q, value in expected.items():
            assert abs(found[q] - value * 2**arrangement.precision) <= 2 * arrangement.slack * arrangement.cells


def test_both_conventions_keep_their_claims_and_the_factor_two_is_real() -> None:
    half, full = HalfplaneSelect(1, 0.5), HalfplaneSelect(1, 0.5, "full")
    assert (half.privacy.epsilon, full.privacy.epsilon) == (0.5, 1.0)
    indexed = [worst_epsilon(learner, 2) for learner in (half, full)]
    assert indexed[0] <= 0.5
    assert 0.5 < indexed[1] <= 1.0
    assert dpaudit.pac.audit_law(full, n=2).epsilon == pytest.approx(indexed[1], abs=1e-12)
    # Full at epsilon is half at 2 epsilon.
    for sample in every_sample(full.domain, 2):
        assert (full.law(sample).log_prob == HalfplaneSelect(1, 1.0).law(sample).log_prob).all()


def test_law_without_examples_is_the_area() -> None:
    learner = HalfplaneSelect(2, 1.0)
    law, grid = learner.law(learner.domain.empty_sample()), full_grid(2)
    shares = np.array([float(area / 512) for area in grid.areas] * 2)
    assert np.abs(np.exp(law.log_prob) - shares).max() < 1e-14


def test_a_large_grid_gives_exact_points_that_do_not_show_the_sample() -> None:
    side = 2**64
    learner = HalfplaneSelect(side, 1.0)
    rng = generator(5, "large")
    points = np.array([[int(v) for v in rng.integers(0, 2**62, 2)] for _ in range(30)], dtype=object) * 4
    labels = [int(2 * y >= x + 10**18) for x, y in points.tolist()]
    sample = learner.domain.sample(points, labels, [10**9] * 30)
    outputs = learner.run(sample, generator(6, "large"), 20)
    assert outputs == learner.run(sample, generator(6, "large"), 20)
    for z, a, b in outputs:
        # Realizable and 3e10 examples: any example lost costs a factor e^(-5e8).
        assert sample.errors(learner.decode((z, a, b))) == 0
        assert all(v.denominator & (v.denominator - 1) == 0 for v in (a, b))
        assert abs(a) <= 2 * side**2
    assert len(set(outputs)) == 20


@pytest.mark.parametrize("labels", [[1, 1], [0, 0]])
def test_one_label_only(labels: list[int]) -> None:
    learner = HalfplaneSelect(4, 1.0)
    sample = learner.domain.sample([[0, 0], [4, 4]], labels, [10**6, 10**6])
    for code in learner.run(sample, generator(7, "one label"), 20):
        assert sample.errors(learner.decode(code)) == 0


def test_utility_holds_at_the_claimed_size() -> None:
    learner = HalfplaneSelect(3, 1.0)
    claim = learner.utility(0.2, 0.1)
    finding = dpaudit.pac.audit_utility(learner, learner.concepts.size // 3, "uniform", alpha=0.2, beta=0.1, trials=80)
    assert finding.n == claim.sample_size
    assert finding.verdict == "holds"
    assert learner.sample_size(0.1, 0.1) > claim.sample_size
    assert HalfplaneSelect(2**64, 1.0).sample_size(0.1, 0.1) < 30_000


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: HalfplaneSelect(0, 1.0), "side"),
        (lambda: HalfplaneSelect(2, 0.0), "epsilon"),
        (lambda: HalfplaneSelect(2, 1.0, "both"), "convention"),
        (lambda: HalfplaneSelect(2, 1.0).domain.sample([[0, 3]], [1]), "points"),
        (lambda: HalfplaneSelect(2, 1.0).decode((2, Fraction(1), Fraction(0))), "code"),
        (lambda: HalfplaneSelect(2, 1.0).decode((1, 0.5, 0.0)), "code"),
        (lambda: HalfplaneSelect(7, 1.0).law(HalfplaneSelect(7, 1.0).domain.empty_sample()), "side"),
        (lambda: HalfplaneSelect(7, 1.0).concepts.size, "side"),
        (lambda: HalfplaneSelect(2, 1.0).run(HalfplaneSelect(3, 1.0).domain.sample([[3, 0]], [1]), None, 1), "points"),
    ],
)
def test_bad_input(call: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()


@pytest.mark.parametrize(
    "control", [one for one in controls.LEARNERS if issubclass(one, HalfplaneSelect)], ids=lambda c: c.id
)
def test_controls_leak(control: Any) -> None:
    learner = control(**control.instance.parameters)
    finding = dpaudit.pac.audit_law(learner)
    assert finding.verdict == "violation"
    assert finding.epsilon > 1.5 * learner.privacy.epsilon


def test_the_sound_learner_is_not_convicted() -> None:
    learner = HalfplaneSelect(1, 1.0)
    worst = dpaudit.pac.audit_law(learner).worst_pair
    seen = dpaudit.audit_privacy(
        learner.run,
        [(worst.data, worst.neighbour)],
        epsilon=1.0,
        trials=5_000,
        seed=1,
        batched=True,
        confidence=1 - 1e-6,
    )
    assert seen.verdict == "consistent"
    assert math.isfinite(seen.epsilon_lower)
