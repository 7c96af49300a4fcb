"""Statements of BMN on how many examples suffice, and how many are in fact enough."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Evidence, Tools
from learners.citations import BMN
from learners.mixtures.halfspace import MixtureHalfspace
from learners.papers.evidence import states
from learners.papers.sizes import judged_sizes

__all__ = ["STATEMENTS"]

ALPHA = BETA = 0.2


def _pac(tools: Tools, **setting: Any) -> Evidence:
    """Return the evidence on the learner's sample size, d = 1 and d = 2."""
    learners = (MixtureHalfspace(1, 1.0, side=9), MixtureHalfspace(2, 1.0, side=2))
    cases = [(f"d = {a.dimension}, side {a.side}", a, a.concepts.size // 2, "uniform") for a in learners]
    levels = {"alpha": ALPHA, "beta": BETA, "halvings": 9, "trials": 50, **setting}
    setup = f"alpha = beta = {ALPHA}, uniform distribution, middle concept"
    return judged_sizes(tools, setup, cases, **levels)


@states(
    "BMN-Thm4.9",
    "The learner is (alpha, beta)-PAC with O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha)) examples.",
    f"{BMN}, Theorem 4.9, with explicit constants",
    short="Examples for an (alpha, β)-learner",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
    slow=True,
)
def _realizable(tools: Tools) -> Evidence:
    return _pac(tools)


@states(
    "BMN-Thm4.10",
    "With max(1/alpha^2, 1/(epsilon alpha)) for the last factor its error exceeds the best halfspace's by alpha at "
    "most, where labels are noisy.",
    f"{BMN}, Theorem 4.10, with explicit constants; each label is wrong with probability 1/5",
    short="Examples for excess error alpha under noisy labels",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
    slow=True,
)
def _agnostic(tools: Tools) -> Evidence:
    return _pac(tools, setting="agnostic", noise=0.2)


STATEMENTS = (_realizable, _agnostic)
