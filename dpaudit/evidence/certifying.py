"""Make the certificate of a violation: as the finding has it, or with a smaller pair and an explicit event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import UNSET, structs

from dpaudit.arguments import check_built, read_choice, read_integer
from dpaudit.audit.audit import sampler_of, without_shared
from dpaudit.audit.claim_tests import COIN, MELDED
from dpaudit.audit.finding import PrivacyFinding, Witness, is_coarse
from dpaudit.audit.parameters import EXECUTION, LOOK, Execution, Look
from dpaudit.contract import Learner, Pair, PrivacyVerdict, Relation
from dpaudit.errors import InputError, withholding
from dpaudit.events.explicit import ChosenEvent, choose
from dpaudit.evidence.certificate import (
    CLOPPER_PEARSON,
    Certificate,
    Counts,
    Given,
    Input,
    InputForm,
    Referred,
    counted,
    fewer,
)
from dpaudit.neighbours.check import check_pairs
from dpaudit.neighbours.smaller import Kept, Small, ValueRange, complexity, shrink
from dpaudit.neighbours.sources import CRAFTED, pairs_of_source
from dpaudit.neighbours.strategies import is_strategy, pairs_from_strategy
from dpaudit.outputs.canonical import Raised
from dpaudit.outputs.values import digest_of, encode_value
from dpaudit.progress import followed
from dpaudit.results import STREAMS_VERSION, versions
from dpaudit.running.sampling import Sampler
from dpaudit.running.warning_counts import gathered

KINDS = (COIN, MELDED, CLOPPER_PEARSON)
# Runs a side that are tried first to refute the claim; they are doubled until they do.
FIRST_RUNS = 500
# By how much more runs shrinking makes than the whole pair needs: a smaller pair may leak a little less.
GENEROUS = 2
# Smaller pairs that are tried.
MOST_PAIRS = 200
# The runs of a whole search, in units of the most on one side of a pair: about eight audits of one.
SEARCH = 16
# Crafted pairs from which a search begins where the audit's own was a variation of them.
STARTS = 8


def make(
    finding: PrivacyFinding,
    pairs: Sequence[Any] | None = None,
    *,
    mechanism: Any = None,
    name: str = "",
    place: str = "PAIRS",
    shrinks: bool = True,
    strategy: Any = None,
    bounds: ValueRange = None,
    bound: str | None = None,
    trials: int | None = None,
    batched: bool = False,
    n_jobs: int = 1,
    timeout: float | None = None,
    look: Look = LOOK,
    execution: Execution = EXECUTION,
) -> Certificate:
    """Return the certificate of a violation.

    Without the mechanism it holds the finding's own pair, event and counts. With it, the witness is made simpler first:
    runs that prove nothing look for a smaller pair and an event without a fitted score that still refute the claim.
    Once both are fixed, other runs see whether they hold up, and then `trials` fresh ones on each side give the counts.
    The bound's error is 1 - confidence; where the search may begin again, from one of k pairs, each has a k-th of it.
    Where no event without a score refutes the claim on the witness, the search takes another of the pairs. Where no
    such bound exceeds the claim, the finding's own numbers are certified, whose error is the finding's: a certificate
    of a true claim is made with a probability of at most 2 (1 - confidence).

    Parameters
    ----------
    finding : PrivacyFinding
        A violation.
    pairs : sequence of (data, neighbour) or Pair, or the strategy, optional
        The pairs that were audited; by default those that are crafted for a learner.
    mechanism : Learner or callable, optional
        The mechanism.
    name : str
        The mechanism as the certificate names it, as ``FILE.py:function``; by default as audits name it.
    place : str
        The place of the pairs, as ``FILE.py:PAIRS``; inputs that JSON cannot hold are named as ``FILE.py:PAIRS[3]``.
    shrinks : bool
        Whether to look for a smaller pair; else the pair stays and the event alone is made simpler.
    strategy : hypothesis strategy, optional
        What made the pairs: smaller ones are then looked for among those that it makes.
    bounds : tuple of two numbers, optional
        The range of values that the mechanism is made for, by default that of the pair: simpler values stay in it.
    bound : {"coin", "melded", "clopper-pearson"}, optional
        The kind of the bound of fresh runs; the guesses of coins by default, or the melded bound where delta > 0.
    trials : int, optional
        Fresh runs on each side that decide, and the most on each side that look at one pair; by default those that
        confirmed the finding.
    batched, n_jobs, timeout
        As for `audit_privacy`.
    look : Look
        Whether the event may be over how floats are stored, the points of a probe, and whether inputs that are made
        from somebody's data are shown; else they are named by recipe.
    execution : Execution
        Where runs are made, what a run is that takes too long, and whether progress is shown.

    Raises
    ------
    InputError
        If the finding is no violation or rests on run times, the pairs are not those that were audited, or the
        finding's own pair is a variation of them that is not known any more and none of them refutes the claim.
    """
    if finding.verdict is not PrivacyVerdict.VIOLATION:
        raise InputError.of("finding", str(finding.verdict), "a violation", "only violations have a certificate")
    if finding.rests_on_time:
        raise InputError("finding rests on run times, which a certificate does not hold", parameter="finding")
    bound = read_choice("bound", bound or (MELDED if finding.delta else COIN), KINDS)
    listed = _listed(finding, pairs, mechanism)
    if strategy is None and is_strategy(pairs):
        strategy = pairs
    maker = _Maker(finding, listed, name or "a mechanism", place, look.include_data)
    if mechanism is None:
        return maker.of_finding()
    check_built(mechanism, "mechanism")
    if trials is None:
        runs = finding.confirmation_trials or finding.trials
    else:
        runs = read_integer("trials", trials, 10)
    sampler = sampler_of(
        mechanism,
        finding.seed,
        batched=batched,
        probe=look.probe,
        n_jobs=n_jobs,
        backend=execution.backend,
        address=execution.address,
        timeout=timeout,
        timeout_is=execution.timeout_is,
    )
    maker = replace(maker, name=name or sampler.mechanism.name)
    hidden = not look.include_data and any(pair.withheld for pair in listed)
    # The runs of the search, and the fresh ones on both sides.
    planned = (SEARCH + 2) * runs
    followed_runs = followed(execution.progress, planned, "runs for the certificate")
    with withholding(hidden), gathered(), followed_runs as report:
        # An audit finds parts that runs share when they change; these runs have to know them before.
        sampler = without_shared(replace(sampler, report=report), listed[0])
        search = WitnessSearch(sampler, finding.epsilon, finding.delta, 1 - finding.confidence, runs, look.float_bits)
        found = maker.searched(search, bound, shrinks=shrinks, strategy=strategy, bounds=bounds)
    # The mechanism was at hand, and still no explicit event holds up on fresh runs.
    return found or maker.of_finding()


def _counts_of(witness: Witness) -> Counts | None:
    """Return the counts of the finding's own runs; None where bets decided, which count none."""
    hits = witness.hits
    runs = witness.trials
    neighbour_hits = witness.neighbour_hits
    neighbour_runs = witness.neighbour_trials
    if hits is None or runs is None or neighbour_hits is None or neighbour_runs is None:
        return None
    return Counts(hits, runs, neighbour_hits, neighbour_runs, witness.count)


def _listed(finding: PrivacyFinding, pairs: Any, mechanism: Any) -> list[Pair]:
    if pairs is None and not isinstance(mechanism, Learner):
        raise InputError("{pairs} must be given, as they were audited", names=("pairs",))
    if pairs is None or isinstance(pairs, str):
        relation = finding.relation or Relation.REPLACE_ONE
        pairs = pairs_of_source(pairs or CRAFTED, mechanism, relation=relation, seed=finding.seed)
    elif is_strategy(pairs):
        pairs = pairs_from_strategy(pairs, seed=finding.seed)
    listed = check_pairs(pairs, None)
    if [pair.origin for pair in listed] != list(finding.origins):
        text = "{pairs} must be the {audited} that were audited, in their order; got {given} pairs"
        raise InputError(text, names=("pairs",), audited=len(finding.origins), given=len(listed))
    return listed


@dataclass
class WitnessSearch:
    """Runs of a mechanism that look for a pair and an event, all at addresses of their own.

    `epsilon`, `delta` and `error` are the claim and the error of bounds that are compared. A pair takes `runs` a side,
    at `most` so many; `made` were made so far on both sides together, for `tried` pairs, and no further pair is tried
    once `limit` were.
    """

    sampler: Sampler
    epsilon: float
    delta: float
    error: float
    most: int
    float_bits: bool = False
    runs: int = FIRST_RUNS
    made: int = 0
    limit: int = 0
    tried: int = 0
    raising: bool = False
    known: dict[tuple[str, str], ChosenEvent | None] = field(default_factory=dict)

    def begin(self, pair: Pair) -> Small[ChosenEvent] | None:
        """Return a pair with an event that refutes the claim on it; None if `most` runs a side find none."""
        self.runs = min(FIRST_RUNS, self.most)
        self.limit = self.made + SEARCH * self.most
        while (chosen := self.refutes(pair, first=True)) is None and self.runs < self.most:
            self.runs = min(self.most, 2 * self.runs)
        self.runs = min(self.most, GENEROUS * self.runs)
        if chosen is None:
            return None
        return Small(pair, chosen)

    def refutes(self, pair: Pair, *, first: bool = False) -> ChosenEvent | None:
        """Return an event that refutes the claim on a pair, if there is one.

        A pair on which runs raise, where they did not on the first one, is one that the mechanism refuses.
        """
        self.tried += not first
        # By what the inputs are and not by their turn in the search: the same pair has the same runs, whatever was
        # tried before.
        address = ("certificate", "search", digest_of(pair.data), digest_of(pair.neighbour), self.runs)
        sides = self.sampler.sides(pair, address, self.runs)
        self.made += 2 * self.runs
        raising = any(type(output) is Raised for outputs in sides for output in outputs)
        self.raising |= first and raising
        if raising and not self.raising:
            return None
        chosen = choose(sides, self.delta, self.error, float_bits=self.float_bits)
        if chosen is None or not chosen.lower > self.epsilon:
            return None
        return chosen

    def better(self, pair: Pair) -> ChosenEvent | None:
        """Return an event that refutes the claim on a pair, always the same; None once enough were tried."""
        key = (digest_of(pair.data), digest_of(pair.neighbour))
        if key not in self.known:
            spent = self.tried >= MOST_PAIRS or self.made + 2 * self.runs > self.limit
            # No pair of equal inputs is a witness; an input without a digest has no address of its own.
            hopeless = spent or key[0] == key[1] or "" in key
            self.known[key] = None if hopeless else self.refutes(pair)
        return self.known[key]


def shrink_by_strategy(search: WitnessSearch, start: Small[ChosenEvent], strategy: Any) -> Iterator[Small[ChosenEvent]]:
    """Yield the start, then the simplest pair of a hypothesis strategy that refutes the claim."""
    import hypothesis

    yield start
    # Nothing is left to chance or to an earlier session: the same finding gives the same certificate. Runs of a
    # mechanism take longer than hypothesis allows for an example.
    settings = hypothesis.settings(
        max_examples=MOST_PAIRS,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    try:
        data, neighbour = hypothesis.find(
            strategy, lambda pair: search.better(Pair(pair[0], pair[1])) is not None, settings=settings
        )
    except hypothesis.errors.NoSuchExample:
        return
    pair = Pair(data, neighbour, start.pair.origin)
    chosen = search.better(pair)
    # What is simplest to hypothesis may be larger than the pair that was audited.
    if chosen is not None and complexity(pair) < complexity(start.pair):
        yield Small(pair, chosen)


@dataclass(frozen=True)
class _Maker:
    """Makes the certificates of one violation; the parameters are as for `make`."""

    finding: PrivacyFinding
    pairs: Sequence[Pair]
    name: str
    place: str
    include_data: bool

    def searched(
        self, search: WitnessSearch, bound: str, *, shrinks: bool, strategy: Any, bounds: ValueRange
    ) -> Certificate | None:
        """Return the certificate of a witness that a search made simpler; None if fresh runs confirm none."""
        for index, start, share in self.begun(search):
            smaller = [start]
            if shrinks:
                smaller = self.smaller(search, index, start, strategy, bounds)
            found = self.confirmed(search, index, smaller, bound, search.error / share)
            if found is not None:
                return found
        return None

    def begun(self, search: WitnessSearch) -> Iterator[tuple[int, Small[ChosenEvent], int]]:
        """Yield the pairs on which an explicit event refutes the claim, and among how many the error is shared.

        They are the witness, or those that it may be a variation of. Where none of them refutes the claim, the first
        other one that does has all of the error, since fresh runs of no other were counted.
        """
        witness = self.finding.witness
        numbers = range(len(self.pairs))
        if witness.pair in numbers:
            first = [witness.pair]
        else:
            # A variation is known by the words of its origin: pairs of the same words come first.
            first = sorted(numbers, key=lambda i: self.pairs[i].origin.text != witness.origin.text)[:STARTS]
        rest = [index for index in numbers if index not in first][:STARTS]
        found = False
        for index in [*first, *rest]:
            if found and index in rest:
                return
            pair = self.pairs[index]
            start = search.begin(Pair(pair.data, pair.neighbour, pair.origin))
            if start is not None:
                found = True
                share = len(first) if index in first else 1
                yield index, start, share

    def smaller(
        self, search: WitnessSearch, index: int, start: Small[ChosenEvent], strategy: Any, bounds: ValueRange
    ) -> list[Small[ChosenEvent]]:
        """Return ever smaller pairs that refute the claim and that a certificate can hold, the first one the start."""
        if strategy is not None:
            found = shrink_by_strategy(search, start, strategy)
        else:
            # An input that is named by recipe may lose records, whose numbers the certificate states; other values it
            # cannot name.
            hidden = start.pair.origin.kind.own and not self.include_data
            found = shrink(search.better, start, values=not hidden, bounds=bounds)
        return [one for one in found if one is start or self._inputs(index, one.pair, one.records, whole=False)]

    def confirmed(
        self, search: WitnessSearch, index: int, smaller: Sequence[Small[ChosenEvent]], bound: str, error: float
    ) -> Certificate | None:
        """Return the certificate by fresh runs of the smallest pair that holds up on others.

        None if they refute nothing, or the event names a value of people's data. Other runs choose the pair; the fresh
        ones are counted once, by one event.
        """
        claim = self.finding
        sampler = search.sampler
        # The smallest one first. These runs choose the pair, so that the fresh ones are counted for one pair and one
        # event only.
        for small in reversed(smaller):
            chosen = small.chosen
            events = (chosen.event, UNSET)
            again = counted(sampler, "validate", small.pair, events, chosen.direction, search.runs, None)
            search.made += 2 * search.runs
            if again.epsilon_lower(MELDED, claim.delta, error) > claim.epsilon:
                break
        else:
            return None
        number = None
        # Fixed before the fresh runs, so that the bound holds in whatever state earlier runs leave the mechanism.
        # Only batches with delta = 0 are counted whole.
        if claim.delta or not sampler.mechanism.batched:
            number = fewer(again, search.most)
        counts = counted(sampler, "confirm", small.pair, events, chosen.direction, search.most, number)
        if bound != COIN:
            counts = structs.replace(counts, count=UNSET)
        lower = counts.epsilon_lower(bound, claim.delta, error)
        inputs = self._inputs(index, small.pair, small.records, whole=small is smaller[0])
        made = self.pairs[index]
        # An event may name a value of somebody's data; such an event is not certified.
        shown = self.include_data or not made.withheld or is_coarse(made.sides[0].coarse, chosen.event)
        if lower <= claim.epsilon or inputs is None or not shown:
            return None
        return self._certificate(
            small.pair,
            inputs,
            epsilon_lower=lower,
            error=error,
            bound=bound,
            direction=chosen.direction,
            event=chosen.event,
            counts=counts,
            runs="fresh",
            searched=search.made,
        )

    def of_finding(self) -> Certificate:
        """Return the certificate with the finding's own pair, event and counts."""
        finding = self.finding
        witness = finding.witness
        # The claim is a curve: it is refuted as a whole, and the point of it that the finding states is not.
        if finding.epsilon_lower <= finding.epsilon and finding.curve_test is not None:
            raise InputError(
                "a bet on all outputs refutes the claim, and no event refutes a point of it, which is what a "
                f"certificate shows; got a bound of {finding.epsilon_lower:.4g} at the point ({finding.epsilon:.4g}, "
                f"{finding.delta:.4g})"
            )
        if witness.pair >= len(self.pairs):
            raise InputError(
                "the refuting pair is a variation of those audited, of which the finding has the words alone; give "
                "{mechanism}, and more {trials} if it was given, so that a pair is found again",
                names=("mechanism", "trials"),
            )
        pair = self.pairs[witness.pair]
        inputs = self._inputs(witness.pair, pair, None, whole=True)
        assert inputs is not None
        best = max(finding.tests, key=lambda test: test.epsilon_lower, default=None)
        explicit = all(event.explicit for event in (witness.event, witness.opposite) if event is not UNSET)
        counts = _counts_of(witness)
        # Without a best test the error is that of the whole finding.
        error = 1 - finding.confidence
        if best is not None:
            error = best.error
        return self._certificate(
            pair,
            inputs,
            epsilon_lower=finding.epsilon_lower,
            error=error,
            bound=finding.bound,
            direction=witness.direction,
            event=witness.event,
            opposite=witness.opposite,
            learned=None if explicit else finding.trials,
            counts=counts,
            runs="finding",
            searched=0,
        )

    def _certificate(self, pair: Pair, inputs: tuple[Input, Input], **found: Any) -> Certificate:
        return Certificate(
            mechanism=self.name,
            epsilon=self.finding.epsilon,
            delta=self.finding.delta,
            relation=self.finding.relation,
            confidence=self.finding.confidence,
            origin=pair.origin,
            data=inputs[0],
            neighbour=inputs[1],
            seed=self.finding.seed,
            streams_version=STREAMS_VERSION,
            versions=versions(),
            **found,
        )

    def _inputs(self, index: int, pair: Pair, records: Kept, *, whole: bool) -> tuple[Input, Input] | None:
        """Return both inputs of a pair, as values or else by reference; None where neither identifies them.

        Of the pair at `index` the `records` of either side were kept; `whole` is whether nothing of it was changed.
        """
        found: list[Input] = []
        hidden = pair.origin.kind.own and not self.include_data
        # Of people's data not even a value that JSON could hold is written down.
        for value, kept in zip((pair.data, pair.neighbour), records or (None, None), strict=True):
            if not hidden:
                with suppress(InputError):  # JSON has no such value
                    found.append(Given(encode_value(value)))
                    continue
            if kept is None and not whole:
                return None
            form = InputForm.of(value)
            found.append(Referred(f"{self.place}[{index}]", pair.origin.text, kept, index, form))
        return found[0], found[1]
