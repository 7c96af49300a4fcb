"""Enclosures of the worst epsilon: the losses that decide it, recomputed in ball arithmetic.

A learner offers this by `exact_law` beside `law`; see `contract.HasExactLaw`. For the exponential mechanism a weight is
exp of a rate times a score.

Only the pairs and atoms within twice the error bound of the greatest loss can be the worst, so only these are
recomputed; every law used must agree with `law` to within the error that `law` states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.contract import HasExactLaw, Learner
from dpaudit.errors import InputError, ToolFault
from dpaudit.exact.profiles import UNBOUNDED, LossProfiles

MOST_PAIRS = 2000
"""The most extremal pairs that are recomputed; for the others the a-priori bound counts."""

_BITS = 192
_MOST_BITS = 6144
_NARROW = 2.0**-60
"""Losses are recomputed at twice the precision until their balls have at most this radius."""


class Balls:
    """Real numbers as balls (python-flint's arb): every operation encloses the true result."""

    def __init__(self) -> None:
        self._flint = _flint()

    def number(self, value: int | float | Fraction) -> Any:
        """Return a ball around an exact number."""
        if isinstance(value, Fraction):
            return self._flint.arb(self._flint.fmpq(value.numerator, value.denominator))
        return self._flint.arb(value)

    def exp(self, value: Any) -> Any:
        """Return a ball around the exponentials."""
        return value.exp()

    def log(self, value: Any) -> Any:
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

    def ends(self, ball: Any) -> tuple[float, float]:
        """Return the nearest floats that enclose a ball."""
        low, high = float(ball.lower()), float(ball.upper())
        low = low if self._flint.arb(low) <= ball.lower() else math.nextafter(low, -math.inf)
        high = high if self._flint.arb(high) >= ball.upper() else math.nextafter(high, math.inf)
        return low, high


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        raise InputError(
            "{enclosure:=True} needs python-flint: install dpaudit with the extra 'exact'", names=("enclosure",)
        ) from None
    return flint


def require_exact_law(learner: Learner) -> HasExactLaw:
    """Return the learner, or raise `InputError` unless `exact_law` belongs to its `law` and python-flint is there.

    A class that overrides `law` alone inherits an `exact_law` that is not its own.
    """
    if not isinstance(learner, HasExactLaw):
        message = "learner {id!r} has no exact_law(sample, field), which {enclosure:=True} needs"
        raise InputError(message, names=("enclosure",), id=learner.id)
    owners = {name: owner_of(learner, name) for name in ("law", "exact_law")}
    if not issubclass(owners["exact_law"], owners["law"]):
        message = "learner {id!r} overrides law but not exact_law, which {enclosure:=True} needs"
        raise InputError(message, names=("enclosure",), id=learner.id)
    _flint()
    return learner


def owner_of(learner: Learner, name: str) -> type:
    """Return the class that defines a method; the type of the learner where none does."""
    return next((kind for kind in type(learner).__mro__ if name in vars(kind)), type(learner))


def enclose(
    learner: Learner, inputs: Callable[[int], Any], atoms: Sequence[Hashable], profiles: LossProfiles
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
    exact = _ExactLosses(require_exact_law(learner), inputs, atoms, profiles)
    margin = 2 * profiles.epsilon_error
    extremal = np.flatnonzero(profiles.peaks >= profiles.epsilon - margin)
    spared = profiles.epsilon + profiles.epsilon_error if len(extremal) > MOST_PAIRS else 0.0
    lower, upper = 0.0, spared
    for pair in extremal[:MOST_PAIRS].tolist():
        loss = profiles.log_prob[profiles.left[pair]] - profiles.log_prob[profiles.right[pair]]
        # The atoms whose loss can be the greatest of all.
        for atom in np.flatnonzero(loss >= min(profiles.epsilon, UNBOUNDED) - margin).tolist():
            low, high = exact.loss(pair, atom)
            lower, upper = max(lower, low), max(upper, high)
    return lower, upper


@dataclass(eq=False)
class _ExactLosses:
    """Losses in balls, each law made once for each precision."""

    learner: Any
    inputs: Callable[[int], Any]
    atoms: Sequence[Hashable]
    profiles: LossProfiles
    balls: Balls = field(default_factory=Balls)
    laws: dict[tuple[int, int], Mapping[Hashable, Any]] = field(default_factory=dict)

    def loss(self, pair: int, atom: int) -> tuple[float, float]:
        """Return floats that enclose ln Pr[left = atom] - ln Pr[right = atom]; inf where the right is impossible."""
        bits = _BITS
        while bits <= _MOST_BITS:
            with self.balls.precision(bits):
                left = self._law(int(self.profiles.left[pair]), bits).get(self.atoms[atom], 0)
                right = self._law(int(self.profiles.right[pair]), bits).get(self.atoms[atom], 0)
                if left == 0:
                    return -math.inf, -math.inf
                if right == 0 and left > 0:
                    return math.inf, math.inf
                ball = self.balls.log(left / right)
                if ball.is_finite() and float(ball.rad()) <= _NARROW:
                    return self.balls.ends(ball)
            bits *= 2
        raise ToolFault(f"exact_law of learner {self.learner.id!r} is too wide a ball at {_MOST_BITS} bits: {ball}")

    def _law(self, number: int, bits: int) -> Mapping[Hashable, Any]:
        """Return the probabilities of one sample's atoms, after comparing them with `law`."""
        if (number, bits) not in self.laws:
            weights = self.learner.exact_law(self.inputs(number), self.balls)
            total = sum(weights.values(), self.balls.number(0))
            law = {atom: weight / total for atom, weight in weights.items()}
            self._compare(number, law)
            self.laws[number, bits] = law
        return self.laws[number, bits]

    def _compare(self, number: int, law: Mapping[Hashable, Any]) -> None:
        """Raise `ToolFault` unless every log-probability of `law` is within its error of the ball."""
        error = float(self.profiles.error[number])
        logs = self.profiles.log_prob[number].tolist()
        for atom, value in zip(self.atoms, logs, strict=True):
            exact = law.get(atom, 0)
            if (value > -UNBOUNDED) != (not exact == 0) or not self._near(exact, value, error):
                raise ToolFault(
                    f"law and exact_law of learner {self.learner.id!r} disagree on {self.inputs(number)!r}, "
                    f"atom {atom!r}: logarithm {value!r} within {error!r} against the probability {exact}"
                )

    def _near(self, exact: Any, value: float, error: float) -> bool:
        """Say whether the logarithm of a ball can be within `error` of `value`; a ball around 0 decides nothing."""
        if exact == 0 or not exact > 0:
            return True
        low, high = self.balls.ends(self.balls.log(exact))
        slack = error + math.ulp(value)
        return low - slack <= value <= high + slack
