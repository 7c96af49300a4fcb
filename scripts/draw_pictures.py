"""Draw the pictures of the documentation: python scripts/draw_pictures.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dpaudit

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def mean(data: list[float], rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Return the mean with the noise for epsilon = 2."""
    noise: NDArray[np.float64] = rng.laplace(scale=0.5 / len(data), size=size)
    return sum(data) / len(data) + noise


def main() -> None:
    pairs = [([0.0, 0.5, 0.5], [1.0, 0.5, 0.5])]
    finding = dpaudit.audit_privacy(mean, pairs, epsilon=1.0, trials=200_000, batched=True, curve=True)
    finding.plot().savefig(FOLDER / "curve.png", dpi=150)


if __name__ == "__main__":
    main()
