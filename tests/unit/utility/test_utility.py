"""The utility audit: exact errors, verdicts of learners with known failure rates, hard cases, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import FAIL, Distribution, InputError, Instance, PrivacyClaim, UtilityClaim
from dpaudit.utility.hard_cases import hard_cases
from dpaudit.utility.interval import deciding_trials, failure_interval, is_vacuous, looks
from dpaudit.utility.problem import apportioned, best_error, empirical_error, exceeds, population_error
from dpaudit_learners.domains import Interval
from dpaudit_learners.regions.concepts import Halfplanes


@dataclass(frozen=True)
class Below:
    """The threshold 1[x < code]."""

    code: int

    def predict(self, points: Any) -> Any:
        return (points[:, 0] < self.code).astype(np.uint8)


@dataclass(frozen=True)
class Thresholds:
    """All thresholds on {0 .. domain_size - 1}."""

    domain_size: int

    @property
    def size(self) -> int:
        return self.domain_size + 1

    def evaluate(self, points: Any) -> Any:
        return (points[:, 0] < np.arange(self.size)[:, None]).astype(np.uint8)

    def concept(self, code: int) -> Below:
        return Below(code)


@dataclass(frozen=True)
class Toy:
    """Base of the toy learners."""

    domain_size: int = 10
    id: ClassVar[str] = "toy"
    instance: ClassVar[Instance] = Instance({}, n=2)
    privacy: ClassVar[PrivacyClaim | None] = None

    @property
    def domain(self) -> Interval:
        return Interval(self.domain_size)

    @property
    def concepts(self) -> Thresholds:
        return Thresholds(self.domain_size)

    def decode(self, code: Any) -> Below | None:
        return None if code == FAIL else Below(code)


@dataclass(frozen=True)
class Coin(Toy):
    """Answers the code `bad` with probability `rate`, the code 5 otherwise, whatever the sample."""

    rate: float = 0.1
    bad: int = 0
    id: ClassVar[str] = "toy-coin"

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
        return np.where(rng.random(size) < self.rate, self.bad, 5)


@dataclass(frozen=True)
class Consistent(Toy):
    """The largest positive example, plus 1; claims what Occam's razor promises, or a lie."""

    lie: float = 1.0
    id: ClassVar[str] = "toy-consistent"

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
        return np.full(size, max((int(x) + 1 for x in sample.points[sample.labels == 1][:, 0]), default=0))

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        if beta > 0.9:
            raise InputError("beta must be at most 0.9")
        n = math.ceil(self.lie * math.log(1 / beta) / alpha)
        return UtilityClaim(alpha, beta, n, claim_id="toy-occam")


def audit(learner: Any, concept: Any = 5, distribution: Any = "uniform", **changed: Any) -> dpaudit.pac.UtilityFinding:
    arguments = {"alpha": 0.1, "beta": 0.1, "n": 5, **changed}
    return dpaudit.pac.audit_utility(learner, concept, distribution, **arguments)


# The verdicts below are deterministic by seed; each would differ for another seed with probability < 1e-6.
@pytest.mark.parametrize(
    ("rate", "trials", "verdict"),
    [
        (0.0, 1000, "holds"),
        (0.03, 1000, "holds"),
        (0.2, 1000, "violation"),
        (1.0, 10, "violation"),
        (0.0, 20, "undecided"),
    ],
)
def test_a_known_failure_rate_gets_its_verdict(rate: float, trials: int, verdict: str) -> None:
    finding = audit(Coin(rate=rate), trials=trials)
    assert finding.verdict == verdict
    assert finding.failure_lower <= finding.failure_rate <= finding.failure_upper
    assert finding.failures == round(finding.failure_rate * trials)
    assert finding.trials == trials
    # 5.5 standard deviations: false-alarm rate 4e-8.
    assert abs(finding.failure_rate - rate) <= 5.5 * math.sqrt(rate * (1 - rate) / trials)


def test_failing_is_a_failure() -> None:
    assert audit(Coin(rate=1.0, bad=FAIL), trials=50).failures == 50


# Codes 4 and 6 err on one point of ten (error 0.1), codes 3 and 7 on two.
@pytest.mark.parametrize(("bad", "alpha", "fails"), [(4, 0.1, False), (3, 0.1, True), (8, 0.3, False), (9, 0.3, True)])
def test_an_error_of_exactly_alpha_is_allowed(bad: int, alpha: float, fails: bool) -> None:
    finding = audit(Coin(rate=1.0, bad=bad), alpha=alpha, trials=20)
    assert finding.failures == (20 if fails else 0)


def test_rounding_does_not_turn_alpha_into_more_than_alpha() -> None:
    assert math.fsum([0.1] * 3) > 0.3
    assert not exceeds(math.fsum([0.1] * 3), 0.3)
    assert exceeds(0.3 * (1 + 1e-13), 0.3)
    assert not exceeds(0.3, 0.3)
    assert not exceeds(0.0, 1e-9)


def test_population_error_is_the_probability_of_the_wrong_points() -> None:
    law = Distribution(np.array([[0], [1], [2]]), np.array([0.2, 0.3, 0.5]))
    truth = Below(1).predict(law.points)
    assert [population_error(Below(c), law, truth) for c in range(4)] == pytest.approx([0.2, 0.0, 0.3, 0.8])


def test_empirical_error_counts_multiplicity() -> None:
    sample = Interval(4).sample([0, 1, 3], [1, 0, 0], [6, 10**12, 2])
    assert empirical_error(Below(0), sample) == 6 / (10**12 + 8)
    assert empirical_error(Below(2), sample) == 10**12 / (10**12 + 8)


def test_the_empirical_setting_takes_the_error_on_one_sample() -> None:
    # Ten examples on ten points: the answer 4 errs on one of them, 3 on two, whatever the trial.
    for bad, failures in ((4, 0), (3, 50), (FAIL, 50)):
        assert audit(Coin(rate=1.0, bad=bad), setting="empirical", n=10, trials=50).failures == failures
    # 5.5 standard deviations: false-alarm rate 4e-8.
    finding = audit(Coin(rate=0.2, bad=3), setting="empirical", n=10, trials=400)
    assert abs(finding.failure_rate - 0.2) < 5.5 * math.sqrt(0.16 / 400)
    assert finding.failure == "error on the sample > 0.1"
    assert audit(Coin(rate=1.0, bad=4), trials=50).failure == "error > 0.1"


def test_the_one_sample_divides_n_as_the_distribution_says() -> None:
    mass = 0.1001
    for n in (3, 10, 11, 1000, 10**12, 2**60):
        two = apportioned(np.array([1 - mass, mass]), n)
        assert two.sum() == n
        assert two[1] > n / 10
        assert two[1] == math.ceil(Fraction(mass) * n) or n > 10**9
    assert apportioned(np.full(10, 0.1), 10).tolist() == [1] * 10
    assert apportioned(np.full(10, 0.1), 1000).tolist() == [100] * 10
    assert apportioned(np.array([0.5, 0.25, 0.25]), 5).tolist() == [1, 2, 2]
    assert apportioned(np.full(8, 1 / 8), 4).tolist() == [0, 1] * 4
    assert apportioned(np.array([0.0, 1.0]), 7).tolist() == [0, 7]
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights, n = rng.dirichlet(np.ones(6)), int(rng.integers(1, 40))
        counts = apportioned(weights, n)
        assert counts.sum() == n
        assert (counts >= 0).all()
        # Each is off by less than one, but the likeliest, which pays for the others.
        assert (np.abs(counts - n * weights)[np.arange(6) != weights.argmax()] < 1 + 1e-9).all()


def slow_excess(weights: Any, noise: Any, labels: Any, truth: Any, rows: Any) -> Fraction:
    """The error of a row of labels minus that of the best row, in rationals, point by point."""

    def error(row: Any) -> Fraction:
        shares = (1 - Fraction(f) if y != t else Fraction(f) for y, t, f in zip(row, truth, noise, strict=True))
        return sum((Fraction(p) * s for p, s in zip(weights, shares, strict=True)), Fraction(0))

    return error(labels) - min(map(error, rows))


def test_the_excess_over_the_best_concept_is_exact() -> None:
    rng, concepts, points = np.random.default_rng(1), Thresholds(6), Interval(6).points()
    rows = concepts.evaluate(points).tolist()
    for trial in range(60):
        weights = rng.integers(1, 20, 6) / 64
        law = Distribution(points, weights / weights.sum())
        noise = rng.integers(0, 9 if trial % 2 else 17, 6) / 16
        truth = rows[trial % 7] if trial % 3 else rng.integers(0, 2, 6).astype(np.uint8)
        inside = any(list(truth) == row for row in rows)
        best = best_error(concepts, law, np.array(truth, dtype=np.uint8), noise, of_class=inside)
        for code in range(7):
            error = population_error(Below(code), law, np.array(truth, dtype=np.uint8), noise)
            excess = slow_excess(weights.tolist(), noise.tolist(), rows[code], truth, rows)
            assert error - best == pytest.approx(float(excess / Fraction(weights.sum())), abs=1e-15)


def test_the_agnostic_setting_judges_the_excess_of_what_is_drawn() -> None:
    # 30 % noise on the uniform distribution: c_5 is best with error 0.3, and c_j has 0.04 |j - 5| more.
    for bad, failures in ((4, 0), (3, 0), (2, 40), (9, 40)):
        finding = audit(Coin(rate=1.0, bad=bad), setting="agnostic", noise=0.3, trials=40)
        assert (finding.failures, finding.best_error) == (failures, pytest.approx(0.3, abs=1e-15))
    assert finding.failure == "error - the best concept's > 0.1"
    # Flipped everywhere, the labels are those of 1[x >= 5]: the best thresholds are the constants, with error 1/2.
    flipped = audit(Coin(rate=1.0, bad=5), setting="agnostic", noise=1.0, trials=10)
    assert (flipped.failures, flipped.best_error) == (10, 0.5)
    assert audit(Coin(rate=1.0, bad=0), setting="agnostic", noise=[1.0] * 10, trials=10).failures == 0


def test_noisy_labels_are_drawn_as_often_as_the_noise_says() -> None:
    drawn: list[Any] = []

    class Watching(Coin):
        def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
            drawn.append(sample)
            return np.full(size, 5)

    noise = [0.0, 1.0, *[0.25] * 8]
    audit(Watching(), setting="agnostic", noise=noise, n=1000, trials=40)
    wrong = np.zeros(10)
    total = np.zeros(10)
    for sample in drawn:
        for x, y, count in zip(sample.points[:, 0], sample.labels, sample.counts, strict=True):
            total[x] += count
            wrong[x] += count * (y != (x < 5))
    assert total.sum() == 40_000
    # 6 standard deviations, in twenty comparisons: false-alarm rate below 1e-7.
    assert (np.abs(total - 4000) < 6 * math.sqrt(40_000 * 0.09)).all()
    assert (wrong[0], wrong[1]) == (0, total[1])
    assert (np.abs(wrong / total - noise)[2:] < 6 * math.sqrt(0.1875 / 3500)).all()
    assert len({sample.key for sample in drawn}) == 40


def test_a_best_concept_out_of_reach_is_refused() -> None:
    class Large(Coin):
        concepts = property(lambda self: Thresholds(2**40))

    assert audit(Large(), setting="agnostic", noise=0.5, trials=2).best_error == pytest.approx(0.5)
    with pytest.raises(InputError, match="concept and noise must be of the class and at most 1/2 everywhere"):
        audit(Large(), setting="agnostic", noise=0.6, trials=2)


@dataclass(frozen=True)
class Between(Toy):
    """Finds a point between the extremes of the sample with probability 1 - rate, and else says 9."""

    rate: float = 0.1
    id: ClassVar[str] = "toy-between"

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
        return np.where(rng.random(size) < self.rate, 9, sample.points[0, 0])

    def solves(self, output: Any, sample: Any) -> bool:
        return bool(sample.points.min() <= output <= sample.points.max())

    def utility(self, alpha: float, beta: float, setting: str = "solution") -> UtilityClaim:
        return UtilityClaim(alpha, beta, 6, setting, "toy-ipp", failure="the point lies outside the data")


def test_a_problem_other_than_learning_is_judged_by_the_learner() -> None:
    law = Distribution(np.array([[2], [4]]), np.array([0.5, 0.5]), "pair")
    finding = audit(Between(), 0, law, n=None, trials=2000)
    assert (finding.setting, finding.n, finding.claim_id) == ("solution", 6, "toy-ipp")
    assert finding.failure == "the point lies outside the data"
    # 5.5 standard deviations: false-alarm rate 4e-8.
    assert abs(finding.failure_rate - 0.1) < 5.5 * math.sqrt(0.09 / 2000)
    assert audit(Between(rate=1.0), 0, "uniform", n=10, trials=20).failures == 0
    assert audit(Between(rate=1.0), 0, law, n=10, trials=20).failures == 20
    with pytest.raises(InputError, match="failure must be said in words in the setting 'solution' and nowhere else"):
        UtilityClaim(0.1, 0.1, 5, "solution")
    with pytest.raises(InputError, match="failure must be said in words"):
        UtilityClaim(0.1, 0.1, 5, failure="it breaks")


def test_a_sound_learner_holds_and_a_lying_one_is_refuted() -> None:
    case = hard_cases(Consistent(), 0.1)[0]
    sound = audit(Consistent(lie=1.5), case.concept, case.distribution, n=None, beta=0.2, trials=2000)
    assert (sound.verdict, sound.n, sound.claim_id) == ("holds", 25, "toy-occam")
    lying = audit(Consistent(lie=0.5), case.concept, case.distribution, n=None, beta=0.2, trials=2000)
    assert (lying.verdict, lying.n) == ("violation", 9)
    # The hard case is exact: the learner fails iff the hard point is not drawn, with probability (1 - mass)^n, far
    # from beta in both cases (0.07 and 0.39). 5.5 standard deviations: false-alarm rate 4e-8.
    mass = case.distribution.probabilities.min()
    for finding in (sound, lying):
        rate = (1 - mass) ** finding.n
        assert abs(finding.failure_rate - rate) < 5.5 * math.sqrt(rate * (1 - rate) / 2000)


def test_a_smaller_sample_is_not_the_theorems() -> None:
    assert audit(Consistent(), n=3, trials=10).claim_id == ""
    assert audit(Consistent(), n=23, trials=10).claim_id == ""
    assert audit(Consistent(), n=24, trials=10).claim_id == "toy-occam"
    assert audit(Consistent(), n=24, trials=10, setting="empirical").claim_id == ""


def test_n_comes_from_the_theorem_or_must_be_given() -> None:
    with pytest.raises(InputError, match="n must be given: learner 'toy-coin'"):
        audit(Coin(), n=None)
    with pytest.raises(InputError, match="is for the setting 'realizable', not 'empirical'"):
        audit(Consistent(), n=None, setting="empirical")
    with pytest.raises(InputError, match=r"beta must be at most 0\.9"):
        audit(Consistent(), n=None, beta=0.95)
    assert audit(Consistent(), n=7, beta=0.95, trials=5).claim_id == ""


def test_a_learner_with_several_settings_is_asked_for_one() -> None:
    class Two(Consistent):
        settings = ("realizable", "empirical")

        def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
            return UtilityClaim(alpha, beta, 7 if setting == "empirical" else 11, setting)

    assert audit(Two(), n=None, trials=5).n == 11
    assert audit(Two(), n=None, trials=5, setting="empirical").n == 7


def test_a_learner_may_answer_that_its_parameters_have_no_theorem() -> None:
    class Without(Consistent):
        def utility(self, alpha: float, beta: float) -> UtilityClaim | None:  # type: ignore[override]  # allowed by `HasUtility`
            return None

        def sample_size(self, alpha: float, beta: float) -> int:
            raise AssertionError("the theorem was asked first")

    with pytest.raises(InputError, match="n must be given: learner 'toy-consistent' states no sample size"):
        audit(Without(), n=None, trials=5)
    assert audit(Without(), n=5, trials=5).claim_id == ""


def test_results_do_not_depend_on_workers() -> None:
    findings = [audit(Coin(rate=0.3), trials=500, n_jobs=jobs) for jobs in (1, 2)]
    assert findings[0] == findings[1]
    # Equal counts under all six seeds have probability (1/25)^5 = 1e-7.
    assert {audit(Coin(rate=0.3), trials=500, seed=s).failures for s in range(1, 6)} != {findings[0].failures}
    # The streams do not depend on what is claimed, so that alpha alone cannot lower the count.
    assert audit(Coin(rate=0.3), trials=500, alpha=0.2, beta=0.5).failures == findings[0].failures


def test_more_trials_extend_the_same_stream() -> None:
    few, many = (audit(Coin(rate=0.3), trials=t).failures for t in (64, 128))
    assert few <= many <= few + 64


def test_the_finding_says_what_was_run() -> None:
    finding = audit(Coin(), Below(5), Distribution(np.array([[4], [5]]), np.array([0.5, 0.5]), "pair"), trials=5)
    assert (finding.concept, finding.distribution, finding.setting) == ("Below(code=5)", "pair", "realizable")
    assert json.loads(json.dumps(finding.to_dict()))["kind"] == "utility"
    assert audit(Coin(), trials=5).concept == "concept 5"

    class Anonymous:
        predict = Below(5).predict

    named = [audit(Coin(), Anonymous(), trials=5).concept for _ in range(2)]
    assert named[0] == named[1]
    assert "0x" not in named[0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be in \(0, 1\), got 0.0"),
        ({"alpha": 1}, r"alpha must be in \(0, 1\), got 1"),
        ({"alpha": math.nan}, "alpha must be in"),
        ({"alpha": "0.1"}, "alpha must be in"),
        ({"beta": 1.5}, "beta must be in"),
        ({"confidence": 1.0}, "confidence must be in"),
        ({"confidence": 0}, "confidence must be in"),
        ({"n": 0}, "n must be an integer >= 1 and <= 4611686018427387904, got 0"),
        ({"n": 2.5}, "n must be an integer >= 1 and <= 4611686018427387904, got 2.5"),
        ({"trials": 0}, "trials must be an integer >= 1, got 0"),
        ({"trials": True}, "trials must be an integer >= 1, got True"),
        ({"seed": -1}, "seed must be a non-negative integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"setting": "agnostic"}, "noise must be given in the setting 'agnostic' and nowhere else; got None"),
        ({"noise": 0.1}, "noise must be given in the setting 'agnostic' and nowhere else; got 0.1 in .* 'realizable'"),
        ({"setting": "agnostic", "noise": 1.5}, r"noise must be in \[0, 1\], got 1.5"),
        ({"setting": "agnostic", "noise": math.nan}, r"noise must be in \[0, 1\], got nan"),
        ({"setting": "agnostic", "noise": [0.1, 0.2]}, "noise must be a number or 10 numbers, one a point"),
        ({"setting": "agnostic", "noise": "much"}, "noise must be a number"),
        ({"setting": "solution"}, "setting must be another than 'solution' for 'toy-coin', which has no method solves"),
        ({"setting": "pac"}, "setting must be one of realizable, agnostic, empirical, solution; got 'pac'"),
        ({"concept": 11}, r"concept must be a code in 0 .. 10 or a hypothesis, got 11"),
        ({"concept": -1}, "concept must be a code"),
        ({"concept": "half"}, "concept must be a code"),
        ({"distribution": "normal"}, "distribution must be a Distribution or 'uniform'"),
        ({"distribution": [0.5, 0.5]}, "distribution must be a Distribution"),
        ({"distribution": Distribution(np.array([[10]]), np.ones(1))}, r"has the point \[10\]"),
    ],
)
def test_bad_arguments_are_refused_before_any_run(changed: dict[str, Any], message: str) -> None:
    class Never(Coin):
        def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
            raise AssertionError("nothing may run before the arguments are checked")

    with pytest.raises(InputError, match=message):
        audit(Never(), **{"concept": 5, "distribution": "uniform", **changed})


def test_a_hypothesis_with_wrong_labels_is_refused() -> None:
    class Broken(Coin):
        def decode(self, code: Any) -> Any:
            class Half:
                def predict(self, points: Any) -> Any:
                    return np.full(len(points), 0.5)

            return Half()

    with pytest.raises(InputError, match=r"labels in \{0, 1\}"):
        audit(Broken(), trials=1)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.3, 0.7])
def test_hard_cases_are_distributions_on_the_domain(alpha: float) -> None:
    cases = hard_cases(Toy(), alpha)
    assert 4 <= len(cases) <= 9
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        assert 0 <= case.concept < 11
        assert math.fsum(case.distribution.probabilities) == pytest.approx(1, abs=1e-12)
        assert Interval(10).contains(case.distribution.points).all()
        assert len(np.unique(case.distribution.points, axis=0)) == len(case.distribution.points)
    assert hard_cases(Toy(), alpha)[0].name == cases[0].name


def test_the_first_case_puts_just_over_alpha_where_a_rival_differs() -> None:
    case = hard_cases(Toy(), 0.1)[0]
    hard = int(np.argmin(case.distribution.probabilities))
    mass = case.distribution.probabilities[hard]
    assert 0.1 < mass < 0.101
    assert exceeds(float(mass), 0.1)
    labels = Thresholds(10).evaluate(case.distribution.points)
    differs = labels != labels[case.concept]
    assert (differs[:, hard] & ~differs[:, 1 - hard]).any()


def test_hard_points_of_both_labels_are_tried() -> None:
    cases = {case.name: case for case in hard_cases(Toy(), 0.1)}
    for label, word in ((1, "positive"), (0, "negative")):
        case = cases[f"just above alpha on a {word} point; middle concept"]
        hard = case.distribution.points[np.argmin(case.distribution.probabilities)]
        assert Below(case.concept).predict(hard[None, :]) == label


def test_the_hard_point_has_the_label_that_the_name_says() -> None:
    class Crossed(Toy):
        """Two concepts that differ at two points, in opposite directions."""

        class _Pair:
            size = 2

            def evaluate(self, points: Any) -> Any:
                return np.array([[0, 1, 0, 0], [1, 0, 0, 0]], dtype=np.uint8)

        concepts = property(lambda self: Crossed._Pair())

    cases = {case.name.split(";")[0]: case.distribution for case in hard_cases(Crossed(4), 0.1)}
    for word, hard in (("positive", 0), ("negative", 1)):
        law = cases[f"just above alpha on a {word} point"]
        assert law.points[np.argmin(law.probabilities)].tolist() == [hard]
        assert law.points[np.argmax(law.probabilities)].tolist() == [2]


def test_the_halving_case_ends_at_a_hard_point_below_alpha() -> None:
    case = next(c for c in hard_cases(Toy(), 0.1) if "halving" in c.name)
    probabilities = np.sort(case.distribution.probabilities)[::-1]
    assert probabilities[:-1] / probabilities[1:] == pytest.approx(2.0)
    assert probabilities[-1] < 0.1 < probabilities[0]


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.4, 0.9])
def test_noise_makes_the_nearest_rival_a_little_too_bad(alpha: float) -> None:
    cases = hard_cases(Toy(), alpha, "agnostic")
    assert [case.name.split(";")[0] for case in cases] == [
        "nearly fair labels on a positive point",
        "noise on a positive point, half there",
        "uniform, all rivals just above alpha",
        "uniform, 30 % noise",
        "uniform, every other label wrong",
    ]
    for case in cases[:3]:
        law, noise = case.distribution, case.noise
        assert noise is not None
        truth = Below(case.concept).predict(law.points)
        best = best_error(Thresholds(10), law, truth, noise, of_class=True)
        excesses = {population_error(Below(c), law, truth, noise) - best for c in range(11)}
        least = min(e for e in excesses if e > 1e-9)
        # On ten points no noise at all is enough for one of them to weigh more than alpha.
        assert least == pytest.approx(alpha + min(alpha, 1 - alpha) / 1000) or (alpha >= 0.1 and "uniform" in case.name)
        assert exceeds(least, alpha) or "uniform" in case.name
    wrong = cases[-1]
    assert wrong.noise is not None
    truth = Below(5).predict(wrong.distribution.points)
    # 1[x < 5] with every other label wrong: no threshold errs on fewer than four points of ten.
    assert best_error(Thresholds(10), wrong.distribution, truth, wrong.noise, of_class=True) == 0.4


def test_hard_cases_for_a_problem_lie_close_together() -> None:
    cases = hard_cases(Toy(), 0.1, "solution")
    assert cases[0].distribution.points.tolist() == [[5], [6]]
    assert cases[1].distribution.points.tolist() == [[5]]
    assert all(case.noise is None and case.concept == 5 for case in cases)
    assert hard_cases(Toy(2), 0.1, "solution")[0].distribution.points.tolist() == [[1], [0]]
    with pytest.raises(InputError, match="setting must be one of realizable, agnostic, empirical, solution; got 'pac'"):
        hard_cases(Toy(), 0.1, "pac")


def test_hard_cases_of_a_class_too_large_to_evaluate() -> None:
    class Huge(Thresholds):
        def evaluate(self, points: Any) -> Any:
            raise AssertionError("too large to evaluate")

    class Large(Toy):
        concepts = property(lambda self: Huge(2**40))
        domain = property(lambda self: Interval(2**40))

    cases = hard_cases(Large(), 0.1)
    assert any(case.name.startswith("just above alpha") for case in cases)
    assert any("uniform on landmarks" in case.name for case in cases)


def test_hard_cases_of_a_class_of_one_are_uniform() -> None:
    class One(Toy):
        class _Only(Thresholds):
            size = property(lambda self: 1)

        concepts = property(lambda self: One._Only(10))

    assert [case.distribution.name for case in hard_cases(One(), 0.1)] == ["uniform"]


@pytest.mark.parametrize("alpha", [0, 1.0, -0.1, math.nan, "0.1", True])
def test_hard_cases_ask_for_alpha_in_range(alpha: Any) -> None:
    with pytest.raises(InputError, match=r"alpha must be in \(0, 1\)"):
        hard_cases(Toy(), alpha)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"alpha": 0.5}, "vacuous"),
        # Of the 11 concepts a random one is right with probability 1/11.
        ({"alpha": 0.49, "beta": 0.9}, "holds"),
        ({"alpha": 0.49, "beta": 0.92}, "vacuous"),
        ({"alpha": 0.49, "beta": 0.49}, "holds"),
        ({"alpha": 0.99, "setting": "empirical"}, "vacuous"),
    ],
)
def test_a_claim_of_next_to_nothing_is_vacuous(claim: dict[str, Any], verdict: str) -> None:
    assert audit(Coin(rate=0.0), trials=500, **claim).verdict == verdict


def test_a_guess_is_right_half_of_the_time_with_two_concepts_alone() -> None:
    def of_size(size: int) -> Any:
        return SimpleNamespace(size=size)

    assert is_vacuous(0.1, 0.5, "realizable", of_size(2))
    assert not is_vacuous(0.1, 0.5, "realizable", of_size(3))
    assert not is_vacuous(0.1, 0.6, "realizable", of_size(2**63))
    assert is_vacuous(0.5, 0.1, "realizable", of_size(2**63))
    assert not is_vacuous(0.5, 0.1, "solution", of_size(2**63))
    # A class that cannot be counted is not asked below 1/2, and is no class of two above.
    uncounted = Halfplanes(2**64)
    assert not is_vacuous(0.1, 0.1, "realizable", uncounted)
    assert not is_vacuous(0.1, 0.9, "realizable", uncounted)


def test_a_claim_of_next_to_nothing_may_be_violated() -> None:
    assert audit(Coin(rate=1.0, bad=FAIL), trials=500, beta=0.5).verdict == "violation"


def test_more_runs_are_made_where_the_interval_contains_beta() -> None:
    few = audit(Coin(rate=0.05), trials=100)
    assert (few.verdict, few.trials) == ("undecided", 100)
    # At rate 0.05 the interval of 6400 runs has an end above 0.1 with probability below 1e-40.
    more = audit(Coin(rate=0.05), trials=100, most=6_400)
    assert (more.verdict, more.confidence) == ("holds", few.confidence)
    assert more.trials in (400, 1_600, 6_400)
    assert audit(Coin(rate=0.0), trials=1_000, most=10**9).trials == 1_000
    with pytest.raises(InputError, match="most must be an integer >= 1"):
        audit(Coin(), most=0)


@pytest.mark.parametrize("most", [None, 10, 399, 400, 6_400, 10_000])
def test_looks_share_the_error(most: int | None) -> None:
    found = looks(100, most, 0.95)
    assert [runs for runs, _ in found] == [100 * 4**i for i in range(len(found))]
    assert found[-1][0] <= max(100, most or 0) < 4 * max(found[-1][0], 100) or most is None
    assert math.fsum(1 - level for _, level in found) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("beta", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("confidence", [0.95, 0.999, 1 - 1e-6])
def test_the_first_look_decides_on_a_learner_that_never_fails(beta: float, confidence: float) -> None:
    first = looks(30, 30 * 256, confidence)[0][1]
    least = next(n for n in range(1, 1_000) if failure_interval(0, n, first)[1] <= beta)
    allowed = {least, least + 1} if 30 < least < 119 else {30}
    assert deciding_trials(30, 30 * 256, beta, confidence) in allowed
    assert deciding_trials(30, None, beta, confidence) == 30
