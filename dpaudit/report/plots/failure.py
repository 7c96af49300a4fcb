"""The figure of a utility audit: the failure rate with its interval, and beta."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpaudit.report.numbers import count, value_text
from dpaudit.report.plots.style import CLAIM, EXACT, legend
from dpaudit.utility.finding import UtilityFinding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["paint_failure"]

_RATE = "failure rate"


def paint_failure(figure: Figure, finding: UtilityFinding) -> None:
    """Draw the failure rate with its exact interval at the n that was run, and beta."""
    axes = figure.subplots()
    rate = finding.failure_rate
    axes.errorbar(
        [finding.n],
        [rate],
        yerr=[[max(0.0, rate - finding.failure_lower)], [max(0.0, finding.failure_upper - rate)]],
        fmt="o",
        color=EXACT,
        capsize=4,
        label=_RATE,
        clip_on=False,
    )
    axes.axhline(finding.beta, color=CLAIM, ls="--", lw=1.2, label=f"beta = {value_text(finding.beta)}")
    axes.set_xticks([finding.n], [count(finding.n)])
    top = max(finding.beta, finding.failure_upper)
    axes.set(xlabel="examples n", ylabel="failure rate", ylim=(0, 1.08 * top))
    legend(figure, (_RATE,))
