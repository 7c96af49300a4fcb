"""The time that an audit may take: it chooses the budget before the runs that count, and stops at looks fixed then."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

from msgspec import UNSET, UnsetType

from dpaudit.record import Frozen, Size

LOOKS = (0.25, 0.5, 1.0)
"""Parts of the runs that decide, after each of which an audit of a fixed size may stop."""
SHARES = (0.05, 0.1, 0.85)
"""Of the verdict's error, for each of them: by the union bound it does not matter at which one the time is over, nor
whether the outputs have to do with it, as they may where some runs take longer than others."""
RUNNING = 0.7
"""Of the time, for runs: the rest is for scores that are fitted, and for runs that take longer than the first ones."""
PACE = 0.05
"""Of the time, at most, for runs that measure how long one takes."""


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
    """

    trials: Size
    looks: Size | None = None
    asked: Size | UnsetType = UNSET


class Clock:
    """The time of one audit from now on, in seconds; its limit may be where an earlier audit stopped."""

    def __init__(self, limit: float | Stopped | None, now: Callable[[], float] = time.monotonic) -> None:
        self.limited = limit is not None
        self._again = limit if isinstance(limit, Stopped) else None
        self._seconds = math.inf if limit is None or isinstance(limit, Stopped) else limit
        self._now, self._began = now, now()
        self._asked = self._trials = 0
        self._looks: int | None = None

    def part(self, parts: int) -> Clock:
        """Return the clock of one of so many parts of the audit, from now on."""
        limited = self.limited and self._again is None
        return Clock(self._seconds / parts if limited else self._again, self._now)

    @property
    def left(self) -> float:
        """The seconds that are left; infinite without a limit."""
        return max(0.0, self._seconds - (self._now() - self._began))

    @property
    def stopped(self) -> Stopped:
        """The point at which the audit stopped, for its finding."""
        return Stopped(self._trials, self._looks, self._asked if self._trials < self._asked else UNSET)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Words on what the finding lacks for want of time."""
        found = []
        if self._trials < self._asked:
            found.append(f"the time limit left {self._trials:,} trials of the {self._asked:,} asked for")
        if self._looks is not None:
            found.append(f"the time limit was reached: the runs that decide ended at look {self._looks}")
        return tuple(found)

    def trials(self, asked: int, sides: int, run: Callable[[int], object], least: int) -> int:
        """Return the runs to begin with on each of so many sides: those asked for, or a half, a quarter, ... of them.

        A part of them is at least `least`. `run` makes so many runs, to see how long they take.
        """
        self._asked, self._trials = asked, self._again.trials if self._again else asked
        if self._again or not self.limited:
            return self._trials
        began, made = self._now(), 1
        run(made)
        while (took := self._now() - began) < PACE * self._seconds and 2 * made < asked:
            run(made)
            made *= 2
        most = RUNNING * (self._seconds - (self._now() - self._began)) * made / max(took, 1e-9)
        while self._trials * sides > most and self._trials // 2 >= least:
            self._trials //= 2
        return self._trials

    def over(self, looks: int) -> bool:
        """Say whether to stop after so many looks, at least one."""
        if self._again is not None:
            over = self._again.looks is not None and looks >= self._again.looks
        else:
            over = looks > 0 and self._now() - self._began >= self._seconds
        if over:
            self._looks = looks
        return over

    def looks(self, chunks: int) -> Iterator[tuple[slice, float]]:
        """Yield the chunks of each look that there is time for, and its share of the error.

        Looks that no chunk is left for give theirs to the next one; without a limit there is one look at all chunks.
        """
        for looks, look in enumerate(self.all_looks(chunks), 1):
            yield look
            if self.over(looks):
                return

    def all_looks(self, chunks: int) -> list[tuple[slice, float]]:
        """Return the chunks of each look, and its share of the error, as if there were time for all."""
        made, kept, found = 0, 0.0, []
        for part, share in zip(LOOKS, SHARES, strict=True) if self.limited else ((1.0, 1.0),):
            until, kept = int(part * chunks), kept + share
            if until > made:
                found.append((slice(made, until), kept))
                made, kept = until, 0.0
        return found
