"""Sample-complexity theorems of boxes by interior points as laws: the exponent of the dimension, measured."""

from __future__ import annotations

from typing import Any

from dpaudit.contract import Evidence
from learners.citations import STE
from learners.papers.scaling import judged_laws
from learners.papers.statements import states

__all__ = ["STATEMENTS"]

BASIC = (1, 2, 4, 8, 16, 32)
ADVANCED = (16, 20, 24, 32, 40, 48)
"""Below d = 16 basic composition is the better one, at delta = 1e-6."""
COMMON: dict[str, Any] = {"alpha": 0.1, "beta": 0.1, "side": 2, "epsilon": 1.0, "parameters": {"beta": 0.05}}
"""Of both laws, over {0, 1, 2}^d; the learner's own beta, which is half of the one that is asked for, is set apart."""
FOUND = "{exponent, upper half:.2f}, theorem's n {ratio:.1f} times n*"


def _law(tools: Any, dimensions: tuple[int, ...], **given: Any) -> Evidence:
    """Return the evidence on boxes in some dimensions."""
    return judged_laws([tools.scaling_law("box-interior-point", "dimension", dimensions, **COMMON, **given)])


@states(
    "STE-Boxd-law-basic",
    "Boxes in d dimensions by 2 d interior points need O(d^2) examples, up to ln d, by basic composition.",
    f"{STE}, private boxes by interior points",
    short="Growth with d, boxes, basic composition",
    printed="exponent 2",
    found=FOUND,
    slow=True,
)
def _basic(tools: Any) -> Evidence:
    return _law(tools, BASIC)


@states(
    "STE-Boxd-law-advanced",
    "With a delta, boxes in d dimensions need O(d^1.5) examples, up to ln d, by advanced composition.",
    f"{STE}, private boxes by interior points",
    short="Growth with d, boxes, advanced composition",
    printed="exponent 1.5",
    found=FOUND,
    slow=True,
)
def _advanced(tools: Any) -> Evidence:
    return _law(tools, ADVANCED, delta=1e-6)


STATEMENTS = (_basic, _advanced)
