"""Growth by log* of the domain: how many points RecConcave, TreeLog and the exponential mechanism need."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpaudit.contract import Evidence, Tools
from learners.bisection import least_beyond
from learners.citations import BMNS
from learners.interior_points.interior_point import ExponentialSolver
from learners.mechanisms.rec_concave import RecConcave
from learners.mechanisms.steps import Steps, interior_scores
from learners.mechanisms.tree_log import TreeLog
from learners.papers.evidence import judged, states

__all__ = ["STATEMENTS", "exponential_needs", "rec_concave_needs", "tree_log_fallback_needs"]

EPSILON, DELTA, BETA = Fraction(1), 1e-6, 0.1
HALF = Fraction(1, 2)
STAIRS = (6, 12, 20, 32, 48, 64)
"""log2 of the domains up to 2^64."""
SKIPPED = 1e-4
"""By at most this the failure rate beyond 2^64 is overestimated."""
HUGE = 2**16
"""log2 of the domain beyond."""


def exponential_needs(bits: int, epsilon: Fraction = EPSILON) -> int:
    """Return n* of the exponential mechanism on 2^bits points: two adjacent ones have half of the data each."""
    solver = ExponentialSolver(2**bits, epsilon)

    def failure(n: int) -> float:
        middle, scores = _close_pair(solver.size, n)
        return float(scores.outside(solver.rate, middle, middle + 1))

    return _needed(failure)


def rec_concave_needs(bits: int, guess: int = 0) -> tuple[int, int]:
    """Return n* of RecConcave on the same data, and its levels of recursion; a right guess spares the search."""

    def mechanism(n: int) -> RecConcave:
        return RecConcave.within(2**bits - 1, Fraction(n, 2), HALF, EPSILON, DELTA)

    def failure(n: int) -> float:
        middle, scores = _close_pair(2**bits, n)
        return mechanism(n).outside(scores, middle, middle + 1, SKIPPED if bits > 64 else 0.0)

    right = guess > 1 and failure(guess) <= BETA < failure(guess - 1)
    return guess if right else _needed(failure), mechanism(1).levels


def tree_log_fallback_needs(bits: int) -> tuple[int, bool, int]:
    """Return n* of TreeLog where it falls back, whether it does at that n, and the n that its theorem asks for.

    With too few points for its recursion TreeLog runs the exponential mechanism with its share of epsilon.
    """
    share = TreeLog.within(2**bits, 1, EPSILON, DELTA, BETA)
    n = exponential_needs(bits, share.epsilon)
    tree = TreeLog.within(2**bits, n, EPSILON, DELTA, BETA)
    return n, tree.inner is None, tree.points_needed


def _close_pair(size: int, n: int) -> tuple[int, Steps]:
    """Return the first of two points side by side with half of n points each, and the scores of the domain."""
    middle = size // 2
    return middle, interior_scores([middle, middle + 1], [n - n // 2, n // 2], size)


def _needed(failure: Callable[[int], float]) -> int:
    """Return the least n >= 2 at which a failure rate that falls with n is at most `BETA`."""
    most = 4
    while failure(most) > BETA:
        most *= 2
    return least_beyond(lambda n: failure(n) <= BETA, most // 2, most)


@states(
    "BMNS-Prop2.11-log-star",
    "The points that RecConcave needs depend on the domain X by log*|X| alone; those of the exponential mechanism grow "
    "like ln|X|, so that RecConcave needs fewer on a large enough domain.",
    f"{BMNS}, Proposition 2.11",
    short="Growth by log* of the domain",
    printed="log*|X|",
    found="{RecConcave, 2^64:,.0f} at 2^64, {RecConcave, 2^65536:,.0f} at 2^(2^16)",
    slow=True,
)
def _log_star(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    levels: dict[int, set[int]] = {}
    n = 0
    for bits in (*STAIRS, HUGE):
        n, depth = rec_concave_needs(bits, n)
        levels.setdefault(depth, set()).add(n)
        numbers |= {f"RecConcave, 2^{bits}": n, f"levels, 2^{bits}": depth}
        numbers[f"exponential, 2^{bits}"] = exponential_needs(bits)
    branches = []
    for bits in (12, 16, 64):
        n, fell_back, asked = tree_log_fallback_needs(bits)
        numbers |= {f"TreeLog, 2^{bits}": n, f"TreeLog asks for, 2^{bits}": asked}
        branches.append(fell_back)
    spread = max(max(sizes) / min(sizes) for sizes in levels.values())
    gain = numbers[f"exponential, 2^{HUGE}"] / numbers[f"RecConcave, 2^{HUGE}"]
    a_bit = (numbers["TreeLog, 2^64"] - numbers["TreeLog, 2^16"]) / 48
    numbers |= {"spread within a level": spread, "gain at 2^65536": gain, "TreeLog, examples a bit": a_bit}
    steps = ", ".join(f"{depth} levels {min(sizes)} to {max(sizes)}" for depth, sizes in sorted(levels.items()))
    summary = (
        f"two adjacent points, n/2 each, epsilon 1, delta 1e-6, beta 0.1: {steps}, a factor of at most {spread:.3f} "
        f"within a level. Up to 2^64 the exponential mechanism needs fewer ({numbers['exponential, 2^64']:.0f} there); "
        f"on 2^(2^16) points it needs {numbers[f'exponential, 2^{HUGE}']:,.0f}, {gain:.0f} times as many. TreeLog's n* "
        f"grows by {a_bit:.1f} a bit from 2^16 to 2^64, "
        + ("all of them from its fallback, the exponential mechanism" if all(branches) else "its recursion included")
        + f": its recursion starts near the {numbers['TreeLog asks for, 2^64']:.0f} that its theorem asks for"
    )
    return judged(
        "holds",
        summary,
        numbers,
        f"two adjacent points on 2^{HUGE}, or within a level",
        {"kind": "sizes", "epsilon": EPSILON, "delta": DELTA, "beta": BETA, "points": numbers},
        failed=spread > 1.1 or gain <= 1,
        grade="numeric",
    )


STATEMENTS = (_log_star,)
