"""Noisy stochastic gradient descent (Abadi et al., Deep learning with differential privacy, CCS 2016), and its faults.

Each step draws a batch by Poisson sampling, clips the gradient of each example to norm `clip`, adds noise N(0, (sigma
clip)^2) to every coordinate of their sum, divides by the expected size of a batch, and moves the parameters against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Bools, Floats, Integers
from ..parameters import check_integer
from .accountant import Accountant

# The planted faults, positive controls of an audit of training: what leaks, by name.
FAULTS = {
    "no clipping": "gradients are added as they are: an example of large gradient outweighs the noise",
    "clipping by batch": "the mean gradient of the batch is clipped, not that of each example",
    "noise reused": "every step adds the same noise, which differences of steps cancel",
    "without replacement": "batches of a fixed size are accounted as Poisson samples: an example displaces another",
    "wrong batch size": "noise is divided by the number of examples, gradients by the size of a batch",
}

# About the most numbers of per-example gradients that are held at a time.
_NUMBERS = 2**22


class Examples(NamedTuple):
    """The data of a training: points (n, k), labels (n,) of 0 and 1, and canaries given by their gradient, (m, d).

    A gradient canary is an example whose gradient is the same at all parameters.
    """

    points: Floats
    labels: Integers
    gradients: Floats

    @property
    def size(self) -> int:
        """The number of examples, canaries included."""
        return len(self.points) + len(self.gradients)

    def adding(self, gradients: Floats) -> Examples:
        """Return the examples with further gradient canaries, (m, d) or one of shape (d,)."""
        return self._replace(gradients=np.concatenate([self.gradients, np.atleast_2d(gradients)]))

    def labelled(self, point: Floats, label: int) -> Examples:
        """Return the examples and one more, such as a mislabelled canary."""
        return self._replace(points=np.vstack([self.points, point]), labels=np.append(self.labels, label))


class Model(Protocol):
    """A model of binary labels."""

    @property
    def dimension(self) -> int:
        """The number d of parameters."""

    def gradients(self, parameters: Floats, points: Floats, labels: Integers) -> Floats:
        """Return the gradient of each example's logistic loss, (r, n, d), at each of r parameters (r, d)."""


@dataclass(frozen=True)
class Logistic:
    """Logistic regression without an intercept: Pr[label = 1] = 1 / (1 + exp(-w x)).

    Parameters
    ----------
    inputs : int
        The number k of coordinates of a point, and of parameters.
    """

    inputs: int

    @property
    def dimension(self) -> int:
        """The number k of parameters."""
        return self.inputs

    def gradients(self, parameters: Floats, points: Floats, labels: Integers) -> Floats:
        """Return (Pr[label = 1] - label) x for each example, (r, n, k), at each of r parameters (r, k)."""
        residuals = logistic(parameters @ points.T) - labels
        return np.asarray(residuals[:, :, None] * points)


@dataclass(frozen=True)
class Network:
    """One hidden layer: Pr[label = 1] = 1 / (1 + exp(-(v tanh(W x + b) + c))).

    Parameters
    ----------
    inputs, hidden : int
        The numbers k of coordinates and h of hidden units; the parameters are W (h, k), b (h,), v (h,) and c in a row.
    """

    inputs: int
    hidden: int

    @property
    def dimension(self) -> int:
        """The number h (k + 2) + 1 of parameters."""
        return self.hidden * (self.inputs + 2) + 1

    def gradients(self, parameters: Floats, points: Floats, labels: Integers) -> Floats:
        """Return the gradient of each example's loss by the chain rule, (r, n, d), at each of r parameters (r, d)."""
        runs = len(parameters)
        k = self.inputs
        h = self.hidden
        weights = parameters[:, : h * k].reshape(runs, h, k)
        offsets = parameters[:, h * k : h * (k + 1)]
        outer = parameters[:, h * (k + 1) : h * (k + 2)]
        active = np.tanh(np.einsum("rhk,nk->rnh", weights, points) + offsets[:, None])
        # The derivative of the loss by the output, which the chain rule carries back through the layer.
        residuals = logistic(np.einsum("rnh,rh->rn", active, outer) + parameters[:, -1:]) - labels
        inner = residuals[:, :, None] * outer[:, None] * (1 - active**2)
        weighted = (inner[:, :, :, None] * points[:, None]).reshape(runs, len(points), h * k)
        return np.concatenate([weighted, inner, residuals[:, :, None] * active, residuals[:, :, None]], axis=2)


@dataclass(frozen=True)
class NoisySGD:
    """Noisy stochastic gradient descent.

    Parameters
    ----------
    model : Model
        What is trained; the parameters begin at `start`, by default at 0.
    clip, noise_multiplier : float
        The clip norm C, and sigma: noise has standard deviation sigma C.
    sampling_rate : float
        The probability with which an example is in a batch, in (0, 1].
    examples : int
        The public number n of examples by which a batch is expected to hold `sampling_rate` n.
    steps : int
        The number of steps.
    learning_rate : float
        What a step multiplies the noisy mean gradient by.
    fault : str
        A name of `FAULTS`, or "" for the right algorithm. The claim stays that of the right one.
    start : tuple of float
        The parameters at the start; () means 0.
    """

    model: Model
    clip: float = 1.0
    noise_multiplier: float = 1.0
    sampling_rate: float = 1.0
    examples: int = 1
    steps: int = 1
    learning_rate: float = 0.5
    fault: str = ""
    start: tuple[float, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.fault and self.fault not in FAULTS:
            raise InputError.among("fault", self.fault, FAULTS)
        if not self.clip > 0:
            raise InputError.of("clip", self.clip, "a number > 0")
        check_integer("examples", self.examples, 1)
        if len(self.start) not in (0, self.model.dimension):
            raise InputError.of("start", len(self.start), f"{self.model.dimension} numbers, or none")
        _ = self.accountant

    @property
    def accountant(self) -> Accountant:
        """The accountant of the right algorithm, for an example added or removed."""
        return Accountant(self.noise_multiplier, self.sampling_rate, self.steps)

    def faulty(self) -> tuple[NoisySGD, ...]:
        """Return the algorithm with each of the faults."""
        return tuple(replace(self, fault=name) for name in FAULTS)

    def updates(self, data: Examples, rng: np.random.Generator, size: int) -> Floats:
        """Return the noisy mean gradients of every step of `size` runs, shape (size, steps, d): all that is released.

        The parameters after each step are a function of them.
        """
        # As many runs together as keep the gradients of all examples within so many numbers.
        chunk = max(1, _NUMBERS // (max(1, data.size) * self.model.dimension))
        parts = [self._run(data, rng, min(chunk, size - done)) for done in range(0, size, chunk)]
        return np.concatenate(parts or [np.empty((0, self.steps, self.model.dimension))])

    def step(self, data: Examples, rng: np.random.Generator, size: int) -> Floats:
        """Return the noisy mean gradient of the first step of `size` runs, shape (size, d)."""
        return replace(self, steps=1).updates(data, rng, size)[:, 0]

    def _run(self, data: Examples, rng: np.random.Generator, size: int) -> Floats:
        d = self.model.dimension
        parameters = np.tile(np.asarray(self.start or np.zeros(d), dtype=np.float64), (size, 1))
        updates = np.empty((size, self.steps, d))
        noise = np.empty((size, d))
        for step in range(self.steps):
            # The step of the algorithm: a batch, clipped gradients, noise, an average by the public size of a batch.
            total = self._sums(data, parameters, self._batches(data.size, rng, size))
            # The fault keeps the noise of the first step.
            if step == 0 or self.fault != "noise reused":
                noise = rng.normal(scale=self.noise_multiplier * self.clip, size=(size, d))
            divisor = self.examples if self.fault == "wrong batch size" else self._batch
            updates[:, step] = total / self._batch + noise / divisor
            parameters = parameters - self.learning_rate * updates[:, step]
        return updates

    @property
    def _batch(self) -> float:
        return self.sampling_rate * self.examples

    def _batches(self, n: int, rng: np.random.Generator, size: int) -> Bools:
        """Return which examples are in the batch of each run, shape (size, n)."""
        # The fault ranks the same numbers: as many are drawn as by the right algorithm.
        draws = rng.random((size, n))
        if self.fault != "without replacement":
            return np.asarray(draws < self.sampling_rate)
        return np.asarray(draws.argsort(axis=1).argsort(axis=1) < round(self._batch))

    def _sums(self, data: Examples, parameters: Floats, batches: Bools) -> Floats:
        """Return the sum of the clipped gradients of each run's batch, shape (r, d)."""
        own = self._clipped(self.model.gradients(parameters, data.points, data.labels))
        n = len(data.points)
        total = np.einsum("rn,rnd->rd", batches[:, :n], own) + batches[:, n:] @ self._clipped(data.gradients)
        if self.fault == "clipping by batch":
            # The fault shortens the mean, so that one long gradient still moves it by more than its share.
            return self._batch * shortened(total / self._batch, self.clip)
        return np.asarray(total)

    def _clipped(self, gradients: Floats) -> Floats:
        whole = self.fault in ("no clipping", "clipping by batch")
        return gradients if whole else shortened(gradients, self.clip)


def one_training(
    sgd: NoisySGD, data: Examples, canaries: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Bools]:
    """Train once with each canary in or out by a fair coin, and score the canaries.

    Parameters
    ----------
    sgd : NoisySGD
        The training.
    data : Examples
        The examples that are always in.
    canaries : array, shape (m, d)
        Gradient canaries, as random or orthogonal directions.
    rng : Generator
        Makes the coins and then the training.

    Returns
    -------
    sums, spreads : array, shape (m,)
        The mean over the steps of what was released along each canary, in units of its clipped gradient's share of a
        step; and the variance over the steps, which shows a canary that comes and goes where noise is reused.
    included : array of bool, shape (m,)
        The coins.
    """
    included = rng.random(len(canaries)) < 0.5
    updates = sgd.updates(data.adding(canaries[included]), rng, 1)[0]
    # In units of clip / batch, by which one clipped canary moves a step.
    along = updates @ (canaries / np.linalg.norm(canaries, axis=1, keepdims=True)).T * sgd._batch / sgd.clip
    return along.mean(axis=0), along.var(axis=0), included


def shortened(vectors: Floats, most: float) -> Floats:
    """Return vectors (last axis) scaled down to norm `most` where they are longer."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    # Shorter ones stay, and none of norm 0 is divided by it.
    return np.asarray(vectors * (most / np.maximum(norms, most)))


def logistic(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x))."""
    # By tanh, which overflows nowhere.
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))
