"""Remake composition_reference.json with Google's dp-accounting, an implementation of composition by others.

dp-accounting pins an old attrs, so it is no dependency of the tests. In an environment of its own, where dpaudit and
dp-accounting 0.6 are installed: ``python tests/oracle/remake_composition.py``.

For single pairs it holds epsilon(delta) with losses rounded up and rounded down, between which the truth lies; for the
dominating pair the epsilon of its connect-the-dots estimate on a grid, an upper bound.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

import dpaudit

# Widths of the cells of losses: the losses of single pairs are rounded, which needs finer ones.
GRID = 1e-3
SINGLE_GRID = 1e-4
DELTAS = (1e-3, 1e-6, 1e-9)
TIMES = (1, 10, 100)
LEARNERS = {
    "thresholds 4": ("threshold-exponential", {"domain_size": 4, "epsilon": 1.0}, 4),
    "thresholds 8": ("threshold-exponential", {"domain_size": 8, "epsilon": 1.0}, 4),
    "points 3": ("point-exponential", {"domain_size": 3, "epsilon": 2.0}, 2),
    "parities 2": ("parity-private", {"dimension": 2, "epsilon": 1.0}, 2),
}
PAIRS = {
    "three atoms": ((0.7, 0.2, 0.1), (0.3, 0.3, 0.4)),
    "four atoms": ((0.5, 0.25, 0.2, 0.05), (0.2, 0.3, 0.25, 0.25)),
    "impossible": ((0.6, 0.39998, 0.00002), (0.4, 0.6, 0.0)),
}


def supremum(profiles: object, gammas: np.ndarray) -> np.ndarray:
    """Return the greatest hockey-stick divergence of all pairs at each gamma, by going through all of them."""
    prob = np.exp(profiles.log_prob)
    best = np.zeros(len(gammas))
    # In blocks: the laws of all pairs at once take too much memory.
    for start in range(0, len(profiles.left), 8192):
        left, right = (prob[side[start : start + 8192]] for side in (profiles.left, profiles.right))
        for i, gamma in enumerate(gammas):
            best[i] = max(best[i], np.maximum(left - gamma * right, 0).sum(axis=1).max())
    return best


def of_learner(name: str, parameters: dict[str, object], n: int) -> list[list[float]]:
    """Return rows (times, delta, epsilon of the dominating pair on the grid)."""
    # Imported here: an environment for tests has no dp-accounting.
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    profiles = dpaudit.pac.audit_law(dpaudit.pac.get_learner(name, **parameters), n=n).profiles
    # All losses lie between minus and plus the greatest epsilon.
    top = int(np.ceil(profiles.epsilon / GRID)) + 1
    rounded = np.arange(-top, top + 1)
    deltas = supremum(profiles, np.exp(rounded * GRID))
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots(GRID, rounded, deltas)
    loss = privacy_loss_distribution.PrivacyLossDistribution(pmf)
    return [
        [times, delta, loss.self_compose(times).get_epsilon_for_delta(delta)] for times in TIMES for delta in DELTAS
    ]


def of_pair(left: tuple[float, ...], right: tuple[float, ...]) -> list[list[float]]:
    """Return rows (times, delta, epsilon rounded down, epsilon rounded up) for one pair of laws, one direction."""
    from dp_accounting.pld import privacy_loss_distribution

    logs = [{i: float(np.log(p)) for i, p in enumerate(side) if p > 0} for side in (right, left)]
    losses = [
        privacy_loss_distribution.from_two_probability_mass_functions(
            *logs, pessimistic_estimate=up, value_discretization_interval=SINGLE_GRID, symmetric=True
        )
        for up in (False, True)
    ]
    return [
        [times, delta, *(loss.self_compose(times).get_epsilon_for_delta(delta) for loss in losses)]
        for times in TIMES
        for delta in DELTAS
    ]


def main() -> None:
    """Write the file beside this script."""
    content = {
        "made with": f"dp-accounting {version('dp-accounting')}",
        "grid": GRID,
        "learners": {
            title: {"learner": [name, parameters, n], "rows": of_learner(name, parameters, n)}
            for title, (name, parameters, n) in LEARNERS.items()
        },
        "pairs": {
            title: {"laws": [left, right], "rows": of_pair(left, right)} for title, (left, right) in PAIRS.items()
        },
    }
    # JSON has no infinity; readers of the file turn the word into a number by float.
    text = json.dumps(content, indent=1).replace("Infinity", '"inf"')
    Path(__file__).with_name("composition_reference.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
