"""Objective perturbation (Chaudhuri, Monteleoni and Sarwate, JMLR 12, 2011, Algorithm 2), its exact law and its faults.

Of n examples z = (2 label - 1) x with ||x|| <= 1 it releases the minimiser w of

    sum ln(1 + exp(-z w)) + n Lambda ||w||^2 / 2 + b w,   b of density proportional to exp(-epsilon' ||b|| / 2),

which is n times the objective as printed. The loss of an example has second derivative at most c = 1 / 4 in z w, and

    epsilon' = epsilon - 2 ln(1 + c / (n Lambda));

where that is not positive, epsilon' = epsilon / 2, and Lambda + Delta = c / (n (exp(epsilon / 4) - 1)) takes the place
of Lambda.

**Law.** At the minimiser b = sum s z - n Lambda w with s = 1 / (1 + exp(z w)). So w determines b, and b determines w,
since the objective is strictly convex: the density of w is that of b(w) times the determinant of

    H = n Lambda I + sum s (1 - s) z z'.

**Privacy**, one example replaced. The two b(w) differ by s z of one example less that of another, of norm at most 2, so
that the densities of b have a ratio of at most exp(epsilon'). Each H is that of the common examples, at least n Lambda
I, plus a matrix of rank one and norm at most c: its determinant is between 1 and 1 + c / (n Lambda) times the common
one. The loss is therefore at most epsilon' + ln(1 + c / (n Lambda)), with once the logarithm that the algorithm
subtracts twice; with Delta that is 3 epsilon / 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.contract import InputError, PrivacyClaim, Relation

from ..arrays import Floats, Integers
from ..parameters import check_integer, check_positive
from .noisy_sgd import logistic, shortened

# The planted faults, positive controls of an audit: what leaks, by name.
FAULTS = {
    "no log term": "noise spends all of epsilon, and nothing is left for how the map from noise to minimiser stretches",
    "rows as they are": "rows longer than 1 are not scaled down: their gradients outweigh the noise",
}

# c, the greatest second derivative of the logistic loss.
_CURVATURE = 0.25
# The greatest norm of the gradient at a minimiser, relative to that of b where it exceeds 1.
_TOLERANCE = 1e-10
_STEPS = 10_000
# About the most numbers that are held at a time.
_NUMBERS = 2**22


@dataclass(frozen=True)
class ObjectivePerturbation:
    """Logistic regression without an intercept, private by a random linear term in its objective.

    Parameters
    ----------
    epsilon : float
        The claim; > 0.
    examples : int
        The public number n of examples.
    regularisation : float
        Lambda > 0.
    fault : str
        A name of `FAULTS`, or "" for the right algorithm. The claim stays that of the right one.

    Notes
    -----
    The output is the exact minimiser for another b, which differs by the gradient that is left, of norm at most 1e-10
    max(1, ||b||). The law and the theorem are those of real numbers: nothing is claimed of the last bits of floats.
    """

    epsilon: float = 1.0
    examples: int = 1
    regularisation: float = 0.1
    fault: str = ""

    def __post_init__(self) -> None:
        if self.fault and self.fault not in FAULTS:
            raise InputError.among("fault", self.fault, FAULTS)
        check_positive("epsilon", self.epsilon)
        check_integer("examples", self.examples, 1)
        check_positive("regularisation", self.regularisation)

    @property
    def privacy(self) -> PrivacyClaim:
        """The claim of the right algorithm."""
        return PrivacyClaim(self.epsilon, 0.0, Relation.REPLACE_ONE)

    @property
    def noise_epsilon(self) -> float:
        """epsilon', what the noise spends."""
        if self.fault == "no log term":
            return self.epsilon
        return self._left if self._left > 0 else self.epsilon / 2

    @property
    def ridge(self) -> float:
        """The factor n Lambda, or n (Lambda + Delta), of ||w||^2 / 2."""
        if self.fault == "no log term" or self._left > 0:
            return self.examples * self.regularisation
        return _CURVATURE / math.expm1(self.epsilon / 4)

    @property
    def _left(self) -> float:
        return self.epsilon - 2 * math.log1p(_CURVATURE / (self.examples * self.regularisation))

    def faulty(self) -> tuple[ObjectivePerturbation, ...]:
        """Return the algorithm with each of the faults."""
        return tuple(replace(self, fault=name) for name in FAULTS)

    def run(self, data: tuple[Floats, Integers], rng: np.random.Generator, size: int) -> Floats:
        """Return the minimisers of `size` runs on points (n, d) and labels (n,) of 0 and 1, shape (size, d)."""
        rows = self._rows(data)
        d = rows.shape[1]
        noise = rng.normal(size=(size, d))
        # A uniform direction times a Gamma(d) radius has the density exp(-epsilon' ||b|| / 2).
        noise *= rng.gamma(d, 2 / self.noise_epsilon, size=(size, 1)) / np.linalg.norm(noise, axis=1, keepdims=True)
        chunk = max(1, _NUMBERS // (len(rows) + d * d))
        parts = [_minimisers(rows, noise[done : done + chunk], self.ridge) for done in range(0, size, chunk)]
        return np.concatenate(parts) if parts else noise

    def log_density(self, data: tuple[Floats, Integers], weights: Floats) -> Floats:
        """Return the logarithm of the density of an output, shape (m,), at weights of shape (m, d)."""
        rows = self._rows(data)
        d = weights.shape[1]
        rate = self.noise_epsilon / 2
        # The b of which these weights are the minimiser, and the determinant of the map between the two.
        pulls = logistic(-weights @ rows.T)
        noise = pulls @ rows - self.ridge * weights
        # The integral of exp(-rate ||b||) is the surface of the unit sphere times Gamma(d) / rate^d.
        surface = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
        constant = d * math.log(rate) - math.lgamma(d) - surface
        stretch = np.linalg.slogdet(_hessians(rows, pulls, self.ridge))[1]
        return np.asarray(constant - rate * np.linalg.norm(noise, axis=1) + stretch)

    def _rows(self, data: tuple[Floats, Integers]) -> Floats:
        """Return (2 label - 1) x for each example, of norm at most 1, shape (n, d)."""
        points, labels = data
        if len(points) != self.examples:
            raise InputError.of("data", len(points), f"{self.examples} examples")
        signed = (2 * labels - 1)[:, None] * points
        return np.asarray(signed if self.fault == "rows as they are" else shortened(signed, 1.0))


def _minimisers(rows: Floats, noise: Floats, ridge: float) -> Floats:
    """Return the minimiser of each run's objective by damped Newton steps, shape (r, d).

    In z w, the third derivative of a loss is at most its second. Along a Newton step the second derivative of the
    objective therefore grows at most as exp(t r), with t the share of the step and r its length times that of the
    longest row. The bound on the objective that this gives is least at t = ln(1 + r) / r: each step decreases the
    objective from wherever it starts, and near the minimum t is about 1.
    """
    longest = np.linalg.norm(rows, axis=1).max()
    enough = _TOLERANCE * np.maximum(1, np.linalg.norm(noise, axis=1))
    found = -noise / ridge
    left = np.arange(len(noise))
    for _ in range(_STEPS):
        pulls = logistic(-found[left] @ rows.T)
        gradients = ridge * found[left] + noise[left] - pulls @ rows
        going = np.linalg.norm(gradients, axis=1) > enough[left]
        left = left[going]
        if not len(left):
            return found
        # A damped Newton step for every run that is not there yet.
        steps = np.linalg.solve(_hessians(rows, pulls[going], ridge), gradients[going][:, :, None])[:, :, 0]
        lengths = longest * np.linalg.norm(steps, axis=1, keepdims=True)
        found[left] -= steps * np.log1p(lengths) / lengths
    raise ArithmeticError(f"Newton's method did not reach a gradient of {_TOLERANCE} in {_STEPS} steps")


def _hessians(rows: Floats, pulls: Floats, ridge: float) -> Floats:
    """Return ridge I + sum s (1 - s) z z', shape (r, d, d), for s of shape (r, n)."""
    n, d = rows.shape
    products = (rows[:, :, None] * rows[:, None]).reshape(n, d * d)
    return np.asarray(((pulls * (1 - pulls)) @ products).reshape(-1, d, d) + ridge * np.eye(d))
