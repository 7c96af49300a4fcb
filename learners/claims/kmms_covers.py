"""Claims of KMMS on the Set Cover Learner for literals: what its theorem leaves out, what its constant gives away."""

from __future__ import annotations

import math
from typing import Any

from dpaudit.contract import Claim, Evidence, Relation
from learners.concepts.conjunctions import Conjunction
from learners.covers.game import calibrate
from learners.covers.shares import composed_share, noiseless_share, paper_share
from learners.domains import Cube
from learners.polygons import KMMS
from learners.set_cover import SetCoverConjunction

__all__ = ["CLAIMS"]


def _no_literal(tools: Any) -> Evidence:
    least: dict[str, float] = {}
    for dimension in (2, 3, 4):
        points = Cube(dimension).points()
        errors = [float(1 - Conjunction(dimension, 1 << i).predict(points).mean()) for i in range(2 * dimension)]
        least[f"least error, d={dimension}"] = min(errors)
    learner = SetCoverConjunction(dimension=4, k=2, epsilon=1.0, delta=1e-6, alpha=0.1, beta=0.05)
    n, always = learner.sample_size(0.2, 0.2), Conjunction(4, 0)
    found = tools.audit_utility(learner, always, "uniform", alpha=0.2, beta=0.2, n=n, trials=100)
    numbers = {**least, "n": n, "failure rate, d=4": found.failure_rate}
    if min(least.values()) == 0:
        return Evidence("holds", "some literal is always 1", numbers, "exact")
    summary = (
        f"an output holds at least one literal, and each errs on {min(least.values()):g} of the cube, whatever n: at "
        f"d = 4, k = 2 and n = {n} it failed in {found.failures} of {found.trials} runs. Targets of 1 to k literals "
        f"are learned; so is that of no halfplane, as a halfplane of the box is always 1 on the grid"
    )
    witness = "the conjunction of no literal, always 1, under the uniform distribution"
    return Evidence("refuted", summary, numbers, "exact", witness)


def _calibration(tools: Any) -> Evidence:
    epsilon, delta, rounds = 1.0, 1e-6, math.ceil(2 * math.log(20))
    printed = paper_share(epsilon, delta)
    numbers = {
        "paper": printed,
        "composition": composed_share(rounds, epsilon, delta),
        "without noise, proved": noiseless_share(1, rounds, epsilon, delta),
        "game, replacement": calibrate(1, rounds, epsilon, delta),
        "game, add or remove": calibrate(1, rounds, epsilon, delta, Relation.ADD_REMOVE_ONE),
    }
    loss = numbers["game, replacement"] / printed
    numbers["loss"] = loss
    summary = (
        f"at (1, 1e-6), k = 1, alpha = 0.1 (J = {rounds}) the game allows eps_hat = {numbers['game, replacement']:.3f} "
        f"under replacement and {numbers['game, add or remove']:.3f} under addition, the paper {printed:.4f}: "
        f"{loss:.1f} times less, so samples {loss:.1f} times larger; plain composition gives "
        f"{numbers['composition']:.3f}"
    )
    return Evidence("loose" if loss > 1.5 else "holds", summary, numbers, "numeric")


CLAIMS = (
    Claim("KMMS-Thm3.5", "the Set Cover Learner learns every conjunction of at most k literals, that of none included",
          f"{KMMS}, Theorem 3.5", _no_literal),
    Claim("KMMS-Claim3.4-loss",
          "eps_hat of Claim 3.4 meets (1, 1e-6), and none that is 1.5 times larger does, k = 1, alpha = 0.1",
          f"{KMMS}, Claim 3.4", _calibration),
)  # fmt: skip
