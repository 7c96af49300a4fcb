"""Check a finding by itself, its counts taken as given: ``python -P -m dpaudit.verify_finding FILE``.

Bound and verdict are derived from the counts again, with the standard library and the arithmetic by which certificates
are verified. A seal has no key, so whoever changes a bound can seal the file again; the counts then say otherwise.
What does not follow from counts (exact laws, bets, the power stated) is named and not checked; of a law its verdict is
held against the epsilon that it states.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # it may be a folder that was received, and hold a json.py

import math
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

from dpaudit.certificate_grammar import main, need, parsed
from dpaudit.verify_certificate import PANELS, TOLERANCE, Beta, last, melded

# A failure rate is computed by quadrature here and by other means in audits.
RATE_TOLERANCE = 1e-5
# Later looks at a failure rate have half of the error of the one before, and four times as many runs.
LOOKS_GROW = 4
# With these checks failed, bets on single runs still hold.
HOLD_RUN_BY_RUN = {"state", "process"}
POWER = "the power stated"
BETS = "bets"
LAWS = "exact laws"
HOLDER = "the evidence by Holder's inequality"
CURVES = "the p-value of a claim that is a curve"
ASSUMED = "bounds under assumptions"
DISTANCES = "distances"
VACUITY = "whether a claim of utility is vacuous"
MANY_GUESSES = "the p-value of more guesses than are computed here"
# Audits lower errors by 1e-6, relatively; where delta makes a p-value flat, that is more of epsilon than its tolerance.
MARGIN = 1e-5
# Bounds above this are not told apart.
MOST = 690.0
# Scores that run the other way have this share of the error of one training, the others the rest.
SHARES = {True: 0.1, False: 0.9}
# Distances of floats may exceed a claim by this share of it.
ROUNDING = 1e-9
# The law of right guesses is convolved step by step, which takes seconds from here on.
MOST_GUESSES = 2**15
# Probabilities of single counts that are left out.
NEGLECTED = 1e-22
# Audits bound a factor of tiny tails from above, by up to 2e-4 of the p-value; below the second all count as equal.
P_TOLERANCE = 1e-3
LEAST_P = 1e-12
# Bounds of one training are read off a grid: 200 equal steps up to the claim, then steps of half a percent.
GRID_PARTS = 200
GRID_FACTOR = 1.005


def of_fixed_runs(stored: dict[str, Any]) -> None:
    """Raise `ValueError` unless the bounds of an audit with a fixed number of runs are those of its counts."""
    witness, errors = stored["witness"], stored["errors"]
    sides = witness["trials"], witness["neighbour_trials"]
    tests = stored["tests"]
    if not tests:  # the only one may stand as the witness alone
        tests = [{**witness, "error": errors["verdict"], "epsilon_lower": stored["epsilon_lower"]}]
    spent = sum(test["error"] for test in tests)
    need(spent <= errors["verdict"] * (1 + 1e-9), "errors of the tests", "at most that of the verdict", spent)
    for test in tests:
        runs = sides if test["direction"] == witness["direction"] else sides[::-1]
        of_test(test, runs, stored["delta"])
    best = max(test["epsilon_lower"] for test in tests)
    stated = stored["epsilon_lower"]
    need(stated == best, "epsilon_lower", f"the best bound of its tests, {best}", stated)
    shown = [counts_of(test) for test in tests if test["epsilon_lower"] == best]
    need(counts_of(witness) in shown, "the witness", "the event of the best bound", witness["hits"])
    # A fair coin decides the input of each run, so that the sides differ and their sum is fixed.
    runs = stored["confirmation_trials"]
    need(sum(sides) == 2 * runs, "runs of the witness", f"twice confirmation_trials, {2 * runs}", sum(sides))
    budget = stored["budget"]
    need(runs <= budget["confirmation"], "confirmation_trials", f"at most {budget['confirmation']}", runs)
    whole = sum(budget.values())
    need(stored["trials"] == whole, "trials", f"the sum of the budget, {whole}", stored["trials"])


def counts_of(one: dict[str, Any]) -> list[str | int | None]:
    """Return what a test and the witness that shows it have in common."""
    return [one[name] for name in ("direction", "event", "hits", "neighbour_hits")] + [one.get("count")]


def of_test(test: dict[str, Any], runs: tuple[int, int], delta: float) -> None:
    """Raise `ValueError` unless the bound of one event is that of its hits, or of its guesses of coins."""
    hits = test["hits"], test["neighbour_hits"]
    need(hits[0] <= runs[0] and hits[1] <= runs[1], "hits", f"at most {runs}", hits)
    stated = number(test["epsilon_lower"])
    error = test["error"]
    need(0 <= stated <= MOST, "epsilon_lower", f"in [0, {MOST}]", stated)
    if "count" in test:
        right, guesses = test["count"]["right"], test["count"]["guesses"]
        need(right <= guesses, "right guesses", f"at most {guesses}", right)
        if "opposite" not in test:
            of_guesses(hits, right, guesses)
        # `dpaudit.bounds.coin` has the theorem: m delta, half of it where only one side is ever guessed.
        coins = sum(runs) * delta / 2
        if "opposite" in test:
            coins *= 2
        p_value = coin_p_value(right, guesses, coins)
    else:
        p_value = melded_p_value(hits, runs, delta)
    need(is_bound(stated, p_value, error), "epsilon_lower", f"what its counts give, with an error of {error}", stated)


def of_guesses(hits: tuple[int, int], right: int, guesses: int) -> None:
    """Raise `ValueError` unless guesses that name one side alone can be those of the hits.

    Each run in the event is a guess, right on the likelier side. Of more than were planned some are taken at random,
    and fair coins stand for those that are missing.
    """
    missing = max(0, guesses - sum(hits))
    need(right <= hits[0] + missing, "hits", f"at least the right guesses, {right}", hits[0])
    wrong = guesses - right
    need(wrong <= hits[1] + missing, "neighbour_hits", f"at least the wrong guesses, {wrong}", hits[1])


def is_bound(stated: float, p_value: Callable[[float], float], error: float) -> bool:
    """Return whether a bound is the greatest epsilon whose p-value is at most an error, rounding apart."""
    if stated > TOLERANCE and p_value(stated - TOLERANCE) > error * (1 + MARGIN):
        return False
    return p_value(stated + TOLERANCE) > error * (1 - MARGIN)


def coin_p_value(right: int, guesses: int, coins: float) -> Callable[[float], float]:
    """Return the p-value of right guesses of coins as a function of epsilon."""
    if 2 * right <= guesses:
        return lambda epsilon: 1.0
    wrong = Beta(guesses - right, right - 1)
    return lambda epsilon: wrong.p_value(1 / (1 + math.exp(epsilon)), coins)


def melded_p_value(hits: tuple[int, int], runs: tuple[int, int], delta: float) -> Callable[[float], float]:
    """Return the p-value of hits on both sides as a function of epsilon."""
    if hits[0] == 0 or hits[1] == runs[1]:
        return lambda epsilon: 1.0
    first = Beta(hits[0] - 1, runs[0] - hits[0])
    second = Beta(hits[1], runs[1] - hits[1] - 1)
    return lambda epsilon: melded(first, second, math.exp(epsilon), delta)


def of_privacy(stored: dict[str, Any]) -> list[str]:
    """Check a black-box finding; return what of it does not follow from its counts."""
    left = [POWER]
    errors = stored["errors"]
    need(math.isclose(sum(errors.values()), 1 - stored["confidence"]), "errors", "1 - confidence in all", errors)
    if stored["design"] == "fixed":
        of_fixed_runs(stored)
    else:
        # Bets are on no single event, so that a finding with counts is not one of them.
        design = stored["design"]
        need(not stored["tests"] and stored["witness"]["hits"] is None, "design", "'fixed' where events count", design)
        left.append(BETS)
    lower = number(stored["epsilon_lower"])
    need(lower <= MOST, "epsilon_lower", "a bound that runs can show", stored["epsilon_lower"])
    refuted = lower > number(stored["epsilon"])
    holder = (stored.get("tested_claim") or {}).get("holder") is not None
    if holder:
        left.append(HOLDER)
    broken = {gap["check"] for gap in stored["gaps"] if gap["kind"] == "meaningless"}
    if broken - (HOLD_RUN_BY_RUN if stored["in_any_state"] else set()):
        possible = ["no evidence"]
    elif refuted:
        possible = ["violation"]
    else:
        possible = ["consistent"]
        if stored["gaps"]:
            possible = ["no evidence"]
        elif stored["verdict"] == "consistent":
            able = stored["detectable_epsilon"]
            need(able != "inf", "detectable_epsilon", "finite if the verdict is 'consistent'", able)
        if holder:
            possible.append("violation")
    said_by = f"epsilon >= {stored['epsilon_lower']} and a claim of {stored['epsilon']}"
    need(stored["verdict"] in possible, "verdict", f"{possible[0]!r}, by {said_by}", stored["verdict"])
    return left


def of_utility(stored: dict[str, Any]) -> list[str]:
    """Check a failure rate; return what of it does not follow from its counts."""
    failures, trials = stored["failures"], stored["trials"]
    need(failures <= trials, "failures", f"at most {trials}", failures)
    lower, upper = stored["failure_lower"], stored["failure_upper"]
    # Which look decided is not stored.
    looks = int(math.log(trials, LOOKS_GROW)) + 2
    errors = [(1 - stored["confidence"]) * 0.5**look for look in range(looks)]
    follows = any(is_interval(lower, upper, failures, trials, error) for error in errors)
    need(follows, "the interval", f"what {failures} failures of {trials} give", [lower, upper])
    return by_interval(stored["verdict"], lower, upper, stored["beta"])


def by_interval(verdict: str, lower: float, upper: float, claimed: float) -> list[str]:
    """Check that a verdict on utility is that of an interval; return what the interval does not decide."""
    if upper <= claimed:
        possible = ["holds", "vacuous"]
    elif lower > claimed:
        possible = ["violation"]
    else:
        possible = ["undecided"]
    need(verdict in possible, "verdict", f"{possible[0]!r}, by its interval", verdict)
    if possible[0] == "holds":
        return [VACUITY]
    return []


def of_sample_complexity(stored: dict[str, Any]) -> list[str]:
    """Check that the verdict on a sample complexity is that of the sizes that it states."""
    found = stored["suffices"]
    if stored["reason"] == "certificate":
        found = stored["upper"]
    upper = math.inf if found is None else found
    return ["the sizes", *by_interval(stored["verdict"], stored["lower"] + 1, upper, stored["theorem"])]


def is_interval(lower: float, upper: float, failures: int, trials: int, error: float) -> bool:
    """Return whether these are the exact limits of a failure rate, half of the error on either side."""
    if not close(lower, lower_end(failures, trials, error / 2)):
        return False
    return close(1 - upper, lower_end(trials - failures, trials, error / 2))


def lower_end(hits: int, runs: int, error: float) -> float:
    """Return the exact lower limit of a probability, given hits of so many runs."""
    if hits == 0:
        return 0.0
    beta = Beta(hits - 1, runs - hits)
    return last(lambda t: beta.mass(beta.grid[0], t, PANELS) <= error, beta.grid[0], beta.grid[-1])


def close(one: float, other: float) -> bool:
    """Return whether two rates differ by no more than quadrature does."""
    return math.isclose(one, other, rel_tol=RATE_TOLERANCE, abs_tol=RATE_TOLERANCE)


class RankedGuesses:
    """The test of one training at one delta: right guesses among the surest, for each number of a schedule."""

    def __init__(self, numbers: list[int], right: list[int], coins: float) -> None:
        self.numbers = numbers
        self.right = right
        # The coins that may be given away by delta: m delta, half of it where only one side is guessed.
        self.coins = coins
        self.steps = [after - before for before, after in pairwise([0, *numbers])]

    def of_one(self, right: int, guesses: int, epsilon: float) -> float:
        """Return the p-value of one number of guesses; 1 for no more right ones than are expected."""
        wrong = 1 / (1 + math.exp(epsilon))
        if right <= guesses * (1 - wrong):
            return 1.0
        return min(1.0, Beta(guesses - right, right - 1).p_value(wrong, self.coins))

    def p_value(self, epsilon: float) -> float:
        """Return the p-value of the schedule: the least one, corrected for having been chosen by the outcome."""
        least = min(map(self.of_one, self.right, self.numbers, [epsilon] * len(self.numbers)))
        by_union = min(1.0, len(self.numbers) * least)
        if len(self.numbers) == 1 or least == 1:
            return by_union
        critical = [self.critical(number, least, epsilon) for number in self.numbers]
        found = self.crossing(critical, epsilon)
        if self.coins:
            share = max(largest_share(step, epsilon) for step in {*self.steps})
            found += self.coins * min(1 / (1 + math.exp(epsilon)), share)
        return min(by_union, found)

    def critical(self, guesses: int, level: float, epsilon: float) -> int:
        """Return the least count with a p-value of at most a level; one more than the guesses if there is none."""
        low = 0
        high = guesses + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.of_one(middle, guesses, epsilon) <= level:
                high = middle
            else:
                low = middle
        return high

    def crossing(self, critical: list[int], epsilon: float) -> float:
        """Return the probability that independent guesses, each right with p = 1 / (1 + e^-epsilon), reach a count."""
        law = {0: 1.0}
        crossed = 0.0
        for step, count in zip(self.steps, critical, strict=True):
            masses = binomial(step, epsilon)
            after: dict[int, float] = {}
            for before, probability in law.items():
                for more, mass in masses.items():
                    after[before + more] = after.get(before + more, 0.0) + probability * mass
            crossed += math.fsum(mass for right, mass in after.items() if right >= count)
            law = {right: mass for right, mass in after.items() if right < count and mass > NEGLECTED}
        return crossed


def binomial(n: int, epsilon: float) -> dict[int, float]:
    """Return the law of right guesses among n independent ones, without counts that hardly ever occur."""
    log_right = -math.log1p(math.exp(-epsilon))
    log_wrong = log_right - epsilon
    ways = math.lgamma(n + 1)
    found = {}
    for k in range(n + 1):
        mass = ways - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_right + (n - k) * log_wrong
        if mass > math.log(NEGLECTED):
            found[k] = math.exp(mass)
    return found


def largest_share(n: int, epsilon: float) -> float:
    """Return the greatest B_v (1 - B_v) / (v b_v) of the law b of right guesses, with tails B: a share of delta."""
    law = binomial(n, epsilon)
    tails = list(accumulate(reversed(law.values())))[::-1]
    # Summed from below: where the tail is nearly 1, 1 - tail has no digits left.
    below = accumulate(law.values(), initial=0.0)
    shares = [min(tail, 1.0) * rest / (v * law[v]) for v, tail, rest in zip(law, tails, below, strict=False) if v]
    return max(shares, default=0.0)


def of_one_run(stored: dict[str, Any]) -> list[str]:
    """Check the finding of one training; return what of it does not follow from its guesses."""
    numbers = [one["guesses"] for one in stored["schedule"]]
    right = [one["right"] for one in stored["schedule"]]
    canaries = stored["canaries"] * stored["runs"]
    need(numbers == sorted({*numbers}), "the numbers of guesses", "increasing", numbers)
    need(numbers[-1] <= canaries, "the numbers of guesses", f"at most {canaries}", numbers[-1])
    need(all(map(int.__le__, right, numbers)), "right guesses", f"at most {numbers}", right)
    gamma = 1 - stored["confidence"]
    share = SHARES[stored["reversed"]] if "reversed" in stored else 1.0
    error = gamma * share
    coins = canaries * stored["delta"]
    if stored["ranking"] == "in":
        coins /= 2
    guesses = RankedGuesses(numbers, right, coins)
    left = [POWER, ASSUMED]
    lower = number(stored["epsilon_lower"])
    need(0 <= lower <= MOST, "epsilon_lower", f"in [0, {MOST}]", stored["epsilon_lower"])
    need(stored["epsilon"] <= MOST, "epsilon", f"at most {MOST}", stored["epsilon"])
    if "curve_claim" in stored:
        left.append(CURVES)
        each = [coin_p_value(*counts, coins) for counts in zip(right, numbers, strict=True)]
        follows = is_bound(lower, lambda epsilon: min(one(epsilon) for one in each), error / len(numbers))
        need(follows, "epsilon_lower", f"what its guesses give, with an error of {error}", lower)
    elif numbers[-1] > MOST_GUESSES:
        left.append(MANY_GUESSES)
    else:
        found = min(1.0, guesses.p_value(stored["epsilon"]) / share)
        # Below the mean of the guesses audits take a coarser term for delta, at p-values that refute nothing.
        alike = math.isclose(stored["p_value"], found, rel_tol=P_TOLERANCE, abs_tol=LEAST_P)
        alike = alike or min(stored["p_value"], found) > 0.4
        need(alike, "p_value", f"what its guesses give, {found}", stored["p_value"])
        scale = stored["epsilon"] or 1.0
        further = lower + scale / GRID_PARTS
        if lower >= scale:
            further = lower * GRID_FACTOR
        follows = not lower or guesses.p_value(lower) <= error * (1 + P_TOLERANCE)
        follows = follows and guesses.p_value(further) > error * (1 - P_TOLERANCE)
        need(follows, "epsilon_lower", f"what its guesses give, with an error of {error}", lower)
    possible = "consistent"
    if stored["gaps"]:
        possible = "no evidence"
    if stored["p_value"] <= gamma:
        possible = "violation"
    need(stored["verdict"] == possible, "verdict", f"{possible!r}, by its p-value", stored["verdict"])
    return left


def of_law(stored: dict[str, Any]) -> list[str]:
    """Check that the verdict on an exact law is that of the epsilon or the delta that it states."""
    claimed = stored["claimed_epsilon"]
    refuted = stored["verdict"] == "violation"
    need(refuted or stored["verdict"] == "consistent", "verdict", "'violation' or 'consistent'", stored["verdict"])
    if claimed is not None and stored["claimed_delta"]:
        delta = stored["delta_at_claim"]
        # What a law states of delta is as exact as a ratio of its probabilities.
        room = math.expm1(min(number(stored["error"]), 1.0)) + 1e-9
        follows = delta > stored["claimed_delta"] if refuted else delta <= stored["claimed_delta"] + room
    elif claimed is not None:
        least = number(stored["epsilon"]) - number(stored["error"])
        if stored["enclosure"] is not None:
            least = number(stored["enclosure"][0])
        follows = refuted == (least > number(claimed))
    else:
        follows = not refuted
    need(follows, "verdict", "that of the epsilon stated", stored["verdict"])
    return [LAWS]


def of_supremum(stored: dict[str, Any]) -> list[str]:
    """Check that the verdict on a supremum is that of the values that it states."""
    claimed = stored["claimed_epsilon"]
    if claimed is None or not stored["claimed_delta"]:
        found = number(stored["value"]) - number(stored["error"])
        attained = number(stored["attained"]) - number(stored["attained_error"])
        refuted = claimed is not None and max(found, attained) > number(claimed)
        need((stored["verdict"] == "violation") == refuted, "verdict", "that of its value", stored["verdict"])
    return [LAWS]


def of_sensitivity(stored: dict[str, Any]) -> list[str]:
    """Check that the verdict on a sensitivity is that of the distance that it states."""
    claimed = number(stored["sensitivity"])
    distance = number(stored["distance"])
    room = claimed
    if stored["rounded"]:
        room *= 1 + ROUNDING
    if stored["verdict"] == "violation":
        # A distance that exceeds the claim by less than a float shows is stored as the claim.
        follows = bool(stored["infinite"]) or distance >= claimed
    else:
        follows = not stored["infinite"] and distance <= room
        follows = follows and (stored["verdict"] == "not refuted") == (stored["moved"] > 0)
    need(follows, "verdict", f"that of a distance of {distance}", stored["verdict"])
    return [DISTANCES]


def of_recorded_noise(stored: dict[str, Any]) -> list[str]:
    """Check that the verdict on recorded noise is that of what it says is wrong."""
    refuted = stored["wrong_sensitivity"] or stored["wrong_epsilon"]
    need((stored["verdict"] == "violation") == refuted, "verdict", "that of what is wrong", stored["verdict"])
    return [DISTANCES]


def number(value: Any) -> float:
    """Return a number of JSON, where infinities are texts."""
    return float(value)


CHECKS = {
    "privacy": of_privacy,
    "utility": of_utility,
    "one run": of_one_run,
    "exact": of_law,
    "supremum": of_supremum,
    "sensitivity": of_sensitivity,
    "recorded noise": of_recorded_noise,
    "sample-complexity": of_sample_complexity,
}
# The kinds whose bound or verdict the counts alone decide.
DECIDED = ("privacy", "utility", "one run")
# What decides a finding of these kinds in the place of its counts, and is not derived here.
DECIDES = {BETS, CURVES, MANY_GUESSES}


def checked(stored: dict[str, Any]) -> list[str]:
    """Return what of a finding as JSON data does not follow from its counts; `ValueError` if what does differs."""
    kind = stored["kind"]
    if kind not in CHECKS:
        return [f"findings of the kind {kind!r:.40}"]
    return CHECKS[kind](stored)


def by_counts(stored: dict[str, Any], left: list[str]) -> bool:
    """Return whether bound and verdict of a finding were derived from its counts, given what was left out."""
    if DECIDES & {*left}:
        return False
    # The evidence by Holder's inequality can only add a violation to what the counts show.
    by_holder = HOLDER in left and stored["verdict"] == "violation"
    return not by_holder or number(stored["epsilon_lower"]) > number(stored["epsilon"])


def verify(data: bytes) -> tuple[int, str]:
    """Return the status, 0 right, 1 wrong, 3 not decided by the file alone, and a line; `ValueError` is status 2."""
    stored = parsed(data)
    need(isinstance(stored, dict) and isinstance(stored.get("kind"), str), "the file", "a finding in JSON", stored)
    try:
        left = checked(stored)
    except ValueError as error:
        return 1, f"wrong: {error}"
    rest = f"; not checked: {', '.join(left)}" if left else ""
    if stored["kind"] not in DECIDED or not by_counts(stored, left):
        return 3, f"not recomputed: {', '.join(left)}"
    return 0, f"right: bound and verdict {stored['verdict']!r} follow from the counts{rest}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], verify))
