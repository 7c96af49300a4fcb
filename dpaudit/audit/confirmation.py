"""Make the fresh runs that confirm, each on a side that a fair coin decides, and count what they show.

A guess names the coin of some runs, by their outputs, and says nothing about others. The first N0 runs whose coin it
names are counted, in their order, and no more: if the claim holds in every state in which earlier runs leave the
mechanism, each of them is right with probability at most e^epsilon / (1 + e^epsilon), whatever came before. Runs of a
batch are assumed to be independent. Given how many of them have their coin named, all of these may be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.audit.checks_and_gaps import Answer, Check, CheckName, Observations, calls_agree, different
from dpaudit.audit.choice import Choice
from dpaudit.audit.claim_tests import CoinCount, EventTest
from dpaudit.audit.request import Request
from dpaudit.bounds.base import Array, Bools
from dpaudit.contract import Direction
from dpaudit.events.cells import tally
from dpaudit.events.coin_guesses import DATA, NEIGHBOUR, Guess, GuessCodes
from dpaudit.events.event import CellSet, Event, Tally
from dpaudit.events.prefixes import likelier_first
from dpaudit.events.selected import SelectedEvent
from dpaudit.outputs.types import Batch
from dpaudit.running.sampling import Couple, Couples, narrowed, with_exceptions

Tallies: TypeAlias = tuple[Tally, Tally]
# A set of cells that decides, by its selected event.
_Set: TypeAlias = tuple[int, CellSet]
# For each selected event the cells of a batch, with the bits of what guesses say of its runs where these are in order;
# and the scatter of the batch.
_Counts: TypeAlias = tuple[list[tuple[Tally, NDArray[np.uint16] | None]], Array]
# The counts of a batch, and its exceptions.
_Seen: TypeAlias = tuple[_Counts, Counter[tuple[str, ...]]]
# The same of both sides of a couple; None for a side without runs.
_SeenOfSides: TypeAlias = tuple[_Seen | None, _Seen | None]


class Hits:
    """The right ones among the first hits of a guess, for some numbers of first hits; `seen` are all hits so far."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.seen = 0
        self.right = [0] * len(numbers)

    def take(self, right: Bools) -> None:
        """Add hits in their order."""
        for i, number in enumerate(self.numbers):
            self.right[i] += int(np.count_nonzero(right[: max(0, number - self.seen)]))
        self.seen += len(right)


class Confirmation:
    """The fresh runs of the pair chosen, and what they count.

    Each selected event has a share of the verdict's error; of the `look` at which the time was over all of them have
    that look's part alone. The `couples` are the jobs of all runs. The `counts` are those of the cells on both sides by
    each selected event's discretizer, the `hits` those of the guesses of all selected events, where the runs are in
    order. Exceptions are `raised` by type, message and line; `sides` are the runs made on the data and on the
    neighbour.
    """

    def __init__(self, request: Request, choice: Choice) -> None:
        self._request = request
        self._choice = choice
        self._selected = choice.selected
        self.counts: list[Tallies] = [(Counter(), Counter()) for _ in choice.selected]
        self._ordered = not request.sampler.mechanism.batched
        self.sampler = narrowed(
            replace(request.sampler, view=choice.reducer), [one.discretizer for one in choice.selected]
        )
        self.planned = 2 * request.budget.confirmation
        # A fair coin decides the side of each run: runs of one side after those of the other accuse private mechanisms
        # that drift, and with coins they do not.
        couples = self.sampler.tossed(choice.pair, ("confirm", choice.index), self.planned, compared=True)
        self.guesses: list[tuple[int, Guess]] = []
        self._sets: tuple[_Set, ...] = ()
        if self._ordered:
            self.guesses = [(i, guess) for i, one in enumerate(choice.selected) for guess in one.guesses]
        else:
            # The calls that make many runs are compared by the hits of these.
            self._sets = tuple((i, one) for i, selected in enumerate(choice.selected) for one in _sets(selected))
        looks = request.clock.all_looks(len(couples))
        self.couples = couples.grouped([chunks.stop for chunks, _ in looks])
        made = [min(self.planned, chunks.stop * self.couples.size) for chunks, _ in looks]
        self.hits = [Hits([self._number(guess, choice.shares[i], runs) for runs in made]) for i, guess in self.guesses]
        self.raised: Counter[tuple[str, ...]] = Counter()
        self.sides = (0, 0)
        self.look = 1.0
        self._ended = 0
        self.scatter: list[Array] = [np.zeros(len(self._sets) + 1)] * 2

    def run(self) -> None:
        """Make the runs, look by look while there is time."""
        for chunks, share in self._request.clock.looks(len(self.couples)):
            self.look = share
            self._make(self.couples[chunks])
            self._ended += 1

    def _make(self, couples: Couples) -> None:
        """Make the runs of some couples of jobs, and add what they count."""
        # What training counted stays here: workers need the rule alone.
        rules = tuple(replace(one, training=(Counter(), Counter()), orders=()) for one in self._selected)
        codes: tuple[GuessCodes | None, ...] = (None,) * len(rules)
        if self._ordered:
            codes = tuple(GuessCodes(one.guesses) if one.guesses else None for one in self._selected)
        reduce = partial(with_exceptions, partial(_counted, rules, codes, self._sets))
        # Runs without an order are summed where they are made.
        if not self._ordered:
            for runs, found in self.sampler.summed(couples, reduce, _added):
                self._add(runs, found)
            return
        for couple, found in zip(couples, self.sampler.reduced(couples, reduce), strict=True):
            self._add((couple[0].size, couple[1].size), found)
            for hits, right in zip(self.hits, self._right(couple, found), strict=True):
                hits.take(right)

    def _add(self, runs: tuple[int, int], found: _SeenOfSides) -> None:
        """Add what so many runs on either side have counted; they come after all that were added."""
        self.sides = self.sides[0] + runs[0], self.sides[1] + runs[1]
        for number, side in enumerate(found):
            if side is None:  # a job without runs
                continue
            (of_events, scatter), raised = side
            for totals, (counts, _) in zip(self.counts, of_events, strict=True):
                totals[number].update(counts)
            self.raised.update(raised)
            self.scatter[number] = self.scatter[number] + scatter

    def _right(self, couple: Couple, found: _SeenOfSides) -> list[Bools]:
        """Return for each guess whether it is right about each run whose coin it names, in the order of the runs."""
        turns = self.sampler.turns(couple)
        right = []
        for i, one in enumerate(self._selected):
            codes = np.zeros(len(turns), dtype=np.uint16)
            for turn, side in enumerate(found):
                if side is None:
                    continue
                (of_events, _), _ = side
                _, own = of_events[i]
                if own is not None:
                    codes[turns == turn] = own
            for place in range(len(one.guesses)):
                said = codes >> (2 * place) & 3
                right.append((said == np.where(turns == 0, DATA, NEIGHBOUR))[said > 0])
        return right

    @property
    def runs(self) -> int:
        """The runs made on both sides."""
        return sum(self.sides)

    @property
    def seen(self) -> Observations:
        """The outcome of the runs apart from the tests."""
        # An event may have one outcome although outputs vary, as those show that it was chosen by.
        varied = max(different(*self.counts[0]), self._choice.different)
        checks: set[Check] = set()
        for place, (i, event) in enumerate(self._sets):
            sides = zip(self.counts[i], self.sides, self.scatter, strict=True)
            hits = [(event.hits(side), runs, round(own[-1]), float(own[place])) for side, runs, own in sides]
            if not calls_agree(hits, len(self._sets)):
                checks = {Check(CheckName.CALLS, Answer.DEPENDS, 0)}
        return Observations(self.runs, varied, self.raised, tuple(checks))

    def tests(self, i: int) -> tuple[EventTest, ...]:
        """Return the bounds on epsilon by a selected event; with its share of the error one of them may be wrong."""
        selected = self._selected[i]
        # The product is what the union bound leaves to this event: over looks, over events, and over statements.
        error = self._choice.shares[i] * self.look * self._request.verdict_gamma
        if selected.guesses:
            return tuple(self._guessed(i, place, one, one.share * error) for place, one in enumerate(selected.guesses))
        return (self._bounded(i, selected.event, selected.direction, error),)

    def _bounded(
        self,
        i: int,
        event: CellSet,
        direction: Direction,
        error: float,
        opposite: CellSet | None = None,
        count: CoinCount | UnsetType = UNSET,
    ) -> EventTest:
        """Return the test of an event over the cells of a selected one, with its bound."""
        describe = self._selected[i].discretizer.describe
        hits, others = (event.hits(side) for side in likelier_first(direction, *self.counts[i]))
        against: Event | UnsetType = UNSET
        if opposite:
            against = describe(opposite)
        test = EventTest(describe(event), error, hits, others, 0.0, direction, against, count)
        runs = likelier_first(direction, *self.sides)
        return changed(test, epsilon_lower=test.lower(runs, self._request.claim.delta))

    def _number(self, guess: Guess, share: float, runs: int) -> int:
        """Return N0 of a guess; where the time is over after so many runs, the part of it that belongs to the look."""
        request = self._request
        gamma = guess.share * share * self._request.verdict_gamma
        number = guess.planned(self.planned, self._choice.trained, gamma, request.claim.epsilon)
        # The number for each look is fixed before its runs, as that for all of them is.
        return max(1, number * runs // self.planned)

    def _guessed(self, i: int, place: int, guess: Guess, error: float) -> EventTest:
        """Return the bound by one guess, whose missing hits are guesses at coins that are drawn here."""
        sampler = self._request.sampler
        # A stream for each guess: the coins of one do not depend on how many another has drawn.
        rng = seeding.generator(sampler.seed, "privacy", sampler.mechanism.stream, "guesses", i, place)
        if self._ordered:
            # Not all hits may count: a private mechanism that stops hitting once it is ahead would be accused in 28 %
            # of audits with an error of 5 % and 500 hits (`tests/calibration/test_coin_design.py`).
            held = next(hits for hits, (j, one) in zip(self.hits, self.guesses, strict=True) if j == i and one is guess)
            planned = held.numbers[self._ended - 1]
            right = held.right[self._ended - 1]
            count = CoinCount.of(right, min(held.seen, planned), planned, rng)
        else:
            first, other = likelier_first(guess.direction, *self.counts[i])
            right = guess.event.hits(first)
            wrong = guess.event.hits(other)
            if guess.opposite:
                right += guess.opposite.hits(other)
                wrong += guess.opposite.hits(first)
            # With delta > 0 the number must not depend on the outputs, even if runs are independent.
            number = None
            if self._request.claim.delta:
                number = self._number(guess, self._choice.shares[i], self.runs)
            count = CoinCount.of_sides(right, wrong, number, rng)
        return self._bounded(i, guess.event, guess.direction, error, guess.opposite, count)


def _sets(selected: SelectedEvent) -> tuple[CellSet, ...]:
    """Return the sets of cells that decide, the event of a guess and the one that is opposite."""
    both = (one for guess in selected.guesses for one in (guess.event, guess.opposite) if one is not None)
    return tuple(both) or (selected.event,)


def _added(one: _Seen, other: _Seen) -> _Seen:
    """Add the counts of a second batch to those of the first, in place, and return it."""
    (of_events, scatter), raised = one
    (more_of_events, more_scatter), more_raised = other
    for (total, _), (more, _) in zip(of_events, more_of_events, strict=True):
        total.update(more)
    scatter += more_scatter
    raised.update(more_raised)
    return one


def _counted(
    selected: tuple[SelectedEvent, ...], codes: tuple[GuessCodes | None, ...], sets: tuple[_Set, ...], outputs: Batch
) -> _Counts:
    """Count the cells of a batch by each selected event's discretizer, and read what guesses say of runs in order.

    The scatter of the batch is h^2 / n for each of the `sets`, by their selected events, and 1 for the call.
    """
    found: list[tuple[Tally, NDArray[np.uint16] | None]] = []
    for one, guesses in zip(selected, codes, strict=True):
        cells = one.discretizer(outputs)
        of_runs = None
        if guesses is None:
            counts = tally(cells)
        else:
            counts, of_runs = guesses(cells)
        found.append((one.event.with_rare_merged(counts), of_runs))
    hits = [event.hits(found[i][0]) for i, event in sets]
    return found, np.array([*(h**2 / len(outputs) for h in hits), 1.0])
