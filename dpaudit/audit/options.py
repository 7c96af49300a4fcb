"""The options of a black-box audit of privacy, each declared once: type, default, check, and help.

`audit_privacy` checks its arguments by these declarations. The arguments of stored results, the keys of ``audit.toml``,
the options of the command line, and the commands that repeat results are made from them. A new option is declared here
and named in the signature of `audit_privacy`. Help reads this module, so it imports no library but the standard one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, dataclass_transform

from dpaudit.arguments import CONFIDENCE, read_choice, read_flag, read_integer, read_number

if TYPE_CHECKING:
    from dpaudit.contract import Relation

CURVE_SHARE = 0.2
"""The part of the error probability that a curve has where one is asked for."""

SLOW_RUN = 0.1
"""Seconds of a run from which on audits are sequential by default: runs then cost more than anything else."""

OWN_DATA_SECONDS = 60.0
"""The time limit of the command line where pairs are made of a dataset and none is given: they are many, and so are the
runs that compare them."""

_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str, "Relation": str}


class Option:
    """The declaration of one option.

    `default` is None where the option need not be given. For the command line there are one line of `help` without the
    default, the default in `usual` words (itself if empty), and the `metavar` of the value. `choices` are the words
    allowed, any text if empty; `limits` the range of a number: `ge` is in it, `gt` and `lt` are not. `groups` are
    those of `grouped`. The `name` is that of the field, where there is one.
    """

    kind: type = int

    def __init__(
        self,
        default: Any,
        *,
        help: str,
        usual: str = "",
        metavar: str | None = None,
        choices: tuple[str, ...] = (),
        groups: tuple[str, ...] = (),
        name: str = "",
        **limits: float,
    ) -> None:
        self.default, self.help, self.usual, self.metavar = default, help, usual or str(default), metavar
        self.choices, self.groups, self.name = choices, groups, name
        self.limits: dict[str, Any] = limits

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.kind = name, _KINDS[owner.__annotations__[name].partition(" ")[0]]

    def read(self, value: Any) -> Any:
        """Return a value that is allowed, or raise `InputError`; None is allowed where it is the default.

        Inputs, which are texts only where files and settings name them, are returned as they are.
        """
        if value is None and self.default is None:
            return None
        if self.choices:
            return read_choice(self.name, value, self.choices)
        if self.kind is int:
            return read_integer(self.name, value, int(self.limits["ge"]))
        if self.kind is float:
            low, high = self.limits.get("gt", self.limits.get("ge", -math.inf)), self.limits.get("lt", math.inf)
            return read_number(self.name, value, low, high, closed="ge" in self.limits)
        if self.kind is bool:
            return read_flag(self.name, value)
        if self.name == "relation":
            from dpaudit.contract import Relation

            return Relation.parse(value)
        return value


def _option(default: Any, help: str, *groups: str, **declared: Any) -> Any:
    return Option(default, help=help, groups=groups, **declared)


def _claim(help: str, **declared: Any) -> Any:
    """Return the option of a claim that is given in the place of epsilon and delta."""
    return _option(None, help, "claim", usual="epsilon and delta", **declared)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _Declared:
    """Base of a record of options; a dataclass would load more modules than help needs."""

    def __init__(self, **given: Any) -> None:
        vars(self).update({name: one.read(given.get(name, one.default)) for name, one in OPTIONS.items()})


class Options(_Declared):
    """The options of a black-box audit; see `audit_privacy`.

    Inputs are named as files and settings name them: `pairs` is a source such as "random:50" or MODULE:PAIRS, `data`
    the file of a dataset, `bounds` the values allowed in it, as "0,1" or "age=0,100;share=0,1", and `unit` the column
    that names the users.
    """

    epsilon: float | None = _option(None, "claim to test", "apart", ge=0, usual="the learner's own")
    delta: float | None = _option(
        None, "claim to test", "apart", ge=0, lt=1, usual="the learner's own; 0 for a function"
    )
    mu: float | None = _claim("claim to test in the place of epsilon and delta: Gaussian differential privacy", gt=0)
    rho: float | None = _claim("claim to test: zero-concentrated differential privacy", gt=0)
    renyi: str | None = _claim(
        "claim to test: Renyi differential privacy of an order, or of several as '2,1;4,2'", metavar="ALPHA,EPSILON"
    )
    profile: str | None = _claim(
        "claim to test: FILE.py:NAME or MODULE:NAME, the function delta(epsilon)", metavar="PLACE"
    )
    relation: Relation | None = _option(
        None, "what neighbours are", "apart", metavar="NAME", usual="as in the learner's claim"
    )
    pairs: str | None = _option(
        None,
        "FILE.py:NAME or MODULE:NAME, a list of (data, neighbour) tuples, a callable that returns one, or a "
        "strategy of hypothesis; patterns:DIMENSION, the eight ways in which one record moves the answers of so many "
        "counting queries; random:COUNT, random neighbouring samples, for learners only",
        "input",
        metavar="SOURCE",
        usual="PAIRS of the function's own file or module; crafted samples for learners",
    )
    data: str | None = _option(
        None,
        ".csv, .tsv, .parquet or .npy, one dataset: pairs that an attacker would try are made of it; a record "
        "comes or goes, or is replaced with --relation replace-one",
        "input",
        metavar="FILE",
        usual="--pairs",
    )
    header: bool | None = _option(
        None,
        "the first line of --data names the columns; --no-header if it is a record",
        "input",
        usual="it names them, and one that looks like a record is refused",
    )
    bounds: str | None = _option(
        None,
        "values that --data may hold, of all numbers, or by column as 'age=0,100;share=0,1'; what is outside of "
        "them is tried too",
        "input",
        metavar="LOW,HIGH",
        usual="those that it holds",
    )
    unit: str | None = _option(
        None, "column of --data that names the users", "input", metavar="COLUMN", usual="every row is one"
    )
    outside: bool = _option(
        True,
        "try values outside of the bounds of --data, NaN and infinity; leave them out where something before the "
        "mechanism clips",
        "input",
        usual="they are tried",
    )
    group: int = _option(
        1,
        "how many records of --data, or users, the inputs of a pair differ in; the claim is then one for groups of so "
        "many",
        "input",
        ge=1,
        metavar="N",
    )
    include_data: bool = _option(
        False,
        "show values of --data",
        "certificate",
        "apart",
        usual="the recipes of the pairs, as 'row 17 removed', and a keyed digest",
    )
    batched: bool = _option(
        False, "call the function with (data, rng, size) for size outputs", "run", usual="one at a time"
    )
    sequential: bool | None = _option(
        None,
        "bet run by run, stop once the claim is refuted",
        usual=f"where a run takes over {SLOW_RUN:g} s; else a fixed number of runs",
    )
    curve: bool = _option(
        False, f"bound delta at every epsilon too, for {100 * CURVE_SHARE:g} % of the error", usual="epsilon only"
    )
    float_bits: bool = _option(False, "look at the bits of floats too", "certificate", usual="at their values")
    time: bool = _option(
        False,
        "let the verdict rest on the time of each run too, unless times distinguish equal inputs; makes two or "
        "three times as many runs",
        usual="outputs alone",
    )
    randomness: str = _option(
        "argument",
        "argument, the generator that is passed; own, for a library with entropy of its own, such as OpenDP or "
        "diffprivlib",
        "replay",
        metavar="SOURCE",
        choices=("argument", "own"),
    )
    timeout: float | None = _option(
        None,
        "of a run, which is then made in a process of its own: one that takes longer is ended, and is an output "
        "of its own kind",
        "run",
        "limit",
        metavar="SECONDS",
        gt=0,
        usual="none",
        lt=1e7,  # a third of a year: longer ones overflow clocks
    )
    timeout_is: str = _option(
        "output",
        "output; error, where a run that takes longer is a fault",
        "run",
        metavar="WORD",
        choices=("output", "error"),
    )
    time_limit: float | None = _option(
        None,
        "of an audit, about: it then makes fewer runs, and stops at looks fixed in advance",
        "limit",
        "apart",
        metavar="SECONDS",
        gt=0,
        usual=f"none, and {OWN_DATA_SECONDS:g} for dpaudit privacy with --data",
    )
    n: int | None = _option(None, "examples in a sample", "input", ge=1, metavar="N", usual="the example's")
    trials: int = _option(100_000, "runs on each side, of all pairs and phases together", "apart", ge=10, metavar="N")
    confidence: float = _option(CONFIDENCE, "of the verdict, over everything that is tried", gt=0.5, lt=1)


OPTIONS = {name: one for name, one in vars(Options).items() if isinstance(one, Option)}
"""The declarations by name."""
OF_DATA = ("bounds", "unit", "outside", "group")
"""Those that say how pairs are made of a dataset."""
SEED = Option(0, name="seed", ge=0, metavar="N", help="root of all randomness")
"""The root seed, of a run rather than of one audit."""
JOBS = Option(1, name="n_jobs", metavar="JOBS", help="-1 for one a processor; no result depends on it")
"""The processes; stored nowhere, because no result depends on them."""


def grouped(*groups: str) -> tuple[str, ...]:
    """Return the names of the options in some groups.

    "claim": claims that are curves, of which `audit_privacy` takes one as `claim`; "input": on what a mechanism is
    audited; "run": how single runs are made; "limit": the time of a run or an audit, whatever makes it; "certificate"
    and "replay": what these take of an audit beside "run"; "apart": those that may differ where an audit goes on, or
    its parts are made: no run depends on them, or the claim is compared as a whole, as are inputs.
    """
    return tuple(name for name, one in OPTIONS.items() if {*groups} & {*one.groups})


SAME = tuple(name for name in OPTIONS if name not in grouped("claim", "input", "apart"))
"""Those that must be the same where an audit goes on."""
