"""Resolve the arguments of a black-box audit, and hold them checked: claim, pairs, and the budget of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import UNSET, UnsetType

from dpaudit.audit.checks_and_gaps import Observations, gaps_of, identical, verdict_of
from dpaudit.audit.claim_tests import COIN, MELDED, CurveTest, EventTest
from dpaudit.audit.clock import Clock
from dpaudit.audit.finding import Continued, PrivacyFinding, Reach, Witness
from dpaudit.audit.options import CURVE_SHARE, SLOW_RUN
from dpaudit.audit.parameters import Dataset, Look
from dpaudit.audit.power import Power
from dpaudit.audit.preflight import Preflight, runs_a_side
from dpaudit.bounds.base import MAX_RUNS
from dpaudit.bounds.coin import guesses_needed
from dpaudit.bounds.curve import Curve
from dpaudit.bounds.detectable import trials_needed
from dpaudit.bounds.melded import Melded
from dpaudit.contract import CurveClaim, Learner, Made, Pair, PrivacyClaim, PrivacyVerdict, Relation
from dpaudit.errors import InputError
from dpaudit.events.discretizers import Pilot
from dpaudit.events.wide import least_dense_shift, least_shift
from dpaudit.neighbours.check import check_pairs, check_samples
from dpaudit.neighbours.own_data.pairs import COUNTED, MadeData, own_data_moves
from dpaudit.neighbours.random_samples import sample_moves
from dpaudit.neighbours.sources import CRAFTED, is_crafted, pairs_of_source
from dpaudit.neighbours.strategies import is_strategy, pairs_from_strategy
from dpaudit.outputs.sharing import Place
from dpaudit.running.adapters import leaving_out
from dpaudit.running.sampling import Sampler
from dpaudit.sensitivity.screening import Shortlist

# Proposes variations of a pair in a step of the local search.
Moves = Callable[[Pair, int], list[Pair]]


def resolve_claim(
    source: Any, epsilon: float | None, delta: float | None, relation: Relation | str | None
) -> PrivacyClaim:
    """Return the claim to test: what was given, completed by the learner's own."""
    own: PrivacyClaim | None = None
    if isinstance(source, Learner):
        own = source.privacy
    if delta is None:
        delta = own.delta if own else 0.0
    if epsilon is None:
        if own is None:
            raise InputError("{epsilon} must be given: the mechanism makes no claim of its own", names=("epsilon",))
        epsilon = own.epsilon
    kin = Relation.REPLACE_ONE
    if relation is not None:
        kin = Relation.parse(relation)
    elif own is not None:
        kin = own.relation
    claim_id = ""
    # The theorem's name stands only where the theorem's own statement is tested.
    if own is not None and (epsilon, delta, kin) == (own.epsilon, own.delta, own.relation):
        claim_id = own.claim_id
    return PrivacyClaim(epsilon, delta, kin, claim_id)


def resolve_inputs(
    source: Any, pairs: Any, dataset: Dataset | None, claim: PrivacyClaim, known: Relation | None, seed: int
) -> tuple[tuple[Pair, ...], Moves | None]:
    """Return the pairs to audit, checked against the relation that is `known`, and what varies those made here."""
    learner = isinstance(source, Learner)
    if dataset is not None:
        if learner:
            why = "{data} is for mechanisms that take it, and a learner takes samples: give {pairs} of these, or none"
            raise InputError(why, names=("data", "pairs"))
        if pairs is not None:
            message = "{pairs} must be left out where {data} is given: pairs are made of it"
            raise InputError(message, names=("pairs", "data"))
        return tuple(dataset.pairs(claim.relation, seed)), partial(own_data_moves, seed)
    moves = None
    if pairs is None and not learner:
        message = "{pairs} must be given, or {data} to make them of: only samples of a learner are crafted"
        raise InputError(message, names=("pairs", "data"))
    if pairs is None or isinstance(pairs, str):
        if learner and is_crafted(pairs):
            moves = partial(sample_moves, source.domain, seed)
        pairs = pairs_of_source(pairs or CRAFTED, source, relation=claim.relation, seed=seed)
    elif is_strategy(pairs):
        pairs = pairs_from_strategy(pairs, seed=seed)
    # Pairs that are given may be no neighbours, by a slip: a leak between them would accuse a private mechanism.
    checked = check_pairs(pairs, known)
    if learner:
        check_samples(checked)
    return tuple(checked), moves


# Pairs at most whose records are looked at.
PAIRS = 8


def probe_of(pairs: Sequence[Any], count: int = 64) -> Any:
    """Return points on which hypotheses that were fitted on pairs of datasets can be distinguished.

    They are the distinct records of both sides, those of one side alone first, then points half-way between records
    that follow each other, and two beyond the least and the greatest values of all.

    Parameters
    ----------
    pairs : sequence of (data, neighbour) or Pair
        Data that are points, or whose first part is: ``(X, y)``, an array, a list of numbers, a data frame (of which
        records alone are taken), or a learner's sample.
    count : int
        Points at most.

    Returns
    -------
    array, shape (points, features) or (points,), or data frame

    Raises
    ------
    InputError
        If the data hold no points of numbers.
    """
    sides = [_points(data) for pair in check_pairs(pairs[:PAIRS], None) for data in pair.sides]
    if hasattr(sides[0], "iloc"):
        import pandas as pd

        return pd.concat(sides).drop_duplicates().iloc[:count].reset_index(drop=True)
    if len({side.shape[1:] for side in sides}) > 1:
        raise InputError("{probe} cannot be derived from data of different widths: give points", names=("probe",))
    seen, times = np.unique(np.concatenate(sides), axis=0, return_counts=True)
    if not len(seen):
        raise InputError("{probe} cannot be derived from data without a record: give points", names=("probe",))
    # Records of one side alone come first, for these are what hypotheses differ by.
    records = seen[np.argsort(times, kind="stable")][: max(1, count // 2)]
    low = seen.min(axis=0)
    high = seen.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    between = (records[1:] + records[:-1]) / 2
    return np.concatenate([records, np.stack([low - span, high + span]), between])[:count]


def _points(data: Any) -> Any:
    """Return the points that a dataset holds, as an array of numbers or a data frame."""
    if isinstance(data, Made):
        data = data.build()
    found = data
    # A tuple (X, y): points come first.
    if isinstance(data, tuple | list) and len(data) > 1 and getattr(data[0], "ndim", 0) == 2:
        found = data[0]
    if hasattr(data, "points"):  # a sample
        found = data.points
    if hasattr(found, "iloc"):
        return found
    try:
        points = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.zeros(())
    if points.ndim not in (1, 2):
        message = "{probe} cannot be derived from data of type {kind}: give points that predict takes, one a row"
        raise InputError(message, names=("probe",), kind=type(data).__qualname__)
    return points


# Of several pairs' runs, at most, for the search; it ends when bets are sure that a pair leaks.
SEARCH_SHARE = 0.35
# The same where this is less than so many runs a side of each pair: fewer do not show which one leaks.
SCARCE_SHARE = 0.5
RUNS_OF_PAIR = 16
# Of the search, for variations of the best pair: crafted pairs are good, so that most goes to comparing them.
LOCAL_SHARE = 0.3
# Of the runs left, to choose the event: 99.5 % and more of the best event's bound are reached so. With a third the
# medians of five seeds were higher on one row of `docs/research/benchmark.md` (SVT2: 0.072, not 0.068) and lower on
# another (SVT3: 0.158, not 0.187).
TRAINING_SHARE = 0.2
# The same where outputs are wide: half of them find the directions, half the event. With 20 % of 2,000 runs a shift
# of a hundred coordinates together was lost.
WIDE_TRAINING_SHARE = 0.4
# Runs a side of the pilot: outputs of a few hundred kinds repeat in them.
PILOT_RUNS = 512
# Of the training runs, at most, for the pilot: they train as well, on the pairs that they were made on.
PILOT_SHARE = 0.5


@dataclass(frozen=True)
class Budget:
    """The runs on each side, by purpose.

    On all given pairs together `search` finds the most promising one, by recorded noise too, and `local` varies it. On
    the pair chosen the `pilot` shows what outputs look like, `training` chooses the event, with the pilot's runs, and
    `confirmation`, fresh, decides. `checks` are of randomness and state, on the first pair.
    """

    search: int
    local: int
    pilot: int
    training: int
    confirmation: int
    checks: int = 0

    @classmethod
    def of(
        cls,
        trials: int,
        pairs: int,
        *,
        local: bool = False,
        wide: bool = False,
        checks: int = 0,
        recorded: int = 0,
        searched: tuple[int, int] | None = None,
    ) -> Budget:
        """Split `trials` runs, less those of checks and with recorded noise, by the shares of this module.

        A search that is over has `searched` by so many among pairs and near the best.
        """
        total = trials - checks - recorded
        most = 0
        if pairs != 1:
            most = max(int(SEARCH_SHARE * total), min(int(SCARCE_SHARE * total), RUNS_OF_PAIR * pairs))
        nearby = 0
        if local:
            nearby = int(LOCAL_SHARE * most)
        search = most - nearby
        if searched is not None:
            search, nearby = searched
        left = total - search - nearby
        share = TRAINING_SHARE
        if wide:
            share = WIDE_TRAINING_SHARE
        training = max(2, int(share * left))
        # The pilot is the first to show whether outputs are wide, so that its runs do not depend on it.
        pilot = max(1, min(PILOT_RUNS, int(PILOT_SHARE * int(TRAINING_SHARE * left))))
        return cls(search + recorded, nearby, pilot, training - pilot, left - training, checks)

    @property
    def selection(self) -> int:
        """Runs on each side that choose and do not decide."""
        return self.search + self.local + self.pilot + self.training


# If a time limit leaves fewer trials than these, the runs of checks come on top: else no trials would be left.
LEAST_COUNTED = 10
# Standard deviations: where all weaker shifts of all numbers of a row escape, the finding says so.
NOTED_SHIFT = 3.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of one of the two designs; all but `refuted` are fields of the finding, which explains them.

    `refuted` says whether the bound, or the test of a claim that is a curve, refutes the claim. Whether that makes a
    violation, the checks decide as well.
    """

    refuted: bool
    design: Literal["fixed", "sequential"]
    epsilon_lower: float
    bound: str
    witness: Witness
    distinguisher: str
    selection_trials: int
    confirmation_trials: int
    pairs: int
    compared: int
    events: int
    budget: dict[str, int]
    errors: dict[str, float]
    scores: tuple[str, ...] = ()
    tests: tuple[EventTest, ...] = ()
    representation: EventTest | None = None
    tested_claim: CurveTest | None = None
    curve: Curve | None = None
    continued: Continued | None = None
    log_evidence: float | UnsetType = UNSET


def least_runs(epsilon: float, delta: float, gamma: float) -> int:
    """Return the least number of runs a side that can refute a claim at all, by one test with the error gamma."""
    if delta:
        return trials_needed(Melded(), epsilon=epsilon, delta=delta, gamma=gamma)
    return -(-guesses_needed(epsilon, gamma) // 2)


@dataclass(frozen=True)
class Request:
    """A black-box audit with all its arguments resolved.

    The `sampler` is the `source` as a batched mechanism, with the root seed and the workers. The pairs were checked
    against `relation`, None if it is unknown. They were made of the `dataset`, if there is one; `moves` proposes
    variations of pairs that were made here. `trials` are those asked for, or fewer if the time is limited. `betting`
    says whether bets are asked for, None that the time of a run decides. `batched`, `timeout` and `timeout_is` are as
    they were given. `width` is that of the widest row of numbers in an output, if it is more than scores can be fitted
    on; else 0. The search among pairs, and near the best, has `searched` by so many runs a side, None until it is over.
    Of a `curve_claim` the `claim` is a point: one to search by, and from the end of training on the one that is tested.
    If the audit is `continued`, its runs are in that file. Recorded noise may have put some pairs on a `shortlist`, and
    the search is then among those.
    """

    source: Any
    sampler: Sampler
    pairs: tuple[Pair, ...]
    claim: PrivacyClaim
    relation: Relation | None
    confidence: float
    trials: int
    trials_asked: int
    own_randomness: bool
    look: Look
    betting: bool | None
    preflight: Preflight
    clock: Clock
    batched: bool = False
    timeout: float | None = None
    timeout_is: str = "output"
    dataset: Dataset | None = None
    moves: Moves | None = None
    width: int = 0
    searched: tuple[int, int] | None = None
    curve_claim: CurveClaim | None = None
    continued: str | Path | None = None
    shortlist: Shortlist | None = None

    @property
    def coded(self) -> bool:
        """Whether outputs are codes of a learner's hypotheses, which have neither order nor parts."""
        return isinstance(self.source, Learner)

    @property
    def gamma(self) -> float:
        """The probability of error that the finding may have in all."""
        return 1 - self.confidence

    @property
    def verdict_gamma(self) -> float:
        """The probability of error of the verdict alone: a curve has a share of `gamma`."""
        if self.look.curve:
            return self.gamma * (1 - CURVE_SHARE)
        return self.gamma

    @property
    def sequential(self) -> bool:
        """Whether the claim is bet against; by default only where runs, as those of the checks, are slow."""
        if self.betting is not None:
            return self.betting
        fixed = self.look.curve or self.curve_claim is not None
        return not fixed and self.preflight.seconds > SLOW_RUN

    @property
    def budget(self) -> Budget:
        """The runs on each side, by purpose."""
        return Budget.of(
            self.trials,
            len(self.pairs),
            local=self.moves is not None,
            wide=self.width > 0,
            checks=self.check_runs,
            recorded=self.recorded_runs,
            searched=self.searched,
        )

    @property
    def check_runs(self) -> int:
        """The runs on each side that check randomness and state; on top come those that a time limit lets be few."""
        # Calls that make many runs take their time whatever their number: their checks come on top of the trials.
        if self.sampler.mechanism.batched or self.clock.stopped.checks is not UNSET or self.trials < LEAST_COUNTED:
            return 0
        return runs_a_side(self.trials, self.own_randomness)

    @property
    def recorded_runs(self) -> int:
        """The runs on each side with recorded noise."""
        if self.shortlist is None:
            return 0
        return -(-self.shortlist.runs // 2)

    @property
    def least_runs(self) -> int:
        """The least number of runs a side that can refute the claim at all: by one test that has all of the error."""
        return least_runs(self.claim.epsilon, self.claim.delta, self.verdict_gamma)

    def finding(
        self,
        power: Power,
        seen: Observations,
        pilot: Pilot,
        summed: int,
        not_run: int,
        outcome: Outcome,
        *,
        tried: int | None = None,
    ) -> PrivacyFinding:
        """Return the finding: the outcome of the design, the audit's power and limits, and the verdict from all of it.

        `summed` are the runs on each side that chose the columns of wide outputs to look at; for `not_run` of the pairs
        there were no runs, which is said where more trials would have made some; `tried` are those with runs, by
        default all others.
        """
        closed = self.preflight.close()
        named = [check.name for check in closed]
        # That runs of a call are alike may be seen before the audit and by the runs that decide.
        checks = (*closed, *(check for check in seen.checks if check.name not in named))
        claim = self.claim
        unseen = tuple(pilot.plan.unseen)
        # The melded bound, and that of coins with delta > 0, ask for independent runs
        # (`docs/research/how-the-bounds-work.md`).
        by_coins = outcome.bound != MELDED and not (outcome.bound == COIN and claim.delta)
        run_by_run = by_coins and not self.sampler.mechanism.batched
        gaps = gaps_of(
            seen,
            pairs=self.pairs,
            confirming=outcome.confirmation_trials,
            least=self.least_runs,
            detectable=power.epsilon,
            not_looked_at=unseen,
            checks=checks,
        )
        verdict = verdict_of(outcome.refuted, gaps, run_by_run=run_by_run)
        # The power of the budget counts for nothing where the audit could see nothing.
        detectable = power.epsilon
        if verdict == PrivacyVerdict.NO_EVIDENCE:
            detectable = math.inf
        if tried is None:
            tried = len(self.pairs) - not_run
        reach = self._reach(tried)
        # That no number of runs could look at these makes no gap: power speaks of the pairs that were tried.
        beyond: tuple[str, ...] = ()
        if reach is not None:
            beyond = reach.not_tried
        shared = (text for _, text in self.sampler.mechanism.left_out)
        return PrivacyFinding(
            verdict=verdict,
            in_any_state=run_by_run,
            gaps=gaps,
            not_looked_at=(*unseen, *pilot.plan.aside, *pilot.not_compared, *shared, *beyond),
            reach=reach or UNSET,
            checks=checks,
            epsilon=claim.epsilon,
            delta=claim.delta,
            detectable_epsilon=detectable,
            detectable_at=power.at,
            detectable_delta=power.delta,
            frontier=power.frontier,
            confidence=self.confidence,
            trials=self.trials,
            relation=self.relation,
            seed=self.sampler.seed,
            origins=tuple(pair.origin for pair in self.pairs),
            claim_id=claim.claim_id,
            warnings=tuple(self._warnings(pilot.width, summed, not_run)),
            stopped=self.clock.stopped if self.clock.limited else UNSET,
            replayed=UNSET if self.shortlist is None else self.shortlist.runs,
            epsilon_lower=outcome.epsilon_lower,
            selection_trials=outcome.selection_trials,
            confirmation_trials=outcome.confirmation_trials,
            pairs=outcome.pairs,
            compared=outcome.compared,
            events=outcome.events,
            witness=outcome.witness,
            bound=outcome.bound,
            distinguisher=outcome.distinguisher,
            design=outcome.design,
            budget=outcome.budget,
            errors=outcome.errors,
            scores=outcome.scores,
            tests=outcome.tests,
            representation=outcome.representation,
            tested_claim=outcome.tested_claim or UNSET,
            curve=outcome.curve,
            continued=outcome.continued or UNSET,
            log_evidence=outcome.log_evidence,
        )

    def _reach(self, tried: int) -> Reach | None:
        """Return how far pairs made of a dataset reach if so many were tried, or None for other pairs.

        Those that recorded noise has compared were tried as well, where it speaks for some of them.
        """
        side = self.pairs[0].sides[0]
        if self.dataset is None or not isinstance(side, MadeData):
            return None
        offered = max(side.source.offered, len(self.pairs))
        if self.shortlist is not None and self.shortlist.pairs:
            tried = min(self.shortlist.looked, offered)
        return Reach(tried, offered, side.source.offered < COUNTED, self.dataset.group)

    def _warnings(self, width: int, summed: int, not_run: int) -> Iterator[str]:
        """Yield the limits of the finding as texts; `width` is that of rows of numbers, or 0 without such rows."""
        if width and (dense := least_dense_shift(width, summed)) >= NOTED_SHIFT:
            yield (
                f"outputs hold rows of {width} numbers: {summed} runs a side can learn a shift of one number by "
                f"{least_shift(width, summed):.2g} standard deviations, and one of all numbers by unknown signs only "
                f"if it is {dense:.2g} or more in all (Mahalanobis distance)"
            )
        yield from self.preflight.warnings
        if not_run:
            yield f"{not_run} of {len(self.pairs)} pairs were not run: more trials look at all"
        same = (i for i, pair in enumerate(self.pairs) if identical(pair))
        yield from (f"pair {i}: both inputs are the same, so it can show no leak" for i in same)
        yield from self.clock.warnings

    def leaving_out(self, places: tuple[tuple[Place, str], ...]) -> Request:
        """Return the audit, not yet begun, of outputs without parts that all runs share."""
        sampler = replace(self.sampler, mechanism=leaving_out(self.sampler.mechanism, places))
        return replace(self, sampler=sampler, preflight=self.preflight.again(sampler))

    def check_power(self) -> None:
        """Raise `InputError` if the budget is more than bounds can do, or no number of runs can refute the claim."""
        if self.betting and self.look.curve:
            message = "{sequential:=True} bets instead of testing one event, so it takes no {curve}"
            raise InputError(message, names=("sequential", "curve"))
        runs = self.budget.confirmation
        if 2 * runs > MAX_RUNS:
            made = f"makes {runs} runs a side to confirm, and bounds take at most {MAX_RUNS // 2}: lower {{trials}}"
            raise InputError(f"{{trials}} of {self.trials} {made}", value=self.trials, names=("trials",))
        # It raises where no number of runs can refute the claim.
        _ = self.least_runs
