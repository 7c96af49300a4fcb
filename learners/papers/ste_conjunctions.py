"""Statements of lecture 12, "Private PAC Learning" (STE), on conjunctions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Pair, Relation, Tools, Verdict
from learners.conjunctions.concepts import ConjunctionExponential
from learners.conjunctions.consistent import ConjunctionElimination
from learners.conjunctions.greedy import ConjunctionGreedy
from learners.conjunctions.greedy_counts import GreedyCounts
from learners.conjunctions.laplace import ConjunctionLaplace
from learners.mechanisms.exponential import log_law
from learners.papers.evidence import errors_data, judged_loss, losses_of, pair_data
from learners.papers.sizes import answer, errors_of_law, judged_sizes, worst_empirical_failure
from learners.papers.verdicts import exceeds, judged, statements_in, states, tightness
from learners.parameters import BUDGETS


@states(
    "STE-NonPriv",
    "Elimination makes no error on samples that a conjunction labels.",
    short="Elimination's errors on samples that a conjunction labels",
    printed="none",
    found="{errors} in {cases}",
)
def _elimination(tools: Tools) -> Evidence:
    learner = ConjunctionElimination(2)
    points = learner.domain.points()
    wrong = []
    for concept, rows in product(learner.concepts.enumerate(), product(range(len(points)), repeat=3)):
        sample = learner.domain.sample(points[list(rows)], concept.predict(points[list(rows)]))
        wrong.append((int(sample.errors(answer(learner, sample))), repr(sample)))
    example = ConjunctionElimination(6)
    lecture = ("0101011", "0101100", "1111011", "1111110", "0000000", "1011011", "1111011", "0001011")
    bits = np.array([[int(c) for c in row] for row in lecture])
    shown = example.domain.sample(bits[:, :6], bits[:, 6])
    found = answer(example, shown)
    errors = sum(count for count, _ in wrong) + int(shown.errors(found))
    text = (
        f"{errors} errors on all {len(wrong)} labelled sequences of 3 examples at d = 2, and on the lecture's "
        f"example, which gives {found}"
    )
    data = errors_data(example, shown, 0, float(shown.errors(found) > 0))
    witness = next((words for count, words in wrong if count), repr(shown))
    return judged(Verdict.HOLDS, text, {"errors": errors, "cases": len(wrong)}, witness, data, failed=errors > 0)


@states(
    "STE-Conj1",
    "Noisy elimination with Lap(2 d/epsilon) is epsilon-private.",
    short="Noisy elimination with Lap(2 d/ε): its ε",
    printed="ε = 1",
    found="ε = {replacement:.3g}",
)
def _laplace(tools: Tools) -> Evidence:
    learner = ConjunctionLaplace(2, 1.0, 0.05)
    # Deep below and above the threshold the tails are exponential, so the ratio is attained.
    flip = Pair(
        learner.domain.sample([[0, 0], [1, 1]], [1, 1], [40, 1]),
        learner.domain.sample([[0, 0]], [1], [41]),
        "(1, 1) replaced by its complement",
    )
    removed = Pair(flip.data, learner.domain.sample([[0, 0]], [1], [40]), "(1, 1) removed")
    finding = tools.audit_law(learner, samples=[flip])
    replaced = finding.epsilon
    added = tools.audit_law(learner, samples=[removed], relation=Relation.ADD_REMOVE_ONE).epsilon
    text = (
        "under replacement, where a positive example replaced by its complement moves all 2 d counts, the "
        f"exact epsilon is {replaced:.9f} of 1; under adding or removing an example {added:.9f}"
    )
    numbers = {"replacement": replaced, "add_remove": added}
    data = pair_data(learner, flip, epsilon=replaced)
    return judged(tightness(replaced, 1.0), text, numbers, repr(flip), data, failed=exceeds(replaced, 1.0))


@states(
    "STE-Conj1-Size",
    "n >= (8 d^2/(alpha epsilon)) ln(2 d/beta) gives error at most alpha on the sample with probability 1 - beta.",
    short="Examples for noisy elimination",
    printed="n = {d = 2: theorem's n:,}",
    found="n = {d = 2: enough:,} is enough",
    best="n = {d = 2: enough:,} on the case tried",
)
def _laplace_utility(tools: Tools) -> Evidence:
    alpha, beta = 0.2, 0.05
    setup = f"alpha = {alpha}, beta = {beta}, the conjunction of not v1 and v2, uniform distribution"
    levels: dict[str, Any] = {"alpha": alpha, "beta": beta, "halvings": 6, "trials": 1000, "setting": "empirical"}
    return judged_sizes(tools, setup, [("d = 2", ConjunctionLaplace(2, 1.0, beta), 5, "uniform")], **levels)


@states(
    "STE-ConjExp",
    "The exponential mechanism over CONJ_{k,d} is epsilon-private and needs about (k/(epsilon alpha)) log d.",
    short="The exponential mechanism over conjunctions: its ε",
    printed="ε = 1",
    found="ε = {epsilon:.3g}",
    slow=True,
)
def _exponential(tools: Tools) -> Evidence:
    alpha, beta = 0.4, 0.1
    learner = ConjunctionExponential(2, 1, 1.0)
    (loss,), _ = losses_of(tools, [learner])
    n = learner.utility(alpha, beta, "empirical").sample_size
    printed = math.ceil(1 / (1.0 * alpha) * math.log(2))
    # The learner treats all literals alike, so one target of each length is as hard as any other of it.
    targets = [learner.concepts.concept(code) for code in (0, 1)]
    (failure, where), (literal, _) = (worst_empirical_failure(learner, size, alpha, targets) for size in (n, printed))
    text = (
        f"exact epsilon {loss}, of 1. With n = (2/(alpha epsilon)) ln(|C|/beta) = {n} the "
        f"exact failure is at most {failure:.4f} over all samples that no literal or v1 labels (d = 2, k = 1), beta is "
        f"{beta}; (k/(epsilon alpha)) ln d = {printed} examples taken literally fail with {literal:.4f}"
    )
    numbers = {"epsilon": loss.value, "n": n, "failure": failure, "n_printed": printed, "failure_printed": literal}
    return judged_loss(loss, 1.0, text, numbers, failed=failure > beta, witness=where)


@states(
    "STE-Conj2",
    "J rounds with epsilon/J each, b = |S0| without noise, are epsilon-private.",
    short="The greedy learner's ε, k = 1",
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
    return judged_loss(
        worst,
        1.0,
        f"exact epsilon at d = 2: {one} (k = 1), {two} (k = 2); at d = 3, k = 3 with J = 2 < k {few}; of 1. At d = 16, "
        f"k = 3, alpha = beta = 0.1 the explicit n is {proved} instead of {paper}",
        {"epsilon": worst.value, "few rounds": few.value, "gain": paper / proved, "n": proved},
    )


@states(
    "STE-Conj2-Delta",
    "Every round chooses a literal with score at least -Delta, Delta = (1/epsilon) ln d, with high probability.",
    short="Every round's score is at least -Δ, Δ = (1/ε) ln d",
    printed="rarely below -{printed:.3g}",
    found="below with probability {probability:.3g}",
)
def _greedy_slack(tools: Tools) -> Evidence:
    d, k, n, epsilon = 10, 1, 10**4, 1.0
    learner = ConjunctionGreedy(d, k, epsilon, literal=True)
    rounds = learner.rounds_at(n)
    # Target v1: it covers all negatives in round 1; then 40 positives are left, which all other literals halve.
    points = np.array([[first] + [rest] * (d - 1) for first in (1, 0) for rest in (0, 1)])
    sample = learner.domain.sample(points, points[:, 0], [20, 20, n // 2 - 20, n // 2 - 20])
    counts = GreedyCounts(sample, k, idle=False)
    scores = counts.scores(counts.after(counts.start(), 0))
    printed = math.log(d) / epsilon
    repaired = 2 * rounds / epsilon * math.log(2 * d * rounds / 0.1)
    law, _ = log_law(scores, learner.share(rounds) / (2 * k))
    below = float(np.exp(law[scores < -printed * k]).sum())
    return judged(
        Verdict.UNDECIDED,
        f"d = {d}, k = {k}, epsilon = {epsilon:g}, n = {n}, J = {rounds} rounds with epsilon/J each: where "
        f"one literal has score 0 and the others at most -20, a round chooses a literal with score below "
        f"-(1/epsilon) ln d = -{printed:.2f} with probability {below:.3f}. "
        f"With the J, Delta = (2 J/epsilon) ln(2 d J/beta) = {repaired:.0f}",
        {"probability": below, "rounds": rounds, "printed": printed, "repaired": repaired},
        f"target v1, 20 x (1, 0, .., 0) -> 1, 20 x (1, 1, .., 1) -> 1 and {n - 40} negatives, after v1 is chosen",
        {"scores": scores, "rate": learner.share(rounds) / (2 * k), "limit": -printed * k, "below": below},
        failed=below > 0.5,
    )


@states(
    "STE-Conj2-Constant",
    "The greedy learner learns every conjunction of at most k literals, the empty one included.",
    short="Every conjunction is learned, the empty one included",
    printed="fails rarely",
    found="fails with probability {failure_literal:.3f}",
)
def _greedy_constant(tools: Tools) -> Evidence:
    n = 4000
    errors = {}
    for literal in (True, False):
        learner = ConjunctionGreedy(2, 1, 1.0, literal=literal)
        points = learner.domain.points()
        sample = learner.domain.sample(points, np.ones(len(points), dtype=int), [n // 4] * 4)
        p, wrong = errors_of_law(learner, sample)
        errors[literal] = float(p[wrong / n >= 0.5].sum())
    return judged(
        Verdict.UNDECIDED,
        f"the target that is 1 everywhere, all four points positive, n = {n}: the answer of the text errs on half of "
        f"the sample or more with probability {errors[True]:.6f}; with 'no literal' as a candidate {errors[False]:.1e}",
        {"failure_literal": errors[True], "failure_repaired": errors[False]},
        f"d = 2, k = 1, each of the four points {n // 4} times with label 1",
        errors_data(ConjunctionGreedy(2, 1, 1.0, literal=True), sample, n / 2 - 1, errors[True]),
        failed=errors[True] > 0.5,
    )


DELTA = 1e-6
LOW, HIGH = 16, 31
"""Dimensions between which n grows; a mask holds at most 31 variables."""
COPIES = (0, 1, 2, 3, 5, 8)
"""Numbers of examples at a point and at its complement; their counts lie on both sides of the threshold."""


def _pairs(learner: Any) -> list[Pair]:
    """Return pairs in which a positive example is replaced by its complement, which moves all 2 d counts."""
    points = [[0] * learner.dimension, [1] * learner.dimension]

    def sample(zeros: int, ones: int) -> Any:
        return learner.domain.sample(points, [1, 1], [zeros, ones])

    return [Pair(sample(t + 1, u), sample(t, u + 1)) for t, u in product(COPIES, repeat=2)]


@states(
    "STE-Conj1-Delta",
    "Noisy elimination with the noise that composition of its 2 d counts allows at (epsilon, delta) is (epsilon, "
    "delta)-private, and its sample size grows like d^1.5.",
    "private algorithm, with advanced composition",
    short="Noisy elimination with a δ: growth of n with d",
    printed="d^1.5",
    found="d^{growth of n:.2f}, n = {n, d=31:,} at d = 31",
    best="n = {n, d=31:,} for {n without delta, d=31:,} without a δ (d = 31)",
)
def _with_delta(tools: Tools) -> Evidence:
    found: list[tuple[float, Any, Any]] = []
    for d, delta in product((1, 2, 3), (1e-2, 1e-1)):
        learner = ConjunctionLaplace(d, 1.0, 0.9, delta)
        finding = tools.audit_law(learner, samples=_pairs(learner))
        found.append((finding.delta_at_claim / delta, learner, finding))
    share, learner, worst = max(found, key=lambda one: one[0])
    sizes = {d: _size(d, DELTA) for d in (LOW, HIGH)}
    # n has a factor ln(2 d/beta) besides, which is not part of the law.
    grown = sizes[HIGH] / math.log(20 * HIGH) / (sizes[LOW] / math.log(20 * LOW))
    gaining = (d for d in range(1, HIGH + 1) if _size(d, DELTA) < _size(d, None))
    numbers: dict[str, float] = {
        "share of delta": share,
        "growth of n": math.log(grown) / math.log(HIGH / LOW),
        "n, d=31": sizes[HIGH],
        "n without delta, d=31": _size(HIGH, None),
        "first d that gains": min(gaining, default=math.inf),
    }
    leaky = any(finding.verdict == Verdict.VIOLATION for _, _, finding in found)
    text = (
        f"d = 1, 2, 3 and delta = 0.01, 0.1: on {len(COPIES) ** 2} pairs each, in which a replaced example "
        f"moves all counts, delta(1) is at most {share:.3f} of the claim. With delta = {DELTA:g} n grows like d^"
        f"{numbers['growth of n']:.2f} ln d from d = {LOW} to {HIGH}, and is smaller than without from d = "
        f"{numbers['first d that gains']} on; at d = 31, epsilon = 1, alpha = beta = 0.1, {sizes[HIGH]} instead of "
        f"{numbers['n without delta, d=31']}"
    )
    witness = repr(worst.worst_pair) if leaky else f"sample sizes {sizes}"
    data = pair_data(learner, worst.worst_pair, at=1.0, delta=worst.delta_at_claim)
    # What is nearer to d^2 than to d^1.5 is another law.
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=leaky or numbers["growth of n"] > 1.75)


def _size(dimension: int, delta: float | None) -> int:
    """Return the theorem's n on the sample for epsilon = 1 and alpha = beta = 0.1."""
    return ConjunctionLaplace(dimension, 1.0, 0.1, delta).utility(0.1, 0.1, "empirical").sample_size


STATEMENTS = statements_in(globals())
