"""The options that commands share, each with the type of its value, and the groups that they come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import click

from dpaudit.audit.options import JOBS, LOOKS, SEED, Option, Options

# Suffix -> the module of `dpaudit.report` and its function that writes a run.
FORMS = {
    ".html": ("html", "render"),
    ".json": ("json", "render"),
    ".md": ("formats", "markdown"),
    ".sarif": ("formats", "sarif"),
    ".txt": ("console", "render"),
    ".xml": ("formats", "junit"),
}
SUFFIXES = ", ".join(FORMS)
# Suffixes of what `dpaudit.report.formats` writes, which help does not load.
PLAIN = (".html", ".json", ".md", ".txt")
# The same of a measurement, which has a test case and a figure.
DRAWN = (*PLAIN, ".xml", ".svg")


class given(NamedTuple):
    """The way in which a parameter of a command is given: the second part of its ``Annotated[type, given(...)]``.

    `help` says what it is, and ends with its default in brackets where that is not `default` itself, or "none" for
    None. The help names the value of an option by `metavar`, else by its type, and an argument by `place`, which is
    empty for an option. `choices` are the values that are allowed, if not all are; `names` the option as it is typed,
    if not by the name of the parameter; `read` reads the value, if not the type does.
    """

    help: str = ""
    default: Any = None
    metavar: str | None = None
    choices: Sequence[str] = ()
    names: Sequence[str] = ()
    place: str = ""
    read: Callable[[str], Any] | None = None

    def taken(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the value of a parameter."""
        return values[name]

    def declared(self, name: str, kind: Any) -> list[click.Parameter]:
        """Return the argument or the option that sets a parameter of a type."""
        several = get_origin(kind) is tuple
        plain = next((one for one in get_args(kind) if isinstance(one, type) and one is not type(None)), kind)
        read: Any = self.read or {int: whole, bool: None}.get(plain, plain)
        if self.choices:
            read = click.Choice(self.choices)
        if self.place:
            number = -1 if several else 1
            return [click.Argument([name], metavar=self.place, nargs=number, type=read)]
        typed = [*(self.names or [f"--{name.replace('_', '-')}"]), name]
        help = self.help
        # Every option says its default, in its own words or as the value is.
        if "(default: " not in help:
            usual = "none" if self.default is None else self.default
            help += f" (default: {usual})"
        settings: dict[str, Any] = {"help": help, "default": self.default, "metavar": self.metavar}
        if plain is bool:
            # Two forms, on and off, for a flag that is on by default, or whose default, None, is neither.
            if kind is not bool or (self.default and not self.names):
                typed[0] += f"/--no-{typed[0].removeprefix('--')}"
            settings["is_flag"] = True
            if kind is bool:
                settings["default"] = bool(self.default)
        elif several:
            settings["multiple"] = True
        # click would show the name of the function that reads it.
        elif plain is int and self.metavar is None:
            settings["metavar"] = "N"
        return [click.Option(typed, type=read, **settings)]


def argument(place: str, choices: Sequence[str] = ()) -> given:
    """Return an argument, and how the help names it."""
    return given(place=place, choices=choices)


def whole(text: str | int) -> int:
    """Read a whole number, also one written as 1e5."""
    for read in (int, float):
        try:
            # An integer first: a float has no more than 53 bits.
            number = read(text)
            if number == number // 1:
                return int(number)
        except (ValueError, OverflowError):
            continue
    raise click.BadParameter(f"must be a whole number, such as 20000 or 1e5; got {text!r}")


def jobs(what: str, default: int) -> given:
    """Return the number of processes."""

    def read(text: str) -> int:
        if (number := whole(text)) == 0:
            raise click.BadParameter("must be a positive number of processes, or -1 for one a processor; got 0")
        return number

    return given(f"{what}; {JOBS.help}", default, JOBS.metavar, names=("--jobs",), read=read)


def of(one: Option[Any], help: str = "", default: Any = None) -> given:
    """Return a declared option, with another help or default if given."""
    # Help says in words what an option is by default where the value itself says too little.
    usual = one.usual
    if default is None:
        default = one.default
    else:
        usual = str(default)
    return given(f"{help or one.help} (default: {usual})", default, one.metavar)


class On(NamedTuple):
    """The place where runs are made: a backend of joblib, or dask with the address of its scheduler."""

    backend: str | None = None
    address: str | None = None


HERE = On()


def read_on(text: str | On) -> On:
    """Read where runs are made: the name of a backend, or the address of a scheduler of dask."""
    # click reads defaults too, which have their type already.
    if isinstance(text, On):
        return text
    # Names of backends are words; an address has a port or a protocol.
    if ":" in text:
        return On("dask", text)
    return On(text)


def looks(*names: str) -> given:
    """Return the option of what an audit looks at beyond the values of outputs: some of the words of `LOOKS`."""

    def read(text: str | frozenset[str]) -> frozenset[str]:
        # A default is a set already.
        words = text.split(",") if isinstance(text, str) else text
        for word in words:
            if word not in names:
                known = ", ".join(names)
                raise click.BadParameter(f"must be one of {known}, or several with commas between them; got {word!r}")
        return frozenset(words)

    help = "; ".join(f"{name}: {LOOKS[name].help}" for name in names)
    return given(f"{help}; several with commas (default: the values of outputs)", frozenset(), "WHAT", read=read)


_WRITTEN = "too, in the format of its suffix"

Json = Annotated[bool, given("JSON instead of text (default: text)")]


def json_each(what: str) -> given:
    """Return the option for JSON of what is many: a line for each."""
    return given(f"JSON instead of text, a line for each {what} (default: text)")


Verbose = Annotated[
    bool, given("show how it was measured too: pairs, events, budget (default: the verdict)", names=("-v", "--verbose"))
]
Quiet = Annotated[bool, given("no progress on stderr (default: progress where it takes over two seconds)")]
AllowNoEvidence = Annotated[
    bool, given("end with status 0 where there is no evidence, or a case is undecided (default: with 3)")
]
Learners = Annotated[
    tuple[str, ...],
    given(
        "look for learners in this .py file or folder too; repeatable (default: installed ones only)", metavar="PATH"
    ),
]
Parameters = Annotated[
    tuple[str, ...],
    given(
        "a parameter of the learner; repeatable (default: those of the learner's example, with a note)",
        metavar="NAME=VALUE",
        names=("-p", "--parameter"),
    ),
]
Size = Annotated[int | None, of(Options.n)]
Config = Annotated[
    str | None, given("the settings (default: audit.toml or pyproject.toml, here or above)", metavar="FILE")
]
RunTimeout = Annotated[float | None, of(Options.timeout)]
TimeLimit = Annotated[float | None, of(Options.time_limit)]
Epsilon = Annotated[float | None, of(Options.epsilon)]
Delta = Annotated[float | None, of(Options.delta)]
Claim = Annotated[str | None, of(Options.claim)]
Relation = Annotated[
    str | None, given("replace-one, add-remove-one or replace-private (default: the claim's)", metavar="NAME")
]
Seed = Annotated[int, of(SEED)]
FAMILY_WISE = "let 1 - confidence be the chance of a false alarm of all claims together, by Holm's procedure"
_ON = "tcp://127.0.0.1:8786, the scheduler of a dask cluster; or any backend registered with joblib"
Where = Annotated[
    On, given(f"{_ON} (default: processes of this machine)", HERE, "WHERE", names=("--on",), read=read_on)
]
Out = Annotated[str | None, given(f"write a report {_WRITTEN}: {SUFFIXES}", metavar="FILE")]
OutExact = Annotated[str | None, given(f"write a report {_WRITTEN}: {SUFFIXES}; of a supremum .svg", metavar="FILE")]
Drawn = Annotated[
    str | None, given(f"write the finding {_WRITTEN}: {', '.join(PLAIN)}, .xml, or .svg, its figure", metavar="FILE")
]
ShownOut = Annotated[str | None, given(f"write what is shown {_WRITTEN}: {', '.join(PLAIN)}", metavar="FILE")]


class Shown(NamedTuple):
    """The options of a command on what it shows; those that it does not have keep these values."""

    json: Json = False
    out: Out = None
    verbose: Verbose = False
    quiet: Quiet = True
    allow_no_evidence: AllowNoEvidence = False
    learners: Learners = ()


class Showing(NamedTuple):
    """Options of `Shown` that a command has: all but those left out, with an option ``--out`` of its own."""

    out: Any = Out
    without: tuple[str, ...] = ()

    @property
    def hints(self) -> dict[str, Any]:
        """The annotations of the options."""
        hints = get_type_hints(Shown, include_extras=True) | {"out": self.out}
        return {name: hint for name, hint in hints.items() if name not in self.without}

    def declared(self, name: str, kind: Any) -> list[click.Parameter]:
        """Return the options."""
        hints = ((name, *get_args(hint)) for name, hint in self.hints.items())
        return [one for name, kind, how in hints for one in how.declared(name, kind)]

    def taken(self, name: str, values: Mapping[str, Any]) -> Shown:
        """Return what was chosen."""
        return Shown(**{name: values[name] for name in self.hints})


_NO_RUNS = ("quiet", "learners")
# Of a check of stored evidence.
ShownPlain = Annotated[Shown, Showing(ShownOut, without=("verbose", "allow_no_evidence"))]
Measured = Annotated[Shown, Showing(Drawn)]
ShownExact = Annotated[Shown, Showing(OutExact)]
ShownApart = Annotated[Shown, Showing(without=_NO_RUNS)]
DrawnApart = Annotated[Shown, Showing(Drawn, without=_NO_RUNS)]
