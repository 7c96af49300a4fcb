"""Make the fresh runs that confirm, each on a side that a fair coin decides, and count what they show.

Guesses of coins are counted in the order of the runs, the first N0 of which a guess says something, and no more: if
the claim holds in every state in which earlier runs leave the mechanism, each of them is right with probability
e^epsilon / (1 + e^epsilon) at most, whatever came before. Runs of a batch are assumed to be independent, so that given
their number all of which a guess says something are right as often at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from dpaudit import seeding
from dpaudit.audit.candidate import Candidate
from dpaudit.audit.evidence import Observations, different
from dpaudit.audit.request import Request
from dpaudit.audit.tested import CoinCount, EventTest
from dpaudit.events.cells import tally
from dpaudit.events.event import Tally
from dpaudit.events.families import likelier_first
from dpaudit.events.guesses import DATA, NEIGHBOUR, Guess, GuessCodes
from dpaudit.events.selection import Selection
from dpaudit.running.sampling import Observed, narrowed

Tallies = tuple[Tally, Tally]
Codes = NDArray[np.uint16]


class Confirmation:
    """The fresh runs of the pair chosen, look by look where the time is limited, until it is over.

    Each selected event has a share of the verdict's error; of the `look` at which the time was over all of them have
    that look's part alone.

    Attributes
    ----------
    counts : list of tuple of Tally
        The cells on both sides by each selected event's discretizer.
    sides : tuple of int
        Runs made on the data and on the neighbour.
    runs : int
        All of them.
    look : float
        The look's share of the error.
    seen : Observations
        What else the runs show.
    """

    def __init__(
        self, request: Request, candidate: Candidate, selected: Sequence[Selection], shares: Sequence[float]
    ) -> None:
        self._request, self._candidate, self._selected, self._shares = request, candidate, selected, shares
        self.counts: list[Tallies] = [(Counter(), Counter()) for _ in selected]
        self._ordered = not candidate.sampler.mechanism.batched
        rights = [one.guesses if self._ordered else () for one in selected]
        self._right: list[list[list[NDArray[np.bool_]]]] = [[[] for _ in guesses] for guesses in rights]
        raised: Counter[tuple[str, ...]] = Counter()
        data = neighbour = 0
        sampler = narrowed(candidate.sampler, [one.discretizer for one in selected])
        couples = sampler.tossed(candidate.pair, ("confirm", candidate.index), 2 * request.budget.confirmation)
        # What training counted stays here: workers need the rule alone.
        rules = tuple(replace(one, training=(Counter(), Counter()), orders=()) for one in selected)
        codes = tuple(GuessCodes(one.guesses) if self._ordered and one.guesses else None for one in selected)
        count = _Count(rules, codes)
        self.look = 1.0
        for chunks, self.look in request.clock.looks(len(couples)):
            made = couples[chunks]
            for couple, found in zip(made, sampler.reduced(made, Observed(count)), strict=True):
                turns = sampler.turns(couple) if self._ordered else NO_TURNS
                self._take(turns, [one[0] if one else None for one in found])
                for one in found:
                    raised.update(one[1] if one else ())
                data, neighbour = data + couple[0].size, neighbour + couple[1].size
        self.sides, self.runs = (data, neighbour), data + neighbour
        # An event may have one outcome although outputs vary, as those show that it was chosen by.
        varied = max(different(*self.counts[0]), candidate.different)
        self.seen = Observations(self.runs, varied, raised)

    def _take(self, turns: NDArray[np.uint8], found: Sequence[list[tuple[Tally, Codes | None]] | None]) -> None:
        """Add what was counted of a couple of jobs."""
        for i, rights in enumerate(self._right):
            for total, side in zip(self.counts[i], found, strict=True):
                total.update(side[i][0] if side else ())
            codes = np.zeros(len(turns), dtype=np.uint16)
            for turn, side in enumerate(found):
                if side and (own := side[i][1]) is not None:
                    codes[turns == turn] = own
            for place, kept in enumerate(rights):
                said = codes >> (2 * place) & 3
                kept.append((said == np.where(turns == 0, DATA, NEIGHBOUR))[said > 0])

    def tests(self, i: int) -> tuple[EventTest, ...]:
        """Return the bounds on epsilon by a selected event, all of which hold but with its share of the error."""
        selected, error = self._selected[i], self._shares[i] * self.look * self._request.verdict_gamma
        if selected.guesses:
            return tuple(self._guessed(i, place, one, one.share * error) for place, one in enumerate(selected.guesses))
        first, other = likelier_first(selected.direction, *self.counts[i])
        hits, others = selected.event.hits(first), selected.event.hits(other)
        found = selected.discretizer.describe(selected.event)
        return (self._bounded(EventTest(found, error, hits, others, 0.0, selected.direction)),)

    def _bounded(self, test: EventTest) -> EventTest:
        """Return a test with its bound."""
        runs = likelier_first(test.direction, *self.sides)
        return changed(test, epsilon_lower=test.lower(runs, self._request.claim.delta))

    def _number(self, guess: Guess, share: float) -> int:
        """Return N0 of a guess; where the time was over, the part of it that belongs to the look."""
        request = self._request
        planned, gamma = 2 * request.budget.confirmation, guess.share * share * request.verdict_gamma
        number = guess.planned(planned, self._candidate.trained, gamma, request.claim.epsilon)
        return max(1, number * self.runs // planned)

    def _guessed(self, i: int, place: int, guess: Guess, error: float) -> EventTest:
        """Return the bound by one guess, whose missing hits are guesses at coins that are drawn here."""
        selected, claim = self._selected[i], self._request.claim
        sampler = self._request.sampler
        rng = seeding.generator(sampler.seed, "privacy", sampler.mechanism.stream, "guesses", i, place)
        first, other = likelier_first(guess.direction, *self.counts[i])
        if self._ordered:
            right = np.concatenate(self._right[i][place])
            count = CoinCount.of_order(right, self._number(guess, self._shares[i]), rng)
        else:
            hits = guess.event.hits(first), guess.event.hits(other)
            opposed = (guess.opposite.hits(other), guess.opposite.hits(first)) if guess.opposite else (0, 0)
            # With delta > 0 the number must not depend on the outputs, even if runs are independent.
            number = self._number(guess, self._shares[i]) if claim.delta else None
            count = CoinCount.of_sides(hits[0] + opposed[0], hits[1] + opposed[1], number, rng)
        describe = selected.discretizer.describe
        test = EventTest(
            describe(guess.event),
            error,
            guess.event.hits(first),
            guess.event.hits(other),
            0.0,
            guess.direction,
            opposite=describe(guess.opposite) if guess.opposite else UNSET,
            count=count,
        )
        return self._bounded(test)


NO_TURNS = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class _Count:
    """Counts the cells of a batch by each selected event's discretizer.

    Where runs are in order it says of each of them as well what the guesses say of it.
    """

    selected: tuple[Selection, ...]
    codes: tuple[GuessCodes | None, ...]

    def __call__(self, outputs: Any) -> list[tuple[Tally, Codes | None]]:
        found: list[tuple[Tally, Codes | None]] = []
        for one, said in zip(self.selected, self.codes, strict=True):
            cells = one.discretizer(outputs)
            counts, codes = said(cells) if said is not None else (tally(cells), None)
            found.append((one.event.known(counts), codes))
        return found
