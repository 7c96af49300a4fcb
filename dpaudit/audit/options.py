"""The options of a black-box audit of privacy, each declared once: type, default, limits, and help.

`audit_privacy` and its parameter objects check their arguments by these declarations, and the command line takes its
types, defaults and help from them. `evidence.tasks.AuditOptions` is the record of their values, which stored results
and ``audit.toml`` share. To add an option, declare it here, and add it to that record and to the signature of
`audit_privacy` or to one of its parameter objects. The pytest plug-in and every help page read this module, so it
imports the standard library only.
"""

from __future__ import annotations

import math
from typing import Any, Generic, Literal, TypeVar, cast

from dpaudit.arguments import CONFIDENCE, read_choice, read_flag, read_integer, read_number

T = TypeVar("T")

# The part of the error probability that a curve gets if one is requested.
CURVE_SHARE = 0.2

# Seconds of a run from which audits are sequential by default: such runs cost more than everything else.
SLOW_RUN = 0.1

# The time limit of the command line for a dataset without a limit of its own: a dataset gives many pairs, and the runs
# that compare them take long.
OWN_DATA_SECONDS = 60.0


class Option(Generic[T]):
    """The declaration of one option.

    Parameters
    ----------
    kind : type
        The type of the value: int, float, bool or str.
    default : T
        The default; None if the option may be left out.
    help : str
        One line for the command line, without the default.
    usual : str
        The default as the help shows it; the default itself if empty.
    metavar : str, optional
        How the help names the value.
    choices : tuple of str
        The words allowed; any text if empty.
    limits
        The range of a number: `ge` is included, `gt` and `lt` are excluded.
    """

    def __init__(
        self,
        kind: type,
        default: T,
        *,
        help: str,
        usual: str = "",
        metavar: str | None = None,
        choices: tuple[str, ...] = (),
        name: str = "",
        **limits: float,
    ) -> None:
        self.kind = kind
        self.default = default
        self.help = help
        self.usual = usual or str(default)
        self.metavar = metavar
        self.choices = choices
        self.name = name
        self.limits = limits

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def optional(self) -> bool:
        """Whether the option may be left out, which None stands for."""
        return self.default is None

    def read(self, value: Any) -> T:
        """Return a value that is allowed, or raise `InputError`."""
        if value is None and self.optional:
            return self.default
        return cast(T, self._read(value))

    def _read(self, value: Any) -> int | float | str:
        if self.choices:
            return read_choice(self.name, value, self.choices)
        if self.kind is int:
            return read_integer(self.name, value, int(self.limits["ge"]))
        if self.kind is float:
            low = self.limits.get("gt", self.limits.get("ge", -math.inf))
            high = self.limits.get("lt", math.inf)
            return read_number(self.name, value, low, high, closed="ge" in self.limits)
        if self.kind is bool:
            return read_flag(self.name, value)
        if self.name == "relation":
            from dpaudit.contract import Relation  # loads more than help needs

            return Relation.parse(cast(str, value))
        # A text names an input or a claim; whoever finds it there checks it.
        return cast(str, value)


class Options:
    """The declarations. Texts name inputs as files, settings and commands do."""

    epsilon = Option[float | None](float, None, help="claim to test", usual="the learner's own", ge=0)
    delta = Option[float | None](
        float, None, help="claim to test", usual="the learner's own; 0 for a function", ge=0, lt=1
    )
    claim = Option[str | None](
        str,
        None,
        help="claim to test in place of epsilon and delta: gaussian:MU, zero-concentrated:RHO, renyi:ALPHA,EPSILON "
        "(several as 'renyi:2,1;4,2'), or profile:FILE.py:NAME of the function delta(epsilon)",
        usual="epsilon and delta",
        metavar="CLAIM",
    )
    relation = Option[str | None](
        str, None, help="what neighbours are", usual="as in the learner's claim", metavar="NAME"
    )
    pairs = Option[str | None](
        str,
        None,
        help="FILE.py:NAME or MODULE:NAME, a list of (data, neighbour) tuples, a callable that returns one, or a "
        "strategy of hypothesis; patterns:DIMENSION, the eight ways in which one record moves the answers of so many "
        "counting queries; for learners crafted:N, crafted samples of N examples, or random:COUNT, random neighbouring "
        "samples (random:COUNT:N of N examples)",
        usual="PAIRS of the function's own file or module; crafted samples for learners",
        metavar="SOURCE",
    )
    data = Option[str | None](
        str,
        None,
        help=".csv, .tsv, .parquet or .npy, one dataset: pairs that an attacker would try are made of it; a record "
        "comes or goes, or is replaced with --relation replace-one",
        usual="--pairs",
        metavar="FILE",
    )
    header = Option[bool | None](
        bool,
        None,
        help="the first line of --data names the columns; --no-header if it is a record",
        usual="it names them, and one that looks like a record is refused",
    )
    bounds = Option[str | None](
        str,
        None,
        help="values that --data may hold, of all numbers, or by column as 'age=0,100;share=0,1'; what is outside of "
        "them is tried too",
        usual="those that it holds",
        metavar="LOW,HIGH",
    )
    unit = Option[str | None](
        str, None, help="column of --data that names the users", usual="every row is one", metavar="COLUMN"
    )
    outside = Option[bool](
        bool,
        True,
        help="try values outside of the bounds of --data, NaN and infinity; leave them out where something before the "
        "mechanism clips",
        usual="they are tried",
    )
    group = Option[int](
        int,
        1,
        help="how many records of --data, or users, the inputs of a pair differ in; the claim is then one for groups "
        "of so many",
        metavar="N",
        ge=1,
    )
    include_data = Option[bool](
        bool,
        False,
        help="show values of --data",
        usual="the recipes of the pairs, as 'row 17 removed'",
    )
    batched = Option[bool](
        bool, False, help="call the function with (data, rng, size) for size outputs", usual="one at a time"
    )
    sequential = Option[bool | None](
        bool,
        None,
        help="bet run by run, stop once the claim is refuted",
        usual=f"where a run takes over {SLOW_RUN:g} s; else a fixed number of runs",
    )
    curve = Option[bool](
        bool,
        False,
        help=f"bound delta at every epsilon too, for {100 * CURVE_SHARE:g} % of the error",
        usual="epsilon only",
    )
    float_bits = Option[bool](bool, False, help="look at the bits of floats too", usual="at their values")
    time = Option[bool](
        bool,
        False,
        help="let the verdict rest on the time of each run too, unless times distinguish equal inputs; makes two or "
        "three times as many runs",
        usual="outputs alone",
    )
    randomness = Option[Literal["argument", "own"]](
        str,
        "argument",
        help="argument, the generator that is passed; own, for a library with entropy of its own, such as OpenDP or "
        "diffprivlib",
        metavar="SOURCE",
        choices=("argument", "own"),
    )
    timeout = Option[float | None](
        float,
        None,
        help="of a run, which is then made in a process of its own: one that takes longer is ended, and is an output "
        "of its own kind",
        usual="none",
        metavar="SECONDS",
        gt=0,
        lt=1e7,  # a third of a year: longer ones overflow clocks
    )
    timeout_is = Option[Literal["output", "error"]](
        str,
        "output",
        help="output; error, where a run that takes longer is a fault",
        metavar="WORD",
        choices=("output", "error"),
    )
    time_limit = Option[float | None](
        float,
        None,
        help="of an audit, about: it then makes fewer runs, and stops at looks fixed in advance",
        usual=f"none, and {OWN_DATA_SECONDS:g} for dpaudit privacy with --data",
        metavar="SECONDS",
        gt=0,
    )
    n = Option[int | None](int, None, help="examples in a sample", usual="the example's", metavar="N", ge=1)
    trials = Option[int](int, 100_000, help="runs on each side, of all pairs and phases together", metavar="N", ge=10)
    confidence = Option[float](float, CONFIDENCE, help="of the verdict, over everything that is tried", gt=0.5, lt=1)


# The declarations by name.
OPTIONS: dict[str, Option[Any]] = {name: one for name, one in vars(Options).items() if isinstance(one, Option)}

# The words for what an audit looks at beyond the values of outputs, each with the option that it stands for.
LOOKS = {"curve": Options.curve, "float-bits": Options.float_bits, "time": Options.time}

# The root seed and the number of processes belong to a run rather than to one audit. The latter is stored nowhere,
# because no result depends on it.
SEED = Option[int](int, 0, name="seed", ge=0, metavar="N", help="root of all randomness")
JOBS = Option[int](int, 1, name="n_jobs", metavar="JOBS", help="-1 for one a processor; no result depends on it")
