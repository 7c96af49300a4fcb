"""The figure of a learner's utility: its failure rate against the sample size, beta and the theorem's n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpaudit.reporters import svg
from dpaudit.reporters.numbers import count, value_text
from dpaudit.reporters.row import Row
from dpaudit.reporters.wording import failure_text
from dpaudit.utility.finding import UtilityFinding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["failure_figure", "paint_failure"]

_MAIN, _OTHERS = "failure rate", "other hard cases"
_ASIDE = 1.06  # what stands at the theorem's n beside the line is drawn a little to its right


def failure_figure(row: Row, name: str) -> tuple[str, str] | None:
    """Return the figure of failure rates against n and its caption; None without a finding at the theorem's n."""
    if row.utility is None:
        return None
    caption = _failure_caption(row)
    return svg.draw(name, f"Failure rate of {row.label}", lambda figure: paint_failure(figure, row)), caption


def _failure_caption(row: Row) -> str:
    """Say what the figure shows."""
    assert row.utility is not None
    u = row.utility
    others = " Diamonds: the other hard cases, with the interval of the worst." if len(row.cases) > 1 else ""
    ladder = f" Line: the hard case {_ladder_case(row)} at growing n." if row.ladder else ""
    return (
        f"Setting {u.setting}: share of runs in which {failure_text(u)}, with exact intervals. Dashed: "
        f"beta = {value_text(u.beta)}. Dotted: the theorem's n = {count(u.n)}; "
        f"only there is beta promised.{ladder}{others}"
    )


def paint_failure(figure: Figure, row: Row) -> None:
    """Draw failure rates with their intervals against n on a logarithmic axis."""
    assert row.utility is not None
    u, axes = row.utility, figure.subplots()
    name = _ladder_case(row)
    main = [case.finding for case in (*row.ladder, *row.cases) if case.name == name]
    others = [case.finding for case in row.cases if case.name != name]
    if others:
        # Their intervals would lie on each other: the points of all, and the interval of the worst.
        worst = max(others, key=lambda f: f.failure_upper)
        axes.plot([f.n * _ASIDE for f in others], [f.failure_rate for f in others], "D", color=svg.OTHER, ms=3.5)
        _intervals(axes, [worst], "D", svg.OTHER, _OTHERS, offset=_ASIDE)
    _intervals(axes, sorted(main, key=lambda f: f.n), "o-", svg.EXACT, _MAIN)
    axes.axhline(u.beta, color=svg.CLAIM, ls="--", lw=1.2, label=f"beta = {value_text(u.beta)}")
    axes.axvline(u.n, color=svg.INK, ls=":", lw=1.2, label="theorem's n" if u.claim_id else "n")
    axes.set_xscale("log", base=2)
    top = max(u.beta, *(f.failure_upper for f in (*main, *others)))
    _ticks(axes, sorted({f.n for f in (*main, *others)}))
    axes.set(xlabel="examples n", ylabel="failure rate", ylim=(0, 1.08 * top))
    svg.legend(figure, (_MAIN, _OTHERS))


def _intervals(
    axes: Axes, findings: Sequence[UtilityFinding], marker: str, colour: str, label: str, offset: float = 1.0
) -> None:
    """Draw rates with their exact confidence intervals."""
    below = [max(0.0, f.failure_rate - f.failure_lower) for f in findings]
    above = [max(0.0, f.failure_upper - f.failure_rate) for f in findings]
    axes.errorbar(
        [f.n * offset for f in findings],
        [f.failure_rate for f in findings],
        yerr=[below, above],
        fmt=marker,
        color=colour,
        ms=4.5,
        lw=1.4,
        capsize=2.5,
        label=label,
        clip_on=False,
    )


def _ticks(axes: Axes, sizes: Sequence[int]) -> None:
    """Put ticks at the sample sizes that were run, thinned to six, as plain numbers."""
    from matplotlib.ticker import NullFormatter

    step = -(-len(sizes) // 6)
    kept = list(sizes[::-1][::step])[::-1]
    axes.set_xticks(kept, [count(n) if n < 10**6 else f"{n:.1e}" for n in kept])
    axes.set_xlim(sizes[0] / 1.25, sizes[-1] * 1.25)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)


def _ladder_case(row: Row) -> str:
    """Return the name of the hard case that the ladder climbs, or of the first."""
    return [*row.ladder, *row.cases][0].name
