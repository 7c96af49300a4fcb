"""Enclosures against decimals of fifty digits and against fractions; agreement, refusal and the boundary."""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from typing import ClassVar

import jsonschema
import numpy as np
import pytest

import dpaudit
from dpaudit.contract import Instance, Law, PrivacyClaim, Sample
from dpaudit.errors import InputError, ToolFault
from dpaudit.exact import enclosure
from dpaudit.exact.profiles import LossProfiles
from dpaudit.report.schema import load
from dpaudit_learners.conjunctions.laplace import ConjunctionLaplace, contradictions
from dpaudit_learners.domains import Interval
from dpaudit_learners.mechanisms.log_laws import Field, T
from dpaudit_learners.parities.law import rational_law
from dpaudit_learners.parities.private import ParityPrivate
from dpaudit_learners.points.controls import PointFrozen, PointSupport
from dpaudit_learners.points.exponential import PointExponential, ThresholdExponential


def slowest_thresholds(points: int, n: int, epsilon: Decimal) -> Decimal:
    """Return the worst loss of the exponential mechanism over thresholds, by a double loop in decimals."""
    laws = {}
    for sample in itertools.combinations_with_replacement(itertools.product(range(points), (0, 1)), n):
        scores = [sum((x < j) == y for x, y in sample) for j in range(points + 1)]
        weights = [(epsilon * score / 2).exp() for score in scores]
        laws[sample] = [w / sum(weights) for w in weights]
    worst = Decimal(0)
    for left, right in itertools.permutations(laws, 2):
        # Multisets that share all but one example are neighbours by replacement.
        if (Counter(left) & Counter(right)).total() == n - 1:
            worst = max(worst, *((p / q).ln() for p, q in zip(laws[left], laws[right], strict=True)))
    return worst


@pytest.mark.parametrize(("points", "n", "epsilon"), [(2, 2, "1"), (3, 2, "0.375"), (2, 3, "4")])
def test_the_worst_loss_in_decimals_is_enclosed(points: int, n: int, epsilon: str) -> None:
    before = getcontext().prec
    with localcontext() as context:
        context.prec = 50
        worst = slowest_thresholds(points, n, Decimal(epsilon))
        learner = ThresholdExponential(points, float(epsilon))
        ends = dpaudit.pac.audit_law(learner, n=n, enclosure=True).enclosure
        assert ends is not None
        assert Decimal(ends[0]) <= worst <= Decimal(ends[1])
        # The tightest enclosure there is: two neighbouring floats.
        assert ends[1] == math.nextafter(ends[0], math.inf)
    assert getcontext().prec == before


def test_the_a_priori_bound_is_kept_on_larger_classes() -> None:
    # Computed independently in ball arithmetic.
    for points, n, epsilon in [(4, 4, 0.945290771808052), (6, 4, 0.962798211177859)]:
        finding = dpaudit.pac.audit_law(ThresholdExponential(points, 1.0), n=n, enclosure=True)
        assert finding.enclosure is not None
        low, high = finding.enclosure
        assert low - 5e-16 <= epsilon <= high + 5e-16
        assert finding.epsilon - finding.error <= low < high <= finding.epsilon + finding.error


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("epsilon", [1.0, 0.3])
def test_private_parity_is_enclosed_exactly(dimension: int, epsilon: float) -> None:
    finding = dpaudit.pac.audit_law(ParityPrivate(dimension, epsilon), n=2, enclosure=True)
    keep = Fraction(epsilon) / 4
    ratio = (1 + keep) / (1 - keep)
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        assert finding.enclosure is not None
        assert Decimal(finding.enclosure[0]) <= exact <= Decimal(finding.enclosure[1])


@pytest.mark.parametrize("uniform", [True, False])
def test_the_rational_law_of_parity_is_its_law(uniform: bool) -> None:
    rng = np.random.default_rng(1)
    learner = type("Solver", (ParityPrivate,), {"_uniform": uniform})(3, 1.0)
    for _ in range(20):
        rows = rng.integers(0, 2, (5, 4))
        sample = learner.domain.sample(rows[:, :3], rows[:, 3])
        exact = rational_law(sample, 3, Fraction(1, 4), Fraction(1, 2), uniform=uniform)
        law = learner.law(sample)
        assert sum(exact.values()) == 1
        assert list(exact) == list(law.atoms)
        for probability, log in zip(exact.values(), law.log_prob, strict=True):
            known = math.log(probability) if probability else -math.inf
            assert log == known or abs(log - known) <= law.error + 4e-16 * abs(known)


def test_too_many_examples_for_the_rational_law() -> None:
    learner = ParityPrivate(2, 1.0)
    sample = learner.domain.sample([[0, 1]], [1], [10**12])
    with pytest.raises(InputError, match="1000000000000 with copies"):
        rational_law(sample, 2, Fraction(1, 4), Fraction(1, 2))


@dataclass(frozen=True)
class LaplaceInBalls(ConjunctionLaplace):
    """The conjunction learner with its law from exponentials and logarithms alone."""

    def exact_law(self, sample: Sample, field: Field[T]) -> dict[int, T]:
        scale = field.number(Fraction(2 * self.dimension) / Fraction(self.epsilon))
        weights = {0: field.number(1)}
        for literal, count in enumerate(contradictions(sample).tolist()):
            z = (
                field.log(field.number(Fraction(2 * self.dimension) / Fraction(self.beta)))
                - field.number(count) / scale
            )
            half = field.exp(-z if z > 0 else z) / field.number(2)
            # The half is the smaller tail; the other one is what it leaves.
            if z > 0:
                above, below = (half, field.number(1) - half)
            else:
                above, below = (field.number(1) - half, half)
            weights = {
                code | kept << literal: weight * (below if kept else above)
                for kept in (0, 1)
                for code, weight in weights.items()
            }
        return weights


def test_a_learner_with_laplace_noise_is_enclosed() -> None:
    learner = LaplaceInBalls(**{**ConjunctionLaplace.instance.parameters, "dimension": 1})
    finding = dpaudit.pac.audit_law(learner, n=2, enclosure=True)
    assert finding.enclosure is not None
    assert finding.epsilon - finding.error <= finding.enclosure[0] <= finding.enclosure[1]
    assert finding.enclosure[1] <= min(finding.epsilon + finding.error, learner.epsilon)


@dataclass(frozen=True)
class Response:
    """Randomised response on the one label: the truth with probability 3/4, so epsilon is ln 3 exactly."""

    claimed: float
    wrong: float = 0.0
    id: ClassVar[str] = "toy-response"
    instance: ClassVar[Instance] = Instance({"claimed": 1.0}, n=1)

    @property
    def privacy(self) -> PrivacyClaim:
        return PrivacyClaim(self.claimed)

    @property
    def domain(self) -> Interval:
        return Interval(2)

    def law(self, sample: Sample) -> Law:
        probabilities = [0.75, 0.25] if sample.labels[0] == 0 else [0.25, 0.75]
        return Law((0, 1), np.log(probabilities), 1e-15)

    def exact_law(self, sample: Sample, field: Field[T]) -> dict[int, T]:
        truth = int(sample.labels[0])
        return {truth: field.number(3 + self.wrong), 1 - truth: field.number(1)}


def test_the_claim_is_judged_to_the_last_digit() -> None:
    # 1.0986122886681096 < ln 3 = 1.09861228866810969 < 1.0986122886681098
    below = 1.0986122886681096
    above = 1.0986122886681098
    assert dpaudit.pac.audit_law(Response(below), n=1).verdict == "consistent"
    found = dpaudit.pac.audit_law(Response(below - 1e-15), n=1, enclosure=True)
    assert (found.enclosure, found.verdict) == ((below, above), "violation")
    assert dpaudit.pac.audit_law(Response(below), n=1, enclosure=True).verdict == "consistent"


def test_laws_that_disagree_are_a_fault() -> None:
    with pytest.raises(ToolFault, match="law and exact_law of learner 'toy-response' disagree"):
        dpaudit.pac.audit_law(Response(2.0, wrong=1e-9), n=1, enclosure=True)


def test_an_impossible_atom_is_an_infinite_loss() -> None:
    finding = dpaudit.pac.audit_law(PointSupport(**PointSupport.instance.parameters), n=2, enclosure=True)
    assert finding.epsilon == math.inf
    assert finding.enclosure == (math.inf, math.inf)
    assert finding.to_dict()["enclosure"] == ["inf", "inf"]


def test_a_law_of_its_own_needs_an_exact_law_of_its_own() -> None:
    with pytest.raises(InputError, match="overrides law but not exact_law"):
        dpaudit.pac.audit_law(PointFrozen(**PointFrozen.instance.parameters), n=1, enclosure=True)


def test_a_learner_without_an_exact_law_is_refused() -> None:
    learner = ConjunctionLaplace(**ConjunctionLaplace.instance.parameters)
    with pytest.raises(InputError, match="'conjunction-laplace' has no exact_law"):
        dpaudit.pac.audit_law(learner, n=1, enclosure=True)


def test_without_flint_the_a_priori_bound_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    learner = PointExponential(2, 1.0)
    with pytest.raises(InputError, match="python-flint: install dpaudit with the extra 'exact'"):
        dpaudit.pac.audit_law(learner, n=1, enclosure=True)
    assert dpaudit.pac.audit_law(learner, n=1).enclosure is None


def test_more_extremal_pairs_than_are_recomputed_keep_the_a_priori_upper_end(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = type("Unfolded", (PointExponential,), {"symmetries": lambda self: []})(3, 1.0)
    full = dpaudit.pac.audit_law(learner, n=2, enclosure=True)
    monkeypatch.setattr(enclosure, "MOST_PAIRS", 1)
    cut = dpaudit.pac.audit_law(learner, n=2, enclosure=True)
    assert full.enclosure is not None
    assert cut.enclosure is not None
    assert cut.enclosure[0] <= full.enclosure[0] <= full.enclosure[1] <= cut.enclosure[1] == cut.epsilon + cut.error


def test_only_pairs_within_twice_the_error_are_recomputed() -> None:
    # The second pair's float loss is the greater one, the first one's exact loss is: both lie within the error.
    error = 1e-12
    exact = {0: (Fraction(3, 4), 1.0), 1: (Fraction(1, 4), 1.0), 2: (Fraction(3, 4) - Fraction(1, 10**13), 1 + 2e-13)}

    class Numbered:
        id = "toy-numbered"

        def law(self, number: int) -> None: ...

        def exact_law(self, number: int, field: Field[T]) -> dict[int, T]:
            return {0: field.number(exact[number][0]), 1: field.number(1 - exact[number][0])}

    rows = [[float(p) * factor, 1 - float(p)] for p, factor in exact.values()]
    pairs = np.array([0, 2]), np.array([1, 1])
    profiles = LossProfiles(np.log(rows), np.full(3, error), *pairs)
    assert profiles.worst()[0] == 0
    low, high = enclosure.enclose(Numbered(), lambda i: i, [0, 1], profiles)  # type: ignore[arg-type]  # no more of a learner is asked
    assert low <= math.log(3) <= high
    assert int(np.argmax(profiles.peaks)) == 1


def test_the_finding_validates_with_and_without_an_enclosure() -> None:
    schema = load("finding")
    for asked in (True, False):
        shown = dpaudit.pac.audit_law(PointExponential(2, 1.0), n=1, enclosure=asked).to_dict()
        jsonschema.validate(shown, schema)
        assert (shown["enclosure"] is not None) is asked


def test_the_precision_of_others_is_left_alone() -> None:
    import flint

    before = flint.ctx.prec
    dpaudit.pac.audit_law(PointExponential(2, 1.0), n=1, enclosure=True)
    assert flint.ctx.prec == before
