"""The command that replays a certificate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dpaudit import certificates
from dpaudit.audit.options import RUNNING
from dpaudit.certificates.certificate import Referred
from dpaudit.cli.single_audit import find_learner
from dpaudit.cli.text_output import check_plain, show_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.contract import OriginKind, Relation, Verdict
from dpaudit.engine.outcome import OPEN
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.neighbours.own_data.bounds import bounds_of_text
from dpaudit.neighbours.own_data.files import read_dataset
from dpaudit.neighbours.own_data.make import neighbours_of
from dpaudit.neighbours.placed import pairs_at
from dpaudit.record import encodable
from dpaudit.registry.import_spec import Place, importable, is_place
from dpaudit.report.ci import Promise
from dpaudit.report.numbers import count, percent, significant, value_text
from dpaudit.report.plain import Plain, summed
from dpaudit.report.predicates import predicate_words
from dpaudit.report.terminal import Lines, laid_out

__all__ = ["command"]


def command(args: Given) -> int:
    """Replay a certificate and return the status: 1 for a violation, 3 where the fresh runs show none."""
    check_plain(args.out, ".xml")
    if args.data is not None and args.pairs is not None:
        raise InputError("one of --data and --pairs must be left out: each says where the inputs are")
    certificate = certificates.read(args.file)
    places = [Place.parse("the mechanism", args.id)] if is_place(args.id) else []
    given = [Place.parse("--pairs", args.pairs)] if args.pairs else []
    with importable(*(place.folder for place in (*places, *given))):
        mechanism = places[0].find() if places else find_learner(args)[1]
        found = certificates.replay(
            certificate,
            mechanism,
            pair=_pair(certificate, args, given),
            trials=args.trials,
            seed=args.seed,
            randomness=args.randomness,
            n_jobs=args.n_jobs,
            progress=not args.quiet,
            **{name: getattr(args, name) for name in RUNNING},
        )
    told, lines = canonical(encodable(found)) + "\n", _lines(args, certificate, found)
    show_plain(args, told, lines)
    status = 1 if found.verdict == Verdict.VIOLATION else OPEN
    case = Promise(args.id, "result", found.verdict, summed(lines))
    write_plain(args.out, lambda: Plain(f"dpaudit: the replay of {args.file}", told, laid_out(lines), lines, case=case))
    return status


def _pair(certificate: certificates.Certificate, args: Given, given: Sequence[Place]) -> Any:
    """Return the pair of a list that a certificate names; None where it holds its inputs."""
    told = [side.place for side in (certificate.data, certificate.neighbour) if isinstance(side, Referred)]
    index = re.search(r"\[(\d+)\]$", told[0]) if told else None
    source = "--data" if args.data else "--pairs"
    if not given and args.data is None:
        if index is not None and certificate.origin.kind == OriginKind.OWN_DATA:
            named = f"{told[0]} ({certificate.origin.text})"
            raise InputError(
                f"the certificate names its inputs and does not hold them, {named}: replay with --data FILE"
            )
        return None
    if index is None:
        raise InputError(f"{source} must be left out: the certificate holds its inputs")
    pairs = pairs_at(given[0], certificate.seed) if given else _made(certificate, args)
    if int(index[1]) >= len(pairs):
        raise InputError(f"{source} must have the pair {index[0]} of the certificate; it has {len(pairs)}")
    return pairs[int(index[1])]


def _made(certificate: certificates.Certificate, args: Given) -> list[Any]:
    """Return the pairs that the audit made of the data."""
    relation = certificate.relation or Relation.ADD_REMOVE_ONE
    bounds = bounds_of_text(args.bounds)
    return neighbours_of(read_dataset(args.data), relation, bounds=bounds, unit=args.unit, seed=certificate.seed)


def _lines(args: Given, certificate: certificates.Certificate, found: certificates.Replay) -> Lines:
    bound, certified = (
        significant(value, "down", digits=3, apart_from=found.epsilon)
        for value in (found.epsilon_lower, found.certified)
    )
    claim = f"{args.id} claims epsilon {value_text(found.epsilon)}"
    shown = f"shows >= {bound} on fresh runs ({percent(found.confidence)} sure); the certificate says {certified}"
    lines = [(found.verdict.upper(), f"{claim}, {shown}")]
    counts = found.counts
    if counts is not None:
        hits = f"{count(counts.hits)} of {count(counts.runs)} runs on one input"
        others = f"{count(counts.neighbour_hits)} of {count(counts.neighbour_runs)} on its neighbour"
        lines.append(("because", f'"{predicate_words(certificate.event)}": {hits}, {others}'))
    return [*lines, ("seed", str(found.seed))]
