"""Small sealed runs, and what somebody could do to their files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from toy_records import arguments_of, header, ledger_row, picture_finding, utility_finding
from toy_records import law_finding as law
from toy_records import privacy_finding as privacy

from dpaudit.contract import PrivacyClaim
from dpaudit.errors import ToolFault
from dpaudit.evidence.records import Failure, Header, Planned, Result
from dpaudit.evidence.store import FILENAME, Store
from dpaudit.evidence.tasks import Task, canonical

VERSIONS = {"dpaudit": "1"}
SEED = 3
KINDS = ("exact", "privacy", "utility", "ledger", "picture")


def result(kind: str) -> Result:
    """Return a result that makes sense, of a task of its own."""
    learner = "Toy-1" if kind == "ledger" else "a"
    parameters = {} if kind == "ledger" else {"gain": 1.0}
    arguments = arguments_of(kind)
    more: dict[str, Any] = {"versions": VERSIONS} | ({} if kind in ("exact", "ledger") else {"seed": SEED})
    finding: Any = {
        "exact": law,
        "privacy": privacy,
        "utility": utility_finding,
        "ledger": ledger_row,
        "picture": picture_finding,
    }[kind]()
    return Result(
        task=Task(learner, parameters, arguments).key,
        learner=learner,
        parameters=parameters,
        arguments=arguments,
        finding=replace(finding, **more),
        claim=PrivacyClaim(1.0) if kind in ("exact", "privacy") else None,
    )


def header_of(*results: Result | Failure, **changes: Any) -> Header:
    """Return the header of a run of some tasks."""
    plan = tuple(Planned(one.task, one.learner, one.kind) for one in results)
    return replace(header([], seed=SEED), **{"plan": plan, "versions": VERSIONS, **changes})


def write_run(folder: Path, *kinds: str, finish: bool = True, **changes: Any) -> Path:
    """Write a run with a result of each kind, in the reverse order of its plan, and return its file."""
    results = [result(kind) for kind in kinds]
    store = Store.start(folder / FILENAME, header_of(*results, **changes))
    for one in reversed(results):
        store.append(one)
    if finish:
        store.finish()
    return store.path


def lines_of(path: Path) -> list[bytes]:
    """Return the lines of a file, without their ends."""
    return path.read_bytes().split(b"\n")[:-1]


def put(path: Path, lines: list[bytes]) -> None:
    """Write lines to a file."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))


_DIGEST = re.compile(rb'"digest":"([0-9a-f]{64})",')


def relinked(line: bytes, before: str) -> bytes:
    """Return the bytes of a line, whatever they are, with the digest that they would have if they were written."""
    found = _DIGEST.search(line)
    if found is None:
        raise ToolFault("no digest is left in the line")
    rest = line[: found.start()] + line[found.end() :]
    digest = hashlib.blake2b(before.encode() + rest, digest_size=32).hexdigest()
    return line[: found.start(1)] + digest.encode() + line[found.end(1) :]


def resealed(lines: list[bytes]) -> list[bytes]:
    """Return the lines of a sealed file with all digests right again: what somebody who knows the rule could write."""
    found, before = [], ""
    for line in lines:
        found.append(relinked(line, before))
        before = _DIGEST.search(found[-1])[1].decode()
    return found


def edited(line: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a line after a change of its record, its digest as it was."""
    told = json.loads(line)
    edit(told)
    return canonical(told).encode()
