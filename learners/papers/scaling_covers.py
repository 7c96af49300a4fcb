"""Sample-complexity theorems of the greedy learners of conjunctions as laws: the exponent of k, measured."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Evidence
from learners.citations import KMMS, STE
from learners.papers.scaling import judged_laws
from learners.papers.statements import states

__all__ = ["COMMON", "LITERALS", "OWN", "STATEMENTS"]

LITERALS = (1, 2, 4, 8, 16, 32, 64, 128)
COMMON: dict[str, Any] = {"alpha": 0.2, "beta": 0.2, "dimension": 2**16, "epsilon": 1.0}
"""With ln d not far above ln J a literal is found by chance, and n* stops growing with k."""
OWN: dict[str, Any] = {"delta": 1e-6, "parameters": {"alpha": 0.1, "beta": 0.05}}
"""Of the Set Cover Learner: it is built for half of alpha and a quarter of beta."""
FOUND = "{exponent, upper half:.2f}, theorem's n {ratio:.0f} times n*"


def _law(tools: Any, id: str, **given: Any) -> Evidence:
    """Return the evidence on conjunctions of at most k literals at alpha = beta = 0.2, epsilon 1."""
    return judged_laws([tools.scaling_law(id, "k", LITERALS, **COMMON, **given)])


def _cover(tools: Any, variant: str) -> Evidence:
    return _law(tools, "set-cover-conjunction", **OWN, variant=variant)


@states(
    "KMMS-Thm3.2-law-k",
    "The Set Cover Learner needs O(k) examples in the number of sets, up to logarithms, by Claim 3.4.",
    f"{KMMS}, Theorem 3.2, with explicit constants",
    short="Growth with k, Set Cover Learner",
    printed="exponent 1",
    found=FOUND,
    slow=True,
)
def _linear(tools: Any) -> Evidence:
    return _cover(tools, "paper")


@states(
    "KMMS-Ex3.3-law-k",
    "By composition the Set Cover Learner needs O(k^1.5) examples in the number of sets, up to logarithms.",
    f"{KMMS}, Example 3.3",
    short="Growth with k, Set Cover Learner by composition",
    printed="exponent 1.5",
    found=FOUND,
    slow=True,
)
def _composed(tools: Any) -> Evidence:
    return _cover(tools, "composition")


@states(
    "STE-Conj2-law-k",
    "The greedy learner of conjunctions needs O(k^2) examples in the number of literals, up to logarithms.",
    f"{STE}, step 3",
    short="Growth with k, greedy conjunctions",
    printed="exponent 2",
    found=FOUND,
    slow=True,
)
def _greedy(tools: Any) -> Evidence:
    return _law(tools, "conjunction-greedy")


STATEMENTS = (_linear, _composed, _greedy)
