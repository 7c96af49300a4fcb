"""The arguments of each kind of task, as typed records."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from dpaudit.contract import Relation
from dpaudit.record import Frozen

__all__ = [
    "Arguments",
    "ExactArguments",
    "LedgerArguments",
    "PictureArguments",
    "PrivacyArguments",
    "UtilityArguments",
]


class _Arguments(Frozen, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """Base of the arguments of a task; what has its default is not stored, so that a key outlives new arguments."""

    kind: ClassVar[str]


class ExactArguments(_Arguments, kw_only=True, frozen=True, tag="exact"):
    """The arguments of an exact audit.

    Attributes
    ----------
    n : int
        Examples in a sample.
    relation : Relation
        The relation of neighbours.
    samples : {"all", "crafted"}
        Whether every sample is enumerated.
    enclosure : bool
        Whether epsilon is enclosed by ball arithmetic as well.
    compose : int or None
        The number of runs to compose.
    """

    kind: ClassVar[str] = "exact"
    n: int
    relation: Relation
    samples: Literal["all", "crafted"]
    enclosure: bool = False
    compose: int | None = None


class PrivacyArguments(_Arguments, kw_only=True, frozen=True, tag="privacy"):
    """The arguments of a black-box audit; see `audit_privacy`.

    Attributes
    ----------
    trials : int
        Runs on each side of each pair.
    confidence : float
        Of the verdict.
    n : int or None
        Examples in crafted or drawn samples.
    epsilon, delta, relation : optional
        The claim, where it is not the learner's own.
    strict, sequential, curve, float_bits, batched : bool
        Options of the audit.
    bound : str or None
        The lower bound on epsilon, "melded" or "unconditional"; None for what `strict` says.
    randomness : "own" or None
        Whether the mechanism has randomness of its own by design; None for the generator that is passed.
    pairs : str or None
        The source of the pairs where they are not crafted, such as "random:50" or MODULE:PAIRS.
    data : str or None
        The file of a dataset that pairs are made of.
    bounds, unit : str or None
        Of that dataset: the values that are allowed, as "0,1" or "age=0,100;share=0,1", and the column of the users.
    include_data : bool
        Whether the finding may show values of it.
    timeout, time_limit : float or None
        The most seconds of a run, and of the audit.
    timeout_is : "error" or None
        Whether a run that takes longer is a fault; None for an output.
    """

    kind: ClassVar[str] = "privacy"
    trials: int
    confidence: float
    n: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    relation: Relation | None = None
    strict: bool = False
    bound: str | None = None
    sequential: bool = False
    curve: bool = False
    float_bits: bool = False
    pairs: str | None = None
    batched: bool = False
    randomness: Literal["own"] | None = None
    data: str | None = None
    bounds: str | None = None
    unit: str | None = None
    include_data: bool = False
    timeout: float | None = None
    time_limit: float | None = None
    timeout_is: Literal["error"] | None = None

    def named(self) -> dict[str, Any]:
        """Return the arguments as `audit_privacy` takes them."""
        words = {"randomness": self.randomness or "argument", "timeout_is": self.timeout_is or "output"}
        return asdict(self) | words


class UtilityArguments(_Arguments, kw_only=True, frozen=True, tag="utility"):
    """The arguments of an audit of utility on one hard case.

    Attributes
    ----------
    role : {"claim", "ladder"}
        Whether the theorem promises success on so many examples.
    case : str
        The name of the hard case.
    case_index : int or None
        Its index in `hard_cases`; None for the uniform distribution.
    concept : int or None
        The target's code; None for the case's own.
    alpha, beta : float
        The claim.
    n, trials : int
        Examples in a sample, and samples (or runs on one sample).
    confidence : float
        Of the interval.
    setting : str
        In what the learner is to succeed.
    theorem_n : int or None
        Of a single audit's ladder: the theorem's sample size; None where there is no theorem.
    most : int or None
        The most samples, where an interval contains beta.
    noise : float or None
        In the setting "agnostic", instead of the case's own noise.
    """

    kind: ClassVar[str] = "utility"
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

    Attributes
    ----------
    statement : str
        The statement of the paper.
    time_limit : float or None
        Seconds after which the check is stopped.
    """

    kind: ClassVar[str] = "ledger"
    statement: str
    time_limit: float | None = None


class PictureArguments(_Arguments, kw_only=True, frozen=True, tag="picture"):
    """The arguments of a picture.

    Attributes
    ----------
    n : int
        Examples in the sample.
    runs : int
        Outputs that are drawn.
    """

    kind: ClassVar[str] = "picture"
    n: int
    runs: int


Arguments = ExactArguments | PrivacyArguments | UtilityArguments | LedgerArguments | PictureArguments
