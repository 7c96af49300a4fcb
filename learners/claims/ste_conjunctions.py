"""Ledger claims of lecture 12, "Private PAC Learning", on conjunctions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from dpaudit.contract import Claim, Evidence, Pair, Relation
from learners.conjunctions import LECTURE, ConjunctionElimination, ConjunctionLaplace
from learners.conjunctions_exponential import ConjunctionExponential
from learners.conjunctions_greedy import ConjunctionGreedy
from learners.literals.counts import GreedyCounts
from learners.mechanisms.exponential import log_law

__all__ = ["CLAIMS"]


def _elimination(tools: Any) -> Evidence:
    learner = ConjunctionElimination(2)
    points = learner.domain.points()
    errors, cases = 0, 0
    for concept in learner.concepts.enumerate():
        truth = concept.predict(points)
        for rows in itertools.product(range(len(points)), repeat=3):
            sample = learner.domain.sample(points[list(rows)], truth[list(rows)])
            code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
            errors, cases = errors + sample.errors(learner.decode(code)), cases + 1
    example = ConjunctionElimination(6)
    lecture = ("0101011", "0101100", "1111011", "1111110", "0000000", "1011011", "1111011", "0001011")
    bits = np.array([[int(c) for c in row] for row in lecture])
    answer = example.decode(
        int(example.run(example.domain.sample(bits[:, :6], bits[:, 6]), np.random.default_rng(0), 1)[0])
    )
    good = errors == 0 and str(answer) == "v4 and not v5 and v6"
    return Evidence(
        "holds" if good else "undecided",
        f"no error on all {cases} labelled sequences of 3 examples at d = 2; the lecture's example gives {answer}",
        {"errors": errors, "cases": cases},
        "exact",
    )


def _laplace(tools: Any) -> Evidence:
    learner = ConjunctionLaplace(2, 1.0, 0.05)
    # Deep below and above the threshold the tails are exponential, so the ratio is attained.
    flip = Pair(
        learner.domain.sample([[0, 0], [1, 1]], [1, 1], [40, 1]),
        learner.domain.sample([[0, 0]], [1], [41]),
        "(1, 1) replaced by its complement",
    )
    removed = Pair(flip.data, learner.domain.sample([[0, 0]], [1], [40]), "(1, 1) removed")
    replaced = tools.audit_law(learner, samples=[flip]).epsilon
    added = tools.audit_law(learner, samples=[removed], relation=Relation.ADD_REMOVE_ONE).epsilon
    good = abs(replaced - 1) < 1e-9 and abs(added - 0.5) < 1e-9
    return Evidence(
        "holds" if good else "undecided",
        f"tight under replacement: a positive example replaced by its complement moves all 2 d counts, exact epsilon "
        f"{replaced:.9f} of 1; under adding or removing an example {added:.9f}, half of it",
        {"replacement": replaced, "add_remove": added},
        "exact",
    )


def _laplace_utility(tools: Any) -> Evidence:
    alpha, beta = 0.2, 0.05
    learner = ConjunctionLaplace(2, 1.0, beta)
    claim = learner.utility(alpha, beta, "empirical")
    finding = tools.audit_utility(
        learner, 5, "uniform", alpha=alpha, beta=beta, n=claim.sample_size, trials=400, setting="empirical"
    )
    return Evidence(
        {"holds": "holds", "violation": "refuted"}.get(finding.verdict, "undecided"),
        f"n = (8 d^2/(alpha epsilon)) ln(2 d/beta) = {claim.sample_size}: {finding.failures} of {finding.trials} runs "
        f"err on more than alpha = {alpha} of the sample; at most {finding.failure_upper:.4f} at 95 % confidence",
        {"n": claim.sample_size, "failures": finding.failures, "failure_upper": finding.failure_upper},
        "statistical",
        f"not v1 and v2, uniform distribution, n = {claim.sample_size}" if finding.verdict == "violation" else "",
    )


def _exponential(tools: Any) -> Evidence:
    alpha, beta = 0.4, 0.1
    learner = ConjunctionExponential(2, 1, 1.0)
    epsilon = tools.audit_law(learner, n=4).epsilon
    n = learner.utility(alpha, beta, "empirical").sample_size
    printed = math.ceil(1 / (1.0 * alpha) * math.log(2))
    failures = [_worst_empirical(learner, size, alpha) for size in (n, printed)]
    good = epsilon <= 1 and failures[0] <= beta
    return Evidence(
        "holds" if good else "undecided",
        f"exact epsilon {epsilon:.4f} <= 1. With n = (2/(alpha epsilon)) ln(|C|/beta) = {n} the exact failure is at "
        f"most {failures[0]:.4f} <= {beta} over all labelled samples (d = 2, k = 1); (k/(epsilon alpha)) ln d "
        f"= {printed} examples taken literally fail with {failures[1]:.4f}",
        {"epsilon": epsilon, "n": n, "failure": failures[0], "n_printed": printed, "failure_printed": failures[1]},
        "exact",
    )


def _worst_empirical(learner: Any, n: int, alpha: float) -> float:
    """Return the worst Pr[error on the sample > alpha] over consistent samples of n examples, by their laws."""
    points, worst = learner.domain.points(), 0.0
    for concept in learner.concepts.enumerate():
        truth = concept.predict(points)
        for counts in itertools.product(range(n + 1), repeat=len(points)):
            if sum(counts) != n:
                continue
            sample = learner.domain.sample(points, truth, counts)
            law = learner.law(sample)
            wrong = n - learner.concepts.count_correct(sample)
            worst = max(worst, float(np.exp(law.log_prob[wrong > alpha * n]).sum()))
    return worst


def _greedy(tools: Any) -> Evidence:
    found = {k: tools.audit_law(ConjunctionGreedy(2, k, 1.0), n=4).epsilon for k in (1, 2)}
    leak = tools.audit_law(ConjunctionGreedy(2, 1, 1.0), n=1, relation=Relation.ADD_REMOVE_ONE).epsilon
    good = max(found.values()) <= 1 and leak == math.inf
    return Evidence(
        "loose" if good else "undecided",
        f"exact epsilon at d = 2, n = 4: {found[1]:.4f} (k = 1) and {found[2]:.4f} (k = 2) of 1. J = ceil(2 k ln n) is "
        f"public under replacement; if examples are added or removed, the number of literals shows n: epsilon = {leak}",
        {"epsilon_k1": found[1], "epsilon_k2": found[2], "add_remove": leak},
        "exact",
    )


def _greedy_slack(tools: Any) -> Evidence:
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
    return Evidence(
        "refuted" if below > 0.5 else "undecided",
        f"d = {d}, k = {k}, epsilon = {epsilon:g}, n = {n}, J = {rounds} rounds with epsilon/J each: where one literal "
        f"has score 0 and the others at most -20, a round chooses a literal with score below "
        f"-(1/epsilon) ln d = -{printed:.2f} with probability {below:.3f}. "
        f"With the J, Delta = (2 J/epsilon) ln(2 d J/beta) = {repaired:.0f}",
        {"probability": below, "rounds": rounds, "printed": printed, "repaired": repaired},
        "exact",
        f"target v1, 20 x (1, 0, .., 0) -> 1, 20 x (1, 1, .., 1) -> 1 and {n - 40} negatives, after v1 is chosen"
        if below > 0.5
        else "",
    )


def _greedy_constant(tools: Any) -> Evidence:
    n = 4000
    errors = {}
    for literal in (True, False):
        learner = ConjunctionGreedy(2, 1, 1.0, literal=literal)
        points = learner.domain.points()
        sample = learner.domain.sample(points, np.ones(len(points), dtype=int), [n // 4] * 4)
        law = learner.law(sample)
        wrong = np.array([sample.errors(learner.decode(code)) / n for code in range(len(law.atoms))])
        errors[literal] = float(np.exp(law.log_prob[wrong >= 0.5]).sum())
    return Evidence(
        "refuted" if errors[True] > 0.999 and errors[False] < 1e-6 else "undecided",
        f"the target that is 1 everywhere, all four points positive, n = {n}: every answer of the text errs on half of "
        f"the sample or more (probability {errors[True]:.6f}); with 'no literal' as a candidate {errors[False]:.1e}",
        {"failure_literal": errors[True], "failure_repaired": errors[False]},
        "exact",
        f"d = 2, k = 1, each of the four points {n // 4} times with label 1",
    )


CLAIMS = (
    Claim("STE-NonPriv", "Elimination makes no error on samples that a conjunction labels.", LECTURE, _elimination),
    Claim("STE-Conj1", "Noisy elimination with Lap(2 d/epsilon) is epsilon-private.", LECTURE, _laplace),
    Claim(
        "STE-Conj1-Size",
        "n >= (8 d^2/(alpha epsilon)) ln(2 d/beta) gives error at most alpha on the sample with probability 1 - beta.",
        LECTURE,
        _laplace_utility,
    ),
    Claim(
        "STE-ConjExp",
        "The exponential mechanism over CONJ_{k,d} is epsilon-private and needs about (k/(epsilon alpha)) log d.",
        LECTURE,
        _exponential,
    ),
    Claim("STE-Conj2", "J rounds with epsilon/J each, b = |S0| without noise, are epsilon-private.", LECTURE, _greedy),
    Claim(
        "STE-Conj2-Delta",
        "Every round chooses a literal with score at least -Delta, Delta = (1/epsilon) ln d, with high probability.",
        LECTURE,
        _greedy_slack,
    ),
    Claim(
        "STE-Conj2-Constant",
        "The greedy learner learns every conjunction of at most k literals, the empty one included.",
        LECTURE,
        _greedy_constant,
    ),
)
