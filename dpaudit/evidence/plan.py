"""Plans the audits of learners on their instances, and the checks of statements, for a profile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from dpaudit.arguments import CONFIDENCE, read_choice
from dpaudit.audit.options import Options
from dpaudit.contract import HasFurtherInstances, HasLaw, Instance, Learner, Pictured, Statement
from dpaudit.errors import InputError
from dpaudit.evidence.records import Fault, Planned
from dpaudit.evidence.tasks import (
    PrivacyArguments,
    Task,
    UtilityArguments,
    exact_task,
    ledger_task,
    offered_settings,
    picture_task,
    utility_tasks,
)
from dpaudit.registry import Entry
from dpaudit.running.isolated import Timeout
from dpaudit.utility.interval import is_vacuous


@dataclass(frozen=True)
class Plan:
    """The tasks of a run in their order, distinct by key, and what is missing from it.

    `notes` are audits that do not apply, with the reason; `faults` are learners for which no plan could be made, with
    the error, which is no finding.
    """

    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def planned(self) -> tuple[Planned, ...]:
        """The tasks in order, as a run's header lists them."""
        return tuple(Planned(task.key, task.learner, task.kind) for task in self.tasks)


def make_plan(
    entries: Sequence[Entry],
    *,
    profile: str = "default",
    confidence: float = CONFIDENCE,
    trials: int | None = None,
    statements: Sequence[Statement] = (),
    timeout: float | None = None,
    time_limit: float | None = None,
) -> Plan:
    """Plan the audits of some learners on their instances, and the checks of some statements, in this order.

    Each learner gets an exact audit (if it has a law), a black-box audit with its curve (if it claims privacy), and,
    unless it is a positive control, audits of utility in every setting that its theorem covers, on every hard case at
    the theorem's n and on the first one at smaller n; audits of utility at the theorem's n, in its own setting, for
    every further instance that it names in `audited`; and a picture (if it offers one). Where utility on the instance
    is vacuous and a further one is not, the further one takes its place.

    The `profile` is one of `PROFILES`; "quick" leaves out the slow statements. The hard cases of one learner share the
    `confidence`, which is that of each finding. `trials` are the runs a side in black-box audits, by default the
    profile's; `timeout` and `time_limit`, in seconds, are as for `audit_privacy`.
    """
    work = PROFILES[read_choice("profile", profile, PROFILES)]
    # What a black-box audit refuses: otherwise each of them would fail, one by one.
    Options.confidence.read(confidence)
    Options.trials.read(trials or work.privacy_trials)
    Options.time_limit.read(time_limit)
    timeout = Options.timeout.read(timeout)
    if timeout is not None:
        # Refuses one on systems that cannot end a run.
        Timeout(timeout)
    tasks: dict[str, Task] = {}
    notes: list[str] = []
    faults: list[Fault] = []
    for entry in entries:
        try:
            usual = work.privacy_trials
            if entry.fault is not None:
                usual = work.control_trials
            planned, left_out = _plan_one(entry, work, confidence, trials or usual, timeout, time_limit)
        # Whatever third-party code raises, even an exit, the other learners are still audited.
        except (Exception, SystemExit) as error:
            faults.append(Fault(entry.id, f"no audit could be planned: {type(error).__name__}: {error}"))
            continue
        tasks |= {task.key: task for task in planned}
        notes += [f"{entry.id}: {note}" for note in left_out]
    checked = [one for one in statements if work.slow_statements or not one.slow]
    if slow := len(statements) - len(checked):
        notes.append(f"{slow} statements take seconds each: --profile default checks them too")
    tasks |= {task.key: task for task in map(ledger_task, checked)}
    return Plan(tuple(tasks.values()), tuple(notes), tuple(faults))


def _plan_one(
    entry: Entry, work: Profile, confidence: float, trials: int, timeout: float | None, time_limit: float | None
) -> tuple[list[Task], list[str]]:
    learner = entry.build(**entry.instance.parameters)
    tasks: list[Task] = []
    if isinstance(learner, HasLaw):
        tasks.append(exact_task(learner, entry.instance))
    if learner.privacy is not None:
        # Bets end as soon as a known leak is found, and have no curve.
        bets = work.sequential_controls and entry.fault is not None
        arguments = PrivacyArguments(
            n=entry.instance.n,
            trials=trials,
            confidence=confidence,
            curve=not bets,
            # None lets the audit choose: it bets where runs are slow.
            sequential=True if bets else None,
            timeout=timeout,
            time_limit=time_limit,
        )
        tasks.append(Task(entry.id, entry.instance.parameters, arguments))
    if entry.fault is not None:
        if not tasks:
            raise InputError("a positive control needs a law or a claim; it has neither, so nothing can detect it")
        return tasks, []
    # Not of a control: its fault may have spoilt the theorem, which is not even asked.
    planned, notes = _plan_utility(entry, learner, work, confidence)
    tasks += planned
    if not tasks:
        return [], ["nothing to audit: no law, no privacy claim and no utility theorem", *notes]
    if isinstance(learner, Pictured):
        tasks.append(picture_task(entry))
    return tasks, notes


def _plan_utility(entry: Entry, learner: Learner, work: Profile, confidence: float) -> tuple[list[Task], list[str]]:
    """Return the utility tasks of a learner's instances, and why a setting was left out (see `make_plan`)."""
    first = entry.instance
    further: Sequence[Instance] = ()
    if isinstance(learner, HasFurtherInstances):
        further = learner.audited
    settings = offered_settings(learner, first)
    claims = (is_vacuous(first.alpha, first.beta, setting, learner.concepts) for setting in settings)
    vacuous = settings and all(claims)
    tasks: list[Task] = []
    notes: list[str] = []
    instances = [first, *further]
    if further and vacuous:
        # The claim on the first one promises next to nothing, so that a further one takes its place.
        instances = [*further]
    for i, instance in enumerate(instances):
        learner = entry.build(**instance.parameters)
        planned = partial(utility_tasks, learner, instance, confidence=confidence)
        settings = offered_settings(learner, instance)
        if i:
            # A further instance shows that the theorem holds elsewhere too: in its own setting, the first, and with
            # fewer runs.
            trials = max(work.ladder_trials, min(100, work.utility_trials))
            tasks += planned(trials=trials, more=work.utility_growth, settings=settings[:1])
            continue
        ladders: list[Task] = []
        possible: list[str] = []
        for setting in settings:
            try:
                # It raises where the theorem does not reach alpha and beta in this setting; the others are still
                # audited.
                claim = planned(trials=work.ladder_trials, cases=[0], settings=[setting])[0].arguments
            except InputError as error:
                notes.append(f"no utility audit in the setting {setting!r}: {error}")
                continue
            assert isinstance(claim, UtilityArguments)
            possible.append(setting)
            # At n halved, quartered, ...: how loose the theorem is, not whether it holds.
            smaller = {math.ceil(claim.n / 2**k) for k in range(1, work.ladder_steps + 1)} - {claim.n}
            rungs = [replace(claim, role="ladder", n=n) for n in sorted(smaller, reverse=True)]
            ladders += [Task(entry.id, instance.parameters, rung) for rung in rungs]
        tasks += planned(
            trials=work.utility_trials,
            fixed_trials=work.fixed_trials,
            more=work.utility_growth,
            settings=possible,
        )
        tasks += ladders
    return tasks, notes


@dataclass(frozen=True)
class Profile:
    """The amount of work that a run does; the defaults are those of the profile "default"."""

    privacy_trials: int = 300_000  # runs on each side in the black-box audit
    control_trials: int = 60_000  # the same for positive controls, whose leaks are known to be large
    utility_trials: int = 2_000  # samples drawn for each hard case at the theorem's n
    fixed_trials: int = 10_000  # runs for each hard case of settings with one sample for all runs, which are cheap
    utility_growth: int = 64  # by how much both may grow where an interval contains beta
    ladder_trials: int = 300  # samples drawn at each smaller n
    ladder_steps: int = 6  # the number of smaller n: the theorem's halved, quartered, ...
    sequential_controls: bool = False  # whether controls are audited by bets, which end as soon as the leak is found
    slow_statements: bool = True  # whether statements of papers are checked whose checks take seconds


PROFILES = {
    "quick": Profile(
        privacy_trials=64_000,
        control_trials=64_000,
        utility_trials=100,
        fixed_trials=1_000,
        utility_growth=256,
        ladder_trials=30,
        ladder_steps=3,
        sequential_controls=True,
        slow_statements=False,
    ),
    "default": Profile(),
    "full": Profile(
        privacy_trials=6_000_000,
        control_trials=600_000,
        utility_trials=10_000,
        fixed_trials=100_000,
        ladder_trials=2_000,
    ),
}
