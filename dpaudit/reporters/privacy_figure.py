"""The figure of a learner's privacy: its worst-case curve delta(epsilon) against the curve that its claim allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.blackbox.finding import PrivacyFinding
from dpaudit.bounds.curve import Curve
from dpaudit.exact.finding import LawFinding
from dpaudit.reporters import svg
from dpaudit.reporters.numbers import percent, significant, value_text
from dpaudit.reporters.row import Row
from dpaudit.reporters.wording import claim_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["claimed_delta", "paint_privacy", "privacy_figure"]

_POINTS = 65


def claimed_delta(epsilon: float, claim_epsilon: float, claim_delta: float) -> float:
    r"""Return the largest delta at `epsilon` that a mechanism which keeps the claim can have.

    A claim of (e, d) bounds the trade-off of errors by f(x) = max(0, 1 - d - exp(e) x, exp(-e) (1 - d - x)), and
    delta(epsilon) = sup_x 1 - f(x) - exp(epsilon) x. Below e the supremum is at the kink x = (1 - d) / (1 + exp(e)):

    .. math:: \delta(\varepsilon) = 1 - (1 - d) \frac{1 + e^{\varepsilon}}{1 + e^{e}},

    and from e on it is d. Source: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy" (2015).
    """
    if epsilon >= claim_epsilon:
        return claim_delta
    # Divided by exp(claim_epsilon): a claim of any size must not overflow.
    ratio = (math.exp(-claim_epsilon) + math.exp(epsilon - claim_epsilon)) / (math.exp(-claim_epsilon) + 1)
    return 1 - (1 - claim_delta) * ratio


def privacy_figure(row: Row, name: str) -> tuple[str, str] | None:
    """Return the figure delta(epsilon) and its caption; None where neither a curve nor a claim nor a bound is known."""
    if row.exact is None and row.claim is None and row.blackbox is None:
        return None
    caption = _privacy_caption(row)
    return svg.draw(name, f"Privacy of {row.label}", lambda figure: paint_privacy(figure, row)), caption


def _privacy_caption(row: Row) -> str:
    """Say what the figure shows, number by number."""
    parts = []
    if row.exact is not None:
        epsilon = _epsilon_text(row.exact)
        parts.append(
            f"Solid line: the worst case over the pairs enumerated ({row.exact.grade}); its epsilon is {epsilon}."
        )
        parts += _end_caption(row)
    else:
        parts.append(f"The exact curve was not computed: {row.missing['exact']}.")
    if row.claim is not None:
        parts.append(f"Dashed line: the most that the claim of {claim_text(row.claim)} allows.")
    if row.blackbox is not None:
        parts += _blackbox_caption(row.blackbox)
    return " ".join(parts)


def _end_caption(row: Row) -> list[str]:
    """Say where the exact curve stops short of the figure's right end without having come down to 0."""
    curve = _curve(row)
    if not _cut_short(row, curve):
        return []
    return [
        f"The open circle, at epsilon = {significant(curve[-1][0])}, is where it was computed last and not where the "
        "leak ends: delta goes on beyond it."
    ]


def _blackbox_caption(finding: PrivacyFinding) -> list[str]:
    """Say what the black-box audit ruled out: an epsilon, and with a curve everything below it."""
    at = f"at delta = {value_text(finding.delta)} and confidence {percent(finding.confidence)}"
    shown = significant(finding.epsilon_lower, "down", apart_from=finding.epsilon)
    said = f"every epsilon below {shown} is ruled out by the black-box audit {at}."
    said = f"{'Shaded' if finding.curve is None else 'Dotted'}: {said}" if finding.epsilon_lower > 0 else ""
    parts = [said or f"The black-box audit ruled out no epsilon {at}."]
    if finding.curve is not None:
        parts.append(
            "Shaded: the true worst-case curve does not lie in it, at all epsilons together, with confidence "
            f"{_confidence(finding.curve)} (black box, from the pair that was chosen)."
        )
    return parts


def _confidence(curve: Curve) -> str:
    return percent(1 - curve.gamma)


def _epsilon_text(exact: LawFinding) -> str:
    return significant(exact.epsilon, apart_from=exact.claimed_epsilon, error=exact.error, infinity="infinite")


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
        axes.plot(grid, allowed, "--", color=svg.CLAIM, label="allowed by the claim")
        axes.plot(*claim, "D", color=svg.CLAIM, ms=6, clip_on=False, label=f"claim {claim_text(row.claim)}")
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
    svg.legend(figure, measured)


def _paint_blackbox(axes: Axes, finding: PrivacyFinding, right: float) -> float:
    """Shade what the black-box audit ruled out, all below its curve or else left of its epsilon; return its height."""
    top, lower = 0.0, min(finding.epsilon_lower, right)
    if finding.curve is not None:
        grid = [right * i / (_POINTS - 1) for i in range(_POINTS)]
        delta = finding.curve.delta_lower(grid)
        label = f"below: ruled out (black box, {_confidence(finding.curve)})"
        axes.fill_between(grid, delta, color=svg.AREA, lw=0, label=label)
        axes.plot(grid, delta, color=svg.BOUND, lw=1.2)
        top = float(delta.max())
    elif lower > 0:
        axes.axvspan(0, lower, color=svg.AREA, lw=0)
    if lower > 0:
        label = f"left: ruled out (black box, {percent(finding.confidence)})"
        axes.axvline(lower, color=svg.BOUND, lw=1.2, ls=":" if finding.curve else "-", label=label)
    return top


def _paint_exact(axes: Axes, exact: LawFinding, right: float, cut_short: bool) -> list[str]:
    """Draw the exact curve, and mark where it ends and the exact epsilon; return the labels of all that."""
    labels = [f"worst case ({exact.grade})"] if exact.curve else []
    if exact.curve:
        axes.plot(*zip(*exact.curve, strict=True), color=svg.EXACT, label=labels[0])
    marks = [(exact.curve[-1], "o", f"computed up to {significant(exact.curve[-1][0])}", "none")] if cut_short else []
    place, marker = ((exact.epsilon, 0.0), "o") if math.isfinite(exact.epsilon) else ((right, 0.0), ">")
    marks.append((place, marker, f"exact epsilon {_epsilon_text(exact)}", svg.EXACT))
    for at, shape, label, inside in marks:
        # An infinite epsilon is an arrow at the end of the axis, which must not cut the markers.
        axes.plot(*at, shape, color=svg.EXACT, mfc=inside, ms=7, clip_on=False, zorder=5, label=label)
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
