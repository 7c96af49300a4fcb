"""Statements of the slides "Private Learning 1" (NIS) on private parities."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from dpaudit.contract import Evidence, Pair, Part, Relation, Tools

from ..domains import Cube
from ..parameters import BUDGETS
from ..parities.amplified import ParityAmplified
from ..parities.concepts import Parities, SubsamplingLearner
from ..parities.private import ParityPrivate, ParityRestart
from .evidence import (
    TOLERANCE,
    exceeds,
    judged,
    judged_law,
    judged_loss,
    law_of,
    losses_of,
    pair_data,
    tightness,
    tried,
)
from .states import derived, false, states

CONSISTENT = "d = 2: (0, 1) -> 1, (1, 1) -> 0"


def _consistent_failure(learner: SubsamplingLearner) -> float:
    """Return Pr[fail] on two examples of two variables that a parity labels, `CONSISTENT`."""
    return math.exp(learner.law(learner.domain.sample([[0, 1], [1, 1]], [1, 0])).log_prob[0])


@states(
    "NIS-ParityLearner",
    "The private parity learner is epsilon-differentially private, epsilon up to 3.4.",
    "Private learner for parity",
    short="The parity learner's ε",
    printed="ε = {epsilon:.3g}",
    found="ε = {exact_epsilon:.3g}; at 3.4, {at 3.4:.3g}",
    formula="picks examples with probability epsilon/4: epsilon-DP",
    argument="The loss is ln((4 + epsilon)/(4 - epsilon)), about epsilon/2 where epsilon is small, and crosses epsilon "
    "at 3.83; see NIS-ParityLearner-large.",
    best="ε = {at tanh(epsilon/2):.3g} with p = tanh(ε/2) for ε/4",
)
def _parity(tools: Tools) -> Evidence:
    formula = loss_of_one_example(1.0)
    # The loss is attained at one example and does not depend on n: more examples show the same number.
    laws = [law_of(tools, ParityPrivate(2, 1.0), n=n) for n in (1, 2, 4)]
    worst = max(laws, key=lambda law: law.epsilon)
    # p = tanh(epsilon/2) instead of epsilon/4.
    better, high = (law_of(tools, ParityPrivate(2, e), n=1).epsilon for e in (4 * math.tanh(0.5), 3.4))
    text = (
        f"at epsilon = 1 the exact worst case over all pairs is {', '.join(f'{law.epsilon:.6f}' for law in laws)} for "
        f"n = 1, 2, 4 (d = 2), and ln((1 + epsilon/4)/(1 - epsilon/4)) = {formula:.6f}. Keeping examples with "
        f"probability tanh(epsilon/2) costs {better:.6f}"
    )
    numbers = {"epsilon": 1.0, "exact_epsilon": worst.epsilon, "formula": formula}
    numbers |= {"at tanh(epsilon/2)": better, "at 3.4": high}
    leaks = exceeds(worst.epsilon, 1.0)
    otherwise = tightness(max(worst.epsilon, high / 3.4), 1.0)
    return judged_law(worst, text, numbers, leaks=leaks, otherwise=otherwise)


def loss_of_one_example(epsilon: float) -> float:
    """Return the learner's loss where its one example, the bit 1, changes its label: the ratio of Pr[the parity of it].

    With the label 1 the answer is that parity if the coin passes, and the example is kept (p = epsilon/4), or is not
    and a fair choice falls so: (p + (1 - p)/2)/2. With the label 0 it is (1 - p)/4.
    """
    p = epsilon / 4
    return math.log((p + (1 - p) / 2) / 2) - math.log((1 - p) / 4)


@false(
    "NIS-ParityLearner-large",
    "The private parity learner is epsilon-differentially private for every epsilon below 4.",
    "Private learner for parity",
    short="The parity learner's ε, near 4",
    printed="ε = {epsilon:.3g}",
    found="ε = {loss:.3g}",
    best="p = tanh(ε/2); or ε ≤ 3.83",
    formula="picks examples with probability epsilon/4: epsilon-DP",
    argument="No range of epsilon is printed, and epsilon/4 is a probability up to 4. At one example the loss is "
    "ln((4 + epsilon)/(4 - epsilon)), which exceeds epsilon in (3.83, 4) and has no bound near 4.",
)
def _parity_large(tools: Tools) -> Evidence:
    epsilon = 3.9
    loss = loss_of_one_example(epsilon)
    text = f"d = 1, n = 1, epsilon = {epsilon}: the label of the example moves the answer's probability by e^{loss:.3f}"
    data = {"d": 1, "sample": [[1, 1]], "neighbour": [[1, 0]], "epsilon": epsilon, "loss": loss}
    numbers = {"epsilon": epsilon, "loss": loss}
    witness = f"d = 1, epsilon = {epsilon}: (1) -> 1 against (1) -> 0, the answer r = 1: a loss of {loss:.4f}"
    return tried(text, numbers, witness, data, failed=exceeds(loss, epsilon))


@states(
    "NIS-ParityFailure",
    "Replacing an example moves the parity learner's Pr[fail] from 1/2 to at most 1/2 + epsilon/4.",
    "Private learner for parity",
    short="One example moves Pr[fail] from 1/2 to 1/2 + ε/4",
    printed="Pr[fail] = {slides:.3g}",
    formula="Pr[Fail] changes from 1/2 to 1/2 + epsilon/4",
    argument="The coin must pass, 1/2, and the example be kept, epsilon/4: the move is epsilon/8, and the slide's an "
    "upper bound, twice as large.",
    found="at most {after:.3g}",
    best="1/2 + ε/8",
)
def _parity_failure(tools: Tools) -> Evidence:
    epsilon = 1.0
    learner = ParityPrivate(1, 1.0)
    chances = {}
    for n in (1, 2):
        # All samples that are small enough to list; the bound does not depend on n.
        for rows in itertools.combinations_with_replacement(itertools.product((0, 1), repeat=2), n):
            sample = learner.domain.sample([[x] for x, _ in rows], [y for _, y in rows])
            chances[sample] = math.exp(learner.law(sample).log_prob[0])
    # From 1/2, where the sample is consistent.
    moves = [
        (chances[near] - before, repr(sample), repr(near), Pair(sample, near))
        for sample, before in chances.items()
        if abs(before - 0.5) <= TOLERANCE
        for near in sample.neighbours(Relation.REPLACE_ONE)
    ]
    most, first, second, pair = max(moves, key=lambda move: move[:3], default=(0.0, "no sample", "no other", None))
    text = (
        f"d = 1, n = 1 and 2: one example moves Pr[fail] from 1/2 by at most {most:.4f}; epsilon/8 is "
        f"{epsilon / 8:.4f}: the coin must pass (1/2) and the example be kept (epsilon/4)"
    )
    numbers = {"before": 0.5, "after": 0.5 + most, "slides": 0.5 + epsilon / 4}
    witness = (
        f"d = 1, epsilon = {epsilon:g}: {first} replaced by {second} moves it by {most:.4f}, no other pair by more"
    )
    data = {} if pair is None else pair_data(learner, pair, move=most)
    found = tightness(most, epsilon / 4)
    failed = exceeds(most, epsilon / 4)
    return judged(text, numbers, witness, data, otherwise=found, failed=failed)


@derived(
    "NIS-ParityAmplification",
    "log2(1/beta) repetitions with epsilon divided reach confidence beta: O((d log(1/beta) + log^2(1/beta))/"
    "(alpha epsilon)) examples.",
    "Private learner for parity",
    short="Examples for confidence β by repetition",
    printed="n = {n_repeated:,}",
    found="n = {n_restarted:,} by restarts: the factor log(1/β) is not needed",
    formula="n = O((d log(1/beta) + log^2(1/beta))/(alpha epsilon))",
    best="n = {n_restarted:,}, by restarts",
)
def _amplification(tools: Tools) -> Evidence:
    d = 32
    alpha = 0.1
    beta = 2.0**-20
    amplified = ParityAmplified(d, 1.0, beta / 2)
    restart = ParityRestart(d, 1.0, beta / 2)
    repeated, restarted, exact = (
        learner.sample_size(alpha, beta) for learner in (amplified, restart, replace(amplified, budget="proved"))
    )
    # Privacy is computed exactly on small instances; the sizes are formulas and are compared at d = 32.
    law, other = (law_of(tools, kind(2, 1.0, 1e-3), n=4) for kind in (ParityAmplified, ParityRestart))
    failure = _consistent_failure(ParityAmplified(2, 1.0, 1e-3))
    text = (
        f"d = {d}, epsilon = 1, alpha = {alpha}, beta = 2^-20: repetition needs {repeated} examples, "
        f"restarting {restarted}, {repeated / restarted:.1f} times fewer; with its exact cost (budget='proved') "
        f"repetition needs {exact}, still {exact / restarted:.1f} times as many. At d = 2, n = 4, beta = 0.001: exact "
        f"epsilon {law.epsilon:.4f} and {other.epsilon:.4f} of 1; repetition fails on a consistent sample "
        f"with probability {failure:.6f}"
    )
    numbers: dict[str, float] = {"n_repeated": repeated, "n_repeated, exact cost": exact, "n_restarted": restarted}
    numbers |= {"epsilon_repeated": law.epsilon, "epsilon_restarted": other.epsilon, "failure_repeated": failure}
    leaks = exceeds(law.epsilon, 1.0)
    failed = exceeds(failure, 1e-3)
    return judged_law(law, text, numbers, leaks=leaks, failed=failed, witness=CONSISTENT)


@states(
    "NIS-ParityRestart",
    "Restarting until a subsample is consistent, with ln((1 + p)/(1 - p)^2) = epsilon, is epsilon-private and "
    "fails with probability beta on consistent samples.",
    "; a repair",
    part=Part.OURS,
    short="Restarting until a subsample is consistent: its ε",
    printed="ε = 1",
    found="ε = {epsilon:.3g}",
)
def _restart(tools: Tools) -> Evidence:
    betas = (0.5, 0.1, 1e-3, 1e-6)
    losses, worst = losses_of(tools, (ParityRestart(2, 1.0, beta) for beta in betas))
    failure = _consistent_failure(ParityRestart(2, 1.0, 1e-3))
    shown = ", ".join(f"{loss.value:.5f} (beta = {beta:g})" for beta, loss in zip(betas, losses, strict=True))
    text = (
        f"exact epsilon over samples of every size: {shown}, of 1; at d = 2 {worst}; a "
        f"consistent sample fails with probability {failure:.6f}, beta = 0.001"
    )
    failed = abs(failure - 1e-3) > 1e-12
    numbers = {"epsilon": worst.value, "failure": failure}
    return judged_loss(worst, 1.0, text, numbers, failed=failed, witness=CONSISTENT)


@states(
    "NIS-ParityAmplification-Proved",
    "Repetition that keeps examples with the largest probability allowed by its exact cost is epsilon-private.",
    "; an improvement, proved in dpaudit_learners.parities.amplified",
    part=Part.OURS,
    short="Examples for confidence β by repetition, ε spent whole",
    printed="n = {n_paper:,}",
    found="n = {n_proved:,}",
)
def _amplification_proved(tools: Tools) -> Evidence:
    beta = 1e-3
    epsilon = 1.0
    (paper, proved), _ = losses_of(tools, [ParityAmplified(2, epsilon, beta, budget) for budget in BUDGETS])
    n, fewer = (ParityAmplified(32, epsilon, 2.0**-21, budget).sample_size(0.1, 2.0**-20) for budget in BUDGETS)
    text = (
        f"at beta = {beta} repetition with epsilon/(4 K) costs {paper}; with the rate of `amplified_rate` {proved}, of "
        f"1. At d = 32, alpha = 0.1, beta = 2^-20 it needs {fewer} examples instead of {n}, {n / fewer:.1f} times fewer"
    )
    numbers = {"paper": paper.value, "epsilon": proved.value, "n_paper": n, "n_proved": fewer}
    return judged_loss(proved, epsilon, text, numbers)


@states(
    "NIS-Effect",
    "One more equation leaves at least half of the solutions, or none.",
    "Efficient PPAC learner for parity",
    formula="|S_(i+1)| >= |S_i|/2 or |S_(i+1)| = 0",
    short="One more equation leaves half of the solutions, or none",
    printed="≥ 0.5",
    found="{least_share:.3g} in {cases:,} cases",
)
def _effect(tools: Tools) -> Evidence:
    d = 3
    labels = Parities(3).evaluate(Cube(3).points())
    rows = list(itertools.product(range(2**d), (0, 1)))
    shares = {}
    for chosen in itertools.product(rows, repeat=2):
        # The solutions of the two equations, before and after a third one.
        before = np.logical_and.reduce([labels[:, x] == y for x, y in chosen])
        for x, y in rows:
            shares[chosen, (x, y)] = float((before & (labels[:, x] == y)).sum() / max(1, before.sum()))
    chosen, added = min((case for case, share in shares.items() if share > 0), key=lambda case: shares[case])
    least = shares[chosen, added]
    text = (
        f"d = {d}: in all {len(shares)} ways of adding an equation to two, the solutions left are none or at least "
        f"{least:g}"
    )
    witness = f"d = {d}: equations {chosen} (point number, label), and then {added}"
    data = {"d": d, "equations": [*chosen, added], "share": least}
    return judged(text, {"least_share": least, "cases": len(shares)}, witness, data, failed=least < 0.5)
