"""The figure of a supremum: the loss of the witness as its samples grow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpaudit.exact.supremum.finding import SupremumFinding
from dpaudit.report.numbers import value_text
from dpaudit.report.plots.style import BOUND, CLAIM, EXACT, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["paint_supremum"]

_LOSS = "loss of the witness"


def paint_supremum(figure: Figure, finding: SupremumFinding) -> None:
    """Draw the loss against the number of examples, with the supremum and the claim; infinite ones are left out."""
    axes = figure.subplots()
    finite = [(n, loss) for n, loss in finding.growth if math.isfinite(loss)]
    sizes, losses = [n for n, _ in finite], [loss for _, loss in finite]
    axes.plot(sizes, losses, "o-", color=EXACT, label=_LOSS, clip_on=False)
    if math.isfinite(finding.value):
        axes.axhline(finding.value, color=BOUND, lw=1.2, label=f"supremum, {finding.support.value}")
    if finding.claimed_epsilon is not None:
        told = f"claim: epsilon = {value_text(finding.claimed_epsilon)}"
        axes.axhline(finding.claimed_epsilon, color=CLAIM, ls="--", lw=1.2, label=told)
    axes.set(xlabel="examples n", ylabel="privacy loss", xscale="log")
    axes.set_ylim(bottom=0)
    legend(figure, (_LOSS,))
