"""Measure how often claims that are curves are refuted: exact Gaussian noise, and noise that is too small.

    python scripts/bench.py claims                     # the tables of docs/research/claims.md
    python scripts/bench.py claims --audits 20 --counts 200    # in a minute

Claims are those that Gaussian noise keeps exactly at a shift of one standard deviation. With counts, audits draw the
runs of both sides in cells of equal width by their exact probabilities, and do what audits do with them: training
chooses the event and the point, or the bets, and fresh counts decide. The others go through `audit_privacy`. Beside
them stands what no test exceeds: the power of the likelihood ratio, about, against the laws nearest to the true ones
that keep the claim both ways.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from dpaudit import PrivacyClaim, PrivacyFinding, audit_privacy
from dpaudit.audit.parameters import Execution
from dpaudit.bounds.holder import by_label, fit_bet, label_ends
from dpaudit.bounds.melded import Melded
from dpaudit.bounds.tangent import ClaimPoints, gaussian_delta, orders_of
from dpaudit.contract import CurveClaim

Array = NDArray[np.float64]

GAMMA = 0.05
TRAINING = 0.2
CLAIMS = {
    "Gaussian, mu 1": PrivacyClaim.gaussian(1.0),
    "profile": PrivacyClaim.profile(lambda epsilon: float(gaussian_delta(1.0, epsilon))),
    "zero-concentrated, rho 0.5": PrivacyClaim.zero_concentrated(0.5),
    "Renyi, order 1.5": PrivacyClaim.renyi(1.5, 0.75),
    "Renyi, order 2": PrivacyClaim.renyi(2.0, 1.0),
    "Renyi, order 3": PrivacyClaim.renyi(3.0, 1.5),
    "Renyi, order 4": PrivacyClaim.renyi(4.0, 2.0),
    "Renyi, order 8": PrivacyClaim.renyi(8.0, 4.0),
}
SHORTFALLS = (0.0, 0.05, 0.10, 0.15)
EDGES = np.linspace(-5.5, 7.0, 500)


def masses(mu: float) -> Array:
    """Return the probabilities of the cells at a shift, those likeliest on data first."""
    inner = ndtr(EDGES - mu)
    return np.diff(np.concatenate([[0.0], inner, [1.0]]))[::-1]


def by_counts(claim: CurveClaim, shortfall: float, runs: int, rng: np.random.Generator) -> bool:
    """Return whether an audit of so many runs a side refutes the claim."""
    laws = masses(1 / (1 - shortfall)), masses(0.0)
    trained = int(TRAINING * runs)
    fresh = runs - int(TRAINING * runs)
    training = [rng.multinomial(trained, law).astype(np.float64) for law in laws]
    counts = [rng.multinomial(fresh, law).astype(np.float64) for law in laws]
    if orders := orders_of(claim, 4.0):
        ends = label_ends(training[0] + training[1])
        bet = fit_bet(by_label(training[0], ends), by_label(training[1], ends), orders, fresh, GAMMA)
        shown = bet.log_evidence(by_label(counts[0], ends), by_label(counts[1], ends))
        return shown >= -math.log(GAMMA)
    points = ClaimPoints.of(claim)
    best = -math.inf
    found = False
    for step in (1, -1):
        first, second = training[::step]
        cells = np.cumsum(first[::step])[:-1]
        others = np.cumsum(second[::step])[:-1]
        shares = points.shares(cells, trained, others, trained)
        if shares.max() > best:
            best = float(shares.max())
            j, k = divmod(int(shares.argmax()), shares.shape[1])
            x, y = (float(side[::step][: k + 1].sum()) for side in counts[::step])
            test = {"epsilon": float(points.epsilon[j]), "delta": float(points.delta[j])}
            found = bool(Melded().p_value(x, fresh, y, fresh, **test) <= GAMMA)
    return found


def most_power(order: float, epsilon: float, shortfall: float, runs: int) -> float:
    """Return the power, about, that no test of a Renyi claim exceeds, with all runs and the laws of labels known.

    Of laws P0 and Q0 that keep the claim both ways those with the least KL(P | P0) + KL(Q | Q0) = k differ from P and
    Q by at most sqrt(2 n k) standard deviations; both sets are convex. The laws are parametrised by logarithms.
    """
    laws = masses(1 / (1 - shortfall)), masses(0.0)
    ends = label_ends(laws[0] + laws[1])
    p, q = (by_label(law, ends) for law in laws)

    def near(x: Array) -> list[Array]:
        return [np.exp(side) / np.exp(side).sum() for side in np.split(x, 2)]

    def distance(x: Array) -> tuple[float, Array]:
        u, v = near(x)
        found = float(p @ np.log(p / u) + q @ np.log(q / v))
        return 1e3 * found, 1e3 * np.concatenate([u - p, v - q])

    def room(x: Array, turn: int) -> float:
        u, v = near(x)[::turn]
        return (order - 1) * epsilon - math.log(float((u**order * v ** (1 - order)).sum()))

    begin = np.log(np.concatenate([by_label(masses(one), ends) for one in (1.0, 0.0)]))
    kept = [{"type": "ineq", "fun": room, "args": (turn,)} for turn in (1, -1)]
    found = minimize(distance, begin, jac=True, constraints=kept, method="SLSQP", options={"maxiter": 500})
    return float(ndtr(math.sqrt(max(0.0, 2 * runs * found.fun / 1e3)) + ndtri(GAMMA)))


def gaussian(scale: float) -> Callable[..., Any]:
    """Return a mechanism that adds Gaussian noise."""

    def noise(x: float, rng: np.random.Generator, size: int) -> Any:
        return rng.normal(x, scale, size)

    return noise


def by_audits(claim: CurveClaim, shortfall: float, runs: int, seed: int, sequential: bool) -> bool:
    """Return whether an audit by `audit_privacy` refutes the claim."""
    found = audit_privacy(
        gaussian(1 - shortfall),
        [(0.0, 1.0)],
        claim=claim,
        trials=runs,
        confidence=1 - GAMMA,
        seed=seed,
        batched=True,
        execution=Execution(sequential=sequential),
    )
    return found.verdict == "violation"


SLACK = (0.0, 0.2, 0.5, 0.7, 0.9, 1.0)
"""Shifts at which a claim of mu = 1 is kept."""


def slack(audits: int, seed: int) -> None:
    """Print what audits of Gaussian noise show of a claim of mu = 1 that is kept, and what they would have detected."""
    print("\nA claim of mu = 1 that is kept, 100,000 runs a side, confidence .999\n")
    print("| true mu | audits | accused | least and mean bound on mu | greatest detectable mu | detected there |")
    print("|---" * 6 + "|")
    claim = PrivacyClaim.gaussian(1.0)
    for mu in SLACK:
        found = [_at_shift(claim, mu, one) for one in range(seed, seed + audits)]
        tests = [one.curve_test for one in found if one.curve_test is not None]
        bounds = [one.mu_lower or 0.0 for one in tests]
        able = max(one.detectable_mu or math.inf for one in tests)
        caught = sum(_at_shift(claim, able, one).verdict == "violation" for one in range(seed, seed + audits))
        accused = sum(one.verdict == "violation" for one in found)
        shown = f"{min(bounds):.3f}, {np.mean(bounds):.3f}"
        print(f"| {mu:g} | {audits} | {accused} | {shown} | {able:.3f} | {caught} |", flush=True)


def _at_shift(claim: CurveClaim, mu: float, seed: int) -> PrivacyFinding:
    return audit_privacy(
        gaussian(1.0), [(0.0, mu)], claim=claim, seed=seed, batched=True, execution=Execution(sequential=False)
    )


def share(found: list[bool]) -> str:
    """Return a share with the number of audits."""
    return f"{np.mean(found):.3f} of {len(found):,}"


def table(title: str, runs: tuple[int, ...], measure: Callable[[CurveClaim, float, int], list[bool]]) -> None:
    """Print a table of Markdown: the share of audits that refute, by claim, runs and shortfall."""
    print(f"\n{title}\n\n| claim | runs a side | " + " | ".join(_head(one) for one in SHORTFALLS) + " |")
    print("|---" * (2 + len(SHORTFALLS)) + "|")
    for name, claim in CLAIMS.items():
        for number in runs:
            cells = [share(measure(claim, one, number)) for one in SHORTFALLS]
            print(f"| {name} | {number:,} | " + " | ".join(cells) + " |", flush=True)


def _head(shortfall: float) -> str:
    return f"noise {100 * shortfall:.0f} % too small" if shortfall else "exact"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, default=3_000, help="audits by counts at the exact claim")
    parser.add_argument("--audits", type=int, default=200, help="audits through audit_privacy at the exact claim")
    parser.add_argument("--bets", type=int, default=0, help="the same in the sequential design")
    parser.add_argument("--slack", type=int, default=20, help="audits of claims that are kept with slack")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()

    def counted(claim: CurveClaim, shortfall: float, runs: int) -> list[bool]:
        rng = np.random.default_rng([asked.seed, runs, round(100 * shortfall)])
        number = max(1, asked.counts // (1 if shortfall == 0 else 10))
        return [by_counts(claim, shortfall, runs, rng) for _ in range(number)]

    def audited(sequential: bool, number: int) -> Callable[[CurveClaim, float, int], list[bool]]:
        def measure(claim: CurveClaim, shortfall: float, runs: int) -> list[bool]:
            seeds = range(asked.seed, asked.seed + max(1, number // (1 if shortfall == 0 else 5)))
            return [by_audits(claim, shortfall, runs, seed, sequential) for seed in seeds]

        return measure

    print("\nThe most power of any test of a Renyi claim, 100,000 runs a side, noise 5, 10 and 15 % too small\n")
    for name, claim in CLAIMS.items():
        if claim.orders:
            print(name, *(f"{most_power(*claim.orders[0], one, 100_000):.3f}" for one in SHORTFALLS[1:]))
    if asked.counts:
        table("Audits by counts", (10_000, 100_000), counted)
    if asked.audits:
        table("Audits by `audit_privacy`", (100_000,), audited(False, asked.audits))
    if asked.slack:
        slack(asked.slack, asked.seed)
    if asked.bets:
        table("Audits by bets", (20_000,), audited(True, asked.bets))
