"""Steps of KMMS that its theorems rest on: the score, its noise, the vertices of the dual plane, and disjunctions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.contract import Constants, Evidence, Tools, Verdict

from ..conjunctions.concepts import contradicted
from ..conjunctions.set_cover import SetCoverDisjunction
from ..covers.accounting import rounds_for
from ..domains import Cube
from .evidence import exceeds, greatest, judged, pair_data, statements_in, states
from .sizes import judged_sizes

Kinds = tuple[int, ...]
"""Numbers of examples: negative and positive ones that a hypothesis labels 0, then those that it labels 1."""


def score(kinds: Kinds, k: int, noisy: Fraction) -> Fraction:
    """Return q = min{#(S_0) - b/k, -#(S_1)} of a hypothesis, # counting the examples that it labels 0."""
    covered, spoiled, _, _ = kinds
    return min(covered - noisy / k, Fraction(-spoiled))


@states(
    "KMMS-Step1d",
    "q has sensitivity 1: a replaced example changes the score of every hypothesis by at most 1, for any b.",
    "Set Cover Learner, Step 1d; Section 2",
    short="The sensitivity of q",
    printed="1",
    found="{change:.3g}, in {cases:,} cases",
    formula="q(h) = min{#(S_0) - b/k, -#(S_1)}: sensitivity 1",
    argument="An example counts in one of the two terms at most, by 1, and the minimum of two terms moves no more than "
    "they do. It stays so for b = |S_0|.",
)
def _sensitivity(tools: Tools) -> Evidence:
    cases = []
    moves = list(itertools.permutations(range(4), 2))
    for kinds, k, (gone, new) in itertools.product(itertools.product(range(3), repeat=4), (1, 2, 3), moves):
        if not kinds[gone]:
            continue
        after = [*kinds]
        after[gone] -= 1
        after[new] += 1
        negatives = kinds[0] + kinds[2], after[0] + after[2]
        for b in ((Fraction(-1), Fraction(-1)), (Fraction(3), Fraction(3)), tuple(map(Fraction, negatives))):
            moved = float(abs(score(kinds, k, b[0]) - score(tuple(after), k, b[1])))
            words = f"k = {k}, b = {b[0]} and {b[1]}, examples {kinds} and {tuple(after)}"
            cases.append((moved, words, {"k": k, "before": kinds, "after": after, "change": moved}))
    change, witness, data = greatest(cases)
    text = (
        f"all {len(cases):,} ways to replace one of up to 8 examples, k = 1 .. 3, b fixed or |S_0|: {change:g} at most"
    )
    numbers = {"change": change, "cases": len(cases)}
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=exceeds(change, 1))


@states(
    "KMMS-Claim3.1-score",
    "In every round some hypothesis has q >= 0, if b <= |S_0|.",
    "proof of Claim 3.1",
    short="Some hypothesis has q ≥ 0 in every round",
    printed="≥ 0",
    found="≥ {least:.3g} in {cases:,} cases",
    formula="there is h in H with q(h) >= 0",
    conditions="b_j <= |S_0|; the target is a conjunction of k hypotheses",
    argument="The hypotheses of the target spoil no positive example, and one of the k covers 1/k of the negatives.",
)
def _round_score(tools: Tools) -> Evidence:
    strikes = contradicted(Cube(2).points()).astype(bool)
    found = []
    for literals, counts in itertools.product(((0,), (0, 2), (1, 2)), itertools.product((0, 1, 5), repeat=4)):
        labels = ~strikes[:, literals].any(axis=1)
        kinds = [[int(np.array(counts)[s & (labels == side)].sum()) for side in (False, True)] for s in strikes.T]
        negatives = int(np.array(counts)[~labels].sum())
        k = len(literals)
        best = max(score((covered, spoiled, 0, 0), k, Fraction(negatives)) for covered, spoiled in kinds)
        data = {"literals": literals, "counts": counts, "best score": float(best)}
        found.append((-float(best), f"literals {literals} of 2 variables, counts {counts}", data))
    least, witness, data = greatest(found)
    text = f"{len(found)} samples that one or two literals of 2 variables label, b = |S_0|: {-least:g} at least"
    numbers = {"least": 0.0 - least, "cases": len(found)}
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=least > 0)


def noise_bound(k: int, epsilon: float, alpha: float, beta: float) -> tuple[int, float, float]:
    """Return the number J of draws, their scale and Delta = scale ln(J/beta)."""
    draws = rounds_for(k, alpha)
    scale = draws / epsilon
    return draws, scale, scale * math.log(draws / beta)


@states(
    "KMMS-Claim3.1-noise",
    "With probability 1 - beta no |w_j| of J = 2 k ln(2/alpha) draws from Lap(J/epsilon) exceeds Delta.",
    "proof of Claim 3.1",
    short="No noise exceeds Δ",
    printed="≤ β",
    found="{share:.4f} β at most",
    formula="Pr[max |w_j| <= Delta] >= 1 - beta, Delta = (2 k/epsilon) log(2/alpha) log((2 k/beta) log(2/alpha))",
    argument="A draw exceeds Delta with probability beta/J; they are independent.",
)
def _noise_event(tools: Tools) -> Evidence:
    cases = []
    for k, epsilon, alpha, beta in itertools.product((1, 2, 10), (0.1, 1.0), (0.01, 0.1, 0.5), (1e-3, 0.1, 0.5)):
        draws, scale, limit = noise_bound(k, epsilon, alpha, beta)
        exceeded = -math.expm1(draws * math.log1p(-math.exp(-limit / scale)))
        data = {"k": k, "epsilon": epsilon, "alpha": alpha, "beta": beta, "J": draws, "probability": exceeded}
        cases.append((exceeded / beta, f"k = {k}, alpha = {alpha}, beta = {beta}", data))
    share, witness, data = greatest(cases)
    text = f"J rounded up, {len(cases)} settings: the exact probability is at most {share:.4f} beta ({witness})"
    return judged(Verdict.HOLDS, text, {"share": share}, witness, data, failed=exceeds(share, 1))


def vertices(side: int) -> set[tuple[Fraction, Fraction]]:
    """Return where the dual lines b = y - x a of the grid cross, in [-2 d^2, 2 d^2]^2, its edges included."""
    width, lines = 2 * side**2, list(itertools.product(range(side + 1), repeat=2))
    found = {(Fraction(a), Fraction(b)) for a in (-width, width) for b in (-width, width)}
    for x, y in lines:
        found |= {(Fraction(a), Fraction(y - x * a)) for a in (-width, width)}
        found |= {(Fraction(y - b, x), Fraction(b)) for b in (-width, width) if x}
    for (x, y), (u, v) in itertools.combinations(lines, 2):
        if x != u:
            a = Fraction(y - v, x - u)
            found.add((a, y - x * a))
    return {(a, b) for a, b in found if abs(a) <= width and abs(b) <= width}


@states(
    "KMMS-Claim4.5-distance",
    "Any two vertices of the regions, those on the edges of the box included, are at distance at least 1/d^2.",
    "proof of Claim 4.5",
    short="The distance of two vertices",
    printed="≥ 1/d²",
    found="{share:.3g}/d² at least, d = 1 .. {most}",
    formula="||(a_12, b_12) - (a_34, b_34)|| >= 1/d^2",
    argument="Coordinates have denominators of at most d, so that those that differ do so by 1/d^2. The proof has the "
    "crossings of four lines alone; where a line meets an edge of the box the same is true.",
)
def _distance(tools: Tools) -> Evidence:
    cases = []
    for side in range(1, 6):
        ends = sorted(vertices(side))
        points = np.array([[float(a), float(b)] for a, b in ends])
        apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        np.fill_diagonal(apart, np.inf)
        i, j = (int(v) for v in divmod(int(apart.argmin()), len(ends)))
        exact = (ends[i][0] - ends[j][0]) ** 2 + (ends[i][1] - ends[j][1]) ** 2
        near = [[str(a), str(b)] for a, b in (ends[i], ends[j])]
        data = {"d": side, "vertices": near, "squared": str(exact)}
        cases.append((-float(exact) * side**4, f"d = {side}: ({', '.join(near[0])}), ({', '.join(near[1])})", data))
    nearest, witness, data = greatest(cases)
    share = math.sqrt(-nearest)
    text = f"all vertices of the full grid's lines in the box, d = 1 .. 5: at least {share:.4f}/d^2 apart ({witness})"
    return judged(Verdict.HOLDS, text, {"share": share, "most": 5}, witness, data, failed=share < 1 - 1e-12)


SMALL: dict[str, Any] = {"dimension": 2, "k": 1, "epsilon": 1.0, "delta": 1e-6}


@states(
    "KMMS-Thm1.3",
    "The Set Cover Learner for disjunctions is (epsilon, delta)-private, and a PAC learner with our constants.",
    "Theorem 1.3; Theorem 3.5",
    short="Examples for disjunctions",
    printed="n = {d = 2, k = 1: theorem's n:,}",
    found="n = {d = 2, k = 1: enough:,} is enough; ε = {exact, n=3:.3g}",
    formula="n = O~((1/(alpha epsilon)) k log d)",
    constants=Constants.OURS,
)
def _disjunctions(tools: Tools) -> Evidence:
    alpha = beta = 0.2
    learner = SetCoverDisjunction(**SMALL, alpha=alpha / 2, beta=beta / 4)
    setup = f"alpha = beta = {alpha}, uniform distribution"
    found = judged_sizes(tools, setup, [("d = 2, k = 1", learner, 0, "uniform")], alpha=alpha, beta=beta, halvings=5)
    tiny = SetCoverDisjunction(**SMALL, alpha=0.49, beta=0.2)
    law = tools.audit_law(tiny, n=3)
    leaks = law.verdict == Verdict.VIOLATION
    return judged(
        found.verdict if found.verdict != Verdict.REFUTED else Verdict.UNDECIDED,
        f"{found.summary}; exact epsilon of samples of 3 at J = {tiny.rounds}: {law.epsilon:.4f} of 1",
        {**found.numbers, "exact, n=3": law.epsilon},
        repr(law.worst_pair) if leaks else found.witness,
        pair_data(tiny, law.worst_pair, epsilon=law.epsilon) if leaks else found.witness_data,
        failed=leaks or found.verdict == Verdict.REFUTED,
        grade="statistical",
    )


STATEMENTS = statements_in(globals())
