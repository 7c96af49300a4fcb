"""The audits of a project as typed records, read from ``audit.toml`` or from ``[tool.dpaudit]``."""

from __future__ import annotations

import datetime
import json
import keyword
import math
import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from dpaudit.audit.options import Options
from dpaudit.contract import Relation
from dpaudit.errors import InputError, nearest
from dpaudit.evidence.tasks import AuditOptions, ValueRange
from dpaudit.files import append_line, write_file
from dpaudit.neighbours.own_data.value_bounds import bounds_of_text
from dpaudit.record import Amount, Count, Frozen, Level, Words

# The line to write for each key that is required.
_EXAMPLES_OF_KEYS = {
    "name": 'name = "mean"',
    "mechanism": 'mechanism = "mean.py:mean"',
    "reason": 'reason = "to be mended in the next release"',
    "date": "date = 2026-01-31",
    "epsilon": "epsilon = 1",
}
# Types as somebody who writes TOML knows them; the library's own messages name those of Python.
_TYPES_IN_WORDS = {
    msgspec.inspect.IntType: "a whole number",
    msgspec.inspect.FloatType: "a number",
    msgspec.inspect.StrType: "text in quotes",
    msgspec.inspect.BoolType: "true or false",
    msgspec.inspect.TupleType: "a list",
    msgspec.inspect.VarTupleType: "a list",
    msgspec.inspect.DictType: "a table",
    msgspec.inspect.StructType: "a table",
    msgspec.inspect.DateType: "a date without quotes, as 2026-01-31",
}
_LIMITS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}

FILE = "audit.toml"
PYPROJECT = "pyproject.toml"
TABLE = "tool.dpaudit"

Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9]+([-._][A-Za-z0-9]+)*$")]
Kind = TypeVar("Kind", bound=Frozen)
Trials = Annotated[int, msgspec.Meta(**Options.trials.limits)]


# An acceptance that is dated farther away than so many years is taken for an error.
MOST_YEARS = 10


class Accepted(Frozen, frozen=True, kw_only=True):
    """An accepted violation: why, since when, and up to which lower bound on epsilon; a larger one is one again."""

    reason: Words
    date: datetime.date
    epsilon: Amount

    def __post_init__(self) -> None:
        # An acceptance of any epsilon would accept everything that is found later.
        if not math.isfinite(self.epsilon):
            raise InputError.of("epsilon", self.epsilon, "a finite number")
        away = abs((self.date - datetime.date.today()).days)
        if away > MOST_YEARS * 366:
            raise InputError.of("date", str(self.date), f"a date within {MOST_YEARS} years of today")


class Audit(AuditOptions, frozen=True, kw_only=True):
    """A mechanism of a project, its claim, and the options of its audit.

    The mechanism is FILE.py:NAME or MODULE:NAME of a function or a learner, or the id of an installed learner, which
    alone has `parameters`: those not given are its example's. `exact` is for learners with an exact law. The seed,
    trials and confidence are the project's by default.
    """

    name: Name
    mechanism: Words
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    exact: bool = False
    seed: Count | None = None
    accepted: Accepted | None = None
    bounds: ValueRange | dict[str, ValueRange] | None = None
    relation: Words | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.relation is not None:
            Relation.parse(self.relation)


class Project(Frozen, frozen=True, kw_only=True):
    """The audits of a project, a table ``[[audit]]`` each, and the numbers of those that do not state their own.

    With `family_wise` the chance of a false alarm, 1 - confidence, is that of a whole check; see `evidence.outcome`.
    """

    audit: tuple[Audit, ...] = ()
    trials: Trials = Options.trials.default
    confidence: Level = Options.confidence.default
    seed: Count = 0
    family_wise: bool = False

    def chosen(self, names: Iterable[str]) -> tuple[Audit, ...]:
        """Return the audits of these names, all if none is given, each with its numbers; `InputError` for others."""
        known = {one.name: one for one in self.audit}
        for name in names:
            if name not in known:
                raise InputError(f"there is no audit {name!r}{_near(name, known)}")
        filled = []
        for audit in tuple(known[name] for name in dict.fromkeys(names)) or self.audit:
            filled.append(
                msgspec.structs.replace(
                    audit,
                    trials=self.trials if audit.trials is None else audit.trials,
                    confidence=self.confidence if audit.confidence is None else audit.confidence,
                    seed=self.seed if audit.seed is None else audit.seed,
                )
            )
        return tuple(filled)


def find_settings(start: Path | None = None) -> Path:
    """Return the settings of the project that a folder belongs to: its own or those of a folder above it.

    ``audit.toml`` comes before a ``pyproject.toml`` with the table. `InputError` if there are none: it says how to
    begin.
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

    `InputError` if the file is not TOML, has an unknown key (the message suggests the closest valid one), lacks a
    required one, or a value is of the wrong type or out of range: the message names the place.
    """
    table = _parsed(path)
    if path.name == PYPROJECT:
        table = table.get("tool", {}).get("dpaudit", {})
    listed = table.get("audit", [])
    if not isinstance(listed, list):
        raise InputError(f"{path}: audits are tables [[audit]], with two brackets; got {listed!r:.60}")
    try:
        audits = []
        for number, one in enumerate(listed, 1):
            name: int | str = number
            if isinstance(one, dict):
                name = one.get("name", number)
            audits.append(_record(Audit, one, f"audit {name!r}"))
        # The audits apart, so that a message names the one that is wrong.
        shared = _record(Project, {name: value for name, value in table.items() if name != "audit"}, "the project")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    project = msgspec.structs.replace(shared, audit=tuple(audits))
    # Reports, `diff` and the words of a command know an audit by its name.
    names = [one.name for one in project.audit]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path}: each audit needs a name of its own; {', '.join(twice)} is there twice")
    if not names:
        raise InputError(f"{path} lists no [[audit]]; `dpaudit new mechanism NAME` adds one")
    return project


def _parsed(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise InputError(f"{path} is nested too deep to be read") from None
    # Errors of TOML, of UTF-8, and of integers of too many digits.
    except ValueError as error:
        raise InputError(f"{path} is no TOML: {error!s:.300}") from None


def _record(kind: type[Kind], given: Any, where: str) -> Kind:
    """Return a table as a record; `InputError` for the first key that it lacks, does not have, or that is wrong."""
    if not isinstance(given, dict):
        raise InputError(f"{where}: must be a table, got {given!r:.60}")
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    own = [name for name in kind.__annotations__ if name in fields]
    # A message names those of an audit before its options.
    fields = {name: fields[name] for name in (*own, *fields)}
    for key in given:
        if key not in fields:
            raise InputError(f"{where} has no key {key!r}{_near(key, fields)}")
    for name, field in fields.items():
        if field.required and name not in given:
            raise InputError(f"{where}: {name} is missing; add {_EXAMPLES_OF_KEYS[name]}")
    # Value by value, so that a message names the key and its audit.
    found = {name: _value(fields[name].type, value, f"{name} of {where}") for name, value in given.items()}
    try:
        return kind(**found)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _value(kind: Any, given: Any, where: str) -> Any:
    # A table within a table has keys of its own to be named.
    if kind == Accepted | None and isinstance(given, dict):
        return _record(Accepted, given, where)
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError:
        allowed = _allowed(msgspec.inspect.type_info(kind))
        raise InputError(f"{where}: must be {allowed}, got {given!r:.60}{_line(where, given)}") from None


def _line(where: str, given: Any) -> str:
    """Return the line to write in the place of bounds that are given as a text, as commands take them."""
    if not where.startswith("bounds of ") or not isinstance(given, str):
        return ""
    with suppress(InputError):
        bounds = bounds_of_text(given)
        if isinstance(bounds, dict):
            # The line to write, in the form that the file takes.
            pairs = (f"{key_in_toml(name)} = {_pair_in_toml(ends)}" for name, ends in bounds.items())
            return f"; write bounds = {{ {', '.join(pairs)} }}"
        return f"; write bounds = {_pair_in_toml(bounds)}"
    return "; write bounds = [0, 100], or bounds = { age = [0, 100] } for one column"


def _pair_in_toml(ends: Iterable[float]) -> str:
    return f"[{', '.join(repr(float(end)).removesuffix('.0') for end in ends)}]"


def key_in_toml(name: str) -> str:
    """Return a key as a file .toml has it: in quotes where it does not consist of letters, digits, - and _."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _allowed(info: msgspec.inspect.Type) -> str:
    if isinstance(info, msgspec.inspect.UnionType):
        return " or ".join(_allowed(one) for one in info.types if not isinstance(one, msgspec.inspect.NoneType))
    if isinstance(info, msgspec.inspect.LiteralType):
        return " or ".join(f'"{one}"' for one in info.values)
    if isinstance(info, msgspec.inspect.EnumType):
        return " or ".join(f'"{one.value}"' for one in info.cls)
    if isinstance(info, msgspec.inspect.StrType) and info.pattern:
        return "letters and digits, between which - . _ may stand"
    limits = [f"{sign} {limit}" for name, sign in _LIMITS.items() if (limit := getattr(info, name, None)) is not None]
    words = _TYPES_IN_WORDS.get(type(info), "another value")
    if getattr(info, "min_length", None):
        words += ", not empty"
    return " ".join(filter(None, (words, " and ".join(limits))))


def _near(name: str, known: Iterable[str]) -> str:
    return nearest(name, known) or f"; there are {', '.join(known)}"


def begin(kind: Literal["mechanism", "learner"], name: str, folder: Path | None = None) -> tuple[Path, ...]:
    """Write a mechanism or a learner that can be audited at once, and return the files written.

    Of a mechanism NAME.py claims epsilon = 1 and adds the noise for epsilon = 2: its audit and its test fail until it
    is mended, which shows what a violation looks like. ``audit.toml`` (or the ``pyproject.toml`` that has the table)
    gets an entry; it is made if there is none. All of it stands in `folder`, by default the current one. `InputError`
    if the name is no identifier, a file is there already, or the settings have an audit of that name.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError.of("name", name, "a name of Python, such as noisy_mean")
    here = (folder or Path.cwd()).resolve()
    made = {here / f"{name}.py": f"{kind}.py", here / f"test_{name}.py": f"test_{kind}.py"}
    for path in made:
        if path.exists():
            raise InputError(f"{path.name} is there already: choose another name, or remove it")
    # Everything that can be refused is refused before anything is written.
    settings, entry = _entry(here, kind, name)
    begun = settings.exists()
    written: list[Path] = []
    try:
        for path, template in made.items():
            write_file(path, _filled(template, name).encode())
            written.append(path)
        # A project may link to its settings.
        append_line(settings.resolve(), entry.encode())
    except OSError:
        # A half of what is begun would be in the way of a second try.
        for path in written:
            path.unlink(missing_ok=True)
        if not begun:
            settings.unlink(missing_ok=True)
        raise
    return (*made, settings)


def _entry(here: Path, kind: Literal["mechanism", "learner"], name: str) -> tuple[Path, str]:
    try:
        path = find_settings(here)
    except InputError:
        path = here / FILE
    if path.is_file() and path.parent != here:
        raise InputError(f"the settings of this project are {path}: work in {path.parent}, so that its places hold")
    # An empty file has no head yet.
    begun = path.is_file() and path.read_text(encoding="utf-8").strip()
    # A file without audits is no project that can be read, and has no name that is taken.
    if begun and "[[" in begun and name in {audit.name for audit in read_project(path).audit}:
        raise InputError(f"{path.name} has an audit {name!r} already: choose another name")
    table = "tool.dpaudit.audit" if path.name == PYPROJECT else "audit"
    entry = _filled(f"{kind}.toml", name).replace("[[audit]]", f"[[{table}]]")
    if begun:
        return path, f"\n{entry}"
    return path, _filled("head.toml", name) + entry


def _filled(template: str, name: str) -> str:
    text = (files("dpaudit.app") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    words = "".join(word.capitalize() for word in name.split("_"))
    return text.replace("NAME", name).replace("Named", words).replace("HYPHENED", name.replace("_", "-").strip("-"))
