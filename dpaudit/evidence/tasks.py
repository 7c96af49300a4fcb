"""Tasks: one audit of one learner, or the check of one statement, as data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr, replace

from dpaudit.audit.curve_claims import named_claim
from dpaudit.audit.options import OPTIONS
from dpaudit.audit.parameters import Look
from dpaudit.contract import (
    FIXED_SETTINGS,
    SETTINGS,
    CurveClaim,
    HasSettings,
    Instance,
    Learner,
    Relation,
    Statement,
)
from dpaudit.errors import InputError
from dpaudit.jsonable import jsonable
from dpaudit.record import Frozen, Words, encodable
from dpaudit.registry import Entry
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.hard_cases import hard_cases
from dpaudit.utility.interval import deciding_trials

# The arguments of an audit of utility that its function and its command take as they are.
UTILITY = ("alpha", "beta", "n", "trials", "most", "setting", "confidence")
# The number of outputs that a picture shows.
PICTURED_RUNS = 3
ValueRange = tuple[float, float]

# The arguments of each kind of task, as typed records.


class _Arguments(Frozen, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of the arguments of a task; what has its default is not stored, so that a key outlives new arguments."""

    @property
    def kind(self) -> str:
        """The kind of the task."""
        return str(self.__struct_config__.tag)


class ExactArguments(_Arguments, kw_only=True, frozen=True, tag="exact"):
    """The arguments of an exact audit.

    - n: Examples in a sample.
    - relation: The relation of neighbours.
    - samples: Whether every sample is enumerated.
    - pairs: Where the pairs are that are given.
    - enclosure: Whether epsilon is enclosed by ball arithmetic as well.
    - compose: The number of runs to compose.
    """

    n: int
    relation: Relation
    samples: Literal["all", "crafted", "given"]
    pairs: str | None = None
    enclosure: bool = False
    compose: int | None = None


# An option is declared once: Python, commands, settings and stored runs have the same limits.
def _within(name: str) -> Meta:
    """Return the limits of a declared option as those of a field."""
    limits = OPTIONS[name].limits
    if "ge" in limits:
        return Meta(ge=limits["ge"], lt=limits.get("lt"))
    return Meta(gt=limits["gt"], lt=limits.get("lt"))


class AuditOptions(_Arguments, kw_only=True, frozen=True):
    """The options of a black-box audit by name, as stored results and ``audit.toml`` have them.

    `audit.options.Options` declares each: what it means, its limits and its default. None stands for one that is left
    out.
    """

    epsilon: Annotated[float, _within("epsilon")] | None = None
    delta: Annotated[float, _within("delta")] | None = None
    claim: Words | None = None
    relation: str | None = None
    pairs: Words | None = None
    data: Words | None = None
    header: bool | None = None
    bounds: str | ValueRange | dict[str, ValueRange] | None = None
    unit: Words | None = None
    outside: bool = True
    group: Annotated[int, _within("group")] = 1
    include_data: bool = False
    batched: bool = False
    sequential: bool | None = None
    curve: bool = False
    float_bits: bool = False
    time: bool = False
    randomness: Literal["argument", "own"] = "argument"
    timeout: Annotated[float, _within("timeout")] | None = None
    timeout_is: Literal["output", "error"] = "output"
    time_limit: Annotated[float, _within("time_limit")] | None = None
    n: Annotated[int, _within("n")] | None = None
    trials: Annotated[int, _within("trials")] | None = None
    confidence: Annotated[float, _within("confidence")] | None = None

    def __post_init__(self) -> None:
        # Defaults are left out by identity, which a text loses on its way to another process.
        for name in ("randomness", "timeout_is"):
            if getattr(self, name) == OPTIONS[name].default:
                force_setattr(self, name, OPTIONS[name].default)

    @property
    def look(self) -> Look:
        """The choice of what is looked at."""
        return Look(curve=self.curve, float_bits=self.float_bits, time=self.time, include_data=self.include_data)

    def curve_claim(self) -> CurveClaim | None:
        """Return the claim that is a curve, if there is one; `InputError` if it stands beside epsilon or delta."""
        return named_claim(self.claim, self.epsilon, self.delta)


class PrivacyArguments(AuditOptions, kw_only=True, frozen=True, tag="privacy"):
    """The arguments of a black-box audit."""

    relation: Relation | None = None
    bounds: Words | None = None
    # Trials and confidence are always stored: their defaults may change.
    trials: Annotated[int, _within("trials")]
    confidence: Annotated[float, _within("confidence")]


class UtilityArguments(_Arguments, kw_only=True, frozen=True, tag="utility"):
    """The arguments of an audit of utility on one hard case.

    - role: Whether the theorem promises success on so many examples.
    - case: The name of the hard case.
    - case_index: Its index in `hard_cases`; None for the uniform distribution.
    - concept: The target's code; None for the case's own.
    - alpha, beta: The claim.
    - n, trials: Examples in a sample, and samples (or runs on one sample).
    - confidence: Of the interval.
    - setting: In what the learner is to succeed.
    - theorem_n: Of a single audit's ladder: the theorem's sample size; None where there is no theorem.
    - most: The most samples, where an interval contains beta.
    - noise: In the setting "agnostic", instead of the case's own noise.
    """

    role: Literal["claim", "ladder"]
    case: str
    case_index: int | None
    concept: int | None
    alpha: float
    beta: float
    n: int
    trials: int
    confidence: float
    setting: str
    theorem_n: int | UnsetType | None = UNSET
    most: int | None = None
    noise: float | None = None


class LedgerArguments(_Arguments, kw_only=True, frozen=True, tag="ledger"):
    """The arguments of a check: the statement, so that a stored result stands for what was checked.

    - statement: The statement of the paper.
    - time_limit: Seconds after which the check is stopped.
    """

    statement: str
    time_limit: float | None = None


class PictureArguments(_Arguments, kw_only=True, frozen=True, tag="picture"):
    """The arguments of a picture.

    - n: Examples in the sample.
    - runs: Outputs that are drawn.
    """

    n: int
    runs: int


Arguments = ExactArguments | PrivacyArguments | UtilityArguments | LedgerArguments | PictureArguments


def canonical(value: Any) -> str:
    """Return `value` as JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(jsonable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Task:
    """One audit of one learner, or the check of one statement of a paper, whose id then stands for the learner's.

    The type of the arguments is the kind of the audit.
    """

    learner: str
    parameters: Mapping[str, Any]
    arguments: Arguments

    @property
    def kind(self) -> str:
        """The kind of the audit; a picture is none, and decides nothing."""
        return self.arguments.kind

    @property
    def key(self) -> str:
        """A stable name: learner or statement, kind, role, number of examples, and a hash of all its fields."""
        fields = {name: value for name, value in encodable(self.arguments).items() if name != "kind"}
        everything = canonical([self.learner, self.kind, self.parameters, fields])
        # Short, because the key stands in reports and messages; the line in the file has a digest of its own.
        digest = hashlib.blake2b(everything.encode(), digest_size=5).hexdigest()
        if self.kind == "ledger":  # a statement has no number of examples
            return f"{self.learner}/{self.kind}/{digest}"
        role = ""
        if "role" in fields:
            role = f"{fields['role']}-"
        return f"{self.learner}/{self.kind}/{role}n{fields.get('n')}-{digest}"

    @property
    def recorded(self) -> dict[str, Any]:
        """The fields that a record of the task has, whether it is a result or a failure."""
        return {
            "task": self.key,
            "learner": self.learner,
            "parameters": jsonable(self.parameters),
            "arguments": self.arguments,
        }


def exact_task(
    learner: Learner,
    instance: Instance,
    *,
    n: int | None = None,
    relation: Relation | str | None = None,
    crafted: bool = False,
    pairs: str | None = None,
    enclosure: bool = False,
    compose: int | None = None,
) -> Task:
    """Return the task that computes the worst case over all or crafted samples of n examples, or over given pairs."""
    if relation is None:
        relation = Relation.REPLACE_ONE
        if learner.privacy is not None:
            relation = learner.privacy.relation
    # An n that the user gives is enumerated, whose own check refuses one that is too large.
    samples: Literal["all", "crafted", "given"] = "all"
    if pairs is not None:
        samples = "given"
    elif crafted or (n is None and not instance.exhaustive):
        samples = "crafted"
    arguments = ExactArguments(
        n=instance.n if n is None else n,
        relation=Relation.parse(relation),
        samples=samples,
        pairs=pairs,
        enclosure=enclosure,
        compose=compose,
    )
    return Task(learner.id, instance.parameters, arguments)


def ledger_task(statement: Statement, time_limit: float | None = None) -> Task:
    """Return the task that checks a statement."""
    return Task(statement.id, {}, LedgerArguments(statement=statement.statement, time_limit=time_limit))


def picture_task(entry: Entry) -> Task:
    """Return the task that draws some outputs of a learner on the instance to show."""
    pictured = entry.pictured_instance
    return Task(entry.id, pictured.parameters, PictureArguments(n=pictured.n, runs=PICTURED_RUNS))


def offered_settings(learner: Learner, instance: Instance) -> tuple[str, ...]:
    """Return the settings that the learner's theorem covers, its own first; none if it has no theorem.

    `InputError` if it names a setting that does not exist, or none and its theorem does not reach the instance's alpha,
    beta.
    """
    if not isinstance(learner, HasSettings):
        claim = stated_claim(learner, instance.alpha, instance.beta)
        if claim is None:
            return ()
        return (claim.setting,)
    settings = tuple(learner.settings)
    if unknown := [setting for setting in settings if setting not in SETTINGS]:
        raise InputError(f"settings must be of {', '.join(SETTINGS)}; {learner.id!r} names {unknown[0]!r}")
    return settings


def utility_tasks(
    learner: Learner,
    instance: Instance,
    *,
    trials: int,
    confidence: float,
    n: int | None = None,
    concept: int | None = None,
    cases: Sequence[int | None] | None = None,
    settings: Sequence[str | None] = (None,),
    noise: float | None = None,
    fixed_trials: int | None = None,
    more: int = 0,
) -> list[Task]:
    """Return one task for each hard case of each setting, which share the error budget ``1 - confidence`` equally.

    Its role is "claim" where the learner's theorem promises success on so many examples, else "ladder". Each case has
    `trials` runs, each on a sample of its own, or `fixed_trials`, by default as many, where the setting has one sample
    for all runs; they may grow by a factor of `more` where an interval contains beta. By default samples have the `n`
    that the theorem asks for, `cases` are all hard cases (None stands for the uniform distribution) with their own
    targets instead of `concept`, and the setting is the theorem's own, for which None stands. `noise` replaces the
    case's own in the setting "agnostic", and is needed there for the uniform distribution.
    """
    if noise is not None and tuple(settings) != ("agnostic",):
        message = "{noise} must be left out in every setting but 'agnostic'; got {given}"
        raise InputError(message, names=("noise",), value=noise, given=repr(noise))
    found: list[UtilityArguments] = []
    for asked in settings:
        size, setting, promised = _size(learner, instance, n, asked)
        # A hard case brings its own noise, the uniform distribution none.
        if noise is None and setting == "agnostic" and None in (cases or ()):
            message = "{noise} must be given for the uniform distribution in the setting 'agnostic'; got none"
            raise InputError(message, names=("noise",))
        # Where no theorem applies, or only to more examples, failures refute nothing: as on the ladder of a run.
        covered = promised is not None and size >= promised
        runs = trials
        if fixed_trials and setting in FIXED_SETTINGS:
            runs = fixed_trials
        found += [
            UtilityArguments(
                role="claim" if covered else "ladder",
                theorem_n=UNSET if covered else promised,
                case=name,
                case_index=i,
                concept=concept,
                alpha=instance.alpha,
                beta=instance.beta,
                n=size,
                trials=runs,
                most=more * runs or None,
                confidence=confidence,
                setting=setting,
                noise=noise,
            )
            for i, name in _cases(learner, instance.alpha, setting, cases)
        ]
    # The union bound: the errors of the cases add up to 1 - confidence.
    each = 1 - (1 - confidence) / max(len(found), 1)
    for i, one in enumerate(found):
        decisive = deciding_trials(one.trials, one.most, instance.beta, each)  # at once, if the learner never fails
        found[i] = replace(one, confidence=each, trials=decisive)
    return [Task(learner.id, instance.parameters, one) for one in found]


def _cases(
    learner: Learner, alpha: float, setting: str, wanted: Sequence[int | None] | None
) -> list[tuple[int | None, str]]:
    """Return (index, name) of the wanted hard cases; (None, "uniform") for the uniform distribution."""
    if wanted == [None]:
        return [(None, "uniform")]
    names = [case.name for case in hard_cases(learner, alpha, setting)]
    for index in wanted or ():
        if index is not None and not 0 <= index < len(names):
            message = "{distribution} must be uniform, all, or a hard case 0..{last}; got {given}"
            raise InputError(message, names=("distribution",), value=index, last=len(names) - 1, given=index)
    chosen = range(len(names)) if wanted is None else wanted
    return [(i, "uniform" if i is None else names[i]) for i in chosen]


def _size(learner: Learner, instance: Instance, n: int | None, setting: str | None) -> tuple[int, str, int | None]:
    """Return the sample size and the setting, the theorem's unless given, and the theorem's sample size, if any."""
    # The theorem may not reach this alpha and beta; at the user's own n the audit still makes sense.
    claim = stated_claim(learner, instance.alpha, instance.beta, setting, needed=n is None)
    if claim is not None and setting in (None, claim.setting):
        promised = int(claim.sample_size)
        if n is None:
            n = promised
        return n, claim.setting, promised
    if n is None:
        where = ""
        if setting is not None:
            where = f" in the setting {setting!r}"
        message = "{id} has no theorem on its sample size{where}; give {n}"
        raise InputError(message, names=("n",), id=learner.id, where=where)
    return n, setting or "realizable", None
