"""The fields and the methods that all findings share, and the call that made a finding, which it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, ParamSpec, Self, TypeVar

import msgspec

from dpaudit.contract import CurveClaim, PrivacyClaim, Verdict
from dpaudit.errors import InputError, UnknownArgument, nearest
from dpaudit.files import write_file
from dpaudit.hooks import presenter
from dpaudit.jsonable import stable_repr
from dpaudit.record import Frozen, Unstored, decode, encodable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The version of what is stored; 1 had events and verdicts as words.
SCHEMA_VERSION: Literal[2] = 2
# The version of the addresses of random streams: equal versions, seeds and arguments give equal outputs.
STREAMS_VERSION = 3


def versions() -> dict[str, str]:
    """Return the versions of the libraries that a result, or the bytes of its report, depends on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Look the versions up once: parsing the packages' metadata takes as long as a small audit."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    computing = ("dpaudit", "numpy", "scipy", "scikit-learn", "pandas", "joblib")
    for name in (*computing, "matplotlib", "jinja2", "python-flint"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            # What needs it does not run without it.
            if name != "python-flint":
                found[name] = "not installed"
    return found


class Finding(Frozen, frozen=True, kw_only=True, tag_field="kind"):
    """Base of every finding: a typed record that writes itself, and that `record.decode` reads.

    - versions: Versions of Python and of the libraries that the numbers depend on.
    - schema_version: The version of the schema that the record keeps.
    """

    verdicts: ClassVar[tuple[Verdict, ...]] = ()
    """The verdicts that a finding of this kind may have."""
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[2] = SCHEMA_VERSION

    def __post_init__(self) -> None:
        verdict = getattr(self, "verdict", None)
        if verdict is not None and verdict not in self.verdicts:
            raise InputError.among("verdict", str(verdict), self.verdicts)

    @property
    def kind(self) -> str:
        """The kind of the finding, as it is stored."""
        return str(self.__struct_config__.tag)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-safe data that validates against the schema of its kind."""
        found: dict[str, Any] = encodable(self)
        return found


# The name of a mechanism in a finding that was read from a file, which has none.
THE_MECHANISM = "the mechanism"


class AuditFinding(Finding, frozen=True, kw_only=True, dict=True):
    """Base of the findings of audits: they can be printed, shown in a notebook, drawn, saved and loaded.

    `print(finding)` shows the verdict, what it rests on and the call that repeats it; `summary()` is all of it.
    """

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the finding that `to_dict` wrote.

        Raises
        ------
        ToolFault
            If it is no finding of this kind: the message names the field.

        Notes
        -----
        Types and ranges are checked, bound and verdict are taken as they stand: ``dpaudit verify FILE.json`` derives
        them from the counts.
        """
        found: Self = decode(json.dumps(data), cls)
        return found

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the finding in a file that `save` wrote.

        Raises
        ------
        ToolFault
            If the file holds no finding of this kind: the message names file and field.
        OSError
            If there is no such file, or it cannot be read.

        Notes
        -----
        Types and ranges are checked, bound and verdict are taken as they stand: ``dpaudit verify FILE.json`` derives
        them from the counts.
        """
        found: Self = decode(Path(path).read_bytes(), cls, path)
        return found

    audited = Unstored(
        THE_MECHANISM,
        'The mechanism or the learner, as in the call; "the mechanism" where the finding was read from a file.',
    )
    call = Unstored("", "The call that made the finding, as Python; empty where it was read from a file.")

    def save(self, path: str | Path) -> None:
        """Write the finding to a file as JSON that validates against the schema of findings; whole, or not at all."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False)
        write_file(path, f"{text}\n".encode())

    def summary(self) -> str:
        """Return the whole finding in words: claim, bound, power, runs, errors, witness and warnings, a line each."""
        return presenter().page(self)

    def plot(self) -> Figure:
        """Return a matplotlib figure of the finding.

        Of privacy it shows the curve delta(epsilon) that the claim allows, and what the audit ruled out or computed; of
        utility the failure rate with its interval, against n and beta. `figure.savefig(path)` writes it, and a notebook
        shows it where it is the last line of a cell.
        """
        return presenter().figure(self)

    def __str__(self) -> str:
        return presenter().brief(self)

    def _repr_html_(self) -> str:
        """Return the finding for a notebook: the three lines, the figure, and the rest folded."""
        return presenter().notebook(self)


P = ParamSpec("P")
F = TypeVar("F", bound=AuditFinding)

# Characters of a value in a call; one that is longer is shown by the name of the parameter.
_LONGEST = 40
# Parameters that change no number of a finding.
_TIME_ALONE = ("n_jobs", "backend", "address", "progress")
# The module of parameter objects.
_PARAMETERS = "dpaudit.audit.parameters"
# Parameters that hold somebody's records, of which a call shows none.
_OF_PEOPLE = ("data", "unit")


def remembering(audit: Callable[P, F]) -> Callable[P, F]:
    """Return an audit whose findings know its first argument and the call: `finding.audited` and `finding.call`."""

    @wraps(audit)
    def remembered(*args: P.args, **kwargs: P.kwargs) -> F:
        check_names(audit, kwargs)
        finding = audit(*args, **kwargs)
        given = signature(audit).bind(*args, **kwargs).arguments
        # Audits of recorded outputs and of scores have no mechanism among their arguments, and name it themselves.
        if finding.audited == THE_MECHANISM:
            AuditFinding.audited.note(finding, _shown(*next(iter(given.items()))))
        AuditFinding.call.note(finding, _call_text(audit, given))
        return finding

    return remembered


# Names that parameters have elsewhere.
_OTHER_NAMES = {
    "dataset": "data",
    "df": "data",
    "eps": "epsilon",
    "frame": "data",
    "jobs": "n_jobs",
    "n_runs": "trials",
    "n_trials": "trials",
    "neighbors": "pairs",
    "neighbours": "pairs",
    "pair": "pairs",
    "num_trials": "trials",
    "random_state": "seed",
    "runs": "trials",
    "samples": "trials",
    "workers": "n_jobs",
}
# Fields of a dataset, which its parameter may hold.
_OF_DATASET = ("bounds", "group", "outside", "unit")
# Parameters of curves that are claims of their own.
_CLAIMS = {"mu": "gaussian", "rho": "zero_concentrated"}


def check_names(audit: Callable[..., AuditFinding], given: Mapping[str, object], more: Collection[str] = ()) -> None:
    """Raise `UnknownArgument` for the first argument that an audit does not have; it shows the line to write.

    A caller has the parameters `more` of its own.
    """
    parameters = signature(audit).parameters
    # Parameters of a learner are keyword arguments of their own, which the audit cannot know.
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    known = [*more, *parameters]
    for name, value in given.items():
        if name in known:
            continue
        meant = _OTHER_NAMES.get(name, "")
        hint = nearest(name, known)
        for parameter in parameters.values():
            if is_dataclass(parameter.default) and name in parameter.default.__dataclass_fields__:
                held = f"dpaudit.{type(parameter.default).__name__}({name}={_shown(name, value)})"
                hint = f"; write {parameter.name}={held}"
        if name in _OF_DATASET and "data" in known:
            hint = f"; write data=dpaudit.Dataset(data, {name}={_shown(name, value)})"
        if meant in known:
            if name == "pair":
                shown = f"[{_shown(name, value)}]"
            else:
                shown = _shown(meant, value)
            hint = f"; write {meant}={shown}"
        elif name in _CLAIMS and "claim" in known:
            hint = f"; write claim=dpaudit.PrivacyClaim.{_CLAIMS[name]}({_shown(name, value)})"
        raise UnknownArgument(f"there is no argument {name!r}, but {', '.join(known)}{hint}", parameter=name)


def _call_text(function: Callable[..., AuditFinding], given: Mapping[str, Any]) -> str:
    """Return a call as Python; what has its default, or changes nothing but the time, is left out."""
    words = []
    for name, value in given.items():
        parameter = signature(function).parameters[name]
        is_default = _is_default(value, parameter.default)
        if parameter.kind is parameter.VAR_KEYWORD:
            words += [f"{key}={_shown(key, item)}" for key, item in value.items()]
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            words.append(_shown(name, value))
        elif name not in _TIME_ALONE and not is_default:
            words.append(f"{name}={_shown(name, value)}")
    of_pac = function.__module__.startswith(("dpaudit.exact.", "dpaudit.utility.", "dpaudit.registry."))
    return f"dpaudit.{'pac.' if of_pac else ''}{function.__name__}({', '.join(words)})"


def _is_default(value: Any, default: Any) -> bool:
    """Return whether a value is the default; of a parameter object, whether all its fields that count have theirs."""
    if _is_parameters(default):
        return not _fields_given(value)
    # Arrays are not compared.
    plain = isinstance(value, int | float | str)
    return value is default or (plain and type(value) is type(default) and value == default)


def _is_parameters(value: Any) -> bool:
    """Return whether a value is a parameter object of the public interface, such as `dpaudit.Look`."""
    return is_dataclass(value) and not isinstance(value, type) and type(value).__module__ == _PARAMETERS


def _fields_given(value: Any) -> dict[str, Any]:
    """Return the fields of a parameter object without their defaults and what changes nothing but the time."""
    return {
        field.name: found
        for field in fields(value)
        if field.name not in _TIME_ALONE and not _is_default(found := getattr(value, field.name), field.default)
    }


def _shown(name: str, value: Any) -> str:
    """Return a value as Python: a function by its name, a dataclass by its fields, what cannot be shown as `name`."""
    if _is_parameters(value):
        shown = [f"{key}={_shown(key, item)}" for key, item in _fields_given(value).items() if key != "records"]
        return f"dpaudit.{type(value).__name__}({', '.join([name] * hasattr(value, 'records') + shown)})"
    if name in _OF_PEOPLE and not isinstance(value, str):
        return name
    if isinstance(value, CurveClaim | PrivacyClaim):
        return value.call or name
    if getattr(value, "ndim", None) == 0 and callable(getattr(value, "item", None)):
        return repr(value.item())
    if hasattr(value, "__name__"):
        if str(value.__name__).isidentifier():
            return str(value.__name__)
        return name
    if isinstance(value, list | tuple) or getattr(value, "ndim", False):
        # To write out so many values takes longer than some audits.
        if len(value) > _LONGEST:
            return name
    text = stable_repr(value)
    short = len(text) <= _LONGEST or isinstance(value, str) or is_dataclass(value)
    if short and not text.startswith("<") and "\n" not in text:
        return text
    return name
