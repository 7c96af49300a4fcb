"""Anybody's mechanism on the command line: a function of a file or a module, and its pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from dpaudit.arguments import check_built
from dpaudit.audit.audit import audit_privacy
from dpaudit.cli.certifying import certify
from dpaudit.cli.verb import Given
from dpaudit.contract import Learner, Relation
from dpaudit.engine.arguments import PrivacyArguments
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task
from dpaudit.errors import InputError
from dpaudit.neighbours.named import is_source, is_strategy, pairs_at, pairs_beside, pairs_of_source
from dpaudit.neighbours.own_data.columns import bounds_of_text
from dpaudit.neighbours.own_data.files import read_dataset
from dpaudit.neighbours.own_data.pairs import neighbours_of
from dpaudit.registry.import_spec import Place, importable

__all__ = ["audit_mechanism"]


def audit_mechanism(args: Given, arguments: PrivacyArguments) -> Result:
    """Audit the mechanism that was named and return the result, as `engine.perform` makes it for a learner.

    Parameters
    ----------
    args : Given
        Of ``dpaudit privacy``.
    arguments : PrivacyArguments
        What the audit is given; without pairs or data, a function has the ``PAIRS`` beside it.

    Raises
    ------
    InputError
        If the file or module, the function or the pairs are not there, or cannot be called as they must be.
    """
    if args.parameter:
        raise InputError(f"-p is for learners of the registry; {args.id} takes none")
    place = Place.parse("the mechanism", args.id)
    given = None if arguments.pairs is None or is_source(arguments.pairs) else Place.parse("--pairs", arguments.pairs)
    with importable(place.folder, *([given.folder] if given else [])):
        mechanism = place.find()
        check_built(mechanism, args.id)
        learner = mechanism if isinstance(mechanism, Learner) else None
        if learner is None:
            _check_plain(args, mechanism)
            if arguments.pairs is None and arguments.data is None:
                given = pairs_beside(place, "--pairs")
                arguments = replace(arguments, pairs=f"{given.source}:{given.name}")
        chosen = asdict(arguments)
        chosen["pairs"] = _pairs(args, given, arguments.pairs, mechanism)
        if chosen["pairs"] is not None:
            del chosen["n"]  # they are of n examples already
        if arguments.data is not None:
            chosen["data"] = read_dataset(arguments.data)
        chosen["bounds"] = bounds_of_text(arguments.bounds)
        finding = audit_privacy(mechanism, **chosen, seed=args.seed, n_jobs=args.n_jobs, progress=not args.quiet)
        strategy = given.find() if given and is_strategy(given.find()) else None
        told = {"name": args.id, "strategy": strategy, "n": None if given else args.n}
        told["place"] = arguments.data or arguments.pairs or "crafted pairs"
        certify(args, finding, mechanism, _certified(args, chosen), **told)
    claim = None if learner is None else learner.privacy
    key = Task(args.id, {}, arguments).key
    return Result(task=key, learner=args.id, parameters={}, arguments=arguments, finding=finding, claim=claim)


def _pairs(args: Given, place: Place | None, source: str | None, mechanism: Any) -> list[Any] | None:
    """Return the pairs: those at a place, those of a source such as random:50; None for a learner's crafted ones."""
    if place is not None:
        return pairs_at(place, args.seed)
    if source is None:
        return None
    return list(pairs_of_source(source, mechanism, n=args.n, relation=args.relation, seed=args.seed))


def _certified(args: Given, chosen: Mapping[str, Any]) -> Any:
    """Return the pairs that were audited, made again where they are made of data and a certificate is asked for."""
    if args.certificate is None or chosen["data"] is None:
        return chosen["pairs"]
    relation = chosen["relation"] or Relation.ADD_REMOVE_ONE
    return neighbours_of(chosen["data"], relation, bounds=chosen["bounds"], unit=chosen["unit"], seed=args.seed)


def _check_plain(args: Given, mechanism: Any) -> None:
    """Refuse what is no function, and the options of learners; how it can be called the audit itself checks."""
    if not callable(mechanism):
        raise InputError(f"{args.id} must be a function (data, rng) -> output, got {mechanism!r:.100}")
    if args.n is not None:
        raise InputError(f"--n is for learners, whose samples are crafted; {args.id} gets the pairs given")
