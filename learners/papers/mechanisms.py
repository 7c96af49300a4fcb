"""Statements on what every paper builds on: the Laplace and the exponential mechanism, and composition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from dpaudit.contract import Evidence, Tools

from ..bisection import last
from ..mechanisms.exponential import log_law
from ..mechanisms.log_laws import log_above, log_below
from .evidence import exceeds, judged, tightness
from .states import Cases, at_most, states

# The scale of Laplace noise, in units of sensitivity/epsilon.
NOISE = 1.0
# a of the exponential mechanism's weights exp(a q), in units of epsilon.
RATE = 0.5


@states(
    "KMMS-Thm2.4",
    "f + Lap(s/epsilon), f of sensitivity s, is epsilon-private.",
    "Theorem 2.4",
    formula="f(S) + Lap(s/epsilon): epsilon-DP",
    conditions="f of sensitivity s",
    short="The Laplace mechanism's ε",
    printed="ε",
    found="{share of epsilon:.3g} ε",
    best="ε, attained",
)
@at_most(
    1,
    "worst log-ratio of half-lines over s = 0.5, 1, 3 and epsilon = 0.1, 1, 10: {share of epsilon:.6f} epsilon",
    "share of epsilon",
    otherwise=None,
)
def _laplace() -> Cases:
    for sensitivity, epsilon in itertools.product((0.5, 1.0, 3.0), (0.1, 1.0, 10.0)):
        scale = NOISE * sensitivity / epsilon
        # Half-lines decide: the ratio of the densities is monotone. Beyond both values their ratio is constant.
        cuts = np.linspace(-5 * sensitivity, 5 * sensitivity, 201)
        for tail in (log_above, log_below):
            share = float(np.abs(tail(cuts / scale) - tail((cuts - sensitivity) / scale)).max()) / epsilon
            yield share, {"sensitivity": sensitivity, "epsilon": epsilon, "scale": scale, "loss": share * epsilon}


@states(
    "KMMS-Prop2.5",
    "Weights exp(epsilon q/2), q of sensitivity 1, are epsilon-private, and Pr[q <= max q - lambda] <= |H| "
    "exp(-epsilon lambda/2).",
    "Proposition 2.5",
    formula="exp(epsilon q/2): epsilon-DP; Pr[q <= max q - lambda] <= |H| exp(-epsilon lambda/2)",
    conditions="q of sensitivity 1",
    short="The exponential mechanism's ε and its loss of score",
    printed="ε, |H| exp(-ε λ/2)",
    found="{share of epsilon:.4g} ε, {share of the bound:.3g} of it",
    best="ε and (|H| - 1)/(|H| - 1 + exp(ε λ/2)), both sharp",
)
def _exponential(tools: Tools) -> Evidence:
    epsilon = 1.0
    rate = RATE
    tables = [np.array(q) for q in itertools.product(range(4), repeat=3)]
    moves = [np.array(m) for m in itertools.product((-1, 0, 1), repeat=3)]
    # All moves of sensitivity 1 of all small score tables.
    pairs = [(q, q + m) for q in tables for m in moves]
    # One candidate leads by more and more: its mass tends to 1, and the loss of any other to epsilon.
    pairs += [(np.array([t, 0, 0]), np.array([t - 1, 1, 1])) for t in (10, 30, 100)]
    losses = [float(np.abs(log_law(p, rate)[0] - log_law(q, rate)[0]).max()) for p, q in pairs]
    loss = max(losses)
    before, after = pairs[losses.index(loss)]
    shares = {}
    for size, gap in itertools.product((2, 10, 1000), (1, 10, 30)):
        # All but one candidate lambda below the best: the bound |H| e^(-epsilon lambda/2) nearly attained.
        mass = math.fsum(np.exp(log_law(np.array([gap] + [0] * (size - 1)), rate)[0][1:]).tolist())
        shares[size, gap] = mass / (size * math.exp(-epsilon * gap / 2))
    case = max(shares, key=lambda case: shares[case])
    share = shares[case]
    leaks = exceeds(loss, epsilon)
    text = (
        f"all scores 0 .. 3 of three candidates, all moves by at most 1, and a leader by up to 100: worst loss "
        f"{loss:.6f} of {epsilon:g}; |H| - 1 candidates lambda below the best have at most {share:.4f} of the bound "
        f"(|H| = 2, 10, 1000, lambda = 1, 10, 30)"
    )
    numbers = {"epsilon": loss, "share of epsilon": loss / epsilon, "share of the bound": share}
    if leaks:
        words = f"scores {before.tolist()} and {after.tolist()}"
    else:
        words = f"|H| = {case[0]}, lambda = {case[1]}"
    data = {"rate": rate, "scores": before, "neighbouring scores": after, "loss": loss}
    data |= {"candidates": case[0], "gap": case[1], "share of the bound": share}
    return judged(text, numbers, words, data, failed=leaks or exceeds(share, 1))


Cost = tuple[float, float]


def cost_of_two(first: Cost, second: Cost) -> Cost:
    """Return the cost of two private mechanisms together, by basic composition."""
    return first[0] + second[0], first[1] + second[1]


def worst_mechanism(cost: Cost) -> list[tuple[float, float]]:
    """Return the probabilities, on two inputs, of the outputs of a mechanism with all the leak of (epsilon, delta).

    With probability delta it shows its input, otherwise it is randomised response. Every (epsilon, delta)-private
    mechanism is made from its output without the input (Kairouz, Oh, Viswanath 2015), so that no other composes worse.
    """
    epsilon, delta = cost
    lie = (1 - delta) / (1 + math.exp(epsilon))
    truth = lie * math.exp(epsilon)
    return [(delta, 0.0), (truth, lie), (lie, truth), (0.0, delta)]


def delta_of_two(first: Cost, second: Cost, epsilon: float) -> float:
    """Return delta(epsilon) of two worst mechanisms together."""
    both = itertools.product(worst_mechanism(first), worst_mechanism(second))
    return math.fsum(max(0.0, p * r - math.exp(epsilon) * q * s) for (p, q), (r, s) in both)


def epsilon_of_two(first: Cost, second: Cost, delta: float, most: float) -> float:
    """Return the least epsilon up to `most` at which `delta_of_two` is at most delta, `most` if none is."""
    return most - last(lambda spared: delta_of_two(first, second, most - spared) <= delta, 0.0, most, 50)


@states(
    "BMNS-Thm2.2",
    "An (epsilon_1, delta_1)- and an (epsilon_2, delta_2)-private mechanism together are (epsilon_1 + epsilon_2, "
    "delta_1 + delta_2)-private.",
    "Theorem 2.2",
    formula="A(S) = <A_1(S), A_2(S)>: (epsilon_1 + epsilon_2, delta_1 + delta_2)",
    argument="Pure mechanisms attain the sum of their epsilons. At that sum delta_1 + delta_2 - delta_1 delta_2 is "
    "needed.",
    short="Basic composition of two mechanisms",
    printed="(ε_1 + ε_2, δ_1 + δ_2)",
    found="{share:.4g} of it is needed",
    best="(ε_1 + ε_2, δ_1 + δ_2 - δ_1 δ_2)",
)
@at_most(
    1,
    "{cases} pairs of the worst mechanisms of two costs, epsilon = 0.1, 0.5, 2, delta = 0, 1e-3, 0.1: {share:.6f} of "
    "the sum of the epsilons, or of the deltas, is needed",
    otherwise=None,
)
def _two() -> Cases:
    costs = list(itertools.product((0.1, 0.5, 2.0), (0.0, 1e-3, 0.1)))
    for first, second in itertools.product(costs, costs):
        epsilon, delta = cost_of_two(first, second)
        # Where both are pure, rounding leaves a delta of 1e-16 or so.
        most = max(delta, 1e-12)
        best = epsilon_of_two(first, second, most, epsilon)
        needed = delta_of_two(first, second, epsilon)
        data = {"first": first, "second": second, "claimed": (epsilon, delta)}
        yield max(needed / most, best / epsilon), {**data, "delta needed": needed, "epsilon needed": best}


def basic_cost(calls: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the cost of `calls` (epsilon, delta)-private calls by basic composition."""
    return calls * epsilon, calls * delta


states(
    "BMNS-Thm2.3",
    "k adaptive (epsilon, delta)-private calls are (k epsilon, k delta)-private.",
    "Theorem 2.3",
    formula="k algorithms, each (epsilon/k, delta/k): (epsilon, delta)",
    short="Basic composition of k calls",
    printed="(k ε, k δ)",
    found="{share of delta:.3g} k δ is needed at k ε",
    best="exact: 1 - (1 - δ)^k at k ε",
)(lambda tools: _composition(basic_cost, "basic composition"))


def advanced_epsilon(calls: int, epsilon: float, slack: float) -> float:
    """Return sqrt(2 k ln(1/slack)) epsilon + 2 k epsilon^2."""
    return math.sqrt(2 * calls * math.log(1 / slack)) * epsilon + 2 * calls * epsilon**2


def advanced_cost(calls: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the cost by advanced composition with a slack of 1e-6."""
    return advanced_epsilon(calls, epsilon, 1e-6), calls * delta + 1e-6


@states(
    "BMNS-Thm2.4",
    "k adaptive (epsilon, delta)-private calls are (sqrt(2 k ln(1/delta')) epsilon + 2 k epsilon^2, k delta + "
    "delta')-private.",
    "Theorem 2.4",
    formula="epsilon = sqrt(2 k ln(1/delta')) epsilon_0 + 2 k epsilon_0^2, delta = k delta_0 + delta'",
    conditions="0 < epsilon_0, delta' <= 1, delta_0 in [0, 1]",
    argument="The main term is sharp: the share that is needed tends to 1 where k is large, k epsilon_0^2 small, and "
    "delta' smaller still.",
    short="Advanced composition of k calls",
    printed="its ε",
    found="{share of epsilon:.3g} of it is needed at k = 10⁴, δ' = 1e-12",
    best="exact composition: {optimal, k=100:.3g} for {printed, k=100:.3g} (100 calls at 0.05)",
)
def _advanced_composition(tools: Tools) -> Evidence:
    found = _composition(advanced_cost, "advanced composition")
    calls = 10_000
    each = 1e-3
    slack = 1e-12
    # Many calls of a small epsilon, where the main term of the theorem is sharp.
    printed = advanced_epsilon(calls, each, slack)
    needed = last(lambda gain: many_composed_delta(calls, each, printed - gain) <= slack, 0.0, printed, 40)
    share = 1 - needed / printed
    text = f"{found.summary}; {calls:,} calls at {each:g} need {share:.3f} of it at delta' = {slack:g}"
    numbers = {**found.numbers, "share of epsilon": max(share, found.numbers["share of epsilon"])}
    return judged(text, numbers, found.witness, found.witness_data, grade="numeric")


def many_composed_delta(calls: int, share: float, epsilon: float) -> float:
    """Return `composed_delta` with each = 0, for thousands of calls, by logarithms of the binomial probabilities."""
    from scipy.special import gammaln

    lies = np.arange(calls + 1)
    ways = gammaln(calls + 1) - gammaln(lies + 1) - gammaln(calls - lies + 1)
    truth = -math.log1p(math.exp(-share))
    gain = -np.expm1(np.minimum(0.0, epsilon - (calls - 2 * lies) * share))
    return float((np.exp(ways + (calls - lies) * truth + lies * (truth - share)) * gain).sum())


def optimal_epsilon(calls: int, share: float, each: float, delta: float) -> float:
    """Return the least epsilon, rounded up, at which (share, each)-private calls are (epsilon, delta)-private.

    At calls * share delta falls to 1 - (1 - each)^calls, which must be within the delta given.
    """
    kept = last(lambda gain: composed_delta(calls, share, each, calls * share - gain) <= delta, 0.0, calls * share, 60)
    return calls * share - kept


def _composition(cost: Callable[[int, float, float], tuple[float, float]], name: str) -> Evidence:
    """Return the evidence on a composition theorem from the exact composition of the worst calls."""
    numbers: dict[str, float] = {}
    shares = []
    delta_share = 0.0
    witness = ""
    cases = [*itertools.product((2, 10, 100), (0.01, 0.05, 0.5), (0.0, 1e-8)), (1000, 0.01, 0.0)]
    for calls, epsilon, delta in cases:
        whole, allowed = cost(calls, epsilon, delta)
        needed = composed_delta(calls, epsilon, delta, whole)
        delta_share = max(delta_share, needed / allowed if allowed else 0.0)
        if whole <= calls * epsilon:
            best = optimal_epsilon(calls, epsilon, delta, allowed)
        else:
            best = calls * epsilon
        shares.append(best / whole)
        case = {"calls": calls, "epsilon": epsilon, "delta": delta, "claimed epsilon": whole, "claimed delta": allowed}
        if best / whole >= max(shares):
            data = {**case, "needed delta": needed, "optimal epsilon": best}
        if needed > allowed * (1 + 1e-9) + 1e-15:
            witness = f"{case}: delta {needed:.3g} is needed"
            data = {**case, "needed delta": needed}
        if (epsilon, delta) == (0.05, 0.0):
            numbers |= {f"printed, k={calls}": whole, f"optimal, k={calls}": best}
    least = min(shares)
    most = max(shares)
    numbers |= {"share of epsilon": most, "least share of epsilon": least, "share of delta": delta_share}
    text = (
        f"k = 2 .. 100 calls at epsilon = 0.01, 0.05, 0.5 and delta = 0, 1e-8, and 1000 at 0.01: "
        f"the exact composition of the worst calls needs {least:.3f} to {most:.3f} of the epsilon of "
        f"{name} at the same delta, and at most {delta_share:.3f} of its delta"
    )
    return judged(text, numbers, witness, data, otherwise=tightness(most, 1), grade="numeric")


def composed_delta(calls: int, share: float, each: float, epsilon: float) -> float:
    """Return the least delta for which any `calls` calls, each (share, each)-private, are (epsilon, delta)-private.

    delta = 1 - (1 - each)^k (1 - r), r = sum_i C(k, i) (e^((k - i) share) - e^(epsilon + i share))_+ / (1 + e^share)^k.
    Calls that show the input with probability `each`, and are randomised response otherwise, attain it.

    Source: Kairouz, Oh, Viswanath, "The composition theorem for differential privacy" (2015), Theorem 3.3.
    """
    truth = 1 / (1 + math.exp(-share))
    lost = 0.0
    for lies in range(calls + 1):
        if (gain := -math.expm1(min(0.0, epsilon - (calls - 2 * lies) * share))) > 0:
            lost += math.comb(calls, lies) * truth ** (calls - lies) * (1 - truth) ** lies * gain
    shown = -math.expm1(calls * math.log1p(-each))
    return shown + (1 - shown) * lost


def greatest_share(calls: int, each: float, epsilon: float, delta: float) -> float:
    """Return the greatest share, rounded down, for which such calls are (epsilon, delta)-private; 0 if none is.

    At most 2 epsilon is tried, far above what a small delta allows a single call.
    """
    return last(lambda share: composed_delta(calls, share, each, epsilon) <= delta, 0.0, 2 * epsilon, 50)
