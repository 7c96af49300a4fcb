"""The figures of both promises over a range: delta at each epsilon, and the share of runs that fail at each n.

Curves of delta are drawn in a box that is stretched to the width of the page; lines keep their width and words their
size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from dpaudit.bounds.curve import claimed_delta
from dpaudit.report.numbers import count, plural, significant
from dpaudit.report.numbers import share as per_cent
from dpaudit.report.sentences import claim_words, epsilon_exact, epsilon_found
from dpaudit.report.svg import Scale, across, axis, dot, element, figure, linear, path, share, ticks, words
from dpaudit.report.view import Case, Mechanism, Row
from dpaudit.report.wording import failure_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["Curves", "View", "accuracy_figure", "curve_figure"]

Points = list[tuple[float, float]]

_STEPS = 48
_BASE, _TOP, _HEIGHT = 214, 14, 250
"""The places of delta = 0 and of the greatest delta, and the height of the figure, in pixels."""
_WIDTH = 1000
"""Of the box that is stretched."""
_ROW, _HEAD, _FOOT, _LEFT = 27, 22, 26, 24
"""Of the figure of accuracy: heights of a row, above and below them; the place of 0 %, right of the sample sizes."""


class View(NamedTuple):
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
        row = self.row
        marks = [row.exact_epsilon or 0.0]
        marks += [row.claim.epsilon] if row.claim is not None else []
        marks += [row.blackbox.epsilon_lower] if row.blackbox is not None else []
        curve = row.exact.curve if row.exact is not None else ()
        ends = [1.15 * m for m in marks if math.isfinite(m) and m > 0] or [e for e, _ in curve if math.isfinite(e)]
        return max(ends, default=1.0) or 1.0

    @property
    def _grid(self) -> list[float]:
        return [self.right * i / _STEPS for i in range(_STEPS + 1)]

    @cached_property
    def promised(self) -> Points:
        """The curve that the claim allows; the claim's own epsilon is a knot of it."""
        if self.row.claim is None:
            return []
        claim = self.row.claim.epsilon, self.row.claim.delta
        knots = sorted({*self._grid, min(claim[0], self.right)})
        return [(e, claimed_delta(e, *claim)) for e in knots]

    @cached_property
    def exact(self) -> Points:
        """The exact curve, up to the end of the axis."""
        return [] if self.row.exact is None else [(e, d) for e, d in self.row.exact.curve if e <= self.right]

    @cached_property
    def found(self) -> Points:
        """The lower bounds on delta that the runs give, at all epsilons together; none where all are 0."""
        if self.row.blackbox is None or self.row.blackbox.curve is None:
            return []
        deltas = self.row.blackbox.curve.delta_lower(self._grid).tolist()
        return list(zip(self._grid, deltas, strict=True)) if any(d > 0 for d in deltas) else []

    @property
    def refuted(self) -> bool:
        """Whether the runs rule out more than is promised."""
        return bool(self.promised) and any(d > _at(self.promised, e) + 1e-12 for e, d in self.found)


def _at(points: Points, epsilon: float) -> float:
    """Return a curve's delta at an epsilon, between its knots on the straight line."""
    for (a, low), (b, high) in pairwise(points):
        if a <= epsilon <= b:
            return low if a == b else low + (high - low) * (epsilon - a) / (b - a)
    return points[-1][1]


def curve_figure(mechanism: Mechanism) -> View | None:
    """Return the figure of the least true delta at each epsilon; None where neither a claim nor a curve is known."""
    curves = Curves(mechanism.tested)
    shown = [*curves.promised, *curves.exact, *curves.found]
    if not shown:
        return None
    top = 1.08 * max(d for _, d in shown) or 1.0
    up, right = linear(0, top, _BASE, _TOP), curves.right
    box = element("svg", *_paths(curves, up), viewBox=f"0 0 {_WIDTH} {_HEIGHT}", preserveAspectRatio="none")
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
    return View(figure(said, _HEIGHT, *axes, box, *_names(curves, up, top)), caption)


def _paths(curves: Curves, up: Scale) -> list[str]:
    """Return the areas that are ruled out, the curves over them, and a mark at what was found if no curve is near."""
    promised, found, finding = curves.promised, curves.found, curves.row.blackbox

    def drawn(name: str, points: Points, closed: bool = False) -> str:
        places = ((_WIDTH * e / curves.right, up(d)) for e, d in points)
        return element("path", class_=name, d=path(places, closed))

    parts = [drawn("ruled", [*found, (found[-1][0], 0.0), (found[0][0], 0.0)], closed=True)] if found else []
    if curves.refuted:
        beyond = [(e, max(d, _at(promised, e))) for e, d in found]
        floor = [(e, _at(promised, e)) for e, _ in found]
        parts.append(drawn("beyond", [*beyond, *floor[::-1]], closed=True))
    parts += [drawn(name, curve) for name, curve in (("promised", promised), ("curve", curves.exact)) if curve]
    if not curves.exact and not found and finding is not None and 0 < finding.epsilon_lower <= curves.right:
        x, low = _WIDTH * finding.epsilon_lower / curves.right, up(finding.delta)
        parts.append(element("path", class_="found", d=path([(x, low), (x, low - 24)])))
    return parts


def _names(curves: Curves, up: Scale, top: float) -> list[str]:
    """Return the names of the curves, each where its own is away from the others, none on another."""
    row, promised, found, right = curves.row, curves.promised, curves.found, curves.right
    # The point of a curve, the words, and how far below the point they stand.
    labels: list[tuple[float, float, str, int]] = []
    if row.claim is not None:
        e = min(row.claim.epsilon, right) / 6
        d = _at(promised, e)
        # Where the runs rule out more than that, the words stay out of the orange.
        below = 18 if found and _at(found, e) > d else -6
        labels.append((e, d, f"promised, {claim_words(row.claim)}", below))
    if curves.exact and row.exact is not None:
        exact = row.exact_epsilon
        e = 0.45 * min(right if exact is None else exact, curves.exact[-1][0])
        labels.append((e, _at(curves.exact, e), f"exact, ε = {epsilon_exact(row)}", -6))
    elif row.blackbox is not None and row.blackbox.epsilon_lower > 0:
        e = min(row.blackbox.epsilon_lower, right) * (0.75 if found else 1)
        labels.append((e, _at(found, e) if found else row.blackbox.delta, f"found, ε ≥ {epsilon_found(row)}", -6))
    parts, last = [], -math.inf
    for e, d, name, below in sorted(labels, key=lambda label: -label[1]):
        last = max(up(d) + below, last + 17)
        parts.append(words(name, share(min(100 * e / right, 60.0)), last, class_="halo", dx=6))
    end = 0.3 * right
    if found and min(_at(found, end), _at(promised, end) if promised else 1.0) > 0.12 * top:
        parts.append(words("ruled out by the runs", "1%", 206, class_="t"))
    return parts


def accuracy_figure(row: Row) -> View | None:
    """Return a row a sample size with the share of runs that failed, in the setting that decides.

    It is None where accuracy was not audited at the theorem's n.
    """
    part = None if row.utility is None else row.in_setting(row.utility.setting)
    if part is None or part.utility is None:
        return None
    finding, worst = part.utility, _worst(part.ladder)
    shown = [(f, "grey") for f in worst] + [(finding, "exact")]
    top = min(1.0, 1.1 * max(finding.beta, *(f.failure_upper for f, _ in shown)))
    at, foot = linear(0, top, _LEFT, 97), _HEAD + _ROW * len(shown)
    below = [(at(tick), f"{100 * tick:.3g}{'' if tick else ' %'}") for tick in ticks(0, top)]
    allowed, x = per_cent(finding.beta), share(at(finding.beta))
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
    caption = (
        f"Share of runs in which {failure_text(finding)}, with its interval. The promise is for "
        f"n = {count(finding.n)}: the worst of {plural(len(part.cases), 'hard case')}."
        + " Grey: fewer examples, for which nothing is promised." * bool(worst)
    )
    return View(figure(said, foot + _FOOT, *parts), caption)


def _worst(ladder: Sequence[Case]) -> list[UtilityFinding]:
    """Return the worst finding at each sample size below the theorem's, smallest first."""
    worst: dict[int, UtilityFinding] = {}
    for case in sorted(ladder, key=lambda case: case.finding.failure_upper):
        worst[case.finding.n] = case.finding
    return [worst[n] for n in sorted(worst)]
