"""Measure audits in one run: how often true claims are accused, and how much of a true epsilon is found.

    python scripts/bench.py one_run [level] [shapes] [boundary] [chance] [curves] [faults] [rules]
                                    [--audits N] [--gamma G] [--canaries M ...] [--privacy-meter AUDIT.py]

level: how often dpaudit accuses independent randomised responses exactly as private as the claim, in --level-audits
audits, at gamma and a fifth of it, beside the exact probability.

shapes: how often `audit_scores`, with the guesses turned around among its tests, accuses scores that are exactly as
private as the claim, in --level-audits audits, with the exact interval: with ties, with infinite scores, that run the
other way, and of several runs; beside it, how often it says of scores without a signal that they run the other way.

boundary: randomised responses of the canaries, independent and exactly as private as the claim, which is the worst case
of a count; independent Gaussian scores; and scores without a signal. Beside each, how often a truth with twice the
parameter is found, and the mean bound as a share of the truth. Other auditors score the same canaries if they are
installed: jax_privacy (whose auditing module needs dp_accounting) and PrivacyGuard (`privacyguard-platform`).
ml_privacy_meter has its audit in one run in its repository only: name the module `audit.py` of a checkout. A bound
above the truth counts as an accusation. "largest, unadjusted" is the largest bound over all numbers of guesses of
Steinke, Nasr and Jagielski, without accounting for the choice.

chance: the bounds of dpaudit and PrivacyGuard where half of the guesses are right.

curves: independent Gaussian scores at a claim of mu that is exact, and at the mu that is called detectable.

faults: noisy gradient descent (`learners/training`) and its planted faults, one training with a canary for each
direction; the claim is the accountant's whole curve.

rules: the mean bound with which numbers of guesses are chosen in several ways.

Exit status: 1 if dpaudit accuses a true claim more often than gamma allows by chance (once in 1,000 runs), or misses
more than half of the trainings with some fault that its canaries can show; else 0.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

import dpaudit
from benchmarks.columns import line, positive
from benchmarks.one_run_auditors import DELTA, Bools, Floats, installed, ours, privacy_guard
from dpaudit import CurveClaim, PrivacyClaim
from dpaudit.audit.one_run import RankedScores, guess_test
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.bounds.guess_schedules import Schedule, lower_bound
from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.bounds.tangent import ClaimPoints, gaussian_delta
from dpaudit_learners.training.noisy_sgd import FAULTS, Examples, Logistic, NoisySGD, one_training

CHANCE = 1e-3
LARGEST = 60.0
HIDDEN = ("without replacement",)
"""An example that displaces another shows where the others oppose it, which those of these trainings do not."""


def responses(epsilon: float, m: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Return scores of independent randomised responses, and the coins."""
    coins = rng.random(m) < 0.5
    answers = np.where(rng.random(m) < 1 / (1 + math.exp(-epsilon)), coins, ~coins)
    return 2.0 * answers - 1 + 0.01 * rng.random(m), coins


def gaussians(mu: float, m: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Return independent Gaussian scores, and the coins."""
    coins = rng.random(m) < 0.5
    return rng.normal(size=m) + mu * coins, coins


def leak(share: float, m: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Return scores of which a share are randomised responses of epsilon 8, and the others are noise."""
    scores, coins = responses(8.0, m, rng)
    return np.where(rng.random(m) < share, scores, 0.2 * rng.random(m) - 0.1), coins


def chance(given: argparse.Namespace) -> bool:
    """Print the bounds where half of the guesses are right, which is no evidence, and say whether ours is above 0."""
    widths = (10, 9, 8, 8, 10, 14)
    failed = False
    guard = privacy_guard()
    print(line(("canaries", "guesses", "right", "delta", "dpaudit", "PrivacyGuard"), widths))
    for m, guesses, delta in ((100, 10, DELTA), (1_000, 100, 1e-6)):
        right = guesses // 2
        ours = float(epsilon_lower(right, guesses, given.gamma, delta_runs=m * delta))
        theirs = "-" if guard is None else f"{guard(m, guesses, right, given.gamma, delta):.4f}"
        print(line((f"{m:,}", str(guesses), str(right), f"{delta:g}", f"{ours:.4f}", theirs), widths), flush=True)
        failed |= ours > 0
    return failed


class Case(NamedTuple):
    """Scores with a parameter, the claim of which is exact at `claim`; the epsilon that is true at delta."""

    name: str
    make: Callable[[float, int, np.random.Generator], tuple[Floats, Bools]]
    claim: float
    epsilon: Callable[[float], float]


def gaussian_epsilon(mu: float) -> float:
    """Return epsilon of mu-Gaussian privacy at delta, from above."""
    low = 0.0
    high = LARGEST
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(gaussian_delta(mu, middle)) > DELTA else (low, middle)
    return high


def same(epsilon: float) -> float:
    return epsilon


CASES = (
    Case("no signal", gaussians, 0.0, lambda mu: 0.0),
    Case("responses, epsilon 1", responses, 1.0, same),
    Case("responses, epsilon 2", responses, 2.0, same),
    Case("responses, epsilon 4", responses, 4.0, same),
    Case("Gaussian, mu 1", gaussians, 1.0, gaussian_epsilon),
)

WIDTHS = (22, 27, 8, 8, 10, 9, 12, 12, 9)
HEAD = ("case", "auditor", "canaries", "audits", "accused", "rate", "found at 2x", "bound/truth", "seconds")


def level(given: argparse.Namespace) -> bool:
    """Print how often true claims are accused, and say whether that is too often."""
    widths = (12, 9, 10, 8, 9, 9, 9, 10)
    failed = False
    print(line(("epsilon", "delta", "canaries", "gamma", "audits", "accused", "rate", "exact"), widths))
    for m in given.canaries:
        for epsilon, delta in ((1.0, 0.0), (1.0, DELTA), (4.0, 0.0), (4.0, DELTA)):
            for gamma in (given.gamma, given.gamma / 5):
                points = ClaimPoints.one(epsilon, delta)
                audits = given.level_audits
                accused = 0
                for seed in range(given.first, given.first + audits):
                    ranked = RankedScores.of(*responses(epsilon, m, np.random.default_rng([seed, m, 3])), None)
                    test = guess_test(ranked, points, gamma)
                    accused += test.rejects(points)
                critical = test.schedule.critical(test.schedule.level(points, gamma), points)
                exact = test.schedule.crossing(critical, epsilon)
                words = (f"{epsilon:g}", f"{delta:g}", f"{m:,}", f"{gamma:g}", f"{audits:,}", str(accused))
                rates = (f"{100 * accused / audits:.2f} %", f"{100 * exact:.2f} %")
                print(line((*words, *rates), widths), flush=True)
                failed |= bool(binom.sf(accused - 1, audits, gamma) < CHANCE / 8 / len(given.canaries))
    return failed


def shaped(shape: str, m: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Return scores of independent randomised responses of epsilon 1, of a shape, and the coins."""
    scores, coins = responses(1.0, m, rng)
    answers = np.where(scores > 0, 1.0, -1.0)
    match shape:
        case "ties":
            return answers, coins
        case "ties of some":
            return np.where(rng.random(m) < 0.5, answers, scores), coins
        case "infinite":
            return answers * np.inf, coins
        case "infinite of some":
            return np.where(rng.random(m) < 0.3, answers * np.inf, scores), coins
        case "reversed":
            return -scores, coins
        case "four runs":
            return scores.reshape(4, -1), coins.reshape(4, -1)
        case "rounded, no signal":
            return np.round(rng.normal(size=m)), coins
        case "infinite, no signal":
            return np.where(rng.random(m) < 0.3, np.inf, rng.normal(size=m)), coins
    return scores, coins


SHAPES = ("plain", "ties", "ties of some", "infinite", "infinite of some", "reversed", "four runs")
SIGNALLESS = ("rounded, no signal", "infinite, no signal")
"""Audited against a claim of epsilon 0."""


def shapes(given: argparse.Namespace) -> bool:
    """Print how often scores of several shapes are accused at the exact claim, and say whether that is too often."""
    widths = (22, 10, 9, 9, 18, 10)
    failed = False
    print(line(("scores", "canaries", "audits", "accused", "95 % interval, %", "reversed"), widths))
    for m in given.canaries:
        for shape in (*SHAPES, *SIGNALLESS):
            epsilon = 0.0 if shape in SIGNALLESS else 1.0
            audits = given.level_audits
            found = []
            for seed in range(given.first, given.first + audits):
                scores, coins = shaped(shape, m, np.random.default_rng([seed, m, 9]))
                found.append(dpaudit.audit_scores(scores, coins, epsilon=epsilon, confidence=1 - given.gamma))
            accused = sum(one.verdict == "violation" for one in found)
            turned = sum(one.reversed is True for one in found)
            low = float(lower_limit(accused, audits, 0.025))
            high = float(upper_limit(accused, audits, 0.025))
            words = (shape, f"{m:,}", f"{audits:,}", str(accused), f"{100 * low:.2f} to {100 * high:.2f}", str(turned))
            print(line(words, widths), flush=True)
            failed |= bool(binom.sf(accused - 1, audits, given.gamma) < CHANCE / 9 / len(given.canaries))
    return failed


def boundary(given: argparse.Namespace) -> bool:
    """Print the table of false accusations beside power, and say whether dpaudit accuses too often."""
    others = installed(given.privacy_meter)
    failed = False
    print(line(HEAD, WIDTHS))
    for m in given.canaries:
        for case in CASES:
            true = case.epsilon(case.claim)
            double = case.epsilon(2 * case.claim)
            for auditor in (ours(true), *others):
                began = time.perf_counter()
                slow = auditor.name.startswith("PrivacyGuard")
                audits = given.audits if not slow else max(2, given.audits // 50)
                false, found = (
                    [
                        auditor.bound(*case.make(size, m, np.random.default_rng([seed, m, twice])), given.gamma)
                        for seed in range(given.first, given.first + audits)
                    ]
                    for twice, size in enumerate((case.claim, 2 * case.claim))
                )
                accused = sum(bound > true for bound in false)
                share = np.mean(found) / double if double else 0.0
                cells = (
                    case.name,
                    auditor.name + (f" ({auditor.assumes})" if auditor.assumes else ""),
                    f"{m:,}",
                    str(audits),
                    str(accused),
                    f"{100 * accused / audits:.1f} %",
                    f"{sum(bound > true for bound in found)}/{audits}" if double else "-",
                    f"{share:.2f}" if double else "-",
                    f"{(time.perf_counter() - began) / audits / 2:.3f}",
                )
                print(line(cells, WIDTHS), flush=True)
                chance = binom.sf(accused - 1, audits, given.gamma)
                failed |= auditor.name == "dpaudit" and bool(chance < CHANCE / len(CASES) / len(given.canaries))
    return failed


def curves(given: argparse.Namespace) -> bool:
    """Print how often an exact claim of mu is accused, and from which mu on a larger one is found."""
    widths = (12, 8, 8, 10, 14, 14, 22, 22)
    failed = False
    head = ("claim", "canaries", "audits", "accused", "detectable mu", "found there", "mean mu, unconditional")
    print(line((*head, "mean, independent"), widths))
    for m in given.canaries:
        for mu in (0.5, 1.0):
            claim = PrivacyClaim.gaussian(mu)
            audits = max(1, given.audits // 4)

            def audited(true: float, seed: int, m: int = m, claim: Any = claim) -> dpaudit.OneRunFinding:
                scores, coins = gaussians(true, m, np.random.default_rng([seed, m, 7]))
                return dpaudit.audit_scores(scores, coins, claim, confidence=1 - given.gamma)

            least = audited(mu, 0).detectable_mu or math.inf
            false = [audited(mu, seed) for seed in range(audits)]
            found = [audited(least, seed) for seed in range(audits)] if math.isfinite(least) else []
            accused = sum(one.verdict == "violation" for one in false)
            means = [np.mean([one.mu_lower or 0.0 for one in found]) if found else 0.0]
            means.append(
                np.mean([one.if_gaussian.independent_mu for one in found if one.if_gaussian]) if found else 0.0
            )
            caught = f"{sum(one.verdict == 'violation' for one in found)}/{len(found)}"
            words = (f"mu = {mu:g}", f"{m:,}", str(audits), str(accused), f"{least:.2f}", caught)
            print(line((*words, *(f"{mean:.2f}" for mean in means)), widths), flush=True)
            failed |= bool(binom.sf(accused - 1, audits, given.gamma) < CHANCE)
    return failed


def faults(given: argparse.Namespace) -> bool:
    """Print how often trainings with each fault are convicted, and the right one accused by either score."""
    widths = (24, 10, 10, 8, 12, 12, 10)
    failed = False
    print(line(("training", "score", "canaries", "runs", "audits", "convicted", "seconds"), widths))
    for m, runs in ((100, 1), (100, 4), (400, 1)):
        sgd = NoisySGD(Logistic(4 * m), noise_multiplier=1.5, sampling_rate=0.1, examples=m, steps=20)
        claim = PrivacyClaim.profile(sgd.accountant.delta)
        for fault in ("", *FAULTS):
            for score in ("sum", "spread"):
                if fault and (score == "spread") != (fault == "noise reused"):
                    continue
                began = time.perf_counter()
                audits = max(1, given.audits // (1 if not fault else 4) // (4 if m * runs > 100 else 1))
                verdicts = [
                    trained(replace(sgd, fault=fault), claim, m, runs, score, seed, given.gamma)
                    for seed in range(given.first, given.first + audits)
                ]
                convicted = sum(verdict == "violation" for verdict in verdicts)
                seconds = (time.perf_counter() - began) / audits
                words = (fault or "right", score, str(m), str(runs), str(audits), str(convicted), f"{seconds:.2f}")
                print(line(words, widths), flush=True)
                if not fault:
                    failed |= bool(binom.sf(convicted - 1, audits, given.gamma) < CHANCE)
                elif m * runs > 100 and fault not in HIDDEN:
                    failed |= 2 * convicted < audits
    return failed


def trained(sgd: NoisySGD, claim: CurveClaim, m: int, runs: int, score: str, seed: int, gamma: float) -> str:
    """Return the verdict on one or several trainings with random directions as canaries."""
    rng = np.random.default_rng([seed, m, runs])
    d = sgd.model.dimension
    data = Examples(rng.normal(size=(m // 2, d)) / math.sqrt(d), rng.integers(0, 2, m // 2), np.empty((0, d)))
    directions = rng.normal(size=(m, d))
    canaries = 5 * sgd.clip * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    made = [one_training(sgd, data, canaries, rng) for _ in range(runs)]
    scores = [one[0] if score == "sum" else one[1] for one in made]
    return str(
        dpaudit.audit_scores(np.array(scores), np.array([one[2] for one in made]), claim, confidence=1 - gamma).verdict
    )


RULES = ("two-sided walk", "both walks", "in, walk", "two-sided split", "pilot half", "all guessed")
TRUTHS: tuple[tuple[str, Callable[[float, int, np.random.Generator], tuple[Floats, Bools]], float], ...] = (
    ("responses 1", responses, 1.0),
    ("responses 4", responses, 4.0),
    ("Gaussian 1", gaussians, 1.0),
    ("Gaussian 3", gaussians, 3.0),
    ("3 % leak", leak, 0.03),
)


def rules(given: argparse.Namespace) -> bool:
    """Print the mean bound of several rules for the number of guesses."""
    widths = (14, 10, *([17] * len(RULES)))
    print(line(("truth", "canaries", *RULES), widths))
    for m in given.canaries:
        for name, make, size in TRUTHS:
            bounds = [
                by_rules(*make(size, m, np.random.default_rng([seed, m])), given.gamma)
                for seed in range(given.audits // 10)
            ]
            print(line((name, f"{m:,}", *(f"{mean:.2f}" for mean in np.mean(bounds, axis=0))), widths), flush=True)
    return False


def by_rules(scores: Floats, coins: Bools, gamma: float) -> list[float]:
    """Return the bound by each of `RULES`."""
    m = len(scores)
    ranked = RankedScores.of(scores, coins, None)
    two = Schedule.doubling(m)
    one = Schedule.doubling(m, one_sided=True)
    tests = [(two, ranked.counts("two-sided", two)), (one, ranked.counts("in", one))]

    def union(schedule: Schedule, right: Any, error: float) -> float:
        runs = float(schedule.delta_runs(np.array(DELTA)))
        return float(epsilon_lower(right, schedule.guesses, error / len(right), delta_runs=runs).max())

    def walk(some: Sequence[tuple[Schedule, Any]]) -> float:
        error = gamma / len(some)

        def rejects(epsilon: float) -> bool:
            return any(
                schedule.test(right, ClaimPoints.one(epsilon, DELTA)).p_value <= error for schedule, right in some
            )

        return lower_bound(rejects, max(union(*each, error) for each in some), 1.0)

    half = m // 2
    pilot, rest = (RankedScores.of(scores[part], coins[part], None) for part in (slice(half), slice(half, 2 * half)))
    short = Schedule.doubling(half)
    chosen = int(epsilon_lower(pilot.counts("two-sided", short), short.guesses, 0.2).argmax())
    fixed = Schedule((short.guesses[chosen],), half)
    every = Schedule((m,), m)
    return [
        walk(tests[:1]),
        walk(tests),
        walk(tests[1:]),
        union(*tests[0], gamma),
        union(fixed, rest.counts("two-sided", fixed), gamma),
        union(every, ranked.counts("two-sided", every), gamma),
    ]


PARTS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "level": level,
    "shapes": shapes,
    "boundary": boundary,
    "chance": chance,
    "curves": curves,
    "faults": faults,
    "rules": rules,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS), metavar="PART")
    parser.add_argument("--audits", type=positive, default=200)
    parser.add_argument("--level-audits", type=positive, default=3_000)
    parser.add_argument("--gamma", type=float, default=0.05)
    parser.add_argument("--canaries", type=positive, nargs="+", default=[100, 1000])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--privacy-meter", type=Path, metavar="AUDIT.py", help="the module of that name in a checkout")
    given = parser.parse_args(arguments)
    return int(any([PARTS[part](given) for part in given.parts]))
