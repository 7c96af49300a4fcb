"""The utility audit: exact errors, verdicts of learners with known failure rates, hard cases, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import dpaudit
from dpaudit.contract import FAIL, Distribution, Example, InputError, PrivacyClaim, UtilityClaim
from dpaudit.utility.error import empirical_error, exceeds, population_error
from dpaudit.utility.hard_cases import hard_cases
from learners.domains import Interval


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
    """What the toy learners share."""

    domain_size: int = 10
    id: ClassVar[str] = "toy"
    example: ClassVar[Example] = Example({}, n=2)
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


def audit(learner: Any, concept: Any = 5, distribution: Any = "uniform", **changed: Any) -> dpaudit.UtilityFinding:
    arguments = {"alpha": 0.1, "beta": 0.1, "n": 5, **changed}
    return dpaudit.audit_utility(learner, concept, distribution, **arguments)


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


def test_the_empirical_setting_takes_the_error_on_the_sample() -> None:
    # The point 4 is drawn with probability 1 - 0.9^5 = 0.41 at least once in five, and then weighs over 0.1.
    finding = audit(Coin(rate=1.0, bad=4), setting="empirical", trials=400)
    # 5.5 standard deviations: false-alarm rate 4e-8.
    assert abs(finding.failure_rate - (1 - 0.9**5)) < 5.5 * math.sqrt(0.25 / 400)
    assert audit(Coin(rate=1.0, bad=4), setting="realizable", trials=400).failures == 0


def test_a_sound_learner_holds_and_a_lying_one_is_refuted() -> None:
    case = hard_cases(Consistent(), 0.1)[0]
    sound = audit(Consistent(lie=1.5), case.concept_code, case.distribution, n=None, beta=0.2, trials=2000)
    assert (sound.verdict, sound.n, sound.claim_id) == ("holds", 25, "toy-occam")
    lying = audit(Consistent(lie=0.5), case.concept_code, case.distribution, n=None, beta=0.2, trials=2000)
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
        def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:  # type: ignore[override]
            return UtilityClaim(alpha, beta, 7 if setting == "empirical" else 11, setting)

    assert audit(Two(), n=None, trials=5).n == 11
    assert audit(Two(), n=None, trials=5, setting="empirical").n == 7


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
        ({"n": 0}, "n must be an integer >= 1, got 0"),
        ({"n": 2.5}, "n must be an integer >= 1, got 2.5"),
        ({"trials": 0}, "trials must be an integer >= 1, got 0"),
        ({"trials": True}, "trials must be an integer >= 1, got True"),
        ({"seed": -1}, "seed must be a non-negative integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"setting": "agnostic"}, "agnostic cannot be audited yet"),
        ({"setting": "pac"}, "setting must be realizable or empirical"),
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
    assert 4 <= len(cases) <= 8
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        assert 0 <= case.concept_code < 11
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
    differs = labels != labels[case.concept_code]
    assert (differs[:, hard] & ~differs[:, 1 - hard]).any()


def test_hard_points_of_both_labels_are_tried() -> None:
    cases = {case.name: case for case in hard_cases(Toy(), 0.1)}
    for label, word in ((1, "positive"), (0, "negative")):
        case = cases[f"just above alpha on a {word} point; middle concept"]
        hard = case.distribution.points[np.argmin(case.distribution.probabilities)]
        assert Below(case.concept_code).predict(hard[None, :]) == label


def test_the_hard_point_has_the_label_that_the_name_says() -> None:
    class Crossed(Toy):
        """Two concepts that differ at two points, in opposite directions."""

        class _Pair:
            size = 2

            def evaluate(self, points: Any) -> Any:
                return np.array([[0, 1, 0, 0], [1, 0, 0, 0]], dtype=np.uint8)

        concepts = property(lambda self: Crossed._Pair())  # type: ignore[assignment]

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


def test_hard_cases_of_a_class_too_large_to_evaluate() -> None:
    class Huge(Thresholds):
        def evaluate(self, points: Any) -> Any:
            raise AssertionError("too large to evaluate")

    class Large(Toy):
        concepts = property(lambda self: Huge(2**40))  # type: ignore[assignment]
        domain = property(lambda self: Interval(2**40))  # type: ignore[assignment]

    cases = hard_cases(Large(), 0.1)
    assert any(case.name.startswith("just above alpha") for case in cases)
    assert any("uniform on landmarks" in case.name for case in cases)


def test_hard_cases_of_a_class_of_one_are_uniform() -> None:
    class One(Toy):
        class _Only(Thresholds):
            size = property(lambda self: 1)  # type: ignore[assignment]

        concepts = property(lambda self: One._Only(10))  # type: ignore[assignment]

    assert [case.distribution.name for case in hard_cases(One(), 0.1)] == ["uniform"]


@pytest.mark.parametrize("alpha", [0, 1.0, -0.1, math.nan, "0.1", True])
def test_hard_cases_ask_for_alpha_in_range(alpha: Any) -> None:
    with pytest.raises(InputError, match=r"alpha must be in \(0, 1\)"):
        hard_cases(Toy(), alpha)
