"""The exponential mechanism over any finite class, its supremum, and its failure rate on a case of two points.

A third party learns its own class by deriving a frozen dataclass from `ExponentialLearner` that has the properties
`domain` and `concepts`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, TypeVar

import numpy as np

from dpaudit.contract import Domain, Law, Pair, Sample, Supremum, UtilityClaim, WorstFailure

from ..arrays import Bools, Integers, Labels
from ..citations import NIS
from ..mechanisms import exponential
from ..mechanisms.log_laws import Field
from ..parameters import check_positive, check_run, check_sample, check_statement
from .counting import BLOCK, ClassLearner, check_law_size, pure_privacy, scores
from .worst_case import finite_class_failure, likely_counts, log_count

T = TypeVar("T")


class ExponentialLearner(ClassLearner):
    """Return concept h with probability proportional to exp(epsilon q(S, h) / 2), q = examples labelled correctly.

    Replacing one example moves every q by at most 1, so the learner is epsilon-differentially private. Codes are the
    concepts' numbers.

    Utility, with constants. q < max q - t has probability at most |C| e^(-epsilon t / 2) over the coins.

    - "empirical": if some concept is consistent, max q = n, and an error above alpha on the sample has probability at
      most |C| e^(-epsilon alpha n / 2): n >= 2/(alpha epsilon) ln(|C|/beta).
    - "realizable": n >= max(8/alpha, 4/(alpha epsilon)) ln(2|C|/beta). The second term makes the empirical error at
      most alpha/2 with probability 1 - beta/2; a concept with error above alpha shows an empirical error of at most
      alpha/2 with probability at most e^(-alpha n / 8) (multiplicative Chernoff), so the first term excludes all of
      them with probability 1 - beta/2.
    - "agnostic" (error above alpha more than that of the best concept h*): n >= max(8/alpha^2, 4/(alpha epsilon))
      ln(2|C|/beta). The second term makes the empirical excess at most alpha/2 with probability 1 - beta/2. By
      Hoeffding's inequality h* does not look worse than it is by alpha/4, and no concept with excess above alpha looks
      better than it is by alpha/4, each except with probability e^(-alpha^2 n / 8), at most |C| events in all.

    The slides ask for (ln|C| + ln(1/beta)) max(1/epsilon^2, 1/(alpha epsilon)). In the realizable setting the term
    1/epsilon^2 is not needed: for epsilon <= 1 the bound above is at most 8/(alpha epsilon) ln(2|C|/beta). For a large
    epsilon the slides' maximum falls below the 1/alpha that even a learner without privacy needs. The agnostic setting
    needs 1/alpha^2 at any epsilon.
    """

    epsilon: float

    claim_id: ClassVar[str] = "NIS-Generic"
    source: ClassVar[str] = f"{NIS}, finite concept classes"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "agnostic", "empirical")
    privacy = pure_privacy

    def __post_init__(self) -> None:
        _ = self.concepts
        check_positive("epsilon", self.epsilon)

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def _eligible(self, sample: Sample, correct: Integers) -> Bools:
        """Return which concepts (or cells of concepts) may be returned, given their scores."""
        return np.ones(len(correct), dtype=np.bool_)

    def _scores(self, sample: Sample) -> Integers:
        """Return how many examples each concept labels correctly, (size,), as runs count them."""
        return scores(self.concepts, sample)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the codes (size,) of independent runs; scores are exact, their maximum is subtracted before exp."""
        check_run(sample, self.domain, size)
        correct = self._scores(sample)
        return exponential.draw(correct, self._rate, rng, size, self._eligible(sample, correct))

    def law(self, sample: Sample) -> Law:
        """Return the softmax on all concepts; see `mechanisms.exponential.log_law` for the error bound."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        correct = scores(self.concepts, sample)
        log_prob, error = exponential.log_law(correct, self._rate, self._eligible(sample, correct))
        return Law(range(self.concepts.size), log_prob, error)

    def exact_law(self, sample: Sample, field: Field[T]) -> dict[int, T]:
        """Return weights exp(-rate (greatest score - score)) proportional to the law, 0 where not eligible.

        `field` makes numbers of rationals and their exponentials, as fine as the caller needs.
        """
        check_sample(sample, self.domain)
        correct = scores(self.concepts, sample)
        eligible = self._eligible(sample, correct)
        gaps = (int(correct[eligible].max()) - correct).tolist()
        # Many concepts have the same score, and an exponential in ball arithmetic is dear: one for each distinct gap.
        powers = {gap: field.exp(field.number(-Fraction(self._rate) * gap)) for gap in set(gaps)}
        return {code: powers[gap] if eligible[code] else field.number(0) for code, gap in enumerate(gaps)}

    def limit_law(self, sample: Sample, direction: Sample) -> Law:
        """Return the limit of the law along a ray; see `mechanisms.exponential.limit_logs`."""
        check_sample(direction, self.domain)
        check_law_size(self.concepts)
        log_prob, error = exponential.limit_logs(
            scores(self.concepts, sample), scores(self.concepts, direction), self._rate
        )
        return Law(range(self.concepts.size), log_prob, error)

    def supremum(self) -> Supremum | None:
        """Return the supremum, epsilon; None where the class is too large to list, or has a single function.

        See `finite.exponential.softmax_supremum` for the proof.
        """
        # The labels of all points are compared, in one block.
        if self.domain.size * self.concepts.size > BLOCK:
            return None
        return softmax_supremum(self.domain, self.concepts.evaluate(self.domain.points()), self._rate)

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return Pr[error > alpha] on n examples with a little more than alpha of the mass on a hard point; the case.

        k of the examples are at the hard one of two points, k ~ Bin(n, m) with m = 1.001 alpha, or less for alpha >
        1/2. A concept's weight is exp(rate * examples labelled rightly), relative to that of the right ones exp(-rate
        k), exp(-rate (n - k)) and exp(-rate n) for those wrong at the hard point, the easy one, and both; all these err
        by more than alpha. The sum over k leaves out tails beyond 40 standard deviations, whose mass no float holds.

        `InputError` if the class is too large to look for the points.
        """
        from scipy.special import expit

        rivals = self._rivals
        # An error of alpha itself is no failure.
        mass = alpha + min(alpha, 1 - alpha) / 1000
        k, chance = likely_counts(n, mass, 40, 40)
        # The examples on which each kind of rivals loses to the target.
        kinds = (rivals.hard, k), (rivals.easy, n - k), (rivals.both, n + 0 * k)
        wrong = np.logaddexp.reduce([log_count(count) - self._rate * lost for count, lost in kinds])
        failing = expit(wrong - log_count(rivals.right))
        return float(chance @ failing), f"mass {mass:.6g} on the first of two points; {rivals.case}"

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return a bound for all cases; see `finite.worst_case.finite_class_failure`."""
        return finite_class_failure(self.concepts.size - 1, self._rate, alpha, n)

    @property
    def _rivals(self) -> RivalCounts:
        """The target and points at which the most rivals, for each concept that is right, are wrong at one alone."""
        points = self.domain.points()
        check_law_size(self.concepts)
        ones = self.concepts.evaluate(points).astype(np.int64)
        labels = list(product((0, 1), repeat=2))
        # Two different points: one alone has no easy side.
        apart = ~np.eye(len(points), dtype=bool)
        joint = {(a, b): (ones == a).astype(np.int64).T @ (ones == b).astype(np.int64) for a, b in labels}
        # How many rivals are wrong at the first point alone, for each concept that is right at both.
        ratios = {
            (a, b): np.where((joint[a, b] > 0) & apart, joint[1 - a, b] / np.maximum(joint[a, b], 1), -1.0)
            for a, b in labels
        }
        a, b = max(ratios, key=lambda key: float(ratios[key].max()))
        hard, easy = (int(i) for i in np.unravel_index(int(ratios[a, b].argmax()), ratios[a, b].shape))
        kinds = ((a, b), (1 - a, b), (a, 1 - b), (1 - a, 1 - b))
        right, wrong, other, both = (int(joint[kind][hard, easy]) for kind in kinds)
        case = f"label {a} at {points[hard].tolist()}, label {b} at {points[easy].tolist()}"
        return RivalCounts(right, wrong, other, both, case)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta in a setting: "realizable", "agnostic" or "empirical"."""
        check_statement(alpha, beta, setting, ("realizable", "agnostic", "empirical"))
        # As a difference: the class may be larger than any float.
        log_size = math.log(self.concepts.size) - math.log(beta)
        if setting == "empirical":
            n = 2 / (alpha * self.epsilon) * log_size
        else:
            # Multiplicative Chernoff for small errors, Hoeffding for differences of errors; see the class.
            chernoff = 8 / alpha if setting == "realizable" else 8 / alpha**2
            n = max(chernoff, 4 / (alpha * self.epsilon)) * (math.log(2) + log_size)
        return UtilityClaim(alpha, beta, math.ceil(n), setting, self.claim_id, self.source)


def softmax_supremum(domain: Domain, labels: Labels, rate: float) -> Supremum | None:
    """Return the supremum 2 rate of weights mu(h) exp(rate q(h)), q = examples labelled rightly, mu > 0.

    Not above: q moves by D(h) in [-1, 1], and ln p_S(h)/p_S'(h) = rate D(h) + ln sum_g p_S(g) exp(-rate D(g))
    <= 2 rate. Reached: let g and h differ at x. S has t copies of every (z, g(z)) and one of (x, h(x)), S' has
    (x, g(x)) instead. Then D(h) = 1 and D = -1 on all codes of the function g, on which the law of S concentrates, as
    every other function is wrong t - 1 times more often at least. So the loss of h tends to rate + rate: with r the
    ratio of the measure elsewhere to that of g, times exp(-rate (t - 1)), it is at least 2 rate + ln(1 - r (1 -
    exp(-2 rate))). It is not attained: at finite n every code has mass.

    `labels` (size, points) are those that the concepts give to all points of the domain, `rate` is the inverse
    temperature. None where all concepts are one function.
    """
    # Another code may name the same function, and no example tells these apart.
    rival = int((labels != labels[0]).any(axis=1).argmax())
    if rival == 0:
        return None
    points = domain.points()
    ours = labels[0].astype(np.int64)
    x = int((labels[rival] != labels[0]).argmax())

    def ray(t: int) -> Pair:
        # t copies of every example of g, and one of h at x, whose label is flipped.
        more = np.full(len(points) + 1, t)
        more[-1] = 1
        places = [*range(len(points)), x]
        left, right = (domain.sample(points[places], [*ours, label], more) for label in (1 - ours[x], ours[x]))
        return Pair(left, right, "one function fits all examples but one")

    proof = (
        "softmax weights with D = q_S - q_S' in [-1, 1] lose at most twice the rate; with t copies of every example of "
        "a function and one of a rival's, which is replaced, the law tends to the function, where D = -1, while D = 1 "
        "at the rival"
    )
    return Supremum(2 * rate, proof, ray)


@dataclass(frozen=True)
class RivalCounts:
    """The numbers of concepts of a class that are right or wrong at a hard and at an easy point.

    `right` concepts are right at both, the target included; `hard`, `easy` and `both` ones are wrong at the hard point
    alone, at the easy one alone, and at both. `case` is the target and the points in words.
    """

    right: int
    hard: int
    easy: int
    both: int
    case: str
