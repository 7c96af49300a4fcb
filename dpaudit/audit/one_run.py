"""Audit a training in one run: fair coins put canaries in, scores of the canaries guess the coins.

The guesses of the surest k canaries are compared with the coins for each k of a schedule (`bounds.guess_schedules`).
That is valid for whatever training, canaries and scores, if the coins are fair and no score was made with knowledge of
them.
The two-sided ranking and a walk over a doubling schedule had the best power of six rules on Gaussian scores and leaks
of a few canaries, and came close to guessing all on randomised responses (`scripts/bench.py one_run rules`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from msgspec import UNSET
from numpy.typing import ArrayLike

from dpaudit import seeding
from dpaudit.arguments import CONFIDENCE, read_choice, read_integer, read_number
from dpaudit.audit.coins import LEAST, Coins, order_warning, read_included
from dpaudit.audit.curve_claims import resolve_claims
from dpaudit.audit.one_run_finding import (
    EqualScores,
    FewCanaries,
    Guesses,
    IfGaussian,
    IgnoredCanaries,
    OneRunFinding,
    OneRunGap,
    RankingName,
)
from dpaudit.bounds import POWER
from dpaudit.bounds.base import MAX_COINS, MAX_EPSILON, Array, Bools, Integers
from dpaudit.bounds.coin import epsilon_lower
from dpaudit.bounds.guess_schedules import (
    FIRST,
    Schedule,
    Tested,
    detectable_epsilon,
    detectable_mu,
    largest_rejected,
    lower_bound,
    mu_lower,
)
from dpaudit.bounds.limits import lower_limit
from dpaudit.bounds.tangent import ClaimPoints, gaussian_delta, gaussian_epsilons
from dpaudit.contract import CurveClaim, PrivacyClaim, PrivacyVerdict, Relation
from dpaudit.contract.curve_claims import MOST
from dpaudit.errors import InputError
from dpaudit.results import remembering

# Of the verdict's error, for the guesses turned around: losses given as scores are smaller for members. The others
# lose a twentieth of a standard error by it.
REVERSE_SHARE = 0.1
# Scores run the other way if guesses that are turned around are right more often than all but this share of guesses
# at fair coins.
REVERSED = 1e-3
# Coins, of a run or of all, are refused if fair ones have so many or so few heads with a smaller probability.
UNFAIR = 1e-6
# The orders of guesses, the default first.
RANKINGS: tuple[RankingName, ...] = ("two-sided", "in")


@dataclass(frozen=True)
class RankedScores:
    """Scores and coins in the order of the guesses: for each ranking, whether the guesses are right.

    Those of `reversed` are of guesses that take smaller scores for those of canaries that are in.
    """

    right: dict[RankingName, Bools]
    reversed: dict[RankingName, Bools]
    included: Bools
    coins: Coins | None
    tied: int
    all_equal: bool

    @classmethod
    def of(cls, scores: ArrayLike, included: ArrayLike | Coins, sealed: Coins | None) -> RankedScores:
        """Return scores and coins ranked, or raise `InputError`."""
        values = _numbers(scores)
        flipped, coins = read_included(included, sealed)
        if values.shape != flipped.shape:
            message = "{scores} must be as many as the coins: there are {got_}, and coins {coins_}"
            raise InputError(message, names=("scores",), got_=str(values.shape), coins_=str(flipped.shape))
        m = values.shape[1]
        if m < LEAST:
            raise InputError.of("scores", m, f"those of {LEAST} or more canaries")
        if values.size > MAX_COINS:
            raise InputError.of("scores", values.size, f"at most {MAX_COINS:g} numbers")
        _check_fair(flipped)
        alike = (np.unique(row, return_counts=True)[1] for row in values)
        tied = sum(int(counts[counts > 1].sum()) for counts in alike)
        # Ties are broken by a shuffle that does not know the coins, and never by the order of storage, which may:
        # members often stand first.
        shuffled = seeding.generator(0, "one run", "ties").permutation(values.size)
        centred = _centred(values).ravel()[shuffled]
        coin = flipped.ravel()[shuffled]
        above = np.where(centred == 0, np.arange(values.size) % 2 == 0, centred > 0)
        by_distance, by_score = (np.argsort(-key, kind="stable") for key in (np.abs(centred), centred))
        right: dict[RankingName, Bools] = {"two-sided": (above == coin)[by_distance], "in": coin[by_score]}
        from_below = np.argsort(centred, kind="stable")
        turned: dict[RankingName, Bools] = {"two-sided": ~right["two-sided"], "in": coin[from_below]}
        return cls(right, turned, flipped, coins, tied, bool((values == values[:, :1]).all()))

    def counts(self, name: RankingName, schedule: Schedule, *, turned: bool = False) -> Integers:
        """Return the right guesses among the first so many of a schedule, of those `turned` around if asked."""
        right = self.right[name]
        if turned:
            right = self.reversed[name]
        return np.asarray(np.cumsum(right)[np.array(schedule.guesses) - 1], np.int64)


def _numbers(scores: ArrayLike) -> Array:
    """Return scores as an array (runs, m) of numbers, infinite ones among them, or raise `InputError`."""
    if isinstance(scores, np.ma.MaskedArray) and np.ma.is_masked(scores):
        raise InputError.of("scores", scores, "an array without masked values: each canary has a score")
    try:
        values = np.asarray(scores)
        # Of complex numbers the imaginary part would be dropped: they are refused below.
        if values.dtype.kind != "c":
            values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last is of tensors that have a gradient
        raise InputError.of("scores", scores, "an array of numbers of shape (m,) or (runs, m)") from None
    if values.dtype.kind == "c":
        raise InputError.of("scores", values.dtype, "an array of real numbers", hint="a complex number has no rank")
    if values.ndim not in (1, 2) or not values.size:
        raise InputError.of("scores", values.shape, "an array of shape (m,) or (runs, m)")
    bad = np.argwhere(np.isnan(values))
    if len(bad):
        hint = f"{len(bad)} are NaN, the first is [{', '.join(map(str, bad[0]))}], and NaN has no rank"
        raise InputError.of("scores", math.nan, "numbers, finite or infinite,", hint=hint, comma="")
    return np.atleast_2d(values)


# Scores beyond it are scaled, so that differences are finite.
_HUGE = 1e300


def _centred(values: Array) -> Array:
    """Return the scores of each run less the mean of their quartiles, which infinite scores do not move.

    Between two groups of scores of different sizes the mean of the quartiles parts them, and no median does. Infinite
    scores count there as the largest, or the smallest, finite score of their run, and are farther from the mean than
    any other.
    """
    finite = np.isfinite(values)
    if finite.any() and np.abs(values[finite]).max() > _HUGE:
        values = values / 16
    clipped = values
    if not finite.all():
        low = np.where(finite, values, np.inf).min(axis=1, keepdims=True)
        high = np.where(finite, values, -np.inf).max(axis=1, keepdims=True)
        # A run without a finite score has scores on both sides of 0, or equal ones.
        low = np.where(np.isfinite(low), low, -1.0)
        high = np.where(np.isfinite(high), high, 1.0)
        clipped = np.clip(values, low, high)
    centre = np.quantile(clipped, (0.25, 0.75), axis=1).mean(axis=0)
    return np.asarray(values - centre[:, None])


def _check_fair(flipped: Bools) -> None:
    """Raise `InputError` if so many coins of all, or of one of several runs, are heads that they are not fair."""
    parts = [("", flipped)]
    if len(flipped) > 1:
        parts += [(f" of run {run} of {len(flipped)}", row) for run, row in enumerate(flipped, 1)]
    for of_run, part in parts:
        total = part.size
        heads = int(part.sum())
        error = UNFAIR / len(parts)
        # Both ways round: too many, and too few.
        if lower_limit(max(heads, total - heads), total, error / 2) > 0.5:
            message = (
                "{included} must be fair coins: {heads_} of {total_} canaries{run_} are in, which fair coins give with "
                "a probability below {least_:.2g}"
            )
            raise InputError(message, names=("included",), heads_=heads, total_=total, run_=of_run, least_=error)


# For a claim that is a curve one number of guesses is chosen among numbers that grow by this root of 2.
_FINE = 4


@remembering
def audit_scores(
    scores: ArrayLike,
    included: Any,
    claim: PrivacyClaim | CurveClaim | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    confidence: float = CONFIDENCE,
    ranking: str = RANKINGS[0],
    guesses: int | None = None,
    sealed: Coins | None = None,
    seal: str | None = None,
    relation: Relation | str = Relation.ADD_REMOVE_ONE,
) -> OneRunFinding:
    """Audit a training made elsewhere, in any framework, from the scores of its canaries and their coins.

    A fair coin decides of each canary whether it is in the training (`flip_coins`); a score is made of each canary from
    what the training releases, without knowledge of the coins, larger for canaries that seem to be in. Twice as many
    canaries are worth about twice as many runs of the training.

    Parameters
    ----------
    scores : array, shape (m,) or (runs, m)
        Numbers, of which infinite ones are ranks like others. Of several runs with fresh coins, those of each are
        centred at the mean of their quartiles, and all are ranked together. Equal scores are put in an order that does
        not depend on the coins. Scores that are smaller for canaries that are in, such as losses, are tested too, with
        a tenth of the error: `finding.reversed` says so.
    included : array of bool, shape (m,) or (runs, m), or Coins
        The coins.
    claim : PrivacyClaim or CurveClaim, optional
        The claim: `PrivacyClaim(epsilon, delta)`, or a curve such as `PrivacyClaim.gaussian(mu)`.
    epsilon, delta : float, optional
        The claim in two numbers, in the place of `claim`; delta is 0 by default.
    confidence : float
        Of the verdict: a training that keeps the claim is accused with probability at most 1 - confidence.
    ranking : {"two-sided", "in"}
        The order of the guesses: "two-sided" by the distance of a score from the mean of the quartiles of its run,
        above which a canary is guessed to be in and below it out; "in" by the score, and all are guessed to be in.
        Chosen before the coins were known.
    guesses : int, optional
        Guess so many coins alone, a number chosen before the coins were known. By default the audit tries a schedule of
        numbers and accounts for that.
    sealed : Coins, optional
        The coins as they were sealed, which `included` must be.
    seal : str, optional
        The digest of these coins as it was published, or kept elsewhere, before the training: who changes coins later
        can seal them again, and that shows by this digest alone.
    relation : Relation or str
        What a coin decides: that the example is there or not, by default, or which of two examples it is.

    Returns
    -------
    OneRunFinding

    Raises
    ------
    InputError
        If scores are no numbers, or NaN, or not as many as the coins; if there are fewer than two canaries; if coins
        are not those sealed, or so many are in, in all or in a run, as fair coins have with probability below 1e-6; if
        there are two claims, or none.

    Notes
    -----
    The bound on epsilon follows T. Steinke, M. Nasr, M. Jagielski, Privacy auditing with one (1) training run (NeurIPS
    2023), with the term for delta of `dpaudit.bounds.coin`. A claim that is a curve is refuted at one of its points.

    Examples
    --------
    >>> import dpaudit, numpy as np
    >>> coins = dpaudit.flip_coins(1000, seed=1)
    >>> noise = np.random.default_rng(2).normal(size=1000)
    >>> dpaudit.audit_scores(3 * coins.included + noise, coins, epsilon=1.0).verdict.value
    'violation'
    """
    ranked = RankedScores.of(scores, included, sealed)
    own = "not known without coins that were sealed"
    if ranked.coins is not None:
        own = ranked.coins.seal
    if seal is not None and seal.strip().lower() != own:
        message = "{seal} must be the digest of the coins, which is {own_}; got {given_}"
        raise InputError(message, names=("seal",), own_=own, given_=seal)
    curve, point = resolve_claims(None, claim, epsilon, delta, relation)
    finding = finding_of(ranked, curve, point, confidence, ranking, guesses)
    OneRunFinding.audited.note(finding, "the training")
    return finding


@dataclass(frozen=True)
class GuessTest:
    """The test of the ranking: its schedule, its error, and its counts."""

    schedule: Schedule
    error: float
    right: Integers

    def at(self, points: ClaimPoints) -> Tested:
        """Return the test of points."""
        return self.schedule.test(self.right, points)

    def rejects(self, points: ClaimPoints) -> bool:
        """Say whether points are refuted."""
        return self.at(points).p_value <= self.error

    @property
    def beats_chance(self) -> bool:
        """Whether more guesses are right than of fair coins, but for a share of `REVERSED`."""
        return self.at(ClaimPoints.one(0.0, 0.0)).p_value <= REVERSED

    def union_lower(self, delta: float) -> float:
        """Return the bound on epsilon at a delta by the union bound over the schedule; simultaneous over delta."""
        numbers = np.array(self.schedule.guesses)
        runs = float(self.schedule.delta_runs(np.array(delta)))
        return float(epsilon_lower(self.right, numbers, self.error / len(numbers), delta_runs=runs).max())

    def epsilon_lower(self, delta: float, claimed: float) -> float:
        """Return the bound on epsilon at a delta that was fixed in advance."""
        union = self.union_lower(delta)
        if len(self.right) == 1:
            return union
        return lower_bound(lambda e: self.rejects(ClaimPoints.one(e, delta)), union, claimed)

    def mu_lower(self) -> float:
        """Return the bound on mu by the points of its curve."""

        def rejects(mu: float) -> bool:
            epsilon = np.minimum(gaussian_epsilons(mu), 0.99 * MAX_EPSILON)
            p_values = self.schedule.p_values(self.right, ClaimPoints(epsilon, gaussian_delta(mu, epsilon)))[0]
            return bool(p_values.min() * len(p_values) <= self.error)

        return largest_rejected(rejects, MOST)


def guess_test(
    ranked: RankedScores,
    points: ClaimPoints,
    gamma: float,
    ranking: str = RANKINGS[0],
    guesses: int | None = None,
    *,
    turned: bool = False,
) -> GuessTest:
    """Return the test, whose schedule the claim and the number of canaries fix; of guesses `turned` around if asked."""
    name = cast(RankingName, read_choice("ranking", ranking, RANKINGS))
    m = ranked.included.size
    one_sided = name == "in"
    if guesses is not None:
        schedule = Schedule((read_integer("guesses", guesses, 1, m),), m, one_sided)
    elif len(points.epsilon) > 1:
        # Of claims with a large delta at small epsilons the term for delta decides, and grows with each number that is
        # tried: one number, which the claim and the number of canaries fix, has more power than a schedule. It is that
        # with which the least mu of independent Gaussian scores is detected.
        last = m
        if one_sided:  # about as many as are in
            last = max(1, m // 2)
        numbers = sorted({min(last, round(FIRST * 2 ** (i / _FINE))) for i in range(_FINE * 28)})
        critical = Schedule(tuple(numbers), m, one_sided).critical(gamma, points)
        best = detectable_mu(numbers, list(map(int, critical)), m, POWER, one_sided=one_sided)[1]
        schedule = Schedule((numbers[best],), m, one_sided)
    else:
        schedule = Schedule.doubling(m, one_sided=one_sided).useful(points, gamma)
    return GuessTest(schedule, gamma, ranked.counts(name, schedule, turned=turned))


def points_of(curve: CurveClaim | None, epsilon: float, delta: float) -> ClaimPoints:
    """Return the points that a claim implies: one, or those of a claim that is a curve."""
    if curve is None:
        return ClaimPoints.one(float(epsilon), float(delta))
    found = ClaimPoints.of(curve)
    tested = found.epsilon < MAX_EPSILON
    return ClaimPoints(found.epsilon[tested], found.delta[tested])


def finding_of(
    ranked: RankedScores,
    curve: CurveClaim | None,
    point: PrivacyClaim,
    confidence: float,
    ranking: str = RANKINGS[0],
    guesses: int | None = None,
    *,
    ignored: bool | None = None,
) -> OneRunFinding:
    """Return the finding on ranked scores; `ignored` says if the training gave the same with other coins, if known."""
    gamma = 1 - read_number("confidence", confidence, 0, 1)
    points = points_of(curve, point.epsilon, point.delta)
    test, turned = _test_told(ranked, points, gamma, ranking, guesses)
    schedule = test.schedule
    outcome = test.at(points)
    critical = list(map(int, schedule.critical(schedule.level(points, test.error), points)))
    epsilon = float(points.epsilon[outcome.point])
    delta = float(points.delta[outcome.point])
    # Which point has the least p-value the outcome decides: its bound must hold at every delta at once.
    if curve is None:
        lower = test.epsilon_lower(delta, epsilon)
    else:
        lower = test.union_lower(delta)
    gaps = _gaps_of(ranked, test, points, critical, ignored)
    # The test has a share of the verdict's error, to which the p-value is raised.
    p_value = min(1.0, outcome.p_value / (REVERSE_SHARE if turned else 1 - REVERSE_SHARE))
    refuted = p_value <= gamma
    able = detectable_epsilon(schedule.guesses, critical, POWER)
    mu, able_mu = _mu_of(test, curve, critical)
    # The power of an audit that could see nothing is none.
    if gaps and not refuted:
        able = math.inf
        able_mu = None if able_mu is None else math.inf
    coins = ranked.coins
    return OneRunFinding(
        verdict=_verdict(refuted, gaps),
        epsilon=epsilon,
        delta=delta,
        epsilon_lower=lower,
        p_value=p_value,
        detectable_epsilon=able,
        confidence=confidence,
        canaries=ranked.included.shape[1],
        runs=len(ranked.included),
        included=int(ranked.included.sum()),
        ranking=cast(RankingName, ranking),
        schedule=tuple(map(Guesses, schedule.guesses, map(int, test.right), critical)),
        decided_by=outcome.at,
        relation=point.relation,
        tied=ranked.tied,
        seal="" if coins is None else coins.seal,
        seed=None if coins is None else coins.seed,
        gaps=gaps,
        if_gaussian=_if_gaussian(test, delta if curve is None else 0.0),
        curve_claim=curve or UNSET,
        mu_lower=mu,
        detectable_mu=able_mu,
        checked=ignored is not None,
        reversed=turned,
        warnings=tuple(filter(None, [order_warning(ranked.included)])),
    )


def _verdict(refuted: bool, gaps: Sequence[OneRunGap]) -> PrivacyVerdict:
    if refuted:
        return PrivacyVerdict.VIOLATION
    if gaps:
        return PrivacyVerdict.NO_EVIDENCE
    return PrivacyVerdict.CONSISTENT


def _test_told(
    ranked: RankedScores, points: ClaimPoints, gamma: float, ranking: str, guesses: int | None
) -> tuple[GuessTest, bool]:
    """Return the test of the guesses as given, or of those turned around, and whether it is the latter."""
    given = guess_test(ranked, points, (1 - REVERSE_SHARE) * gamma, ranking, guesses)
    turned = guess_test(ranked, points, REVERSE_SHARE * gamma, ranking, guesses, turned=True)
    # Which of both is told may depend on the outcome, for both hold together with all of the error.
    if not given.rejects(points) and (turned.rejects(points) or turned.beats_chance):
        return turned, True
    return given, False


def _gaps_of(
    ranked: RankedScores, test: GuessTest, points: ClaimPoints, critical: Sequence[int], ignored: bool | None
) -> tuple[OneRunGap, ...]:
    """Return why the audit could not have seen that the claim fails; `critical` are right guesses that refute it."""
    gaps: list[OneRunGap] = []
    if all(right > guesses for right, guesses in zip(critical, test.schedule.guesses, strict=True)):
        # About the least number: an eighth of a doubling lies between those that are tried.
        numbers = (math.ceil(2 ** (i / 8)) for i in range(8 * int(math.log2(MAX_COINS))))
        refuting = (m for m in numbers if Schedule((m,), m).p_values([m], points)[0][0] <= test.error)
        gaps.append(FewCanaries(ranked.included.size, next(refuting, None)))
    if ranked.all_equal:
        gaps.append(EqualScores(ranked.tied, ranked.included.size))
    if ignored:
        gaps.append(IgnoredCanaries())
    return tuple(gaps)


def _mu_of(test: GuessTest, curve: CurveClaim | None, critical: Sequence[int]) -> tuple[float | None, float | None]:
    """Return the bound on mu and the least mu that is detected; None for claims that are not of Gaussian privacy."""
    if curve is None or curve.mu is None:
        return None, None
    schedule = test.schedule
    able, _ = detectable_mu(schedule.guesses, critical, schedule.coins, POWER, one_sided=schedule.one_sided)
    return test.mu_lower(), able


def _if_gaussian(test: GuessTest, delta: float) -> IfGaussian:
    """Return the bounds that the guesses give under assumptions; the numbers of guesses share the error equally."""
    known = (0.0, 0.0)
    error = test.error / len(test.right)
    schedule = test.schedule
    for k, right in zip(schedule.guesses, test.right, strict=True):
        known = mu_lower(int(right), k, schedule.coins, error, one_sided=schedule.one_sided, at_least=known)
    recursion, independent = known
    if not delta:
        return IfGaussian(recursion_mu=recursion, independent_mu=independent)
    return IfGaussian(
        recursion_mu=recursion,
        independent_mu=independent,
        recursion_epsilon=_gaussian_epsilon(recursion, delta),
        independent_epsilon=_gaussian_epsilon(independent, delta),
    )


def _gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the least epsilon at delta of mu-Gaussian privacy, from below."""
    if mu == 0:
        return 0.0
    # At the end of the search the tail that makes delta begins more than ten standard deviations out.
    return largest_rejected(lambda epsilon: float(gaussian_delta(mu, epsilon)) > delta, mu * (10 + mu) + 100)
