"""Statements of lecture 12, "Private PAC Learning" (STE), on the greedy learner of conjunctions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Part, Relation, Sample, Tools

from ..arrays import Integers
from ..conjunctions.concepts import Conjunction
from ..conjunctions.greedy import ConjunctionGreedy
from ..conjunctions.greedy_counts import GreedyCounts
from ..covers.accounting import composed_share
from ..mechanisms.exponential import log_law
from ..parameters import BUDGETS
from .evidence import judged, judged_loss, losses_of, tried
from .sizes import error_case
from .states import Cases, at_most, derived, edge_case, misprint, states


@states(
    "STE-Conj2-Rounds",
    "J >= 2 k ln n makes n (1 - 1/(2 k))^J at most 1.",
    "take 2, the error",
    short="J ≥ 2 k ln n rounds leave at most one negative example",
    printed="≤ 1",
    found="{most:.3g} at most",
    formula="n (1 - 1/(2 k))^J <= 1",
    conditions="J >= 2 k ln n",
    argument="1 - x <= e^-x.",
)
@at_most(1, "k = 1 .. 100 and n = 2 .. 10^9: at most {most:.4f} ({witness})", "most")
def _rounds() -> Cases:
    for k, n in product((1, 2, 3, 10, 100), (2, 10, 10**3, 10**6, 10**9)):
        left = n * (1 - 1 / (2 * k)) ** rounds_needed(k, n)
        yield left, f"k = {k}, n = {n}", {"k": k, "n": n, "left": left}


def rounds_needed(k: int, n: int) -> int:
    """Return the least J >= 2 k ln n."""
    return math.ceil(2 * k * math.log(n))


def first_scores(learner: ConjunctionGreedy, sample: Sample) -> Integers:
    """Return k q of every literal in the first round."""
    counts = GreedyCounts(sample, learner.k, idle=False)
    return counts.scores(counts.start())


@states(
    "STE-Conj2-Score",
    "In every round some literal has q = 0, if the target has a literal.",
    "take 2, the error",
    short="Some literal has q = 0 in every round",
    printed="0",
    found="0 in all but {wrong} of {cases:,} cases",
    formula="there is l* with q(l*) = 0",
    argument="A literal of the target contradicts no positive example, and one of the k contradicts 1/k of the "
    "negative ones; q is never above 0. What is left after a round is labelled by the target too.",
)
def _score(tools: Tools) -> Evidence:
    wrong = 0
    cases = 0
    witness = ""
    data: dict[str, Any] = {}
    for k, mask in ((1, 0b01), (2, 0b01), (2, 0b101), (2, 0b110)):
        learner = ConjunctionGreedy(2, k, 1.0, literal=True)
        points = learner.domain.points()
        labels = Conjunction(2, mask).predict(points)
        # Without the first, the sample of no examples.
        for counts in list(product((0, 1, 5), repeat=4))[1:]:
            sample = learner.domain.sample(points, labels, counts)
            best = float(first_scores(learner, sample).max())
            cases += 1
            wrong += best != 0
            if best or not data:
                data = {"k": k, "counts": counts, "labels": labels, "best": best}
                witness = witness or (f"k = {k}: {sample!r}" if best else "")
    text = f"{cases} samples of the square that one or two literals label: the best score is 0 in all but {wrong}"
    return judged(text, {"wrong": wrong, "cases": cases}, witness, data)


def strong_size(k: int, dimension: int, delta: float) -> float:
    """Return n = (2 k + J) Delta/alpha with Delta = (2/share) ln(2 d J/beta), epsilon = 1 and alpha = beta = 0.1.

    J = 2 k ln n calls with `share` each are composed optimally; n is the fixed point.
    """
    n = 1e3
    for _ in range(30):
        calls = rounds_needed(k, round(n))
        delta_score = 2 / composed_share(calls, 1.0, delta) * math.log(2 * dimension * calls / 0.1)
        n = (2 * k + calls) * delta_score / 0.1
    return n


@derived(
    "STE-Conj2-Strong",
    "By strong composition the greedy learner needs k^1.5 examples in place of k^2, up to logarithms.",
    "take 2, the last remark",
    short="Growth of n with k by strong composition",
    printed="k^1.5",
    found="k^{growth:.2f}, without logarithms, from k = 16 to 256",
    formula="k^1.5 by strong composition",
    argument="J calls may each have about epsilon/sqrt(J ln(1/delta)), so that J Delta is about J^1.5, J = 2 k ln n.",
)
def _strong(tools: Tools) -> Evidence:
    low = 16
    high = 256
    sizes = {k: strong_size(k, 2**10, 1e-6) for k in (low, high)}
    # J^1.5 ln J has the logarithms of n that are not part of the law.
    bare = {k: n / (math.log(n) ** 1.5 * math.log(2**11 * rounds_needed(k, round(n)) / 0.1)) for k, n in sizes.items()}
    growth = math.log(bare[high] / bare[low]) / math.log(high / low)
    text = f"d = 2^10, delta = 1e-6: n = {sizes[low]:.4g} at k = {low}, {sizes[high]:.4g} at {high}: k^{growth:.3f}"
    data = {"k": [low, high], "n": list(sizes.values())}
    return judged(text, {"growth": growth}, text, data, failed=growth > 1.75, grade="numeric")


@states(
    "STE-Conj2",
    "J rounds with epsilon/J each, b = |S0| without noise, are epsilon-private.",
    "take 2, privacy",
    short="The greedy learner's ε, k = 1",
    formula="J calls with epsilon/J: epsilon-DP",
    printed="ε = 1",
    found="ε = {epsilon_k1:.3g}; {epsilon_k2:.3g} for k = 2",
    slow=True,
)
def _greedy(tools: Tools) -> Evidence:
    (first, second), worst = losses_of(tools, (ConjunctionGreedy(2, k, 1.0) for k in (1, 2)))
    leak = tools.audit_law(ConjunctionGreedy(2, 1, 1.0), n=1, relation=Relation.ADD_REMOVE_ONE).epsilon
    text = (
        f"exact epsilon at d = 2: {first} (k = 1) and {second} (k = 2), of 1; "
        f"it is (1 + 1/k)/2 of the claim for every d. J = ceil(2 k ln n) is public under replacement; if examples are "
        f"added or removed, the number of literals reveals n: epsilon = {leak}"
    )
    return judged_loss(worst, 1.0, text, {"epsilon_k1": first.value, "epsilon_k2": second.value, "add_remove": leak})


@states(
    "STE-Conj2-Proved",
    "J rounds with 2 epsilon/max(J + 1, J (1 + 1/k)) each, b = |S0| without noise, are epsilon-private.",
    "step 3; an improvement, proved in the docstring of choice_cost",
    part=Part.OURS,
    short="The greedy learner's ε with 2 k/(k + 1) times the budget of a round",
    printed="ε = 1",
    found="ε = {epsilon:.3g}, n {gain:.2g} times smaller (k = 3)",
    slow=True,
)
def _greedy_proved(tools: Tools) -> Evidence:
    learners = [ConjunctionGreedy(2, k, 1.0, budget="proved") for k in (1, 2)]
    learners.append(ConjunctionGreedy(3, 3, 1.0, rounds=2, budget="proved"))
    (one, two, few), worst = losses_of(tools, learners)
    paper, proved = (ConjunctionGreedy(16, 3, 1.0, budget=budget).sample_size(0.1, 0.1) for budget in BUDGETS)
    text = (
        f"exact epsilon at d = 2: {one} (k = 1), {two} (k = 2); at d = 3, k = 3 with J = 2 < k {few}; of 1. At d = 16, "
        f"k = 3, alpha = beta = 0.1 the explicit n is {proved} instead of {paper}"
    )
    numbers = {"epsilon": worst.value, "few rounds": few.value, "gain": paper / proved, "n": proved}
    return judged_loss(worst, 1.0, text, numbers)


@misprint(
    "STE-Conj2-Delta",
    "Every round chooses a literal with score at least -Delta, Delta = (1/epsilon) log d, with high probability.",
    "take 2, the error",
    formula="Delta = (1/epsilon) log d",
    argument="Each round has only epsilon/J, so that Delta = (J/epsilon) log d, up to constants. The final formula, "
    "J Delta of about k^2 ln^2(n) log(d)/epsilon, has this J.",
    short="Every round's score is at least -Δ, Δ = (1/ε) ln d",
    printed="rarely below -{printed:.3g}",
    found="below with probability {probability:.3g}",
)
def _greedy_slack(tools: Tools) -> Evidence:
    d = 10
    k = 1
    n = 10**4
    epsilon = 1.0
    learner = ConjunctionGreedy(d, k, epsilon, literal=True)
    rounds = learner.rounds_at(n)
    # Target v1: it covers all negatives in round 1; then 40 positives are left, which all other literals halve.
    points = np.array([[first] + [rest] * (d - 1) for first in (1, 0) for rest in (0, 1)])
    sample = learner.domain.sample(points, points[:, 0], [20, 20, n // 2 - 20, n // 2 - 20])
    counts = GreedyCounts(sample, k, idle=False)
    scores = counts.scores(counts.after(counts.start(), 0))
    printed = math.log2(d) / epsilon  # above ln d: what fails with it fails in both bases
    repaired = 2 * rounds / epsilon * math.log(2 * d * rounds / 0.1)
    # The inverse temperature of the learner for k q, which is an integer.
    rate = learner.share(rounds) / (2 * k)
    limit = -printed * k
    below = float(np.exp(log_law(scores, rate)[0][scores < limit]).sum())
    text = (
        f"d = {d}, k = {k}, epsilon = {epsilon:g}, n = {n}, J = {rounds} rounds with epsilon/J each: where "
        f"one literal has score 0 and the others at most -20, a round chooses a literal with score below "
        f"-(1/epsilon) log2 d = -{printed:.2f} with probability {below:.3f}. "
        f"With the J, Delta = (2 J/epsilon) ln(2 d J/beta) = {repaired:.0f}"
    )
    numbers = {"probability": below, "rounds": rounds, "printed": printed, "repaired": repaired}
    witness = f"target v1, 20 x (1, 0, .., 0) -> 1, 20 x (1, 1, .., 1) -> 1 and {n - 40} negatives, after v1 is chosen"
    data = {"scores": scores, "rate": rate, "limit": limit, "below": below}
    return tried(text, numbers, witness, data, failed=below > 0.5)


@edge_case(
    "STE-Conj2-Constant",
    "The greedy learner learns every conjunction of at most k literals, the empty one included.",
    "take 2, the error; CONJ_(k,d) by at most k literals",
    formula="CONJ_(k,d): at most k literals; some literal has q(l) = 0",
    argument="The argument takes a literal of the target in every round, and the conjunction of none has none: any "
    "literal that is added errs on positive examples. With 'no literal' as a candidate it is learned.",
    short="Every conjunction is learned, the empty one included",
    printed="fails rarely",
    found="fails with probability {failure_literal:.3f}",
)
def _greedy_constant(tools: Tools) -> Evidence:
    n = 4000
    printed, repaired = (ConjunctionGreedy(2, 1, 1.0, literal=literal) for literal in (True, False))
    sample = printed.domain.sample(printed.domain.points(), [1] * 4, [n // 4] * 4)
    # Any literal is contradicted by half of the positive points.
    failure, _, data = error_case(printed, sample, n / 2 - 1)
    right, _, _ = error_case(repaired, sample, n / 2 - 1)
    text = (
        f"the target that is 1 everywhere, all four points positive, n = {n}: the answer of the text errs on half of "
        f"the sample or more with probability {failure:.6f}; with 'no literal' as a candidate {right:.1e}"
    )
    numbers = {"failure_literal": failure, "failure_repaired": right}
    witness = f"d = 2, k = 1, each of the four points {n // 4} times with label 1"
    return tried(text, numbers, witness, data, failed=failure > 0.5)
