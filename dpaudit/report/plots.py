"""The figure of a finding by matplotlib: curves of privacy, rates of failure, sizes of samples, guesses of coins."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.one_run_finding import OneRunFinding
from dpaudit.exact.finding import LawFinding, SupremumFinding
from dpaudit.report.figures import Curves
from dpaudit.report.numbers import count, percent, significant, value_text
from dpaudit.report.view import Row
from dpaudit.report.words.claims import claim_cell, curve_claim_parts
from dpaudit.report.words.finding import OneSearch
from dpaudit.report.words.sensitivity import bars_of
from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding, UtilityFinding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, distinct under every common colour blindness.
INK = "#1b1b1b"
GRID = "#d8d8d8"
EXACT = "#0072b2"
CLAIM = "#d55e00"
BOUND = "#8a5a83"
AREA = "#f0e4ee"

# In inches.
_SIZE = (5.0, 3.2)
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
}


def figure_of(finding: Row | UtilityFinding | OneSearch) -> Figure:
    """Return the figure of a finding on a new canvas, which belongs to no window; a row has a figure of its privacy."""
    return painted(partial(_PAINTERS[type(finding)], finding))


def painted(paint: Callable[[Axes], Sequence[str]]) -> Figure:
    """Return what a function paints on axes, in the style of all figures; it returns the labels that come first."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from dpaudit.report.notebook_figure import NotebookFigure

    # "default" first: a user's matplotlibrc must not change the figure.
    with style.context(["default", _STYLE]):
        figure = NotebookFigure(figsize=_SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        first = paint(axes)
        drawn = zip(*axes.get_legend_handles_labels(), strict=True)
        # Above the axes, where it covers nothing; what was measured leads.
        if ordered := sorted(drawn, key=lambda one: first.index(one[1]) if one[1] in first else len(first)):
            handles, labels = zip(*ordered, strict=True)
            figure.legend(handles, labels, loc="outside upper left", ncols=2, handlelength=1.8, columnspacing=1.4)
    return figure


def as_svg(figure: Figure) -> bytes:
    """Return a figure as SVG, the same bytes each time."""
    import matplotlib as mpl

    written = io.BytesIO()
    # Without these two settings and the empty date, ids and metadata differ from call to call.
    with mpl.rc_context({"svg.hashsalt": "dpaudit", "svg.fonttype": "none"}):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "dpaudit"})
    return written.getvalue()


def _privacy(row: Row, axes: Axes) -> Sequence[str]:
    curves = Curves(row)
    measured = list[str]()
    if row.claim is not None:
        axes.plot(*zip(*curves.promised, strict=True), "--", color=CLAIM, label="allowed by the claim")
        claim = claim_cell(row.claim.epsilon, row.claim.delta)
        if row.curve is not None:
            claim = curve_claim_parts(row.curve.claim)[0]
        axes.plot(row.claim.epsilon, row.claim.delta, "D", color=CLAIM, ms=6, clip_on=False, label=f"claim {claim}")
    if row.exact is not None:
        measured = _exact(axes, row.exact, curves.right)
    if row.blackbox is not None:
        _ruled_out(axes, row.blackbox, curves)
    # A little room above the highest curve, whose line would be cut by the frame.
    top = 1.08 * max((delta for _, delta in (*curves.promised, *curves.exact, *curves.found)), default=0.0) or 1.0
    axes.set(xlim=(0, curves.right), ylim=(0, top), xlabel="epsilon", ylabel="worst-case delta")
    return measured


def _ruled_out(axes: Axes, finding: PrivacyFinding, curves: Curves) -> None:
    # A bound beyond the axis stands at its end.
    lower = min(finding.epsilon_lower, curves.right)
    if finding.curve is not None and curves.found:
        grid, delta = zip(*curves.found, strict=True)
        label = f"below: ruled out (black box, {percent(1 - finding.curve.gamma)})"
        axes.fill_between(grid, delta, color=AREA, lw=0, label=label)
        axes.plot(grid, delta, color=BOUND, lw=1.2)
    elif lower > 0:
        axes.axvspan(0, lower, color=AREA, lw=0)
    if lower > 0:
        label = f"left: ruled out (black box, {percent(finding.confidence)})"
        axes.axvline(lower, color=BOUND, lw=1.2, ls=":" if curves.found else "-", label=label)


def _exact(axes: Axes, exact: LawFinding, right: float) -> list[str]:
    labels = []
    marks = []
    if exact.curve:
        labels.append(f"worst case ({exact.grade})")
        axes.plot(*zip(*exact.curve, strict=True), color=EXACT, label=labels[0])
        end, height = exact.curve[-1]
        # A curve that ends inside the figure above 0 would look as if there were no leak beyond.
        if height > 0 and end < 0.9 * right:
            marks.append(((end, height), "o", f"computed up to {significant(end)}", "none"))
    # An infinite epsilon is an arrow at the end of the axis, which must not cut the markers.
    place, marker = ((exact.epsilon, 0.0), "o") if math.isfinite(exact.epsilon) else ((right, 0.0), ">")
    shown = significant(exact.epsilon, apart_from=exact.claimed_epsilon, error=exact.error, infinity="infinite")
    marks.append((place, marker, f"exact epsilon {shown}", EXACT))
    for at, shape, label, inside in marks:
        axes.plot(*at, shape, color=EXACT, mfc=inside, ms=7, clip_on=False, zorder=5, label=label)
    return labels + [label for _, _, label, _ in marks]


def _failure(finding: UtilityFinding, axes: Axes) -> Sequence[str]:
    rate = finding.failure_rate
    label = "failure rate"
    ends = [[max(0.0, rate - finding.failure_lower)], [max(0.0, finding.failure_upper - rate)]]
    axes.errorbar([finding.n], [rate], yerr=ends, fmt="o", color=EXACT, capsize=4, label=label, clip_on=False)
    axes.axhline(finding.beta, color=CLAIM, ls="--", lw=1.2, label=f"beta = {value_text(finding.beta)}")
    # One point: a scale of its own would show sample sizes that nothing was found of.
    axes.set_xticks([finding.n], [count(finding.n)])
    top = max(finding.beta, finding.failure_upper)
    axes.set(xlabel="examples n", ylabel=label, ylim=(0, 1.08 * top))
    return (label,)


def _supremum(finding: SupremumFinding, axes: Axes) -> Sequence[str]:
    label = "loss of the witness"
    # An axis has no place for infinity; the words of the finding say it.
    finite = [(n, loss) for n, loss in finding.growth if math.isfinite(loss)]
    axes.plot([n for n, _ in finite], [loss for _, loss in finite], "o-", color=EXACT, label=label, clip_on=False)
    if math.isfinite(finding.value):
        axes.axhline(finding.value, color=BOUND, lw=1.2, label=f"supremum, {finding.support.value}")
    if finding.claimed_epsilon is not None:
        claim = f"claim: epsilon = {value_text(finding.claimed_epsilon)}"
        axes.axhline(finding.claimed_epsilon, color=CLAIM, ls="--", lw=1.2, label=claim)
    axes.set(xlabel="examples n", ylabel="privacy loss", xscale="log")
    axes.set_ylim(bottom=0)
    return (label,)


def _sizes(finding: SampleComplexityFinding, axes: Axes) -> Sequence[str]:
    bars = [("theorem", finding.theorem, CLAIM), ("suffices", finding.upper, BOUND), ("fails", finding.lower, EXACT)]
    shown = [(name, n, color) for name, n, color in bars if n]
    names, sizes, colors = zip(*shown, strict=True)
    axes.bar_label(axes.barh(names, sizes, color=colors), [count(n) for n in sizes], padding=3)
    axes.invert_yaxis()
    # Room for the number beside the longest bar.
    axes.set(xscale="log", xlabel="examples n", xlim=(1, 5 * max(sizes)))
    return ()


def _scaling(finding: ScalingFinding, axes: Axes) -> Sequence[str]:
    x = [point.x for point in finding.points]
    label = "n* measured"
    # Points are drawn at the size that suffices, with a bar down to the one that fails.
    top = [point.upper or point.lower for point in finding.points]
    length = [high - max(point.lower, 0.5) for high, point in zip(top, finding.points, strict=True)]
    axes.errorbar(x, top, yerr=[length, [0.0] * len(x)], fmt="o-", ms=4, color=EXACT, capsize=3, label=label)
    axes.plot(x, [point.theorem for point in finding.points], "--", color=CLAIM, label="theorem")
    axes.set(xscale="log", yscale="log", xlabel=finding.abscissa, ylabel="examples n")
    return (label,)


def _guesses(finding: OneRunFinding, axes: Axes) -> Sequence[str]:
    label = "right guesses"
    shares = [(one.guesses, one.right / one.guesses) for one in finding.schedule]
    axes.plot(*zip(*shares, strict=True), "o-", color=EXACT, label=label)
    # Where not even all guesses right would refute the claim there is nothing to reach.
    refuting = [(one.guesses, one.critical / one.guesses) for one in finding.schedule if one.critical <= one.guesses]
    if refuting:
        axes.plot(*zip(*refuting, strict=True), "s--", ms=4, color=CLAIM, label="refutes the claim")
    axes.axhline(0.5, color=BOUND, lw=1.2, ls=":", label="by chance")
    axes.set(xscale="log", xlabel="surest guesses", ylabel="share of them")
    return (label,)


def _moves(finding: SensitivityFinding | RecordedFinding, axes: Axes) -> Sequence[str]:
    rows = bars_of(finding)
    finite = [number for _, *pair in rows for number in pair if math.isfinite(number)]
    most = 1.1 * max(finite, default=1.0) or 1.0
    for i, (_, distance, claimed) in enumerate(rows):
        axes.barh(i, min(distance, most), height=0.5, color=EXACT, label="distance" if i == 0 else None)
        axes.plot([claimed, claimed], [i - 0.4, i + 0.4], color=CLAIM, lw=2, label="claimed" if i == 0 else None)
    axes.set(yticks=range(len(rows)), yticklabels=[name for name, *_ in rows], xlim=(0, most), xlabel="distance")
    axes.invert_yaxis()
    return ("distance",)


# What paints each kind of finding.
_PAINTERS: dict[type, Callable[[Any, Axes], Sequence[str]]] = {
    Row: _privacy,
    UtilityFinding: _failure,
    SupremumFinding: _supremum,
    SampleComplexityFinding: _sizes,
    ScalingFinding: _scaling,
    OneRunFinding: _guesses,
    SensitivityFinding: _moves,
    RecordedFinding: _moves,
}
