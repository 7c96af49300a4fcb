"""The problem that a utility audit sets: the samples that a learner is given, and the exact errors that fail it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import (
    FIXED_SETTINGS,
    ConceptClass,
    Distribution,
    HasLaw,
    Hypothesis,
    Law,
    Learner,
    Membership,
    Sample,
    Solves,
)
from dpaudit.errors import InputError, blamed
from dpaudit.utility.hard_cases import HardCase
from dpaudit.utility.interval import size_of

# Relative rounding that an error may carry: an error within 16 ulps above alpha counts as equal to alpha.
SLACK = 16 * 2.0**-52
# Up to this many labels (concepts times points) the best concept is found by trying all.
MAX_LABELS = 2**24
# A share that exceeds an integer by less than this, relatively, is that integer: ten times 0.1 is one.
_ROUNDING = Fraction(1, 2**40)

Floats = NDArray[np.float64]
Points = NDArray[np.integer]
# Decides whether an output of a learner is a failure.
Judge = Callable[[Hashable], bool]


@dataclass(frozen=True, eq=False)
class Problem:
    """The sample that a learner is given, and the failures that are counted there.

    Points of the distribution are labelled by the concept; in the setting "agnostic" the label of point i is wrong with
    probability `noise[i]`. `of_class` is whether the concept is one of the learner's class.
    """

    learner: Learner
    concept: Hypothesis
    distribution: Distribution
    noise: Floats | None
    alpha: float
    setting: str
    of_class: bool = True

    @cached_property
    def best(self) -> float:
        """The error of the best concept of the class, over which the excess is counted; 0 without noise."""
        if self.noise is None:
            return 0.0
        return best_error(self.learner.concepts, self.distribution, self.truth, self.noise, of_class=self.of_class)

    @cached_property
    def truth(self) -> NDArray[np.uint8]:
        """The concept's labels of the points."""
        return labels_of(self.concept, self.distribution.points)

    @property
    def fixed(self) -> bool:
        """Whether all runs are on one sample."""
        return self.setting in FIXED_SETTINGS

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        """Return a sample of n independent examples.

        With noise, point x_i gets the label c(x_i), and with probability eta_i the other one, by one multinomial draw
        and one binomial draw a point: the cost does not depend on n.
        """
        if self.noise is None:
            return self.learner.domain.draw(self.concept, self.distribution, n, rng)
        # Counts of points and of flips have the law of n examples drawn one by one.
        counts = rng.multinomial(n, self._weights)
        flipped = rng.binomial(counts, self.noise)
        return self.sample_of(np.concatenate([counts - flipped, flipped]))

    def sample(self, n: int) -> Sample:
        """Return the fixed sample of n examples, labelled without noise, that `apportioned` makes."""
        return self.sample_of(apportioned(self.distribution.probabilities, n))

    def sample_of(self, counts: NDArray[np.int64]) -> Sample:
        """Return the sample with so many examples of each point, or of each with either label, the right one first.

        Whether an example is public depends on the point alone, where the distribution has flags.
        """
        law = self.distribution
        copies = len(counts) // len(self.truth)
        points = np.concatenate([law.points] * copies)
        labels = np.concatenate([self.truth, 1 - self.truth][:copies])
        if law.public is None:
            return self.learner.domain.sample(points, labels, counts)
        return self.learner.domain.sample(points, labels, counts, np.concatenate([law.public] * copies))

    @property
    def _weights(self) -> Floats:
        weights = np.asarray(self.distribution.probabilities, dtype=np.float64)
        return np.asarray(weights / weights.sum())

    @property
    def chances(self) -> Floats:
        """The probabilities of the examples that `sample_of` takes the counts of, (m,), with noise (2 m,)."""
        if self.noise is None:
            return self._weights
        return np.concatenate([self._weights * (1 - self.noise), self._weights * self.noise])

    def judge(self, sample: Sample | None = None) -> Judge:
        """Return what decides whether an output fails, each distinct one once: on the population or a fixed sample.

        An output fails that is no solution; or that has no hypothesis, or one whose error is too large.
        """
        learner = self.learner
        most = self.alpha
        if sample is None:
            most = self.best + self.alpha

        # Many runs return the same output, and to judge one takes a look at all points.
        @cache
        def fails(output: Hashable) -> bool:
            if self.setting == "solution" and sample is not None:
                # `audit.read_setting` has refused this setting for other learners.
                assert isinstance(learner, Solves)
                return not learner.solves(output, sample)
            hypothesis = learner.decode(output)
            if hypothesis is None:
                return True
            if sample is not None:
                return exceeds(empirical_error(hypothesis, sample), most)
            return exceeds(population_error(hypothesis, self.distribution, self.truth, self.noise), most)

        # A scalar of NumPy and the number of Python that equals it are one output.
        return lambda output: fails(output.item() if isinstance(output, np.generic) else output)


def apportioned(probabilities: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Divide n examples among points in proportion to their probabilities.

    Every point but the likeliest gets its share n p_i rounded up, so that a point with a little more than alpha of the
    probability has more than alpha n examples; the likeliest gets the rest. Where that is not enough, point i gets
    floor(n P_i) - floor(n P_{i-1}) for the cumulative probabilities P. The counts, of shape (m,), sum to n.
    """
    # In fractions, so that n p_i is rounded up only where it is no integer.
    weights = [Fraction(float(p)) for p in probabilities]
    total = sum(weights)
    likeliest = max(range(len(weights)), key=weights.__getitem__)
    counts = [math.ceil(n * w / total * (1 - _ROUNDING)) for w in weights]
    counts[likeliest] += n - sum(counts)
    # With few examples the other points can take all of them by rounding up.
    if counts[likeliest] <= 0:
        ends = [math.floor(n * reached / total) for reached in itertools.accumulate(weights, initial=Fraction(0))]
        counts = [after - before for before, after in itertools.pairwise(ends)]
    return np.array(counts, dtype=np.int64)


def exceeds(error: float, alpha: float) -> bool:
    """Return whether an error is greater than alpha by more than rounding.

    Sums are correctly rounded (`math.fsum`), but their terms are floats: three points of probability 0.1
    weigh 0.30000000000000004, and a claim about alpha = 0.3 must not fail for that.
    """
    return error > alpha * (1 + SLACK)


def labels_of(hypothesis: Hypothesis, points: Points) -> NDArray[np.uint8]:
    """Return the labels of the points, after checking that there is one in {0, 1} for each."""
    with blamed(f"predict of a {type(hypothesis).__name__}"):
        labels = np.asarray(hypothesis.predict(points))
    if labels.shape != (len(points),) or not np.isin(labels, (0, 1)).all():
        raise InputError(
            f"predict of {hypothesis!r} must return {len(points)} labels in {{0, 1}}, "
            f"got an array of shape {labels.shape} and type {labels.dtype}"
        )
    return labels.astype(np.uint8)


def population_error(
    hypothesis: Hypothesis, distribution: Distribution, truth: NDArray[np.uint8], noise: Floats | None = None
) -> float:
    """Return the probability that a hypothesis gives a random point another label than the point then gets.

    The concept gives point x_i, of probability p_i, the label c(x_i) = truth[i]; with probability eta_i = noise[i] in
    [0, 1], by default 0, it gets the other one. The error is the sum of p_i (1 - eta_i) over h(x_i) != c(x_i) and of
    p_i eta_i over the other points, divided by the sum of all p_i; each sum is correctly rounded.
    """
    wrong = labels_of(hypothesis, distribution.points) != truth
    return _mean(np.asarray(distribution.probabilities, dtype=np.float64), _shares(wrong, noise))


def _shares(wrong: NDArray[np.bool_], noise: Floats | None) -> Floats:
    """Return for every point the probability that the hypothesis is wrong there."""
    if noise is None:
        return wrong.astype(np.float64)
    return np.where(wrong, 1 - noise, noise)


def _mean(weights: Floats, values: Floats) -> float:
    return math.fsum((weights * values).tolist()) / math.fsum(weights.tolist())


def best_error(
    concepts: ConceptClass, distribution: Distribution, truth: NDArray[np.uint8], noise: Floats, *, of_class: bool
) -> float:
    """Return the least population error of a concept of the class.

    If no point has the wrong label more often than the right one and the concept that labels is of the class, no
    concept is better than that one. Otherwise all are tried: in floating point first, then the near-best ones with
    correctly rounded sums. The arguments are as for `population_error`; `of_class` is whether `truth` are the labels of
    a concept of the class.

    Raises
    ------
    InputError
        If all concepts must be tried and there are too many.
    """
    weights = np.asarray(distribution.probabilities, dtype=np.float64)
    # No concept errs less on any point, so that the class need not be listed.
    if of_class and (noise <= 0.5).all():
        return _mean(weights, noise)
    size = size_of(concepts)
    if size is None or size * len(truth) > MAX_LABELS:
        raise InputError(
            "{concept} and {noise} must be of the class and at most 1/2 everywhere where the class has more "
            "than {most} concepts, so many that the best on {points} points cannot be found by trying all; it has "
            "{size}",
            names=("concept", "noise"),
            most=MAX_LABELS // len(truth),
            points=len(truth),
            size="more than can be counted" if size is None else size,
        )
    wrong = concepts.evaluate(distribution.points) != truth
    # The sums of a product of matrices are rounded: the near-best ones are summed again, exactly.
    rough = _shares(wrong, noise) @ weights / weights.sum()
    return min(_mean(weights, _shares(row, noise)) for row in np.unique(wrong[rough <= rough.min() + 1e-9], axis=0))


def nearest_error(concepts: ConceptClass, concept: Hypothesis, law: Distribution) -> float | None:
    """Return the least error of a concept of the class against labels that a hypothesis gives to the points.

    0 where the hypothesis is of the class; None where the class neither knows its own nor can be listed on the points.
    """
    if isinstance(concepts, Membership) and concepts.has(concept):
        return 0.0
    size = size_of(concepts)
    if size is None or size * len(law.points) > MAX_LABELS:
        return None
    truth = labels_of(concept, law.points)
    return best_error(concepts, law, truth, np.zeros(len(truth)), of_class=False)


def empirical_error(hypothesis: Hypothesis, sample: Sample) -> float:
    """Return the fraction of a sample's examples that a hypothesis labels wrongly."""
    wrong = labels_of(hypothesis, sample.points) != sample.labels
    return int(sample.counts[wrong].sum()) / int(sample.counts.sum())


# The failure rate on one case: exact sums, or means over samples of exact conditional rates.


# Sums over up to this many count vectors are made instead of drawing samples.
MAX_VECTORS = 4000
# On more points than these there are too many count vectors.
MAX_SUPPORT = 4
# The probability that each one of the nested ranges of counts leaves out, on either side.
TAIL = 1e-12
# The number of samples whose conditional rates are remembered.
MAX_KNOWN = 2**14


class CaseFailure:
    """Pr[a learner fails] on n examples of one case, where failing is an error above alpha or no hypothesis.

    Where the learner has a law, the rate given the sample is the law's mass of the outputs that fail, without the
    variance that runs would add; else it is the indicator that one run fails.
    """

    def __init__(self, learner: Learner, case: HardCase, alpha: float, setting: str) -> None:
        concept = case.target(learner.concepts)
        self._problem = Problem(learner, concept, case.distribution, case.noise, alpha, setting)
        self._law: Callable[[Sample], Law] | None = None
        if isinstance(learner, HasLaw):
            self._law = learner.law
        self._known: dict[Sample, float] = {}
        self._masks: dict[range, NDArray[np.bool_]] = {}
        self._judge = self._problem.judge()

    def draws(self, n: int, rng: np.random.Generator, size: int) -> Floats:
        """Return the failure rates given each of `size` independent samples of n examples, (size,)."""
        problem = self._problem
        if problem.fixed:
            sample = problem.sample(n)
            return np.array([self._given(sample, rng, problem.judge(sample)) for _ in range(size)])
        return np.array([self._given(problem.draw(n, rng), rng, self._judge) for _ in range(size)])

    def exact(self, n: int, most: int = MAX_VECTORS) -> tuple[float, float] | None:
        """Return an interval that contains the failure rate, from a sum over up to `most` likely samples; None if more.

        Count vectors that are left out, below 1e-9 together, widen it; so may rounding, by 1e-9 relatively.
        """
        if self._law is None:
            return None
        problem = self._problem
        try:
            if problem.fixed:
                sample = problem.sample(n)
                rate = self._mass(self._law(sample), problem.judge(sample))
                left_out = 0.0
            else:
                vectors = _likely_counts(n, problem.chances, most)
                if vectors is None:
                    return None
                law = self._law
                samples = ((problem.sample_of(counts), p) for counts, p in vectors)
                rate = sum(p * self._mass(law(sample), self._judge) for sample, p in samples)
                left_out = max(0.0, 1 - sum(p for _, p in vectors))
        # The law of so large a sample is not offered.
        except InputError:
            return None
        return max(0.0, rate * (1 - 1e-9)), min(1.0, rate * (1 + 1e-9) + left_out)

    def _given(self, sample: Sample, rng: np.random.Generator, judge: Judge) -> float:
        """Return the failure rate given a sample, by the law if there is one, else the failure of one run."""
        try:
            if self._law is not None:
                if sample in self._known:
                    return self._known[sample]
                rate = self._mass(self._law(sample), judge)
                # The law is a function of the sample alone, so that what is remembered stays right.
                if len(self._known) < MAX_KNOWN:
                    self._known[sample] = rate
                return rate
        # The law of so large a sample is not offered, and is not asked for again.
        except InputError:
            self._law = None
        return float(judge(self._problem.learner.run(sample, rng, 1)[0]))

    def _mass(self, law: Law, judge: Judge) -> float:
        """Return the probability under a law of the outputs that fail."""
        # On the population, equal ranges of codes have the same failures whatever the sample is.
        failing = None
        key = law.atoms if isinstance(law.atoms, range) and judge is self._judge else None
        if key is not None:
            failing = self._masks.get(key)
        if failing is None:
            failing = np.fromiter((judge(atom) for atom in law.atoms), dtype=np.bool_, count=len(law.atoms))
            if key is not None:
                self._masks[key] = failing
        return float(np.exp(np.asarray(law.log_prob)[failing]).sum())


def _likely_counts(n: int, weights: Floats, most: int) -> list[tuple[NDArray[np.int64], float]] | None:
    """Return the likely count vectors of a multinomial draw with their probabilities; None if there are too many."""
    # A point without probability is never drawn, and would only add a dimension.
    drawn = np.flatnonzero(weights)
    if len(drawn) > MAX_SUPPORT:
        return None
    found = list(itertools.islice(_nested(n, weights[drawn], 1.0), most + 1))
    if len(found) > most:
        return None
    vectors = np.zeros((len(found), len(weights)), dtype=np.int64)
    vectors[:, drawn] = [counts for counts, _ in found]
    return [(counts, probability) for counts, (_, probability) in zip(vectors, found, strict=True)]


def _nested(n: int, weights: Floats, reached: float) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield likely counts of the points with these weights, one point after the other."""
    from scipy.stats import binom

    if len(weights) == 1:
        yield (n,), reached
        return
    # All count vectors below here together are less likely than what a range leaves out.
    if reached < TAIL or not weights.sum() > 0:
        return
    share = min(1.0, float(weights[0] / weights.sum()))
    least = int(binom.ppf(TAIL, n, share))
    most = int(binom.isf(TAIL, n, share))
    counts = np.arange(max(0, least), most + 1)
    for count, probability in zip(counts.tolist(), binom.pmf(counts, n, share).tolist(), strict=True):
        for rest, joint in _nested(n - count, weights[1:], reached * probability):
            yield (count, *rest), joint
