"""The figure of a learner's privacy: its worst-case curve delta(epsilon) against the curve that its claim allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpaudit.reporters import svg
from dpaudit.reporters.row import Row
from dpaudit.reporters.wording import claim_text, percent, significant, value_text
from dpaudit.results import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["claimed_delta", "privacy_figure"]

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
    return svg.draw(name, f"Privacy of {row.label}. {caption}", lambda figure: _paint_privacy(figure, row)), caption


def _privacy_caption(row: Row) -> str:
    """Say what the figure shows, number by number."""
    parts = []
    if row.exact is not None:
        epsilon = significant(
            row.exact["epsilon"],
            apart_from=row.exact["claimed_epsilon"],
            error=row.exact["error"],
            infinity="infinite",
        )
        parts.append(
            f"Solid line: the worst case over the pairs enumerated ({row.exact['grade']}); its epsilon is {epsilon}."
        )
    else:
        parts.append(f"The exact curve was not computed: {row.missing['exact']}.")
    if row.claim is not None:
        parts.append(f"Dashed line: the most that the claim of {claim_text(row.claim)} allows.")
    if row.blackbox is not None:
        lower = number(row.blackbox["epsilon_lower"])
        at = f"at delta = {value_text(row.blackbox['delta'])} and confidence {percent(row.blackbox['confidence'])}"
        shown = significant(lower, "down", apart_from=row.blackbox["epsilon"])
        parts.append(
            f"Shaded: every epsilon below {shown} is ruled out by the black-box audit {at}."
            if lower > 0
            else f"The black-box audit ruled out no epsilon {at}."
        )
    return " ".join(parts)


def _paint_privacy(figure: Figure, row: Row) -> None:
    """Draw the exact curve, the claimed one, the exact epsilon, and the black-box bound as a band."""
    axes = figure.subplots()
    curve = [(number(e), float(d)) for e, d in (row.exact or {}).get("curve", ())]
    right = _right_end(row, curve)
    if row.blackbox is not None and (lower := number(row.blackbox["epsilon_lower"])) > 0:
        shown = min(lower, right)
        axes.axvspan(0, shown, color=svg.AREA, lw=0, label="ruled out (black box)")
        axes.axvline(shown, color=svg.BOUND, lw=1.2)
    if row.claim is not None:
        claim = float(row.claim["epsilon"]), float(row.claim["delta"])
        # The claim's own epsilon is a knot, so that the bend and the marker are where they belong.
        grid = sorted({*(right * i / (_POINTS - 1) for i in range(_POINTS)), claim[0]})
        axes.plot(
            grid,
            [claimed_delta(e, *claim) for e in grid],
            "--",
            color=svg.CLAIM,
            label="allowed by the claim",
        )
        axes.plot(*claim, "D", color=svg.CLAIM, ms=6, clip_on=False, label=f"claim {claim_text(row.claim)}")
    if row.exact is not None:
        axes.plot(
            *zip(*curve, strict=True), color=svg.EXACT, label=f"worst case ({row.exact['grade']})"
        ) if curve else None
        _mark_exact(axes, row.exact)
    heights = [d for e, d in curve if e <= right]
    heights += [claimed_delta(0.0, row.claim["epsilon"], row.claim["delta"])] if row.claim is not None else []
    axes.set(
        xlim=(0, right),
        ylim=(0, 1.08 * max(heights, default=0.0) or 1.0),
        xlabel="epsilon",
        ylabel="worst-case delta",
    )
    svg.legend(figure)


def _mark_exact(axes: Axes, exact: Mapping[str, Any]) -> None:
    """Mark the exact epsilon on the axis, or say that the curve never comes down to it."""
    epsilon = number(exact["epsilon"])
    if math.isfinite(epsilon):
        axes.plot(
            epsilon,
            0,
            "o",
            color=svg.EXACT,
            ms=7,
            clip_on=False,
            zorder=5,
            label=f"exact epsilon {significant(epsilon, apart_from=exact['claimed_epsilon'], error=exact['error'])}",
        )
    else:
        axes.plot([], [], " ", label="exact epsilon infinite")


def _right_end(row: Row, curve: Sequence[tuple[float, float]]) -> float:
    """Return the right end of the epsilon axis: a little beyond everything that is marked."""
    marks = [row.exact["epsilon"]] if row.exact else []
    marks += [row.claim["epsilon"]] if row.claim else []
    marks += [row.blackbox["epsilon_lower"]] if row.blackbox else []
    finite = [m for m in map(number, marks) if math.isfinite(m) and m > 0]
    ends = [1.1 * m for m in finite] or [e for e, _ in curve if math.isfinite(e)]
    return max(ends, default=1.0) or 1.0
