"""The time that an audit may take: it chooses the budget before the runs that count, and stops at looks fixed then.

Whatever an audit does is counted from the call on: making pairs, checks of randomness and state, recorded noise, the
search among pairs, training, confirmation. The checks and the search get parts of the limit; what they leave out is a
warning of the finding. No clock looks at outputs, and what decides is fixed before the first run that decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

from msgspec import UNSET, UnsetType

from dpaudit.record import Count, Frozen, Size

# Parts of the runs that decide, after each of which an audit of a fixed size may stop.
LOOKS = (0.25, 0.5, 1.0)
# Of the verdict's error, for each of them: by the union bound it does not matter at which one the time is over, nor
# whether the outputs have to do with it, as they may where some runs take longer than others.
SHARES = (0.05, 0.1, 0.85)
# Of the time, for runs: the rest is for scores that are fitted, and for runs that take longer than the first ones.
RUNNING = 0.7
# The same for bets, which end at any time: the most runs that there may be time for. A first batch is half of them.
BETTING = 1.4
# Of the time, at most, for runs that measure how long one takes.
PACE = 0.05
# Of the time, at most, for the checks of randomness and state, those at the end among them.
CHECKING = 0.2
# Of the time that is left: if the first call takes less, but leaves no time for all checks, a second one shows how
# long calls take.
LOADING = 0.25
# Of the time, when recorded noise must have ended, and the search among pairs: training and confirmation come then.
SCREENED = 0.35
SEARCHED = 0.5
# Of the time, when the runs that decide must have ended as far as can be foreseen.
CONFIRMED = 0.9
# Of the time, what may be used if the next step is expected to end then.
SLACK = 1.1
# Steps that are left out where there is no time for them.
PAIRS = "pairs"
END = "end"
# Of the time, at most, for the search for pairs of numbers of wide outputs.
PAIRING = 0.1
# Times, at most, that the runs that decide are halved.
SMALLER = 10


class Stopped(Frozen, frozen=True):
    """The place at which the time was over; in the place of a time limit it makes the same audit again.

    Attributes
    ----------
    trials : int
        Runs on each side in all that the audit began with.
    looks : int or None
        Looks after which the time was over; None where it was not.
    asked : int
        The runs on each side that were asked for, where there was no time for them.
    checks : int
        The runs of a batch of checks, where there was no time for all; 0 where none were made.
    recorded : int
        The pairs that were looked at by recorded noise, where there was no time for all.
    searched : (int, int)
        The search among pairs, or near the best one, that the time ended, and its steps; no later one was begun.
    halved : int
        How often the runs that decide were halved after training, before any of them was made.
    left_out : tuple of str
        Steps that were left out, where there was no time for them: "pairs", the search for pairs of numbers of wide
        outputs that differ together, and "end", the runs of the checks at the end.
    """

    trials: Size
    looks: Size | None = None
    asked: Size | UnsetType = UNSET
    checks: Count | UnsetType = UNSET
    recorded: Count | UnsetType = UNSET
    searched: tuple[Size, Count] | UnsetType = UNSET
    halved: Size | UnsetType = UNSET
    left_out: tuple[str, ...] | UnsetType = UNSET


class Clock:
    """The time of one audit from now on, in seconds; its limit may be where an earlier audit stopped."""

    def __init__(self, limit: float | Stopped | None, now: Callable[[], float] = time.monotonic) -> None:
        self.limited = limit is not None
        self._again = limit if isinstance(limit, Stopped) else None
        self._seconds = math.inf if limit is None or isinstance(limit, Stopped) else limit
        self._now = now
        self._began = now()
        self._asked = self._trials = 0
        self._looks: int | None = None
        self._checks: int | None = None
        self._checks_asked = 0
        self._recorded: int | None = None
        self._searched: tuple[int, int] | None = None
        self._searches = 0
        self._halved = 0
        self._run = 0.0
        self._afforded: dict[str, bool] = {}

    def part(self, parts: int) -> Clock:
        """Return the clock of one of so many parts of what is left, from now on."""
        limited = self.limited and self._again is None
        return Clock(self.left / parts if limited else self._again, self._now)

    @property
    def left(self) -> float:
        """The seconds that are left; infinite without a limit."""
        return max(0.0, self._seconds - self.elapsed)

    @property
    def elapsed(self) -> float:
        """The seconds that have passed."""
        return self._now() - self._began

    def share(self, part: float) -> float:
        """Return the seconds of a part of the whole limit; infinite without a limit."""
        return part * self._seconds

    def _until(self, share: float) -> float:
        """Return the seconds until a share of the time is over; infinite without a limit, or below 0."""
        return share * self._seconds - self.elapsed

    @property
    def stopped(self) -> Stopped:
        """The point at which the audit stopped, for its finding."""
        return Stopped(
            self._trials,
            self._looks,
            self._asked if self._trials < self._asked else UNSET,
            UNSET if self._checks is None else self._checks,
            UNSET if self._recorded is None else self._recorded,
            UNSET if self._searched is None else self._searched,
            self._halved or UNSET,
            self._left_out or UNSET,
        )

    @property
    def _left_out(self) -> tuple[str, ...]:
        return tuple(step for step, afforded in self._afforded.items() if not afforded)

    @property
    def seconds_a_run(self) -> float:
        """The seconds of a run, as those before the audit showed; 0 where none was timed."""
        return self._run

    def affords(self, step: str, seconds: float, part: float = 1.0) -> bool:
        """Say whether there is time for a step that takes about so many seconds, in a part of the limit at most.

        It is decided once: a step that is made again is afforded again.
        """
        if step not in self._afforded:
            if self._again is not None:
                self._afforded[step] = self._again.left_out is UNSET or step not in self._again.left_out
            else:
                whole = self.elapsed + seconds <= SLACK * self._seconds
                self._afforded[step] = whole and seconds <= part * self._seconds
        return self._afforded[step]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Words on what the finding lacks for want of time."""
        found = []
        if self._checks == 0:
            found.append(
                "the time limit left no runs for the checks of randomness and state: that outputs depend on the input "
                "and on fresh randomness alone, and not on earlier calls, is assumed"
            )
        elif self._checks is not None:
            found.append(
                f"the time limit left {self._checks} of {self._checks_asked} runs for each batch that checks "
                "randomness and state, too few for some of them to see a fault, and workers were not compared"
            )
        if self._recorded is not None:
            found.append(f"the time limit was reached after recorded noise had compared {self._recorded:,} pairs")
        if self._searched is not None:
            found.append("the time limit ended the search among pairs, so that some had fewer runs or none")
        if self._trials < self._asked:
            found.append(f"the time limit left {self._trials:,} trials of the {self._asked:,} asked for")
        if PAIRS in self._left_out:
            found.append("the time limit left no time to look for pairs of numbers that differ together alone")
        if END in self._left_out:
            found.append(
                "the time limit left no runs at the end, which would show whether the calls of the audit have changed "
                "the mechanism"
            )
        if self._looks is not None:
            found.append(f"the time limit was reached: the runs that decide ended at look {self._looks}")
        return tuple(found)

    def checks(self, asked: int, batches: int, run: Callable[[], float], call: int = 1) -> int:
        """Return the runs of each of so many batches of checks: those asked for, fewer, or 0.

        They are made in calls of `call` runs. `run` makes one such call, and returns the seconds of a run.
        """
        if self._again is not None:
            self._checks = None if self._again.checks is UNSET else self._again.checks
        elif self.limited:
            self._run = run()
            able = self._able(batches, call)
            # The first call may load a library, or compile a function.
            if able < asked and self._run * call < LOADING * self.left:
                self._run = min(self._run, run())
                able = self._able(batches, call)
            self._checks = None if able >= asked else able
        self._checks_asked = asked
        return asked if self._checks is None else self._checks

    def _able(self, batches: int, call: int) -> int:
        """Return the runs of each of so many batches of checks that there is time for."""
        left = min(CHECKING * self._seconds, self._until(SCREENED))
        return max(0, int(left / max(batches * self._run * call, 1e-9))) * call

    def trials(
        self,
        asked: int,
        sides: int,
        run: Callable[[int], object],
        least: int,
        *,
        call: int = 1,
        share: float = RUNNING,
        read: Callable[[], float] = lambda: 0.0,
    ) -> int:
        """Return the runs to begin with on each of so many sides: those asked for, or a half, a quarter, ... of them.

        A part of them is at least `least`, which they are where no greater part is made in a `share` of the time.
        `run` makes so many runs, to see how long they take; `call` are made in one call at least. `read` returns the
        seconds that it takes to read the output of one run, which are added to those of the run.
        """
        self._asked = asked
        self._trials = asked
        if self._again is not None:
            self._trials = self._again.trials
        if self._again is not None or not self.limited:
            return self._trials
        began = self._now()
        made = call
        # A check has shown how long a call takes, and that it takes much of the time: no further one is made.
        if self._run * call > PACE * self._seconds:
            began -= self._run * call
        else:
            run(made)
            # As for checks: the first call may have loaded a library.
            if 0 < 2 * self._run * call < self._now() - began < LOADING * self.left:
                began = self._now()
                run(made)
        # Twice as many each time, until they take long enough to be measured.
        while (took := self._now() - began) < min(PACE * self._seconds, self.left / 4) and 2 * made < asked:
            run(made)
            made *= 2
        self._run = max(took, 1e-9) / made
        most = share * self.left / (self._run + read())
        while self._trials * sides > most and self._trials > least:
            self._trials = max(least, self._trials // 2)
        return self._trials

    def screened(self, looked: int, runs: int) -> bool:
        """Say whether the time for recorded noise is over after so many pairs, with so many runs that end it."""
        if self._again is not None:
            return self._again.recorded is not UNSET and looked >= self._again.recorded
        return self._until(SCREENED) <= runs * self._run

    def screening_ended(self, looked: int) -> None:
        """Note that recorded noise looked at no more than so many pairs, for want of time."""
        self._recorded = looked

    def pairs(self, seconds: float) -> bool:
        """Say whether there is time for the search for pairs of numbers, which takes about so many seconds."""
        return self.affords(PAIRS, seconds, PAIRING)

    def begins_search(self) -> bool:
        """Say whether there is time for another search, which then is under way."""
        if self._searched is None:
            self._searches += 1
        return self._searched is None

    def searched(self, steps: int, more: float) -> bool:
        """Say whether the time for the search under way is over after so many steps; the next takes about `more`."""
        if self._again is not None:
            over = self._again.searched is not UNSET and (self._searches, steps) >= self._again.searched
        else:
            over = self._until(SEARCHED) <= more
        if over:
            self._searched = self._searches, steps
        return over

    def confirm(self, runs: int, seen: float) -> None:
        """Fix which part of so many runs is to decide: all, or a half, a quarter, ..., that there seems to be time for.

        It is called after training, before the first of them. `seen` are the seconds of a training run with all that
        was made of it, which is more than those that confirm will take: for the first look there is time even so.
        """
        if self._again is not None:
            self._halved = 0 if self._again.halved is UNSET else self._again.halved
            return
        left = self._until(CONFIRMED)
        longest = max(self._run, LOOKS[0] * seen)
        while self._halved < SMALLER and runs * longest / 2**self._halved > left:
            self._halved += 1

    def over(self, looks: int, more: float = 0.0) -> bool:
        """Say whether to stop after so many looks, at least one; what comes next is expected to take `more` seconds."""
        if self._again is not None:
            over = self._again.looks is not None and looks >= self._again.looks
        else:
            over = looks > 0 and (self.left <= 0 or self.elapsed + more > SLACK * self._seconds)
        if over:
            self._looks = looks
        return over

    def looks(self, chunks: int) -> Iterator[tuple[slice, float]]:
        """Yield the chunks of each look that there is time for, and its share of the error.

        Looks that no chunk is left for give theirs to the next one; without a limit there is one look at all chunks.
        """
        planned = self.all_looks(chunks)
        for looks, look in enumerate(planned, 1):
            began = self._now()
            yield look
            if looks == len(planned):
                # Where the runs were halved before, fewer are made than the budget has.
                if self._halved:
                    self._looks = looks
                return
            done = look[0]
            next_one = planned[looks][0]
            pace = (self._now() - began) / (done.stop - done.start)
            if self.over(looks, pace * (next_one.stop - next_one.start)):
                return

    def all_looks(self, chunks: int) -> list[tuple[slice, float]]:
        """Return the chunks of each look, and its share of the error, as if there were time for all."""
        planned = [(1.0, 1.0)]
        if self.limited:
            planned = list(zip(LOOKS, SHARES, strict=True))
        found: list[tuple[slice, float]] = []
        made = 0
        kept = 0.0
        for part, share in planned:
            until = int(part * chunks / 2**self._halved)
            kept += share
            # However often the runs were halved, some decide.
            if part == 1.0:
                until = max(1, until)
            # A look that no chunk is left for keeps its share for the next one.
            if until > made:
                found.append((slice(made, until), kept))
                made = until
                kept = 0.0
        return found
