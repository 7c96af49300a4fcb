"""The arguments of each kind of task, as typed records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct
from msgspec.structs import force_setattr

from dpaudit.audit.options import OPTIONS, Options
from dpaudit.contract import Relation
from dpaudit.record import Frozen


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


def with_options(base: type[Struct], name: str, doc: str, module: str, **others: tuple[Any, ...]) -> Any:
    """Return a record with the fields of another one and all options of a black-box audit.

    Of the options in `others` the type, and the default if there is one, are not those of the declaration.
    """
    fields: list[tuple[Any, ...]] = []
    doc += "\n\nAttributes\n----------\n"
    for option, one in OPTIONS.items():
        limits = one.limits | ({"min_length": 1} if one.kind is str else {})
        kind: Any = Literal[one.choices] if one.choices else Annotated[one.kind, Meta(**limits)]
        declared = kind | None if one.default is None else kind, one.default
        fields.append((option, *others.get(option, declared)))
        doc += f"{option} : {one.kind.__name__}\n    {one.help[0].upper()}{one.help[1:]}.\n"
    settings: dict[str, Any] = {"frozen": True, "kw_only": True, "tag": base.__struct_config__.tag}
    return defstruct(name, fields, bases=(base,), namespace={"__doc__": doc}, module=module, **settings)


class _PrivacyArguments(_Arguments, kw_only=True, frozen=True, tag="privacy"):
    def __post_init__(self) -> None:
        # Defaults are left out by identity, which a text loses on its way to another process.
        for name, one in OPTIONS.items():
            if one.choices and getattr(self, name) == one.default:
                force_setattr(self, name, one.default)


if TYPE_CHECKING:

    class PrivacyArguments(_PrivacyArguments, Options, frozen=True):
        """The arguments of a black-box audit; see `Options`."""

else:
    # Trials and confidence are always stored: their defaults may change.
    _OTHERS = {"relation": (Relation | None, None), "trials": (int,), "confidence": (float,)}
    _DOC = "The arguments of a black-box audit; see `Options`."
    PrivacyArguments = with_options(_PrivacyArguments, "PrivacyArguments", _DOC, __name__, **_OTHERS)


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
