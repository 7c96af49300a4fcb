"""Sample-complexity theorems of learning from mixtures as laws: the exponents of 1/alpha, measured on the line.

A law in the dimension is not among them: the learner runs in at most three dimensions, and three values tell no
exponent.
"""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Evidence
from learners.citations import BMN
from learners.papers.scaling import judged_laws
from learners.papers.statements import states

__all__ = ["ACCURACIES", "LINE", "STATEMENTS"]

ACCURACIES = (1 / 64, 1 / 32, 1 / 20, 1 / 12, 1 / 8, 1 / 6, 1 / 4, 1 / 3)
LINE: dict[str, Any] = {"beta": 0.1, "dimension": 1, "side": 7, "epsilon": 1.0}


def _law(tools: Any, setting: str) -> Evidence:
    """Return the evidence on thresholds of eight points, beta = 0.1, epsilon 1."""
    return judged_laws([tools.scaling_law("mixture-halfspace", "alpha", ACCURACIES, setting=setting, **LINE)])


@states(
    "BMN-Thm4.9-law-alpha",
    "Learning from mixtures takes O(1/alpha) examples in the accuracy, up to logarithms, with labels of a halfspace.",
    f"{BMN}, Theorem 4.9, with explicit constants",
    short="Growth with 1/alpha, mixtures",
    printed="exponent 1",
    found="{exponent, upper half:.2f}, theorem's n {ratio:.0f} times n*",
    slow=True,
)
def _realizable(tools: Any) -> Evidence:
    return _law(tools, "realizable")


@states(
    "BMN-Thm4.10-law-alpha",
    "Learning from mixtures takes O(1/alpha^2) examples in the accuracy, up to logarithms, under noisy labels.",
    f"{BMN}, Theorem 4.10, with explicit constants",
    short="Growth with 1/alpha, mixtures under noisy labels",
    printed="exponent 2",
    found="{exponent, upper half:.2f}, theorem's n {ratio:.0f} times n*",
    slow=True,
)
def _agnostic(tools: Any) -> Evidence:
    return _law(tools, "agnostic")


STATEMENTS = (_realizable, _agnostic)
