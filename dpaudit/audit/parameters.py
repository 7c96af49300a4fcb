"""The parameter objects of `audit_privacy`: a dataset, what is looked at, and how runs are made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from dpaudit.audit.clock import Stopped
from dpaudit.audit.options import Options
from dpaudit.contract import Pair, Relation
from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.pairs import COUNT, neighbours_of
from dpaudit.neighbours.own_data.units import GivenUnit
from dpaudit.neighbours.own_data.value_bounds import GivenBounds
from dpaudit.progress import Progress


@dataclass(frozen=True)
class Dataset:
    """A dataset of which neighbouring inputs are made.

    Parameters
    ----------
    records : dataset
        What the mechanism takes: a data frame, an array, a list, or what `register_dataset` knows; as for
        `neighbours_of`.
    bounds : (low, high) or dict of column to (low, high), optional
        The values that are allowed; by default those that the dataset holds.
    unit : str or sequence, optional
        The column that names the users, or a label for each row: all rows of a user then come and go together.
    outside : bool
        Whether values outside of the bounds, NaN and infinity are tried.
    group : int
        How many records (or units) the inputs of a pair differ in, at most. The claim must then be that for groups of
        so many: a mechanism that is (epsilon, delta)-private for one record is (k epsilon, delta (e^(k epsilon) - 1) /
        (e^epsilon - 1))-private for k. The finding says so, and `finding.reach` has the number.

    Raises
    ------
    InputError
        If `outside` is no truth value, or `group` no integer >= 1.
    """

    records: Any
    bounds: GivenBounds | None = None
    unit: GivenUnit | None = None
    outside: bool = True
    group: int = 1

    def __post_init__(self) -> None:
        if self.records is None:
            raise InputError("{data} must hold records, got None", names=("data",))
        Options.outside.read(self.outside)
        Options.group.read(self.group)

    @classmethod
    def of(cls, data: Any) -> Dataset | None:
        """Return what was given as `data` of an audit; None if nothing was."""
        if data is None or isinstance(data, Dataset):
            return data
        return cls(data)

    def pairs(self, relation: Relation, seed: int, count: int = COUNT) -> list[Pair]:
        """Return at most `count` pairs of neighbouring datasets, by default those that an audit begins with."""
        return neighbours_of(
            self.records,
            relation,
            group=self.group,
            bounds=self.bounds,
            unit=self.unit,
            count=count,
            outside=self.outside,
            seed=seed,
        )


@dataclass(frozen=True)
class Look:
    """The choice of what an audit looks at, and of what findings may show.

    Parameters
    ----------
    curve : bool
        Also bound delta at every epsilon simultaneously (`finding.curve`), for a fifth of the error probability.
    float_bits : bool
        Look at the bits of floats too: noise added in floating point leaks through them, whatever its scale.
    time : bool
        Let the verdict rest on the time of each run too (`audit.run_time` says how). `finding.run_time` has what
        outputs and times together show, and whether it counts: not if times distinguish equal inputs. As many runs
        again are made and timed, and once more as many on equal inputs if times alone refute the claim. Only for
        functions that make one run in a call; what rests on times cannot be repeated bit by bit.
    probe : array, data frame or "data", optional
        Points; an output with a method `predict` (a hypothesis) is then replaced by its predictions on them. With
        "data" they are those of `probe_of`, made from the records of the pairs.
    include_data : bool
        Whether the finding, warnings and errors may show values of pairs that were made from data, and what the
        mechanism says. By default they name the recipe of a pair, such as "row 17 removed", and the class and the line
        of an exception; events are shown where their values are constants.

    Raises
    ------
    InputError
        If one of the switches is no truth value.
    """

    curve: bool = False
    float_bits: bool = False
    time: bool = False
    probe: ArrayLike | None = None
    include_data: bool = False

    def __post_init__(self) -> None:
        Options.curve.read(self.curve)
        Options.float_bits.read(self.float_bits)
        Options.time.read(self.time)
        Options.include_data.read(self.include_data)


@dataclass(frozen=True)
class Execution:
    """The way in which runs are made: where, for how long, and in which design.

    Parameters
    ----------
    backend : str, optional
        Any backend that is registered with joblib, as for `joblib.Parallel`. "dask" makes the runs on a cluster.
    address : str, optional
        That of the scheduler of a dask cluster, as tcp://127.0.0.1:8786.
    sequential : bool, optional
        Bet against the claim run by run and stop as soon as it is refuted: valid at any stopping time, any number of
        pairs at no cost. The runs on both sides of all pairs together are then at most 2 `trials`. By default it is so
        where a run takes more than a tenth of a second, unless the claim is a curve, or a curve is asked for; the
        finding's `design` has the choice.
    continued : str or Path, optional
        A file with the runs of a sequential audit, which is made if there is none: the audit goes on from the runs in
        it, here or on another machine, and adds its own. It is as valid as one that never stopped; `trials` count all
        runs. The file holds outputs as plain text.
    time_limit : float or Stopped, optional
        The most seconds that the audit may take, about, all that it does included. The time of a few runs says with how
        many the audit begins: `trials`, or a half, a quarter and so on of it. The checks of randomness and the search
        among pairs have parts of the time. The runs that decide end early, at looks that are fixed in advance and share
        the error of the verdict, where the time is over. Warnings say what was left out. A run under way is not ended
        (see `timeout`), but where runs have a process of their own, one that answers nothing for as long as this ends
        with a `RunFault`. `finding.stopped`, given here, repeats an audit that a limit has stopped.
    timeout_is : {"output", "error"}
        What a run is that takes longer than `timeout`: an output "timed out", which may distinguish the sides like any
        other, or a `RunFault`. A call of a batched mechanism is always the latter. A `TimeoutError` of the mechanism's
        own is an exception like any other.
    progress : bool or callable
        True shows on standard error how many runs have been made, on a terminal and in a notebook as one line that is
        rewritten; a callable receives ``(runs made, runs at most)``.

    Raises
    ------
    InputError
        If a value is of the wrong type or out of range.
    """

    backend: str | None = None
    address: str | None = None
    sequential: bool | None = None
    continued: str | Path | None = None
    time_limit: float | Stopped | None = None
    timeout_is: str = "output"
    progress: Progress = False

    def __post_init__(self) -> None:
        Options.sequential.read(self.sequential)
        Options.timeout_is.read(self.timeout_is)
        if not isinstance(self.time_limit, Stopped):
            Options.time_limit.read(self.time_limit)
        if self.continued is None:
            return
        if not isinstance(self.continued, str | os.PathLike) or not str(self.continued):
            raise InputError.of("continued", self.continued, "the path of a file")
        if self.sequential is False:
            raise InputError("{continued} is for {sequential:=True}", names=("continued", "sequential"))

    @property
    def bets(self) -> bool | None:
        """Whether to bet run by run; None leaves it to the time of a run."""
        # The runs in a file are those of bets.
        return True if self.continued is not None else self.sequential


# The defaults of `audit_privacy`.
LOOK = Look()
EXECUTION = Execution()
