"""Statements of lecture 12, "Private PAC Learning" (STE), on conjunctions."""

from __future__ import annotations

import math
from itertools import count, product
from typing import Any

import numpy as np

from dpaudit.contract import Evidence, Pair, Relation, Sample, Tools

from ..conjunctions.concepts import ConjunctionExponential, ShortConjunctions
from ..conjunctions.consistent import ConjunctionElimination
from ..conjunctions.laplace import ConjunctionLaplace
from .evidence import errors_data, exceeds, judged, judged_law, judged_loss, law_of, listed, losses_of, tightness, tried
from .sizes import answer, error_case, worst_empirical_failure
from .states import Cases, at_most, derived, false, states


@states(
    "STE-NonPriv",
    "Elimination makes no error on samples that a conjunction labels.",
    "non-private algorithm for conjunctions",
    formula="error_X(h) = 0",
    short="Elimination's errors on samples that a conjunction labels",
    printed="none",
    found="{errors} in {cases}",
)
def _elimination(tools: Tools) -> Evidence:
    learner = ConjunctionElimination(2)
    example = ConjunctionElimination(6)
    points = learner.domain.points()
    cases = []
    for concept, rows in product(learner.concepts.enumerate(), product(range(len(points)), repeat=3)):
        chosen = points[list(rows)]
        cases.append((learner, learner.domain.sample(chosen, concept.predict(chosen))))
    lecture = ("0101011", "0101100", "1111011", "1111110", "0000000", "1011011", "1111011", "0001011")
    bits = np.array([[int(c) for c in row] for row in lecture])
    cases.append((example, shown := example.domain.sample(bits[:, :6], bits[:, 6])))
    wrong = [int(sample.errors(answer(one, sample))) for one, sample in cases]
    errors = sum(wrong)
    sequences = len(cases) - 1
    text = (
        f"{errors} errors on all {sequences} labelled sequences of 3 examples at d = 2, and on the lecture's "
        f"example, which gives {answer(example, shown)}"
    )
    data = errors_data(example, shown, 0, float(wrong[-1] > 0))
    witness = next((repr(sample) for (_, sample), count in zip(cases, wrong, strict=True) if count), "")
    return judged(text, {"errors": errors, "cases": sequences}, witness, data)


@states(
    "STE-Conj1",
    "Noisy elimination with Lap(2 d/epsilon) is epsilon-private.",
    "private algorithm for conjunctions, privacy",
    formula="2 d counts with Lap(2 d/epsilon): epsilon-DP",
    short="Noisy elimination with Lap(2 d/ε): its ε",
    printed="ε = 1",
    found="ε = {replacement:.3g}",
)
def _laplace(tools: Tools) -> Evidence:
    learner = ConjunctionLaplace(2, 1.0, 0.05)
    # Deep below and above the threshold the tails are exponential, so the ratio is attained.
    before = learner.domain.sample([[0, 0], [1, 1]], [1, 1], [40, 1])
    after, fewer = (learner.domain.sample([[0, 0]], [1], [copies]) for copies in (41, 40))
    law = law_of(tools, learner, samples=[Pair(before, after, "(1, 1) replaced by its complement")])
    removed = [Pair(before, fewer, "(1, 1) removed")]
    added = law_of(tools, learner, samples=removed, relation=Relation.ADD_REMOVE_ONE).epsilon
    text = (
        "under replacement, where a positive example replaced by its complement moves all 2 d counts, the "
        f"exact epsilon is {law.epsilon:.9f} of 1; under adding or removing an example {added:.9f}"
    )
    numbers = {"replacement": law.epsilon, "add_remove": added}
    leaks = exceeds(law.epsilon, 1.0)
    found = tightness(law.epsilon, 1.0)
    return judged_law(law, text, numbers, leaks=leaks, otherwise=found)


def noise_limit(dimension: int, epsilon: float, beta: float) -> float:
    """Return (2 d/epsilon) ln(2 d/beta)."""
    return 2 * dimension / epsilon * math.log(2 * dimension / beta)


@states(
    "STE-Conj1-Noise",
    "With probability 1 - beta all 2 d noises are at most (2 d/epsilon) ln(2 d/beta) in absolute value.",
    "private algorithm for conjunctions, accuracy",
    short="No noise exceeds (2 d/ε) ln(2 d/β)",
    printed="≤ β",
    found="{share:.4f} β at most",
    formula="|Lap(2 d/epsilon)| <= (2 d/epsilon) log(2 d/beta) for all 2 d, with probability 1 - beta",
    argument="Each exceeds it with probability beta/(2 d).",
)
@at_most(1, "d = 1 .. 31, beta = 0.001, 0.1, 0.5: the exact probability is at most {share:.4f} beta ({witness})")
def _laplace_noise() -> Cases:
    for d, epsilon, beta in product((1, 2, 10, 31), (0.1, 1.0), (1e-3, 0.1, 0.5)):
        tail = math.exp(-noise_limit(d, epsilon, beta) * epsilon / (2 * d))
        exceeded = -math.expm1(2 * d * math.log1p(-tail))
        data = {"d": d, "epsilon": epsilon, "beta": beta, "probability": exceeded}
        yield exceeded / beta, f"d = {d}, beta = {beta}", data


def spread_failure(learner: ConjunctionLaplace, n: int, alpha: float) -> tuple[float, str, dict[str, Any]]:
    """Return `error_case` on n positive examples of which v1 and v2 are contradicted by just too many together.

    (0, 1) and (1, 0) come x times each, 2 x > alpha n, and (1, 1) otherwise: the answer errs on 2 x of them if both
    literals are kept.
    """
    x = math.floor(alpha * n / 2) + 1
    sample = learner.domain.sample([[0, 1], [1, 0], [1, 1]], [1, 1, 1], [x, x, n - 2 * x])
    return error_case(learner, sample, alpha * n, f"{sample!r}, n = {n}")


def laplace_failure_bound(n: int, dimension: int, epsilon: float, alpha: float, beta: float) -> float:
    """Return an upper bound of Pr[error > alpha] of noisy elimination, over all samples that a conjunction labels.

    With scale b = 2 d/epsilon and threshold t = b ln(2 d/beta) a literal that nothing contradicts is deleted with
    probability beta/(4 d), at most beta/2 for all of them. Otherwise the errors are positive examples that contradict
    a kept literal. A literal with count c is kept with probability at most e^-((c - t)/b); so all of s literals whose
    counts add up to more than alpha n, with at most e^-((alpha n - s t)/b): a union over the sets of literals.
    """
    scale = 2 * dimension / epsilon
    threshold = scale * math.log(2 * dimension / beta)
    sets = (
        math.comb(2 * dimension, s) * math.exp(min(0.0, -(alpha * n - s * threshold) / scale))
        for s in range(1, 2 * dimension + 1)
    )
    return beta / 2 + math.fsum(sets)


@states(
    "STE-Conj1-Size",
    "n >= (8 d^2/(alpha epsilon)) ln(2 d/beta) gives error at most alpha on the sample with probability 1 - beta.",
    "private algorithm for conjunctions, accuracy",
    short="Examples for noisy elimination, d = 2",
    printed="n = {n:,}",
    found="n = {enough:,} is enough, {too few:,} is not",
    best="n = {enough:,}, proved",
    formula="n >= (8 d^2/(alpha epsilon)) log(2 d/beta)",
    argument="Noises that are as large as the bound come one by one: that all literals are kept by them together is "
    "exponentially rare, which saves a factor towards 2; see `laplace_failure_bound`.",
)
def _laplace_utility(tools: Tools) -> Evidence:
    d = 2
    alpha = 0.2
    beta = 0.05
    learner = ConjunctionLaplace(d, 1.0, beta)
    n = learner.utility(alpha, beta, "empirical").sample_size
    # The union bound falls with n, so that the first n is the answer.
    enough = next(k for k in count(1) if laplace_failure_bound(k, d, 1.0, alpha, beta) <= beta)
    # The failure rate is no monotone function of n, as counts are rounded: the greatest n that fails is taken.
    failures = {k: spread_failure(learner, k, alpha)[0] for k in range(10, 400)}
    few = max(k for k, failure in failures.items() if failure > beta)
    printed, witness, data = spread_failure(learner, n, alpha)
    text = (
        f"d = 2, epsilon = 1, alpha = {alpha}, beta = {beta}: the lecture's n = {n}, at which the exact failure is "
        f"{printed:.1e} where v1 and v2 are each contradicted by just over alpha n/2 positives; {few} fail with "
        f"{failures[few]:.4f} there, and {enough} are enough for every sample by a union bound"
    )
    numbers = {"n": n, "enough": enough, "too few": few, "failure, too few": failures[few], "failure": printed}
    return judged(text, numbers, witness, data, otherwise=tightness(enough, n), failed=printed > beta)


@states(
    "STE-ConjExp",
    "The exponential mechanism over CONJ_{k,d} is epsilon-private, and learns with n = (2/(alpha epsilon)) "
    "ln(|C|/beta).",
    "step 0: the exponential mechanism",
    short="The exponential mechanism over conjunctions: its ε",
    formula="epsilon-DP",
    printed="ε = 1",
    found="ε = {epsilon:.3g}",
    slow=True,
)
def _exponential(tools: Tools) -> Evidence:
    alpha = 0.4
    beta = 0.1
    learner = ConjunctionExponential(2, 1, 1.0)
    (loss,), _ = losses_of(tools, [learner])
    n = learner.utility(alpha, beta, "empirical").sample_size
    # The learner treats all literals alike, so one target of each length is as hard as any other of it.
    targets = [learner.concepts.concept(code) for code in (0, 1)]
    failure, where = worst_empirical_failure(learner, n, alpha, targets)
    text = (
        f"exact epsilon {loss}, of 1. With n = (2/(alpha epsilon)) ln(|C|/beta) = {n} the "
        f"exact failure is at most {failure:.4f} over all samples that no literal or v1 labels (d = 2, k = 1), beta is "
        f"{beta}"
    )
    numbers = {"epsilon": loss.value, "n": n, "failure": failure}
    return judged_loss(loss, 1.0, text, numbers, failed=failure > beta, witness=where)


@false(
    "STE-ConjExp-Size",
    "With n >= (1/(epsilon alpha)) log|CONJ_{k,d}| the exponential mechanism's error is at most alpha with high "
    "probability.",
    "step 0: the exponential mechanism",
    short="(1/(ε alpha)) log|C| examples suffice",
    printed="error > {alpha} rarely",
    found="with probability {failure:.3g} at n = {n}",
    best="(2/(ε alpha)) ln(|C|/β)",
    formula="n >= (1/(epsilon alpha)) log|CONJ_(k,d)|",
    argument="As for boxes, STE-ExpRec: a lead of g in the score is worth e^(epsilon g/2), so that 2/epsilon is needed "
    "and ln(1/beta) is missing. The order of n stays as it is.",
)
def _exponential_size(tools: Tools) -> Evidence:
    d = 31
    alpha = 0.49
    learner = ConjunctionExponential(d, 1, 1.0)
    # v1 is the target; v2 .. v31 are equal, and wrong on every second example, as are their negations and "always 1".
    points = np.array([[first] + [rest] * (d - 1) for first in (1, 0) for rest in (1, 0)])
    sample = learner.domain.sample(points, points[:, 0], [4, 3, 4, 3])
    asked = math.log2(learner.concepts.size) / alpha
    n = sample.n
    failure, _, data = error_case(learner, sample, alpha * n)
    text = (
        f"d = {d}, k = 1, epsilon = 1, alpha = {alpha}: n = {n}, where (1/alpha) log2|C| = {asked:.2f}; "
        f"every concept but the target errs on half of the sample or more, and one of them is returned with "
        f"probability {failure:.4f}"
    )
    numbers = {"n": n, "asked, base 2": asked, "failure": failure, "alpha": alpha}
    witness = (
        f"d = {d}, k = 1, epsilon = 1, alpha = {alpha}: target v1 on {n} examples, v2 = .. = v31 equal and "
        "wrong on every second one"
    )
    return tried(text, numbers, witness, data, failed=n >= asked and failure > 0.5)


def conjunctions_of(dimension: int, k: int) -> int:
    """Return |CONJ_{k,d}| as functions: at most k variables, each with a sign, and for k >= 2 the contradiction."""
    return sum(math.comb(dimension, i) << i for i in range(k + 1)) + (k >= 2)


@derived(
    "STE-Conj-count",
    "log|CONJ_{k,d}| is about k log d.",
    "step 0: the exponential mechanism",
    short="log |CONJ_k,d| is about k log d",
    printed="1",
    found="{k = 3, d = 10^6:.3g} times that at k = 3, d = 10⁶",
    formula="log|CONJ_(k,d)| ~ log(d^k)",
    argument="(d/k)^k <= |CONJ_(k,d)| <= (2 d + 1)^k.",
)
def _class_size(tools: Tools) -> Evidence:
    ratios = {(k, d): math.log(conjunctions_of(d, k)) / (k * math.log(d)) for k in (1, 3) for d in (10, 10**3, 10**6)}
    numbers = {f"k = {k}, d = 10^{round(math.log10(d))}": ratio for (k, d), ratio in ratios.items()}
    falling = all(abs(ratios[k, 10**6] - 1) <= abs(ratios[k, 10] - 1) + 0.01 for k in (1, 3))
    exact = conjunctions_of(3, 2) == ShortConjunctions(3, 2).size
    text = f"log|C|/(k log d), with |C| exact: {listed(numbers, '.3f')}"
    failed = not (exact and falling and max(ratios[k, 10**6] for k in (1, 3)) < 1.1)
    return judged(text, numbers, text, {"ratios": numbers}, failed=failed)


DELTA = 1e-6
# Dimensions between which n grows; a mask holds at most 31 variables.
LOW = 16
HIGH = 31
# Numbers of examples at a point and at its complement; their counts lie on both sides of the threshold.
COPIES = (0, 1, 2, 3, 5, 8)


def _pairs(learner: ConjunctionLaplace) -> list[Pair]:
    """Return pairs in which a positive example is replaced by its complement, which moves all 2 d counts."""
    points = [[0] * learner.dimension, [1] * learner.dimension]

    def sample(zeros: int, ones: int) -> Sample:
        return learner.domain.sample(points, [1, 1], [zeros, ones])

    return [Pair(sample(t + 1, u), sample(t, u + 1)) for t, u in product(COPIES, repeat=2)]


@derived(
    "STE-Conj1-Delta",
    "Noisy elimination with the noise that composition of its 2 d counts allows at (epsilon, delta) is (epsilon, "
    "delta)-private, and its sample size grows like d^1.5.",
    "private algorithm for conjunctions, the last remark",
    short="Noisy elimination with a δ: growth of n with d",
    printed="a bit better; d^1.5 by optimal composition",
    formula="a bit better by strong composition",
    found="d^{growth of n:.2f}, n = {n, d=31:,} at d = 31",
    best="n = {n, d=31:,} for {n without delta, d=31:,} without a δ (d = 31)",
)
def _with_delta(tools: Tools) -> Evidence:
    laws = []
    for d, delta in product((1, 2, 3), (1e-2, 1e-1)):
        learner = ConjunctionLaplace(d, 1.0, 0.9, delta)
        laws.append(law_of(tools, learner, samples=_pairs(learner)))
    worst = max(laws, key=lambda law: law.delta / law.learner.delta)
    share = worst.delta / worst.learner.delta
    most = _size(HIGH, DELTA)
    without = _size(HIGH, None)
    # n has a factor ln(2 d/beta) besides, which is not part of the law.
    grown = most / math.log(20 * HIGH) / (_size(LOW, DELTA) / math.log(20 * LOW))
    growth = math.log(grown) / math.log(HIGH / LOW)
    first = min((d for d in range(1, HIGH + 1) if _size(d, DELTA) < _size(d, None)), default=math.inf)
    numbers = {"share of delta": share, "growth of n": growth, "n, d=31": most, "n without delta, d=31": without}
    text = (
        f"d = 1, 2, 3 and delta = 0.01, 0.1: on {len(COPIES) ** 2} pairs each, in which a replaced example "
        f"moves all counts, delta(1) is at most {share:.3f} of the claim. With delta = {DELTA:g} n grows like d^"
        f"{growth:.2f} ln d from d = {LOW} to {HIGH}, and is smaller than without from d = "
        f"{first} on; at d = 31, epsilon = 1, alpha = beta = 0.1, {most} instead of {without}"
    )
    # What is nearer to d^2 than to d^1.5 is another law.
    return judged_law(
        worst,
        text,
        numbers | {"first d that gains": first},
        leaks=any(law.leaks for law in laws),
        data=worst.spill,
        failed=growth > 1.75,
        witness=f"sample sizes {_size(LOW, DELTA)} and {most}",
    )


def _size(dimension: int, delta: float | None) -> int:
    """Return the theorem's n on the sample for epsilon = 1 and alpha = beta = 0.1."""
    return ConjunctionLaplace(dimension, 1.0, 0.1, delta).utility(0.1, 0.1, "empirical").sample_size
