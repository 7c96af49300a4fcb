"""The worst case of exponential mechanisms in a row, each among points of a depth that the ones before leave.

Selection i is among K_i candidates, with probability proportional to exp(rate depth), and the best of them is as deep
as what was selected before; the first finds a depth of g at least. It loses more than t with probability at most

    psi((K_i - 1) exp(-rate t)),    psi(x) = x/(1 + x),

which is the probability that it has for K_i - 1 candidates at that depth and one at the best. What remains is a Markov
chain on depths; its worst law has these tails, and the chance that g is lost altogether follows by recursion, whatever
the sample is. It falls with g.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpaudit.contract import CaseFamily, InputError, WorstFailure

# Longer recursions over depths, each of which costs the square, are not made.
MOST_GAP = 2**11

_PROOF = (
    "the best candidate of a selection is as deep as the one before, and K - 1 others at a depth are chosen with "
    "probability (K - 1) exp(-rate t)/(1 + (K - 1) exp(-rate t)) at most; the losses of all selections add up as a "
    "Markov chain with these tails"
)
_MISSING = (
    "a sample on which all candidates but one are so shallow in every selection, or the depths that samples of this "
    "grid can have"
)
# The names of the numbers of candidates in a certificate.
AXES = ("first", "second", "third")


def gap_at(n: int, part: Fraction, strict: bool) -> int:
    """Return the depth that may not be lost: the least integer from n part on, or above it."""
    if strict:
        return math.floor(n * part) + 1
    return math.ceil(n * part)


def lost(sizes: Sequence[int], rate: float, gap: int) -> float:
    """Return a bound on the probability that selections among so many candidates lose `gap` together."""
    if gap > MOST_GAP:
        raise InputError(f"a recursion over {gap} depths is too long for the worst case")
    # chance[g] is that of losing the g that are left; nothing is left at 0.
    chance = np.append(1.0, np.zeros(gap))
    steps = np.arange(gap + 1)
    for size in reversed(sizes):
        odds = (size - 1) * np.exp(-rate * steps)
        # With probability tails[t] a selection loses t or more, t >= 1.
        tails = odds / (1 + odds)
        falls = chance[:-1] - chance[1:]
        # From g to g - t: the chance rises by falls[g - t].
        chance = chance + np.append(0.0, np.convolve(falls, tails[1:])[:gap])
    return float(min(1.0, chance[gap]))


def selections_failure(sizes: Sequence[int], rate: float, n: int, part: Fraction, *, strict: bool) -> WorstFailure:
    """Return the upper end for n examples, of which the share `part` may not be lost."""
    numbers = {
        "rate": rate, "numerator": part.numerator, "denominator": part.denominator, "strict": int(strict),
        **dict(zip(AXES, sizes, strict=False)),
    }  # fmt: skip
    upper = lost(sizes, rate, gap_at(n, part, strict))
    return WorstFailure(0.0, upper, CaseFamily.SELECTIONS, numbers, _PROOF, _MISSING)
