"""The command that replays a certificate."""

from __future__ import annotations

import re
from typing import Any

from dpaudit import certificates
from dpaudit.certificates.certificate import Referred
from dpaudit.cli.single_audit import find_learner
from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.contract import PrivacyVerdict
from dpaudit.engine.outcome import OPEN
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError
from dpaudit.neighbours.placed import pairs_at
from dpaudit.places import Place, importable, is_place
from dpaudit.record import encodable
from dpaudit.reporters.aligned import Lines, laid_out
from dpaudit.reporters.numbers import value_text
from dpaudit.reporters.predicates import predicate_words

__all__ = ["command"]


def command(args: Given) -> int:
    """Replay a certificate and return the status: 1 for a violation, 3 where the fresh runs show none."""
    certificate = certificates.read(args.file)
    places = [Place.parse("the mechanism", args.id)] if is_place(args.id) else []
    given = [Place.parse("--pairs", args.pairs)] if args.pairs else []
    with importable(*(place.folder for place in (*places, *given))):
        mechanism = places[0].find() if places else find_learner(args)[1]
        found = certificates.replay(
            certificate,
            mechanism,
            pair=_pair(certificate, given[0]) if given else None,
            trials=args.trials,
            seed=args.seed,
            batched=args.batched,
            randomness=args.randomness,
            n_jobs=args.n_jobs,
        )
    if args.json:
        say(canonical(encodable(found)) + "\n")
    else:
        say(laid_out(_lines(args, certificate, found), width_of(output()), wants_color(args.color)))
    return 1 if found.verdict == PrivacyVerdict.VIOLATION else OPEN


def _pair(certificate: certificates.Certificate, place: Place) -> Any:
    """Return the pair of a list that a certificate names."""
    pairs = pairs_at(place, certificate.seed)
    told = [side.place for side in (certificate.data, certificate.neighbour) if isinstance(side, Referred)]
    index = re.search(r"\[(\d+)\]$", told[0]) if told else None
    if index is None:
        raise InputError("--pairs must be left out: the certificate holds its inputs")
    if int(index[1]) >= len(pairs):
        raise InputError(f"--pairs must have the pair {index[0]} of the certificate; it has {len(pairs)}")
    return pairs[int(index[1])]


def _lines(args: Given, certificate: certificates.Certificate, found: certificates.Replay) -> Lines:
    claim = f"{args.id} claims epsilon {value_text(found.epsilon)}"
    shown = f"shows >= {value_text(found.epsilon_lower)} on fresh runs ({100 * found.confidence:.6g} % sure)"
    lines = [(found.verdict.upper(), f"{claim}, {shown}; the certificate says {value_text(found.certified)}")]
    counts = found.counts
    if counts is not None:
        runs = f"{counts.hits} of {counts.runs} runs on one input, {counts.neighbour_hits} of {counts.neighbour_runs}"
        lines.append(("because", f'"{predicate_words(certificate.event)}": {runs} on its neighbour'))
    return [*lines, ("seed", str(found.seed))]
