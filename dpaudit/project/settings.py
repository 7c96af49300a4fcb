"""The audits of a project as typed records, read from ``audit.toml`` or from ``[tool.dpaudit]``."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from dpaudit.audit.options import OPTIONS, Options
from dpaudit.contract import Relation
from dpaudit.engine.arguments import with_options
from dpaudit.errors import InputError
from dpaudit.record import Amount, Count, Frozen, Level, Words

__all__ = ["FILE", "PYPROJECT", "TABLE", "Accepted", "Audit", "Project", "find_settings", "read_project"]

_EXAMPLES = {
    "name": 'name = "mean"',
    "mechanism": 'mechanism = "mean.py:mean"',
    "reason": 'reason = "to be mended in the next release"',
    "date": "date = 2026-01-31",
    "epsilon": "epsilon = 1",
}
"""Keys that must be there, as they are written."""
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text in quotes",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "date": "a date",
}
"""Types of the decoder in words."""

FILE, PYPROJECT, TABLE = "audit.toml", "pyproject.toml", "tool.dpaudit"
"""The file of its own, the one that tools share, and the table of it."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9]+([-._][A-Za-z0-9]+)*$")]
Bounds = tuple[float, float]
_TRIALS, _CONFIDENCE = (OPTIONS[name] for name in ("trials", "confidence"))
Trials = Annotated[int, msgspec.Meta(**_TRIALS.limits)]


class Accepted(Frozen, frozen=True, kw_only=True):
    """An accepted violation.

    Attributes
    ----------
    reason : str
        The reason, which the table shows.
    date : datetime.date
        The day on which it was accepted.
    epsilon : float
        The largest lower bound on epsilon that is accepted: a larger one is a violation again.
    """

    reason: Words
    date: datetime.date
    epsilon: Amount


class _Audit(Frozen, frozen=True, kw_only=True):
    """A mechanism of a project, its claim, and the options of its audit.

    Attributes
    ----------
    name : str
        A name, unique in the project.
    mechanism : str
        FILE.py:NAME or MODULE:NAME of a function or a learner, or the id of an installed learner.
    parameters : dict
        Of an installed learner; what is not given is its example's.
    exact : bool
        Whether the exact law of a learner is compared too.
    seed : int or None
        The root seed; that of the project by default.
    accepted : Accepted or None
        An accepted violation, if there is one.
    """

    name: Name
    mechanism: Words
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    exact: bool = False
    seed: Count | None = None
    accepted: Accepted | None = None

    def __post_init__(self) -> None:
        relation = msgspec.structs.asdict(self)["relation"]
        if relation is not None:
            Relation.parse(relation)


if TYPE_CHECKING:

    class Audit(_Audit, Options, frozen=True):
        """A mechanism of a project, its claim, and the options of its audit."""

else:
    # Trials and confidence are those of the project by default.
    _OTHERS = {
        "bounds": (Bounds | dict[str, Bounds] | None, None),
        "trials": (Trials | None, None),
        "confidence": (Level | None, None),
    }
    Audit = with_options(_Audit, "Audit", "A mechanism of a project and the options of its audit.", __name__, **_OTHERS)


class Project(Frozen, frozen=True, kw_only=True):
    """The audits of a project, and what those are given that do not say it themselves.

    Attributes
    ----------
    audit : tuple of Audit
        The audits, a table ``[[audit]]`` each.
    trials, confidence, seed
        As for `audit_privacy`.
    """

    audit: tuple[Audit, ...] = ()
    trials: Trials = _TRIALS.default
    confidence: Level = _CONFIDENCE.default
    seed: Count = 0

    def chosen(self, names: Iterable[str]) -> tuple[Audit, ...]:
        """Return the audits of these names, all if none is given, each with its numbers; `InputError` for others."""
        known = {one.name: one for one in self.audit}
        for name in names:
            if name not in known:
                raise InputError(f"there is no audit {name!r}{_near(name, known)}")
        return tuple(map(self._filled, tuple(known[name] for name in dict.fromkeys(names)) or self.audit))

    def _filled(self, audit: Audit) -> Audit:
        """Return an audit with the numbers of the project where its own settings leave them open."""
        own = {name: getattr(audit, name) for name in ("trials", "confidence", "seed")}
        return msgspec.structs.replace(
            audit, **{name: getattr(self, name) for name, value in own.items() if value is None}
        )


def find_settings(start: Path | None = None) -> Path:
    """Return the settings of the project that a folder belongs to: its own or those of a folder above it.

    ``audit.toml`` comes before a ``pyproject.toml`` with the table.

    Raises
    ------
    InputError
        If there are none: the message says how to begin.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        if (folder / PYPROJECT).is_file() and "dpaudit" in _parsed(folder / PYPROJECT).get("tool", {}):
            return folder / PYPROJECT
    raise InputError(
        f"there is no {FILE} in {here} or above it, nor a {PYPROJECT} with the table [{TABLE}]; "
        "`dpaudit new mechanism NAME` begins one"
    )


def read_project(path: Path) -> Project:
    """Return the audits that a file lists.

    Raises
    ------
    InputError
        If the file is no TOML, has a key that there is not (the message names the nearest), lacks one that there must
        be, or a value is of the wrong type or out of range: the message names the place.
    """
    table = _parsed(path)
    if path.name == PYPROJECT:
        table = table.get("tool", {}).get("dpaudit", {})
    _check_keys(path, "the project", table, Project)
    listed = table.get("audit", [])
    if not isinstance(listed, list):
        raise InputError(f"{path}: audits are tables [[audit]], with two brackets; got {listed!r:.60}")
    for i, entry in enumerate(listed):
        if isinstance(entry, dict):
            where = f"audit {entry.get('name', i + 1)!r}"
            _check_keys(path, where, entry, Audit)
            if isinstance(entry.get("accepted"), dict):
                _check_keys(path, f"accepted of {where}", entry["accepted"], Accepted)
    try:
        project: Project = msgspec.convert(table, Project)
    except (msgspec.ValidationError, InputError) as error:
        raise InputError(f"{path}: {_placed(str(error), listed)}") from None
    names = [one.name for one in project.audit]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path}: each audit needs a name of its own; {', '.join(twice)} is there twice")
    if not names:
        raise InputError(f"{path} lists no [[audit]]; `dpaudit new mechanism NAME` adds one")
    return project


def _parsed(path: Path) -> dict[str, Any]:
    """Return a TOML file as it is."""
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML: {error}") from None


def _check_keys(path: Path, where: str, given: Mapping[str, Any], kind: type[Frozen]) -> None:
    """Raise `InputError` for the first key that a record does not have, with the nearest that it has."""
    known = kind.__struct_fields__
    for key in given:
        if key not in known:
            raise InputError(f"{path}: {where} has no key {key!r}{_near(key, known)}")


def _near(name: str, known: Iterable[str]) -> str:
    """Return the names nearest to one that there is not, or all of them."""
    near = get_close_matches(name, list(known))
    return f"; did you mean {' or '.join(near)}?" if near else f"; there are {', '.join(known)}"


def _plainly(message: str, key: str) -> str:
    """Return what the decoder says of a key in words for who writes settings."""
    if "RFC3339" in message:
        return "must be a date without quotes, as 2026-01-31"
    if message.startswith("Invalid enum value"):
        names = [f'"{one}"' for one in OPTIONS[key].choices]
        return f"must be {' or '.join(names)}, got {message.removeprefix('Invalid enum value ')}"
    if lacking := re.fullmatch(r"Object missing required field `(\w+)`", message):
        return f"{lacking[1]} is missing; add {_EXAMPLES.get(lacking[1], lacking[1])}"
    if "matching regex" in message:
        return "must be letters and digits, between which - . _ may stand"
    if found := re.fullmatch(r"Expected `(.*?)`(.*)", message):
        kinds = " or ".join(_KINDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null")
        rest = re.sub(r"`(.*?)`", lambda kind: _KINDS.get(kind[1], kind[1]), found[2])
        return f"must be {kinds}{rest}"
    return message


def _placed(error: str, listed: list[Any]) -> str:
    """Return an error with audits by their names: `$.audit[0].trials` is "trials of audit 'mean'"."""
    message, at, place = error.partition(" - at `$")
    if not at:
        return message
    steps = place.rstrip("`").strip(".").split(".")
    message = _plainly(message, steps[-1])
    if steps[0].startswith("audit[") and steps[0][6:-1].isdigit():
        entry = listed[int(steps[0][6:-1])]
        name = entry.get("name", steps[0]) if isinstance(entry, dict) else steps[0]
        return f"{'.'.join(steps[1:])}{' of ' if steps[1:] else ''}audit {name!r}: {message}"
    return f"{'.'.join(steps)}: {message}"
