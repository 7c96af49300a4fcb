"""Make a few runs before an audit, and some at its end, to find what would make it meaningless.

Where outputs of equal generators are compared the answer is exact; where different ones are, chance gives a wrong
answer with a probability below `ERROR`.
"""

from __future__ import annotations

import hashlib
import math
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import replace as changed

from dpaudit import seeding
from dpaudit.audit.checks_and_gaps import Answer, Check, CheckName
from dpaudit.audit.clock import END, Clock
from dpaudit.audit.dependence import LAGS, Series, SharedValues, depends_on_calls, depends_on_order
from dpaudit.contract import MadePair, Pair
from dpaudit.errors import InputError
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.canonical import TIMED_OUT, Raised, canonical, contents
from dpaudit.outputs.objects import refuse_promises
from dpaudit.outputs.types import Batch
from dpaudit.running.adapters import Mechanism, fixed_seed_warnings
from dpaudit.running.failed_runs import naming
from dpaudit.running.isolated import Context
from dpaudit.running.processes import worker_name
from dpaudit.running.sampling import Sampler
from dpaudit.running.watched import Use, watched, watcher

# The greatest probability with which a check may accuse a mechanism whose runs are independent.
ERROR = 1e-3
# Batches on each side: two before the audit and one at its end. (A check that fails makes some more, to say why.)
BATCHES = 3
# The most runs of a batch: 7! orders are more than 1 / ERROR, and eight choose four of a coin are not far from it.
ONE_BY_ONE = 8
BATCHED = 16
# Runs of an audit for each run of a batch, so that batches take at most a twelfth of a small budget or so.
SHARE = 50
# Calls sent to the workers, and seconds that each waits for another worker to take the next one.
CALLS = 4
PAUSE = 0.2
# The most times that calls are sent: on a busy machine one worker may answer all before another has started.
ROUNDS = 8
# Runs on a user's dataset, at least, which must all raise before the mechanism is said to fail on it. One that raises
# with a high probability may be refused as well: the message says of how many runs.
FAILING = 2
# Batches of equal generators in which each of two workers must give its own outputs again and again before they are
# said to differ. Of runs with randomness of their own this has probability at most 2 / 4^5, that the batches in this
# process agreed before 1/2: together below `ERROR`, however few runs a batch has.
REPEATS = 5

# The warning where the order of runs is not looked at, though the generator does not decide alone.
UNORDERED = (
    "the time limit left no runs that show whether consecutive runs depend on each other: that they do not, as where "
    "noise is kept or carried over, is assumed"
)
# Runs on each side whose values are noted by the worker that returned them; of longer audits a share of all values.
VALUES = 4_000
# The end of the warning where outputs of a mechanism that is declared to draw randomness do not vary.
ALIKE = (
    "gave the same output on each input, although randomness is the mechanism's own: if noise was drawn once and kept, "
    "what leaks is the stream of answers that have it in common, and not one answer"
)
# Generators, at most, with which it is seen whether outputs vary, where a generator was read and not advanced.
GENERATORS = 64
# Runs of an audit on a side for each run on that side, before it, whose order is looked at.
ORDER_SHARE = 40
# Runs on each side, before an audit and as many again at its end, at most, which show whether consecutive runs depend
# on each other; and the seconds that all of them may take, about.
ORDERED = 128
ORDER_SECONDS = 4.0
# Calls on each side, before an audit and as many again at its end, that are made of these however long they take
# where there is no time limit: slow runs are bet on, and noise that is kept would refute a claim within some fifty.
LEAST_ORDERED = 2
# The seconds, about, for runs at the end of an audit where those before had one value on each input, or two, though
# randomness is the mechanism's own: a bet may end within so few runs that noise which is kept for a hundred does not
# change among them.
ALIKE_SECONDS = 30.0
# Values on an input, at most, where runs are said to be alike.
FEW_VALUES = 2
# Of a time limit, at most, for the runs that show whether consecutive runs depend on each other.
ORDERING = 0.1

Label = Hashable

_SIDES = ("data", "neighbour")


def runs_a_side(trials: int, own: bool) -> int:
    """Return the runs on each side that all batches take out of a budget of so many, of runs made one by one."""
    runs = min(ONE_BY_ONE, max(1, trials // SHARE))
    if own:
        # Equal generators are not compared: one batch, and runs in their order before the audit and at its end.
        return runs + 2 * ordered_runs(trials, runs)
    return runs * BATCHES


def ordered_runs(trials: int, runs: int) -> int:
    """Return the runs on a side that show whether their order matters, before or after an audit, in calls of `runs`.

    Fewer are made where a run takes long.
    """
    return max(1, min(ORDERED, trials // ORDER_SHARE) // max(1, runs)) * runs


class Preflight:
    """The checks of a mechanism's randomness and state, on the first pair: `open` before an audit, `close` after it.

    The number of their runs goes by the `trials` of the audit; `seconds` is what one takes in the fastest batch. Where
    the mechanism is declared to have randomness of its `own`, it is not asked whether the generator decides alone. If
    that is read and not advanced, and no output shows whether noise comes from a copy of it, each run is to have a
    `fresh` one. Where several workers may repeat each other, `values` has what they return. To take apart what a run
    returns and compare it takes `reading` seconds. Checks that are `known`, as those of outputs where an audit also
    measures times, are not made again: a batch on each input then shows what a run takes, and nothing else.
    """

    def __init__(
        self,
        sampler: Sampler,
        pairs: tuple[Pair, ...],
        trials: int,
        own: bool,
        known: tuple[Check, ...] | None = None,
    ) -> None:
        self.sampler = sampler
        self.mechanism = sampler.mechanism
        self.pairs = pairs
        self.own = own
        self.known = known
        self.trials = trials
        self.calls = 0
        self.order_seconds = ORDER_SECONDS
        self.order_limit = math.inf
        self.unordered = False
        self.runs = min(self._most_runs, max(1, trials // SHARE))
        self.spent = 0
        self.used = False
        self.seconds = math.inf
        self.reading = math.inf
        self.clock: Clock | None = None
        self.compares_workers = True
        self.inputs: tuple[Any, ...] = ()
        # All outputs of the batches on the data, and on the neighbour.
        self.outputs: list[Any] = []
        self.others: list[Any] = []
        self.first: tuple[list[Label] | None, ...] = ()
        self.uses: tuple[list[Use], list[Use]] = ([], [])
        # By address, the state in which the last batch has left its generator.
        self.ends: dict[str, tuple[int, ...]] = {}
        self.series: tuple[Series, ...] = ()
        self.fresh = False
        self.values: SharedValues | None = None
        self.checks: tuple[Check, ...] = ()
        self.warnings: tuple[str, ...] = ()

    @property
    def _most_runs(self) -> int:
        if self.mechanism.batched:
            return BATCHED
        return ONE_BY_ONE

    def again(self, sampler: Sampler) -> Preflight:
        """Return the same checks, none of them made, of the mechanism of another sampler."""
        return Preflight(sampler, self.pairs, self.trials, self.own, self.known)

    def open(self, clock: Clock | None = None) -> None:
        """Make the batches before an audit, of as many runs as a clock has time for.

        `InputError` if the mechanism returns a wrong number of outputs, or something that is no value, such as a
        generator; or if an input, which all runs share, is used up or changed by a run.
        """
        for index, pair in enumerate(self.pairs):
            for side, data in zip(_SIDES, pair.sides, strict=True):
                if isinstance(data, Iterator):
                    why = "which a run would use up: pass a list"
                    raise InputError(f"pairs[{index}] has an iterator as its {side}, {why}")
        # Made once, so that it shows if a run changes them.
        self.inputs = self.pairs[0].data, self.pairs[0].neighbour
        before = list(map(contents, self.inputs))
        if clock is not None and clock.limited:
            self.clock = clock
            self._shrink(clock)
            self.order_limit = clock.share(ORDERING)
            self.order_seconds = min(ORDER_SECONDS, self.order_limit)
        checks = self._before()
        of_dataset = isinstance(self.pairs[0], MadePair)
        # Exceptions are outputs; but where all runs on a user's own dataset raise, it does not suit the mechanism.
        failing = all(isinstance(one, Raised) and one.kind != TIMED_OUT for one in self.outputs)
        if failing and of_dataset and len(self.outputs) >= FAILING:
            raise InputError(
                f"the mechanism {self.mechanism.name} fails on {{data}}: in all of {len(self.outputs)} runs {{said}}",
                names=("data",),
                said=self.outputs[0].words,
            )
        probe = _probe_warnings(self.mechanism, [*self.outputs, *self.others])
        self.warnings = (*probe, *fixed_seed_warnings(self.mechanism))
        self.others = []
        for side, data, earlier in zip(_SIDES, self.inputs, before, strict=True):
            if contents(data) != earlier:
                shown = f" is {data!r:.200}"
                if of_dataset:  # its records are not shown
                    shown = " is not what it was"
                raise InputError(
                    f"the mechanism {self.mechanism.name} changes its input, which all its runs share: let it work on "
                    f"a copy (after {sum(check.runs for check in checks)} runs the {side} of pairs[0]{shown})"
                )
        # An input whose contents cannot be compared may have changed.
        answer = Answer.NOT_ASKED
        if all(earlier is not None for earlier in before):
            answer = Answer.PASSED
        self.checks = (Check(CheckName.INPUTS, answer, 0), *checks)

    def _shrink(self, clock: Clock) -> None:
        """Let batches have fewer runs, or none, where a clock has no time for all; then workers are not compared.

        A call that makes many runs takes its time whatever their number: of such calls all are made, or none.
        """
        batches = 2 * BATCHES
        if self.own:
            batches = 2
        if self._spread:
            batches += ROUNDS
        call = 1
        if self.mechanism.batched:
            call = self.runs

        def seconds() -> float:
            self._check_batch(0, "first", runs=call)
            return self.seconds

        made = clock.checks(self.runs, batches, seconds, call)
        self.compares_workers = made == self.runs
        self.runs = made
        if not self.outputs and not self.runs:  # an output shows how wide they are
            self._check_batch(0, "first", runs=call)
        elif self.runs:
            self.outputs = []
            self.used = False

    def _before(self) -> tuple[Check, ...]:
        if self.known is not None:
            if self.runs:
                self._check_batch(0, "data")
                self._check_batch(1, "neighbour")
            return ()
        if not self.runs:
            return self._checks(
                (CheckName.GENERATOR, Answer.NOT_ASKED),
                (CheckName.SEED, Answer.NOT_ASKED),
                (CheckName.STATE, Answer.NOT_ASKED),
            )
        data = self._check_batch(0, "data")
        # At once, with no run on the other input between: at the end of the audit there will have been many.
        left = self.ends.get("data")
        again = None
        if not self.own and data is not None:
            again = self._check_batch(0, "data")
        if data is None or again is None:
            self._check_batch(1, "neighbour")
            state = self._state(Answer.NOT_ASKED)
            checks = self._checks((CheckName.GENERATOR, Answer.NOT_ASKED), (CheckName.STATE, state))
            if self.own:
                return (*checks, *self._workers(), *self._begin_series())
            # Where runs time out the clock decides too: whether the generator does alone is not known.
            return checks
        # Runs that do not touch the generator and vary have randomness of their own, even if two batches of few values
        # agree by chance.
        touched = any(use.advanced or use.read for uses in self.uses for use in uses)
        varies = not self.mechanism.batched and not touched and len(set(data)) > 1
        if again != data or varies:
            checks = self._blame(data, again)
            return (*checks, *self._begin_series())
        # Noise that is drawn once is drawn by the first runs, and equal calls then treat equal generators differently.
        once = left != self.ends.get("data")
        neighbour = self._check_batch(1, "neighbour")
        other = self._check_batch(1, "another")
        self.first = data, neighbour
        repeated = other == neighbour and arrangements(other or ()) * ERROR > 1
        checks = self._checks(
            (CheckName.GENERATOR, Answer.PASSED),
            (CheckName.SEED, _passed(not repeated)),
            (CheckName.STATE, Answer.PASSED),
        )
        checks = (*checks, *self._advanced(neighbour != other))
        if self.mechanism.batched and not self.mechanism.promised and not repeated:
            checks = (*checks, *self._of_calls())
        if any(use.read and use.advanced for uses in self.uses for use in uses):
            # A copy that runs ahead of the generator returns numbers which the next run has again.
            self._begin_series()
        if once:
            checks = (*checks, *self._checks((CheckName.ORDER, Answer.DEPENDS)))
        differ = self._spread and self._workers_differ()
        # It takes the runs of the comparison, also where it is not shown.
        of_process = self._checks((CheckName.PROCESS, Answer.DEPENDS))
        if differ:
            return (*checks, *of_process)
        # Where workers agree, a finding is the same with one job or several.
        return checks

    def _advanced(self, varied: bool) -> tuple[Check, ...]:
        """Return the check of what a generator is used for, if a run has read it and not advanced it.

        The next run then has it again. Whether that matters, outputs of several generators show: whether they `varied`
        on the neighbour is known. Equal generators have given equal outputs, so that nothing else varies them.
        """
        sides = [side for side, uses in enumerate(self.uses) if any(use.copied for use in uses)]
        if not sides:
            return ()
        varied = varied and 1 in sides
        for side in sides:
            seen: set[Label] = set()
            for number in range(min(GENERATORS, max(2, self._affordable(len(sides))))):
                if varied:
                    break
                seen.update(self._check_batch(side, f"generator {number}", runs=1) or ())
                varied = len(seen) > 1
        self.fresh = not varied
        if varied:
            return self._checks((CheckName.ADVANCED, Answer.DEPENDS))
        return self._checks((CheckName.ADVANCED, Answer.UNMOVED))

    def _of_calls(self) -> tuple[Check, ...]:
        """Return the check of calls if runs of one call are alike, by the first two calls on the neighbour."""
        made = self.others[: 2 * self.runs]
        known = labels(made)
        if known is None or self.runs < 2:
            return ()
        series = Series()
        series.add(made, known)
        rng = seeding.generator(self.sampler.seed, "probe", "calls")
        if depends_on_calls(series, self.runs, rng):
            return self._checks((CheckName.CALLS, Answer.DEPENDS))
        return ()

    def _begin_series(self) -> tuple[Check, ...]:
        """Make runs on each side in their order, if a limit leaves time: those at the end will come after them.

        The generator does not decide alone here what a run returns, and so does not make runs independent. The check of
        a generator that is read and not advanced is returned, if it is: whether that matters, no comparison of single
        outputs shows here, and with fresh generators it does not.
        """
        calls = ordered_runs(self.trials, self.runs) // self.runs
        # On each side, before the audit and at its end, so many calls are made.
        within = max(LEAST_ORDERED, self._affordable(4 * self.runs))
        self.calls = min(calls, within, self._affordable(4 * self.runs, self.order_limit))
        self.unordered = not self.calls
        if self.calls:
            self.series = Series(), Series()
            self._go_on("before", self.calls)
        self.fresh = any(use.copied for uses in self.uses for use in uses)
        if self._spread:
            self.values = SharedValues()
        if self.fresh:
            return self._checks((CheckName.ADVANCED, Answer.UNMOVED))
        return ()

    def watching(self, sampler: Sampler, trials: int) -> Sampler:
        """Return a sampler of an audit of so many runs a side that notes what these checks have to know."""
        fresh = sampler.fresh or self.fresh
        if self.values is None:
            return replace(sampler, fresh=fresh)
        return replace(sampler, fresh=fresh, sketched=min(1.0, VALUES / trials), values=self.values.add)

    def _affordable(self, runs: int, seconds: float | None = None) -> int:
        """Return how many times so many runs can be made in some seconds, by default in those for runs in order."""
        if seconds is None:
            seconds = self.order_seconds
        return int(min(seconds / (runs * max(self.seconds, 1e-9)), float(self.trials)))

    def _go_on(self, when: str, calls: int) -> None:
        """Make runs that follow those of the series on each side, in calls with generators of their own.

        Those of the two sides differ: series with the same noise would not be two independent ones.
        """
        for side, series in enumerate(self.series):
            for number in range(calls):
                outputs = self._made(side, f"order, {when} {_SIDES[side]} {number}", self.runs)
                # The clock says which runs time out, and a busy machine lets them come together.
                kept = [one for one in outputs if not (isinstance(one, Raised) and one.kind == TIMED_OUT)]
                known = labels(kept)
                if known is not None:
                    series.add(kept, known)

    def _ordered(self) -> tuple[Check, ...]:
        """Return the checks of the order of runs, after those at the end, and of workers."""
        return (*self._of_order(), *self._of_workers())

    def _of_workers(self) -> tuple[Check, ...]:
        """Return the check of workers, by the values that all runs of the audit have returned."""
        if self.values is None or self.values.workers < 2:
            return ()
        if any(check.name == CheckName.WORKERS and check.meaningless for check in self.checks):
            return ()
        runs = sum(check.runs for check in self.checks if check.name == CheckName.WORKERS)
        return (Check(CheckName.WORKERS, _passed(not self.values.repeated()), runs),)

    def _of_order(self) -> tuple[Check, ...]:
        if self.unordered:
            self.warnings = (*self.warnings, UNORDERED)
        if not self.series:
            return self._checks((CheckName.ORDER, Answer.NOT_ASKED))
        if self._ends(2 * self.calls * self.runs):
            self._go_on("after", self.calls)
        seen = [set(one.labels) for one in self.series]
        if self.own and seen[0] != seen[1] and max(map(len, seen)) <= FEW_VALUES:
            self._look_longer()
        if min(len(one.labels) for one in self.series) <= max(LAGS):
            return self._checks((CheckName.ORDER, Answer.NOT_ASKED))
        rng = seeding.generator(self.sampler.seed, "probe", "orders")
        depends = depends_on_order(self.series, rng)
        if depends and self.fresh:
            return self._checks((CheckName.ORDER, Answer.NOT_ASKED), (CheckName.ADVANCED, Answer.DEPENDS))
        kept = [set(one.labels) for one in self.series]
        if self.own and kept[0] != kept[1] and max(map(len, kept)) == 1:
            runs = sum(len(one.labels) for one in self.series)
            self.warnings = (*self.warnings, f"all of {runs} runs {ALIKE}")
        return self._checks((CheckName.ORDER, _passed(not depends)))

    def _look_longer(self) -> None:
        """Make more runs in order, where nearly all were alike, and look at these alone.

        So they are as many whatever they return, and independent ones could have come in any order.
        """
        seconds = min(ALIKE_SECONDS, self.order_limit)
        calls = min(max(1, ORDERED // self.runs), self._affordable(2 * self.runs, seconds))
        if self.clock is not None and not self.clock.affords(END, 0.0):
            return
        if calls > self.calls:
            self.series = Series(), Series()
            self._go_on("longer", calls)

    def take_output(self) -> list[Batch]:
        """Return an output of the batches before an audit, as a list of one batch, and forget all of them."""
        first: list[Batch] = [self.outputs[:1]]
        self.outputs = []
        return first

    def close(self) -> tuple[Check, ...]:
        """Return the checks after the batches at the end of an audit, which show what its many calls have changed."""
        if self.known is not None:
            return self.known
        seen = self.seen
        if seen:
            if not self._ends(2 * self.runs):
                return self.checks
            passed = self.last() == seen
            if not passed and not self.used:
                return self._own_after_all()
            checks = self.closed(passed)
            if self.series:
                return (*checks, *self._of_order())
            return checks
        # Where nothing was opened, as of recorded outputs, nothing is asked.
        if self.checks and not any(check.name == CheckName.SEED for check in self.checks):
            found = self._ordered()
            # What they say of the generator takes the place of what was known before.
            found_names = {check.name for check in found}
            self.checks = (*(check for check in self.checks if check.name not in found_names), *found)
        return self.checks

    @property
    def seen(self) -> str | None:
        """The digest of what the first batches returned, or None if nothing is compared with it at the end."""
        # Without the check of seeds no batches of equal generators were compared.
        asked = any(check.name == CheckName.SEED for check in self.checks)
        if self.runs and asked and all(check.passed for check in self.checks):
            return _digest(self.first)
        return None

    def last(self) -> str | None:
        """Make the batches at the end; return the digest of what they return, that of the first ones if it is open."""
        self.inputs = self.inputs or (self.pairs[0].data, self.pairs[0].neighbour)
        last = self._check_batch(0, "data"), self._check_batch(1, "neighbour")
        if None in last:  # where runs time out the clock decides too, and nothing is compared
            return self.seen
        return _digest(last)

    def closed(self, passed: bool) -> tuple[Check, ...]:
        """Return the checks after the end, where the batches showed whether many calls have changed nothing."""
        runs = 2 * self.runs
        answer = _passed(passed)
        found: list[Check] = []
        for check in self.checks:
            if check.name == CheckName.STATE:
                found.append(changed(check, answer=answer, runs=check.runs + runs))
            else:
                found.append(check)
        return tuple(found)

    def _check_batch(
        self, side: int, address: str, context: Context = nullcontext, runs: int | None = None
    ) -> list[Label] | None:
        """Make the runs of a batch on one side with the generator at an address, in a context if one is given."""
        if runs is None:
            runs = self.runs
        outputs = self._made(side, address, runs, context)
        if side == 0:
            self.outputs.extend(outputs)
        else:
            self.others.extend(outputs)
        began = time.perf_counter()
        known = labels(outputs)
        self.reading = min(self.reading, (time.perf_counter() - began) / max(1, len(outputs)))
        return known

    def _ends(self, runs: int) -> bool:
        """Say whether there is time for so many runs at the end."""
        if self.clock is None:
            return True
        reading = self.reading
        if math.isinf(reading):  # nothing was read yet
            reading = 0.0
        # The runs of the audit may take longer than the first ones.
        return self.clock.affords(END, runs * (max(self.seconds, self.clock.seconds_a_run) + reading))

    def _made(self, side: int, address: str, runs: int, context: Context = nullcontext) -> Batch:
        """Return the outputs of runs on one side with the generator at an address, and note the use of that."""
        rng = watched(seeding.generator(self.sampler.seed, "probe", address))
        where = ("the data of pairs[0]", "the neighbour of pairs[0]")[side]
        # If the mechanism ends the process, the error says on which input.
        with naming(lambda: (where,), self.sampler.audit):
            began = time.perf_counter()
            outputs = self.mechanism(self.inputs[side], rng, runs, context)
            # The first calls may load what all others find loaded.
            self.seconds = min(self.seconds, (time.perf_counter() - began) / runs)
        if not isinstance(outputs, np.ndarray) or outputs.dtype == object:
            refuse_promises(outputs)
        self.spent += runs
        watch = watcher(rng)
        assert watch is not None
        uses = watch.used()
        self.uses[side].extend(uses)
        self.used |= any(use.advanced for use in uses)
        self.ends[address] = watch.mark()
        return outputs

    def _blame(self, data: list[Label], again: list[Label]) -> tuple[Check, ...]:
        """Return the checks where two batches with equal generators gave different outputs."""
        # Where a third batch equals one of the two, no randomness of the mechanism's own made them differ: a state did.
        third = self._check_batch(0, "data")
        if third in (data, again) and (self.used or arrangements(third or ()) * ERROR > 1):
            return self._checks((CheckName.GENERATOR, Answer.PASSED), (CheckName.STATE, Answer.DEPENDS))
        first, second = self._with_equal_globals(self.runs)
        if first == second and not self.used and arrangements(first or ()) * ERROR <= 1:
            # So few values agree by chance; of more runs they hardly do.
            longer = min(GENERATORS, max(self.runs, self._affordable(2)))
            first, second = self._with_equal_globals(longer)
        if first == second:
            answer = Answer.GLOBAL
        elif self.used:
            return self._checks((CheckName.GENERATOR, Answer.NOT_ASKED), (CheckName.STATE, Answer.DEPENDS))
        else:
            answer = Answer.OWN
        state = self._state(Answer.NOT_ASKED)
        checks = self._checks((CheckName.GENERATOR, answer), (CheckName.STATE, state))
        return (*checks, *self._workers())

    def _with_equal_globals(self, runs: int) -> tuple[list[Label] | None, list[Label] | None]:
        """Return two batches of runs that begin with equal generators, the global ones too."""
        first = self._check_batch(0, "data", _equal_global_generators, runs)
        return first, self._check_batch(0, "data", _equal_global_generators, runs)

    def _own_after_all(self) -> tuple[Check, ...]:
        """Return the checks where the batches at the end are not the first ones, and the generator is not used.

        Outputs of few values may have agreed by chance before. They vary in consecutive runs then, in whatever order;
        if not, they depend on earlier calls.
        """
        calls = ordered_runs(self.trials, self.runs) // self.runs
        self.calls = max(1, min(calls, self._affordable(2 * self.runs, self.order_limit)))
        self.series = Series(), Series()
        self._go_on("late", self.calls)
        if max(len(set(one.labels)) for one in self.series) < 2:
            return self.closed(False)
        rng = seeding.generator(self.sampler.seed, "probe", "orders")
        if depends_on_order(self.series, rng):
            return self.closed(False)
        first, second = self._with_equal_globals(min(GENERATORS, max(self.runs, self._affordable(2))))
        generator = Answer.OWN
        if first == second:
            generator = Answer.GLOBAL
        checks = self._checks(
            (CheckName.GENERATOR, generator), (CheckName.STATE, Answer.NOT_ASKED), (CheckName.ORDER, Answer.PASSED)
        )
        kept = [check for check in self.checks if check.name in (CheckName.INPUTS, CheckName.WORKERS)]
        return (*kept, *checks)

    def _state(self, answer: Answer) -> Answer:
        """Return the answer about state: an output which only rises from run to run fails in any case."""
        # Of so few runs a rise must be unlikely enough by chance to say anything.
        drifts = 2 / math.factorial(min(len(self.outputs), 20)) < ERROR and one_way(self.outputs)
        if drifts:
            return Answer.DEPENDS
        return answer

    def _workers(self) -> tuple[Check, ...]:
        """Return the check of workers: equal outputs from different generators betray repeated streams."""
        if not self._spread:
            return self._checks((CheckName.WORKERS, Answer.NOT_ASKED))
        runs = self._most_runs
        found: dict[Hashable, list[Label] | None] = {}
        for start in range(0, ROUNDS * CALLS, CALLS):
            # Another generator for each call, so that equal outputs are no effect of an equal one.
            for worker, seen in self._answers(range(start, start + CALLS), runs):
                # Equal states begin with equal outputs, however many calls each gets.
                found.setdefault(worker, seen)
            if len(found) > 1:
                break
        known = [tuple(seen) for seen in found.values() if seen is not None]
        # What never varies where it is made, and differs elsewhere, was drawn once in each process.
        once = [seen for seen in known if len(seen) >= REPEATS and len(set(seen)) == 1]
        if len(set(once)) > 1:
            return self._checks((CheckName.WORKERS, Answer.PASSED), (CheckName.PROCESS, Answer.DEPENDS))
        if len(found) < 2:
            return self._checks((CheckName.WORKERS, Answer.NOT_ASKED))
        # Outputs of few arrangements are equal by chance too often to betray anything.
        streams = [seen for seen in known if arrangements(seen) * ERROR > 1]
        return self._checks((CheckName.WORKERS, _passed(len(set(streams)) == len(streams))))

    def _workers_differ(self) -> bool:
        """Say whether two workers give different outputs of equal generators, and each of them always the same."""
        found: defaultdict[Hashable, list[list[Label] | None]] = defaultdict(list)
        for _ in range(ROUNDS):
            # Two calls, as a rule: more are made where workers differ, or one has taken both.
            calls = 2
            if len(found) > 1:
                calls = CALLS
            for worker, seen in self._answers([0] * calls, self.runs):
                found[worker].append(seen)
            batches = list(found.values())
            if any(None in one or one.count(one[0]) < len(one) for one in batches):
                return False
            if len(batches) > 1 and all(one[0] == batches[0][0] for one in batches):
                return False
            often = [one[0] for one in batches if len(one) >= REPEATS]
            if len(often) > 1:
                return any(seen != often[0] for seen in often)
        return False

    @property
    def _spread(self) -> bool:
        """Whether runs are made in other processes than this one."""
        if not self.compares_workers or self.sampler.n_jobs == 1 or self.sampler.backend in ("threading", "sequential"):
            return False
        from joblib import effective_n_jobs

        return bool(effective_n_jobs(self.sampler.n_jobs) > 1)

    def _answers(self, numbers: Sequence[int], runs: int) -> list[tuple[Hashable, list[Label] | None]]:
        """Return the answers of workers on the data with the generator of each number: equal ones for equal numbers."""
        sampler = self.sampler
        pair = self.pairs[0]
        made = (sampler.couples(pair, [("probe", "worker", number)] * 2, runs, 0) for number in numbers)
        self.spent += len(numbers) * runs
        # A call that ends at once would leave all of them to one worker, where workers take calls as they are free.
        signed = partial(_signed, PAUSE)
        return [answer for answer, _ in sampler.reduced([couple for one in made for couple in one], signed)]

    def _checks(self, *answers: tuple[CheckName, Answer]) -> tuple[Check, ...]:
        """Return checks with their answers; the first of them has the runs that were made since earlier ones."""
        runs = self.spent
        self.spent = 0
        found: list[Check] = []
        for name, answer in answers:
            found.append(Check(name, answer, runs))
            runs = 0
        return tuple(found)


def _digest(batches: tuple[list[Label] | None, ...]) -> str:
    return hashlib.blake2b(stable_repr(batches).encode(), digest_size=16).hexdigest()


def _passed(passed: bool) -> Answer:
    if passed:
        return Answer.PASSED
    return Answer.DEPENDS


def _signed(pause: float, outputs: Batch) -> tuple[str, list[Label] | None]:
    """Return the process that has made a batch, and its labels."""
    # So that another worker takes the next call.
    time.sleep(pause)
    return worker_name(), labels(outputs)


def _probe_warnings(mechanism: Mechanism, outputs: Batch) -> tuple[str, ...]:
    """Return warnings of a probe that distinguishes nothing, by some first outputs on both sides of a pair."""
    if mechanism.probe is None:
        return ()
    points = len(mechanism.probe)
    if not any(isinstance(output, np.ndarray) and len(output) == points for output in outputs):
        return ("the probe is not used: no output has a method predict",)
    if len(outputs) < 2 or len(set(map(canonical, outputs))) > 1:
        return ()
    message = f"{points} points of the probe have the same predictions in all of the first {len(outputs)} runs"
    return (f'{message}, on both inputs: choose points that distinguish models, as probe="data" does',)


# Bytes of an array that its label holds; of more it holds a digest.
SHOWN_BYTES = 1 << 12
# Decimal digits of floats that are compared: sums over several threads differ in the last ones of sixteen.
DIGITS = 9


def labels(outputs: Batch) -> list[Label] | None:
    """Return for each output what distinguishes it; None if one cannot be distinguished from others, or timed out.

    Of an exception it is the type, since messages name addresses in memory; floats are equal if their first nine digits
    are.
    """
    with suppress(InputError):
        return list(map(_label, outputs))
    return None


def _label(output: Any) -> Label:
    if isinstance(output, np.ndarray) and output.dtype.kind in "fc":
        parts = [output]
        if output.dtype.kind == "c":
            parts = [output.real, output.imag]
        split = (np.frexp(np.asarray(part, dtype=np.float64)) for part in parts)
        stored = (np.round(mantissa, DIGITS).tobytes() + power.tobytes() for mantissa, power in split)
        return (output.shape, *map(_shortened, stored))
    if isinstance(output, np.ndarray) and output.dtype.kind in "biuSU":
        return (output.shape, _shortened(output.tobytes()))
    if isinstance(output, Raised):
        # Messages name addresses in memory, and so differ from run to run.
        if output.kind == TIMED_OUT:
            raise InputError("whether a run takes too long is for the clock to say, and not alike each time")
        return ("raised", output.kind)
    return _blurred(canonical(output))


def _shortened(content: bytes) -> bytes:
    """Return bytes, or a digest in the place of many: of wide outputs all labels would take seconds to write."""
    if len(content) <= SHOWN_BYTES:
        return content
    return hashlib.blake2b(content, digest_size=32).digest()


def _blurred(label: Label) -> Label:
    if isinstance(label, float):
        return float(f"{label:.{DIGITS}g}")
    if isinstance(label, tuple | frozenset):
        return type(label)(map(_blurred, label))
    return label


def arrangements(found: Sequence[Label]) -> float:
    """Return in how many orders these labels could have come.

    Independent runs give any order of them with the same probability. So, whatever the law of an output, the
    probability that two batches agree run by run and have at least k orders is at most 1 / k.
    """
    repeats = (math.lgamma(times + 1) for times in Counter(found).values())
    return math.exp(min(math.lgamma(len(found) + 1) - sum(repeats), 700.0))


def one_way(outputs: Batch) -> bool:
    """Say whether outputs only rise or only fall: n independent runs do so with probability at most 2 / n!."""
    if not all(isinstance(output, int | float | np.number) and not isinstance(output, bool) for output in outputs):
        return False
    steps = np.diff(list(map(float, outputs)))
    return len(steps) > 0 and bool((steps > 0).all() or (steps < 0).all())


@contextmanager
def _equal_global_generators() -> Iterator[None]:
    """Let the global generators of numpy, `random` and torch (if loaded) begin at one fixed state; restore theirs."""
    torch: Any = sys.modules.get("torch")
    # Generators that mechanisms share are global state: no Generator could stand in for them.
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None  # noqa: NPY002
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    if torch:
        torch.manual_seed(0)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(kept[2])
