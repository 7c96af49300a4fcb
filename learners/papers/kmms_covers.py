"""Statements of KMMS on the Set Cover Learner for literals: a target left out, and the privacy of a round."""

from __future__ import annotations

import math
from typing import Any

from dpaudit.contract import Evidence, Relation
from learners.citations import KMMS
from learners.conjunctions.concepts import Conjunction
from learners.conjunctions.set_cover import SetCoverConjunction
from learners.covers.game import calibrate, game_epsilon
from learners.covers.shares import composed_share, noiseless_share, paper_share
from learners.domains import Cube
from learners.papers.instances import learner_data, pair_data
from learners.papers.statements import states
from learners.papers.verdicts import exceeds, judged, tightness

__all__ = ["STATEMENTS"]


@states(
    "KMMS-Thm3.5",
    "the Set Cover Learner learns every conjunction of at most k literals, that of none included",
    f"{KMMS}, Theorem 3.5",
    short="Every conjunction of at most k literals is learned, that of none included",
    printed="fails ≤ β",
    found="fails in {failure rate, d=4:.0%} of runs",
)
def _no_literal(tools: Any) -> Evidence:
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
    if min(least.values()) == 0:
        return Evidence("holds", "some literal is always 1", numbers, "exact", witness_data=data)
    summary = (
        f"an output holds at least one literal, and each errs on {min(least.values()):g} of the cube, whatever n: at "
        f"d = 4, k = 2 and n = {n} it failed in {found.failures} of {found.trials} runs"
    )
    witness = "the conjunction of no literal, always 1, under the uniform distribution"
    return Evidence("refuted", summary, numbers, "exact", witness, data)


@states(
    "KMMS-Claim3.4-loss",
    "eps_hat = epsilon/(2 ln(e/delta)) makes the Set Cover Learner (1, 1e-6)-private, k = 1, alpha = 0.1",
    f"{KMMS}, Claim 3.4",
    short="The same, for one round's loss",
    printed="{paper:.3g}",
    found="{game, replacement:.3g} is allowed",
    best="{game, replacement:.3g} by the game, {composition:.3g} by composition",
)
def _calibration(tools: Any) -> Evidence:
    epsilon, delta, rounds = 1.0, 1e-6, math.ceil(2 * math.log(20))
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
        f"at (1, 1e-6), k = 1, alpha = 0.1 (J = {rounds}) the game allows eps_hat = {numbers['game, replacement']:.3f} "
        f"under replacement and {numbers['game, add or remove']:.3f} under addition, plain composition "
        f"{numbers['composition']:.3f}, the paper {printed:.4f}. Under replacement {loss:.1f} times the paper's is "
        f"allowed, with samples so much smaller; at d = 2, n = 3 the paper's costs {law.epsilon:.3f} exactly"
    )
    return judged(
        # What is known to be allowed are lower bounds: above them nothing is decided.
        "undecided" if printed > allowed else tightness(printed, allowed),
        failed=law.delta(epsilon) - law.profiles.delta_error(epsilon) > delta,
        summary=summary,
        numbers=numbers,
        grade="numeric",
        witness=repr(law.worst_pair),
        data={**pair_data(tiny, law.worst_pair, epsilon=law.epsilon), "allowed": allowed},
    )


@states(
    "KMMS-Claim3.4",
    "eps_hat = epsilon/(2 ln(e/delta)) makes the Set Cover Learner (epsilon, delta)-private",
    f"{KMMS}, Claim 3.4",
    short="The budget of a round, ε/(2 ln(e/δ))",
    printed="{eps_hat of the paper:.3g}",
    found="{eps_hat calibrated by the game:.3g} is allowed",
    best="{eps_hat calibrated by the game:.3g}, by the game",
    slow=True,
)
def _claim_34(tools: Any) -> Evidence:
    epsilon, delta = 1.0, 1e-6
    share = epsilon / (2 * (1 - math.log(delta)))
    upper = game_epsilon(2, 12, share / 2, delta, reach=0.4)
    tiny = SetCoverConjunction(dimension=2, k=1, epsilon=epsilon, delta=delta, alpha=0.49, beta=0.2)
    law = tools.audit_law(tiny, n=3)
    above = game_epsilon(1, tiny.rounds, share / 2, delta, reach=0.5)
    best = calibrate(2, 12, epsilon, delta)
    numbers = {
        "game, k=2, alpha=0.1": upper,
        "factor": epsilon / upper,
        "eps_hat of the paper": share,
        "eps_hat calibrated by the game": best,
        "exact, k=1, J=3, n=3": law.epsilon,
        "game, k=1, J=3": above,
    }
    data = {**pair_data(tiny, law.worst_pair, epsilon=law.epsilon), "game": upper}
    if law.delta(epsilon) - law.profiles.delta_error(epsilon) > delta:
        return Evidence("refuted", "delta(1) exceeds 1e-6", numbers, "exact", repr(law.worst_pair), data)
    summary = (
        f"at (1, 1e-6) the paper's eps_hat costs at most {upper:.3f} by the game (k = 2, alpha = 0.1, replacement), "
        f"{upper / epsilon:.2f} of the claim; the game allows {best / share:.1f} times that eps_hat; a tiny instance "
        f"costs {law.epsilon:.3f} exactly"
    )
    # The game bounds the cost from above: it can show the statement, and cannot contradict it.
    return Evidence(
        "undecided" if upper > epsilon else tightness(upper, epsilon), summary, numbers, "numeric", "", data
    )


def sketched_cost(share: float, epsilon: float, delta: float) -> float:
    """Return what the proof sketch charges, epsilon + (e^a - 1) ln(e/delta) with a = share/2.

    A coupling of the noise pays e^epsilon once; the probabilities p_j that a round removes the example add up to more
    than ln(e/delta) with probability delta at most, and a round costs e^(p_j (e^a - 1)).
    """
    return epsilon + math.expm1(share / 2) * (1 - math.log(delta))


@states(
    "KMMS-Claim3.4-sketch",
    "The proof's sketch shows (epsilon, delta)-privacy under adding or removing an example.",
    f"{KMMS}, proof sketch of Claim 3.4",
    short="What the proof's sketch shows",
    printed="ε = 1",
    found="ε = {by the sketch:.3g}",
    best="ε = {common noise:.3g}, with the same noise on both sides (J = {rounds})",
)
def _sketch(tools: Any) -> Evidence:
    epsilon, delta, rounds, k = 1.0, 1e-6, math.ceil(4 * math.log(20)), 2
    share = paper_share(epsilon, delta)
    sketched = sketched_cost(share, epsilon, delta)
    common = min(share / 2 * rounds / k, epsilon) + sketched - epsilon
    game = game_epsilon(k, rounds, share / 2, delta, 0.4, Relation.ADD_REMOVE_ONE)
    numbers = {"by the sketch": sketched, "common noise": common, "game": game, "rounds": rounds}
    return judged(
        "holds",
        failed=exceeds(sketched, epsilon),
        summary=f"at (1, 1e-6), k = 2, alpha = 0.1 the sketch pays {epsilon:g} for the noise and "
        f"{sketched - epsilon:.3f} for the rounds: {sketched:.3f} in all. With the same noise on both sides the first "
        f"part is a J/k, and {common:.3f} is enough; by the game {game:.3f}: the claim is true",
        numbers=numbers,
        grade="numeric",
        witness=f"epsilon = {epsilon:g}, delta = {delta:g}: {sketched:.4f} of {epsilon:g}",
        data={"epsilon": epsilon, "delta": delta, "eps_hat": share, "by the sketch": sketched},
    )


STATEMENTS = (_no_literal, _calibration, _claim_34, _sketch)
