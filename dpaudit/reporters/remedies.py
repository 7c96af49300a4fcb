"""The next step after an audit that could not have seen a leak, for each kind of gap."""

from __future__ import annotations

from collections.abc import Callable

from dpaudit.blackbox.checks import CheckName
from dpaudit.blackbox.gaps import AllRaised, Constant, FewRuns, Gap, Identical, Meaningless, NotLookedAt, Powerless
from dpaudit.reporters.numbers import count

__all__ = ["Shown", "remedy"]

Shown = Callable[[str, str | None], str]
"""The way in which a parameter, with a value or without, is written; see `InputError.told`."""

_MANY_TRIALS = 100_000
_REMEDIES = {
    CheckName.INPUTS: "let the mechanism copy its input before it changes it",
    CheckName.GENERATOR: "draw all randomness from the generator that is passed",
    CheckName.SEED: "take the seed that is fixed out of the mechanism, and draw from the generator that is passed",
    CheckName.STATE: "let every run begin anew, with no state of an earlier one",
    CheckName.CLOCK: "keep the clock out of the output",
    CheckName.PROCESS: "keep the id of the process out of the output",
    CheckName.WORKERS: "draw all randomness from the generator that is passed, or use one process",
}


def remedy(gap: Gap, trials: int, shown: Shown) -> str:
    """Return what to do about a gap.

    Parameters
    ----------
    gap : Gap
        The gap.
    trials : int
        The runs that the audit was given.
    shown : callable
        How a parameter is written.
    """
    match gap:
        case FewRuns():
            more = max(_MANY_TRIALS, 10 * max(gap.trials, trials))
            return f"add {shown('trials', str(more))}: {count(gap.trials)} are the least that can refute the claim"
        case Powerless():
            more = max(_MANY_TRIALS, 10 * trials)
            return f"add {shown('trials', str(more))}: more runs see smaller leaks"
        case Constant() | Identical():
            return f"give {shown('pairs', None)} of different inputs, on which the output varies"
        case AllRaised():
            return f"give {shown('pairs', None)} that the mechanism accepts"
        case NotLookedAt():
            return "return these parts as numbers or text, or teach dpaudit their type: dpaudit.register_flattener"
        case Meaningless():
            return _REMEDIES[gap.check]
