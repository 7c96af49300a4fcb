"""T-fold composition of a learner: bounds on epsilon and delta from its exact laws.

The truth lies in a bracket. From above, the dominating pair of all pairs of neighbours (see `dominating`), composed
with itself: it bounds every adaptive composition. From below, the best of a few single pairs of neighbours, each
composed with itself: T runs of the learner on one sample, or on its neighbour, are one of the compositions covered.

The pair with the greatest epsilon is no upper bound. At T = 1 it has the greatest loss, but what adds up over many runs
is the mean of the loss (the Kullback-Leibler divergence), which another pair can have ten times as large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InputError
from dpaudit.exact.convolution import LARGEST_TIMES, LossSum
from dpaudit.exact.dominating import MAX_LOSS, LossLaw, dominating_law
from dpaudit.exact.profiles import UNBOUNDED, LossProfiles
from dpaudit.record import Extended, Frozen, NonNegative, Probability, Size

Floats = NDArray[np.float64]

_ULP = 2.0**-52
_TABLE_DELTAS = (0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.1)
_TABLE_EPSILONS = 9


@dataclass(frozen=True, eq=False)
class Composition:
    """The privacy cost of T runs of a learner on the same sample, over the pairs of neighbours that were audited.

    Parameters
    ----------
    times : int
        T.
    basic : float
        T times the learner's own epsilon, an upper bound at delta = 0.
    pairs : tuple of int
        Numbers of the pairs of neighbours that give the lower ends.
    grade : {"exact", "numeric"}
        "exact" if the laws' errors are proved: then so are all bounds here.
    least : float
        The same less the error of the learner's epsilon: a lower bound at delta = 0.
    dominating : LossSum
        The composed dominating pair: the upper ends.
    witnesses : tuple of LossSum
        The composed pairs: the lower ends.
    epsilon_interval : (float, float) or None
        The bracket on epsilon at the delta asked for.
    delta_interval : (float, float) or None
        The bracket on delta at the epsilon asked for.
    """

    times: int
    basic: float
    pairs: tuple[int, ...]
    grade: str
    least: float
    dominating: LossSum = field(repr=False)
    witnesses: tuple[LossSum, ...] = field(repr=False)
    epsilon_interval: tuple[float, float] | None = None
    delta_interval: tuple[float, float] | None = None

    def epsilon_upper(self, delta: float) -> float:
        """Return an epsilon such that T runs are (epsilon, delta)-private on the pairs audited."""
        _check_delta(delta)
        if delta == 0:
            return self.basic
        return min(self.basic, self.dominating.epsilon(delta))

    def epsilon_lower(self, delta: float) -> float:
        """Return an epsilon below which T runs are not (epsilon, delta)-private, as some pair of neighbours shows."""
        _check_delta(delta)
        if delta == 0:
            return self.least
        return max(lower.epsilon(delta) for lower in self.witnesses)

    def delta_upper(self, epsilon: float) -> float:
        """Return a delta such that T runs are (epsilon, delta)-private on the pairs audited."""
        _check_epsilon(epsilon)
        if epsilon >= self.basic:
            return 0.0
        return self.dominating.delta(epsilon)

    def delta_lower(self, epsilon: float) -> float:
        """Return a delta below which T runs are not (epsilon, delta)-private, as some pair of neighbours shows."""
        _check_epsilon(epsilon)
        return max(lower.delta(epsilon) for lower in self.witnesses)


def compose(
    profiles: LossProfiles,
    times: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    grade: str = "numeric",
) -> Composition:
    """Return bounds on the privacy of `times` runs of a learner whose exact laws were audited.

    The upper bounds hold for every adaptive composition (each run may depend on the outputs of the earlier ones) over
    the pairs of neighbours that `profiles` cover, no others: over all samples of n examples only if those were
    enumerated. The lower bounds are attained by pairs of neighbours among them. All are proved, with laws of grade
    "exact": rounding of grids, transforms and logarithms is included, each to its side.

    Parameters
    ----------
    profiles : LossProfiles
        The laws of the pairs; a finding of `audit_law` has them as `profiles`.
    times : int
        The number of runs, 1 .. `LARGEST_TIMES`.
    epsilon, delta : float, optional
        The point at which to evaluate at once; the brackets become `delta_interval` and `epsilon_interval`.
    grade : {"exact", "numeric"}
        The grade of the laws, which profiles do not know.

    Raises
    ------
    InputError
        If a number is out of its range.
    """
    check_times(times)
    if epsilon is not None:
        _check_epsilon(epsilon)
    if delta is not None:
        _check_delta(delta)
    pairs = _worst_pairs(profiles)
    made = Composition(
        int(times),
        basic=times * (profiles.epsilon + profiles.epsilon_error) * (1 + 4 * _ULP),
        pairs=pairs,
        grade=grade,
        dominating=LossSum(dominating_law(profiles), int(times), upper=True),
        witnesses=tuple(LossSum(pair_law(profiles, pair), int(times), upper=False) for pair in pairs),
        least=times * max(0.0, profiles.epsilon - profiles.epsilon_error) * (1 - 4 * _ULP),
    )
    if delta is not None:
        made = replace(made, epsilon_interval=(made.epsilon_lower(delta), made.epsilon_upper(delta)))
    if epsilon is not None:
        made = replace(made, delta_interval=(made.delta_lower(epsilon), made.delta_upper(epsilon)))
    return made


def check_times(times: object, name: str = "times") -> None:
    """Raise `InputError`, by the parameter's name, unless so many runs can be composed."""
    if isinstance(times, bool) or not isinstance(times, int | np.integer) or not 1 <= times <= LARGEST_TIMES:
        raise InputError.of(name, times, f"an integer from 1 to {LARGEST_TIMES}")


class CompositionTable(Frozen, frozen=True):
    """The cost of many runs on one sample, as numbers between proved ends.

    Attributes
    ----------
    times : int
        The number of runs.
    grade : {"exact", "numeric"}
        The grade of the laws.
    basic : float
        `times` times the epsilon of one run, an upper bound at delta = 0.
    epsilons : tuple of (float, float, float)
        Rows (delta, lower end of epsilon, upper end) for the usual deltas.
    deltas : tuple of (float, float, float)
        Rows (epsilon, lower end of delta, upper end) from epsilon 0 to where delta is 1e-9, or, where that is nowhere,
        to the greatest finite loss times `times`.
    """

    times: Size
    grade: str
    basic: NonNegative
    epsilons: tuple[tuple[Probability, Extended, Extended], ...]
    deltas: tuple[tuple[float, float, float], ...]


def tabulate(profiles: LossProfiles, times: int, grade: str) -> CompositionTable:
    """Return the composed curve of laws of a grade as numbers."""
    made = compose(profiles, times, grade=grade)
    epsilons = [(delta, made.epsilon_lower(delta), made.epsilon_upper(delta)) for delta in _TABLE_DELTAS]
    peaks = profiles.peaks
    top = next((high for delta, _, high in epsilons if delta > 0 and math.isfinite(high)), math.inf)
    if not math.isfinite(top):
        top = times * float(peaks[np.isfinite(peaks)].max(initial=0.0))
    if top <= 0:
        # Nothing leaks: the curve is 0 everywhere.
        top = 1.0
    grid = np.linspace(0.0, top, _TABLE_EPSILONS).tolist()
    deltas = [(epsilon, made.delta_lower(epsilon), made.delta_upper(epsilon)) for epsilon in grid]
    return CompositionTable(made.times, made.grade, made.basic, tuple(epsilons), tuple(deltas))


def pair_law(profiles: LossProfiles, pair: int) -> LossLaw:
    """Return a loss law that one pair dominates: masses and losses are lowered by the errors of its two laws."""
    left = int(profiles.left[pair])
    right = int(profiles.right[pair])
    log_left = profiles.log_prob[left]
    loss = profiles.log_prob[left] - profiles.log_prob[right]
    # The exponential of a rounded number: off by that number of ulp, and some more.
    mass = np.exp(log_left - float(profiles.error[left])) * (1 - 4 * _ULP * (2 - np.maximum(log_left, -1e3)))
    unbounded = loss > UNBOUNDED
    # Atoms that are impossible on the right are the infinite loss.
    kept = np.flatnonzero((mass > 0) & ~unbounded)
    kept = kept[np.argsort(loss[kept], kind="stable")]
    losses = np.minimum(loss[kept], MAX_LOSS) - float(profiles.error[left] + profiles.error[right])
    return LossLaw(losses, mass[kept], float(mass[unbounded].sum()) * (1 - len(mass) * _ULP))


def _worst_pairs(profiles: LossProfiles) -> tuple[int, ...]:
    """Return the pairs with the greatest epsilon, divergence, delta(0) and mass of infinite loss.

    The first is tightest for few runs at a tiny delta, the second of many runs, the third of a large delta, the last of
    the delta that no epsilon removes.
    """
    means = []
    masses = []
    for block in profiles.blocks(np.arange(len(profiles.left))):
        loss = profiles.losses(block)
        prob = profiles.probability[profiles.left[block]]
        means.append((prob * np.clip(loss, -MAX_LOSS, MAX_LOSS)).sum(axis=1))
        masses.append(np.where(loss > UNBOUNDED, prob, 0.0).sum(axis=1))
    divergence = np.concatenate(means)
    catastrophe = np.concatenate(masses)
    found = [profiles.worst()[0], int(np.argmax(divergence)), profiles.worst_delta(0.0)[0]]
    # Without an impossible atom there is no such pair.
    if catastrophe.max() > 0:
        found.append(int(np.argmax(catastrophe)))
    return tuple(dict.fromkeys(found))


def _check_delta(delta: float) -> None:
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 <= delta < 1:
        raise InputError.of("delta", delta, "a number in [0, 1)")


def _check_epsilon(epsilon: float) -> None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number) or not math.isfinite(epsilon):
        raise InputError.of("epsilon", epsilon, "a finite number")
