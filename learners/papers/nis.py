"""Ledger claims of the lecture slides "Private Learning 1" (Nissim 2017)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from dpaudit.contract import Distribution, Evidence, Relation, Statement
from learners.conjunctions.concepts import Conjunctions
from learners.domains import Cube, Interval
from learners.finite.generic import SLIDES
from learners.finite.vc import lower_sample_size, sauer_power_bound, upper_sample_size, vc_dimension
from learners.papers.exact_failure import failure_probability, two_point
from learners.papers.verdicts import TOLERANCE, exceeds, judged, tightness
from learners.parities.amplified import ParityAmplified
from learners.parities.concepts import Parities
from learners.parities.private import ParityPrivate
from learners.parities.restart import ParityRestart
from learners.points.interval_class import Intervals
from learners.points.learners import OccamConsistent, PointConsistent, ThresholdConsistent, ThresholdExponential

__all__ = ["STATEMENTS"]


def _point(tools: Any) -> Evidence:
    alpha, beta = 0.1, 0.05
    learner = PointConsistent(8)
    n = learner.sample_size(alpha, beta)
    failure, where = 0.0, ""
    for target, mass in itertools.product(range(8), (alpha * 1.001, 2 * alpha, 0.5)):
        hard = two_point(learner.domain.points(), target, (target + 1) % 8, mass)
        found = failure_probability(learner, learner.concepts.concept(target), hard, n, alpha)
        if found > failure:
            failure, where = found, f"target {target} with mass {mass:g}, n = {n}"
    bound = (1 - alpha) ** n
    return judged(
        "holds" if bound <= beta else "undecided",
        failed=failure > bound,
        summary=f"at n = {n} the failure probability, over all targets and masses {alpha * 1.001:g}, {2 * alpha:g} "
        f"and 0.5 of the target, is at most {failure:.6f}; (1 - alpha)^n = {bound:.6f}, and beta is {beta}",
        numbers={"n": n, "failure": failure, "bound": bound, "beta": beta},
        witness=where,
    )


def _occam(tools: Any) -> Evidence:
    alpha, beta = 0.3, 0.2
    learner = OccamConsistent(3)
    n = learner.sample_size(alpha, beta)
    points = learner.domain.points()
    worst, where = 0.0, ""
    for weights in ((0.34, 0.33, 0.33), (0.31, 0.38, 0.31), (0.301, 0.301, 0.398), (0.398, 0.301, 0.301)):
        law = Distribution(points, np.array(weights))
        for code, concept in enumerate(learner.concepts.enumerate()):
            found = failure_probability(learner, concept, law, n, alpha)
            if found > worst:
                worst, where = found, f"interval {code}, probabilities {weights}, n = {n}"
    return judged(
        "holds",
        failed=worst > beta,
        summary=f"intervals on 3 points, n = {n}: over all targets and 4 distributions just above alpha the exact "
        f"failure probability is at most {worst:.5f}; beta is {beta}",
        numbers={"n": n, "failure": worst, "beta": beta},
        witness=where,
    )


def _threshold(tools: Any) -> Evidence:
    printed, repaired = ThresholdConsistent(4, literal=True), ThresholdConsistent(4)
    samples = [
        printed.domain.sample(list(xs), concept.predict(np.array(xs)[:, None]))
        for concept in printed.concepts.enumerate()
        for size in (1, 2, 3, 4)
        for xs in itertools.combinations(range(4), size)
    ]
    wrong = [_errors(printed, sample) for sample in samples]
    worst = int(np.argmax(wrong))
    right = max(_errors(repaired, sample) for sample in samples)
    return judged(
        "holds",
        failed=wrong[worst] > 0,
        summary=f"all {len(samples)} samples of distinct points that a threshold on 4 points labels: c_i of c_j(x) = "
        f"1 iff x < j errs on {sum(w > 0 for w in wrong)} of them, by up to {wrong[worst]}; c_(i+1) (or x <= j) by "
        f"up to {right}",
        numbers={"errors_literal": wrong[worst], "errors_repaired": right, "samples": len(samples)},
        witness=f"{samples[worst]!r}: c_i of its largest positive i gives i the label 0",
    )


def _errors(learner: Any, sample: Any) -> int:
    """Return on how many examples of a sample the answer of a learner without randomness errs."""
    code = int(learner.run(sample, np.random.default_rng(0), 1)[0])
    return int(sample.errors(learner.decode(code)))


def _sauer(tools: Any) -> Evidence:
    worst, where = 0.0, ""
    for name, concepts, points in (
        ("intervals", Intervals(8), Interval(8).points()),
        ("parities", Parities(3), Cube(3).points()),
        ("conjunctions", Conjunctions(3), Cube(3).points()),
    ):
        labels, d = concepts.evaluate(points), concepts.vc_dimension
        for n in range(d + 1, len(points) + 1):
            most = max(len(np.unique(labels[:, list(s)], axis=0)) for s in itertools.combinations(range(8), n))
            if most / sauer_power_bound(n, d) > worst:
                worst, where = most / sauer_power_bound(n, d), f"{name}: {most} dichotomies of {n} of 8 points"
    return judged(
        "holds",
        failed=worst > 1,
        summary=f"dichotomies of every subset of 8 points by intervals, parities and conjunctions: at most "
        f"{worst:.4f} of (e n/d)^d ({where}). (For n <= d the slide's 2^d is true; 2^n is meant.)",
        numbers={"worst_ratio": worst},
        witness=where,
    )


def _vc_examples(tools: Any) -> Evidence:
    intervals = vc_dimension(Interval(8).points(), Intervals(8))
    parities = [vc_dimension(Cube(d).points(), Parities(d)) for d in range(1, 7)]
    text = f"exhaustive search: VC(intervals on 8 points) = {intervals}, VC(PARITY_d) = {parities} for d = 1 .. 6"
    return judged(
        "holds",
        failed=intervals != 2 or parities != list(range(1, 7)),
        summary=text,
        numbers={"intervals": intervals, "parity_6": parities[-1]},
        witness=text,
    )


def _vc_bounds(tools: Any) -> Evidence:
    alpha, beta = 0.1, 0.01
    upper, lower = upper_sample_size(2, alpha, beta), lower_sample_size(2, alpha, beta)
    learner = OccamConsistent(4)
    hard = two_point(learner.domain.points(), 1, 0, alpha * 1.0001)
    target = learner.concepts.concept(2)
    few = failure_probability(learner, target, hard, lower - 1, alpha)
    many = failure_probability(learner, target, hard, upper, alpha)
    return judged(
        # That this learner does with fewer on this case would not show that it does on all.
        "holds" if few > beta else "undecided",
        failed=many > beta,
        summary=f"d = 2, alpha = {alpha}, beta = {beta}: on a hard case of a consistent learner the exact failure "
        f"probability is {many:.2e} with the {upper} examples that should suffice and {few:.4f} with {lower - 1}, "
        f"fewer than needed",
        numbers={"upper": upper, "lower": lower, "failure_below_lower": few, "failure_at_upper": many},
        witness=f"intervals on 4 points, target {target}, mass {alpha * 1.0001:g} on the point 1, n = {upper}",
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
    leaks = exceeds(finding.epsilon, epsilon)
    return judged(
        tightness(needed, slides),
        failed=leaks or failure > beta,
        summary=f"exact epsilon {finding.epsilon:.4f} of {epsilon}; with n = max(8/alpha, 4/(alpha epsilon)) "
        f"ln(2|C|/beta) = {n} the exact failure probability on a hard case is {failure:.1e}, beta is {beta}. At "
        f"epsilon = {small} the slides' maximum is {slides:.0f}, where {needed:.0f} suffices: 1/epsilon^2 is not "
        f"needed. Agnostic learning needs 1/alpha^2",
        numbers={
            "epsilon": finding.epsilon,
            "n": n,
            "failure": failure,
            "slides_factor": slides,
            "sufficient_factor": needed,
        },
        witness=repr(finding.worst_pair) if leaks else f"target c_2, mass {alpha * 1.001:g} on the point 1, n = {n}",
    )


def _generic_large_epsilon(tools: Any) -> Evidence:
    alpha, beta, constant = 0.01, 0.01, 8
    learner = ThresholdExponential(2, 1000.0)
    bound = max(1 / learner.epsilon**2, 1 / (alpha * learner.epsilon))
    n = math.ceil(constant * (math.log(learner.concepts.size) - math.log(beta)) * bound)
    hard = two_point(learner.domain.points(), 0, 1, alpha * 1.001)
    failure = failure_probability(learner, learner.concepts.concept(1), hard, n, alpha)
    return judged(
        "undecided",
        failed=failure > beta,
        summary=f"at epsilon = {learner.epsilon:g} the bound with constant {constant} asks for n = {n} examples, and "
        f"the exact failure probability on a hard case is {failure:.3f}, beta {beta}: the maximum lacks the term "
        f"1/alpha (epsilon <= 1 implies it)",
        numbers={"n": n, "failure": failure, "beta": beta, "epsilon": learner.epsilon},
        witness=f"thresholds on 2 points, target c_1, mass {alpha * 1.001:g} on the point 0, n = {n}",
    )


def _parity(tools: Any) -> Evidence:
    formula = math.log(1.25 / 0.75)
    found = {n: tools.audit_law(ParityPrivate(2, 1.0), n=n) for n in (1, 2, 4)}
    worst = max(found.values(), key=lambda finding: finding.epsilon)
    told = ", ".join(f"{finding.epsilon:.6f}" for finding in found.values())
    return judged(
        tightness(worst.epsilon, 1.0),
        failed=exceeds(worst.epsilon, 1.0),
        summary=f"at epsilon = 1 the exact worst case over all pairs is {told} for n = 1, 2, 4 (d = 2), and "
        f"ln((1 + epsilon/4)/(1 - epsilon/4)) = {formula:.6f}. Keeping examples with probability tanh(epsilon/2) "
        "would be exact",
        numbers={"epsilon": 1.0, "exact_epsilon": worst.epsilon, "formula": formula},
        witness=repr(worst.worst_pair),
    )


def _parity_failure(tools: Any) -> Evidence:
    epsilon = 1.0
    learner = ParityPrivate(1, epsilon)
    chances = {}
    for n in (1, 2):
        for rows in itertools.combinations_with_replacement(itertools.product((0, 1), repeat=2), n):
            sample = learner.domain.sample([[x] for x, _ in rows], [y for _, y in rows])
            chances[sample] = math.exp(learner.law(sample).log_prob[0])
    # From 1/2, where the sample is consistent.
    moves = [
        (chances[near] - before, repr(sample), repr(near))
        for sample, before in chances.items()
        if abs(before - 0.5) <= TOLERANCE
        for near in sample.neighbours(Relation.REPLACE_ONE)
    ]
    most, first, second = max(moves, default=(0.0, "no sample", "no other"))
    return judged(
        "holds",
        failed=abs(most - epsilon / 4) > TOLERANCE,
        summary=f"d = 1, n = 1 and 2: one example moves Pr[fail] from 1/2 by at most {most:.4f}; epsilon/8 is "
        f"{epsilon / 8:.4f}: the coin must pass (1/2) and the example be kept (epsilon/4)",
        numbers={"before": 0.5, "after": 0.5 + most, "slides": 0.5 + epsilon / 4},
        witness=f"d = 1, epsilon = {epsilon:g}: {first} replaced by {second} moves it by {most:.4f}, and no other "
        "pair by more",
    )


def _amplification(tools: Any) -> Evidence:
    d, alpha, beta = 32, 0.1, 2.0**-20
    repeated, restarted = ParityAmplified(d, 1.0, beta / 2), ParityRestart(d, 1.0, beta / 2)
    sizes = repeated.sample_size(alpha, beta), restarted.sample_size(alpha, beta)
    found = [tools.audit_law(kind(2, 1.0, 1e-3), n=4) for kind in (ParityAmplified, ParityRestart)]
    failure = _consistent_failure(ParityAmplified(2, 1.0, 1e-3))
    leaks = exceeds(found[0].epsilon, 1.0)
    return judged(
        tightness(sizes[1], sizes[0]),
        failed=leaks or exceeds(failure, 1e-3),
        summary=f"d = {d}, epsilon = 1, alpha = {alpha}, beta = 2^-20: repetition needs {sizes[0]} examples, "
        f"restarting {sizes[1]}, {sizes[0] / sizes[1]:.0f} times fewer: no factor log(1/beta). At d = 2, n = 4, beta "
        f"= 0.001: exact epsilon {found[0].epsilon:.4f} and {found[1].epsilon:.4f} of 1; repetition fails on a "
        f"consistent sample with probability {failure:.6f}",
        numbers={
            "n_repeated": sizes[0],
            "n_restarted": sizes[1],
            "epsilon_repeated": found[0].epsilon,
            "epsilon_restarted": found[1].epsilon,
            "failure_repeated": failure,
        },
        witness=repr(found[0].worst_pair) if leaks else "d = 2: (0, 1) -> 1, (1, 1) -> 0",
    )


def _consistent_failure(learner: Any) -> float:
    """Return Pr[fail] on two examples of two variables that a parity labels."""
    return math.exp(learner.law(learner.domain.sample([[0, 1], [1, 1]], [1, 0])).log_prob[0])


def _restart(tools: Any) -> Evidence:
    found = {beta: tools.audit_law(ParityRestart(2, 1.0, beta), n=4) for beta in (0.5, 0.1, 1e-3, 1e-6)}
    worst = max(found.values(), key=lambda finding: finding.epsilon)
    failure = _consistent_failure(ParityRestart(2, 1.0, 1e-3))
    leaks = exceeds(worst.epsilon, 1.0)
    return judged(
        tightness(worst.epsilon, 1.0),
        failed=leaks or abs(failure - 1e-3) > 1e-12,
        summary=f"exact epsilon at d = 2, n = 4 over beta = 0.5 .. 1e-6: at most {worst.epsilon:.4f} of 1; a "
        f"consistent sample fails with probability {failure:.6f}, beta = 0.001",
        numbers={"epsilon": worst.epsilon, "failure": failure},
        witness=repr(worst.worst_pair) if leaks else "d = 2: (0, 1) -> 1, (1, 1) -> 0",
    )


def _effect(tools: Any) -> Evidence:
    d, cases, least, where = 3, 0, 1.0, ""
    labels = Parities(d).evaluate(Cube(d).points())
    rows = list(itertools.product(range(2**d), (0, 1)))
    for chosen in itertools.product(rows, repeat=2):
        before = np.logical_and.reduce([labels[:, x] == y for x, y in chosen])
        for x, y in rows:
            share = float((before & (labels[:, x] == y)).sum() / max(1, before.sum()))
            cases += 1
            if 0 < share < least:
                least, where = share, f"d = {d}: equations {chosen} (point number, label), and then {(x, y)}"
    return judged(
        "holds",
        failed=least < 0.5,
        summary=f"d = {d}: in all {cases} ways of adding an equation to two, the solutions left are none or at least "
        f"{least:g}",
        numbers={"least_share": least, "cases": cases},
        witness=where,
    )


STATEMENTS = (
    Statement("NIS-Point", "The point learner fails with probability at most (1 - alpha)^n.", SLIDES, _point),
    Statement("NIS-Occam", "n >= (ln|C| + ln(1/beta))/alpha suffices for consistent learners.", SLIDES, _occam),
    Statement("NIS-Thr", "c_i with i the largest (i, 1) is consistent, for c_j(x) = 1 iff x < j.", SLIDES, _threshold),
    Statement("NIS-Sauer", "For n > d = VC(C), |C(S)| <= (e n/d)^d.", SLIDES, _sauer),
    Statement("NIS-VC", "VC(intervals) = 2 and VC(PARITY_d) = d.", SLIDES, _vc_examples),
    Statement(
        "NIS-VC-Bounds",
        "O((VC log(1/alpha) + log(1/beta))/alpha) examples suffice, Omega((VC + log(1/beta))/alpha) are needed.",
        SLIDES,
        _vc_bounds,
    ),
    Statement(
        "NIS-Generic",
        "The exponential mechanism is epsilon-private, and O((ln|C| + ln(1/beta)) max(1/epsilon^2, 1/(alpha epsilon))) "
        "examples suffice.",
        SLIDES,
        _generic,
    ),
    Statement(
        "NIS-Generic-LargeEpsilon",
        "8 (ln|C| + ln(1/beta)) max(1/epsilon^2, 1/(alpha epsilon)) examples suffice at every epsilon.",
        SLIDES,
        _generic_large_epsilon,
    ),
    Statement("NIS-ParityLearner", "The private parity learner is epsilon-differentially private.", SLIDES, _parity),
    Statement(
        "NIS-ParityFailure",
        "Replacing an example moves the parity learner's Pr[fail] from 1/2 to 1/2 + epsilon/4.",
        SLIDES,
        _parity_failure,
    ),
    Statement(
        "NIS-ParityAmplification",
        "log2(1/beta) repetitions with epsilon divided reach confidence beta: O((d log(1/beta) + log^2(1/beta))/"
        "(alpha epsilon)) examples.",
        SLIDES,
        _amplification,
    ),
    Statement(
        "NIS-ParityRestart",
        "Restarting until a subsample is consistent, with ln((1 + p)/(1 - p)^2) = epsilon, is epsilon-private and "
        "fails with probability beta on consistent samples.",
        f"{SLIDES}; a repair",
        _restart,
    ),
    Statement("NIS-Effect", "One more equation leaves at least half of the solutions, or none.", SLIDES, _effect),
)
