"""Draw the figures of docs/research/results.md, one for each result: python scripts/write.py results [NAME]..."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import dpaudit
from dpaudit.report.plots import BOUND, CLAIM, EXACT, INK, as_svg, painted
from dpaudit_learners.conjunctions.greedy import ConjunctionGreedy
from dpaudit_learners.covers.accounting import game_epsilon, paper_share
from dpaudit_learners.halfspaces.lower_bound import common_point_examples, proved_bound
from dpaudit_learners.mixtures.halfspace import MixtureHalfspace
from dpaudit_learners.mixtures.missed_facets import HardPolytope
from dpaudit_learners.papers.kmms_halfplanes import least_area
from dpaudit_learners.parities.amplified import ParityAmplified
from dpaudit_learners.parities.private import ParityRestart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def mixtures(axes: Axes) -> Sequence[str]:
    """Draw the examples at which the learner of mixtures fails, and those the theorem asks for, against d."""
    dimensions = [2, 4, 8, 16, 32, 64, 128, 256]
    fails = [HardPolytope.cyclic(d, alpha=1e-4).fails_up_to(0.1 / 2, beta=0.1) for d in dimensions]
    asked = [MixtureHalfspace(d, epsilon=0.1).sample_size(1e-4, 0.1) for d in dimensions]
    axes.loglog(dimensions, asked, "o-", color=CLAIM, label="Theorem 4.9 with our constants")
    axes.loglog(dimensions, fails, "o-", color=EXACT, label="it fails with this many")
    axes.loglog(dimensions, [fails[3] * (d / 16) ** 2 for d in dimensions], ":", color=INK, label="slope of d²")
    axes.set(xlabel="dimension d", ylabel="examples n", xticks=dimensions, xticklabels=dimensions)
    axes.minorticks_off()
    return ["Theorem 4.9 with our constants", "it fails with this many"]


def span(axes: Axes) -> Sequence[str]:
    """Draw the proved bound on m' and what two private algorithms need, against delta, for d = 64 and T = 2."""
    d = 64
    epsilon = 1.0
    deltas = [10 ** (-8 * i / 80) for i in range(1, 81)]
    axes.loglog(deltas, [1 / delta for delta in deltas], color=CLAIM, label="a random example: 1/δ")
    common = common_point_examples(d, 1, epsilon)
    axes.axhline(common, color=BOUND, label="a common point, δ = 0")
    axes.loglog(
        deltas, [proved_bound(d, 2, epsilon, delta) for delta in deltas], color=EXACT, label="proved bound on m'"
    )
    axes.set(xlabel="δ", ylabel="examples m", ylim=(1, 1e5))
    return []


def restart(axes: Axes) -> Sequence[str]:
    """Draw the examples of the private parity learner, restarted and repeated, against beta."""
    betas = [10 ** (-i / 4) for i in range(4, 25)]
    for kind, color, name in (
        (ParityAmplified, CLAIM, "repeated, ε divided"),
        (ParityRestart, EXACT, "restarted"),
    ):
        axes.loglog(betas, [kind(8, 1.0, b / 2).sample_size(0.1, b) for b in betas], color=color, label=name)
    axes.set(xlabel="failure rate β", ylabel="examples that suffice")
    return []


def covering(axes: Axes) -> Sequence[str]:
    """Draw the loss of private greedy covering by its share of the supremum, against the number of copies."""
    copies = [1, 2, 3, 5, 7, 10, 14, 20, 28, 40]
    axes.axhline(1.0, color=CLAIM, label="the supremum, (ê/2)(J + 1)")
    for rounds, style in ((1, ":"), (2, "-"), (3, "--")):
        learner = ConjunctionGreedy(2, 1, 1.0, rounds=rounds)
        bound = learner.supremum()
        assert bound is not None
        losses = [dpaudit.pac.audit_law(learner, samples=[bound.ray(t)]).epsilon / bound.value for t in copies]
        axes.plot(copies, losses, style, color=EXACT, label=f"J = {rounds}")
    axes.set(xlabel="copies of (x, 0) beside (x, 1)", ylabel="share of the supremum", ylim=(0, 1.05))
    return []


def game(axes: Axes) -> Sequence[str]:
    """Draw what the printed share of Claim 3.4 costs at most, as a share of epsilon, against the number of rounds."""
    rounds = [2, 4, 6, 8, 10, 12, 16]
    axes.axhline(1.0, color=CLAIM, label="claimed ε")
    for epsilon, color in ((0.9, EXACT), (0.3, BOUND)):
        rate = paper_share(epsilon, 1e-6) / 2
        costs = [game_epsilon(1, J, rate, 1e-6, reach=epsilon / 2) / epsilon for J in rounds]
        axes.plot(rounds, costs, "o-", color=color, label=f"at most, ε = {epsilon:g}")
    axes.set(xlabel="rounds J (k = 1, δ = 10⁻⁶)", ylabel="cost / claimed ε", ylim=(0, 1.05))
    return []


def region(axes: Axes) -> Sequence[str]:
    """Draw the dual lines of the grid {0, .., d}², d = 4, and the least region of the proof."""
    d = 4
    for y in range(d + 1):
        for x in range(d + 1):
            axes.plot([0, 1], [y, y + x], color=BOUND, linewidth=1, zorder=1)
    corners = [(1 / d, 1), (1 / (d - 1), 1), (1 / (d - 2), 1 + 1 / (d - 2)), (1 / (d - 1), d / (d - 1))]
    axes.fill(*zip(*corners, strict=True), color=CLAIM, zorder=2, label=f"a least region, of area {least_area(d)}")
    axes.set(xlabel="s = -a", ylabel="b", xlim=(0, 1), ylim=(0.5, 2))
    axes.grid(False)
    return []


def known(axes: Axes) -> Sequence[str]:
    """Draw n* of the exponential mechanism over thresholds and over points, and the theorem's n."""
    sizes = [2**k for k in (3, 4, 5, 6, 8, 10, 12)]
    for name, color, mark in (("threshold-exponential", EXACT, "o-"), ("point-exponential", BOUND, "s-")):
        learners = [dpaudit.pac.get_learner(name, domain_size=size, epsilon=1.0) for size in sizes]
        found = [dpaudit.pac.sample_complexity(learner, alpha=0.1, beta=0.1) for learner in learners]
        assert all(one.suffices - one.lower <= 2 for one in found)
        axes.semilogx(sizes, [one.upper for one in found], mark, base=2, color=color, label=f"{name}: n*")
        if color == EXACT:
            axes.semilogx(sizes, [one.theorem for one in found], "^-", base=2, color=CLAIM, label="theorem, thresholds")
    axes.set(xlabel="points of the domain", ylabel="examples", ylim=(0, None))
    return []


FIGURES: dict[str, Callable[[Axes], Sequence[str]]] = {
    "result-mixtures": mixtures,
    "result-span": span,
    "result-restart": restart,
    "result-covering": covering,
    "result-game": game,
    "result-region": region,
    "result-known": known,
}


def main() -> None:
    """Write the figures named, or all."""
    for name in sys.argv[1:] or FIGURES:
        (FOLDER / f"{name}.svg").write_bytes(as_svg(painted(FIGURES[name])))
