"""The exact (Clopper-Pearson) interval of a failure rate, and the three-valued verdict on a bound for it."""

from __future__ import annotations

import math

from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.contract import ConceptClass, UtilityVerdict
from dpaudit.errors import InputError

# The error of a guess.
GUESS = 0.5
# By how much each look has more runs: an interval is then about half as long.
GROWTH = 4


def failure_interval(failures: int, trials: int, confidence: float) -> tuple[float, float]:
    """Return a two-sided interval that holds the failure rate with probability at least `confidence`.

    With F failures in N independent trials and a = (1 - confidence) / 2 the ends solve

        Pr[Bin(N, lower) >= F] = a    and    Pr[Bin(N, upper) <= F] = a,

    that is, they are the a-quantile of Beta(F, N - F + 1) and the (1 - a)-quantile of Beta(F + 1, N - F);
    lower is 0 if F = 0 and upper is 1 if F = N. Each end alone errs with probability at most a; both stand a little
    outside, which covers rounding (`dpaudit.bounds.limits`).

    References
    ----------
    C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26 (1934).
    """
    if not 0 < confidence < 1:
        raise InputError.of("confidence", confidence, "in (0, 1)")
    if not 0 <= failures <= trials or trials < 1:
        raise InputError(
            f"failures must be in 0 .. trials and trials >= 1, got {failures!r} of {trials!r}",
            parameter="failures",
            value=failures,
        )
    # Each of the two ends gets half of the error.
    tail = (1 - confidence) / 2
    return float(lower_limit(failures, trials, tail)), float(upper_limit(failures, trials, tail))


def verdict(lower: float, upper: float, claimed: float, vacuous: bool = False) -> UtilityVerdict:
    """Return "holds" if an interval is at most what is claimed, "violation" if it exceeds that, else "undecided".

    For a vacuous claim "vacuous" replaces "holds"; one that fails is still a violation.
    """
    if upper <= claimed:
        return UtilityVerdict.VACUOUS if vacuous else UtilityVerdict.HOLDS
    if lower > claimed:
        return UtilityVerdict.VIOLATION
    return UtilityVerdict.UNDECIDED


def size_of(concepts: ConceptClass) -> int | None:
    """Return the number of concepts of a class; None where they are too many to be counted."""
    try:
        return concepts.size
    except InputError:
        return None


def is_vacuous(alpha: float, beta: float, setting: str, concepts: ConceptClass) -> bool:
    """Return whether a claim Pr[error > alpha] <= beta promises next to nothing, for a class of concepts.

    - alpha is 1/2 or more: a learner that returns one of the two constant labellings by the toss of a coin errs on at
      most half of any distribution with probability 1/2 at least. In the setting "solution" alpha plays no part.
    - beta is 1 - 1/size or more: a random concept is the right one with probability 1/size. With two concepts that is
      1/2; with many, beta = 1/2 promises a lot.
    """
    if setting != "solution" and alpha >= GUESS:
        return True
    # Only a large beta asks for the size, which some classes take long to count and others cannot.
    if beta < GUESS:
        return False
    size = size_of(concepts)
    return size is not None and beta >= 1 - 1 / size


def deciding_trials(trials: int, most: int | None, beta: float, confidence: float) -> int:
    """Return how many trials the first look should have: so many that no failure among them decides, if they are few.

    No failure in N trials has the upper end 1 - a^(1/N), where a is half of the first look's error, which is at most
    beta from N = ln(a) / ln(1 - beta) on. Where that is more than the second look would have, or less than `trials`,
    it is `trials`.
    """
    tail = (1 - looks(trials, most, confidence)[0][1]) / 2
    # One more covers that the ends of intervals stand a little outside.
    enough = math.ceil(math.log(tail) / math.log1p(-beta)) + 1
    if most is not None and trials < enough < min(GROWTH * trials, most):
        return enough
    return trials


def looks(trials: int, most: int | None, confidence: float) -> list[tuple[int, float]]:
    """Return the looks at a failure rate, as runs and the interval's confidence: each has four times as many runs.

    The first has half of the probability of error, the next a quarter, and so on; the last one has what is left. So by
    the union bound all their intervals hold together with probability `confidence`, whichever look decides.
    """
    sizes = [trials]
    while most is not None and GROWTH * sizes[-1] <= most:
        sizes.append(GROWTH * sizes[-1])
    if len(sizes) == 1:
        return [(trials, confidence)]
    shares = [0.5 ** min(i, len(sizes) - 1) for i in range(1, len(sizes) + 1)]
    return [(size, 1 - share * (1 - confidence)) for size, share in zip(sizes, shares, strict=True)]
