"""Which audits to make of which learners, and which claims to check: a function of the examples and a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.contract import Learner
from dpaudit.engine.tasks import Task, exact_task, ledger_task, privacy_task, utility_target, utility_tasks
from dpaudit.errors import InputError
from dpaudit.registry import ClaimEntry, Entry

__all__ = ["PROFILES", "Plan", "Profile", "make_plan"]


@dataclass(frozen=True)
class Profile:
    """How much work a run does.

    Parameters
    ----------
    privacy_trials : int
        Runs on each side of each pair, on average, in the black-box audit.
    control_trials : int
        The same for positive controls, whose leaks are known to be large.
    utility_trials : int
        Samples drawn for each hard case at the theorem's n.
    ladder_trials : int
        Samples drawn at each smaller n.
    ladder_steps : int
        How many smaller n: the theorem's halved, quartered, ...
    """

    privacy_trials: int
    control_trials: int
    utility_trials: int
    ladder_trials: int
    ladder_steps: int


PROFILES = {
    "quick": Profile(privacy_trials=1_000, control_trials=1_000, utility_trials=100, ladder_trials=30, ladder_steps=3),
    "default": Profile(
        privacy_trials=10_000, control_trials=2_000, utility_trials=2_000, ladder_trials=300, ladder_steps=6
    ),
    "full": Profile(
        privacy_trials=200_000, control_trials=20_000, utility_trials=10_000, ladder_trials=2_000, ladder_steps=6
    ),
}


@dataclass(frozen=True)
class Plan:
    """The tasks of a run in their order, and what is missing from it.

    Parameters
    ----------
    tasks : tuple of Task
        Distinct by key.
    notes : tuple of str
        Audits that do not apply, with the reason.
    faults : tuple of str
        Learners for which no plan could be made, with the error: a fault, not a finding.
    """

    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The tasks' keys in order."""
        return tuple(task.key for task in self.tasks)


def make_plan(
    entries: Sequence[Entry],
    *,
    profile: str = "default",
    confidence: float = 0.95,
    trials: int | None = None,
    claims: Sequence[ClaimEntry] = (),
) -> Plan:
    """Plan the audits of some learners on their examples, and the checks of some claims.

    Parameters
    ----------
    entries : sequence of Entry
        The learners, in the order of the run.
    profile : {"quick", "default", "full"}
        How much work; see `PROFILES`.
    confidence : float
        Of each finding; the hard cases of one learner share it.
    trials : int, optional
        Runs on each side of each pair in the black-box audit, instead of the profile's.
    claims : sequence of ClaimEntry
        Claims of the ledger to check after the audits; each does the same work in every profile.

    Returns
    -------
    Plan
        For each learner: exact (if it has a law), black-box with its curve (if it claims privacy), and, unless it is a
        positive control, utility on every hard case at the theorem's n and on the first one at smaller n.
    """
    if profile not in PROFILES:
        raise InputError(f"profile must be one of {', '.join(PROFILES)}; got {profile!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be in (0, 1), got {confidence!r}")
    if trials is not None and trials < 1:
        raise InputError(f"trials must be at least 1, got {trials!r}")
    work = PROFILES[profile]
    tasks: dict[str, Task] = {}
    notes: list[str] = []
    faults: list[str] = []
    for entry in entries:
        try:
            usual = work.privacy_trials if entry.fault is None else work.control_trials
            planned, left_out = _plan_one(entry, work, confidence, trials or usual)
        except Exception as error:  # whatever a third party's learner raises, the others are still audited
            faults.append(f"{entry.id}: no audit could be planned: {type(error).__name__}: {error}")
            continue
        tasks |= {task.key: task for task in planned}
        notes += [f"{entry.id}: {note}" for note in left_out]
    tasks |= {task.key: task for task in map(ledger_task, claims)}
    return Plan(tuple(tasks.values()), tuple(notes), tuple(faults))


def _plan_one(entry: Entry, work: Profile, confidence: float, trials: int) -> tuple[list[Task], list[str]]:
    """Return the tasks of one learner, and the audits that do not apply to it with the reason."""
    learner = entry.build(**entry.example.parameters)
    tasks: list[Task] = []
    notes: list[str] = []
    if hasattr(learner, "law"):
        tasks.append(exact_task(entry, learner))
    if learner.privacy is not None:
        tasks.append(privacy_task(entry, trials=trials, confidence=confidence, curve=True))
    if entry.fault is not None and not tasks:
        raise InputError("a positive control needs a law or a claim; it has neither, so nothing can convict it")
    if entry.fault is not None:
        return tasks, notes
    target = utility_target(learner, entry.example.alpha, entry.example.beta)
    if target is not None and target.setting == "agnostic":
        notes.append("no utility audit: only labels by a concept of the class are drawn, not agnostic ones")
    elif target is not None:
        try:
            tasks += utility_tasks(entry, learner, trials=work.utility_trials, confidence=confidence)
            tasks += _ladder(entry, learner, work, confidence)
        except InputError as error:
            notes.append(f"no utility audit, or not all of it: {error}")
    return tasks, notes if tasks else [
        "nothing to audit: no law, no privacy claim and no utility theorem",
        *notes,
    ]


def _ladder(entry: Entry, learner: Learner, work: Profile, confidence: float) -> list[Task]:
    """Return tasks at n halved, quartered, ...: how loose the theorem is, not whether it holds."""
    first = utility_tasks(entry, learner, trials=work.ladder_trials, confidence=confidence, cases=[0])[0]
    n = first.arguments["n"]
    steps = {math.ceil(n / 2**k) for k in range(1, work.ladder_steps + 1)} - {n}
    return [
        Task(entry.id, "utility", first.parameters, {**first.arguments, "role": "ladder", "n": size})
        for size in sorted(steps, reverse=True)
    ]
