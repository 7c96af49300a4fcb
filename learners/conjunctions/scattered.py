"""A case on which a greedy learner of conjunctions spoils a little of the positive examples in most of its rounds.

The target is v_1, over d variables; x_1 = 1, and every other coordinate is 0 with probability g, independently. All
examples are positive. v_1, "no literal" where it is a candidate, and the literals chosen before contradict none of
those left; v_j contradicts at most the N_j ~ Bin(n, g) examples with x_j = 0, independently for j = 2 .. d. An answer
with h of these literals errs with probability 1 - (1 - g)^h, and with a negated one by 1 - g at least: both fail for
the g at which the former is just above alpha.

Without negative examples the score of a literal that contradicts e examples is -e; with noise b in the place of their
number it is min{-b/k, -e}, and literals differ by e at most. So after c of them a round chooses one more, or fails,
with probability X/(X + Z) at least: Z = c + 1 for v_1 and those chosen, and 1 more with "no literal", and
X = (K - c) exp(-rate M), K the number of j with N_j <= M. For M = ceil(n g), which is no less than a median, K is at
least (d - 1)/2 - sqrt((d - 1) ln(1/u)/2) with probability 1 - u (Hoeffding). Reaching h is then at least as likely as
for the chain of these probabilities.

Where J rounds choose about half fresh literals X is about J/4, so that n is about (J/alpha) ln(d/J)/rate: the product
of the number of rounds, which 2 k ln(1/alpha) is, and of the loss of a round, as the theorems have it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# K is at least as said but with this probability, which counts as success.
UNLIKELY = 1e-9
# Shares of the rounds that choose a fresh literal, among which the greatest size is looked for.
SHARES = 64
# Relative excess of the error of h literals over alpha.
EXCESS = 1e-6


@dataclass(frozen=True)
class Scattered:
    """The case above for J `rounds`, d = `dimension` and the inverse temperature `rate`.

    `idle` is the number of candidates that contradict nothing, beside the literals.
    """

    rounds: int
    dimension: int
    rate: float
    idle: int
    alpha: float

    @property
    def likely(self) -> float:
        """A number of literals that the examples with a 0 are at most M of, with probability 1 - UNLIKELY."""
        others = self.dimension - 1
        return others / 2 - math.sqrt(others * -math.log(UNLIKELY) / 2)

    @property
    def needed(self) -> int:
        """h: with X constant in all rounds, the h of the greatest n."""
        likely = self.likely
        best = 1
        most = 0.0
        for h in sorted({max(1, self.rounds * i // SHARES) for i in range(1, SHARES)}):
            # The mean number of rounds, h + sum Z/X, is J for this X.
            odds = (h * (1 + self.idle) + h * (h - 1) / 2) / max(self.rounds - h, 0.5)
            if likely > h and (size := h * math.log((likely - h) / odds)) > most:
                most = size
                best = h
        return best

    @property
    def share(self) -> float:
        """The probability g: h literals err by a little more than alpha."""
        return -math.expm1(math.log1p(-self.alpha * (1 + EXCESS)) / self.needed)

    def failure(self, n: int) -> float:
        """Return a lower bound for Pr[error > alpha] on n examples."""
        h = self.needed
        # With fewer variables nothing is known of K.
        if self.likely <= h or h > self.rounds:
            return 0.0
        chosen = np.arange(h)
        log_fresh = np.log(self.likely - chosen) - self.rate * math.ceil(n * self.share)
        odds = np.exp(np.minimum(log_fresh - np.log(1 + self.idle + chosen), 700.0))
        advance = odds / (1 + odds)
        # The law of the number of fresh literals chosen, those that reach h left out.
        law = np.zeros(h)
        law[0] = 1.0
        moved = np.empty(h)
        for _ in range(self.rounds):
            np.multiply(law, advance, out=moved)
            law -= moved
            law[1:] += moved[:-1]
        return (1 - UNLIKELY) * max(0.0, 1 - float(law.sum()))

    def __str__(self) -> str:
        return (
            f"v_1 over {self.dimension if self.dimension < 10**6 else f'2^{math.log2(self.dimension):g}'} variables; "
            f"x_1 = 1 and each other coordinate 0 with probability {self.share:.6g}; a lower bound for the failure rate"
        )
