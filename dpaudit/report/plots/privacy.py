"""The figure of a privacy audit: the curves delta(epsilon) that are claimed, computed and ruled out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.exact.finding import LawFinding
from dpaudit.report.numbers import percent, significant
from dpaudit.report.page.curve_figure import claimed_delta
from dpaudit.report.plots.style import AREA, BOUND, CLAIM, EXACT, legend
from dpaudit.report.row import Row
from dpaudit.report.wording import claim_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["paint_privacy"]

_POINTS = 65


def paint_privacy(figure: Figure, row: Row) -> None:
    """Draw the exact curve, the claimed one, the exact epsilon, and the black-box bound as a band."""
    axes = figure.subplots()
    curve = _curve(row)
    right = _right_end(row, curve)
    if row.claim is not None:
        claim = row.claim.epsilon, row.claim.delta
        # The claim's own epsilon is a knot, so that the bend and the marker are where they belong.
        grid = sorted({*(right * i / (_POINTS - 1) for i in range(_POINTS)), claim[0]})
        allowed = [claimed_delta(e, *claim) for e in grid]
        axes.plot(grid, allowed, "--", color=CLAIM, label="allowed by the claim")
        axes.plot(*claim, "D", color=CLAIM, ms=6, clip_on=False, label=f"claim {claim_text(row.claim)}")
    measured = [] if row.exact is None else _paint_exact(axes, row.exact, right, _cut_short(row, curve))
    heights = [d for e, d in curve if e <= right]
    heights += [0.0 if row.blackbox is None else _paint_blackbox(axes, row.blackbox, right)]
    heights += [claimed_delta(0.0, row.claim.epsilon, row.claim.delta)] if row.claim is not None else []
    axes.set(
        xlim=(0, right),
        ylim=(0, 1.08 * max(heights, default=0.0) or 1.0),
        xlabel="epsilon",
        ylabel="worst-case delta",
    )
    legend(figure, measured)


def _paint_blackbox(axes: Axes, finding: PrivacyFinding, right: float) -> float:
    """Shade what the black-box audit ruled out, all below its curve or else left of its epsilon; return its height."""
    top, lower = 0.0, min(finding.epsilon_lower, right)
    if finding.curve is not None:
        grid = [right * i / (_POINTS - 1) for i in range(_POINTS)]
        delta = finding.curve.delta_lower(grid)
        label = f"below: ruled out (black box, {percent(1 - finding.curve.gamma)})"
        axes.fill_between(grid, delta, color=AREA, lw=0, label=label)
        axes.plot(grid, delta, color=BOUND, lw=1.2)
        top = float(delta.max())
    elif lower > 0:
        axes.axvspan(0, lower, color=AREA, lw=0)
    if lower > 0:
        label = f"left: ruled out (black box, {percent(finding.confidence)})"
        axes.axvline(lower, color=BOUND, lw=1.2, ls=":" if finding.curve else "-", label=label)
    return top


def _paint_exact(axes: Axes, exact: LawFinding, right: float, cut_short: bool) -> list[str]:
    """Draw the exact curve, and mark where it ends and the exact epsilon; return the labels of all that."""
    labels = [f"worst case ({exact.grade})"] if exact.curve else []
    if exact.curve:
        axes.plot(*zip(*exact.curve, strict=True), color=EXACT, label=labels[0])
    marks = [(exact.curve[-1], "o", f"computed up to {significant(exact.curve[-1][0])}", "none")] if cut_short else []
    place, marker = ((exact.epsilon, 0.0), "o") if math.isfinite(exact.epsilon) else ((right, 0.0), ">")
    told = significant(exact.epsilon, apart_from=exact.claimed_epsilon, error=exact.error, infinity="infinite")
    marks.append((place, marker, f"exact epsilon {told}", EXACT))
    for at, shape, label, inside in marks:
        # An infinite epsilon is an arrow at the end of the axis, which must not cut the markers.
        axes.plot(*at, shape, color=EXACT, mfc=inside, ms=7, clip_on=False, zorder=5, label=label)
    return labels + [label for _, _, label, _ in marks]


def _curve(row: Row) -> Sequence[tuple[float, float]]:
    """Return the points (epsilon, worst-case delta) of the exact curve; none without an exact audit."""
    return () if row.exact is None else row.exact.curve


def _cut_short(row: Row, curve: Sequence[tuple[float, float]]) -> bool:
    """Say whether the curve ends inside the figure above 0, as if there were no leak beyond."""
    return bool(curve) and curve[-1][1] > 0 and curve[-1][0] < 0.9 * _right_end(row, curve)


def _right_end(row: Row, curve: Sequence[tuple[float, float]]) -> float:
    """Return the right end of the epsilon axis: a little beyond everything that is marked."""
    marks = [row.exact.epsilon] if row.exact else []
    marks += [row.claim.epsilon] if row.claim else []
    marks += [row.blackbox.epsilon_lower] if row.blackbox else []
    ends = [1.1 * m for m in marks if math.isfinite(m) and m > 0] or [e for e, _ in curve if math.isfinite(e)]
    return max(ends, default=1.0) or 1.0
