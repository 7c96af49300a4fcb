"""Consistent learners of any finite class, not private, and the VC dimension by exact search, with what it bounds.

A third party learns its own class by deriving a frozen dataclass from `ConsistentLearner` that has the properties
`domain` and `concepts`.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from dpaudit.contract import FAIL, ConceptClass, InputError, Law, PrivacyClaim, Sample, UtilityClaim

from ..arrays import Exact, Integers, Labels
from ..citations import NIS
from ..parameters import check_integer, check_run, check_sample, check_setting, check_statement
from .counting import ClassLearner, check_law_size, point_law, scores


def occam_sample_size(log_size: float, alpha: float, beta: float) -> int:
    """Return ceil((ln|C| + ln(1/beta)) / alpha): enough for any consistent learner.

    A hypothesis with error above alpha is consistent with n examples with probability at most
    (1 - alpha)^n <= e^(-alpha n); there are at most |C| of them.
    """
    check_statement(alpha, beta)
    return math.ceil((log_size - math.log(beta)) / alpha)


class ConsistentLearner(ClassLearner):
    """Return the first concept that is consistent with the sample, `FAIL` if there is none. Not private.

    If the sample is labelled by a concept of the class and n >= (ln|C| + ln(1/beta)) / alpha, then
    Pr[error > alpha] <= beta. Codes are the concepts' numbers.
    """

    claim_id: ClassVar[str] = "NIS-Occam"
    source: ClassVar[str] = f"{NIS}, Occam's razor"
    settings: ClassVar[tuple[str, ...]] = ("realizable", "empirical")

    def __post_init__(self) -> None:
        _ = self.concepts

    @property
    def privacy(self) -> PrivacyClaim | None:
        """No claim: the output can change with certainty when one example does."""
        return None

    def _choose(self, sample: Sample) -> int:
        consistent = scores(self.concepts, sample) == sample.n
        return int(consistent.argmax()) if consistent.any() else FAIL

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> Integers | list[int]:
        """Return the same code `size` times; a list of integers where there are more than 2^63 concepts."""
        check_run(sample, self.domain, size)
        code = self._choose(sample)
        if self.concepts.size <= 2**63:
            return np.full(size, code, dtype=np.int64)
        return [code] * size

    def law(self, sample: Sample) -> Law:
        """Return the law on `FAIL` and all concepts: all mass on the first row of labels that equals the sample's."""
        check_sample(sample, self.domain)
        check_law_size(self.concepts)
        labels = self.concepts.evaluate(sample.points)
        equal = np.flatnonzero((labels == sample.labels).all(axis=1))
        return point_law(range(FAIL, self.concepts.size), int(equal[0]) if len(equal) else FAIL)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return ceil((ln|C| + ln(1/beta)) / alpha); see `occam_sample_size`."""
        return occam_sample_size(math.log(self.concepts.size), alpha, beta)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta, in the setting "realizable" or "empirical" (at any n)."""
        check_setting(setting, self.settings)
        size = self.sample_size(alpha, beta) if setting == "realizable" else 1
        return UtilityClaim(alpha, beta, size, setting, self.claim_id, self.source)

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: which concept is the first is not symmetric in general."""
        return []


# The most labels (concepts times points) that are searched.
MAX_LABELS = 2**22


def vc_dimension(points: Exact, concepts: ConceptClass) -> int:
    """Return the size of the largest subset of the points that the class shatters.

    Depth-first over subsets in increasing order: every subset of a shattered set is shattered, so a set that is not is
    never extended. A shattered set of s points needs 2^s concepts, which ends the search early where it is reached.
    Exponential in the answer; meant for small classes.

    `concepts` is any `ConceptClass`, for instance, `points` (m, k) where it is looked at: the whole domain for the VC
    dimension of the class. `InputError` if there are no points, or more than `MAX_LABELS` labels.
    """
    if len(points) == 0:
        raise InputError("points must hold at least one point, got none")
    if concepts.size * len(points) > MAX_LABELS:
        raise InputError(
            f"concepts times points must be at most {MAX_LABELS} for an exact search, got {concepts.size} concepts and "
            f"{len(points)} points; give fewer points for a lower bound"
        )
    return most_shattered(concepts.evaluate(points))


def most_shattered(labels: Labels) -> int:
    """Return the VC dimension of a class from its labels (concepts, points); see `vc_dimension`."""
    labels = np.unique(np.asarray(labels, dtype=np.int64), axis=0)
    # Of points with the same labels everywhere only one can be in a shattered set.
    columns = np.unique(labels, axis=1).T
    # A shattered set of s points needs 2^s concepts.
    most = int(math.log2(len(labels)))
    best = 0
    stack = [(0, 0, np.zeros(len(labels), dtype=np.int64))]
    while stack and best < most:
        size, start, patterns = stack.pop()
        best = max(best, size)
        for i in range(len(columns) - 1, start - 1, -1):
            # Each concept's labels on the chosen points, read as a binary number: shattered if all 2^(size + 1) occur.
            grown = 2 * patterns + columns[i]
            if len(np.unique(grown)) == 2 ** (size + 1):
                stack.append((size + 1, i + 1, grown))
    return best


def sauer_power_bound(n: int, d: int) -> float:
    """Return (e n / d)^d, an upper bound on sum_{i <= d} C(n, i), Sauer's, for n >= d >= 1."""
    check_integer("d", d, 1)
    check_integer("n", n, d)
    return (math.e * n / d) ** d


def upper_sample_size(d: int, alpha: float, beta: float) -> int:
    """Return max((4/alpha) log2(2/beta), (8 d/alpha) log2(13/alpha)), rounded up: enough for consistent learners.

    Blumer, Ehrenfeucht, Haussler and Warmuth, "Learnability and the Vapnik-Chervonenkis dimension", Journal of the ACM
    36 (1989), Theorem 2.1: any hypothesis of a class of VC dimension d >= 1 that is consistent with so many examples
    has error above alpha with probability at most beta.
    """
    check_integer("d", d, 1)
    check_statement(alpha, beta)
    return math.ceil(max(4 / alpha * math.log2(2 / beta), 8 * d / alpha * math.log2(13 / alpha)))


def lower_sample_size(d: int, alpha: float, beta: float) -> int:
    """Return a number of examples that every learner of a class of VC dimension d >= 1 needs.

    The least integer not below (1 - alpha)/alpha ln(1/(2 beta)) and, for d >= 2, alpha <= 1/8 and beta <= 1/100, not
    below (d - 1)/(32 alpha).

    The first holds for any class with two concepts that agree at one point and differ at another, randomised learners
    included: put mass just above alpha on the point of difference. With probability (1 - alpha)^n no example shows it,
    and then the learner errs on one of the two concepts with probability 1/2 at least; so (1 - alpha)^n / 2 <= beta is
    needed, where -ln(1 - alpha) <= alpha/(1 - alpha). The second is Ehrenfeucht, Haussler, Kearns and Valiant, "A
    general lower bound on the number of examples needed for learning", Information and Computation 82 (1989).
    """
    check_integer("d", d, 1)
    check_statement(alpha, beta)
    least = (1 - alpha) / alpha * math.log(1 / (2 * beta))
    if d >= 2 and alpha <= 1 / 8 and beta <= 1 / 100:
        least = max(least, (d - 1) / (32 * alpha))
    return max(1, math.ceil(least))
