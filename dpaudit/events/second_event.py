"""Choose a second event to test, where what it may add is worth the error that it takes from the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpaudit.events.events import PlannedTest, PrefixRatio, confirmation_error
from dpaudit.events.rounding import steady

__all__ = ["SecondEvent", "choose_second_event"]

Array = NDArray[np.float64]

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""The shares of the error that are tried: 400 of them gained less than a thousandth more."""
DISTRUST = 1.5
"""By how much models' errors are taken for greater than they say: they know nothing of how wrong their priors are.
Audits of Laplace noise reached the same bounds to a percent with half and with twice as much."""


@dataclass(frozen=True)
class SecondEvent:
    """The first `length` atoms in the order of the main event, and the share of the error that they are tested with."""

    length: int
    share: float


def choose_second_event(
    main: int, models: Sequence[PrefixRatio], pooled: Array, test: PlannedTest
) -> SecondEvent | None:
    r"""Return the prefix, and its share of the error, that raises the expected greater of two bounds most, or None.

    The main event's bound has the error (1 - w) gamma, the second one's w gamma; by the union bound the greater of the
    two is a lower bound with error gamma, however the events overlap. Training leaves in doubt which is better: let the
    second be ahead by a normal amount with mean m, the difference of the expected bounds, and deviation s. As prefixes
    of one order are nested, and the ratio of a smaller event is that of the greater and its own deviation from it,
    s^2 = DISTRUST^2 |e_2^2 - e_1^2| with e_1 and e_2 the models' errors of the main and the second event. The greater
    bound then exceeds the main one, as it is with all the error, by

    .. math:: m \Phi(m / s) + s \varphi(m / s) - (z_{(1-w)\gamma} - z_{\gamma}) \sigma

    in expectation, with sigma the main event's `confirmation_error` and z the upper normal quantiles. This is the
    expected improvement of Bayesian optimisation, less its price.

    Parameters
    ----------
    main : int
        Atoms in the main event.
    models : sequence of PrefixRatio
        ln(p/q) of each of the m prefixes; their mean is what is believed.
    pooled : array, shape (m,)
        The mass of each prefix, both sides together; the last prefix is everything.
    test : PlannedTest
        The test to come.

    References
    ----------
    Mockus, Tiesis and Zilinskas (1978), The application of Bayesian methods for seeking the extremum.
    """
    ratio, error = (np.mean([getattr(model, name) for model in models], axis=0) for name in ("log_ratio", "error"))
    sampling = confirmation_error(ratio, pooled, test.runs)
    spread = DISTRUST * np.sqrt(np.abs(np.square(error) - error[main - 1] ** 2))
    possible = spread > 0
    possible[-1] = False  # everything shows nothing
    best, most = None, 0.0
    for share in SHARES:
        kept = ndtri((1 - share) * test.gamma) * sampling[main - 1]
        ahead = ratio + ndtri(share * test.gamma) * sampling - ratio[main - 1] - kept
        gain = steady(_mean_above(ahead[possible], spread[possible]) - (ndtri(test.gamma) * sampling[main - 1] - kept))
        if len(gain) and gain.max() > most:
            best, most = SecondEvent(int(np.flatnonzero(possible)[np.argmax(gain)]) + 1, share), float(gain.max())
    return best


def _mean_above(mean: Array, spread: Array) -> Array:
    """Return E[max(X, 0)] of normal X."""
    scaled = mean / spread
    above: Array = mean * ndtr(scaled) + spread * np.exp(-np.square(scaled) / 2) / math.sqrt(2 * math.pi)
    return above
