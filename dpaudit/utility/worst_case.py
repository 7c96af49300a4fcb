"""Sample complexities that a proof encloses: the sizes that a learner's worst case gives, verified apart."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.contract import Grade, HasFault, HasWorstCase, Learner, UtilityClaim
from dpaudit.errors import InputError
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.finding import SizeCertificate, WorstCase
from dpaudit.utility.size_certificates import refuted

LOG = logging.getLogger(__name__)

# A proof whose size is so many times the theorem's n, or more, is not used.
BEYOND = 64
# By how many examples each size of a certificate is moved, at most, until it is verified.
NUDGES = 3


@dataclass(frozen=True)
class Bracket:
    """A size that fails (0 if none was shown to), a size that suffices (None if none), and the grade of both."""

    lower: int
    upper: int | None
    grade: Grade


@dataclass(frozen=True)
class ProvedSize:
    """A verified certificate, the case that fails at its `fails` examples, and what is not proved."""

    certificate: SizeCertificate
    case: WorstCase
    proof: str
    missing: str

    @property
    def bracket(self) -> Bracket:
        """The sizes of the certificate."""
        return Bracket(self.certificate.fails, self.certificate.suffices, Grade.EXACT)


def known_size(learner: Learner, alpha: float, beta: float, claim: UtilityClaim) -> ProvedSize | None:
    """Return the verified ends of n* that a learner's proof gives; None if it has no proof in this setting.

    A control inherits the proof of its honest base, to which it does not apply.
    """
    if not isinstance(learner, HasWorstCase) or isinstance(learner, HasFault):
        return None
    # The proof speaks of the setting of the learner's own theorem.
    own = stated_claim(learner, alpha, beta)
    if own is None or own.setting != claim.setting:
        return None
    try:
        suffices = first_size(lambda n: learner.worst_failure(alpha, n).upper <= beta, BEYOND * claim.sample_size)
        if suffices is None:
            return None
        fails = suffices - 1
        if not learner.worst_failure(alpha, fails).lower > beta:
            # The rate of the proof's own case falls with n: the first n that does not fail comes after the last.
            fails = (first_size(lambda n: learner.worst_failure(alpha, n).lower <= beta, suffices) or 1) - 1
        return _verified(learner, alpha, beta, fails, suffices)
    # Nothing is proved for such numbers.
    except InputError as error:
        LOG.info("no worst case of %s is known: %s", learner.id, error)
        return None


def first_size(
    holds: Callable[[int], bool], most: int, near: int = 1, *, low: int = 0, ratio: float = 1.0
) -> int | None:
    """Return the least n > `low` with a property that all larger ones share, from `near`; None if it is above `most`.

    A larger n may be returned, by that ratio at most.
    """
    high = near
    while not holds(high):
        if high >= most:
            return None
        low = high
        high = min(2 * high, most)
    # The property fails at `low` and holds at `high`.
    while high - low > max(1, math.floor((ratio - 1) * high)):
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def _verified(learner: HasWorstCase, alpha: float, beta: float, fails: int, suffices: int) -> ProvedSize | None:
    """Return the certificate of two sizes, moved apart a little until it is verified; None if that is in vain.

    As a last resort no case is said to fail: the proof may be another one at so few examples.
    """
    # The learner computes its sizes in floating point, so that one may be off by an example.
    for nudge in range(NUDGES):
        for least in dict.fromkeys((max(0, fails - nudge), 0)):
            found = learner.worst_failure(alpha, suffices + nudge)
            certificate = SizeCertificate(
                family=found.family, numbers=dict(found.numbers), fails=least, suffices=suffices + nudge
            )
            if not (problem := refuted(certificate, alpha, beta)):
                shown = learner.worst_failure(alpha, max(1, least))
                points = [list(point) for point in shown.points]
                weights = list(shown.probabilities)
                case = WorstCase(
                    concept=shown.concept, points=points, probabilities=weights, noise=[], name=shown.case or "none"
                )
                return ProvedSize(certificate, case, found.proof, found.missing)
            LOG.warning("a certificate is refused: %s", problem)
    return None
