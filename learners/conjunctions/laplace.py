"""Conjunctions by noisy elimination: the literals that few positive examples contradict, up to Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpaudit.contract import InputError, Instance, Law, Pair, PrivacyClaim, Sample, Supremum, UtilityClaim
from learners.arrays import Floats, Integers
from learners.citations import STE
from learners.conjunctions.base import LAW_DIMENSION, EliminationLearner
from learners.conjunctions.concepts import MAX_DIMENSION, contradicted
from learners.inputs import check_run, check_sample
from learners.mechanisms.laplace import log_above, log_below
from learners.mechanisms.log_laws import ULP
from learners.parameters import check_integer, check_law_limit, check_positive, check_probability, check_statement

__all__ = ["LEARNERS", "ConjunctionLaplace", "contradictions"]


def contradictions(sample: Sample) -> Integers:
    """Return for each of the 2 d literals how many positive examples contradict it."""
    positive = sample.labels == 1
    return np.asarray(
        contradicted(sample.points[positive]).astype(np.int64).T @ sample.counts[positive], dtype=np.int64
    )


@dataclass(frozen=True)
class ConjunctionLaplace(EliminationLearner):
    """Delete the literals whose noisy count of contradicting positive examples is above a threshold.

    Each of the 2 d counts gets noise Lap(2 d / epsilon); a literal is deleted if its noisy count exceeds
    (2 d / epsilon) ln(2 d / beta). Replacing an example moves each count by at most 1, so each is epsilon/(2 d)-private
    and the learner epsilon-differentially private; x replaced by its complement, both positive, moves all of them.

    Parameters
    ----------
    dimension : int
        Number d of Boolean variables, at most 31.
    epsilon : float
        The privacy claim, > 0.
    beta : float
        In (0, 1): with probability 1 - beta no noise exceeds the threshold in absolute value.
    """

    dimension: int
    epsilon: float
    beta: float

    id: ClassVar[str] = "conjunction-laplace"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "beta": 0.05}, n=4)

    def __post_init__(self) -> None:
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)
        check_positive("epsilon", self.epsilon)
        check_probability("beta", self.beta)

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one example."""
        return PrivacyClaim(self.epsilon, claim_id="STE-Conj1", source=f"{STE}, private algorithm")

    @property
    def _threshold(self) -> float:
        """The noisy count above which a literal is deleted."""
        return 2 * self.dimension / self.epsilon * math.log(2 * self.dimension / self.beta)

    @property
    def _scale(self) -> float:
        """The scale of the noise."""
        return 2 * self.dimension / self.epsilon

    def _noise(self, literal: int, rng: np.random.Generator, size: int) -> Floats:
        """Return the noise (size,) of one literal's count in every run."""
        return rng.laplace(0.0, self._scale, size)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers:
        """Return the masks (size,) of the literals kept in independent runs."""
        check_run(sample, self.domain, size)
        codes = np.zeros(size, dtype=np.int64)
        for literal, count in enumerate(contradictions(sample)):
            kept = count + self._noise(literal, rng, size) <= self._threshold
            codes |= kept.astype(np.int64) << literal
        return codes

    def law(self, sample: Sample) -> Law:
        """Return the law on all 4^d masks: the product over the literals of Pr[kept] or Pr[deleted].

        With z = (threshold - count) / scale, Pr[deleted] = Pr[Lap(1) > z]. Both terms of z have a few roundings, so the
        error of z is at most 2^-52 (5 t + 3 c + 1) for threshold/scale = t and count/scale = c, which moves each
        logarithm by no more than itself; the tails add 2^-52 (t + c + 8) and the sum of the 2 d logarithms rounds by
        2^-53 times 2 d times the sum of their sizes.
        """
        check_sample(sample, self.domain)
        check_law_limit("dimension", self.dimension, LAW_DIMENSION)
        counts = contradictions(sample).astype(np.float64)
        z = (self._threshold - counts) / self._scale
        deleted, kept = self._log_tails(z)
        log_prob = np.zeros(1)
        for low, high in zip(deleted, kept, strict=True):
            log_prob = np.concatenate([log_prob + low, log_prob + high])
        sizes = np.maximum(np.where(np.isfinite(deleted), -deleted, 0), np.where(np.isfinite(kept), -kept, 0)).sum()
        per_literal = 6 * self._threshold / self._scale + 4 * counts / self._scale + 9
        error = ULP * float(per_literal.sum() + self.dimension * sizes)
        return Law(range(4**self.dimension), log_prob, error)

    def _log_tails(self, z: Floats) -> tuple[Floats, Floats]:
        """Return ln Pr[deleted] and ln Pr[kept] of every literal."""
        return log_above(z), log_below(z)

    def supremum(self) -> Supremum:
        """Return the supremum, epsilon, attained: a positive example is replaced by its complement.

        Not above: the claim. With t other copies of x = 0, the d literals that x contradicts have t + 1 contradictions
        and then t, far above the threshold, the other d none and then 1, below it. The output that keeps the first
        half, which is in the tail of their noise, and deletes the second, in the tail of theirs, has the ratio
        exp(epsilon/(2 d)) for each of the 2 d literals.
        """

        def ray(t: int) -> Pair:
            zeros, ones = [0] * self.dimension, [1] * self.dimension
            alike = self.domain.sample([zeros], [1], [t + 1])
            return Pair(alike, self.domain.sample([zeros, ones], [1, 1], [t, 1]), "an example and its complement")

        proof = "x replaced by its complement moves all 2 d counts by 1, each in a tail of its noise"
        return Supremum(self.epsilon, proof, ray)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the sample size of the realizable claim; see `utility`."""
        return self.utility(alpha, beta).sample_size

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta with its sample size.

        "empirical" is the lecture's: on examples labelled by a conjunction, with probability 1 - b over the noise (b
        the learner's own `beta`) no literal of the target is deleted, and each kept literal is contradicted by at most
        (4 d/epsilon) ln(2 d/b) positive examples, so n >= (8 d^2/(alpha epsilon)) ln(2 d/b) gives error at most alpha.
        The noise of a given learner fails with probability up to b at any n, so beta must be at least b.

        "realizable": the same at alpha/2, that is n >= (16 d^2/(alpha epsilon)) ln(2 d/b), and every one of the 3^d + 1
        functions with error above alpha shows an empirical error above alpha/2, except with probability
        (3^d + 1) e^(-alpha n / 8) (multiplicative Chernoff), which is at most beta - b once
        n >= (8/alpha) ln((3^d + 1)/(beta - b)). So beta must exceed b.

        Raises
        ------
        InputError
            If `beta` is below the learner's own (or equal to it, where the setting is "realizable").
        """
        check_statement(alpha, beta, setting, self.settings)
        if beta < self.beta or (beta == self.beta and setting == "realizable"):
            least = "above" if setting == "realizable" else "at least"
            raise InputError(
                f"beta must be {least} {self.beta!r}, the probability with which this learner's noise exceeds its "
                f"threshold at any n; got {beta!r}. Build the learner with a smaller beta"
            )
        noise = 8 * self.dimension**2 / (alpha * self.epsilon) * math.log(2 * self.dimension / self.beta)
        n = noise
        if setting == "realizable":
            n = max(2 * noise, 8 / alpha * (math.log(self.concepts.size) - math.log(beta - self.beta)))
        return UtilityClaim(alpha, beta, math.ceil(n), setting, "STE-Conj1", f"{STE}, private algorithm")


LEARNERS = (ConjunctionLaplace,)
