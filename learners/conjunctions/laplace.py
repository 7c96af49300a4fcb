"""Conjunctions by noisy elimination: the literals that few positive examples contradict, up to Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpaudit.contract import (
    CaseFamily,
    Distribution,
    Instance,
    Law,
    Pair,
    PrivacyClaim,
    Sample,
    Supremum,
    UtilityClaim,
    WorstFailure,
    later,
)

from ..arrays import Floats, Integers
from ..citations import STE
from ..domains import moving_negatives
from ..finite.counting import ClassLearner
from ..finite.worst_case import ABOVE, likely_counts
from ..mechanisms.composition import largest_repeated_epsilon
from ..mechanisms.log_laws import ULP, log_above, log_below
from ..parameters import (
    Built,
    check_integer,
    check_law,
    check_own_beta,
    check_positive,
    check_probability,
    check_run,
    check_statement,
)
from .concepts import LAW_DIMENSION, MAX_DIMENSION, Conjunctions, contradicted, decoded_mask

_PROOF = (
    "literals that are kept and contradict positive examples of mass above alpha together are at most d, or two that "
    "contradict each other: one of them has more than alpha/d; its count and its noise have exact tails"
)
_MISSING = (
    "the chance that d literals of mass alpha/d are all kept, in the place of that of any one, or a case in which one "
    "is enough"
)


def contradictions(sample: Sample) -> Integers:
    """Return for each of the 2 d literals how many positive examples contradict it."""
    positive = sample.labels == 1
    return np.asarray(
        contradicted(sample.points[positive]).astype(np.int64).T @ sample.counts[positive], dtype=np.int64
    )


@dataclass(frozen=True)
class ConjunctionLaplace(ClassLearner):
    """Delete the literals whose noisy count of contradicting positive examples is above a threshold.

    Each of the 2 d counts gets noise Lap(2 d / epsilon); a literal is deleted if its noisy count exceeds
    (2 d / epsilon) ln(2 d / beta). Replacing an example moves each count by at most 1, so each is epsilon/(2 d)-private
    and the learner epsilon-differentially private; x replaced by its complement, both positive, moves all of them.

    With a delta each count is e-private for the larger e that the optimal composition theorem allows 2 d calls
    (`mechanisms.composition`), of the order of epsilon/sqrt(d ln(1/delta)): the noise is Lap(1/e), the threshold
    (1/e) ln(2 d / beta), and the sample size grows like d^1.5 instead of d^2.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables.
    epsilon : float
        The privacy claim, > 0.
    beta : float
        In (0, 1): with probability 1 - beta no noise exceeds the threshold in absolute value.
    delta : float, optional
        None or 0: basic composition, pure privacy. In (0, 1): the claim's delta, for optimal composition.
    """

    dimension: int
    epsilon: float
    beta: float
    delta: float | None = later(None)

    id: ClassVar[str] = "conjunction-laplace"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.05}, n=4)
    concepts = Built(Conjunctions)
    decode = decoded_mask

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1)
        check_positive("epsilon", self.epsilon)
        check_probability("beta", self.beta)
        if self.delta is not None and self.delta != 0:
            check_probability("delta", self.delta)

    @property
    def privacy(self) -> PrivacyClaim:
        """(epsilon, delta)-differential privacy under replacement of one example; pure without a delta."""
        claim = "STE-Conj1-Delta" if self.delta else "STE-Conj1"
        return PrivacyClaim(self.epsilon, self.delta or 0.0, claim_id=claim, source=f"{STE}, private algorithm")

    @property
    def noise_scale(self) -> float:
        """The scale of the noise that the claim needs, 1/e."""
        if not self.delta:
            # 2 d counts, each moved by at most 1, share epsilon by basic composition.
            return 2 * self.dimension / self.epsilon
        return 1 / largest_repeated_epsilon(self.epsilon, self.delta, 2 * self.dimension)

    @property
    def _threshold(self) -> float:
        """The noisy count above which a literal is deleted."""
        return self.noise_scale * math.log(2 * self.dimension / self.beta)

    @property
    def _scale(self) -> float:
        return self.noise_scale

    def _noise(self, rng: np.random.Generator, size: int) -> Iterable[Floats]:
        """Return for each literal the noise (size,) of its count in every run."""
        return (rng.laplace(0.0, self._scale, size) for _ in range(2 * self.dimension))

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the masks (size,) of the literals kept in independent runs; Python's integers from 32 variables on."""
        check_run(sample, self.domain, size)
        # A mask has a bit for each of the 2 d literals.
        kind: type = np.int64 if self.dimension <= MAX_DIMENSION else object
        codes: NDArray[Any] = np.zeros(size, dtype=kind)
        for literal, (count, noise) in enumerate(zip(contradictions(sample), self._noise(rng, size), strict=True)):
            # A literal is kept unless its noisy count exceeds the threshold.
            codes |= (count + noise <= self._threshold).astype(kind) << literal
        if kind is object:
            return [int(code) for code in codes]
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on all 4^d masks: the product over the literals of Pr[kept] or Pr[deleted].

        With z = (threshold - count) / scale, Pr[deleted] = Pr[Lap(1) > z]. Both terms of z have a few roundings, so the
        error of z is at most 2^-52 (5 t + 3 c + 1) for threshold/scale = t and count/scale = c, which moves each
        logarithm by no more than itself; the tails add 2^-52 (t + c + 8) and the sum of the 2 d logarithms rounds by
        2^-53 times 2 d times the sum of their sizes.
        """
        check_law(self, sample, dimension=LAW_DIMENSION)
        counts = contradictions(sample).astype(np.float64)
        z = (self._threshold - counts) / self._scale
        deleted, kept = self._log_tails(z)
        log_prob = np.zeros(1)
        for low, high in zip(deleted, kept, strict=True):
            # Doubling from the lowest bit: the masks without this literal, then those with it.
            log_prob = np.concatenate([log_prob + low, log_prob + high])
        sizes = np.maximum(np.where(np.isfinite(deleted), -deleted, 0), np.where(np.isfinite(kept), -kept, 0)).sum()
        # The bound of the docstring, of all literals together.
        per_literal = 6 * self._threshold / self._scale + 4 * counts / self._scale + 9
        error = ULP * float(per_literal.sum() + self.dimension * sizes)
        return Law(range(4**self.dimension), log_prob, error)

    def _log_tails(self, z: Floats) -> tuple[Floats, Floats]:
        """Return ln Pr[deleted] and ln Pr[kept] of every literal."""
        return log_above(z), log_below(z)

    def supremum(self) -> Supremum | None:
        """Return the supremum, epsilon, attained: a positive example is replaced by its complement. None with a delta.

        Not above: the claim. With t other copies of x = 0, the d literals that x contradicts have t + 1 contradictions
        and then t, far above the threshold, the other d none and then 1, below it. The output that keeps the first
        half, which is in the tail of their noise, and deletes the second, in the tail of theirs, has the ratio
        exp(epsilon/(2 d)) for each of the 2 d literals.
        """
        if self.delta:
            return None

        def ray(t: int) -> Pair:
            zeros = [0] * self.dimension
            ones = [1] * self.dimension
            # The d literals v_i are contradicted by t + 1 examples and then by t; the d negations by none and then by
            # one.
            alike = self.domain.sample([zeros], [1], [t + 1])
            return Pair(alike, self.domain.sample([zeros, ones], [1, 1], [t, 1]), "an example and its complement")

        proof = "x replaced by its complement moves all 2 d counts by 1, each in a tail of its noise"
        return Supremum(self.epsilon, proof, ray)

    def symmetries(self) -> list[Integers]:
        """Return generators of the renamings of literals and of the permutations of negative examples."""
        return [*self.concepts.symmetries(), *moving_negatives(self.domain.size)]

    def worst_targets(self, alpha: float) -> list[tuple[int, Distribution, str]]:
        """Return the target that is always 1, and d points each of which one literal v_i alone refuses.

        Each has a little more than alpha/d of the mass, and 1 .. 1 the rest: all v_i must be kept for a failure.
        """
        d = self.dimension
        each = alpha * (1 + ABOVE) / d
        points = np.vstack([1 - np.eye(d, dtype=np.int64), np.ones((1, d), dtype=np.int64)])
        law = Distribution(points, np.append(np.full(d, each), 1 - d * each), "each v_i wrong on a d-th of alpha")
        return [(0, law, f"mass {each:.6g} on each point with one 0, the rest on 1 .. 1; target without literals")]

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases.

        A literal of the target is deleted with probability r = exp(-threshold/scale)/2. If none is, the answer errs on
        positive examples alone, on the union of what the other literals that were kept contradict. If its mass exceeds
        alpha, one of these literals has more than alpha/d, for d >= 2: without a pair v_i, not v_i they are at most d,
        and of such a pair, which contradicts all positive examples, one has more than alpha/2. It is kept with
        probability at most K = E Pr[N + noise <= threshold], N ~ Bin(n, alpha/d). A target of k literals leaves
        2 d - k others: k r + (2 d - k) K in all, which is greatest for k = 0 or d. The constant 0 needs two literals
        that contradict each other, and fails with 2 r at most. (For d = 1, alpha/2 and 2 r.)
        """
        d = self.dimension
        size = max(2, d)
        counts, chance = likely_counts(n, alpha / size)
        gap = (self._threshold - counts) / self._scale
        keeps = min(1.0, float(chance @ np.exp(log_below(gap))) + max(0.0, 1 - float(chance.sum())))
        deleted = math.exp(float(log_above(np.array(self._threshold / self._scale))))
        upper = min(1.0, max(2 * d * keeps, d * keeps + size * deleted))
        numbers = {"dimension": d, "scale": self._scale, "threshold": self._threshold}
        return WorstFailure(0.0, upper, CaseFamily.LITERALS, numbers, _PROOF, _MISSING)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size.

        "empirical" is the lecture's: on examples labelled by a conjunction, with probability 1 - b over the noise (b
        the learner's own `beta`) no literal of the target is deleted, and each kept literal is contradicted by at most
        (4 d/epsilon) ln(2 d/b) positive examples, so n >= (8 d^2/(alpha epsilon)) ln(2 d/b) gives error at most alpha.
        With a delta 2 d/epsilon is 1/e: n >= (4 d/(alpha e)) ln(2 d/b).
        The noise of a given learner fails with probability up to b at any n, so beta must be at least b.

        "realizable": the same at alpha/2, that is n >= (16 d^2/(alpha epsilon)) ln(2 d/b), and every one of the 3^d + 1
        functions with error above alpha shows an empirical error above alpha/2, except with probability
        (3^d + 1) e^(-alpha n / 8) (multiplicative Chernoff), which is at most beta - b once
        n >= (8/alpha) ln((3^d + 1)/(beta - b)). So beta must exceed b.

        `InputError` if `beta` is below the learner's own (or equal to it, where the setting is "realizable").
        """
        check_statement(alpha, beta, setting, self.settings)
        # The noise of a given learner fails as often at any n.
        what = "this learner's noise exceeds its threshold"
        check_own_beta(beta, self.beta, what, strict=setting == "realizable")
        # The lecture's size; with a delta 2 d/epsilon in it is 1/e.
        noise = 8 * self.dimension**2 / (alpha * self.epsilon)
        if self.delta:
            noise = 4 * self.dimension / alpha * self.noise_scale
        n = noise = noise * math.log(2 * self.dimension / self.beta)
        if setting == "realizable":
            n = max(2 * noise, 8 / alpha * (math.log(self.concepts.size) - math.log(beta - self.beta)))
        return UtilityClaim(alpha, beta, math.ceil(n), setting, self.privacy.claim_id, f"{STE}, private algorithm")


LEARNERS = (ConjunctionLaplace,)
