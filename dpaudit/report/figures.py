"""The figures of a page: all claims or one; delta at each epsilon; what runs could have seen; failures at each n.

Claims: the thick tick is the claim, the thin line with a dot the exact epsilon, the bar what the runs found (from 0 to
the lower bound), and the hatch where the audit is blind: from the claim to the least epsilon that it would have caught.
Curves of delta are drawn in a box that is stretched to the width of the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.bounds.curve import claimed_delta
from dpaudit.report.columns import numbers_of, shown_claim, shown_number
from dpaudit.report.numbers import count, number, plural, raised, share, significant, value_text
from dpaudit.report.sentences import plain, privacy_words
from dpaudit.report.svg import Scale, across, along, axis, dot, drawing, element, linear, path, ticks, words
from dpaudit.report.view import AuditedMechanism, Row
from dpaudit.report.words.claims import curve_claim_words
from dpaudit.report.words.utility import failure_text

Points = list[tuple[float, float]]

# The verdicts whose bars are pale.
_LEFT_OPEN = ("failed", "incomplete", "no evidence", "undecided", "accepted")

# The height of the row of one claim, in pixels, and the ticks of the axis that all rows share.
_CLAIM_HEIGHT = 34
_TICKS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# The places of 0.1, of 10, of what is huge, and of infinity, in per cent of the width.
_KNEE = 5.0
_TEN = 91.0
_LAST = 96.0
_INFINITE = 98.5
# The steps in which curves are drawn.
_STEPS = 48
# The places of delta = 0 and of the greatest delta, and the height of the figure, in pixels.
_BASE = 214
_TOP = 14
_HEIGHT = 250
# The width of the box in units of its own: it is stretched to that of the page, and words are not.
_BOX_WIDTH = 1000
# Of the figure of accuracy: heights of a row, above and below them; the place of 0 %, right of the sample sizes.
_ROW = 27
_HEAD = 22
_FOOT = 26
_LEFT = 24


def place(epsilon: float) -> float:
    """Return the place of an epsilon in per cent: linear up to 0.1, then logarithmic up to 10, then crowded."""
    if math.isinf(epsilon):
        return _INFINITE
    if epsilon <= 0.1:
        return _KNEE * max(epsilon, 0.0) / 0.1
    if epsilon <= 10:
        return _KNEE + (_TEN - _KNEE) * math.log10(epsilon / 0.1) / 2
    # All that is larger shares the last places: that it is beyond 10 is what matters.
    return _LAST - (_LAST - _TEN) * 10 / epsilon


def claims_axis() -> str:
    """Return the axis of the figure of all claims; the class "w" hides a number on narrow screens."""
    # The number 0.1 stands so near to 0 that narrow screens have no room for both.
    shown = [(place(tick), f"{tick:g}") for tick in _TICKS if tick != 0.1]
    knee = words("0.1", along(_KNEE), 13, "middle", class_="t w")
    return element("svg", axis([*shown, (_INFINITE, "∞")], 13), knee, height=18)


def grid() -> str:
    """Return the lines behind every row, which rows refer to by the id "grid"."""
    places = map(along, map(place, _TICKS))
    lines = [element("line", class_="grid", x1=x, x2=x, y1=0, y2=_CLAIM_HEIGHT) for x in places]
    return element("symbol", *lines, id="grid", overflow="visible")


def claim_row(mechanism: AuditedMechanism) -> str:
    """Return the row of one mechanism as an SVG element that a screen reader reads."""
    lines = element("use", href="#grid", width="100%", height=_CLAIM_HEIGHT)
    return drawing(said(mechanism), _CLAIM_HEIGHT, lines, *_marks(mechanism, place, _CLAIM_HEIGHT), title=True)


def _marks(mechanism: AuditedMechanism, at: Scale, height: int) -> list[str]:
    row = mechanism.tested
    middle = height / 2
    parts = list[str]()
    claim = row.claim
    exact = row.exact_epsilon
    runs = row.blackbox
    # A control has a leak that is known, and after a conviction nothing is left that could have been missed.
    if claim is not None and runs is not None and row.fault is None and not row.convicted_by:
        # The zone in which a leak would have been missed: to the edge if every leak would.
        start = at(claim.epsilon)
        seen = runs.detectable_epsilon
        end = 100.0
        if math.isfinite(seen) and not runs.gaps:
            end = at(seen)
        if end > start:
            parts += [_box("", start, end, 5, height - 10, fill="url(#hatch)")]
    if runs is not None and runs.epsilon_lower > 0:
        # From 0 to what the runs found; what lies beyond the claim is full.
        end = at(runs.epsilon_lower)
        y = middle - 7
        if claim is None or row.fault is not None:
            claimed = end
        else:
            claimed = at(claim.epsilon)
        if claimed < end:
            parts += [_box("f-bad", 0, claimed, y, 14, opacity=0.4), _box("f-bad", claimed, end, y, 14)]
        else:
            name = "f-ok"
            if row.fault is not None:
                name = "f-plant"
            elif mechanism.state in _LEFT_OPEN:
                name = "f-none"
            parts.append(_box(name, 0, end, y, 14))
    if claim is not None:
        x = along(at(claim.epsilon))
        parts.append(element("line", class_="claim", x1=x, x2=x, y1=3, y2=height - 3))
    if exact is not None:
        parts += [across("exact", 0, at(exact), middle), dot(at(exact), middle)]
    return parts


def _box(name: str, start: float, end: float, y: float, height: float, **more: str | float) -> str:
    return element("rect", class_=name or None, x=along(start), width=along(end - start), y=y, height=height, **more)


def said(mechanism: AuditedMechanism) -> str:
    """Return a row of the figure in words."""
    return f"{mechanism.name}: {plain(privacy_words(mechanism))}"


def aside(mechanism: AuditedMechanism) -> str:
    """Return what is beside the verdict: the exact epsilon, or that found, of the one claimed; or a curve claimed."""
    row = mechanism.tested
    if row.exact is None and row.blackbox is None:
        return ""
    if row.curve is not None:
        return raised(curve_claim_words(row.curve.claim))
    if row.exact is None:
        shown = f"ε ≥ {shown_number(row, 'epsilon_lower')}"
    else:
        shown = f"ε {shown_number(row, 'exact_epsilon')}"
    if row.claim is None:
        return shown
    return f"{shown} of {raised(value_text(row.claim.epsilon))}"


def claim_bar(mechanism: AuditedMechanism) -> str:
    """Return the figure of one claim alone, on a linear axis that ends beyond everything marked, with its words."""
    row = mechanism.tested
    exact = mechanism.tested.exact_epsilon
    known: list[tuple[float, float, str]] = []
    if row.claim is not None:
        known.append((row.claim.epsilon, 14, shown_claim(row, row.claim)))
    if row.blackbox is not None:
        known.append((row.blackbox.epsilon_lower, 78, f"found, ε ≥ {shown_number(row, 'epsilon_lower')}"))
    elif row.exact is not None and exact is not None:
        known.append((exact, 78, f"exact, ε = {shown_number(row, 'exact_epsilon')}"))
    sizes = [epsilon for epsilon, _, _ in known]
    if exact is not None:
        sizes.append(exact)
    # An infinite epsilon stands at the end of the axis, which it must not stretch.
    top = 1.1 * max((size for size in sizes if math.isfinite(size)), default=0.0) or 1.0
    at = linear(0, top, 0, 100)
    marks = element("svg", *_marks(mechanism, at, 42), y=18, width="100%", height=42, class_="open")
    labels = [words(text, along(at(e)), y, "end" if at(e) > 40 else "start") for e, y, text in known]
    below = axis([(at(tick), f"{tick:.4g}") for tick in ticks(0, top, 6)], 100, (18, 84))
    unit = words("ε", "100%", 100, "end", class_="t")
    return drawing(said(mechanism), 106, below, marks, *labels, unit, title=True, name="wide")


def power_figure(finding: PrivacyFinding) -> str:
    """Return the figure of the least epsilon that the runs would have caught, if any, by the answer's probability."""
    steps = [(f"1 in {1 / mass:,.0f}", epsilon) for mass, epsilon in finding.frontier if math.isfinite(epsilon)]
    if not steps:
        return ""
    up = linear(0, max([epsilon for _, epsilon in steps] + [finding.epsilon]) or 1.0, 140, 30)
    y = up(finding.epsilon)
    claimed = f"claimed, {raised(value_text(finding.epsilon))}"
    if finding.curve_test is not None:
        claimed = f"point tested, {number(finding.epsilon)}"
    parts = [across("promised", 0, 100, y), words(claimed, "100%", y - 5, "end", class_="t halo")]
    for i, (chance, epsilon) in enumerate(steps):
        x = 100 * (i + 0.4) / len(steps)
        y = up(epsilon)
        parts += [dot(x, y), words(number(epsilon, "up"), along(x), y - 11, "middle"), axis([(x, chance)], 166)]
    listed = "; ".join(f"{number(epsilon, 'up')} for answers of chance {chance}" for chance, epsilon in steps)
    return drawing(f"Least epsilon detected: {listed}", 180, *parts, name="wide")


class CaptionedFigure(NamedTuple):
    """A figure and its caption."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Curves:
    """The curves of delta of one mechanism, as points (epsilon, delta): promised, exact, and ruled out by the runs."""

    row: Row

    @cached_property
    def right(self) -> float:
        """The right end of the epsilon axis: a little beyond everything that is marked."""
        numbers = numbers_of(self.row)
        marks = [numbers[name] or 0.0 for name in ("exact_epsilon", "claimed_epsilon", "epsilon_lower")]
        ends = [1.15 * m for m in marks if math.isfinite(m) and m > 0]
        # An exact epsilon that is infinite or 0 marks no end: the curve itself does.
        if not ends and self.row.exact is not None:
            ends = [e for e, _ in self.row.exact.curve if math.isfinite(e)]
        return max(ends, default=1.0) or 1.0

    @cached_property
    def grid(self) -> list[float]:
        """Epsilons that are drawn."""
        return [self.right * i / _STEPS for i in range(_STEPS + 1)]

    @cached_property
    def promised(self) -> Points:
        """The curve that the claim allows; the claim's own epsilon is a knot of it."""
        if self.row.claim is None:
            return []
        claim = self.row.claim.epsilon, self.row.claim.delta
        knots = sorted({*self.grid, min(claim[0], self.right)})
        return [(e, claimed_delta(e, *claim)) for e in knots]

    @cached_property
    def exact(self) -> Points:
        """The exact curve, up to the end of the axis."""
        if self.row.exact is None:
            return []
        return [(e, d) for e, d in self.row.exact.curve if e <= self.right]

    @cached_property
    def found(self) -> Points:
        """The lower bounds on delta that the runs give, at all epsilons together; none where all are 0."""
        if self.row.blackbox is None or self.row.blackbox.curve is None:
            return []
        # These bounds hold together, so that the curve through them is one statement and not many.
        deltas = self.row.blackbox.curve.delta_lower(self.grid).tolist()
        if any(d > 0 for d in deltas):
            return list(zip(self.grid, deltas, strict=True))
        return []

    @property
    def refuted(self) -> bool:
        """Whether the runs rule out more than is promised."""
        # The claimed curve is read between its knots: 1e-12 is more than rounding there.
        return bool(self.promised) and any(d > _at(self.promised, e) + 1e-12 for e, d in self.found)


def _at(points: Points, epsilon: float) -> float:
    """Return a curve's delta at an epsilon, between its knots on the straight line."""
    return float(np.interp(epsilon, [e for e, _ in points], [d for _, d in points]))


def curve_figure(mechanism: AuditedMechanism) -> CaptionedFigure | None:
    """Return the figure of the least true delta at each epsilon; None where neither a claim nor a curve is known."""
    curves = Curves(mechanism.tested)
    shown = [*curves.promised, *curves.exact, *curves.found]
    if not shown:
        return None
    top = 1.08 * max(d for _, d in shown) or 1.0
    up = linear(0, top, _BASE, _TOP)
    right = curves.right
    box = element("svg", *_paths(curves, up), viewBox=f"0 0 {_BOX_WIDTH} {_HEIGHT}", preserveAspectRatio="none")
    said = f"Privacy curve of {mechanism.name}: the least true delta at each epsilon"
    below = [(100 * tick / right, f"{tick:.4g}") for tick in ticks(0, right) if tick < 0.96 * right]
    axes = [across("axis", 0, 100, _BASE), axis(below, 234), words("ε", "100%", 234, "end", class_="t")]
    deltas = ticks(0, top, 3)[1:]
    for delta in deltas:
        name = f"{'δ = ' if delta == deltas[-1] else ''}{significant(delta, digits=1)}"
        axes += [across("grid", 0, 100, up(delta)), words(name, "100%", up(delta) - 4, "end", class_="t")]
    caption = "The least true δ for each ε; lower is more private."
    caption += " Grey: ruled out by the runs." * bool(curves.found)
    caption += " Orange: of that, beyond the promise." * curves.refuted
    return CaptionedFigure(drawing(said, _HEIGHT, *axes, box, *_names(curves, up, top)), caption)


def _paths(curves: Curves, up: Scale) -> list[str]:
    promised = curves.promised
    found = curves.found
    finding = curves.row.blackbox

    def drawn(name: str, points: Points, closed: bool = False) -> str:
        places = ((_BOX_WIDTH * e / curves.right, up(d)) for e, d in points)
        return element("path", class_=name, d=path(places, closed))

    parts = []
    if found:
        parts = [drawn("ruled", [*found, (found[-1][0], 0.0), (found[0][0], 0.0)], closed=True)]
    # Painted over the grey of what is ruled out.
    if curves.refuted:
        beyond = [(e, max(d, _at(promised, e))) for e, d in found]
        floor = [(e, _at(promised, e)) for e, _ in found]
        parts.append(drawn("beyond", [*beyond, *floor[::-1]], closed=True))
    parts += [drawn(name, curve) for name, curve in (("promised", promised), ("curve", curves.exact)) if curve]
    if not curves.exact and not found and finding is not None and 0 < finding.epsilon_lower <= curves.right:
        x = _BOX_WIDTH * finding.epsilon_lower / curves.right
        low = up(finding.delta)
        parts.append(element("path", class_="found", d=path([(x, low), (x, low - 24)])))
    return parts


def _names(curves: Curves, up: Scale, top: float) -> list[str]:
    row = curves.row
    promised = curves.promised
    found = curves.found
    right = curves.right
    # The point of a curve, the words, and how far below the point they stand.
    labels: list[tuple[float, float, str, int]] = []
    if row.claim is not None:
        e = min(row.claim.epsilon, right) / 6
        d = _at(promised, e)
        # Where the runs rule out more than that, the words stay out of the orange.
        below = -6
        if found and _at(found, e) > d:
            below = 18
        labels.append((e, d, shown_claim(row, row.claim, "promised"), below))
    if curves.exact and row.exact is not None:
        exact = row.exact_epsilon
        e = 0.45 * min(right if exact is None else exact, curves.exact[-1][0])
        labels.append((e, _at(curves.exact, e), f"exact, ε = {shown_number(row, 'exact_epsilon')}", -6))
    elif row.blackbox is not None and row.blackbox.epsilon_lower > 0:
        e = min(row.blackbox.epsilon_lower, right)
        d = row.blackbox.delta
        if found:
            # Left of the end of the curve, where the words have room.
            e *= 0.75
            d = _at(found, e)
        labels.append((e, d, f"found, ε ≥ {shown_number(row, 'epsilon_lower')}", -6))
    parts = []
    last = -math.inf
    # From the top down, each at least a line below the one before.
    for e, d, name, below in sorted(labels, key=lambda label: -label[1]):
        last = max(up(d) + below, last + 17)
        place = 100 * e / right
        anchor = None
        dx = 6
        # Left of the place, as there is no room right of it.
        if place > 50:
            anchor = "end"
            dx = -6
        parts.append(words(name, along(min(place, 100.0)), last, anchor, class_="halo", dx=dx))
    # Only where the grey is high enough to hold the words.
    end = 0.3 * right
    floor = _at(promised, end) if promised else 1.0
    if found and min(_at(found, end), floor) > 0.12 * top:
        parts.append(words("ruled out by the runs", "1%", 206, class_="t"))
    return parts


def accuracy_figure(row: Row) -> CaptionedFigure | None:
    """Return the share of runs that failed, a row a sample size; None where accuracy was not audited."""
    part = None
    if row.utility is not None:
        part = row.in_setting(row.utility.setting)
    if part is None or part.utility is None:
        return None
    # The worst at each sample size below the theorem's, smallest first.
    below_n = {f.n: f for f in sorted(part.ladder, key=lambda f: f.failure_upper)}
    finding = part.utility
    worst = [below_n[n] for n in sorted(below_n)]
    shown = [(f, "grey") for f in worst] + [(finding, "exact")]
    top = min(1.0, 1.1 * max(finding.beta, *(f.failure_upper for f, _ in shown)))
    at = linear(0, top, _LEFT, 97)
    foot = _HEAD + _ROW * len(shown)
    below = [(at(tick), f"{100 * tick:.3g}{'' if tick else ' %'}") for tick in ticks(0, top)]
    allowed = share(finding.beta)
    x = along(at(finding.beta))
    parts = [
        axis(below, foot + _FOOT - 8, (_HEAD, foot)),
        element("line", class_="claim", x1=x, x2=x, y1=_HEAD - 4, y2=foot),
        words(f"allowed, {allowed} %", x, 12, "end" if finding.beta > top / 2 else "start"),
    ]
    for i, (f, name) in enumerate(shown):
        y = _HEAD + _ROW * (i + 0.5)
        parts.append(words(f"n = {count(f.n)}", 0, y + 4, class_="t" if name == "grey" else None))
        parts += [across(name, at(f.failure_lower), at(f.failure_upper), y), dot(at(f.failure_rate), y, f"dot {name}")]
    said = f"Share of runs that fail at {plural(len(shown), 'sample size')}; {allowed} % are allowed"
    caption = f"Share of runs in which {failure_text(finding)}, with its interval. The promise is for "
    caption += f"n = {count(finding.n)}: the worst of {plural(len(part.cases), 'hard case')}."
    caption += " Grey: fewer examples, for which nothing is promised." * bool(worst)
    return CaptionedFigure(drawing(said, foot + _FOOT, *parts), caption)
