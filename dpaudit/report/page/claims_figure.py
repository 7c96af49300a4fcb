"""The figure of all claims: a row a mechanism, drawn in per cent of its width, so that text never scales.

The thick tick is the claim, the thin line with a dot the exact epsilon, the bar what the runs found (from 0 to the
lower bound), and the hatch where the audit is blind: from the claim to the least epsilon that it would have caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape

from dpaudit.escaping import harmless
from dpaudit.report.numbers import value_text
from dpaudit.report.page.mechanism import Mechanism
from dpaudit.report.page.state import State
from dpaudit.report.page.text import claim_words, epsilon_exact, epsilon_found, epsilon_seen, raised
from dpaudit.report.row import Row

__all__ = ["aside", "axis", "claim_bar", "claim_row", "grid", "place", "said"]

_HEIGHT = 34
_TICKS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_KNEE, _TEN, _LAST, _INFINITE = 5.0, 91.0, 96.0, 98.5
"""The places, in per cent, of 0.1, of 10, of what is huge, and of infinity."""


def place(epsilon: float) -> float:
    """Return the place of an epsilon in per cent: linear up to 0.1, then logarithmic up to 10, then crowded."""
    if math.isinf(epsilon):
        return _INFINITE
    if epsilon <= 0.1:
        return _KNEE * max(epsilon, 0.0) / 0.1
    if epsilon <= 10:
        return _KNEE + (_TEN - _KNEE) * math.log10(epsilon / 0.1) / 2
    return _LAST - (_LAST - _TEN) * 10 / epsilon


def axis() -> str:
    """Return the axis of the figure."""
    ends = {0.0: "start"}
    ticks = "".join(
        f'<text class="t{" w" * (tick == 0.1)}" x="{place(tick):.4g}%" y="13" '
        f'text-anchor="{ends.get(tick, "middle")}">{tick:g}</text>'
        for tick in _TICKS
    )
    return f'<svg height="18">{ticks}<text class="t" x="{_INFINITE}%" y="13" text-anchor="middle">∞</text></svg>'


def grid() -> str:
    """Return the lines behind every row, which rows refer to by the id "grid"."""
    lines = "".join(
        f'<line class="grid" x1="{place(t):.4g}%" x2="{place(t):.4g}%" y1="0" y2="{_HEIGHT}"/>' for t in _TICKS
    )
    return f'<symbol id="grid" overflow="visible">{lines}</symbol>'


def claim_row(mechanism: Mechanism) -> str:
    """Return the row of one mechanism as an SVG element that a screen reader can say."""
    told = escape(harmless(said(mechanism)))
    marks = _marks(mechanism, place, 100.0, _HEIGHT)
    return (
        f'<svg role="img" height="{_HEIGHT}" aria-label="{told}"><title>{told}</title>'
        f'<use href="#grid" width="100%" height="{_HEIGHT}"/>{marks}</svg>'
    )


def _marks(mechanism: Mechanism, at: Callable[[float], float], edge: float, height: int) -> str:
    """Return the hatch, the bar, the claim's tick and the exact line of a mechanism, back to front."""
    row, middle = mechanism.tested, height / 2
    parts = [_hatch(row, at, edge, height), _bar(mechanism, at, middle)]
    if row.claim is not None:
        x = f"{at(row.claim.epsilon):.2f}%"
        parts.append(f'<line class="claim" x1="{x}" x2="{x}" y1="3" y2="{height - 3}"/>')
    exact = mechanism.exact_epsilon
    if exact is not None:
        x = f"{at(exact):.2f}%"
        parts.append(f'<line class="exact" x1="0" x2="{x}" y1="{middle:g}" y2="{middle:g}"/>')
        parts.append(f'<circle class="dot" cx="{x}" cy="{middle:g}" r="5"/>')
    return "".join(parts)


def _hatch(row: Row, at: Callable[[float], float], edge: float, height: int) -> str:
    """Return the zone in which a leak would have been missed: to the edge if every leak would."""
    if row.claim is None or row.blackbox is None or row.fault is not None or row.convicted_by:
        return ""
    start, seen = at(row.claim.epsilon), row.blackbox.detectable_epsilon
    end = at(seen) if math.isfinite(seen) and not row.blackbox.gaps else edge
    if end <= start:
        return ""
    return f'<rect x="{start:.2f}%" width="{end - start:.2f}%" y="5" height="{height - 10}" fill="url(#hatch)"/>'


def _bar(mechanism: Mechanism, at: Callable[[float], float], middle: float) -> str:
    """Return the bar from 0 to what the runs found; what lies beyond the claim is full."""
    row = mechanism.tested
    if row.blackbox is None or row.blackbox.epsilon_lower <= 0:
        return ""
    end, box = at(row.blackbox.epsilon_lower), f'y="{middle - 7:g}" height="14"'
    if row.fault is not None:
        return f'<rect class="f-plant" x="0%" width="{end:.2f}%" {box}/>'
    claim = end if row.claim is None else min(at(row.claim.epsilon), end)
    if claim < end:
        pale = f'<rect class="f-bad" opacity=".4" x="0%" width="{claim:.2f}%" {box}/>'
        return f'{pale}<rect class="f-bad" x="{claim:.2f}%" width="{end - claim:.2f}%" {box}/>'
    tone = {State.NO_EVIDENCE: "none", State.UNFINISHED: "none"}.get(mechanism.state, "ok")
    return f'<rect class="f-{tone}" x="0%" width="{end:.2f}%" {box}/>'


def said(mechanism: Mechanism) -> str:
    """Return a row of the figure in words."""
    row = mechanism.tested
    parts = [f"{mechanism.name}: {mechanism.state}"]
    parts.append("claims no privacy" if row.claim is None else f"claims {claim_words(row.claim)}")
    parts.append("exact ε unknown" if row.exact is None else f"exact ε = {epsilon_exact(row, row.exact)}")
    if row.blackbox is not None:
        seen = epsilon_seen(row)
        caught = "no leak would have been seen" if seen == "never" else f"ε ≥ {seen} would have been caught"
        parts.append(f"found ε ≥ {epsilon_found(row)}, {caught}")
    return "; ".join(parts) + "."


def aside(mechanism: Mechanism) -> str:
    """Return the number beside the verdict: the exact epsilon, or else the one found, of the one claimed."""
    row = mechanism.tested
    if row.exact is None and row.blackbox is None:
        return ""
    shown = f"ε ≥ {epsilon_found(row)}" if row.exact is None else f"ε {epsilon_exact(row, row.exact)}"
    return shown if row.claim is None else f"{shown} of {raised(value_text(row.claim.epsilon))}"


def claim_bar(mechanism: Mechanism) -> str:
    """Return the figure of one claim alone, on a linear axis that ends beyond everything marked, with its words."""
    row = mechanism.tested
    sizes = [row.claim.epsilon] if row.claim is not None else []
    sizes += [row.blackbox.epsilon_lower] if row.blackbox is not None else []
    sizes += [mechanism.exact_epsilon] if mechanism.exact_epsilon is not None else []
    top = 1.1 * max((s for s in sizes if math.isfinite(s)), default=0.0) or 1.0

    def at(epsilon: float) -> float:
        return 100 * min(epsilon / top, 1.0) if math.isfinite(epsilon) else 100.0

    step = _step(top)
    ticks = [i * step for i in range(int(top / step) + 1)]
    drawn = "".join(
        f'<line class="grid" x1="{at(t):.2f}%" x2="{at(t):.2f}%" y1="18" y2="84"/>'
        f'<text class="t" x="{at(t):.2f}%" y="100" text-anchor="{"middle" if t else "start"}">{t:.4g}</text>'
        for t in ticks
    )
    told = escape(harmless(said(mechanism)))
    marks = f'<svg y="18" width="100%" height="42" class="open">{_marks(mechanism, at, 100.0, 42)}</svg>'
    return (
        f'<svg role="img" height="106" class="wide" aria-label="{told}"><title>{told}</title>{drawn}{marks}'
        f'{"".join(_labels(mechanism, at))}<text class="t" x="100%" y="100" text-anchor="end">ε</text></svg>'
    )


def _step(top: float) -> float:
    """Return the distance of the ticks: 1, 2 or 5 times a power of ten, so that there are at most six."""
    power = 10.0 ** math.floor(math.log10(top / 5))
    return next(m * power for m in (1, 2, 5, 10) if top / (m * power) <= 6)


def _labels(mechanism: Mechanism, at: Callable[[float], float]) -> list[str]:
    """Return the words of the marks: the claim's above the bar, those of what is known below it."""
    row = mechanism.tested
    marks = [(row.claim.epsilon, 14, f"claimed, {claim_words(row.claim)}")] if row.claim is not None else []
    if row.blackbox is not None:
        marks.append((row.blackbox.epsilon_lower, 78, f"found, ε ≥ {epsilon_found(row)}"))
    elif row.exact is not None and mechanism.exact_epsilon is not None:
        marks.append((mechanism.exact_epsilon, 78, f"exact, ε = {epsilon_exact(row, row.exact)}"))
    return [
        f'<text x="{at(epsilon):.2f}%" y="{y}" text-anchor="{"end" if at(epsilon) > 40 else "start"}">'
        f"{escape(harmless(words))}</text>"
        for epsilon, y, words in marks
    ]
