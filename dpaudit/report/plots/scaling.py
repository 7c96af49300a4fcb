"""The figures of sample complexities: n* beside the theorem's n, and the growth of both with a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpaudit.report.plots.style import BOUND, CLAIM, EXACT, legend
from dpaudit.utility.complexity_finding import SampleComplexityFinding
from dpaudit.utility.scaling_finding import ScalingFinding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["paint_scaling", "paint_sizes"]

_MEASURED = "n* measured"


def paint_sizes(figure: Figure, finding: SampleComplexityFinding) -> None:
    """Draw the bracket of n*, what weaker cases would have shown, and the theorem's n, on a logarithmic scale."""
    axes = figure.subplots()
    bars = [
        ("theorem", finding.theorem, CLAIM),
        ("worst case", finding.upper or finding.lower, EXACT),
        ("hard cases", finding.hard_cases, BOUND),
        ("uniform", finding.uniform, BOUND),
    ]
    shown = [(name, n, color) for name, n, color in bars if n]
    axes.barh([name for name, _, _ in shown], [n for _, n, _ in shown], color=[color for _, _, color in shown])
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="examples n")


def paint_scaling(figure: Figure, finding: ScalingFinding) -> None:
    """Draw the brackets of n* and the theorem's n against the parameter, both logarithmic."""
    axes = figure.subplots()
    x = [point.x for point in finding.points]
    top = [point.upper or point.lower for point in finding.points]
    length = [high - max(point.lower, 0.5) for high, point in zip(top, finding.points, strict=True)]
    axes.errorbar(x, top, yerr=[length, [0.0] * len(x)], fmt="o-", ms=4, color=EXACT, capsize=3, label=_MEASURED)
    axes.plot(x, [point.theorem for point in finding.points], "--", color=CLAIM, label="theorem")
    axes.set(xscale="log", yscale="log", xlabel=finding.abscissa, ylabel="examples n")
    legend(figure, (_MEASURED,))
