"""Check a finding by itself, its counts taken as given: ``python -P -m dpaudit.verify_finding FILE``.

Bound and verdict are derived from the counts again, with the standard library and the arithmetic by which certificates
are verified. A seal has no key, so whoever changes a bound can seal the file again; the counts then say otherwise.
What does not follow from counts (exact laws, bets, the power stated) is named and not checked.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # it may be a folder that was received, and hold a json.py

import math
from collections.abc import Callable
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
# Bounds above this are not told apart.
MOST = 690.0


def of_fixed_runs(stored: dict[str, Any]) -> None:
    """Raise `ValueError` unless the bounds of an audit with a fixed number of runs are those of its counts."""
    witness = stored["witness"]
    errors = stored["errors"]
    need(math.isclose(sum(errors.values()), 1 - stored["confidence"]), "errors", "1 - confidence in all", errors)
    sides = (witness["trials"], witness["neighbour_trials"])
    tests = stored["tests"]
    if not tests:  # the only one may stand as the witness alone
        only = {name: witness[name] for name in ("hits", "neighbour_hits", "direction", "opposite", "count")
                if name in witness}  # fmt: skip
        tests = [{**only, "error": errors["verdict"], "epsilon_lower": stored["epsilon_lower"]}]
    spent = sum(test["error"] for test in tests)
    need(spent <= errors["verdict"] * (1 + 1e-9), "errors of the tests", "at most that of the verdict", spent)
    for test in tests:
        runs = sides
        if test["direction"] != witness["direction"]:
            runs = sides[::-1]
        of_test(test, runs, stored["delta"])
    best = max(test["epsilon_lower"] for test in tests)
    need(
        stored["epsilon_lower"] == best,
        "epsilon_lower",
        f"the best bound of its tests, {best}",
        stored["epsilon_lower"],
    )


def of_test(test: dict[str, Any], runs: tuple[int, int], delta: float) -> None:
    """Raise `ValueError` unless the bound of one event is that of its hits, or of its guesses of coins."""
    hits = (test["hits"], test["neighbour_hits"])
    need(hits[0] <= runs[0] and hits[1] <= runs[1], "hits", f"at most {runs}", hits)
    stated = test["epsilon_lower"]
    error = test["error"]
    need(0 <= stated <= MOST, "epsilon_lower", f"in [0, {MOST}]", stated)
    if "count" in test:
        right = test["count"]["right"]
        guesses = test["count"]["guesses"]
        need(right <= guesses, "right guesses", f"at most {guesses}", right)
        sides = 2 if "opposite" in test else 1
        rejects = coin_test(right, guesses, sum(runs) * delta * sides / 2, error)
    else:
        rejects = melded_test(hits, runs, delta, error)
    # A bound is the greatest epsilon that is rejected, rounded down.
    follows = (stated <= TOLERANCE or rejects(stated - TOLERANCE)) and not rejects(stated + TOLERANCE)
    need(follows, "epsilon_lower", f"what its counts give, with an error of {error}", stated)


def coin_test(right: int, guesses: int, coins: float, error: float) -> Callable[[float], bool]:
    """Return whether right guesses of coins reject an epsilon, as a function of it."""
    if 2 * right <= guesses:
        return lambda epsilon: False
    wrong = Beta(guesses - right, right - 1)
    return lambda epsilon: wrong.p_value(1 / (1 + math.exp(epsilon)), coins) <= error


def melded_test(
    hits: tuple[int, int], runs: tuple[int, int], delta: float, error: float
) -> Callable[[float], bool]:
    """Return whether hits on both sides reject an epsilon, as a function of it."""
    if hits[0] == 0 or hits[1] == runs[1]:
        return lambda epsilon: False
    first = Beta(hits[0] - 1, runs[0] - hits[0])
    second = Beta(hits[1], runs[1] - hits[1] - 1)
    return lambda epsilon: melded(first, second, math.exp(epsilon), delta) <= error


def of_privacy(stored: dict[str, Any]) -> list[str]:
    """Check a black-box finding; return what of it does not follow from its counts."""
    left = [POWER]
    if stored["design"] == "fixed":
        of_fixed_runs(stored)
    else:
        left.append(BETS)
    refuted = stored["epsilon_lower"] > stored["epsilon"]
    holder = (stored.get("tested_claim") or {}).get("holder") is not None
    if holder:
        left.append(HOLDER)
    broken = {gap["check"] for gap in stored["gaps"] if gap["kind"] == "meaningless"}
    if stored["in_any_state"]:
        broken -= HOLD_RUN_BY_RUN
    if broken:
        possible = ["no evidence"]
    elif refuted:
        possible = ["violation"]
    else:
        possible = ["no evidence" if stored["gaps"] else "consistent"]
        if holder:
            possible.append("violation")
    said_by = f"epsilon >= {stored['epsilon_lower']} and a claim of {stored['epsilon']}"
    need(stored["verdict"] in possible, "verdict", f"{possible[0]!r}, by {said_by}", stored["verdict"])
    return left


def of_utility(stored: dict[str, Any]) -> list[str]:
    """Check a failure rate; return what of it does not follow from its counts."""
    failures = stored["failures"]
    trials = stored["trials"]
    need(failures <= trials, "failures", f"at most {trials}", failures)
    lower = stored["failure_lower"]
    upper = stored["failure_upper"]
    # Which look decided is not stored.
    looks = int(math.log(trials, LOOKS_GROW)) + 2
    errors = [(1 - stored["confidence"]) * 0.5**look for look in range(looks)]
    follows = any(close(lower, lower_end(failures, trials, error / 2)) and
                  close(1 - upper, lower_end(trials - failures, trials, error / 2)) for error in errors)  # fmt: skip
    need(follows, "the interval", f"what {failures} failures of {trials} give", [lower, upper])
    if upper <= stored["beta"]:
        possible = ["holds", "vacuous"]
    elif lower > stored["beta"]:
        possible = ["violation"]
    else:
        possible = ["undecided"]
    need(stored["verdict"] in possible, "verdict", f"{possible[0]!r}, by its interval", stored["verdict"])
    if possible[0] == "holds":
        return ["whether a claim of utility is vacuous"]
    return []


def lower_end(hits: int, runs: int, error: float) -> float:
    """Return the exact lower limit of a probability, given hits of so many runs."""
    if hits == 0:
        return 0.0
    beta = Beta(hits - 1, runs - hits)
    return last(lambda t: beta.mass(beta.grid[0], t, PANELS) <= error, beta.grid[0], beta.grid[-1])


def close(one: float, other: float) -> bool:
    """Return whether two rates differ by no more than quadrature does."""
    return math.isclose(one, other, rel_tol=RATE_TOLERANCE, abs_tol=RATE_TOLERANCE)


CHECKS = {"privacy": of_privacy, "utility": of_utility}


def checked(stored: dict[str, Any]) -> list[str]:
    """Return what of a finding as JSON data does not follow from its counts; `ValueError` if what does differs."""
    kind = stored["kind"]
    if kind not in CHECKS:
        return [LAWS if kind in ("exact", "supremum") else f"findings of the kind {kind!r:.40}"]
    return CHECKS[kind](stored)


def verify(data: bytes) -> tuple[int, str]:
    """Return the status, 0 right, 1 wrong, 3 not decided by the file alone, and a line; `ValueError` is status 2."""
    stored = parsed(data)
    need(isinstance(stored, dict) and isinstance(stored.get("kind"), str), "the file", "a finding in JSON", stored)
    try:
        left = checked(stored)
    except ValueError as error:
        return 1, f"wrong: {error}"
    rest = f"; not checked: {', '.join(left)}" if left else ""
    if stored["kind"] not in CHECKS:
        return 3, f"not recomputed: {', '.join(left)}"
    return 0, f"right: bound and verdict {stored['verdict']!r} follow from the counts{rest}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], verify))
