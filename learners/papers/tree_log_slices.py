"""TreeLog with the slice taken at the wrong end of the embedding, as a public script is said to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.contract import Evidence, Pair, Tools
from learners.citations import STE
from learners.interior_points.interior_point import InteriorPointTreeLog
from learners.mechanisms.steps import Multiset, of_counter, ranks
from learners.mechanisms.tree_log import TreeLog, leaving_depths
from learners.papers.evidence import judged, states

__all__ = ["STATEMENTS"]

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
        return sliced().within(self.domain_size, n, Fraction(self.epsilon), self.delta, self.beta)


def sliced() -> type[TreeLog]:
    """Return the mechanism of the statement."""
    return ShallowFirst


@states(
    "STE-TreeLog-slices",
    "TreeLog is (epsilon, delta)-private too if it slices off the elements that leave the heavy path first.",
    f"{STE}, the interior point problem; a public script of TreeLog, as it is said to be",
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
    return judged(
        "undecided",
        f"2^8 points, epsilon = 4, delta = 0.01: a pair of {samples[0].n} examples whose paths part at a node "
        f"of 25 against 26: {numbers['moved']} of the embedded values that the recursion gets differ, and delta(4) is "
        f"{found.delta_at_claim:.4f}. With the deepest elements sliced off it is {right.delta_at_claim:.2g}",
        numbers,
        f"the example {PILE} of {EXAMPLES} replaced by {HEAVY_LEFT[0][0]}",
        {
            "size": 256,
            "margin": tree.margin,
            "slice": tree.deep,
            "data": sorted(EXAMPLES.items()),
            "neighbour": sorted(moved.items()),
            "moved": numbers["moved"],
        },
        failed=found.verdict == "violation",
    )


def _rest(tree: TreeLog, data: dict[int, int]) -> Counter[int]:
    """Return the embedded values that the recursion gets."""
    _, rest = tree._embedding(ranks((list(data), list(data.values())), tree.margin, tree.n - tree.margin))
    return Counter(dict(zip(*rest, strict=True)))


STATEMENTS = (_slices,)
