"""Draw the pictures of the documentation: python scripts/write.py pictures."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dpaudit

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
PAIRS = [([0.0, 0.5, 0.5], [1.0, 0.5, 0.5])]


def mean(data: list[float], rng: np.random.Generator, size: int, epsilon: float) -> NDArray[np.float64]:
    """Return the mean of values in [0, 1] with the noise for `epsilon`."""
    noise: NDArray[np.float64] = rng.laplace(scale=1 / (epsilon * len(data)), size=size)
    return sum(data) / len(data) + noise


def mean_audit(epsilon: float) -> dpaudit.PrivacyFinding:
    """Return the audit of the mean with the noise for `epsilon` and the claim of epsilon 1."""
    mechanism = partial(mean, epsilon=epsilon)
    return dpaudit.audit_privacy(
        mechanism, PAIRS, epsilon=1.0, trials=200_000, batched=True, look=dpaudit.Look(curve=True)
    )


def main() -> None:
    parities = dpaudit.pac.get_learner("parity-private", dimension=2, epsilon=1.0)
    points = dpaudit.pac.get_learner("point-exponential", domain_size=4, epsilon=1.0)
    findings = {
        "curve": mean_audit(2.0),
        "consistent": mean_audit(1.0),
        "exact": dpaudit.pac.audit_law(parities, n=3),
        "utility": dpaudit.pac.audit_utility(points, 1, "uniform", alpha=0.2, beta=0.2, trials=1_000),
    }
    for name, finding in findings.items():
        finding.plot().savefig(FOLDER / f"{name}.png", dpi=150)
