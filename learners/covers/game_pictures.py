"""The picture of a calibration: what a round may spend by the paper, and by the worst-case game."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import Panel, Picture, Shape
from learners.arrays import Floats
from learners.covers.game import calibrate, game_curve
from learners.covers.shares import paper_share

__all__ = ["calibration_picture"]

POINTS = 60
"""The number of points that a curve is drawn through."""


def calibration_picture(k: int, rounds: int, epsilon: float, delta: float) -> Picture:
    """Return ln-scaled curves delta(epsilon) of the game at the paper's eps_hat and at the calibrated one.

    Parameters
    ----------
    k, rounds : int
        Of the Set Cover Learner.
    epsilon, delta : float
        The claim that both are to meet, under replacement.
    """
    printed, found = paper_share(epsilon, delta), calibrate(k, rounds, epsilon, delta)
    low = math.log10(delta) - 3
    shapes = [
        _curve(k, rounds, printed, epsilon, low, "blue", f"the paper's eps_hat = {printed:.4f} (Claim 3.4)"),
        _curve(k, rounds, found, epsilon, low, "purple", f"calibrated eps_hat = {found:.4f}"),
        Shape("points", ((epsilon, math.log10(delta)),), "orange", marker="square", label="the claim"),
    ]
    caption = (
        f"Calibration by the worst-case game (numeric), k = {k}, {rounds} rounds, one example replaced: the largest "
        f"eps_hat that meets epsilon = {epsilon:g}, delta = {delta:g} is {found / printed:.1f} times the paper's, so "
        f"that the paper's sample is about as many times too large. The sample plays no part."
    )
    axes = ("epsilon", "log10 of delta")
    return Picture((Panel(caption, (0.0, 1.2 * epsilon), (low, 0.0), tuple(shapes), *axes, equal=False),))


def _curve(k: int, rounds: int, share: float, epsilon: float, low: float, tone: str, label: str) -> Shape:
    """Return delta(epsilon) for one eps_hat, down to 10^low."""
    epsilons, deltas = game_curve(k, rounds, share / 2, epsilon)
    logs: Floats = np.log10(np.maximum(deltas, 10.0 ** (low - 1)))
    shown = np.flatnonzero((logs > low - 0.5) & (epsilons <= 1.2 * epsilon))
    chosen = shown[np.unique(np.linspace(0, len(shown) - 1, POINTS).round().astype(int))]
    points = tuple((float(e), float(d)) for e, d in zip(epsilons[chosen], logs[chosen], strict=True))
    return Shape("line", points, tone, label=label)
