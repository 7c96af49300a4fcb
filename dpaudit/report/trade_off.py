"""The figure of a claim that is a curve: the trade-off of errors that it promises, and what the runs leave of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpaudit.bounds.tangent import ClaimPoints
from dpaudit.contract import CurveClaim
from dpaudit.report.figures import CaptionedFigure
from dpaudit.report.numbers import percent
from dpaudit.report.svg import across, along, axis, dot, drawing, element, linear, path, words
from dpaudit.report.view import AuditedMechanism
from dpaudit.report.words.claims import curve_claim_words

Array = NDArray[np.float64]

# As in `figures`; the number of rates that are drawn.
_BASE = 214
_TOP = 14
_HEIGHT = 250
_WIDTH = 1000
_STEPS = 64


def promised_errors(claim: CurveClaim, rate: Array) -> Array:
    """Return the least false negative rate that a claim allows at a false positive rate.

    It is the maximum of 0, 1 - d - exp(e) x and exp(-e) (1 - d - x) over the claim's points (e, d).
    """
    points = ClaimPoints.of(claim)
    ratio = np.exp(points.epsilon)[:, None]
    room = 1 - points.delta[:, None]
    least: Array = np.maximum(room - ratio * rate, (room - rate) / ratio).max(axis=0)
    return np.maximum(least, 0.0)


def trade_off_figure(mechanism: AuditedMechanism) -> CaptionedFigure | None:
    """Return the figure of an audit of a claim that is a curve; None for other claims."""
    finding = mechanism.tested.blackbox
    if finding is None or finding.curve_test is None:
        return None
    claim = finding.curve_test.claim
    # Squares, since the curve bends most where the rate is small.
    rate = np.linspace(0, 1, _STEPS + 1) ** 2
    up = linear(0, 1, _BASE, _TOP)

    def drawn(name: str, x: Array, y: Array, closed: bool = False) -> str:
        places = ((_WIDTH * a, up(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True))
        return element("path", class_=name, d=path(places, closed))

    least = promised_errors(claim, rate)
    parts = [drawn("promised", rate, least)]
    caption = "Errors of the best test of one input against its neighbour."
    if finding.curve is not None:
        # The upper limit on the false negative rate, the lower of both directions.
        most = np.minimum(finding.curve.trade_off_upper(rate), finding.curve.trade_off_upper(rate, reverse=True))
        # Below what is promised: orange lies over the grey, and the curve over both.
        if refuted := bool((most < least).any()):
            beyond = np.append(np.minimum(most, least), least[::-1])
            parts.insert(0, drawn("beyond", np.append(rate, rate[::-1]), beyond, closed=True))
        parts.insert(0, drawn("ruled", np.append(rate, 1.0), np.append(most, 1.0), closed=True))
        sure = percent(1 - finding.curve.gamma)
        caption += f" Grey: ruled out by the runs, all of it at once with confidence {sure}, if they are independent."
        caption += " Orange: what is promised and was ruled out." * refuted
    box = element("svg", *parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", preserveAspectRatio="none")
    rates = finding.witness.rates
    marks = []
    if rates is not None:
        marks = [dot(100 * rates[1], up(1 - rates[0]))]
    caption += " Dot: the event tested." * bool(marks)
    ticks = [(100 * tick, f"{tick:g}") for tick in (0.0, 0.25, 0.5, 0.75)]
    axes = [
        across("axis", 0, 100, _BASE),
        axis(ticks, 234),
        words("false positive rate", "100%", 234, "end", class_="t"),
    ]
    axes += [words("false negative rate", 0, up(1.0) + 4, class_="t", dx=6)]
    named = words(
        f"promised, {curve_claim_words(claim)}", along(30), up(float(np.interp(0.3, rate, least))) - 6, class_="halo"
    )
    figure = drawing(f"Trade-off of errors of {mechanism.name}", _HEIGHT, *axes, box, *marks, named)
    return CaptionedFigure(figure, caption)
