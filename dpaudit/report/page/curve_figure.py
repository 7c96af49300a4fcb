"""The figure of a privacy curve: the least true delta at each epsilon, promised, exact, and ruled out by the runs.

Curves are drawn in a box that is stretched to the width of the page; lines keep their width and words their size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from dpaudit.bounds.curve import claimed_delta
from dpaudit.escaping import harmless
from dpaudit.report.numbers import significant
from dpaudit.report.page.mechanism import Mechanism
from dpaudit.report.page.text import claim_words, epsilon_exact, epsilon_found
from dpaudit.report.row import Row

__all__ = ["CurveView", "curve_figure"]

Points = list[tuple[float, float]]

_STEPS = 48
_BASE, _TOP, _HEIGHT = 214.0, 14.0, 250
"""The abscissas of delta = 0 and of the greatest delta, and the height of the figure, in pixels."""
_WIDTH = 1000.0
"""Of the box that is stretched."""


class CurveView(NamedTuple):
    """The figure and its caption."""

    svg: str
    caption: str


def curve_figure(mechanism: Mechanism) -> CurveView | None:
    """Return the figure of a mechanism's privacy; None where neither a claim nor a curve is known."""
    row = mechanism.tested
    right = _right_end(mechanism)
    grid = [right * i / _STEPS for i in range(_STEPS + 1)]
    promised = _promised(row, grid)
    exact = [(e, d) for e, d in (row.exact.curve if row.exact is not None else ()) if e <= right]
    found = _found(row, grid)
    if not promised and not exact and not any(d > 0 for _, d in found):
        return None
    top = 1.08 * max((d for _, d in (*promised, *exact, *found)), default=0.0) or 1.0
    paths = [*_areas(promised, exact, found, right, top), *_mark(row, exact or found, right, top)]
    told = escape(harmless(f"Privacy curve of {mechanism.name}: the least true delta at each epsilon"))
    box = f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT}" preserveAspectRatio="none">{"".join(paths)}</svg>'
    svg = (
        f'<svg role="img" height="{_HEIGHT}" aria-label="{told}">{"".join(_axes(right, top))}{box}'
        f"{''.join(_words(_labels(mechanism, promised, exact, found, right), promised, found, right, top))}</svg>"
    )
    return CurveView(svg, _caption(promised, found))


def _right_end(mechanism: Mechanism) -> float:
    """Return the right end of the epsilon axis: a little beyond everything that is marked."""
    row = mechanism.tested
    marks = [mechanism.exact_epsilon if mechanism.exact_epsilon is not None else 0.0]
    marks += [row.claim.epsilon] if row.claim is not None else []
    marks += [row.blackbox.epsilon_lower] if row.blackbox is not None else []
    curve = row.exact.curve if row.exact is not None else ()
    ends = [1.15 * m for m in marks if math.isfinite(m) and m > 0] or [e for e, _ in curve if math.isfinite(e)]
    return max(ends, default=1.0) or 1.0


def _promised(row: Row, grid: Sequence[float]) -> Points:
    """Return the curve that the claim allows; the claim's own epsilon is a knot of it."""
    if row.claim is None:
        return []
    claim = row.claim.epsilon, row.claim.delta
    knots = sorted({*grid, *([claim[0]] if claim[0] <= grid[-1] else [])})
    return [(e, claimed_delta(e, *claim)) for e in knots]


def _found(row: Row, grid: Sequence[float]) -> Points:
    """Return the lower bounds on delta that the runs give, at all epsilons together."""
    if row.blackbox is None or row.blackbox.curve is None:
        return []
    return list(zip(grid, row.blackbox.curve.delta_lower(list(grid)).tolist(), strict=True))


def _areas(promised: Points, exact: Points, found: Points, right: float, top: float) -> list[str]:
    """Return the areas that are ruled out and the curves over them."""
    parts = []
    if any(d > 0 for _, d in found):
        parts.append(_area(found, right, top, "ruled"))
        if promised:
            beyond = [(e, max(d, _at(promised, e))) for e, d in found]
            if any(d > _at(promised, e) + 1e-12 for e, d in found):
                floor = [(e, _at(promised, e)) for e, _ in found]
                parts.append(f'<path class="beyond" d="{_path([*beyond, *floor[::-1]], right, top)}Z"/>')
    if promised:
        parts.append(f'<path class="promised" d="{_path(promised, right, top)}"/>')
    if exact:
        parts.append(f'<path class="curve" d="{_path(exact, right, top)}"/>')
    return parts


def _mark(row: Row, drawn: Points, right: float, top: float) -> list[str]:
    """Return a line at the epsilon that was found, from the claim's delta up, where no curve is drawn beside it."""
    if drawn or row.blackbox is None or not 0 < row.blackbox.epsilon_lower <= right:
        return []
    x, low = _WIDTH * row.blackbox.epsilon_lower / right, _y(row.blackbox.delta, top)
    return [f'<path class="found" d="M{x:.0f} {low:.1f}L{x:.0f} {low - 24:.1f}"/>']


def _area(points: Points, right: float, top: float, name: str) -> str:
    closed = [*points, (points[-1][0], 0.0), (points[0][0], 0.0)]
    return f'<path class="{name}" d="{_path(closed, right, top)}Z"/>'


def _at(points: Points, epsilon: float) -> float:
    """Return a curve's delta at an epsilon, between its knots on the straight line."""
    for (a, low), (b, high) in pairwise(points):
        if a <= epsilon <= b:
            return low if a == b else low + (high - low) * (epsilon - a) / (b - a)
    return points[-1][1]


def _path(points: Points, right: float, top: float) -> str:
    """Return points as a path in the box."""
    return "M" + "L".join(f"{_WIDTH * e / right:.0f} {_y(d, top):.1f}" for e, d in points)


def _y(delta: float, top: float) -> float:
    return _BASE - (_BASE - _TOP) * min(delta / top, 1.0)


def _step(top: float, most: int) -> float:
    """Return the distance of at most `most` ticks."""
    power = 10.0 ** math.floor(math.log10(top / most))
    return next(m * power for m in (1, 2, 5, 10) if top / (m * power) <= most)


def _axes(right: float, top: float) -> list[str]:
    """Return the ticks: of epsilon below, of delta at the right, where the figure is empty."""
    parts = [f'<line class="axis" x1="0" x2="100%" y1="{_BASE:g}" y2="{_BASE:g}"/>']
    step = _step(right, 5)
    for i in range(int(right / step) + 1):
        x, anchor = 100 * i * step / right, "middle" if i else "start"
        if x < 96:
            parts.append(f'<text class="t" x="{x:.1f}%" y="234" text-anchor="{anchor}">{i * step:.4g}</text>')
    parts.append('<text class="t" x="100%" y="234" text-anchor="end">ε</text>')
    step = _step(top, 3)
    for i in range(1, int(top / step) + 1):
        y = _y(i * step, top)
        name = "δ = " if i == int(top / step) else ""
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text class="t" x="100%" y="{y - 4:.1f}" text-anchor="end">{name}{significant(i * step, digits=1)}</text>'
        )
    return parts


class _Label(NamedTuple):
    """Words beside a curve: the point of it, and whether they stand below instead of above."""

    epsilon: float
    delta: float
    words: str
    below: bool = False


def _labels(mechanism: Mechanism, promised: Points, exact: Points, found: Points, right: float) -> list[_Label]:
    """Return the names of the curves, each at a place where its own is away from the others."""
    row, labels = mechanism.tested, []
    if promised and row.claim is not None:
        e = min(row.claim.epsilon, right) / 6
        d = _at(promised, e)
        # Where runs rule out more than that, the words stay out of the orange.
        labels.append(_Label(e, d, f"promised, {claim_words(row.claim)}", bool(found) and _at(found, e) > d))
    if exact and row.exact is not None:
        e = 0.45 * min(right if mechanism.exact_epsilon is None else mechanism.exact_epsilon, exact[-1][0])
        labels.append(_Label(e, _at(exact, e), f"exact, ε = {epsilon_exact(row, row.exact)}"))
    elif row.blackbox is not None and row.blackbox.epsilon_lower > 0:
        shown = min(row.blackbox.epsilon_lower, right)
        e, d = (0.75 * shown, _at(found, 0.75 * shown)) if found else (shown, row.blackbox.delta)
        labels.append(_Label(e, d, f"found, ε ≥ {epsilon_found(row)}"))
    return sorted(labels, key=lambda label: -label.delta)


def _room(promised: Points, found: Points, right: float) -> float:
    """Return the height of the grey area where its name would end."""
    e = 0.3 * right
    return min(_at(found, e), _at(promised, e) if promised else 1.0) if found else 0.0


def _words(labels: Sequence[_Label], promised: Points, found: Points, right: float, top: float) -> list[str]:
    """Return the labels as text, the highest first and none on another."""
    parts, last = [], -math.inf
    for label in labels:
        last = max(_y(label.delta, top) + (18 if label.below else -6), last + 17)
        x = min(100 * label.epsilon / right, 60.0)
        parts.append(f'<text class="halo" x="{x:.1f}%" y="{last:.1f}" dx="6">{escape(label.words)}</text>')
    if _room(promised, found, right) > 0.12 * top:
        parts.append('<text class="t" x="1%" y="206">ruled out by the runs</text>')
    return parts


def _caption(promised: Points, found: Points) -> str:
    """Return how to read the figure."""
    told = "The least true δ for each ε; lower is more private."
    if any(d > 0 for _, d in found):
        told += " Grey: ruled out by the runs."
        if promised and any(d > _at(promised, e) + 1e-12 for e, d in found):
            told += " Orange: of that, beyond the promise."
    return told
