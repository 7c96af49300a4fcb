"""The files of an audit in parts: its plan, and the shards of its runs, each sealed by the digest of its content."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from dpaudit.audit.evidence import Check
from dpaudit.errors import InputError, ToolFault
from dpaudit.events.event import Event, range_labels, ranges_of
from dpaudit.files import write_atomically
from dpaudit.record import Count, Frozen, NonNegative, Size, decode, encodable


class ShardPlan(Frozen, frozen=True, kw_only=True, tag="plan", tag_field="kind"):
    """The choice that training made, and the audit that it belongs to.

    `settings` must be the same where a shard is made (see `saved_runs.settings_of`); `task` has the arguments of the
    audit as the command was given them. The `runs` that confirm, on both sides together, are made by so many `jobs`;
    `events` are tested, `point` is the epsilon and the delta tested. `first_hits` is of each guess how many of its
    first hits are counted; none where calls make many runs. `numbers` and `width` are those of an output, and of its
    widest row, as `Sampler` and `Request` have them; `searched` the runs a side of the search among pairs; `replayed`
    those with recorded noise. `checks` and `warnings` are those so far. `seen` is the digest of what the first batches
    returned, with which every shard compares its own; unset where nothing is compared. `choice` has the rules, see
    `Choice.to_json`. `key` is that of digests of people's data, in hexadecimal; unset where the audit has none, or is
    not of people's data. `left_out` are the parts of outputs that all runs share and change, each as the value of a
    `SharedPart`: no run looks at them. `digest` is of all else.
    """

    settings: dict[str, str]
    task: dict[str, Any]
    runs: Size
    jobs: Size
    events: tuple[tuple[Event, ...], ...]
    first_hits: tuple[Size, ...]
    point: tuple[float, float]
    numbers: Size
    width: Count
    searched: tuple[Count, Count] | None
    replayed: Count | UnsetType = UNSET
    checks: tuple[Check, ...]
    seen: str | UnsetType = UNSET
    warnings: tuple[str, ...]
    choice: dict[str, Any]
    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] | UnsetType = UNSET
    left_out: tuple[str, ...] | UnsetType = UNSET
    digest: str = ""


class Shard(Frozen, frozen=True, kw_only=True, tag="shard", tag_field="kind"):
    """Counts of a part of the runs that confirm; while it is being made, those of its first jobs.

    `plan` is the digest of the plan, `part` which of how many. `made` jobs were made, from the first one of the part
    on, with `runs` on the data and on the neighbour. `counts` are by tested event the runs in each of its cells, on
    either side, in the order of `cells_of`; `hits` by guess and block, of so many jobs as `block`, the hits and the
    right ones; `raised` exceptions by type, message and line; `scatter` is that of the calls on either side, where they
    make many runs. `repeats` is whether the first batches of the audit, made
    once more before and after these runs, returned the same; `digest` is of all else.
    """

    plan: str
    part: Size
    of: Size
    made: Count
    complete: bool
    runs: tuple[Count, Count]
    counts: tuple[tuple[tuple[Count, ...], tuple[Count, ...]], ...]
    block: Size
    hits: tuple[tuple[tuple[Count, Count], ...], ...]
    raised: tuple[tuple[tuple[str, ...], Count], ...]
    scatter: tuple[tuple[NonNegative, ...], ...]
    repeats: bool
    digest: str = ""


R = TypeVar("R", ShardPlan, Shard)


def sealed(record: R) -> R:
    """Return a plan or a shard with its digest."""
    return msgspec.structs.replace(record, digest=_digest(record))


def _digest(record: ShardPlan | Shard) -> str:
    content = encodable(record) | {"digest": ""}
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def write(record: ShardPlan | Shard, path: Path) -> None:
    """Write a sealed plan or shard to a file."""
    write_atomically(path, json.dumps(encodable(record), sort_keys=True).encode() + b"\n")


def read(path: Path, kind: type[R]) -> R:
    """Return the plan or the shard in a file; `ToolFault` if it holds none, or one that was changed since."""
    found: R = decode(path.read_bytes(), kind, f"{path} is no {kind.__struct_config__.tag}")
    if found.digest != _digest(found):
        raise ToolFault(f"{path}: the file was changed since it was written")
    return found


def part_of(jobs: int, part: int, of: int) -> slice:
    """Return the jobs of a part, counted from 1."""
    return slice(jobs * (part - 1) // of, jobs * part // of)


def shard_path(folder: Path, part: int, of: int) -> Path:
    """Return the file of a shard in a folder."""
    return folder / f"shard-{part:0{len(str(of))}}-of-{of}.json"


def check_shards(plan: ShardPlan, shards: Sequence[Shard]) -> list[Shard]:
    """Return shards in their order; `InputError` if they are not all the parts of a plan, each one once."""
    if not shards:
        raise InputError("there is no shard")
    if other := [f"{one.part}/{one.of}" for one in shards if one.plan != plan.digest]:
        raise InputError(f"shards of another audit, or of another plan: {', '.join(other)}")
    if len(splits := sorted({one.of for one in shards})) > 1:
        raise InputError(f"shards of one plan in {' and in '.join(map(str, splits))} parts do not fit together")
    of, found = splits[0], Counter(one.part for one in shards)
    for words, parts in (
        ("were given more than once", [part for part, times in found.items() if times > 1]),
        ("are not finished: run them again", [one.part for one in shards if not one.complete]),
        ("are missing", [part for part in range(1, of + 1) if part not in found]),
    ):
        if parts:
            listed = ", ".join(label for ends in ranges_of(sorted(parts)) for label in range_labels(*ends))
            raise InputError(f"of {of} shards {listed} {words}")
    return sorted(shards, key=lambda one: one.part)
