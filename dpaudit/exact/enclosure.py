"""Enclosures of the worst epsilon: the losses that decide it, recomputed in ball arithmetic.

A learner offers this by `exact_law`, in addition to `law`; see `contract.HasExactLaw`. For the exponential mechanism a
weight is exp of a rate times a score.

Only the pairs and atoms within twice the error bound of the greatest loss can be the worst, so only these are
recomputed; every law used must agree with `law` to within the error that `law` states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType

import numpy as np

from dpaudit.contract import Ball, HasExactLaw, Learner, Sample
from dpaudit.errors import InputError, ToolFault
from dpaudit.exact.profiles import UNBOUNDED, LossProfiles

# The most extremal pairs that are recomputed; for the others the a-priori bound counts.
MOST_PAIRS = 2000

# Losses are recomputed at twice the precision, from the first to the last number of bits, until their balls have at
# most this radius, which is less than an ulp of a double near 1.
_BITS = 192
_MOST_BITS = 6144
_NARROW = 2.0**-60


class Balls:
    """Real numbers as balls (python-flint's arb): every operation encloses the true result."""

    def __init__(self) -> None:
        self._flint = _flint()

    def number(self, value: int | float | Fraction) -> Ball:
        """Return a ball around an exact number."""
        ball: Ball
        if isinstance(value, Fraction):
            ball = self._flint.arb(self._flint.fmpq(value.numerator, value.denominator))
        else:
            ball = self._flint.arb(value)
        return ball

    def exp(self, value: Ball) -> Ball:
        """Return a ball around the exponentials."""
        return value.exp()

    def log(self, value: Ball) -> Ball:
        """Return a ball around the natural logarithms of a positive ball."""
        return value.log()

    @contextmanager
    def precision(self, bits: int) -> Iterator[None]:
        """Compute with that many bits."""
        before = self._flint.ctx.prec
        self._flint.ctx.prec = bits
        try:
            yield
        finally:
            self._flint.ctx.prec = before

    def ends(self, ball: Ball) -> tuple[float, float]:
        """Return the nearest floats that enclose a ball."""
        low = float(ball.lower())
        high = float(ball.upper())
        # The conversion to a float rounds to nearest, which may be inside of the ball.
        if not self.number(low) <= ball.lower():
            low = math.nextafter(low, -math.inf)
        if not ball.upper() <= self.number(high):
            high = math.nextafter(high, math.inf)
        return low, high


def _flint() -> ModuleType:
    try:
        import flint
    except ImportError:
        raise InputError(
            "{enclosure:=True} needs python-flint: install dpaudit with the extra 'exact'", names=("enclosure",)
        ) from None
    module: ModuleType = flint
    return module


def require_exact_law(learner: Learner) -> HasExactLaw:
    """Return the learner, or raise `InputError` unless `exact_law` belongs to its `law` and python-flint is there.

    A class that overrides `law` alone inherits an `exact_law` that is not its own.
    """
    if not isinstance(learner, HasExactLaw):
        message = "learner {id!r} has no exact_law(sample, field), which {enclosure:=True} needs"
        raise InputError(message, names=("enclosure",), id=learner.id)
    if not issubclass(owner_of(learner, "exact_law"), owner_of(learner, "law")):
        message = "learner {id!r} overrides law but not exact_law, which {enclosure:=True} needs"
        raise InputError(message, names=("enclosure",), id=learner.id)
    _flint()
    return learner


def owner_of(learner: Learner, name: str) -> type:
    """Return the class that defines a method; the type of the learner where none does."""
    return next((kind for kind in type(learner).__mro__ if name in vars(kind)), type(learner))


def enclose(
    learner: Learner, inputs: Callable[[int], Sample], atoms: Sequence[Hashable], profiles: LossProfiles
) -> tuple[float, float]:
    """Return two floats between which the worst epsilon over the pairs of the profiles lies.

    `inputs` makes the sample of a law by its number, and `atoms` stand in the order of the profiles' columns.

    Raises
    ------
    InputError
        If the learner has no `exact_law`, or python-flint is missing.
    ToolFault
        If `law` and `exact_law` disagree.
    """
    exact = _ExactLosses(learner.id, require_exact_law(learner), inputs, atoms, profiles)
    # The computed loss of the worst pair and the greatest computed loss may each be off by the error.
    margin = 2 * profiles.epsilon_error
    extremal = np.flatnonzero(profiles.peaks >= profiles.epsilon - margin)
    lower = 0.0
    upper = 0.0
    if len(extremal) > MOST_PAIRS:
        # The pairs that are spared are bounded by the error of their computed losses.
        upper = profiles.epsilon + profiles.epsilon_error
    for pair in extremal[:MOST_PAIRS].tolist():
        loss = profiles.log_prob[profiles.left[pair]] - profiles.log_prob[profiles.right[pair]]
        # The atoms whose loss can be the greatest of all.
        for atom in np.flatnonzero(loss >= min(profiles.epsilon, UNBOUNDED) - margin).tolist():
            low, high = exact.loss(pair, atom)
            lower = max(lower, low)
            upper = max(upper, high)
    return lower, upper


@dataclass(eq=False)
class _ExactLosses:
    """Losses in balls, each law made once for each precision."""

    id: str
    learner: HasExactLaw
    inputs: Callable[[int], Sample]
    atoms: Sequence[Hashable]
    profiles: LossProfiles
    balls: Balls = field(default_factory=Balls)
    laws: dict[tuple[int, int], Mapping[Hashable, Ball]] = field(default_factory=dict)

    def loss(self, pair: int, atom: int) -> tuple[float, float]:
        """Return floats that enclose ln Pr[left = atom] - ln Pr[right = atom]; inf where the right is impossible."""
        zero = self.balls.number(0)
        bits = _BITS
        while bits <= _MOST_BITS:
            with self.balls.precision(bits):
                left = self._law(int(self.profiles.left[pair]), bits).get(self.atoms[atom], zero)
                right = self._law(int(self.profiles.right[pair]), bits).get(self.atoms[atom], zero)
                if left == zero:
                    return -math.inf, -math.inf
                if right == zero and left > 0:
                    return math.inf, math.inf
                ball = self.balls.log(left / right)
                if ball.is_finite() and float(ball.rad()) <= _NARROW:
                    return self.balls.ends(ball)
            bits *= 2
        raise ToolFault(f"exact_law of learner {self.id!r} is too wide a ball at {_MOST_BITS} bits: {ball}")

    def _law(self, number: int, bits: int) -> Mapping[Hashable, Ball]:
        """Return the probabilities of one sample's atoms, after comparing them with `law`."""
        if (number, bits) not in self.laws:
            weights = self.learner.exact_law(self.inputs(number), self.balls)
            total = sum(weights.values(), self.balls.number(0))
            law = {atom: weight / total for atom, weight in weights.items()}
            self._compare(number, law)
            self.laws[number, bits] = law
        return self.laws[number, bits]

    def _compare(self, number: int, law: Mapping[Hashable, Ball]) -> None:
        """Raise `ToolFault` unless every log-probability of `law` is within its error of the ball."""
        error = float(self.profiles.error[number])
        logs = self.profiles.log_prob[number].tolist()
        zero = self.balls.number(0)
        for atom, value in zip(self.atoms, logs, strict=True):
            exact = law.get(atom, zero)
            # A ball around 0 is neither equal to 0 nor different from it, so "not equal" is asked for as it stands.
            if (value > -UNBOUNDED) != (not exact == zero) or not self._near(exact, value, error):
                raise ToolFault(
                    f"law and exact_law of learner {self.id!r} disagree on {self.inputs(number)!r}, "
                    f"atom {atom!r}: logarithm {value!r} within {error!r} against the probability {exact}"
                )

    def _near(self, exact: Ball, value: float, error: float) -> bool:
        """Say whether the logarithm of a ball can be within `error` of `value`; a ball around 0 decides nothing."""
        if not exact > 0:
            return True
        low, high = self.balls.ends(self.balls.log(exact))
        slack = error + math.ulp(value)
        return low - slack <= value <= high + slack
