"""Gaussian mechanisms of libraries that may not be installed, called as their users call them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from benchmark.noise import Array

__all__ = ["DiffprivlibGaussian", "OpacusGaussian", "OpenDPGaussian"]


@dataclass(frozen=True)
class DiffprivlibGaussian:
    """A Gaussian mechanism of diffprivlib by the name of its class, seeded by the generator: outputs (size,)."""

    kind: str
    epsilon: float
    delta: float

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        with suppress(ImportError):  # of its models, by newer versions of scikit-learn; mechanisms are imported first
            import_module("diffprivlib")
        make = getattr(import_module("diffprivlib.mechanisms"), self.kind)
        seed = int(rng.integers(2**31))
        noisy = make(epsilon=self.epsilon, delta=self.delta, sensitivity=1, random_state=seed)
        value = int(data) if self.kind == "GaussianDiscrete" else data
        return np.array([noisy.randomise(value) for _ in range(size)])


@dataclass(frozen=True)
class OpenDPGaussian:
    """The Gaussian measurement of OpenDP on a vector of equal numbers, with entropy of its own: outputs (size,)."""

    scale: float

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        return np.array(_opendp_gaussian(self.scale)([data] * size))


@cache
def _opendp_gaussian(scale: float) -> Any:
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib")
    return dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float), scale)


@dataclass(frozen=True)
class OpacusGaussian:
    """A number plus the noise of an optimizer of Opacus in single precision, `secure` or not: outputs (size,)."""

    scale: float
    secure: bool

    def __call__(self, data: float, rng: np.random.Generator, size: int) -> Array:
        torch: Any = import_module("torch")
        optimizer: Any = import_module("opacus.optimizers.optimizer")
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        zeros = torch.zeros(size)
        noise = optimizer._generate_noise(self.scale, zeros, generator=generator, secure_mode=self.secure)
        noisy: Array = (data + noise).numpy()
        return noisy
