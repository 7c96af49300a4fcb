"""Claims of BMN on how many examples suffice, and how many are in fact enough."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Evidence, Statement
from learners.citations import BMN
from learners.mixtures.halfspace import MixtureHalfspace
from learners.papers.ladder import climb_down, together
from learners.papers.verdicts import judged

__all__ = ["STATEMENTS"]

ALPHA = BETA = 0.2


def _pac(tools: Any, cases: tuple[tuple[MixtureHalfspace, int], ...], trials: int, **setting: Any) -> Evidence:
    numbers: dict[str, float] = {}
    told, verdicts, witness = [], [], ""
    for learner, rungs in cases:
        name = f"d = {learner.dimension}, side {learner.side}"
        middle = learner.concepts.size // 2
        found = climb_down(
            tools, learner, middle, "uniform", alpha=ALPHA, beta=BETA, rungs=rungs, trials=trials, **setting
        )
        verdicts.append(found.verdict)
        if found.verdict == "refuted":
            witness = f"{learner!r}, concept {middle}, uniform distribution, n = {found.top}"
        numbers |= found.numbers(name)
        told.append(found.told(name))
    text = f"alpha = beta = {ALPHA}, uniform distribution, middle concept; " + "; ".join(told)
    verdict = together(verdicts)
    return judged(verdict, failed=bool(witness), summary=text, numbers=numbers, grade="statistical", witness=witness)


def _realizable(tools: Any) -> Evidence:
    return _pac(tools, ((MixtureHalfspace(1, 1.0, side=9), 9), (MixtureHalfspace(2, 1.0, side=2), 9)), 100)


def _agnostic(tools: Any) -> Evidence:
    cases = ((MixtureHalfspace(1, 1.0, side=9), 9), (MixtureHalfspace(2, 1.0, side=2), 9))
    return _pac(tools, cases, 100, setting="agnostic", noise=0.2)


STATEMENTS = (
    Statement(
        "BMN-Thm4.9",
        "The learner is (alpha, beta)-PAC with O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha)) examples.",
        f"{BMN}, Theorem 4.9, with explicit constants",
        _realizable,
    ),
    Statement(
        "BMN-Thm4.10",
        "With max(1/alpha^2, 1/(epsilon alpha)) for the last factor its error exceeds the best halfspace's by alpha at "
        "most, where labels are noisy.",
        f"{BMN}, Theorem 4.10, with explicit constants; each label is wrong with probability 1/5",
        _agnostic,
    ),
)
