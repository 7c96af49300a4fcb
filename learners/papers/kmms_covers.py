"""Statements of KMMS on the Set Cover Learner for literals: a target left out, and the privacy of a round."""

from __future__ import annotations

import math
from typing import Any

from dpaudit.contract import Evidence, Part, Relation, Survives, Tools, Verdict

from ..conjunctions.concepts import Conjunction
from ..conjunctions.set_cover import SetCoverConjunction
from ..covers.accounting import (
    calibrate,
    choice_cost,
    composed_share,
    cost_of_share,
    game_epsilon,
    noiseless_share,
    paper_share,
    pure_share,
    rounds_for,
)
from ..domains import Cube
from .evidence import (
    TOLERANCE,
    judged,
    judged_loss,
    learner_data,
    losses_of,
    pair_data,
    statements_in,
    states,
    tightness,
)

INSIDE = 0.9
"""An epsilon in the range of Claim 3.4, which is open at 1."""


@states(
    "KMMS-Thm3.5",
    "the Set Cover Learner learns every conjunction of at most k literals, that of none included",
    "Theorem 3.5; CONJ_(k,d) of Example 2.3",
    formula="(alpha, beta)-PAC learner for CONJ_(k,d), at most k literals",
    failure=Verdict.EDGE_CASE,
    survives=Survives.YES,
    argument="An answer holds at least one literal, and each errs on half of the cube. That a target may have no "
    "literal is allowed by 'at most k' and by nothing else in the text; one more candidate repairs it.",
    short="Every conjunction of at most k literals is learned, that of none included",
    printed="fails ≤ β",
    found="fails in {failure rate, d=4:.0%} of runs",
)
def _no_literal(tools: Tools) -> Evidence:
    least: dict[str, float] = {}
    for dimension in (2, 3, 4):
        points = Cube(dimension).points()
        errors = [float(1 - Conjunction(dimension, 1 << i).predict(points).mean()) for i in range(2 * dimension)]
        least[f"least error, d={dimension}"] = min(errors)
    learner = SetCoverConjunction(dimension=4, k=2, epsilon=1.0, delta=1e-6, alpha=0.1, beta=0.05)
    n, always = learner.sample_size(0.2, 0.2), Conjunction(4, 0)
    found = tools.audit_utility(learner, always, "uniform", alpha=0.2, beta=0.2, n=n, trials=100, confidence=0.95)
    numbers = {**least, "n": n, "failure rate, d=4": found.failure_rate}
    data = {"learner": learner_data(learner), "least errors of a literal": least}
    summary = (
        f"an output holds at least one literal, and each errs on {min(least.values()):g} of the cube, whatever n: at "
        f"d = 4, k = 2 and n = {n} it failed in {found.failures} of {found.trials} runs"
    )
    witness = "the conjunction of no literal, always 1, under the uniform distribution"
    return judged(Verdict.HOLDS, summary, numbers, witness, data, failed=min(least.values()) > 0)


@states(
    "KMMS-Claim3.4-loss",
    "eps_hat = epsilon/(2 ln(e/delta)) makes the Set Cover Learner (0.9, 1e-6)-private, k = 1, alpha = 0.1",
    "Claim 3.4",
    formula="eps_hat = epsilon/(2 ln(e/delta))",
    conditions="epsilon in (0, 1), delta < 1/e",
    short="The budget of a round, k = 1, alpha = 0.1",
    printed="{paper:.3g} at ε = 0.9",
    found="{game, replacement:.3g} is allowed",
    best="{game, replacement:.3g} by the game, {composition:.3g} by composition",
)
def _calibration(tools: Tools) -> Evidence:
    epsilon, delta, rounds = INSIDE, 1e-6, math.ceil(2 * math.log(20))
    printed = paper_share(epsilon, delta)
    numbers = {
        "paper": printed,
        "composition": composed_share(rounds, epsilon, delta),
        "without noise, proved": noiseless_share(1, rounds, epsilon, delta),
        "game, replacement": calibrate(1, rounds, epsilon, delta),
        "game, add or remove": calibrate(1, rounds, epsilon, delta, Relation.ADD_REMOVE_ONE),
    }
    allowed = max(numbers[way] for way in ("composition", "without noise, proved", "game, replacement"))
    loss = allowed / printed
    tiny = SetCoverConjunction(dimension=2, k=1, epsilon=epsilon, delta=delta, alpha=0.1, beta=0.2)
    law = tools.audit_law(tiny, n=3)
    numbers |= {"loss": loss, f"exact, d=2, J={tiny.rounds}, n=3": law.epsilon}
    summary = (
        f"at ({epsilon}, 1e-6), k = 1, alpha = 0.1 (J = {rounds}) the game allows "
        f"eps_hat = {numbers['game, replacement']:.3f} under replacement and "
        f"{numbers['game, add or remove']:.3f} under addition, plain composition {numbers['composition']:.3f}, the "
        f"paper {printed:.4f}. Under replacement {loss:.1f} times the paper's is "
        f"allowed, with samples so much smaller; at d = 2, n = 3 the paper's costs {law.epsilon:.3f} exactly"
    )
    return judged(
        # What is known to be allowed are lower bounds: above them nothing is decided.
        Verdict.UNDECIDED if printed > allowed else tightness(printed, allowed),
        summary,
        numbers,
        repr(law.worst_pair),
        {**pair_data(tiny, law.worst_pair, epsilon=law.epsilon), "allowed": allowed},
        failed=law.verdict == Verdict.VIOLATION,
        grade="numeric",
    )


TINY: dict[str, Any] = {"dimension": 1, "k": 2, "epsilon": 1.0, "delta": 1e-6, "alpha": 0.99, "beta": 0.2}
"""A learner of three rounds, which lists its law."""


@states(
    "KMMS-Claim3.4-pure",
    "at (1, 1e-6) and alpha = 0.1, eps_hat = epsilon/(2 ln(e/delta)) makes the learner epsilon-private, delta = 0, for "
    "k <= 8",
    "Claim 3.4; an improvement, proved in docs/results.md",
    part=Part.OURS,
    short="Claim 3.4 with δ = 0, k ≤ 8",
    printed="ε = 1",
    found="ε = {cost, k=8:.3g}",
    slow=True,
)
def _pure_calibration(tools: Tools) -> Evidence:
    printed = paper_share(1.0, 1e-6)
    costs = {k: choice_cost(rounds_for(k, 0.1), k, printed) for k in range(1, 11)}
    greatest = max(k for k, cost in costs.items() if cost <= 1)
    tiny = SetCoverConjunction(**TINY)
    (loss,), _ = losses_of(tools, [tiny])
    bound = choice_cost(tiny.rounds, tiny.k, tiny.selection_epsilon)
    shown = ", ".join(f"{cost:.3f} (k = {k})" for k, cost in costs.items() if k in (1, 2, 4, 8, 9))
    text = (
        f"the pure cost of J = ceil(2 k ln 20) rounds with eps_hat = {printed:.4f}, for any n and noise, is at "
        f"most {shown}: pure up to k = {greatest}. At d = 1, k = 2, J = {tiny.rounds} the "
        f"search finds {loss.value:.5f} of the {bound:.5f} that the theorem allows"
    )
    numbers = {"cost, k=1": costs[1], "cost, k=8": costs[8], "greatest k": greatest, "searched": loss.value}
    witness = f"k = {greatest + 1} costs {costs.get(greatest + 1, math.inf):.4f}"
    return judged_loss(loss, bound, text, numbers, otherwise=Verdict.HOLDS, failed=greatest < 8, witness=witness)


@states(
    "KMMS-Ex3.3-pure",
    "rounds with eps_hat = 2 epsilon/max(J + 1, J (1 + 1/k)) make the Set Cover Learner epsilon-private, delta = 0",
    "Example 3.3; an improvement, proved in docs/results.md",
    part=Part.OURS,
    short="The budget of a round by the exact pure cost, k = 2",
    printed="{composition, k=2:.3g}",
    found="{pure, k=2:.3g}",
    slow=True,
)
def _pure_budget(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    for k in range(1, 19):
        rounds = rounds_for(k, 0.1)
        numbers[f"pure, k={k}"] = pure_share(k, rounds, 1.0)
        numbers[f"composition, k={k}"] = composed_share(rounds, 1.0, 1e-6)
        numbers[f"no noise, k={k}"] = noiseless_share(k, rounds, 1.0, 1e-6)
    gains = {
        way: [k for k in range(1, 19) if numbers[f"pure, k={k}"] > (1 + TOLERANCE) * numbers[f"{way}, k={k}"]]
        for way in ("composition", "no noise")
    }
    learners = (SetCoverConjunction(**TINY, variant=name, budget="proved") for name in ("composition", "noiseless"))
    (noisy, bare), worst = losses_of(tools, learners)
    text = (
        f"at d = 1, k = 2 the exact pure loss is {noisy} with noise and {bare} without, of 1. At (1, 1e-6), alpha = "
        f"0.1 it allows {numbers['pure, k=2']:.4f} a round at k = 2, composition {numbers['composition, k=2']:.4f}; it "
        f"gains over composition for k = {gains['composition'][0]} to {gains['composition'][-1]}, and over the "
        f"analysis without noise for k = {gains['no noise'][0]} to {gains['no noise'][-1]}"
    )
    return judged_loss(worst, 1.0, text, {**numbers, "epsilon": worst.value}, otherwise=Verdict.HOLDS)


@states(
    "KMMS-Claim3.4",
    "eps_hat = epsilon/(2 ln(e/delta)) makes the Set Cover Learner (epsilon, delta)-private",
    "Claim 3.4",
    formula="eps_hat = epsilon/(2 ln(e/delta))",
    conditions="epsilon in (0, 1), delta < 1/e",
    argument="The game over the probabilities with which a round removes the example bounds the cost from above, for "
    "any sample; see docs/results.md.",
    short="The budget of a round, ε/(2 ln(e/δ))",
    printed="{eps_hat of the paper:.3g} at ε = 0.9",
    found="{eps_hat calibrated by the game:.3g} is allowed",
    best="{eps_hat calibrated by the game:.3g}, by the game",
    slow=True,
)
def _claim_34(tools: Tools) -> Evidence:
    epsilon, delta = INSIDE, 1e-6
    share = paper_share(epsilon, delta)
    upper = game_epsilon(2, 12, share / 2, delta, reach=0.4)
    tiny = SetCoverConjunction(dimension=2, k=1, epsilon=epsilon, delta=delta, alpha=0.49, beta=0.2)
    law = tools.audit_law(tiny, n=3)
    above = game_epsilon(1, tiny.rounds, share / 2, delta, reach=0.5)
    best = calibrate(2, 12, epsilon, delta)
    # J/k is at most 2 ln(2/alpha) + 1/k.
    every = max(
        *(cost_of_share(k, rounds_for(k, 0.1), share, delta) for k in range(1, 1001)),
        cost_of_share(1000, math.ceil(2000 * math.log(20)) + 1, share, delta),
    )
    numbers = {
        "game, k=2, alpha=0.1": upper,
        "every k, alpha=0.1": every,
        "factor": epsilon / upper,
        "eps_hat of the paper": share,
        "eps_hat calibrated by the game": best,
        "exact, k=1, J=3, n=3": law.epsilon,
        "game, k=1, J=3": above,
    }
    data = {**pair_data(tiny, law.worst_pair, epsilon=law.epsilon), "game": upper}
    summary = (
        f"at ({epsilon}, 1e-6) the paper's eps_hat costs at most {upper:.3f} by the game (k = 2, alpha = 0.1), "
        f"{upper / epsilon:.2f} of the claim, and at most {every:.3f} for every k at that alpha; the game allows "
        f"{best / share:.1f} times that eps_hat; a tiny instance costs {law.epsilon:.3f} exactly"
    )
    # The game bounds the cost from above: it can show the statement; only the exact law can contradict it.
    verdict, leaks = (
        Verdict.UNDECIDED if max(upper, every) > epsilon else tightness(upper, epsilon),
        law.verdict == Verdict.VIOLATION,
    )
    return judged(verdict, summary, numbers, repr(law.worst_pair), data, failed=leaks, grade="numeric")


STATEMENTS = statements_in(globals())
