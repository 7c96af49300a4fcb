"""The next step after an audit that could not have seen a leak, for each kind of gap."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpaudit.audit.budget import Budget
from dpaudit.audit.checks import CheckName
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.no_evidence import AllRaised, Constant, FewRuns, Gap, Identical, Meaningless, NotLookedAt, Powerless
from dpaudit.audit.power import Power
from dpaudit.contract import PrivacyClaim, Relation
from dpaudit.report.numbers import significant

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


def remedy(gap: Gap, finding: PrivacyFinding, shown: Shown) -> str:
    """Return what to do about a gap.

    Parameters
    ----------
    gap : Gap
        The gap.
    finding : PrivacyFinding
        The finding that has it.
    shown : callable
        How a parameter is written.
    """
    match gap:
        case FewRuns():
            return _more_runs(finding, max(_MANY_TRIALS, 10 * max(gap.trials, finding.trials)), shown)
        case Powerless():
            return _more_runs(finding, max(_MANY_TRIALS, 10 * finding.trials), shown)
        case Constant() | Identical():
            return f"give {shown('pairs', None)} of different inputs, on which the output varies"
        case AllRaised():
            return f"give {shown('pairs', None)} that the mechanism accepts"
        case NotLookedAt():
            return "return these parts as numbers or text, or teach dpaudit their type: dpaudit.register_flattener"
        case Meaningless():
            return _REMEDIES[gap.check]


def _more_runs(finding: PrivacyFinding, trials: int, shown: Shown) -> str:
    """Return the advice to make more runs, with what these would catch where that can be reckoned."""
    told, least = f"add {shown('trials', str(trials))}", _caught(finding, trials)
    if math.isinf(least):
        return f"{told}: more runs see smaller leaks"
    return f"{told} to catch any epsilon >= {significant(least, 'up', digits=2, apart_from=finding.epsilon)} or so"


def _caught(finding: PrivacyFinding, trials: int) -> float:
    """Return the least epsilon that so many runs detect, on an event as likely as the one tested; inf if none."""
    witness = finding.witness
    if not witness.trials or not witness.neighbour_trials or witness.hits is None or witness.neighbour_hits is None:
        return math.inf
    given = len(finding.origins)
    budget = Budget.of(trials, given, local=finding.pairs > given)
    claim = PrivacyClaim(finding.epsilon, finding.delta, finding.relation or Relation.REPLACE_ONE)
    shares = witness.hits / witness.trials, witness.neighbour_hits / witness.neighbour_trials
    training = budget.pilot + budget.training
    return Power.of_test(*shares, training, budget.confirmation, claim, finding.errors["verdict"]).epsilon
