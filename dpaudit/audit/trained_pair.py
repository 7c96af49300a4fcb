"""Count the cells of a pair, in any design, and select the events over them that are to be tested."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from dpaudit.audit.checks_and_gaps import different
from dpaudit.audit.power import REFUTING_SHARE
from dpaudit.audit.request import Request
from dpaudit.bounds import coin
from dpaudit.contract import HasLaw, Pair
from dpaudit.errors import InputError
from dpaudit.events.cells import to_grid
from dpaudit.events.coin_guesses import MOST
from dpaudit.events.discretizers import Discretizer, Identity, tally_each
from dpaudit.events.event import Tally
from dpaudit.events.expected_bound import PlannedTest
from dpaudit.events.fitting import fitted_discretizers
from dpaudit.events.selected import OrderedCells, SelectedEvent
from dpaudit.events.wide import Reducer
from dpaudit.outputs.types import Batch
from dpaudit.running.sampling import Sampler


class CountedPair:
    """One pair of an audit with the cells counted so far on its two sides, by each of its discretizers.

    `index` is the pair's part of the address of its runs; of wide outputs a `reducer` picks the columns to look at.
    """

    def __init__(self, request: Request, index: int, pair: Pair, discretizers: list[Discretizer]) -> None:
        self.request = request
        self.index = index
        self.pair = pair
        self.reducer: Reducer | None = None
        self.restart(discretizers)

    @property
    def sampler(self) -> Sampler:
        """Makes runs and returns what is looked at of their outputs."""
        return replace(self.request.sampler, view=self.reducer)

    def restart(self, discretizers: list[Discretizer]) -> None:
        """Take other discretizers and forget all counts."""
        self.discretizers = discretizers
        self.tallies: list[tuple[Tally, Tally]] = [(Counter(), Counter()) for _ in discretizers]

    def fitted(
        self, sides: Sequence[Batch], *, confirm: int | None, thorough: bool, discrete: Discretizer | None = None
    ) -> list[Discretizer]:
        """Return the discretizers that outputs of both sides suggest, for `confirm` fresh runs a side to come."""
        return fitted_discretizers(
            *sides,
            thorough=thorough,
            float_bits=self.request.look.float_bits,
            discrete=discrete,
            reducer=self.reducer,
            confirm=confirm,
            epsilon=self.request.claim.epsilon,
        )

    def count(self, side: int, tallies: Iterable[Tally]) -> None:
        """Add one side's counts by each discretizer."""
        for mine, counted in zip(self.tallies, tallies, strict=True):
            mine[side].update(counted)

    @property
    def different(self) -> int:
        """The runs in another cell than the commonest one, by the discretizer that separates most."""
        return max((different(*tallies) for tallies in self.tallies), default=0)


# The log-probability of what a law excludes: that of the least positive float.
NEVER = -745.0
# Standard errors of training by which a guess is marked down, for it is the best of many.
LUCK = 1.5
# An event that would refute the claim only if training were off by more standard errors than this is not tested.
HOPELESS = -2.0
# Runs a side on which slow scores are compared: more would take longer than making them.
SLOW_ROWS = 100_000
# Multiples of the markdown of models that bounds are lowered by once more where discretizers are compared: the events
# of one are nested and share their luck, those of different ones do not, and a slow score has more ways to be lucky.
# With the greater number for all scores that cannot be refitted RAPPOR's bound was a tenth lower
# (`docs/research/benchmark.md`).
MARKDOWN = 0.75
SLOW_MARKDOWN = 2.0
# By which share a slow score must promise more than a quick one, to be worth its time, and a feature that was chosen
# among hundreds more than a score of the whole output: without it audits of Laplace noise lost half a percent.
MARGIN = 0.05


class TrainedPair(CountedPair):
    """A pair that may become the witness, with the events over its cells, and that over how floats are stored."""

    representation: SelectedEvent | None = None

    def restart(self, discretizers: list[Discretizer]) -> None:
        """Take other discretizers and forget all counts."""
        super().restart(discretizers)
        self.tried = self.discretizers
        self._slow_left = [SLOW_ROWS, SLOW_ROWS]

    def take_slowly(self, side: int, runs: int) -> bool:
        """Say whether slow discretizers count the next runs of a side, and remember them."""
        self._slow_left[side] -= runs
        return self._slow_left[side] + runs > 0

    def count_outputs(self, sides: Sequence[Batch], start: int, stop: int) -> None:
        """Count some of the outputs of both sides."""
        for side, outputs in enumerate(sides):
            # Slow discretizers count the first of them alone.
            cut = min(stop, start + max(0, self._slow_left[side]))
            for some in (outputs[start:cut], outputs[cut:stop]):
                if len(some):
                    slow = self.take_slowly(side, len(some))
                    self.count(side, tally_each(self.discretizers, slow, some))

    def keep(self, which: Sequence[int]) -> None:
        """Drop all discretizers but some, in the order in which they are named first."""
        which = list(dict.fromkeys(which))
        self.discretizers = [self.discretizers[i] for i in which]
        self.tallies = [self.tallies[i] for i in which]

    @cached_property
    def log_ratio(self) -> Mapping[Hashable, float] | None:
        """ln(Pr[output | data] / Pr[output | neighbour]) by output, or None if the law is out of reach."""
        source = self.request.source
        if not isinstance(source, HasLaw):
            return None
        try:
            laws = source.law(self.pair.data), source.law(self.pair.neighbour)
        except InputError:  # the law is out of reach at this size; sampling is not
            return None
        p, q = (dict(zip(law.atoms, np.maximum(law.log_prob, NEVER).tolist(), strict=True)) for law in laws)
        return {atom: p.get(atom, NEVER) - q.get(atom, NEVER) for atom in {**p, **q}}

    def event_to_test(self) -> SelectedEvent:
        """Return the most promising event after all training, with the guesses of coins that fresh runs are to test.

        Of events with the same counts a feature's comes before that of a learned score: a person can read it off.
        """
        test = self._test(1.0)
        orders = list(self._ordered_cells(test.delta == 0))
        events = [one.best(test, len(self.tried)) for one in orders]
        best = max(zip(orders, events, strict=True), key=lambda one: promise(one[1]))
        if best[1].discretizer.learned:
            # The same outputs are in both events, and a person can read a feature off them, but no learned score.
            both = zip(orders, events, strict=True)
            same = (one for one in both if one[1].discretizer.screened and one[1].hits == best[1].hits)
            best = next(same, best)
        return self._guessed(*best, test)

    def best_of(self, discretizer: Discretizer, tallies: tuple[Tally, Tally]) -> SelectedEvent:
        """Return the best event over the cells of a discretizer that was not compared, with its guesses of coins."""
        test = self._test(1.0)
        cells = OrderedCells.of(discretizer, tallies, careful=test.delta == 0)
        return self._guessed(cells, cells.best(test), test)

    def _guessed(self, cells: OrderedCells, event: SelectedEvent, test: PlannedTest) -> SelectedEvent:
        """Return an event with guesses of coins, if they promise more than its hits (less `LUCK`, where delta > 0)."""
        if test.delta == 0:
            return cells.guessed(event, test, MOST)
        guessed = cells.guessed(event, test, 1)
        (guess,) = guessed.guesses
        trained = self.trained
        runs = 2 * test.runs
        number = guess.planned(runs, trained, test.gamma, self.request.claim.epsilon)
        error = math.sqrt(guess.right * (1 - guess.right) / (guess.mass * trained + 1))
        right = math.floor(number * max(0.0, guess.right - LUCK * error))
        # The claim allows half as many further right guesses where only one side is ever guessed.
        sides = 2 if guess.opposite else 1
        lower = float(coin.epsilon_lower(right, number, test.gamma, delta_runs=runs * test.delta * sides / 2))
        if lower > event.expected:
            return guessed
        return event

    @property
    def trained(self) -> int:
        """The training runs on both sides that the discretizers have counted."""
        return max((sum(side.total() for side in sides) for sides in self.tallies), default=0)

    def refuting_event(self) -> SelectedEvent | None:
        """Return the event most likely to refute the claim by counts alone, without slow scores; None if none could."""
        test = self._test(REFUTING_SHARE)
        epsilon = self.request.claim.epsilon
        quick = (one for one in self._ordered_cells(False) if not one.discretizer.slow)
        events = [one.refuting(test, epsilon) for one in quick]
        score, best = max(events, key=lambda one: one[0], default=(HOPELESS, None))
        if best is None or score <= HOPELESS:
            return None
        if test.delta:
            return best
        return replace(best, guesses=(best.alone,))

    def refuting_place(self) -> list[int]:
        """Return the place of the discretizer of that event, in a list; an empty list if no event could refute."""
        event = self.refuting_event()
        return [i for i, one in enumerate(self.discretizers) if event is not None and one is event.discretizer]

    def by_promise(self, *, careful: bool = False) -> list[int]:
        """Return the places of the discretizers, the most promising first; careful models say nothing of p - delta."""
        test = self._test(1.0)
        # All that were tried compete, also those that have been dropped.
        orders = self._ordered_cells(careful and test.delta == 0)
        promises = [promise(one.best(test, len(self.tried))) for one in orders]
        return sorted(range(len(promises)), key=promises.__getitem__, reverse=True)

    def _test(self, share: float) -> PlannedTest:
        """Return the test to come of an event that has a share of the verdict's error."""
        request = self.request
        return PlannedTest(request.budget.confirmation, request.claim.delta, share * request.verdict_gamma)

    def _ordered_cells(self, careful: bool) -> Iterable[OrderedCells]:
        """Yield the cells of each discretizer in the order over which its events are nested."""
        for discretizer, tallies in zip(self.discretizers, self.tallies, strict=True):
            log_ratio = None
            # A law speaks of outputs as they are, and of no coarser cells.
            if isinstance(discretizer, Identity):
                log_ratio = self.log_ratio
            yield OrderedCells.of(discretizer, tallies, log_ratio=log_ratio, careful=careful)


def promise(event: SelectedEvent) -> float:
    """Return by what the events of discretizers are compared: the bound expected, marked down for comparing."""
    slow = event.discretizer.slow
    markdown = MARKDOWN
    margin = 0.0
    if slow:
        markdown = SLOW_MARKDOWN
    if slow or event.discretizer.screened:
        margin = MARGIN
    return float(to_grid(event.expected - markdown * event.markdown - margin * abs(event.expected)))
