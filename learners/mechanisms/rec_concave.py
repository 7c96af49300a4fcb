"""RecConcave: maximise a quasi-concave function of sensitivity 1 with a promise that depends on the domain by log*."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np

from dpaudit.contract import InputError

from ..arrays import Floats, Integers
from ..parameters import check_integer
from .composition import Cost, Share, basic
from .log_laws import LAW_SIZE, ULP, check_size, log_mixture, placed
from .stable_select import StableSelect, Standing, standing_of_intervals
from .steps import Steps, widest_windows

# Up to this greatest index the exponential mechanism is used directly.
BASE = 32


@dataclass(frozen=True)
class RecConcave:
    """Find an index of {0 .. top} with score at least (1 - alpha) promise, if the maximum is at least the promise.

    For top <= `base` this is the exponential mechanism. Otherwise pad the domain to a power of two T' >= top with
    scores min(0, q(top)); let L(j) be the greatest minimum of q over 2^j consecutive indices, L(log T' + 1) = min(0,
    L(log T')); choose k by RecConcave on {0 .. log T'} with the score q'(j) = min(L(j) - (1 - alpha) r, r - L(j + 1)),
    the promise alpha r / 2 and accuracy 1/4; with K = 2^k cut the domain into intervals of length 8 K, once from 0 on
    and once shifted by 4 K, let `StableSelect` name the interval with the greatest maximum in both; and return an index
    of the intervals named by the exponential mechanism with score q (index 0 if none is named; a padded index means
    `top`).

    Privacy, by basic composition of the calls really made (`calls`): L(j), as a maximum of minima, and so q', have
    sensitivity 1. N levels make 2 (N - 1) stable selections and N exponential mechanisms: ((3 N - 2) epsilon,
    2 (N - 1) delta) in all. N = 1 for top <= 32, 2 for top <= 2^32, 3 beyond: never log* of the domain.

    Utility (`promise_needed`): let j* be the last j with L(j) >= (1 - alpha/2) r; it has q' >= alpha r/2, so the
    recursive call, if it succeeds, returns k with q'(k) >= 3 alpha r/8, that is L(k) >= (1 - 5 alpha/8) r and L(k + 1)
    <= (1 - 3 alpha/8) r. Fewer than 2 K indices exceed (1 - 3 alpha/8) r; the maximiser is at distance >= 2 K from the
    inner ends of its interval in one of the two partitions; that interval I contains them all and so leads by 3 alpha
    r/8, and contains at least K indices with score >= (1 - 5 alpha/8) r. At most 16 K indices are candidates, so the
    last step fails with probability at most 16 e^(-3 alpha epsilon r/16).

    Parameters
    ----------
    top : int
        T, the greatest index.
    promise, alpha : Fraction
        r >= 0 and alpha in (0, 1/2]. Scores are scaled to integers: take fractions with small denominators.
    epsilon, delta : Fraction
        Of each single call.
    base : int
        From 2 on.

    Notes
    -----
    Source: Beimel, Nissim, Stemmer, "Private learning and sanitization" (2013/2016); Proposition 2.11 of "Private
    center points and learning of halfspaces" states its properties.
    """

    top: int
    promise: Fraction
    alpha: Fraction
    epsilon: Fraction
    delta: Fraction
    base: int = BASE
    stable: type[StableSelect] = StableSelect

    def __post_init__(self) -> None:
        check_integer("top", self.top, 1)
        check_integer("base", self.base, 2)
        if not (0 < self.alpha <= Fraction(1, 2) and self.promise >= 0):
            raise InputError(
                f"alpha must be in (0, 1/2] and promise >= 0, got alpha={self.alpha!r} and promise={self.promise!r}"
            )

    @classmethod
    def within(
        cls, top: int, promise: Fraction, alpha: Fraction, epsilon: Share, delta: Share, base: int = BASE
    ) -> RecConcave:
        """Return the mechanism whose calls cost (epsilon, delta) together."""
        levels = cls(top, promise, alpha, Fraction(1), Fraction(1, 2), base).levels
        share = Fraction(delta) / max(1, 2 * (levels - 1))
        return cls(top, promise, alpha, Fraction(epsilon) / (3 * levels - 2), share, base)

    @property
    def _log_width(self) -> int:
        """log2 of T'."""
        return (self.top - 1).bit_length()

    @property
    def inner(self) -> RecConcave | None:
        """The recursive call; None at the base."""
        if self.top <= self.base:
            return None
        return replace(self, top=self._log_width, promise=self.alpha * self.promise / 2, alpha=Fraction(1, 4))

    @property
    def levels(self) -> int:
        """N, the base included."""
        return 1 + (self.inner.levels if self.inner else 0)

    @property
    def calls(self) -> list[Cost]:
        """The private calls made, innermost first."""
        named = Cost(self.epsilon, self.delta)
        if self.inner is None:
            return [Cost(self.epsilon)]
        return [*self.inner.calls, named, named, Cost(self.epsilon)]

    @property
    def cost(self) -> Cost:
        """The guarantee of a run, by basic composition of `calls`."""
        return basic(self.calls)

    def promise_needed(self, beta: float) -> float:
        """Return a promise r that suffices for failure probability beta, split evenly over the 2 N - 1 events."""
        return self._needed(beta / (2 * self.levels - 1))

    def _needed(self, beta: float) -> float:
        epsilon = float(self.epsilon)
        alpha = float(self.alpha)
        if self.inner is None:
            return 2 / (alpha * epsilon) * (math.log(self.top + 1) - math.log(beta))
        # The three ways to fail at this level: a stable selection, the last step, the recursive call.
        lead = self.stable(self.epsilon, self.delta).gap_needed(beta)
        return max(
            8 / (3 * alpha) * lead,
            16 / (3 * alpha * epsilon) * math.log(16 / beta),
            2 / alpha * self.inner._needed(beta),
        )

    def _padded(self, score: Steps) -> Steps:
        # T' - T indices beyond the last one, so that windows of 2^j indices fit up to T'.
        extra = (1 << self._log_width) - self.top
        if extra == 0:
            return score
        tail = min(0, score.values[-1])
        return Steps([*score.starts, self.top + 1], [*score.lengths, extra], [*score.values, tail])

    def _inner_score(self, padded: Steps) -> Steps:
        widest = widest_windows(padded, self._log_width)
        # L(log T' + 1): no window is that wide, and the score there is 0 at most.
        widest.append(min(0, widest[-1]))
        kept = (1 - self.alpha) * self.promise
        r = self.promise
        return Steps.of_values([min(widest[j] - kept, r - widest[j + 1]) for j in range(self._log_width + 1)])

    def _choices(self, padded: Steps, k: int) -> tuple[StableSelect, list[Standing]]:
        """Return the selection and the standings in the two partitions."""
        standings = [standing_of_intervals(padded, 8 << k, shift) for shift in (0, 4 << k)]
        return self.stable(self.epsilon, self.delta), standings

    def draw(self, score: Steps, rng: np.random.Generator, size: int) -> list[int]:
        """Return the indices of `size` independent runs."""
        self._check(score)
        if self.inner is None:
            return score.draw_exponential(float(self.epsilon) / 2, rng, size)
        padded = self._padded(score)
        # All runs at once: the inner scores are the same for each.
        widths = self.inner.draw(self._inner_score(padded), rng, size)
        # Runs with the same width and the same intervals named go on together.
        cases = Counter[tuple[int, bool, bool]]()
        for k, count in sorted(Counter(widths).items()):
            select, standings = self._choices(padded, k)
            named = [select.draw(standing, rng, count) for standing in standings]
            cases.update((k, bool(a), bool(b)) for a, b in zip(*named, strict=True))
        drawn: list[int] = []
        for (k, a, b), count in sorted(cases.items()):
            if not (a or b):
                drawn += [0] * count
                continue
            candidates = self._candidates(padded, k, self._choices(padded, k)[1], a, b)
            drawn += [min(x, self.top) for x in candidates.draw_exponential(float(self.epsilon) / 2, rng, count)]
        # Runs were made case by case; their order must not show the case.
        order = rng.permutation(size)
        return [drawn[i] for i in order]

    def _candidates(self, padded: Steps, k: int, standings: list[Standing], a: bool, b: bool) -> Steps:
        """Return the score on the best intervals of the partitions that named theirs."""
        length = 8 << k
        first, second = standings
        # The interval of the first partition, and that of the one shifted by half a length.
        spans = [(first.best * length, (first.best + 1) * length)] if a else []
        if b:
            spans.append((max(0, second.best * length - length // 2), (second.best + 1) * length - length // 2))
        spans.sort()
        # Where they overlap an index must be a candidate once.
        if len(spans) == 2 and spans[1][0] <= spans[0][1]:
            spans = [(spans[0][0], max(spans[0][1], spans[1][1]))]
        return padded.restricted(spans)

    def outside(self, score: Steps, low: int, high: int, skipped: float = 0.0) -> float:
        """Return the probability of an index outside of low .. high, 0 <= low <= high < top, on any domain.

        As `log_law`, but for the last step, of which only the mass on either side is summed. Unlikely widths, which
        have at most the probability `skipped` together, count as outside: on huge domains most widths are of that kind.
        """
        self._check(score)
        rate = float(self.epsilon) / 2
        if self.inner is None:
            return score.outside(rate, low, high)
        padded = self._padded(score)
        ks, _ = self.inner._listed_law(self._inner_score(padded).merged())
        # As many widths as there are, so that those left out have `skipped` at most together.
        likely = np.exp(ks) > skipped / len(ks)
        terms = [float(np.exp(ks[~likely]).sum())]
        for log_weight, steps, _ in self._last_steps(padded, np.where(likely, ks, -np.inf)):
            terms.append(math.exp(log_weight) * (steps.outside(rate, low, high) if steps else low > 0))
        return math.fsum(terms)

    def _last_steps(self, padded: Steps, ks: Floats) -> Iterator[tuple[float, Steps | None, float]]:
        """Yield for each width and each choice of intervals ln of its probability, the candidates and its error.

        `ks` are the logarithms of the probabilities of the widths; None are the candidates where nothing is named.
        """
        for k in np.flatnonzero(ks > -np.inf).tolist():
            select, standings = self._choices(padded, k)
            first, second = (select.log_law(standing) for standing in standings)
            for a, b in product((True, False), repeat=2):
                log_weight = float(ks[k]) + first[0 if a else 1] + second[0 if b else 1]
                if log_weight > -np.inf:
                    steps = self._candidates(padded, k, standings, a, b) if a or b else None
                    yield log_weight, steps, first[2] + second[2]

    def log_law(self, score: Steps, most: int = LAW_SIZE) -> tuple[Floats, float]:
        """Return the log-probabilities (top + 1,) of the indices, at most `most`, and a bound on their error."""
        self._check(score)
        check_size(self.top + 1, most)
        return self._listed_law(score)

    def _listed_law(self, score: Steps) -> tuple[Floats, float]:
        """Return the law whatever the number of indices."""
        if self.inner is None:
            return score.log_exponential(float(self.epsilon) / 2, self.top + 1)
        starts, logs, error = self._blocks(score.merged())
        return np.repeat(logs, np.diff(starts, append=self.top + 1)), error

    def _blocks(self, score: Steps) -> tuple[Integers, Floats, float]:
        """Return where blocks of equally likely indices start, their log-probabilities and a bound on the error.

        Given what was named, the last step is as likely to return one index as another where both have the same score
        and lie in the same of the intervals. The indices 0, returned if nothing is named, and `top`, which stands for
        the padded ones, are blocks of their own.
        """
        assert self.inner is not None
        padded = self._padded(score)
        ks, error = self.inner._listed_law(self._inner_score(padded))
        cases = list(self._last_steps(padded, ks))
        # A mixture errs no more than the worst of its parts.
        named_error = max(more for _, _, more in cases)
        ends = {0, 1, self.top}
        for _, steps, _ in cases:
            for start, length in zip(steps.starts, steps.lengths, strict=True) if steps else ():
                ends |= {min(start, self.top), min(start + length, self.top)}
        starts = np.array(sorted(ends), dtype=np.int64)
        laws = []
        worst = 0.0
        for weight, steps, _ in cases:
            law, more = self._last_law(steps, starts)
            laws.append(law)
            worst = max(worst, named_error + more + 2.0**-51 * abs(weight))
        return starts, *log_mixture([weight for weight, _, _ in cases], laws, error + worst)

    def _last_law(self, candidates: Steps | None, starts: Integers) -> tuple[Floats, float]:
        """Return the law of an index of each block by the last step among candidates (None: none named)."""
        if candidates is None:
            return placed(len(starts), 0, 0.0), 0.0
        pieces, error = candidates.log_pieces(float(self.epsilon) / 2)
        law = np.full(len(starts), -np.inf)
        beyond = []
        for start, length, log in zip(candidates.starts, candidates.lengths, pieces.tolist(), strict=True):
            first, stop = starts.searchsorted([start, min(start + length, self.top)])
            law[first:stop] = log
            if start + length > self.top:
                beyond.append(math.log(start + length - max(start, self.top)) + log)
        if beyond:
            total, error = log_mixture(
                [0.0] * len(beyond), list(np.array(beyond)[:, None]), error + ULP * self._log_width
            )
            law[-1] = total[0]
        return law, error

    def _check(self, score: Steps) -> None:
        if score.size != self.top + 1:
            raise InputError(f"score must be given on 0 .. {self.top}, got {score.size} indices")
