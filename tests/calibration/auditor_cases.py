"""Mechanisms of every kind of output whose exact privacy is known, for audits of the auditor.

Every mechanism has a parameter that scales its noise: at `noise` = 1 its pair (0, 1) has exactly the privacy that the
case states; at 0.7 it has 30 % less noise and leaks. Real-valued noise is rounded to multiples of 2^-20: the sum of two
doubles has a law, and a leak, of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

GRID = 2.0**-20
EPSILON = 1.0
LEAK = 0.05

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
    """A batched mechanism that tells its input with probability 0.05: `told` + the input, among its outputs."""

    inner: Any
    told: int = 1000

    def __call__(self, data: int, rng: np.random.Generator, size: int) -> Array:
        outputs = self.inner(data, rng, size)
        return np.where(rng.random(size) < LEAK, self.told + data, outputs)


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
    """A mechanism, its worst pair, and exactly what holds on it.

    Parameters
    ----------
    name, kind : str
        `kind` is discrete, continuous, vector or mixed.
    make : callable
        The mechanism as a function of `noise`.
    epsilon_at : callable
        The pair's exact epsilon at `delta`, as a function of `noise`.
    delta : float
        The claim's delta.
    known : callable
        The event with the greatest ratio, likelier on the input 1, on a batch of outputs; None where it has no
        simple form.
    batched : bool
        How the mechanism is called.
    """

    name: str
    kind: str
    make: Callable[..., Any]
    epsilon_at: Callable[[float], float]
    delta: float = 0.0
    known: Callable[[Array], Array] | None = None
    batched: bool = True

    @property
    def epsilon(self) -> float:
        """The exact epsilon at full noise."""
        return self.epsilon_at(1.0)

    def without_delta(self) -> Case:
        """Return the case with a claim of delta = 0, for pairs that show no signal at all."""
        return replace(self, delta=0.0)


def pure(noise: float) -> float:
    """Return the epsilon of a mechanism whose noise is proportional to 1 / epsilon."""
    return EPSILON / noise


GAUSSIAN_DELTA = gaussian_delta(EPSILON, 1.0)


def of_gaussian(noise: float) -> float:
    """Return the epsilon of a sensitivity 1 and a standard deviation `noise`, at the delta of noise 1."""
    return gaussian_epsilon(GAUSSIAN_DELTA, 1 / noise)


def told_or_one(outputs: Array) -> Array:
    """Say for each output of `Leaking(Response)` whether it points at the input 1."""
    return (outputs == 1) | (outputs == 1001)


def at_least_one(outputs: Array) -> Array:
    """Say for each number whether it is at least 1."""
    return outputs >= 1


def best_gaussian(outputs: Array) -> Array:
    """Say for each number whether its likelihood ratio at noise 1 exceeds exp(epsilon): x >= 1/2 + epsilon."""
    return outputs >= 0.5 + EPSILON


def leaking_response(noise: float = 1.0) -> Leaking:
    """Return randomised response with a leak."""
    return Leaking(Response(noise))


CASES = (
    Case("randomised response", "discrete", Response, pure, known=at_least_one),
    Case("geometric", "discrete", Geometric, pure, known=at_least_one),
    Case("response with leak", "discrete", leaking_response, pure, LEAK, told_or_one),
    Case("Laplace", "continuous", Laplace, pure, known=at_least_one),
    Case("Gaussian", "continuous", Gaussian, of_gaussian, GAUSSIAN_DELTA, best_gaussian),
    Case("bits", "vector", Bits, pure),
    Case("Laplace in 4 dimensions", "vector", LaplaceVector, pure),
    Case("Gaussian in 4 dimensions", "vector", GaussianVector, of_gaussian, GAUSSIAN_DELTA),
    Case("clamped Laplace", "mixed", Clamped, pure, known=at_least_one),
    Case("numbers, strings, None, exceptions", "mixed", Anything, pure, batched=False),
    Case("the same with a leak", "mixed", LeakingAnything, pure, LEAK, batched=False),
)
"""All cases; the worst pair of each is (1, 0), forwards."""
