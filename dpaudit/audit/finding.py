"""The finding of a black-box audit: verdict, bound, power, and the event with its counts."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from dpaudit.audit.checks_and_gaps import AllRaised, Check, Gap, NotLookedAt
from dpaudit.audit.claim_tests import CoinCount, CurveTest, EventTest
from dpaudit.audit.clock import Stopped
from dpaudit.bounds.curve import Curve
from dpaudit.contract import OF_PRIVACY, Direction, Grade, Origin, OriginKind, Pair, PrivacyVerdict, Relation
from dpaudit.contract.pairs import differing
from dpaudit.errors import InputError
from dpaudit.events.event import YES_OR_NO, Bets, Cells, Event, Interval, Outputs, Withheld, is_table
from dpaudit.events.exceptions import by_name
from dpaudit.events.explicit import choose
from dpaudit.events.prefixes import likelier_first
from dpaudit.neighbours.pair_words import SAME, words_and_difference
from dpaudit.record import (
    Amount,
    Count,
    Extended,
    Frozen,
    Level,
    NonNegative,
    Probability,
    Share,
    Size,
    Unstored,
    Words,
)
from dpaudit.results import AuditFinding
from dpaudit.withheld import HOW, WITHHELD, Coarse, kind_words

# The other statement of an audit with run times, in its errors: the one that the verdict is not of.
ALONE = "outputs alone"
TIMED = "run time"
OF_RUN_TIME = (ALONE, TIMED)
# By how much log E must exceed log(1 / gamma): more than rounding can add to it.
ROUNDING = 1e-6
# The purposes of runs in each design.
_BUDGETS = {
    "fixed": {"search", "local", "pilot", "training", "confirmation", "checks"},
    "sequential": {"used", "allowed", "checks"},
}


class PowerAt(enum.StrEnum):
    """The event on which the least detectable epsilon is stated."""

    UNLIKELIER = "unlikelier side"
    """One as likely as the first event tested, on the side where that is the unlikelier."""
    LIKELIER = "likelier side"
    """The same on the likelier side, where the event is too likely on the other one to show any leak."""
    FRONTIER = "frontier"
    """The likeliest one of the frontier on which a leak would be detected: on an event tested none would be."""


# Runs a side that choose an event in simple words, the error of the bounds that they compare, which prove nothing,
# and the part of the best one that it must reach.
PLAIN_RUNS = 500
PLAIN_ERROR = 0.05
PLAIN_WORTH = 0.7
# The same where outputs are tables of pandas, whose parts take ten times as long to read.
PLAIN_TABLES = 150


class PlainEvent(Frozen, frozen=True):
    """An event that can be read off an output, where the one that was tested cannot, on runs that chose that one.

    Attributes
    ----------
    event : Event
        The event.
    direction : {"forward", "backward"}
        The side on which it is likelier.
    hits, trials, neighbour_hits, neighbour_trials : int
        Runs in the event and runs made, on the likelier side and on the other.
    """

    event: Event
    direction: Direction
    hits: Count
    trials: Size
    neighbour_hits: Count
    neighbour_trials: Size

    @classmethod
    def of(cls, sides: Sequence[Outputs], epsilon: float, delta: float) -> PlainEvent | UnsetType:
        """Return an event that refutes a claim on outputs of both sides alone, if there is one."""
        if not all(map(len, sides)):
            return UNSET
        runs = PLAIN_RUNS
        if is_table(sides[0][0]):
            runs = PLAIN_TABLES
        some = [outputs[:runs] for outputs in sides]
        # These runs chose the event that was tested, so that their bounds prove nothing: they compare events.
        found = choose(some, delta, PLAIN_ERROR, worth=PLAIN_WORTH)
        if found is None or found.lower <= epsilon:
            return cls._of_sum(some, epsilon, delta)
        seen = [(int(found.event.holds(outputs).sum()), len(outputs)) for outputs in some]
        likelier, other = likelier_first(found.direction, *seen)
        return cls(_by_name(found.event, some), found.direction, *likelier, *other)

    @classmethod
    def _of_sum(cls, sides: Sequence[Outputs], epsilon: float, delta: float) -> PlainEvent | UnsetType:
        """Return the event of a sum of a few named numbers that was seen too often for the claim, if there is one."""
        from dpaudit.events.formula import sum_event  # only a violation needs it

        found = sum_event(sides, epsilon, delta)
        if found is None:
            return UNSET
        event, direction, seen = found
        return cls(event, direction, *seen[0], *seen[1])

    @property
    def rates(self) -> tuple[float, float]:
        """The shares of runs in the event on the likelier side and on the other."""
        return self.hits / self.trials, self.neighbour_hits / self.neighbour_trials


def _by_name(event: Event, sides: Sequence[Outputs]) -> Event:
    """Return the event of the exceptions that were seen, by their names, in the place of that of any exception."""
    if not isinstance(event, Interval) or event.feature != "raised" or event.path or event.low <= 0:
        return event
    outputs = [output for side in sides for output in side]
    return by_name(outputs, [True] * len(outputs)) or event


class DatasetSize(Frozen, frozen=True):
    """The size of the dataset that neighbours were made from.

    Attributes
    ----------
    rows : int
        Its records.
    columns : int
        The columns in each.
    """

    rows: Count
    columns: Count


class Witness(Frozen, frozen=True, dict=True):
    """The strongest event found, with everything it takes to check it.

    Attributes
    ----------
    pair : int
        Index of the pair in the list that was audited.
    origin : Origin
        How the pair was made.
    data, neighbour : str
        The two inputs in words.
    direction : {"forward", "backward"}
        "forward" compares Pr[M(data) in event] with exp(epsilon) Pr[M(neighbour) in event]; "backward" swaps them.
    event : Event
        The event.
    hits, trials : int or None
        Runs in the event and runs made on the side where the event is likelier, in the confirmation part; None if no
        single event decided.
    neighbour_hits, neighbour_trials : int or None
        The same on the other side.
    opposite : Event
        The set of outputs that spoke for the other side, if there is one.
    count : CoinCount
        The count that decided, where coins were guessed.
    differs : tuple of (int, int)
        The place, from and up to which character, where the words of each input differ from those of the other.
    difference : str
        What differs between inputs that are too long to be read at a glance, as "row 7 of 15 removed".
    plain : PlainEvent
        An event that shows a violation in simpler words. It proves nothing, and is left out if `event` is as simple.
    """

    pair: Count
    origin: Origin
    data: str
    neighbour: str
    direction: Direction
    event: Event
    hits: Count | None = None
    trials: Count | None = None
    neighbour_hits: Count | None = None
    neighbour_trials: Count | None = None
    differs: tuple[tuple[Count, Count], tuple[Count, Count]] = ((0, 0), (0, 0))
    difference: Words | UnsetType = UNSET
    opposite: Event | UnsetType = UNSET
    count: CoinCount | UnsetType = UNSET
    plain: PlainEvent | UnsetType = UNSET
    inputs = Unstored[Pair | None](None, "The two inputs, or None if the finding was read from a file.")

    @classmethod
    def of(
        cls, index: int, pair: Pair, direction: Direction, event: Event, plain: PlainEvent | UnsetType = UNSET
    ) -> Witness:
        """Return an event of the pair at an index, without counts."""
        data, neighbour, phrase = words_and_difference(pair)
        if neighbour.startswith(SAME):  # the phrase is what differs
            places = (len(data), len(data)), (len(SAME), len(neighbour))
        else:
            places = differing(data, neighbour)
        made = cls(
            pair=index,
            origin=pair.origin,
            data=data,
            neighbour=neighbour,
            direction=direction,
            event=event,
            differs=places,
            difference=phrase or UNSET,
            plain=plain,
        )
        cls.inputs.note(made, pair)
        return made

    @classmethod
    def of_test(
        cls, index: int, pair: Pair, test: EventTest, runs: tuple[int, int], plain: PlainEvent | UnsetType = UNSET
    ) -> Witness:
        """Return the event of a test with its counts, among so many runs on the likelier side and on the other."""
        made = replace(
            cls.of(index, pair, test.direction, test.event, plain),
            hits=test.hits,
            trials=runs[0],
            neighbour_hits=test.neighbour_hits,
            neighbour_trials=runs[1],
            opposite=test.opposite,
            count=test.count,
        )
        cls.inputs.note(made, pair)
        return made

    def build(self) -> tuple[Any, Any]:
        """Return the two inputs, made again if they were made from a dataset.

        Raises
        ------
        InputError
            If the finding was read from a file: it has the words of the inputs alone. Also if outputs were recorded.
        """
        if self.origin.kind == OriginKind.RECORDED:
            raise InputError("the outputs were recorded elsewhere, and nothing is known of the inputs")
        pair = self.inputs
        if pair is None:
            raise InputError(
                f"the finding was read from a file, which does not hold its inputs: they are number {self.pair} of the "
                "pairs, or of dpaudit.neighbours_of(data, seed=...), if the local search did not vary them"
            )
        return pair.data, pair.neighbour

    @property
    def rates(self) -> tuple[float, float] | None:
        """The shares of runs in the event on the likelier side and on the other, or None if nothing was counted."""
        if not self.trials or not self.neighbour_trials or self.hits is None or self.neighbour_hits is None:
            return None
        return self.hits / self.trials, self.neighbour_hits / self.neighbour_trials

    @property
    def ratio(self) -> float:
        """The ratio of the rates, the likelier side's above the other's; nan where it never came or was not counted."""
        likely, other = self.rates or (0.0, 0.0)
        if other:
            return likely / other
        if likely:
            return math.inf
        return math.nan


class Continued(Frozen, frozen=True):
    """The file from which an audit went on; see `audit.saved_runs`.

    Attributes
    ----------
    trials : tuple of int
        The `trials` of each time that runs were added to it, the first one's first.
    digest : str
        That of its last line, over all lines before: a file that lost whole lines at its end has another one.
    unwritten : str
        Why the last runs of the finding are not in the file, such as a full disk; unset where all are.
    """

    trials: tuple[Size, ...]
    digest: str
    unwritten: Words | UnsetType = UNSET


class RunTime(Frozen, frozen=True):
    """The bound that outputs and the times of the runs give together; see `audit.run_time`.

    Attributes
    ----------
    counted : bool
        Whether the finding is that of outputs with their times: these refute the claim, outputs alone do not, and the
        control shows nothing.
    epsilon_lower, detectable_epsilon : float
        The lower bound on epsilon, and the power, of outputs with their times; as those of the finding.
    event : Event
        The strongest event over both.
    trials : int
        Runs on each side whose times were measured; the control has as many.
    control : float
        The lower bound on epsilon of equal inputs. Above 0 times depend on something else than the data and are not
        counted. Unset if the times decide nothing, so that no control was made.
    """

    counted: bool
    epsilon_lower: NonNegative
    detectable_epsilon: NonNegative
    event: Event
    trials: Size
    control: NonNegative | UnsetType = UNSET


class Reach(Frozen, frozen=True):
    """The reach of the pairs that are made of a dataset: those that were tried, and what none of them changes.

    Attributes
    ----------
    tried, offered : int
        The pairs that had runs, and those that the dataset gives.
    counted : bool
        Whether that is their number; else there are at least so many.
    group : int
        How many records (or users) the two inputs of a pair differ in, at most: the claim is one for such groups.
    """

    tried: Count
    offered: Size
    counted: bool = True
    group: Size = 1

    @property
    def in_words(self) -> str:
        """A phrase with the number of pairs that were tried and the number that the dataset gives."""
        least = "at least "
        if self.counted:
            least = ""
        if self.counted and self.tried == self.offered:
            if self.offered == 1:
                return "the one pair"
            return f"all {self.offered:,} pairs"
        return f"{self.tried:,} of {least}{self.offered:,} pairs"

    @property
    def not_tried(self) -> tuple[str, ...]:
        """The parts that were not looked at, for want of pairs."""
        left = self.offered - self.tried
        least = "at least "
        if self.counted:
            least = ""
        if not left:
            return (UNCHANGED,)
        return f"{least}{left:,} of {least}{self.offered:,} pairs that this dataset gives", UNCHANGED


# The part of a dataset at which no number of runs on its pairs looks.
UNCHANGED = "records, dates, categories and conjunctions that no pair changes"


class PrivacyFinding(AuditFinding, kw_only=True, frozen=True, tag="privacy"):
    """The finding of a black-box audit of a claim of (epsilon, delta)-differential privacy.

    `epsilon_lower` is a lower confidence bound on epsilon at the claim's delta, at level `confidence` over everything
    that the audit tried; `detectable_epsilon` the least true epsilon, for an event as likely as the first of `tests`,
    that this budget would have detected with probability about 0.95: the least that the part
    1 / `audit.power.LEARNING` of the confirmation runs detects in the fixed design, or bets in 1 / `LEARNING_OF_BETS`
    of the runs of the leading pair in the sequential one, had the event been given (there one of probability 0.1).
    `scripts/calibrate.py` measures that all runs are worth as much to an audit that has to learn the event. "As likely"
    is meant as `detectable_at` says. It speaks of leaks visible in the features looked at, which
    docs/research/outputs.md lists.

    Attributes
    ----------
    verdict : {"violation", "consistent", "no evidence"}
        "violation" if `epsilon_lower` exceeds `epsilon`; else "consistent", or "no evidence" where there are `gaps`.
    epsilon, delta : float
        The claim.
    epsilon_lower : float
        The lower confidence bound; 0 where nothing was found.
    detectable_epsilon : float
        The power of the audit, see above; infinite where the verdict is "no evidence".
    confidence : float
        Of the verdict, over all pairs, events and directions together.
    trials : int
        Runs on each side in all: of every pair and every purpose, checks among them.
    selection_trials, confirmation_trials : int
        Runs on each side that chose, and that decided.
    pairs, events : int
        How many pairs were tried, those of the local search included, and how many events were compared.
    compared : int
        On how many of the pairs runs would have shown a leak of `detectable_epsilon` to the search among them: those
        that were compared long enough for it. The findings of the reference run in ``reports`` lack it.
    witness : Witness
        The strongest event.
    bound : str
        The name of the bound: "coin", "melded", "betting".
    distinguisher : str
        What ordered the events.
    relation : Relation or None
        What the pairs were checked against, or None if it is unknown.
    seed : int
        The root seed.
    design : {"fixed", "sequential"}
        Whether the number of runs was fixed in advance.
    detectable_delta : float
        The least probability of an event that is impossible on the other side and would have been detected.
    frontier : tuple of (float, float)
        Pairs (probability of an event on the unlikelier side, least epsilon detected).
    budget : dict of str to int
        Runs on each side by purpose.
    errors : dict of str to float
        Error probabilities by statement; they add up to 1 - confidence.
    scores : tuple of str
        The discretizers that were tried on the pair chosen.
    origins : tuple of Origin
        How each pair given was made.
    tests : tuple of EventTest
        The events that share the verdict's error, the main one first; none in the sequential design.
    representation : EventTest or None
        An event over how floats are stored and not over their values. The verdict does not rest on it, and it has an
        error of its own. None if outputs hold no floats, or if `float_bits` makes bits count.
    curve : Curve or None
        Bounds on delta at every epsilon for independent runs, if asked for.
    claim_id : str
        The theorem, where its own statement was tested.
    warnings : tuple of str
        What limits the finding.
    detectable_at : PowerAt
        On which event `detectable_epsilon` is stated.
    gaps : tuple of Gap
        Why the audit could not have seen that the claim fails; empty if it could.
    checks : tuple of Check
        The checks of the mechanism's randomness and state, made on a few runs.
    not_looked_at : tuple of str
        Output components that were not analysed (a gap), relations between parts that no feature shows, and what no
        pair made of a dataset changes.
    reach : Reach
        Of an audit of a dataset: the pairs that were tried, of those that it gives.
    grade : {"statistical"}
        The kind of the evidence.
    tested_claim : CurveTest
        The test of a claim that is a curve; left out if the claim is (epsilon, delta)-privacy.
    in_any_state : bool
        Whether the bound holds in whatever state earlier runs leave the mechanism, if the claim holds in each of them,
        but not in one that several workers share outside their processes; else runs are assumed to be independent.
    stopped : Stopped
        Of an audit with a time limit: the runs that it began with, the looks that it had time for, and what else the
        limit has decided.
    replayed : int
        Runs with recorded noise, which bounds do not count, that looked for the pairs on which the others were made:
        there the values that noise is added to move most, or the data are read elsewhere.
    run_time : RunTime
        What outputs show together with the times of the runs; only with `time`.
    continued : Continued
        The file that the audit went on from, by its links and its digest; only with `continued`.
    dataset : DatasetSize
        The size of the dataset that the pairs were made from, if there is one.
    log_evidence : float
        In the sequential design the natural logarithm of the greatest wealth that bets against the claim have had, from
        1 on: of the grid's epsilons up to the claim, the least one's. Unset in the fixed design, and in findings of an
        earlier version.
    libraries : dict of str to str
        The versions of the distributions that the mechanism is made of: its own, and those that its module imports,
        in addition to the ones in `versions`. A learner of dpaudit has none.
    """

    verdicts: ClassVar[tuple[PrivacyVerdict, ...]] = OF_PRIVACY
    verdict: PrivacyVerdict
    epsilon: Amount
    delta: Probability
    epsilon_lower: NonNegative
    detectable_epsilon: NonNegative
    confidence: Level
    trials: Size
    selection_trials: Count
    confirmation_trials: Count
    pairs: Size
    events: Count
    witness: Witness
    bound: str
    distinguisher: str
    relation: Relation | None
    seed: Count
    design: Literal["fixed", "sequential"]
    detectable_delta: NonNegative
    frontier: tuple[tuple[Share, NonNegative], ...]
    budget: dict[str, Count]
    errors: dict[str, Share]
    scores: tuple[str, ...]
    origins: tuple[Origin, ...]
    tests: tuple[EventTest, ...] = ()
    representation: EventTest | None = None
    curve: Curve | None = None
    claim_id: str = ""
    warnings: tuple[str, ...] = ()
    detectable_at: PowerAt = PowerAt.UNLIKELIER
    gaps: tuple[Gap, ...] = ()
    checks: tuple[Check, ...] = ()
    not_looked_at: tuple[Words, ...] = ()
    grade: Grade = Grade.STATISTICAL
    tested_claim: CurveTest | UnsetType = UNSET
    in_any_state: bool = False
    stopped: Stopped | UnsetType = UNSET
    replayed: Count | UnsetType = UNSET
    compared: Size | UnsetType = UNSET
    run_time: RunTime | UnsetType = UNSET
    continued: Continued | UnsetType = UNSET
    reach: Reach | UnsetType = UNSET
    dataset: DatasetSize | UnsetType = UNSET
    log_evidence: Extended | UnsetType = UNSET
    libraries: dict[str, str] | UnsetType = UNSET

    @property
    def curve_test(self) -> CurveTest | None:
        """The test of a claim that is a curve, or None if the claim is (epsilon, delta)-privacy."""
        if self.tested_claim is UNSET:
            return None
        return self.tested_claim

    @property
    def p_value(self) -> float:
        r"""The p-value of the claim, over all that the audit tried: the least error at which it is refuted.

        In the fixed design the confirming runs have made tests with p-values p_i at the claim, whose shares w_i of the
        error were fixed before (w_i = `error` of the test over that of the verdict). A bet by Holder's inequality is
        one of them; its p-value is 1 over the evidence. In the sequential design it is 1 over the greatest wealth, by
        Ville's inequality:

        .. math:: p = \min(1, \min_i p_i / w_i) \quad\text{or}\quad p = \min(1, 1 / \max_t E_t) .

        If the claim is true, Pr[p <= a] <= a for every a. The claim is refuted where p is at most the error of the
        verdict, up to rounding; a check that makes runs meaningless leaves it "no evidence" all the same.
        """
        verdict = self.errors["verdict"]
        # The other statement of an audit with run times could have refuted the claim too.
        whole = verdict + sum(self.errors.get(name, 0.0) for name in OF_RUN_TIME)
        if self.design == "sequential":
            return min(1.0, self._p_value_of_bets() * whole / verdict)
        witness = self.witness
        assert witness.trials is not None
        assert witness.neighbour_trials is not None
        sides = likelier_first(witness.direction, witness.trials, witness.neighbour_trials)
        found = 1.0
        for test in self.tests:
            runs = likelier_first(test.direction, *sides)
            found = min(found, test.p_value(runs, self.epsilon, self.delta) * whole / test.error)
        if self.curve_test is not None and self.curve_test.holder is not None:
            holder = self.curve_test.holder
            found = min(found, holder.p_value * whole / holder.error)
        return found

    def _p_value_of_bets(self) -> float:
        if self.log_evidence is not UNSET:
            return math.exp(-max(0.0, self.log_evidence - ROUNDING))
        # A finding of an earlier version has the wealth on the pair that led, at its end: half of the mean over pairs,
        # which bets on several are worth at least, is at least this part of it.
        if not isinstance(self.witness.event, Bets):
            return 1.0
        parts = 1 if self.pairs == 1 else 2 * self.pairs
        return parts * math.exp(-max(0.0, self.witness.event.log_stake))

    # Not stored: a finding holds nothing that depends on the machine.
    seconds_a_run = Unstored[float | None](None, "The seconds that a run took, or None if that is not known.")

    @property
    def rests_on_time(self) -> bool:
        """Whether the verdict is that of outputs with their run times."""
        return self.run_time is not UNSET and self.run_time.counted

    @property
    def recorded(self) -> bool:
        """Whether the outputs were recorded elsewhere."""
        return self.witness.origin.kind == OriginKind.RECORDED

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = (self.witness.hits, self.witness.trials, self.witness.neighbour_hits, self.witness.neighbour_trials)
        fixed = self.design == "fixed"
        if any((count is None) == fixed for count in counts) or (self.curve is not None and not fixed):
            raise InputError("the witness has counts, and there may be a curve, in the fixed design and only there")
        if self.budget.keys() != _BUDGETS[self.design]:
            raise InputError(f"budget must have {', '.join(sorted(_BUDGETS[self.design]))} in the {self.design} design")
        if "verdict" not in self.errors:
            raise InputError("errors must have that of the verdict")
        if 1 < self.detectable_delta < math.inf:
            raise InputError.of("detectable_delta", self.detectable_delta, "in [0, 1] or infinite")
        if self.verdict != PrivacyVerdict.VIOLATION and (self.verdict == PrivacyVerdict.NO_EVIDENCE) != bool(self.gaps):
            raise InputError("the verdict is 'no evidence' where there are gaps and no violation, and only there")
        if self.grade != Grade.STATISTICAL:
            raise InputError.of("grade", self.grade, "statistical")


def withheld(finding: PrivacyFinding, pairs: Iterable[Pair]) -> PrivacyFinding:
    """Return a finding that shows nothing of the records that its pairs were made from but what is coarse.

    An event over outputs may name a value, where the mechanism releases it; so may the name of a score, and an
    exception. Pairs that are given as they are, or may be shown, withhold nothing.
    """
    made = next((pair.sides[0] for pair in pairs if pair.withheld), None)
    if made is None:
        return finding
    coarse = made.coarse
    # What no pair changes is said of the pairs alone, and names no value of a record.
    own: tuple[str, ...] = ()
    if finding.reach is not UNSET:
        own = finding.reach.not_tried
    unseen = [part if part in own else _coarse_name(coarse, part) for part in finding.not_looked_at]
    representation = finding.representation
    if representation is not None:
        representation = _coarse_test(coarse, representation)
    return replace(
        finding,
        witness=_coarse_witness(coarse, finding.witness),
        tests=tuple(_coarse_test(coarse, test) for test in finding.tests),
        representation=representation,
        gaps=tuple(_coarse_gap(coarse, gap) for gap in finding.gaps),
        scores=tuple(_coarse_name(coarse, score) for score in finding.scores),
        distinguisher=_coarse_name(coarse, finding.distinguisher),
        not_looked_at=tuple(unseen),
    )


def is_coarse(coarse: Coarse, event: Event) -> bool:
    """Return whether all that an event names may be shown."""
    if not isinstance(event, Cells | Interval):
        return True
    if not (coarse.name(event.feature) and all(map(coarse.step, event.path))):
        return False
    if isinstance(event, Interval):
        return event.feature in YES_OR_NO or (coarse.threshold(event.low) and coarse.threshold(event.high))
    return all(map(coarse.value, (*(end for ends in event.ranges for end in ends), *event.values, *event.labels)))


def _coarse_name(coarse: Coarse, name: str) -> str:
    if coarse.name(name):
        return name
    return WITHHELD


def _coarse_event(coarse: Coarse, event: Event) -> Event:
    """Return an event that names no value which may not be shown; of others the feature is named, if that may be."""
    if not isinstance(event, Cells | Interval) or is_coarse(coarse, event):
        return event
    if coarse.name(event.feature):
        return Withheld(event.feature)
    return Withheld(coarse.sum_of(event.feature) or UNSET)


def _coarse_opposite(coarse: Coarse, event: Event | UnsetType) -> Event | UnsetType:
    if event is UNSET:
        return UNSET
    return _coarse_event(coarse, event)


def _coarse_test(coarse: Coarse, test: EventTest) -> EventTest:
    event = _coarse_event(coarse, test.event)
    return replace(test, event=event, opposite=_coarse_opposite(coarse, test.opposite))


def _coarse_witness(coarse: Coarse, witness: Witness) -> Witness:
    plain: PlainEvent | UnsetType = UNSET
    if witness.plain is not UNSET:
        plain = _coarse_plain_event(coarse, witness.plain)
    found = replace(
        witness,
        event=_coarse_event(coarse, witness.event),
        opposite=_coarse_opposite(coarse, witness.opposite),
        plain=plain,
    )
    Witness.inputs.note(found, witness.inputs)
    return found


def _coarse_plain_event(coarse: Coarse, plain: PlainEvent) -> PlainEvent | UnsetType:
    """Return an event in simpler words that may be shown; UNSET if not even a sum without its factors may."""
    if is_coarse(coarse, plain.event):
        return plain
    words = None
    if isinstance(plain.event, Interval):
        words = coarse.sum_of(plain.event.feature)
    if words:
        return replace(plain, event=Withheld(words))
    return UNSET


def _coarse_gap(coarse: Coarse, gap: Gap) -> Gap:
    if isinstance(gap, NotLookedAt):
        return NotLookedAt(tuple(_coarse_name(coarse, part) for part in gap.parts))
    if isinstance(gap, AllRaised):
        # The message of an exception may quote a record.
        kind = kind_words(gap.error_type)
        return replace(gap, usual=f"{kind} ({HOW})", error_type=kind)
    return gap
