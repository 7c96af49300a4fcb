"""Learners small enough that every audit of them takes milliseconds; loaded by path and imported by tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpaudit.contract import Instance, Law, PrivacyClaim, UtilityClaim
from dpaudit_learners.domains import Interval


@dataclass(frozen=True)
class Constant:
    label: int

    def predict(self, points: Any) -> Any:
        return np.full(len(points), self.label, dtype=np.uint8)


class Constants:
    size = 2

    def evaluate(self, points: Any) -> Any:
        return np.array([self.concept(code).predict(points) for code in range(2)])

    def concept(self, code: int) -> Constant:
        return Constant(code)


@dataclass(frozen=True)
class ToyCoin:
    """Say the last example's label, or with probability 1 / (1 + exp(gain)) the other one.

    Its worst-case epsilon is `gain`.
    """

    gain: float
    id: ClassVar[str] = "toy-coin"
    instance: ClassVar[Instance] = Instance({"gain": 3.0}, n=1, alpha=0.3, beta=0.3)

    @property
    def privacy(self) -> PrivacyClaim | None:
        return PrivacyClaim(self.gain, claim_id="toy")

    @property
    def domain(self) -> Interval:
        return Interval(2)

    @property
    def concepts(self) -> Constants:
        return Constants()

    def _label(self, sample: Any) -> int:
        return int(sample.labels[-1]) if len(sample.labels) else 0

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
        flip = rng.random(size) < 1 / (1 + math.exp(self.gain))
        return np.where(flip, 1 - self._label(sample), self._label(sample))

    def decode(self, code: int) -> Constant:
        return Constant(int(code))

    def law(self, sample: Any) -> Law:
        other = -math.log1p(math.exp(self.gain))
        kept = other + self.gain
        return Law((0, 1), np.array([other, kept] if self._label(sample) else [kept, other]), 1e-14)

    def utility(self, alpha: float, beta: float) -> UtilityClaim:
        return UtilityClaim(alpha, beta, 8)


class ToyLiar(ToyCoin):
    """Claims half of what it leaks."""

    id = "toy-liar"

    @property
    def privacy(self) -> PrivacyClaim | None:
        return PrivacyClaim(self.gain / 2)


class ToyOpen(ToyLiar):
    """A control that can be caught."""

    id = "broken-toy-open"
    fault = "it leaks twice its claim"


class ToySilent(ToyCoin):
    """A control without a leak: nothing can detect it."""

    id = "broken-toy-silent"
    fault = "nothing, in truth"


class ToyBare:
    """Has neither law, claim nor theorem."""

    id = "toy-bare"
    instance = Instance({}, n=1)
    privacy = None
    domain = Interval(2)
    concepts = Constants()

    def run(self, sample: Any, rng: np.random.Generator, size: int) -> Any:
        return np.zeros(size, dtype=np.int64)

    def decode(self, code: int) -> Constant:
        return Constant(code)


class ToyCrash(ToyCoin):
    """Raises when its law is computed."""

    id = "toy-crash"

    def law(self, sample: Any) -> Law:
        raise ZeroDivisionError("toy")


LEARNERS = (ToyCoin, ToyLiar, ToyOpen, ToySilent, ToyBare, ToyCrash)
