"""The mechanism that an entry of a project names, its pairs, and the arguments of its audit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dpaudit.arguments import check_built
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import OPTIONS, Options
from dpaudit.audit.parameters import Dataset
from dpaudit.contract import Learner, Relation
from dpaudit.errors import InputError, blamed
from dpaudit.evidence.perform import audit_with
from dpaudit.evidence.records import Parameters, Result
from dpaudit.evidence.tasks import Arguments, AuditOptions, PrivacyArguments, Task
from dpaudit.exact.finding import LawFinding
from dpaudit.neighbours.own_data.value_bounds import bounds_of_text, text_of_bounds
from dpaudit.neighbours.sources import (
    examples_of,
    is_source,
    pairs_at,
    pairs_beside,
    pairs_of_source,
    with_examples,
    without_examples,
)
from dpaudit.places import Place, importable, is_place, send_private
from dpaudit.progress import Progress
from dpaudit.registry import load


@dataclass(frozen=True)
class Prepared:
    """A mechanism, or a learner, that is about to be audited, with its inputs and the options of the audit.

    `pairs` and `dataset` are as for `audit_privacy`. `source` says where the pairs are from, in the words of the
    settings, None for crafted ones; `place` is that of a list of pairs or of a strategy, if they are from one.
    """

    mechanism: Any
    options: AuditOptions
    seed: int
    given: Any = None
    dataset: Dataset | None = None
    source: str | None = None
    place: Place | None = None

    @property
    def learner(self) -> Learner | None:
        """The mechanism if it is a learner, else None."""
        return self.mechanism if isinstance(self.mechanism, Learner) else None

    @property
    def trials(self) -> int:
        """Runs on each side."""
        return Options.trials.default if self.options.trials is None else self.options.trials

    @property
    def withheld(self) -> bool:
        """Whether nothing of the records may be shown but what is coarse."""
        return self.dataset is not None and not self.options.include_data

    @property
    def relation(self) -> Relation | None:
        """The relation of neighbours that was given."""
        return None if self.options.relation is None else Relation.parse(self.options.relation)

    @property
    def n(self) -> int | None:
        """Examples in crafted samples; None where pairs are given."""
        if self.learner is None or self.source is not None:
            return None
        return self.options.n or self.learner.instance.n

    def pairs(self) -> list[Any]:
        """Return the pairs that its audit begins with."""
        if self.dataset is not None:
            return self.dataset.pairs(self.relation or Relation.ADD_REMOVE_ONE, self.seed)
        if isinstance(self.given, str):
            return pairs_of_source(self.given, self.mechanism, relation=self.relation, seed=self.seed)
        return list(self.given or ())

    def audit(
        self,
        *,
        n_jobs: int = 1,
        backend: str | None = None,
        address: str | None = None,
        continued: str | None = None,
        progress: Progress = False,
    ) -> PrivacyFinding:
        """Return the finding of its audit."""
        return audit_with(
            self.mechanism,
            self.options,
            self.given,
            self.dataset,
            seed=self.seed,
            n_jobs=n_jobs,
            backend=backend,
            address=address,
            continued=continued,
            progress=progress,
        )

    def arguments(self) -> PrivacyArguments:
        """Return the options as a result stores them: inputs by name, since a report holds no records."""
        options = self.options
        relation = self.relation
        return PrivacyArguments(
            epsilon=options.epsilon,
            delta=options.delta,
            claim=options.claim,
            relation=relation,
            pairs=self.source,
            data=options.data,
            header=options.header,
            bounds=text_of_bounds(options.bounds),
            unit=options.unit,
            outside=options.outside,
            group=options.group,
            include_data=options.include_data,
            batched=options.batched,
            sequential=options.sequential,
            curve=options.curve,
            float_bits=options.float_bits,
            time=options.time,
            randomness=options.randomness,
            timeout=options.timeout,
            timeout_is=options.timeout_is,
            time_limit=options.time_limit,
            n=options.n,
            trials=self.trials,
            confidence=Options.confidence.default if options.confidence is None else options.confidence,
        )

    def result(
        self,
        name: str,
        arguments: Arguments,
        finding: PrivacyFinding | LawFinding,
        parameters: Parameters | None = None,
        *,
        decoded: dict[str, str] | None = None,
    ) -> Result:
        """Return the finding of an audit as the result of a task on the mechanism, under a name."""
        claim = None if self.learner is None else self.learner.privacy
        task = Task(name, dict(parameters or {}), arguments)
        return Result(**task.recorded, finding=finding, claim=claim, decoded=decoded or {})


def named(
    id: str, asked: PrivacyArguments, seed: int, parameters: Parameters | None = None, paths: tuple[str, ...] = ()
) -> AbstractContextManager[Prepared]:
    """Return `prepared` of what a command names, in the current folder."""
    return prepared(id, asked, seed, Path(), parameters or {}, ("the mechanism", "--pairs"), paths)


@contextmanager
def prepared(
    mechanism: str,
    options: AuditOptions,
    seed: int,
    root: Path,
    parameters: Parameters,
    roles: tuple[str, str] = ("mechanism", "pairs"),
    paths: tuple[str, ...] = (),
) -> Iterator[Prepared]:
    """Load a mechanism and its pairs, and let the modules beside them be imported while the block runs.

    Files and modules are found from `root`, the folder of the settings, which is the current one while the block runs.
    `parameters` are those of a learner; `roles` are the names of the mechanism and of its pairs in messages, `paths`
    files and folders with learners beside the installed ones. `InputError` if the mechanism or its pairs are not there,
    or do not fit each other.
    """
    # Settings and commands call the same things by other names, and messages name what was typed.
    role, pairs_role = roles
    place = _place(mechanism, role, root)
    pairs = _place(options.pairs, pairs_role, root)
    with chdir(root), importable(str(root), *(one.folder for one in (place, pairs) if one)):
        if place is None:
            found: Any = _learner(mechanism, parameters, paths)
        else:
            found = _placed(mechanism, parameters, options, place)
        # Stored apart, n and the kind of pairs, as tasks of a run have them.
        if isinstance(found, Learner) and (options.pairs is None or is_source(options.pairs)):
            examples = examples_of(options.pairs) or options.n
            options = replace(options, n=examples, pairs=without_examples(options.pairs))
        source = options.pairs
        # A function without pairs or data has them beside it, in PAIRS.
        if place is not None and source is None and options.data is None and not isinstance(found, Learner):
            pairs = pairs_beside(place, pairs_role)
            source = f"{mechanism.rpartition(':')[0]}:{pairs.name}"
        # Refused before the data are read.
        options.curve_claim()
        given, dataset = _inputs(options, found, pairs, seed)
        yield Prepared(found, options, seed, given, dataset, source, pairs)


def _inputs(options: AuditOptions, mechanism: Any, pairs: Place | None, seed: int) -> tuple[Any, Dataset | None]:
    """Return the pairs, or a text for them, and the dataset, one of which is None."""
    if options.data is None:
        # Silently ignored they would pass for applied.
        for name in ("header", "bounds", "unit", "outside", "group"):
            if getattr(options, name) != OPTIONS[name].default:
                message = "{" + name + "} belongs to {data}, which must be given too"
                raise InputError(message, names=(name, "data"), value=getattr(options, name))
        if pairs is not None:
            return pairs_at(pairs, seed), None
        if isinstance(mechanism, Learner):
            return with_examples(options.pairs, options.n), None
        return options.pairs, None
    if options.pairs is not None:
        raise InputError(
            "{pairs} must be left out where {data} is given: pairs are made of it", names=("pairs", "data")
        )
    # Loads pandas.
    from dpaudit.neighbours.own_data.dataset_files import read_dataset

    bounds = options.bounds
    if isinstance(bounds, str):
        bounds = bounds_of_text(bounds)
    records = read_dataset(options.data, header=options.header)
    return None, Dataset(records, bounds=bounds, unit=options.unit, outside=options.outside, group=options.group)


def _place(text: str | None, role: str, root: Path) -> Place | None:
    """Return the place that a text names, files from the root; None for an id, for pairs:NUMBER and for none."""
    if text is None or is_source(text) or not (is_place(text) or role == "--pairs"):
        return None
    place = Place.parse(role, text)
    if place.is_file:
        return Place(role, str(root / place.source), place.name)
    return place


def _learner(id: str, parameters: Parameters, paths: tuple[str, ...]) -> Learner:
    entry = load(paths).get(id)
    # Workers cannot import the private module of a learner from a path.
    send_private(entry.learner.__module__)
    with blamed(f"the learner {entry.id}"):
        return entry.build(**{**entry.instance.parameters, **parameters})


def _placed(name: str, parameters: Parameters, options: AuditOptions, place: Place) -> Any:
    if parameters:
        raise InputError(f"parameters are for installed learners; {name} takes none")
    mechanism = place.find()
    check_built(mechanism, name)
    if isinstance(mechanism, Learner):
        return mechanism
    if not callable(mechanism):
        raise InputError(f"{name} must be a function (data, rng) -> output, got {mechanism!r:.100}")
    # Examples are counted in samples, which only a learner has.
    if options.n is not None:
        text = "{n} is for learners, whose samples are crafted; {audited} gets the pairs given"
        raise InputError(text, names=("n",), audited=name)
    return mechanism
