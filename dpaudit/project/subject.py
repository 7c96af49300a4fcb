"""The mechanism that an entry of a project names, its pairs, and the arguments of its audit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from dpaudit.arguments import check_built
from dpaudit.audit.curve_claims import named_claim
from dpaudit.audit.options import OF_DATA, OPTIONS, grouped
from dpaudit.contract import Learner, Relation
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Arguments, PrivacyArguments, Task
from dpaudit.errors import InputError, blamed
from dpaudit.keyed import key_of
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.own_data.pairs import neighbours_of
from dpaudit.neighbours.own_data.value_bounds import bounds_of_text
from dpaudit.neighbours.sources import is_source, pairs_at, pairs_beside, pairs_of_source
from dpaudit.project.settings import Audit
from dpaudit.registry import load
from dpaudit.registry.import_spec import Place, importable, is_place, send_private


@dataclass(frozen=True)
class Prepared:
    """A mechanism, or a learner, that is about to be audited, with the keyword arguments of `audit_privacy`.

    `source` says where the pairs are from, in the words of the settings, None for crafted ones; `place` is that of a
    list of pairs or of a strategy, if they are from one.
    """

    mechanism: Any
    arguments: dict[str, Any]
    source: str | None = None
    place: Place | None = None

    @property
    def learner(self) -> Learner | None:
        """The mechanism if it is a learner, else None."""
        return self.mechanism if isinstance(self.mechanism, Learner) else None

    @property
    def withheld(self) -> bool:
        """Whether nothing of the records may be shown but what is coarse."""
        return self.arguments.get("data") is not None and not self.arguments["include_data"]

    @property
    def n(self) -> int | None:
        """Examples in crafted samples; None where pairs are given."""
        if self.learner is None or self.arguments.get("pairs") is not None:
            return None
        n: int = self.arguments.get("n") or self.learner.instance.n
        return n

    def pairs(self) -> list[Any]:
        """Return the pairs that its audit begins with."""
        if self.arguments.get("data") is not None:
            of_data = {name: self.arguments[name] for name in (*OF_DATA, "seed")}
            relation = self.arguments["relation"] or Relation.ADD_REMOVE_ONE
            return neighbours_of(self.arguments["data"], relation, **of_data)
        given = self.arguments.get("pairs")
        if given is not None or self.learner is None:
            return list(given or ())
        claim, n, relation = self.learner.privacy, self.n, self.arguments["relation"]
        assert n is not None
        relation = relation or (claim.relation if claim else Relation.REPLACE_ONE)
        return crafted_pairs(self.learner.domain, n, relation)

    def result(self, name: str, arguments: Arguments, finding: Any, parameters: Any = (), **more: Any) -> Result:
        """Return the finding of an audit as the result of a task on the mechanism, under a name."""
        claim = None if self.learner is None else self.learner.privacy
        return Result(**Task(name, dict(parameters), arguments).recorded, finding=finding, claim=claim, **more)


def named(
    id: str, asked: PrivacyArguments, seed: int, parameters: Any = (), paths: tuple[str, ...] = ()
) -> AbstractContextManager[Prepared]:
    """Return `prepared` of what a command names, in the current folder."""
    audit = Audit(name=id, mechanism=id, parameters=dict(parameters), seed=seed, **asdict(asked))
    return prepared(audit, Path(), ("the mechanism", "--pairs"), paths)


@contextmanager
def prepared(
    audit: Audit, root: Path, roles: tuple[str, str] = ("mechanism", "pairs"), paths: tuple[str, ...] = ()
) -> Iterator[Prepared]:
    """Load a mechanism and its pairs, and let the modules beside them be imported while the block runs.

    Files and modules are found from `root`, the folder of the settings, which is the current one while the block runs;
    `roles` are the names of the mechanism and of its pairs in messages, `paths` files and folders with learners beside
    the installed ones. `InputError` if the mechanism or its pairs are not there, or do not fit each other.
    """
    relation = None if audit.relation is None else Relation.parse(audit.relation)
    chosen: dict[str, Any] = {name: getattr(audit, name) for name in OPTIONS if name not in grouped("input")}
    chosen |= {"relation": relation, "seed": audit.seed or 0}
    place, pairs = (_place(text, role, root) for text, role in zip((audit.mechanism, audit.pairs), roles, strict=True))
    with chdir(root), importable(str(root), *(one.folder for one in (place, pairs) if one)):
        mechanism, source = _learner(audit, paths) if place is None else _placed(audit, place), audit.pairs
        given = audit.pairs is not None or audit.data is not None
        if place is not None and not given and not isinstance(mechanism, Learner):
            pairs = pairs_beside(place, roles[1])
            source = f"{audit.mechanism.rpartition(':')[0]}:{pairs.name}"
        point = {name: chosen.get(name) for name in ("epsilon", "delta")}
        chosen["claim"] = named_claim(**{name: chosen.pop(name) for name in grouped("claim")}, **point)
        chosen |= _inputs(audit, mechanism, pairs, relation, chosen["seed"])
        yield Prepared(mechanism, chosen, source, pairs)


def _inputs(audit: Audit, mechanism: Any, pairs: Place | None, relation: Relation | None, seed: int) -> dict[str, Any]:
    bounds = bounds_of_text(audit.bounds) if isinstance(audit.bounds, str) else audit.bounds
    # Without data the audit refuses them.
    of_data = {"bounds": bounds, "unit": audit.unit, "outside": audit.outside, "group": audit.group}
    if audit.header is not None and audit.data is None:
        raise InputError("{header} belongs to {data}, which must be given too", names=("header", "data"))
    if audit.data is not None:
        from dpaudit.neighbours.own_data.dataset_files import read_dataset  # loads pandas

        key_of(make=True)
        return {**of_data, "pairs": audit.pairs, "data": read_dataset(audit.data, header=audit.header)}
    if pairs is not None:
        return {**of_data, "pairs": pairs_at(pairs, seed)}
    if audit.pairs is not None:
        return {**of_data, "pairs": pairs_of_source(audit.pairs, mechanism, n=audit.n, relation=relation, seed=seed)}
    return {**of_data, "n": audit.n}


def _place(text: str | None, role: str, root: Path) -> Place | None:
    """Return the place that a text names, files from the root; None for an id, for pairs:NUMBER and for none."""
    if text is None or is_source(text) or not (is_place(text) or role == "--pairs"):
        return None
    place = Place.parse(role, text)
    return Place(role, str(root / place.source), place.name) if place.is_file else place


def _learner(audit: Audit, paths: tuple[str, ...]) -> Learner:
    entry = load(paths).get(audit.mechanism)
    send_private(entry.learner.__module__)
    with blamed(f"the learner {entry.id}"):
        return entry.build(**{**entry.instance.parameters, **audit.parameters})


def _placed(audit: Audit, place: Place) -> Any:
    if audit.parameters:
        raise InputError(f"parameters are for installed learners; {audit.mechanism} takes none")
    mechanism = place.find()
    check_built(mechanism, audit.mechanism)
    if not isinstance(mechanism, Learner) and not callable(mechanism):
        raise InputError(f"{audit.mechanism} must be a function (data, rng) -> output, got {mechanism!r:.100}")
    if not isinstance(mechanism, Learner) and audit.n is not None:
        text = "{n} is for learners, whose samples are crafted; {audited} gets the pairs given"
        raise InputError(text, names=("n",), audited=audit.mechanism)
    return mechanism
