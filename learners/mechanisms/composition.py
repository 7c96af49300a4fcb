"""The guarantee of a sequence of private calls: the accountant from which every claim is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, groupby, repeat

from dpaudit.contract import InputError

from ..bisection import last

Share = float | Fraction


@dataclass(frozen=True)
class Cost:
    """The guarantee (epsilon, delta) of one call, as exact rationals, so that shares add up to the whole."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def for_group(self, size: int) -> Cost:
        """Return the guarantee for inputs that differ in up to `size` elements.

        Along a chain of neighbours, P_0(T) <= e^eps P_1(T) + delta <= ..., so P_0(T) <= e^(k eps) P_k(T) +
        delta (1 + e^eps + ... + e^((k-1) eps)).
        """
        if not self.delta:
            return Cost(size * self.epsilon)
        # 1 + e^epsilon + .. + e^((k - 1) epsilon).
        growth = sum((Fraction(math.exp(float(i * self.epsilon))) for i in range(1, size)), Fraction(1))
        return Cost(size * self.epsilon, self.delta * growth)


def basic(calls: Sequence[Cost]) -> Cost:
    """Return (sum of epsilons, sum of deltas): basic composition, adaptive choice of the calls allowed."""
    return Cost(_total(c.epsilon for c in calls), _total(c.delta for c in calls))


def _total(shares: Iterable[Fraction]) -> Fraction:
    """Return the sum, with one product for equal neighbours: rationals are slow, and most calls are alike."""
    return sum((share * len(list(alike)) for share, alike in groupby(shares)), Fraction(0))


def advanced(calls: Sequence[Cost], slack: Share) -> Cost:
    """Return the guarantee of the calls together by advanced composition with `slack` added to delta.

    epsilon = sum e_i tanh(e_i / 2) + sqrt(2 ln(1/slack) sum e_i^2), delta = sum delta_i + slack.

    An (e_i, delta_i)-private call is, on two fixed inputs, a post-processing of one that shows the input with
    probability delta_i and is otherwise randomised response, whose loss is +-e_i with mean at most e_i tanh(e_i / 2).
    Whatever the earlier answers, the loss stays in an interval of length 2 e_i, so by Azuma's inequality the total
    exceeds its mean by t with probability at most exp(-t^2 / (2 sum e_i^2)).

    Source: Dwork, Rothblum, Vadhan (2010); the mean is that of Kairouz, Oh, Viswanath (2015), Theorem 3.5. The result
    is rounded up by a relative 1e-12, far more than the error of the floating-point formula.
    """
    if not 0 < slack < 1:
        raise InputError(f"slack must be in (0, 1), got {slack!r}")
    sizes = [(float(share), len(list(alike))) for share, alike in groupby(c.epsilon for c in calls)]
    mean = math.fsum(chain.from_iterable(repeat(e * math.tanh(e / 2), times) for e, times in sizes))
    squares = math.fsum(chain.from_iterable(repeat(e * e, times) for e, times in sizes))
    width = math.sqrt(2 * math.log(1 / slack) * squares)
    return Cost(Fraction((mean + width) * (1 + 1e-12)), basic(calls).delta + Fraction(slack))


def best(calls: Sequence[Cost], slack: Share = 0) -> Cost:
    """Return the better of basic composition and, where a slack is allowed, advanced composition."""
    plain = basic(calls)
    if not slack:
        return plain
    strong = advanced(calls, slack)
    return strong if strong.epsilon < plain.epsilon else plain


def largest_share(epsilon: Fraction, slack: Share, calls: Callable[[Fraction], Sequence[Cost]]) -> Fraction:
    """Return an epsilon per call, up to 2^-40 of the greatest, for which the calls cost at most `epsilon` together.

    `slack` is what may be added to delta; 0 for basic composition alone. `calls` maps an epsilon per call to the calls
    made; their cost must grow with it.
    """
    # How many times the share of one call basic composition adds up.
    unit = basic(calls(Fraction(1))).epsilon
    plain = epsilon / unit
    # Advanced composition gains nothing with few calls.
    if not slack or best(calls(plain), slack).epsilon >= epsilon:
        return plain
    return last(lambda share: best(calls(share), slack).epsilon <= epsilon, plain, epsilon, 40)


SAFETY = 1e-9


def repeated_delta(epsilon: float, share: float, times: int) -> float:
    """Return the least delta for which `times` adaptive share-private calls are (epsilon, delta)-private together.

    With p = 1 / (1 + e^-share) the total loss of the worst case is that of randomised response:

        delta = sum_i C(J, i) p^(J - i) (1 - p)^i (1 - exp(epsilon - (J - 2 i) share))_+.

    Source: Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", IEEE Transactions on
    Information Theory 63 (2017), Theorem 3.3. All terms are positive, so the relative error is that of a term; the
    result is rounded up by a relative 1e-9.
    """
    # ln p and ln (1 - p) of randomised response, without cancellation for a small share.
    log_p = -math.log1p(math.exp(-share))
    log_q = -share - math.log1p(math.exp(-share))
    terms = []
    for i in range(times + 1):
        excess = (times - 2 * i) * share - epsilon
        # The excess falls with i: all further terms are 0.
        if excess <= 0:
            break
        ways = math.lgamma(times + 1) - math.lgamma(i + 1) - math.lgamma(times - i + 1)
        terms.append(math.exp(ways + (times - i) * log_p + i * log_q) * -math.expm1(-excess))
    return math.fsum(terms) * (1 + SAFETY)


@lru_cache(maxsize=256)
def largest_repeated_epsilon(epsilon: float, delta: float, times: int) -> float:
    """Return the largest epsilon per call, rounded down by 2^-40, for which all calls are (epsilon, delta)-private.

    For delta = 0 it is epsilon / times (basic composition).
    """
    low = epsilon / times
    if delta == 0:
        return low
    high = 2 * low
    while repeated_delta(epsilon, high, times) <= delta:
        low = high
        high = 2 * high
    return last(lambda share: repeated_delta(epsilon, share, times) <= delta, low, high, 40)
