"""Ledger claims of the lecture slides "Private Learning 1" (Nissim 2017)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from dpaudit.contract import Claim, Evidence
from learners.claims.exact_failure import failure_probability, two_point
from learners.concepts.conjunctions import Conjunctions
from learners.concepts.intervals import Intervals
from learners.concepts.parities import Parities
from learners.concepts.vc import lower_sample_size, sauer_power_bound, upper_sample_size, vc_dimension
from learners.domains import Cube, Interval
from learners.finite_class import OccamConsistent, PointConsistent, ThresholdConsistent, ThresholdExponential
from learners.generic import SLIDES
from learners.parity import ParityPrivate
from learners.parity_confidence import ParityAmplified, ParityRestart

__all__ = ["CLAIMS"]


def _point(tools: Any) -> Evidence:
    alpha, beta = 0.1, 0.05
    learner = PointConsistent(8)
    n = learner.sample_size(alpha, beta)
    hard = two_point(learner.domain.points(), 5, 0, alpha * 1.001)
    failure = failure_probability(learner, learner.concepts.concept(5), hard, n, alpha)
    bound = (1 - alpha) ** n
    return Evidence(
        "holds" if failure <= bound <= beta else "undecided",
        f"at n = {n} the failure probability just above alpha is {failure:.6f}, (1 - alpha)^n = {bound:.6f} <= {beta}",
        {"n": n, "failure": failure, "bound": bound, "beta": beta},
        "exact",
    )


def _occam(tools: Any) -> Evidence:
    alpha, beta = 0.3, 0.2
    learner = OccamConsistent(3)
    n = learner.sample_size(alpha, beta)
    points = learner.domain.points()
    worst = 0.0
    for weights in ((0.34, 0.33, 0.33), (0.31, 0.38, 0.31), (0.301, 0.301, 0.398), (0.398, 0.301, 0.301)):
        law = type(two_point(points, 0, 1, 0.5))(points, np.array(weights))
        for concept in learner.concepts.enumerate():
            worst = max(worst, failure_probability(learner, concept, law, n, alpha))
    return Evidence(
        "holds" if worst <= beta else "undecided",
        f"intervals on 3 points, n = {n}: over all targets and 4 distributions just above alpha the exact failure "
        f"probability is at most {worst:.5f} <= {beta}",
        {"n": n, "failure": worst, "beta": beta},
        "exact",
    )


def _threshold(tools: Any) -> Evidence:
    learner = ThresholdConsistent(4, literal=True)
    sample = learner.domain.sample([1, 3], [1, 0])
    rng = np.random.default_rng(0)
    wrong = sample.errors(learner.decode(int(learner.run(sample, rng, 1)[0])))
    repaired = ThresholdConsistent(4)
    right = sample.errors(repaired.decode(int(repaired.run(sample, rng, 1)[0])))
    return Evidence(
        "refuted" if wrong else "holds",
        f"c_i of c_j(x) = 1 iff x < j errs on {wrong} of 2 examples; c_(i+1) (or x <= j) on {right}",
        {"errors_literal": wrong, "errors_repaired": right},
        "exact",
        "sample (1 -> 1), (3 -> 0): i = 1, and c_1 gives 1 the label 0" if wrong else "",
    )


def _sauer(tools: Any) -> Evidence:
    worst = 0.0
    for concepts, points in (
        (Intervals(8), Interval(8).points()),
        (Parities(3), Cube(3).points()),
        (Conjunctions(3), Cube(3).points()),
    ):
        labels, d = concepts.evaluate(points), concepts.vc_dimension
        for n in range(d + 1, len(points) + 1):
            most = max(len(np.unique(labels[:, list(s)], axis=0)) for s in itertools.combinations(range(8), n))
            worst = max(worst, most / sauer_power_bound(n, d))
    return Evidence(
        "holds" if worst <= 1 else "undecided",
        f"dichotomies of every subset of 8 points by intervals, parities and conjunctions: at most {worst:.4f} of "
        f"(e n/d)^d. (For n <= d the slide's 2^d is true; 2^n is meant.)",
        {"worst_ratio": worst},
        "exact",
    )


def _vc_examples(tools: Any) -> Evidence:
    intervals = vc_dimension(Interval(8).points(), Intervals(8))
    parities = [vc_dimension(Cube(d).points(), Parities(d)) for d in range(1, 7)]
    good = intervals == 2 and parities == list(range(1, 7))
    return Evidence(
        "holds" if good else "undecided",
        f"exhaustive search: VC(intervals on 8 points) = {intervals}, VC(PARITY_d) = {parities} for d = 1 .. 6",
        {"intervals": intervals, "parity_6": parities[-1]},
        "exact",
    )


def _vc_bounds(tools: Any) -> Evidence:
    alpha, beta = 0.1, 0.01
    upper, lower = upper_sample_size(2, alpha, beta), lower_sample_size(2, alpha, beta)
    learner = OccamConsistent(4)
    hard = two_point(learner.domain.points(), 1, 0, alpha * 1.0001)
    target = learner.concepts.concept(2)
    few = failure_probability(learner, target, hard, lower - 1, alpha)
    many = failure_probability(learner, target, hard, upper, alpha)
    return Evidence(
        "holds" if many <= beta < few else "undecided",
        f"d = 2, alpha = {alpha}, beta = {beta}: {upper} examples suffice (exact failure {many:.2e} on a hard case), "
        f"{lower - 1} do not (exact failure {few:.4f})",
        {"upper": upper, "lower": lower, "failure_below_lower": few, "failure_at_upper": many},
        "exact",
    )


def _generic(tools: Any) -> Evidence:
    epsilon, alpha, beta = 1.0, 0.1, 0.1
    learner = ThresholdExponential(4, epsilon)
    finding = tools.audit_law(learner, n=4)
    n = learner.sample_size(alpha, beta)
    hard = two_point(learner.domain.points(), 1, 3, alpha * 1.001)
    failure = failure_probability(learner, learner.concepts.concept(2), hard, n, alpha)
    small = 0.01
    slides = max(1 / small**2, 1 / (alpha * small))
    needed = ThresholdExponential(4, small).sample_size(alpha, beta) / math.log(2 * 5 / beta)
    true = finding.verdict == "consistent" and failure <= beta
    return Evidence(
        "loose" if true else "undecided",
        f"exact epsilon {finding.epsilon:.4f} <= {epsilon}; n = max(8/alpha, 4/(alpha epsilon)) ln(2|C|/beta) = {n} "
        f"suffices (exact failure {failure:.1e} on a hard case). At epsilon = {small} the slides' maximum is "
        f"{slides:.0f}, where {needed:.0f} suffices: 1/epsilon^2 is not needed. Agnostic learning needs 1/alpha^2",
        {"epsilon": finding.epsilon, "n": n, "failure": failure, "slides_factor": slides, "sufficient_factor": needed},
        "exact",
    )


def _generic_large_epsilon(tools: Any) -> Evidence:
    alpha, beta, constant = 0.01, 0.01, 8
    learner = ThresholdExponential(2, 1000.0)
    bound = max(1 / learner.epsilon**2, 1 / (alpha * learner.epsilon))
    n = math.ceil(constant * (math.log(learner.concepts.size) - math.log(beta)) * bound)
    hard = two_point(learner.domain.points(), 0, 1, alpha * 1.001)
    failure = failure_probability(learner, learner.concepts.concept(1), hard, n, alpha)
    return Evidence(
        "refuted" if failure > beta else "undecided",
        f"at epsilon = {learner.epsilon:g} the bound with constant {constant} asks for n = {n} examples, and the exact "
        f"failure probability is {failure:.3f} > {beta}: the maximum lacks the term 1/alpha (epsilon <= 1 implies it)",
        {"n": n, "failure": failure, "beta": beta, "epsilon": learner.epsilon},
        "exact",
        f"thresholds on 2 points, target c_1, mass {alpha * 1.001:g} on the point 0, n = {n}" if failure > beta else "",
    )


def _parity(tools: Any) -> Evidence:
    exact = math.log(1.25 / 0.75)
    found = {n: tools.audit_law(ParityPrivate(2, 1.0), n=n).epsilon for n in (1, 2, 4)}
    agree = all(abs(value - exact) <= 1e-9 for value in found.values())
    return Evidence(
        "loose" if agree else "undecided",
        f"at epsilon = 1 the exact worst case is {found[4]:.6f} = ln((1 + epsilon/4)/(1 - epsilon/4)) for n = 1, 2, "
        f"4 (d = 2, all pairs): half of the claim. Keeping examples with probability tanh(epsilon/2) would be exact",
        {"epsilon": 1.0, "exact_epsilon": found[4], "formula": exact},
        "exact",
    )


def _parity_failure(tools: Any) -> Evidence:
    epsilon = 1.0
    learner = ParityPrivate(1, epsilon)
    consistent, inconsistent = learner.domain.sample([[1]], [1]), learner.domain.sample([[0]], [1])
    before, after = (math.exp(learner.law(s).log_prob[0]) for s in (consistent, inconsistent))
    wrong = abs(after - (0.5 + epsilon / 4)) > 1e-6 and abs(after - (0.5 + epsilon / 8)) < 1e-12
    return Evidence(
        "refuted" if wrong else "undecided",
        f"Pr[fail] goes from {before:.4f} to {after:.4f} = 1/2 + epsilon/8, the most that one example can do: the "
        f"coin must pass (1/2) and the example be kept (epsilon/4)",
        {"before": before, "after": after, "slides": 0.5 + epsilon / 4},
        "exact",
        "d = 1: sample (1 -> 1) replaced by (0 -> 1), epsilon = 1" if wrong else "",
    )


def _amplification(tools: Any) -> Evidence:
    d, alpha, beta = 32, 0.1, 2.0**-20
    repeated, restarted = ParityAmplified(d, 1.0, beta / 2), ParityRestart(d, 1.0, beta / 2)
    sizes = repeated.sample_size(alpha, beta), restarted.sample_size(alpha, beta)
    exact = [tools.audit_law(kind(2, 1.0, 1e-3), n=4).epsilon for kind in (ParityAmplified, ParityRestart)]
    good = max(exact) <= 1 and sizes[1] < sizes[0]
    return Evidence(
        "loose" if good else "undecided",
        f"d = {d}, epsilon = 1, alpha = {alpha}, beta = 2^-20: repetition needs {sizes[0]} examples, restarting "
        f"{sizes[1]}, {sizes[0] / sizes[1]:.0f} times fewer: no factor log(1/beta). Exact epsilon at d = 2, n = 4, "
        f"beta = 0.001: {exact[0]:.4f} and {exact[1]:.4f} of 1",
        {"n_repeated": sizes[0], "n_restarted": sizes[1], "epsilon_repeated": exact[0], "epsilon_restarted": exact[1]},
        "exact",
    )


def _restart(tools: Any) -> Evidence:
    found = {beta: tools.audit_law(ParityRestart(2, 1.0, beta), n=4) for beta in (0.5, 0.1, 1e-3, 1e-6)}
    worst = max(f.epsilon for f in found.values())
    learner = ParityRestart(2, 1.0, 1e-3)
    failure = math.exp(learner.law(learner.domain.sample([[0, 1], [1, 1]], [1, 0])).log_prob[0])
    good = all(f.verdict == "consistent" for f in found.values()) and abs(failure - 1e-3) < 1e-12
    return Evidence(
        "holds" if good else "undecided",
        f"exact epsilon at d = 2, n = 4 over beta = 0.5 .. 1e-6: at most {worst:.4f} <= 1; a consistent sample fails "
        f"with probability {failure:.6f} = beta",
        {"epsilon": worst, "failure": failure},
        "exact",
    )


def _effect(tools: Any) -> Evidence:
    d, cases, least = 3, 0, 1.0
    labels = Parities(d).evaluate(Cube(d).points())
    rows = list(itertools.product(range(2**d), (0, 1)))
    for chosen in itertools.product(rows, repeat=2):
        before = np.logical_and.reduce([labels[:, x] == y for x, y in chosen])
        for x, y in rows:
            share = (before & (labels[:, x] == y)).sum() / max(1, before.sum())
            cases += 1
            least = min(least, share) if share else least
    return Evidence(
        "holds" if least == 0.5 else "undecided",
        f"d = {d}: in all {cases} ways of adding an equation to two, the solutions left are none or at least {least:g}",
        {"least_share": least, "cases": cases},
        "exact",
    )


CLAIMS = (
    Claim("NIS-Point", "The point learner fails with probability at most (1 - alpha)^n.", SLIDES, _point),
    Claim("NIS-Occam", "n >= (ln|C| + ln(1/beta))/alpha suffices for consistent learners.", SLIDES, _occam),
    Claim("NIS-Thr", "c_i with i the largest (i, 1) is consistent, for c_j(x) = 1 iff x < j.", SLIDES, _threshold),
    Claim("NIS-Sauer", "For n > d = VC(C), |C(S)| <= (e n/d)^d.", SLIDES, _sauer),
    Claim("NIS-VC", "VC(intervals) = 2 and VC(PARITY_d) = d.", SLIDES, _vc_examples),
    Claim(
        "NIS-VC-Bounds",
        "O((VC log(1/alpha) + log(1/beta))/alpha) examples suffice, Omega((VC + log(1/beta))/alpha) are needed.",
        SLIDES,
        _vc_bounds,
    ),
    Claim(
        "NIS-Generic",
        "The exponential mechanism is epsilon-private, and O((ln|C| + ln(1/beta)) max(1/epsilon^2, 1/(alpha epsilon))) "
        "examples suffice.",
        SLIDES,
        _generic,
    ),
    Claim(
        "NIS-Generic-LargeEpsilon",
        "8 (ln|C| + ln(1/beta)) max(1/epsilon^2, 1/(alpha epsilon)) examples suffice at every epsilon.",
        SLIDES,
        _generic_large_epsilon,
    ),
    Claim("NIS-ParityLearner", "The private parity learner is epsilon-differentially private.", SLIDES, _parity),
    Claim(
        "NIS-ParityFailure",
        "Replacing an example moves the parity learner's Pr[fail] from 1/2 to 1/2 + epsilon/4.",
        SLIDES,
        _parity_failure,
    ),
    Claim(
        "NIS-ParityAmplification",
        "log2(1/beta) repetitions with epsilon divided reach confidence beta: O((d log(1/beta) + log^2(1/beta))/"
        "(alpha epsilon)) examples.",
        SLIDES,
        _amplification,
    ),
    Claim(
        "NIS-ParityRestart",
        "Restarting until a subsample is consistent, with ln((1 + p)/(1 - p)^2) = epsilon, is epsilon-private and "
        "fails with probability beta on consistent samples.",
        f"{SLIDES}; a repair",
        _restart,
    ),
    Claim("NIS-Effect", "One more equation leaves at least half of the solutions, or none.", SLIDES, _effect),
)
