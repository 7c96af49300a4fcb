"""Runs of a sequential audit in a file, from which it goes on later, or on another machine, as if it had not stopped.

The file holds every run that was bet on: an audit that goes on bets on the runs of the file in their order first, and
then tosses the coins that come next for the file's seed. So all that the file holds is in one product of e-values,
whatever made somebody stop.

It is JSON Lines: what is audited, then for each time that the audit went on with further runs a link and its batches.
The digest of a line is over its content and the digest before it, which shows a line that was changed or left out. That
whole lines are missing at the end shows by the digest of the last line, which the finding has.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from dpaudit.audit.finding import Continued
from dpaudit.audit.request import Request
from dpaudit.errors import InputError, ToolFault
from dpaudit.events.event import Outputs
from dpaudit.events.wide import Reducer, Reduction
from dpaudit.files import named
from dpaudit.jsonable import stable_repr
from dpaudit.outputs.plan import LeafPlan
from dpaudit.outputs.shared import join
from dpaudit.outputs.values import JsonValue, decode_value, digest_of, encode_value
from dpaudit.record import Count, Frozen, Size, decode, encodable
from dpaudit.results import versions

_PARAMETER = "continued"

# Settings that are digests, with what their difference says.
_DIGESTS = {"list of pairs": "", "probe": "", "code": ", for the file that defines the mechanism was changed"}


def settings_of(request: Request) -> dict[str, str]:
    """Return by name, as texts, all that must be the same where an audit goes on, but for people's data."""
    mechanism = request.sampler.mechanism
    look = request.look
    inputs: dict[str, str] = {}
    if not _of_people(request):
        inputs = _inputs_of(request)
    claim = request.claim
    curve = request.curve_claim
    claimed = f"epsilon = {float(claim.epsilon)!r}, delta = {float(claim.delta)!r}, {claim.relation}"
    if curve is not None:
        claimed = curve.call or stable_repr(curve)
    return {
        "version of dpaudit": versions()["dpaudit"],
        "mechanism": mechanism.stream,
        "code": _code_of(request.source),
        "claim": claimed,
        "seed": str(request.sampler.seed),
        **inputs,
        "batched": str(request.batched),
        "sequential": str(request.betting),
        "curve": str(look.curve),
        "float_bits": str(look.float_bits),
        "time": str(look.time),
        "randomness": "own" if request.own_randomness else "argument",
        "timeout": str(request.timeout),
        "timeout_is": request.timeout_is,
        "confidence": str(request.confidence),
    }


def salted_inputs(request: Request, salt: str) -> dict[str, str]:
    """Return the digests of the pairs and the probe of people's data, with a salt; none of other pairs.

    No table of the digests of likely values serves for two files. No finding has these digests.
    """
    if not _of_people(request):
        return {}
    return {name: _digest_of(salt + one) for name, one in _inputs_of(request).items() if one != "none"}


def _of_people(request: Request) -> bool:
    return any(pair.withheld for pair in request.pairs)


def _inputs_of(request: Request) -> dict[str, str]:
    inputs = [digest_of(side) for pair in request.pairs for side in (pair.data, pair.neighbour)]
    probe = "none"
    if request.sampler.mechanism.probe is not None:
        probe = digest_of(request.sampler.mechanism.probe)
    return {"list of pairs": _digest_of(repr(inputs)), "probe": probe}


def _digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def differing(held: Mapping[str, str], given: Mapping[str, str]) -> Iterator[str]:
    """Describe each difference between the settings that a file holds and those of an audit."""
    for name in {**held, **given}:
        one = held.get(name, "none")
        other = given.get(name, "none")
        if one != other and name in _DIGESTS and "none" not in (one, other):
            yield f"its {name} is another one{_DIGESTS[name]}"
        elif one != other:
            yield f"its {name} is {one:.200}, not {other:.200}"


def _code_of(source: Any) -> str:
    """Return the digest of the file that defines a mechanism; that of its code, or nothing, where there is none."""
    # A partial or a decorated function is defined by what it wraps.
    while (inner := getattr(source, "func", getattr(source, "__wrapped__", None))) is not None:
        source = inner
    home = source
    if not inspect.isroutine(source) and not inspect.isclass(source):
        home = type(source)
    try:
        # Line ends differ between systems, and a file may go on on another one.
        held = Path(inspect.getsourcefile(home) or "").read_bytes().replace(b"\r\n", b"\n")
    except (TypeError, OSError):
        held = getattr(getattr(home, "__code__", None), "co_code", b"")
    return hashlib.blake2b(held, digest_size=16).hexdigest()


def encoded(outputs: Iterable[Any]) -> list[JsonValue]:
    """Return outputs as a file keeps them, or say that it cannot."""
    try:
        return [encode_value(one, sys.maxsize) for one in outputs]
    except InputError as error:
        message = "{continued} cannot keep the outputs of this mechanism: {why}"
        raise InputError(message, names=(_PARAMETER,), parameter=_PARAMETER, why=str(error)) from None


class Audited(Frozen, frozen=True, tag="audited", tag_field="kind"):
    """The first line of a file: the audit of its runs, by all settings that must be the same where it goes on.

    Of people's data `inputs` are digests with the `salt`, which is drawn for this file. The digest of the line leaves
    both out: the one of the last line, which a finding shows, does not depend on them.
    """

    settings: dict[str, str]
    digest: str
    salt: str = ""
    inputs: dict[str, str] = msgspec.field(default_factory=dict)


class Link(Frozen, frozen=True, tag="link", tag_field="kind"):
    """The audit began, or went on with further runs; it might make so many on each side, those before among them."""

    trials: Size
    digest: str


class SavedBatch(Frozen, frozen=True, tag="batch", tag_field="kind"):
    """Runs of a pair, by its index, that were bet on together: a batch of outputs on either side."""

    pair: Count
    outputs: tuple[JsonValue, JsonValue]
    digest: str


class SavedColumns(Frozen, frozen=True, tag="columns", tag_field="kind"):
    """Runs that were not bet on chose the columns of a pair's wide outputs to look at; later batches hold these.

    So many `runs` on each side chose. The first outputs on either side show of what an output consists; the
    `reductions` are the fields of the `Reduction` of each part of an output that is wide.
    """

    pair: Count
    runs: Size
    outputs: tuple[JsonValue, JsonValue]
    reductions: tuple[JsonValue, ...]
    digest: str


@dataclass(frozen=True)
class ChosenColumns:
    """A choice of columns of a pair's wide outputs to look at, with the runs on each side that made it."""

    runs: int
    reducer: Reducer


def _held_in(path: Path) -> bytes:
    """Return the bytes of a file of runs, none if there is no file; `InputError` if it cannot be one."""
    if not path.parent.is_dir():
        raise InputError.of(_PARAMETER, str(path), "a file in a folder that exists")
    if path.is_dir():
        raise InputError.of(_PARAMETER, str(path), "a file", "that is a folder")
    if path.exists() and not path.is_file():  # a device may have no end
        raise InputError.of(_PARAMETER, str(path), "a file", "that is a device or a pipe")
    try:
        if not path.exists():
            return b""
        return path.read_bytes()
    except OSError as error:
        raise InputError.of(_PARAMETER, str(path), "a file that can be read", error.strerror or str(error)) from None


class SavedRuns:
    """The runs of one audit in the file at `path`, which is made if there is none.

    The `request` is the audit that is to go on, `steps` are what the file held: the index of a pair, with the
    outputs of a batch on either side or the columns that are looked at from then on. `InputError` if the file belongs
    to another audit; `ToolFault` if a line was changed since it was written.
    """

    def __init__(self, path: str | Path, request: Request) -> None:
        self.path = Path(path)
        self.steps = list[tuple[int, list[Outputs] | ChosenColumns]]()
        self.unwritten = ""
        self._before = ""
        self._size = 0
        self._trials = request.trials
        self._links = list[int]()
        held = _held_in(self.path)
        # What stands behind the last end of a line was being written when the process ended; nobody has seen it.
        for number, line in enumerate(held.splitlines(keepends=True), 1):
            if line.endswith(b"\n"):
                self._take(number, line, request)
        if not self._size:
            salt = secrets.token_hex(16) if _of_people(request) else ""
            self._append(Audited(settings_of(request), "", salt, salted_inputs(request, salt)))

    @property
    def continued(self) -> Continued:
        """The links and the last digest of the file, for the finding."""
        return Continued(tuple(self._links), self._before, self.unwritten or UNSET)

    @property
    def runs(self) -> int:
        """The runs that the file held."""
        found = 0
        for _, step in self.steps:
            if isinstance(step, ChosenColumns):
                found += 2 * step.runs
            else:
                found += sum(map(len, step))
        return found

    def _take(self, number: int, line: bytes, request: Request) -> None:
        place = f"{self.path}, line {number}"
        record = decode(line, Audited | Link | SavedBatch | SavedColumns, place)
        if record.digest != self._digest(record) or isinstance(record, Audited) != (number == 1):
            raise ToolFault(f"{place}: the file was changed since it was written")
        self._before = record.digest
        self._size += len(line)
        if isinstance(record, Audited):
            held = record.settings | record.inputs
            for differs in differing(held, settings_of(request) | salted_inputs(request, record.salt)):
                message = f"{{continued}} is of another audit: {differs}"
                raise InputError(message, names=(_PARAMETER,), parameter=_PARAMETER, value=str(self.path))
        if isinstance(record, Link):
            self._links.append(record.trials)
        if isinstance(record, SavedBatch):
            self.steps.append((record.pair, [decode_value(side) for side in record.outputs]))
        if isinstance(record, SavedColumns):
            plan = LeafPlan.of(join([decode_value(side) for side in record.outputs]))
            reductions = [Reduction(*decode_value(one)) for one in record.reductions]
            self.steps.append((record.pair, ChosenColumns(record.runs, Reducer.of(plan, reductions))))

    def add(self, pair: int, outputs: Sequence[Outputs]) -> None:
        """Write a batch of a pair, given the outputs on either side, before anything is made of it."""
        first, second = encoded(outputs)
        self._add(SavedBatch(pair, (first, second), ""))

    def add_columns(self, pair: int, outputs: Sequence[Outputs], chosen: ChosenColumns) -> None:
        """Write which columns of a pair's wide outputs are looked at, before a batch is, given the first outputs."""
        first, second = encoded(outputs)
        held = ((r.centre, r.scale, r.coordinates, r.pairs, r.weights, r.squares) for _, r in chosen.reducer.wide)
        self._add(SavedColumns(pair, chosen.runs, (first, second), tuple(encoded(held)), ""))

    def _add(self, record: SavedBatch | SavedColumns) -> None:
        """Append a record of runs; where the disk takes no more, the audit goes on and its file ends here.

        The runs are made: ending the audit would lose a verdict that is as valid without the file.
        """
        if self.unwritten:
            return
        try:
            if self._trials:  # before the first run that is added
                self._append(Link(self._trials, ""))
                self._links.append(self._trials)
                self._trials = 0
            self._append(record)
        except OSError as error:
            self.unwritten = f"{self.path}: {error.strerror or error}"

    def _digest(self, record: Audited | Link | SavedBatch | SavedColumns) -> str:
        content = {**encodable(record), "digest": self._before}
        if isinstance(record, Audited):
            content = {name: one for name, one in content.items() if name not in ("salt", "inputs")}
        return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()

    def _append(self, record: Audited | Link | SavedBatch | SavedColumns) -> None:
        digest = self._digest(record)
        line = json.dumps({**encodable(record), "digest": digest}, sort_keys=True).encode() + b"\n"
        # Only its owner may read the file where it is made: outputs may hold records.
        private = partial(os.open, mode=0o600)
        mode = "x+b"
        if self.path.exists():
            mode = "r+b"
        with named(self.path), open(self.path, mode, buffering=0, opener=private) as file:
            # Behind the last line there may be a part of one, and none that another process wrote.
            file.seek(self._size)
            if b"\n" in file.read():
                text = "{continued} is being written by another process: one audit at a time goes on from it"
                raise InputError(text, names=(_PARAMETER,), parameter=_PARAMETER, value=str(self.path))
            file.truncate(self._size)
            file.seek(self._size)
            left = memoryview(line)
            try:
                while left:  # such a write may be short where the disk is nearly full
                    left = left[file.write(left) :]
                # Before anything is made of the runs: a power cut must not lose a look at them.
                os.fsync(file.fileno())
            except BaseException:  # the line is written whole, or not at all
                file.truncate(self._size)
                raise
        self._before = digest
        self._size += len(line)
