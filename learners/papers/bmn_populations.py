"""Statements of BMN on populations of their own: public examples from one distribution, private ones from another."""

from __future__ import annotations

import numpy as np

from dpaudit.contract import Distribution, Evidence, Tools
from learners.citations import BMN
from learners.mixtures.halfspace import MixtureHalfspace
from learners.papers.evidence import states
from learners.papers.sizes import judged_sizes

__all__ = ["STATEMENTS"]

SIDE = 9
ALPHA = BETA = 0.2
SHARE = 0.7
"""Of the public examples."""


def populations(threshold: int) -> Distribution:
    """Return public examples anywhere, most of them far from the threshold, and private ones at and above it."""
    below = np.abs(np.arange(SIDE + 1) - threshold)
    above = np.arange(threshold, SIDE + 1)
    public = Distribution(np.arange(SIDE + 1)[:, None], below / below.sum())
    private = Distribution(above[:, None], np.full(len(above), 1 / len(above)))
    return Distribution.mixture(public, private, SHARE, "public examples of both labels, private ones labelled 1")


@states(
    "BMN-relaxation-ii-utility",
    "If only private examples share a label, and public ones have a distribution of their own and both labels, the "
    "examples of Theorem 4.9 are enough as well.",
    f"{BMN}, Section 3, relaxation (ii), with the explicit constants of Theorem 4.9",
    short="Examples for an (alpha, β)-learner, two populations",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
)
def _both_labels(tools: Tools) -> Evidence:
    learner, threshold = MixtureHalfspace(1, 1.0, side=SIDE), 5
    labels = learner.concepts.evaluate(learner.domain.points())
    concept = int((labels == (np.arange(SIDE + 1) >= threshold)).all(axis=1).argmax())
    cases = [(f"d = 1, side {SIDE}", learner, concept, populations(threshold))]
    setup = (
        f"alpha = beta = {ALPHA}, target 1 from {threshold} on; {SHARE:.0%} of the examples are public, with "
        f"both labels and most far from {threshold}, private ones are uniform from {threshold} on"
    )
    return judged_sizes(tools, setup, cases, alpha=ALPHA, beta=BETA, halvings=9, trials=50)


STATEMENTS = (_both_labels,)
