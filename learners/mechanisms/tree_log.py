"""TreeLog: an interior point from a heavy path in the binary tree over the domain, recursing on its depth.

A balanced node of the tree is chosen by the choosing mechanism: the exponential mechanism over the few solutions that
some example supports.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import TypeVar

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Floats
from ..parameters import check_integer
from . import exponential
from .composition import Cost, Share, basic
from .log_laws import ULP, check_size, greatest, log_above, log_below, log_mixture, placed
from .stable_select import NoisyTest, StableSelect, Standing, standing_of_values
from .steps import Multiset, Steps, interior_scores, of_counter, ranks

Solution = TypeVar("Solution", bound=Hashable)


@dataclass(frozen=True)
class Choosing(NoisyTest):
    """Choose among the solutions with q >= 1 with weights exp(epsilon q / 4), if the best noisy score is large.

    q(S, f) >= 0 counts support: replacing one example moves every q by at most 1, lifts at most k solutions from 0 to 1
    and drops at most k from 1 to 0 (k = `growth`). With omega = 2 + (4/epsilon) ln(2 k/delta) and
    t = omega + (2/epsilon) ln(1/(2 delta)):

        if max q + Lap(2/epsilon) < t: nothing; else f with q(f) >= 1, in proportion to exp(epsilon q/4).

    (epsilon, delta)-privacy under replacement, with G = {f : q(S, f) >= 1}, Z the sum of its weights, rho = epsilon/4:

    - The test costs epsilon/2: max q has sensitivity 1.
    - If max q(S) >= omega, then Z >= e^(rho omega). Weights on G and G' differ by the factor e^rho, and at most k
      solutions join, with weight e^rho: Z' <= e^rho (Z + k). So Pr[f] <= e^(2 rho) (1 + k/Z) Pr'[f] on G and G', and
      the at most k solutions that leave have probability at most k e^rho / Z. Both excesses together are at most
      2 k e^(2 rho - rho omega) = delta. With the test: (epsilon/2 + 2 rho, delta) = (epsilon, delta).
    - If max q(S) < omega, the test is passed with probability at most e^(-(t - omega) epsilon/2) / 2 = delta, and
      failing it is (epsilon/2)-private.

    Utility: from max q >= t + (2/epsilon) ln(1/(2 beta)) on, the test is passed with probability 1 - beta.

    Parameters
    ----------
    epsilon, delta : Fraction
        The guarantee; delta in (0, 1/2].
    growth : int
        k.

    Notes
    -----
    The mechanism is Beimel, Nissim and Stemmer's (2013); constants and proof are for replacement and are our own.
    """

    growth: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("growth", self.growth, 1)

    @property
    def rate(self) -> float:
        """The inverse temperature of the choice."""
        return float(self.epsilon) / 4

    @property
    def threshold(self) -> float:
        """The threshold t."""
        # scale is 2/epsilon, so this is the omega of the class docstring.
        omega = 2 + 2 * self.scale * math.log(2 * self.growth / float(self.delta))
        return omega + self.scale * math.log(1 / (2 * float(self.delta)))

    def score_needed(self, beta: float) -> float:
        """Return the maximum score from which on the test is passed with probability 1 - beta (beta <= 1/2)."""
        return self.threshold + self.scale * math.log(1 / (2 * beta))

    def draw(self, scores: Mapping[Solution, int], rng: np.random.Generator, size: int) -> list[Solution | None]:
        """Return the choices of `size` independent calls, None for nothing, given the scores that are at least 1."""
        chosen: list[Solution | None] = [None] * size
        top = max(scores.values(), default=0)
        # First the noisy test of the best score, then the choice by weights e^(epsilon q/4).
        passed = np.flatnonzero(top + rng.laplace(0.0, self.scale, size) >= self.threshold)
        if len(passed) and scores:
            solutions = list(scores)
            picks = exponential.draw(np.array(list(scores.values())), self.rate, rng, len(passed))
            for run, pick in zip(passed, picks, strict=True):
                chosen[run] = solutions[pick]
        return chosen

    def log_law(self, scores: Mapping[Solution, int]) -> tuple[Floats, float, float]:
        """Return the log-probabilities of the solutions in their order, that of nothing, and a bound on the error."""
        if not scores:
            return np.zeros(0), 0.0, 0.0
        top = max(scores.values()) / self.scale
        t = self.threshold / self.scale
        z = np.array((self.threshold - max(scores.values())) / self.scale)
        logs, error = exponential.log_law(np.array(list(scores.values())), self.rate)
        total = error + ULP * (8 * abs(t) + 5 * top + 9 + float(-logs.min()))
        return logs + float(log_above(z)), float(log_below(z)), total


# Up to this many points the exponential mechanism is used directly.
BASE = 16
# What `TreeLog.outside` may leave out.
UNLIKELY = 1e-12


@dataclass(frozen=True)
class TreeLog:
    """Find an interior point of n points of {0 .. size - 1}.

    With at most `base` points in the domain, or too few examples for another level (both public): the exponential
    mechanism on q(x) = min(#{x_i <= x}, #{x_i >= x}). Otherwise, on the complete binary tree with l = ceil(log2 size)
    levels below the root, t = `margin`, b = `balance` and M = `deep`:

    1. D' = D without its t smallest and t largest elements.
    2. `Choosing` among the inner nodes, with score min(#D' in the left child, #D' in the right child). If it names a
       node, return the last leaf of its left child: elements of D' lie on both sides.
    3. Otherwise let v_0 = root, v_{i+1} = the child of v_i with more of D' (left in ties), and e(x) in {1 .. l + 1} the
       depth at which x leaves this path (l + 1: never). S = the M elements of D' with the greatest e (ties: smallest).
    4. y = TreeLog on the values e(x) of the n - 2 t - M elements of D' not in S.
    5. `StableSelect` the node u at depth y - 1 with the most elements of S; if none is named, return 0.
    6. The exponential mechanism among the first leaf of u, its last one and the last one of its left child, with score
       q on all of D.

    Privacy under replacement, step by step; every step is charged, every time:

    - If one list of values is ascending and one value is replaced, the slice from rank i to rank j changes in at most
      one value. So D' of neighbours are neighbours. Slices have fixed sizes; n is public.
    - Step 2: replacing one element moves each score by at most 1 and lifts (drops) at most l scores from 0 to 1 (1 to
      0): the nodes above the element. So `Choosing` with growth l is (epsilon, delta)-private.
    - Let g, g' be the greatest scores on neighbours. If one is above b, both are at least b, "nothing" has probability
      at most delta on both, and all that follows it counts for delta: (epsilon, 2 delta) in all.
    - Otherwise g, g' <= b. As long as a common node of the two paths holds M >= 2 b + 4 elements on one side, it holds
      at least 2 b + 3 on both; the lighter child has at most b and the heavier at least b + 3, so it is the heavier one
      on both. The paths agree down to a node v_s with fewer than M elements on both. Elements that leave at depth <= s
      have the same e on both sides; all others lie below v_s and so in S. With e cut off at s + 1, S and the rest are
      slices of one list of which one value was replaced: S of neighbours are neighbours, and so are the values handed
      to step 4, none of which was cut.
    - So steps 4, 5 (a count moves by at most 1) and 6 (q has sensitivity 1) are private calls on neighbouring inputs.

    By basic composition a level costs (3 epsilon, 2 delta) on top of the recursive call, and the base (epsilon, 0).

    Utility (`points_needed`): if step 2 names nothing although g > b, or if one of the calls fails, so may the
    algorithm. Otherwise some remaining x has e(x) <= y and some x' has e(x') >= y, so all of S lies below u = v_{y-1}
    and is named. If e(x) < y, x lies outside of u and an end of u is between x and S. If e(x) = y, x lies in the
    lighter child of u, the heavier one is not empty, and the middle of u is between. So some candidate is an interior
    point of D' and has score at least t on D; those that are no interior points of D, at most two, have score 0.

    Parameters
    ----------
    size, n : int
        Of the domain and of the data.
    epsilon, delta : Fraction
        Of each call.
    beta : float
        Failure probability of each event.

    Notes
    -----
    Source of the idea: Kaplan, Ligett, Mansour, Naor, Stemmer, "Privately learning thresholds" (2020), in the shape of
    Cohen, Lyu, Nelson, Sarlos, Stemmer (2023). Theirs saves budget by reorder-slice-compute; this version charges each
    call, so that every constant is proved, and needs a sample that grows with log log of the domain in step 2.
    """

    size: int
    n: int
    epsilon: Fraction
    delta: Fraction
    beta: float
    base: int = BASE

    def __post_init__(self) -> None:
        check_integer("size", self.size, 2)
        check_integer("n", self.n, 0)

    @classmethod
    def within(cls, size: int, n: int, epsilon: Share, delta: Share, beta: float, base: int = BASE) -> TreeLog:
        """Return the mechanism whose calls on all levels cost (epsilon, delta) and fail with beta together."""
        # How many levels there are depends on the size alone, whatever the other parameters.
        levels = cls(size, 0, Fraction(1), Fraction(1, 4), 0.5, base).levels
        # 3 epsilon and 2 delta for each level above the base, and epsilon for the base.
        share = Fraction(delta) / max(1, 2 * (levels - 1))
        return cls(size, n, Fraction(epsilon) / (3 * levels - 2), share, beta / (3 * levels - 2), base)

    @property
    def height(self) -> int:
        """The height l."""
        return (self.size - 1).bit_length()

    @property
    def levels(self) -> int:
        """The most levels that are ever made, the base included."""
        if self.size <= self.base:
            return 1
        return 1 + replace(self, size=self.height + 1).levels

    @property
    def _choice(self) -> Choosing:
        return Choosing(self.epsilon, self.delta, self.height)

    @property
    def _selection(self) -> StableSelect:
        return StableSelect(self.epsilon, self.delta)

    @property
    def margin(self) -> int:
        """t: the final choice fails with probability at most beta."""
        return math.ceil(2 / float(self.epsilon) * math.log(2 / self.beta))

    @property
    def balance(self) -> int:
        """b: from this score on step 2 names nothing with probability at most min(beta, delta)."""
        return math.ceil(self._choice.score_needed(min(self.beta, float(self.delta))))

    @property
    def deep(self) -> int:
        """M: enough for the privacy proof and for step 5 to succeed."""
        return max(2 * self.balance + 4, math.ceil(self._selection.gap_needed(self.beta)))

    @property
    def inner(self) -> TreeLog | None:
        """The recursive call, None where the exponential mechanism is used."""
        if self.size <= self.base:
            return None
        rest = self.n - 2 * self.margin - self.deep
        if rest > 0:
            return replace(self, size=self.height + 1, n=rest)
        return None

    @property
    def calls(self) -> list[Cost]:
        """The private calls made, innermost first."""
        last = Cost(self.epsilon)
        if self.inner is None:
            return [last]
        return [*self.inner.calls, self._choice.cost, self._selection.cost, last]

    @property
    def cost(self) -> Cost:
        """The guarantee of a run, by basic composition of `calls`."""
        return basic(self.calls)

    @property
    def points_needed(self) -> int:
        """A number of examples with which every event fails with probability at most beta; `n` is not used."""
        if self.size <= self.base:
            return math.ceil(4 / float(self.epsilon) * math.log(self.size / self.beta))
        return 2 * self.margin + self.deep + replace(self, size=self.height + 1).points_needed

    @property
    def starts(self) -> list[int]:
        """The numbers of examples with more than which one level of recursion, a second one, .. is made, ascending."""
        if self.size <= self.base:
            return []
        first = 2 * self.margin + self.deep
        return [first, *(first + more for more in replace(self, size=self.height + 1).starts)]

    def draw(self, points: Sequence[int], counts: Sequence[int], rng: np.random.Generator, size: int) -> list[int]:
        """Return the outputs of `size` independent runs on a multiset given by ascending distinct points and counts."""
        self._check(counts)
        data = list(points), list(counts)
        if self.inner is None:
            return interior_scores(*data, self.size).draw_exponential(float(self.epsilon) / 2, rng, size)
        middle = ranks(data, self.margin, self.n - self.margin)
        # Step 2.
        named = self._choice.draw(_balanced_nodes(middle), rng, size)
        drawn = [int(x) for x in named if x is not None]
        deep, shallow = self._embedding(middle)
        # Only the runs that step 2 left go on.
        left = size - len(drawn)
        # Step 4, then steps 5 and 6 for all runs with the same depth together.
        depths = self.inner.draw(*shallow, rng, left) if left else []
        for y, count in sorted(Counter(depths).items()):
            standing, candidates = self._candidates(deep, y)
            chosen = int(self._selection.draw(standing, rng, count).sum())
            drawn += [0] * (count - chosen)
            if chosen:
                drawn += _scored(candidates, data).draw_exponential(float(self.epsilon) / 2, rng, chosen)
        order = rng.permutation(size)
        return [drawn[i] for i in order]

    def log_law(self, points: Sequence[int], counts: Sequence[int]) -> tuple[Floats, float]:
        """Return the log-probabilities (size,) of the outputs and a bound on their error."""
        self._check(counts)
        check_size(self.size)
        return self._listed_law((list(points), list(counts)))

    def _listed_law(self, data: Multiset) -> tuple[Floats, float]:
        """Return the law whatever the number of points."""
        if self.inner is None:
            return interior_scores(*data, self.size).log_exponential(float(self.epsilon) / 2, self.size)
        middle = ranks(data, self.margin, self.n - self.margin)
        nodes = _balanced_nodes(middle)
        named, nothing, error = self._choice.log_law(nodes)
        deep, shallow = self._embedding(middle)
        ys, rest = self.inner._listed_law(shallow)
        weights = []
        endings = []
        worst = 0.0
        for y, log_y in enumerate(ys):
            standing, candidates = self._candidates(deep, y)
            # Step 5 names u or none; step 6 follows in the first case, the output 0 in the other.
            found, none, e = self._selection.log_law(standing)
            law, more = _scored(candidates, data).log_exponential(float(self.epsilon) / 2, self.size)
            weights += [float(log_y) + found, float(log_y) + none]
            endings += [law, placed(self.size, 0, 0.0)]
            worst = max(worst, e + more + 2 * ULP * greatest(weights[-2:]))
        following, more = log_mixture(weights, endings, rest + worst)
        laws = [placed(self.size, list(nodes), named), following]
        return log_mixture([0.0, nothing], laws, error + more + 2 * ULP * greatest([nothing]))

    def outside(self, data: Multiset, low: int, high: int) -> float:
        """Return the probability of a point outside of low .. high, on any domain.

        As `log_law`, but for the last step, of which only the mass on either side is summed. Depths that have at most
        the probability `UNLIKELY` together are left out.
        """
        self._check(data[1])
        rate = float(self.epsilon) / 2
        if self.inner is None:
            return interior_scores(*data, self.size).outside(rate, low, high)
        middle = ranks(data, self.margin, self.n - self.margin)
        nodes = _balanced_nodes(middle)
        named, nothing, _ = self._choice.log_law(nodes)
        terms = [math.exp(log) for node, log in zip(nodes, named.tolist(), strict=True) if not low <= node <= high]
        deep, shallow = self._embedding(middle)
        ys, _ = self.inner._listed_law(shallow)
        for y in np.flatnonzero(np.exp(ys) > UNLIKELY / len(ys)).tolist():
            standing, candidates = self._candidates(deep, y)
            found, none, _ = self._selection.log_law(standing)
            last = math.exp(found) * _scored(candidates, data).outside(rate, low, high)
            # Where no node is named the output is 0.
            if low > 0:
                last += math.exp(none)
            terms.append(math.exp(nothing + float(ys[y])) * last)
        return math.fsum(terms)

    def _embedding(self, middle: Multiset) -> tuple[Multiset, Multiset]:
        """Return the multiset S, and that of e - 1 of the rest."""
        points, counts = middle
        depths = leaving_depths(points, counts, self.height)
        # S are the M elements that stay longest on the path, of equals the smallest.
        order = sorted(range(len(points)), key=lambda i: (-depths[i], points[i]))
        deep: Counter[int] = Counter()
        shallow: Counter[int] = Counter()
        missing = self.deep
        for i in order:
            taken = min(missing, counts[i])
            missing -= taken
            deep[points[i]] += taken
            shallow[depths[i]] += counts[i] - taken
        return of_counter(deep), of_counter(shallow)

    def _candidates(self, deep: Multiset, depth: int) -> tuple[Standing, list[int]]:
        """Return the standing of the nodes at a depth by their share of S, and the best one's candidates."""
        # A node at a depth is the prefix of so many bits of its leaves.
        shift = self.height - depth
        weights: Counter[int] = Counter()
        for x, count in zip(*deep, strict=True):
            weights[x >> shift] += count
        nodes = sorted(weights)
        standing = standing_of_values([weights[v] for v in nodes], others=len(nodes) < 1 << depth)
        first = nodes[standing.best] << shift
        last = first + (1 << shift) - 1
        # The tree may have leaves beyond the domain.
        return standing, sorted({min(x, self.size - 1) for x in (first, (first + last) // 2, last)})

    def _check(self, counts: Sequence[int]) -> None:
        if sum(counts) != self.n:
            raise InputError(f"the data must have n = {self.n} points, got {sum(counts)}")


def _balanced_nodes(data: Multiset) -> dict[int, int]:
    """Return {last leaf of the left child: min(elements in the left child, in the right)} where that is at least 1.

    The last leaf of the left child names the node. Only nodes where two neighbouring points part have a score.
    """
    points, counts = data
    below = list(accumulate(counts, initial=0))
    found: dict[int, int] = {}
    todo = [(0, len(points))]
    while todo:
        low, high = todo.pop()
        if high - low < 2:
            continue
        # The highest bit in which the extreme points differ: at that node they part.
        bit = (points[low] ^ points[high - 1]).bit_length() - 1
        middle = points[high - 1] >> bit << bit
        cut = bisect_left(points, middle, low, high)
        found[middle - 1] = min(below[cut] - below[low], below[high] - below[cut])
        todo += [(low, cut), (cut, high)]
    return dict(sorted(found.items()))


def leaving_depths(points: list[int], counts: list[int], height: int) -> list[int]:
    """Return for each point one less than the depth at which it leaves the heavy path; `height` if it never does."""
    below = list(accumulate(counts, initial=0))
    depths = [height] * len(points)
    low = 0
    high = len(points)
    start = 0
    for depth in range(height):
        middle = start + (1 << height - depth - 1)
        cut = bisect_left(points, middle, low, high)
        # In ties the path goes left.
        right = below[high] - below[cut] > below[cut] - below[low]
        left_out = range(low, cut) if right else range(cut, high)
        for i in left_out:
            depths[i] = depth
        low, high, start = (cut, high, middle) if right else (low, cut, start)
    return depths


def _scored(candidates: list[int], data: Multiset) -> Steps:
    """Return the candidates with their score q on all of the data."""
    pairs = list(zip(*data, strict=True))
    values = [min(sum(c for p, c in pairs if p <= x), sum(c for p, c in pairs if p >= x)) for x in candidates]
    return Steps(candidates, [1] * len(candidates), values)
