"""RecConcave (BMNS, Proposition 2.11): its privacy, and the promise that it needs as printed and as proved."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpaudit.contract import Evidence, Pair, Tools
from learners.bisection import least_beyond
from learners.citations import BMNS
from learners.interior_points.interior_point import ExponentialSolver, InteriorPointRecConcave
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.steps import Steps
from learners.papers.evidence import judged, pair_data, states, tightness

__all__ = ["STATEMENTS", "crossover", "printed_promise"]


def crossover(epsilon: float, delta: float, beta: float, alpha: Fraction = Fraction(1, 2)) -> int:
    """Return the least k for which RecConcave needs a smaller promise on 2^k indices than the exponential mechanism."""

    def better(k: int) -> bool:
        concave = RecConcave.within(2**k - 1, Fraction(1), alpha, epsilon, delta).promise_needed(beta)
        return concave < 2 / (float(alpha) * epsilon) * (k * math.log(2) - math.log(beta))

    return least_beyond(better, 6, 64)


def printed_promise(star: int, alpha: float, epsilon: float, delta: float, beta: float) -> float:
    """Return the promise of Proposition 2.11 for log* T = `star`."""
    return 8.0**star * 12 * star / (alpha * epsilon) * math.log(192 * star**2 / (beta * delta))


def _failure_at(promise: int) -> float:
    """Return the exact probability that RecConcave on 2^6 indices misses half of a promise that is just kept.

    The worst of three quasi-concave scores that reach it: at one index, at half of them, and rising to it from 0.
    """
    mechanism = RecConcave.within(63, Fraction(promise), Fraction(1, 2), 1.0, 1e-6)
    peak, plateau, tent = [0] * 64, [0] * 64, [promise * min(i, 63 - i) // 31 for i in range(64)]
    peak[37], plateau[16:48] = promise, [promise] * 32
    worst = 0.0
    for values in (peak, plateau, tent):
        log_prob, _ = mechanism.log_law(Steps.of_values(values))
        worst = max(worst, float(np.exp(log_prob)[2 * np.array(values) < promise].sum()))
    return worst


@states(
    "BMNS-Prop2.11",
    "RecConcave is (epsilon, delta)-private and needs a promise of 8^(log* T) (12 log* T/(alpha epsilon)) "
    "ln(192 (log* T)^2/(beta delta)).",
    f"{BMNS}, Proposition 2.11",
    short="The promise that RecConcave needs",
    printed="{printed, 2^64:.2g}",
    found="{RecConcave, 2^64:,.0f} suffices (2^64 indices)",
    best="{exponential, 2^64:.0f}, by the exponential mechanism (2^64 indices)",
)
def _crossover(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    share = 0.0
    for k, star in ((6, 4), (32, 5), (64, 5)):
        concave = RecConcave.within(2**k - 1, Fraction(1), Fraction(1, 2), 1.0, 1e-6).promise_needed(0.1)
        plain = ExponentialSolver(2**k, Fraction(1)).points_needed(0.1)
        printed = printed_promise(star, 0.5, 1.0, 1e-6, 0.1)
        share = max(share, concave / printed)
        numbers |= {f"printed, 2^{k}": printed, f"RecConcave, 2^{k}": concave, f"exponential, 2^{k}": plain}
    learner = InteriorPointRecConcave(40, 2.0, 0.01)
    law = tools.audit_law(learner, samples=[_uneven(learner)])
    leaks = law.verdict == "violation"
    numbers |= {"epsilon of 2": law.epsilon, "delta of 0.01": law.delta_at_claim}
    promise = math.ceil(numbers["printed, 2^6"])
    numbers["failure at the printed promise, 2^6"] = failure = _failure_at(promise)
    numbers["crossover k, delta 1e-6, beta 0.1"] = crossover(1.0, 1e-6, 0.1)
    numbers["crossover k, delta 1e-9, beta 0.001"] = crossover(1.0, 1e-9, 1e-3)
    text = (
        "epsilon 1, delta 1e-6, beta 0.1, alpha 1/2, 2^64 indices: "
        f"the printed promise is {numbers['printed, 2^64']:.2g}, "
        f"{numbers['RecConcave, 2^64']:.5g} suffices, and the exponential mechanism (pure) needs "
        f"{numbers['exponential, 2^64']:.0f}; RecConcave wins from "
        f"2^{numbers['crossover k, delta 1e-6, beta 0.1']:.0f} on. On 2^6 indices it fails at the printed promise with "
        f"probability {failure:.2g}. Three piles of examples on 40 points cost epsilon {law.epsilon:.3f} of 2 exactly"
    )
    return judged(
        # Where the printed promise is below the one that is proved to suffice, nothing is known but the failure above.
        tightness(share, 1.0) if share <= 1 else "undecided",
        text,
        numbers,
        repr(law.worst_pair)
        if leaks
        else f"2^6 indices, promise {promise}, reached at the index 37 alone, on 32 indices, or rising to it from 0",
        {**pair_data(learner, law.worst_pair, epsilon=law.epsilon), "promise": promise, "failure": failure},
        failed=leaks or failure > 0.1,
        grade="numeric",
    )


def _uneven(learner: InteriorPointRecConcave) -> Pair:
    """Return the worst pair known on 40 points, 48 examples at three of them, one of which moves to the middle."""
    left, right = ([2, 16, 30], [1, 17, 30])
    sample = learner.domain.sample
    return Pair(sample([10, 19, 30], [0] * 3, left), sample([10, 19, 30], [0] * 3, right), "10 replaced by 19")


STATEMENTS = (_crossover,)
