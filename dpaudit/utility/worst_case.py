"""Sample complexities that a proof encloses: the sizes that a learner's worst case gives, verified apart."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from dpaudit.contract import HasFault, HasWorstCase, Learner, UtilityClaim, WorstFailure
from dpaudit.errors import InputError
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.finding import SizeCertificate, WorstCase
from dpaudit.utility.known import refuted

LOG = logging.getLogger(__name__)

BEYOND = 64
"""A proof whose size is so many times the theorem's n, or more, is not used."""
NUDGES = 3
"""By how many examples each size of a certificate is moved, at most, until it is verified."""


@dataclass(frozen=True)
class Known:
    """A verified certificate, the case that fails at its `fails` examples, and what is not proved."""

    certificate: SizeCertificate
    case: WorstCase
    proof: str
    missing: str

    @property
    def fails(self) -> int:
        """So many examples are too few."""
        return self.certificate.fails

    @property
    def suffices(self) -> int:
        """So many examples suffice for every case."""
        return self.certificate.suffices

    @property
    def meet(self) -> bool:
        """Whether n* is `suffices`."""
        return self.suffices == self.fails + 1


def known_size(learner: Learner, alpha: float, beta: float, claim: UtilityClaim) -> Known | None:
    """Return the verified ends of n* that a learner's proof gives; None where it has none, or not in this setting.

    A control inherits the proof of its honest base, and is not it.
    """
    if not isinstance(learner, HasWorstCase) or isinstance(learner, HasFault):
        return None
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
    except InputError as error:  # nothing is proved for such numbers
        LOG.info("no worst case of %s is known: %s", learner.id, error)
        return None


def first_size(holds: Callable[[int], bool], most: int, near: int = 1) -> int | None:
    """Return the least n >= 1 with a property that all larger ones share, from `near`; None if it is above `most`."""
    low, high = 0, near
    while not holds(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _verified(learner: HasWorstCase, alpha: float, beta: float, fails: int, suffices: int) -> Known | None:
    """Return the certificate of two sizes, moved apart a little until it is verified; None if that is in vain.

    As a last resort no case is said to fail: the proof may be another one at so few examples.
    """
    for nudge in range(NUDGES):
        for least in dict.fromkeys((max(0, fails - nudge), 0)):
            found = learner.worst_failure(alpha, suffices + nudge)
            certificate = SizeCertificate(
                family=found.family, numbers=dict(found.numbers), fails=least, suffices=suffices + nudge
            )
            if not (problem := refuted(certificate, alpha, beta)):
                shown = learner.worst_failure(alpha, max(1, least))
                return Known(certificate, _case(shown), found.proof, found.missing)
            LOG.warning("a certificate is refused: %s", problem)
    return None


def _case(found: WorstFailure) -> WorstCase:
    return WorstCase(
        concept=found.concept,
        points=[list(point) for point in found.points],
        probabilities=list(found.probabilities),
        noise=[],
        name=found.case or "none",
    )
