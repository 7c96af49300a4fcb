"""The figures of epsilon: all claims with a row a mechanism, one claim alone, and what the runs could have seen.

The thick tick is the claim, the thin line with a dot the exact epsilon, the bar what the runs found (from 0 to the
lower bound), and the hatch where the audit is blind: from the claim to the least epsilon that it would have caught.
"""

from __future__ import annotations

import math

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.report.numbers import number, raised, value_text
from dpaudit.report.sentences import claim_words, epsilon_exact, epsilon_found, epsilon_seen
from dpaudit.report.svg import Scale, across, axis, dot, element, figure, linear, share, ticks, words
from dpaudit.report.view import Mechanism

__all__ = ["aside", "claim_bar", "claim_row", "claims_axis", "grid", "place", "power_figure", "said"]

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


def claims_axis() -> str:
    """Return the axis of the figure of all claims; the class "w" hides a number on narrow screens."""
    shown = [(place(tick), f"{tick:g}") for tick in _TICKS if tick != 0.1]
    knee = words("0.1", share(_KNEE), 13, "middle", class_="t w")
    return element("svg", axis([*shown, (_INFINITE, "∞")], 13), knee, height=18)


def grid() -> str:
    """Return the lines behind every row, which rows refer to by the id "grid"."""
    lines = [element("line", class_="grid", x1=share(x), x2=share(x), y1=0, y2=_HEIGHT) for x in map(place, _TICKS)]
    return element("symbol", *lines, id="grid", overflow="visible")


def claim_row(mechanism: Mechanism) -> str:
    """Return the row of one mechanism as an SVG element that a screen reader reads."""
    lines = element("use", href="#grid", width="100%", height=_HEIGHT)
    return figure(said(mechanism), _HEIGHT, lines, *_marks(mechanism, place, _HEIGHT), title=True)


def _marks(mechanism: Mechanism, at: Scale, height: int) -> list[str]:
    """Return the hatch, the bar, the claim's tick and the exact line of a mechanism, back to front."""
    claim, exact, middle = mechanism.tested.claim, mechanism.tested.exact_epsilon, height / 2
    parts = [*_blind(mechanism, at, height), *_bar(mechanism, at, middle - 7)]
    if claim is not None:
        x = share(at(claim.epsilon))
        parts.append(element("line", class_="claim", x1=x, x2=x, y1=3, y2=height - 3))
    if exact is not None:
        parts += [across("exact", 0, at(exact), middle), dot(at(exact), middle)]
    return parts


def _blind(mechanism: Mechanism, at: Scale, height: int) -> list[str]:
    """Return the zone in which a leak would have been missed: to the edge if every leak would."""
    row = mechanism.tested
    if row.claim is None or row.blackbox is None or row.fault is not None or row.convicted_by:
        return []
    start, seen = at(row.claim.epsilon), row.blackbox.detectable_epsilon
    end = at(seen) if math.isfinite(seen) and not row.blackbox.gaps else 100.0
    return [_box("", start, end, 5, height - 10, fill="url(#hatch)")] if end > start else []


def _bar(mechanism: Mechanism, at: Scale, y: float) -> list[str]:
    """Return the bar from 0 to what the runs found; what lies beyond the claim is full."""
    row = mechanism.tested
    if row.blackbox is None or row.blackbox.epsilon_lower <= 0:
        return []
    end = at(row.blackbox.epsilon_lower)
    if row.fault is not None:
        return [_box("f-plant", 0, end, y, 14)]
    claim = end if row.claim is None else at(row.claim.epsilon)
    if claim < end:
        return [_box("f-bad", 0, claim, y, 14, opacity=0.4), _box("f-bad", claim, end, y, 14)]
    return [_box("f-none" if mechanism.state.tone == "none" else "f-ok", 0, end, y, 14)]


def _box(name: str, start: float, end: float, y: float, height: float, **more: str | float) -> str:
    return element("rect", class_=name or None, x=share(start), width=share(end - start), y=y, height=height, **more)


def said(mechanism: Mechanism) -> str:
    """Return a row of the figure in words."""
    row = mechanism.tested
    parts = [f"{mechanism.name}: {mechanism.state}"]
    parts.append("claims no privacy" if row.claim is None else f"claims {claim_words(row.claim)}")
    parts.append("exact ε unknown" if row.exact is None else f"exact ε = {epsilon_exact(row)}")
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
    shown = f"ε ≥ {epsilon_found(row)}" if row.exact is None else f"ε {epsilon_exact(row)}"
    return shown if row.claim is None else f"{shown} of {raised(value_text(row.claim.epsilon))}"


def claim_bar(mechanism: Mechanism) -> str:
    """Return the figure of one claim alone, on a linear axis that ends beyond everything marked, with its words."""
    row, exact = mechanism.tested, mechanism.tested.exact_epsilon
    known: list[tuple[float, float, str]] = []
    if row.claim is not None:
        known.append((row.claim.epsilon, 14, f"claimed, {claim_words(row.claim)}"))
    if row.blackbox is not None:
        known.append((row.blackbox.epsilon_lower, 78, f"found, ε ≥ {epsilon_found(row)}"))
    elif row.exact is not None and exact is not None:
        known.append((exact, 78, f"exact, ε = {epsilon_exact(row)}"))
    sizes = [epsilon for epsilon, _, _ in known] + ([exact] if exact is not None else [])
    top = 1.1 * max((size for size in sizes if math.isfinite(size)), default=0.0) or 1.0
    at = linear(0, top, 0, 100)
    marks = element("svg", *_marks(mechanism, at, 42), y=18, width="100%", height=42, class_="open")
    labels = [words(text, share(at(e)), y, "end" if at(e) > 40 else "start") for e, y, text in known]
    below = axis([(at(tick), f"{tick:.4g}") for tick in ticks(0, top, 6)], 100, (18, 84))
    unit = words("ε", "100%", 100, "end", class_="t")
    return figure(said(mechanism), 106, below, marks, *labels, unit, title=True, name="wide")


def power_figure(finding: PrivacyFinding) -> str:
    """Return the figure of the least epsilon that the runs would have caught, by the probability of the answer.

    It is empty where no leak was within reach.
    """
    steps = [(f"1 in {1 / mass:,.0f}", epsilon) for mass, epsilon in finding.frontier if math.isfinite(epsilon)]
    if not steps:
        return ""
    up = linear(0, max([epsilon for _, epsilon in steps] + [finding.epsilon]) or 1.0, 140, 30)
    y, claimed = up(finding.epsilon), f"claimed, {raised(value_text(finding.epsilon))}"
    parts = [across("promised", 0, 100, y), words(claimed, "100%", y - 5, "end", class_="t halo")]
    for i, (chance, epsilon) in enumerate(steps):
        x, y = 100 * (i + 0.4) / len(steps), up(epsilon)
        parts += [dot(x, y), words(number(epsilon, "up"), share(x), y - 11, "middle"), axis([(x, chance)], 166)]
    listed = "; ".join(f"{number(epsilon, 'up')} for answers of chance {chance}" for chance, epsilon in steps)
    return figure(f"Least epsilon caught: {listed}", 180, *parts, name="wide")
