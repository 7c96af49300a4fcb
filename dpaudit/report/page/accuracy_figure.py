"""The figure of accuracy: a row a sample size with the share of runs that failed, its interval, and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from dpaudit.report.numbers import count, plural
from dpaudit.report.page.text import share
from dpaudit.report.row import Case, Row
from dpaudit.report.wording import failure_text
from dpaudit.utility.finding import UtilityFinding

__all__ = ["AccuracyView", "accuracy_figure"]

_ROW, _HEAD, _FOOT = 27, 22, 26
_LEFT = 24.0
"""The place of 0 % in per cent of the width: what is left of it names the sample size."""


class AccuracyView(NamedTuple):
    """The figure and its caption."""

    svg: str
    caption: str


def accuracy_figure(row: Row) -> AccuracyView | None:
    """Return the figure of the setting that decides; None where accuracy was not audited at the theorem's n."""
    if row.utility is None:
        return None
    part = row.in_setting(row.utility.setting)
    if part.utility is None:
        return None
    shown = [(finding, True) for finding in _worst(part.ladder)] + [(part.utility, False)]
    top = min(1.0, 1.1 * max(part.utility.beta, *(f.failure_upper for f, _ in shown)))
    height = _HEAD + _ROW * len(shown) + _FOOT
    told = f"Share of runs that fail at {plural(len(shown), 'sample size')}; {share(part.utility.beta)} % are allowed"
    drawn = "".join(_drawn(f, grey, _HEAD + _ROW * i + _ROW / 2, top) for i, (f, grey) in enumerate(shown))
    svg = (
        f'<svg role="img" height="{height}" aria-label="{escape(told)}">{_axis(top, height)}'
        f"{_allowed(part.utility.beta, top, height)}{drawn}</svg>"
    )
    return AccuracyView(svg, _caption(part, part.utility))


def _worst(ladder: Sequence[Case]) -> list[UtilityFinding]:
    """Return the worst finding at each sample size below the theorem's, smallest first."""
    worst: dict[int, UtilityFinding] = {}
    for case in ladder:
        known = worst.get(case.finding.n)
        if known is None or case.finding.failure_upper > known.failure_upper:
            worst[case.finding.n] = case.finding
    return [worst[n] for n in sorted(worst)]


def _x(rate: float, top: float) -> float:
    return _LEFT + (97 - _LEFT) * min(rate / top, 1.0)


def _axis(top: float, height: int) -> str:
    """Return the ticks of the share that failed."""
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.25, 0.5) if top / s <= 5)
    return "".join(
        f'<line class="grid" x1="{_x(i * step, top):.2f}%" x2="{_x(i * step, top):.2f}%" y1="{_HEAD}" '
        f'y2="{height - _FOOT}"/><text class="t" x="{_x(i * step, top):.2f}%" y="{height - 8}" text-anchor="middle">'
        f"{100 * i * step:.3g}{' %' if i == 0 else ''}</text>"
        for i in range(int(top / step + 1e-9) + 1)
    )


def _allowed(beta: float, top: float, height: int) -> str:
    """Return the tick at beta with its words."""
    x, anchor = _x(beta, top), "end" if beta > top / 2 else "start"
    return (
        f'<line class="claim" x1="{x:.2f}%" x2="{x:.2f}%" y1="{_HEAD - 4}" y2="{height - _FOOT}"/>'
        f'<text x="{x:.2f}%" y="12" text-anchor="{anchor}">allowed, {share(beta)} %</text>'
    )


def _drawn(finding: UtilityFinding, grey: bool, y: float, top: float) -> str:
    """Return the row of one sample size."""
    low, high, rate = (_x(v, top) for v in (finding.failure_lower, finding.failure_upper, finding.failure_rate))
    name = "grey" if grey else "exact"
    return (
        f'<text class="{"t" if grey else ""}" x="0" y="{y + 4:g}">n = {count(finding.n)}</text>'
        f'<line class="{name}" x1="{low:.2f}%" x2="{high:.2f}%" y1="{y:g}" y2="{y:g}"/>'
        f'<circle class="dot {name}" cx="{rate:.2f}%" cy="{y:g}" r="5"/>'
    )


def _caption(row: Row, finding: UtilityFinding) -> str:
    """Return what is drawn, and for which n it is promised."""
    below = " Grey: fewer examples, for which nothing is promised." if row.ladder else ""
    return (
        f"Share of runs in which {failure_text(finding)}, with its interval. The promise is for "
        f"n = {count(finding.n)}: the worst of {plural(len(row.cases), 'hard case')}.{below}"
    )
