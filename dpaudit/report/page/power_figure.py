"""The figure of power: the least epsilon that the runs would have caught, by the probability of the answer."""

from __future__ import annotations

import math
from html import escape

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.report.numbers import value_text
from dpaudit.report.page.text import number, raised

__all__ = ["power_figure"]

_BASE, _TOP = 140.0, 30.0


def power_figure(finding: PrivacyFinding) -> str:
    """Return the figure of a finding's frontier; an empty text where no leak was within reach."""
    steps = [(mass, epsilon) for mass, epsilon in finding.frontier if math.isfinite(epsilon)]
    if not steps:
        return ""
    top = max([epsilon for _, epsilon in steps] + [finding.epsilon]) or 1.0
    width = 100 / len(steps)
    dots = "".join(
        _dot(width * (i + 0.4), _BASE - (_BASE - _TOP) * epsilon / top, _chance(mass), number(epsilon, "up"))
        for i, (mass, epsilon) in enumerate(steps)
    )
    y = _BASE - (_BASE - _TOP) * finding.epsilon / top
    told = "; ".join(f"{number(epsilon, 'up')} for answers of chance {_chance(mass)}" for mass, epsilon in steps)
    claimed = raised(value_text(finding.epsilon))
    return (
        f'<svg role="img" height="180" class="wide" aria-label="Least epsilon caught: {escape(told)}">'
        f'<line class="promised" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="t halo" x="100%" y="{y - 5:.1f}" text-anchor="end">claimed, {claimed}</text>{dots}</svg>'
    )


def _dot(x: float, y: float, chance: str, epsilon: str) -> str:
    return (
        f'<circle class="dot" cx="{x:.1f}%" cy="{y:.1f}" r="5"/>'
        f'<text x="{x:.1f}%" y="{y - 11:.1f}" text-anchor="middle">{epsilon}</text>'
        f'<text class="t" x="{x:.1f}%" y="166" text-anchor="middle">{chance}</text>'
    )


def _chance(mass: float) -> str:
    """Return a probability as "1 in 100"."""
    return f"1 in {1 / mass:,.0f}"
