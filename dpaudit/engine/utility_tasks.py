"""The tasks of the utility audit: one for each hard case of each setting that a theorem speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from dpaudit.contract import FIXED_SETTINGS, SETTINGS, HasSettings, Learner, UtilityClaim
from dpaudit.engine.arguments import UtilityArguments
from dpaudit.engine.tasks import Task
from dpaudit.errors import InputError
from dpaudit.registry import Entry
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.interval import deciding_trials

__all__ = ["offered_settings", "utility_target", "utility_tasks"]


def offered_settings(learner: Any, alpha: float, beta: float) -> tuple[str, ...]:
    """Return the settings that the learner's theorem speaks of, its own first; none if it has no theorem.

    Raises
    ------
    InputError
        If the learner names a setting that does not exist, or says nothing and its theorem does not reach alpha, beta.
    """
    named = tuple(learner.settings) if isinstance(learner, HasSettings) else None
    if named is None:
        target = utility_target(learner, alpha, beta)
        return () if target is None else (target.setting,)
    for setting in named:
        if setting not in SETTINGS:
            raise InputError(f"settings must be of {', '.join(SETTINGS)}; {learner.id!r} names {setting!r}")
    return named


def utility_target(learner: Any, alpha: float, beta: float, setting: str | None = None) -> UtilityClaim | None:
    """Return the claim of the learner's theorem for alpha and beta; None if it has none in that setting."""
    claim = stated_claim(learner, alpha, beta, setting)
    return claim if claim is None or setting in (None, claim.setting) else None


def utility_tasks(
    entry: Entry,
    learner: Learner,
    *,
    trials: int,
    confidence: float,
    parameters: Mapping[str, Any] | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    n: int | None = None,
    concept: int | None = None,
    cases: Sequence[int | None] | None = None,
    settings: Sequence[str | None] = (None,),
    noise: float | None = None,
    fixed_trials: int | None = None,
    more: int | None = None,
) -> list[Task]:
    """Return one task for each hard case of each setting, which share the error budget ``1 - confidence`` equally.

    Its role is "claim" where the learner's theorem promises success on so many examples, else "ladder".

    Parameters
    ----------
    entry, learner
        The learner and where it came from.
    trials, fixed_trials : int
        Runs for each case, each on a sample of its own; and where the setting has one sample for all runs (by default
        as many).
    more : int, optional
        By how much the runs may grow where an interval contains beta; not at all by default.
    confidence : float
        Of all intervals together.
    parameters : mapping, optional
        The learner's; those of its instance by default.
    alpha, beta, n : optional
        By default the accuracy and the failure probability of the instance, and the theorem's sample size.
    concept : int, optional
        Target for every case instead of the case's own.
    cases : sequence of int or None, optional
        The hard cases to take (None stands for the uniform distribution); all by default.
    settings : sequence of str or None
        In what the learner is to succeed; None stands for its theorem's own setting.
    noise : float, optional
        In the setting "agnostic", instead of the case's own noise; needed for the uniform distribution.
    """
    alpha = entry.instance.alpha if alpha is None else alpha
    beta = entry.instance.beta if beta is None else beta
    _check_noise(noise, settings)
    found: list[UtilityArguments] = []
    for asked in settings:
        size, setting, promised = _size(entry, learner, alpha, beta, n, asked)
        _check_noise_of_uniform(noise, setting, cases)
        # Where no theorem speaks, or only of more examples, failures refute nothing: as on the ladder of a run.
        covered = promised is not None and size >= promised
        found += [
            UtilityArguments(
                role="claim" if covered else "ladder",
                theorem_n=UNSET if covered else promised,
                case=name,
                case_index=i,
                concept=concept,
                alpha=alpha,
                beta=beta,
                n=size,
                trials=(runs := fixed_trials if fixed_trials and setting in FIXED_SETTINGS else trials),
                most=more and more * runs,
                confidence=confidence,
                setting=setting,
                noise=noise,
            )
            for i, name in _cases(learner, alpha, setting, cases)
        ]
    each = 1 - (1 - confidence) / max(len(found), 1)
    kept = entry.instance.parameters if parameters is None else parameters
    return [Task(entry.id, kept, _decisive(arguments, each)) for arguments in found]


def _check_noise(noise: float | None, settings: Sequence[str | None]) -> None:
    """Raise `InputError` for noise where the setting is not, or not only, "agnostic"."""
    if noise is not None and tuple(settings) != ("agnostic",):
        told = "{noise} must be left out in every setting but 'agnostic'; got {given}"
        raise InputError(told, names=("noise",), value=noise, given=repr(noise))


def _check_noise_of_uniform(noise: float | None, setting: str, cases: Sequence[int | None] | None) -> None:
    """Raise `InputError` for the uniform distribution without noise in the setting "agnostic"."""
    if setting == "agnostic" and cases is not None and None in cases and noise is None:
        told = "{noise} must be given for the uniform distribution in the setting 'agnostic'; got none"
        raise InputError(told, names=("noise",))


def _decisive(arguments: UtilityArguments, confidence: float) -> UtilityArguments:
    """Return the arguments with their confidence, and runs enough to decide at once on a learner that never fails."""
    trials = deciding_trials(arguments.trials, arguments.most or None, arguments.beta, confidence)
    return replace(arguments, confidence=confidence, trials=trials)


def _cases(
    learner: Learner, alpha: float, setting: str, wanted: Sequence[int | None] | None
) -> list[tuple[int | None, str]]:
    """Return (index, name) of the wanted hard cases; (None, "uniform") for the uniform distribution."""
    if wanted is not None and set(wanted) == {None}:
        return [(None, "uniform")]
    from dpaudit.utility.hard_cases import hard_cases

    names = [case.name for case in hard_cases(learner, alpha, setting)]
    for index in wanted or ():
        if index is not None and not 0 <= index < len(names):
            told = "{distribution} must be uniform, all, or a hard case 0..{last}; got {given}"
            raise InputError(told, names=("distribution",), value=index, last=len(names) - 1, given=index)
    chosen = range(len(names)) if wanted is None else wanted
    return [(i, "uniform" if i is None else names[i]) for i in chosen]


def _size(
    entry: Entry, learner: Learner, alpha: float, beta: float, n: int | None, setting: str | None
) -> tuple[int, str, int | None]:
    """Return the sample size and the setting, the theorem's unless given, and the theorem's sample size, if any."""
    try:
        target = utility_target(learner, alpha, beta, setting)
    except InputError:
        # The theorem may not reach this alpha and beta; at the user's own n the audit still makes sense.
        if n is None:
            raise
        target = None
    if n is None and target is None:
        where = "" if setting is None else f" in the setting {setting!r}"
        raise InputError(
            "{id} has no theorem on its sample size{where}; give {n}", names=("n",), id=entry.id, where=where
        )
    promised = None if target is None else int(target.sample_size)
    size = promised if n is None else n
    assert size is not None
    return size, setting or ("realizable" if target is None else target.setting), promised
