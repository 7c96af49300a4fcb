"""Mechanisms of every kind of output whose exact privacy is known, for audits of the auditor.

Every mechanism has a parameter that scales its noise: at `noise` = 1 its pair (0, 1) has exactly the privacy that the
case states; at 0.7 it has 30 % less noise and leaks. Real-valued noise is rounded to multiples of 2^-20: the sum of two
doubles has a law, and a leak, of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpaudit.outputs.canonical import Raised
from dpaudit.running.adapters import Mechanism, as_mechanism

GRID = 2.0**-20
EPSILON = 1.0
LEAK = 0.05
"""The probability with which leaking mechanisms tell their input."""
TOLD = 1000

Array = NDArray[Any]


def on_grid(values: Array) -> Array:
    """Return the values rounded to multiples of 2^-20, without negative zeros."""
    return np.rint(values / GRID) * GRID + 0.0


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return delta(epsilon) of N(mu, 1) against N(0, 1): Phi(mu/2 - eps/mu) - exp(eps) Phi(-mu/2 - eps/mu)."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Return the epsilon with `gaussian_delta(epsilon, mu)` = delta, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) > delta else (low, middle)
    return high


@dataclass(frozen=True)
class Response:
    """Randomised response on one bit: outputs int (size,)."""

    noise: float = 1.0

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        truthful = rng.random(size) < 1 / (1 + math.exp(-EPSILON / self.noise))
        return np.where(truthful, data, 1 - data)


@dataclass(frozen=True)
class Geometric:
    """A count plus two-sided geometric noise: outputs int (size,)."""

    noise: float = 1.0

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        stop = 1 - math.exp(-EPSILON / self.noise)
        return data + rng.geometric(stop, size) - rng.geometric(stop, size)


@dataclass(frozen=True)
class Bits:
    """The bit and its complement by randomised response at half of epsilon each, among six fair bits: (size, 8)."""

    noise: float = 1.0

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        rows = rng.integers(0, 2, (size, 8))
        truthful = rng.random((size, 2)) < 1 / (1 + math.exp(-EPSILON / (2 * self.noise)))
        rows[:, 2] = np.where(truthful[:, 0], data, 1 - data)
        rows[:, 5] = np.where(truthful[:, 1], 1 - data, data)
        return rows


@dataclass(frozen=True)
class Laplace:
    """A number plus Laplace noise: outputs float (size,)."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return on_grid(data + rng.laplace(0.0, self.noise / EPSILON, size))


@dataclass(frozen=True)
class Gaussian:
    """A number plus standard normal noise: outputs float (size,)."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return on_grid(data + rng.normal(0.0, self.noise, size))


@dataclass(frozen=True)
class LaplaceVector:
    """Four numbers that all move by a quarter, plus Laplace noise: outputs float (size, 4)."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return on_grid(data / 4 + rng.laplace(0.0, self.noise / EPSILON, (size, 4)))


@dataclass(frozen=True)
class GaussianVector:
    """Four numbers that all move by a half, plus standard normal noise: outputs float (size, 4)."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return on_grid(data / 2 + rng.normal(0.0, self.noise, (size, 4)))


@dataclass(frozen=True)
class Clamped:
    """A number plus Laplace noise, cut to [-1, 2]: an atom at each end, a continuum between. Outputs float (size,)."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return np.clip(Laplace(self.noise)(data, rng, size), -1.0, 2.0)


@dataclass(frozen=True)
class Anything:
    """One run at a time: a noisy number that turns into None, a string or an exception in some ranges."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator) -> Any:
        value = float(on_grid(data + rng.laplace(0.0, self.noise / EPSILON)))
        if value > 1.5:
            raise OverflowError("too large")
        if value < -1.0:
            return None
        return "near" if abs(value - 0.5) < 0.25 else value


@dataclass(frozen=True)
class Leaking:
    """A batched mechanism that with probability 0.05 outputs 1000 + its input instead."""

    inner: Any

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        outputs = self.inner(data, rng, size)
        return np.where(rng.random(size) < LEAK, TOLD + data, outputs)


@dataclass(frozen=True)
class LeakingAnything:
    """`Anything`, but with probability 0.05 an exception whose message tells the input."""

    noise: float = 1.0

    def __call__(self, data: float, rng: np.random.Generator) -> Any:
        if rng.random() < LEAK:
            raise ValueError(f"input {data}")
        return Anything(self.noise)(data, rng)


@dataclass(frozen=True)
class Case:
    """A mechanism, and what holds exactly on its worst pair (1, 0).

    Parameters
    ----------
    name, kind : str
        `kind` is discrete, continuous, vector or mixed.
    make : callable
        The mechanism as a function of `noise`.
    epsilon_at : callable
        The pair's exact epsilon at `delta`, as a function of `noise`.
    event : callable
        Which of a batch of outputs (by `noise`) are in an event T with ln((P(T) - delta) / Q(T)) = epsilon, P being the
        law on the input 1 and Q that on 0.
    mass : callable
        Q(T) as a function of `noise`.
    delta : float
        The claim's delta.
    batched : bool
        How the mechanism is called.
    """

    name: str
    kind: str
    make: Callable[..., Any]
    epsilon_at: Callable[[float], float]
    event: Callable[[Any, float], Array]
    mass: Callable[[float], float]
    delta: float = 0.0
    batched: bool = True

    @property
    def epsilon(self) -> float:
        """The exact epsilon at full noise: a claim that holds, and no smaller one does."""
        return self.epsilon_at(1.0)

    def mechanism(self, noise: float = 1.0) -> Mechanism:
        """Return the mechanism as the engine runs it, exceptions caught."""
        return as_mechanism(self.make(noise), batched=self.batched)


def pure(noise: float) -> float:
    """Return the epsilon of a mechanism whose noise is proportional to 1 / epsilon."""
    return EPSILON / noise


def lie(noise: float, share: float = 1.0) -> float:
    """Return the probability of a false answer in randomised response at a share of epsilon."""
    return 1 / (1 + math.exp(share * EPSILON / noise))


def tail(noise: float, distance: float = 1.0) -> float:
    """Return the probability that Laplace noise exceeds a distance."""
    return 0.5 * math.exp(-EPSILON * distance / noise)


GAUSSIAN_DELTA = gaussian_delta(EPSILON, 1.0)


def of_gaussian(noise: float) -> float:
    """Return the epsilon of a shift by 1 at standard deviation `noise`, at the delta of noise 1."""
    return gaussian_epsilon(GAUSSIAN_DELTA, 1 / noise)


def edge(noise: float) -> float:
    """Return where the likelihood ratio of N(1, noise^2) against N(0, noise^2) is exp(epsilon)."""
    return 0.5 + of_gaussian(noise) * noise**2


def leaking_response(noise: float = 1.0) -> Leaking:
    """Return randomised response with a leak."""
    return Leaking(Response(noise))


def at_least_one(outputs: Array, noise: float) -> Array:
    """Numbers from 1 upwards."""
    return outputs >= 1


def tells_one(outputs: Array, noise: float) -> Array:
    """The answer 1 and the leak of it."""
    return (outputs == 1) | (outputs == TOLD + 1)


def both_bits(outputs: Array, noise: float) -> Array:
    """Rows with the bit and without its complement."""
    return (outputs[:, 2] == 1) & (outputs[:, 5] == 0)


def all_moved(outputs: Array, noise: float) -> Array:
    """Rows in the corner where every ratio is greatest."""
    return (outputs >= 0.25).all(axis=1)


def above_edge(outputs: Array, noise: float) -> Array:
    """Numbers, or half the sums of rows, above `edge`."""
    return outputs.reshape(len(outputs), -1).sum(axis=1) >= edge(noise) * (1 if outputs.ndim == 1 else 2)


def raised(outputs: Any, noise: float) -> Array:
    """Exceptions, but those that tell the input 0."""
    return np.array([isinstance(output, Raised) and output.message != "input 0" for output in outputs])


def of_edge(noise: float) -> float:
    """Return the probability of `above_edge` on the input 0."""
    return float(ndtr(-edge(noise) / noise))


CASES = (
    Case("randomised response", "discrete", Response, pure, at_least_one, lie),
    Case("geometric", "discrete", Geometric, pure, at_least_one, lambda s: 1 / (1 + math.exp(EPSILON / s))),
    Case(
        "response with leak", "discrete", leaking_response, pure, tells_one, lambda s: (1 - LEAK) * lie(s), delta=LEAK
    ),
    Case("Laplace", "continuous", Laplace, pure, at_least_one, tail),
    Case("Gaussian", "continuous", Gaussian, of_gaussian, above_edge, of_edge, delta=GAUSSIAN_DELTA),
    Case("bits", "vector", Bits, pure, both_bits, lambda s: lie(s, 0.5) ** 2),
    Case("Laplace, 4 numbers", "vector", LaplaceVector, pure, all_moved, lambda s: tail(s, 0.25) ** 4),
    Case("Gaussian, 4 numbers", "vector", GaussianVector, of_gaussian, above_edge, of_edge, delta=GAUSSIAN_DELTA),
    Case("clamped Laplace", "mixed", Clamped, pure, at_least_one, tail),
    Case("number, None, text, error", "mixed", Anything, pure, raised, lambda s: tail(s, 1.5), batched=False),
    Case(
        "the same with leak",
        "mixed",
        LeakingAnything,
        pure,
        raised,
        lambda s: (1 - LEAK) * tail(s, 1.5),
        delta=LEAK,
        batched=False,
    ),
)
"""All cases."""

BY_NAME = {case.name: case for case in CASES}
