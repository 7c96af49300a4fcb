"""Our statements on interior points and thresholds, which lecture 12 (STE) takes from the one before."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Pair, Part, Survives, Tools, Verdict

from ..interior_points.interior_point import InteriorPointExponential, InteriorPointTreeLog
from ..interior_points.thresholds import ThresholdInteriorPoint
from ..mechanisms.steps import Multiset, of_counter, ranks
from ..mechanisms.tree_log import TreeLog, leaving_depths
from ..samples import Sample
from .evidence import exceeds, judged, judged_loss, losses_of, pair_data, statements_in, states
from .sizes import compositions, worst_empirical_failure


def _outside(learner: Any, sample: Sample) -> float:
    """Return the exact probability that the point is not interior."""
    law = learner.law(sample)
    inside = [learner.solves(atom, sample) for atom in law.atoms]
    return math.fsum(np.exp(law.log_prob)[~np.array(inside)].tolist())


@states(
    "OURS-IPP",
    "The exponential mechanism is epsilon-private and finds an interior point of n >= (4/epsilon) ln(T/beta).",
    "the interior point problem",
    short="Failure to find an interior point of n ≥ (4/ε) ln(T/β)",
    printed="fails ≤ 0.2",
    found="fails {failure:.2g} at n = {n}",
)
def _interior(tools: Tools) -> Evidence:
    beta, learner = 0.2, InteriorPointExponential(5, 1.0)
    n = learner.points_needed(beta)
    (loss,), _ = losses_of(tools, [learner])
    failure, worst = max(
        (_outside(learner, learner.domain.sample(range(5), [0] * 5, counts)), counts) for counts in compositions(n, 5)
    )
    few = _outside(learner, learner.domain.sample([2, 3], [0, 0], [2, 2]))
    text = (
        f"T = 5, epsilon = 1: exact epsilon {loss}; n = (4/epsilon) ln(T/beta) = {n}: over all {math.comb(n + 4, 4)} "
        f"data the exact failure is at most {failure:.4f}, at {list(worst)}, and beta is {beta}; {few:.4f} with n = 4"
    )
    numbers = {"epsilon": loss.value, "n": n, "failure": failure, "failure with 4": few}
    failed = failure > beta
    return judged_loss(loss, 1.0, text, numbers, failed=failed, witness=f"{list(worst)} examples at the points 0 .. 4")


@states(
    "OURS-Thr",
    "An interior point of the m largest positive and m smallest negative examples errs on at most m - 1 of them.",
    "the interior point problem",
    short="A threshold from an interior point: m - 1 errors, ε",
    printed="fails ≤ 0.5, ε = 4",
    found="fails {failure:.2g} at n = {n}, ε = {epsilon:.3g}",
)
def _thresholds(tools: Tools) -> Evidence:
    alpha, beta, learner = 0.25, 0.5, ThresholdInteriorPoint(4, 4.0, 0.5)
    n = learner.utility(alpha, beta, "empirical").sample_size
    finding = tools.audit_law(learner, n=4)
    failure, worst = worst_empirical_failure(learner, n, alpha)
    leaks = exceeds(finding.epsilon, 4.0)
    return judged(
        Verdict.HOLDS,
        f"T = 4, epsilon = 4, m = {learner.m}: exact epsilon {finding.epsilon:.4f} (n = 4, all pairs; a "
        f"flipped label moves two values, so the mechanism is charged for a group of two); on n = (m - 1)/alpha = "
        f"{n} examples an error above alpha = {alpha} has exact probability at most {failure:.4f} over all labelled "
        f"samples, and beta is {beta}",
        {"epsilon": finding.epsilon, "m": learner.m, "n": n, "failure": failure},
        repr(finding.worst_pair) if leaks else worst,
        {**pair_data(learner, finding.worst_pair, epsilon=finding.epsilon), "n": n, "failure": failure},
        failed=leaks or failure > beta,
    )


@states(
    "OURS-TreeLog",
    "TreeLog, every call charged, is (epsilon, delta)-private and finds one.",
    "the interior point problem",
    short="TreeLog, every call charged: its δ",
    printed="δ = 0.01",
    found="δ = {delta:.2g}",
)
def _tree(tools: Tools) -> Evidence:
    beta, learner = 0.1, InteriorPointTreeLog(32, 2.0, 0.01, 0.1)
    n = learner.points_needed(beta)
    half, even = [n // 2, n - n // 2], [n // 32 + 1] * 32
    data = [([15, 16], half), ([0, 31], half), ([7], [n]), (range(32), even)]
    samples = [learner.domain.sample(list(xs), [0] * len(counts), counts) for xs, counts in data]
    failure, worst = max((_outside(learner, sample), repr(sample)) for sample in samples)
    pairs = []
    for a, b in ((15, 16), (0, 31), (3, 4)):
        for share in (0, 1, n // 3, n // 2, n - 1):
            left = learner.domain.sample([a, b], [0, 0], [n - share, share])
            pairs.append(Pair(left, learner.domain.sample([a, b], [0, 0], [n - share - 1, share + 1])))
    found = tools.audit_law(learner, samples=pairs)
    leaks = found.verdict == Verdict.VIOLATION
    return judged(
        Verdict.HOLDS,
        f"T = 32, epsilon = 2, delta = 0.01: on {len(pairs)} pairs of n = {n} examples at most delta "
        f"{found.delta_at_claim:.2g} is needed at epsilon = 2 (exact epsilon {found.epsilon:.4f}); the point is not "
        f"interior with exact probability at most {failure:.2g} on data side by side, apart, equal, spread, and beta "
        f"is {beta}",
        {"delta": found.delta_at_claim, "epsilon": found.epsilon, "n": n, "failure": failure},
        repr(found.worst_pair) if leaks else worst,
        pair_data(learner, found.worst_pair, at=2.0, delta=found.delta_at_claim),
        failed=leaks or failure > beta,
    )


HEAVY_LEFT = ((240, 12), (244, 6), (246, 3), (247, 4))
"""Elements below the left child of the last balanced node: its path goes on and on; below the right there is a pile."""
PILE = 248
EXAMPLES = {0: 6, 42: 36, 149: 25, 202: 25, 229: 25, **dict(HEAVY_LEFT), PILE: 26, 255: 6}
"""On 2^8 points: ends that the margins take, four levels whose lighter child is small, and a node of 25 against 26."""


@dataclass(frozen=True)
class ShallowFirst(TreeLog):
    """TreeLog whose slice S are the elements that leave the heavy path first."""

    def _embedding(self, middle: Multiset) -> tuple[Multiset, Multiset]:
        points, counts = middle
        depths = leaving_depths(points, counts, self.height)
        order = sorted(range(len(points)), key=lambda i: (depths[i], points[i]))
        taken: Counter[int] = Counter()
        rest: Counter[int] = Counter()
        for i in order:
            some = min(self.deep - taken.total(), counts[i])
            taken[points[i]] += some
            rest[depths[i]] += counts[i] - some
        return of_counter(taken), of_counter(rest)


class _Sliced(InteriorPointTreeLog):
    """The learner with that mechanism, and the sound one's claim."""

    def _tree(self, n: int) -> TreeLog:
        return ShallowFirst.within(self.domain_size, n, Fraction(self.epsilon), self.delta, self.beta)


@states(
    "OURS-TreeLog-slices",
    "TreeLog is (epsilon, delta)-private too if it slices off the elements that leave the heavy path first.",
    "dpaudit_learners.mechanisms.tree_log, with a fault",
    part=Part.AUDITOR,
    formula="slices off the elements that leave the heavy path first: delta <= 0.01",
    failure=Verdict.FALSE,
    survives=Survives.YES,
    argument="One example that moves changes many embedded values; the deepest first is right.",
    short="TreeLog may slice either end of the embedding",
    printed="δ = 0.01",
    found="δ ≥ {delta:.3g}; {moved} embedded values change, not 1",
    best="the deepest first: δ ≤ {delta of the sound one:.2g} on that pair",
)
def _slices(tools: Tools) -> Evidence:
    learner = _Sliced(256, 4.0, 0.01, 0.5)
    sound = InteriorPointTreeLog(256, 4.0, 0.01, 0.5)
    moved = Counter(EXAMPLES) - Counter([PILE]) + Counter([HEAVY_LEFT[0][0]])
    samples = [learner.domain.sample(list(c), [0] * len(c), list(c.values())) for c in (EXAMPLES, moved)]
    pair = Pair(samples[0], samples[1], "one example of the pile moves to the left")
    found, right = (tools.audit_law(one, samples=[pair]) for one in (learner, sound))
    tree = learner._tree(samples[0].n)
    rests = [_rest(tree, dict(sorted(c.items()))) for c in (EXAMPLES, moved)]
    numbers = {
        "delta": found.delta_at_claim,
        "delta of the sound one": right.delta_at_claim,
        "moved": (rests[0] - rests[1]).total(),
    }
    text = (
        f"2^8 points, epsilon = 4, delta = 0.01: a pair of {samples[0].n} examples whose paths part at a node "
        f"of 25 against 26: {numbers['moved']} of the embedded values that the recursion gets differ, and delta(4) is "
        f"{found.delta_at_claim:.4f}. With the deepest elements sliced off it is {right.delta_at_claim:.2g}"
    )
    witness = f"the example {PILE} of {EXAMPLES} replaced by {HEAVY_LEFT[0][0]}"
    data = {
        "size": 256,
        "margin": tree.margin,
        "slice": tree.deep,
        "data": sorted(EXAMPLES.items()),
        "neighbour": sorted(moved.items()),
        "moved": numbers["moved"],
    }
    return judged(Verdict.UNDECIDED, text, numbers, witness, data, failed=found.verdict == Verdict.VIOLATION)


def _rest(tree: TreeLog, data: dict[int, int]) -> Counter[int]:
    """Return the embedded values that the recursion gets."""
    _, rest = tree._embedding(ranks((list(data), list(data.values())), tree.margin, tree.n - tree.margin))
    return Counter(dict(zip(*rest, strict=True)))


STATEMENTS = statements_in(globals())
