"""Statements that results extend: to agnostic learning (NIS), and to other regions (KMMS, Section 6)."""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import Constants, Evidence, Tools, Verdict

from ..points.exponential import ThresholdExponential
from ..regions.polynomials import PolynomialSelect
from ..regions.polytopes import SimplexSelect
from .evidence import judged_loss, learner_data, losses_of
from .verdicts import exceeds, judged, statements_in, states


def noisy_failure(learner: ThresholdExponential, alpha: float, n: int) -> float:
    """Return Pr[error > best + alpha] where all mass is on the first point, with label 1 half of the time and a little.

    Label 1 has the probability 1/2 + alpha/2, rounded up by a relative 1e-9, so that concepts with label 0 there are
    just too bad. With R right ones among n labels, q differs by 2 R - n between both kinds of concepts; the mean is
    over R ~ Bin(n, 1/2 + alpha/2).
    """
    labels = learner.concepts.evaluate(learner.domain.points()[:1])[:, 0]
    odds = np.log(np.count_nonzero(labels == 0)) - np.log(np.count_nonzero(labels == 1))
    right = np.arange(n + 1)
    p = 0.5 + alpha * (1 + 1e-9) / 2
    ways = [math.lgamma(n + 1) - math.lgamma(r + 1) - math.lgamma(n - r + 1) for r in range(n + 1)]
    log_chance = np.array(ways) + right * math.log(p) + (n - right) * math.log1p(-p)
    wrong = 1 / (1 + np.exp(np.clip(learner.epsilon / 2 * (2 * right - n) - odds, -700, 700)))
    return float(np.exp(log_chance) @ wrong)


@states(
    "NIS-Generic-agnostic",
    "The learner of finite classes extends to agnostic learning: O((ln|C| + ln(1/beta)) max(1/alpha^2, "
    "1/(alpha epsilon))) examples suffice.",
    "PPAC learning of finite concept classes: can be extended to agnostic learning",
    short="Agnostic learning of finite classes",
    printed="no size",
    found="n = {n:,} fails with probability {failure:.2g}; {realizable:,}, enough without noise, with {unpaid:.2g}",
    best="max(8/alpha^2, 4/(alpha epsilon)) ln(2 |C|/beta) examples",
    constants=Constants.OURS,
    argument="Chernoff's bound for the errors of all concepts, and the union bound for the exponential mechanism, each "
    "with half of alpha and of beta. The slides print no size; that of the realizable statement is not enough.",
)
def _agnostic(tools: Tools) -> Evidence:
    alpha, beta = 0.05, 0.05
    learner = ThresholdExponential(2, 1.0)
    sizes = {name: learner.utility(alpha, beta, name).sample_size for name in ("agnostic", "realizable")}
    failures = {name: noisy_failure(learner, alpha, n) for name, n in sizes.items()}
    numbers = {
        "n": sizes["agnostic"],
        "failure": failures["agnostic"],
        "realizable": sizes["realizable"],
        "unpaid": failures["realizable"],
    }
    text = (
        f"two kinds of concepts, labels with noise 1/2 - alpha/2, alpha = beta = {alpha}, epsilon = 1: the exact "
        f"failure rate is {failures['agnostic']:.1e} at n = {sizes['agnostic']}, and {failures['realizable']:.2f} at "
        f"{sizes['realizable']}, which suffices without noise"
    )
    data = {"learner": learner_data(learner), "alpha": alpha, "n": sizes["agnostic"], "label 1": 0.5 + alpha / 2}
    # One class and one distribution: what suffices there shows nothing of the others, but for the proof.
    witness = f"all mass on one point, label 1 with probability {0.5 + alpha / 2}"
    return judged(Verdict.HOLDS, text, numbers, witness, data, failed=exceeds(failures["agnostic"], beta))


@states(
    "KMMS-Sec6",
    "The selection extends to space, by halfspaces and simplices, and to regions of polynomials of low degree: each is "
    "epsilon-private.",
    "Section 6",
    short="Selection among simplices in space and among polynomials",
    printed="extends",
    found="ε = {simplices:.3g} of 1 for simplices, {polynomials:.3g} of 1 for polynomials of degree 2",
    constants=Constants.OURS,
    argument="The exponential mechanism does not look at what its hypotheses are; by linearization regions of "
    "polynomials are halfspaces of a space of monomials.",
)
def _section_6(tools: Tools) -> Evidence:
    losses, worst = losses_of(tools, (SimplexSelect(1, 1.0), PolynomialSelect(1, 1.0)))
    numbers = {"simplices": losses[0].value, "polynomials": losses[1].value}
    text = f"side 1: exact loss of simplices in space {losses[0]}, of polynomials of degree 2 in the plane {losses[1]}"
    return judged_loss(worst, 1.0, text, numbers, otherwise=Verdict.HOLDS)


STATEMENTS = statements_in(globals())
