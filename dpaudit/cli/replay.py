"""``dpaudit replay``: the violation of a certificate is run again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.audit.options import RUNNING
from dpaudit.cli.audits import check_out, find_learner, show_plain, terminal_text
from dpaudit.cli.command import command
from dpaudit.cli.options import PLAIN, Declared, Parameters, ShownPlain, argument, given, jobs
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from dpaudit import certificates
    from dpaudit.registry.import_spec import Place
    from dpaudit.report.terminal import Lines

__all__ = ["replay"]


class Replaying(NamedTuple):
    """The options of ``dpaudit replay`` on the runs."""

    file: Annotated[str, argument("CERTIFICATE")]
    id: Annotated[str, argument("ID")]
    parameter: Parameters
    pairs: Annotated[
        str | None,
        given(
            "FILE.py:NAME or MODULE:NAME, the list that was audited (default: the certificate's own inputs)",
            metavar="SOURCE",
        ),
    ]
    data: Annotated[
        str | None,
        given("the dataset that was audited, if the certificate names inputs by recipe and digest", metavar="FILE"),
    ]
    bounds: Annotated[str | None, given("as in the audit of --data", metavar="LOW,HIGH")]
    unit: Annotated[str | None, given("as in the audit of --data (default: every row is one)", metavar="COLUMN")]
    running: Annotated[dict[str, Any], Declared((*RUNNING, "randomness"))]
    trials: Annotated[int | None, given("runs on each side (default: the certificate's)")]
    seed: Annotated[int | None, given("root of all randomness (default: random)")]
    n_jobs: Annotated[int, jobs("processes", 1)]


@command("replay", "dpaudit replay certificate.json mean.py:mean")
def replay(asked: Replaying, shown: ShownPlain) -> int:
    """Run a mechanism again on the pair of a certificate, on fresh seeds, and test the certificate's event alone.

    The result rests on nothing in the certificate but the claim, the pair and the event. ID is as for `dpaudit
    privacy`; a certificate never names what is loaded. Inputs that the certificate names and does not hold are taken
    from --pairs or --data, and must have its digests. The status is 1 for a violation, 3 where fresh runs show none.
    """
    from dpaudit import certificates
    from dpaudit.contract import Verdict
    from dpaudit.engine.outcome import OPEN
    from dpaudit.engine.tasks import canonical
    from dpaudit.record import encodable
    from dpaudit.registry.import_spec import Place, importable, is_place
    from dpaudit.report.ci import Promise
    from dpaudit.report.plain import summed
    from dpaudit.report.terminal import laid_out

    check_out(shown.out, (*PLAIN, ".xml"))
    if asked.data is not None and asked.pairs is not None:
        raise InputError("one of --data and --pairs must be left out: each says where the inputs are")
    certificate = certificates.read(asked.file)
    places = [Place.parse("the mechanism", asked.id)] if is_place(asked.id) else []
    given = [Place.parse("--pairs", asked.pairs)] if asked.pairs else []
    with importable(*(place.folder for place in (*places, *given))):
        mechanism = places[0].find() if places else find_learner(asked.id, asked.parameter, shown.learners)[1]
        found = certificates.replay(
            certificate,
            mechanism,
            pair=_pair(certificate, asked, given),
            progress=not shown.quiet,
            trials=asked.trials,
            seed=asked.seed,
            n_jobs=asked.n_jobs,
            **asked.running,
        )
    lines = _lines(asked.id, certificate, found)
    show_plain(
        shown.json,
        shown.out,
        terminal_text(lines, shown.color),
        title=f"dpaudit: the replay of {asked.file}",
        json=f"{canonical(encodable(found))}\n",
        text=laid_out(lines),
        lines=lines,
        case=Promise(asked.id, "result", found.verdict, summed(lines)),
    )
    return 1 if found.verdict == Verdict.VIOLATION else OPEN


def _pair(certificate: certificates.Certificate, asked: Replaying, given: Sequence[Place]) -> Any:
    """Return the pair of a list that a certificate names; None where it holds its inputs."""
    from dpaudit.certificates.certificate import Referred
    from dpaudit.contract import OriginKind
    from dpaudit.neighbours.named import pairs_at

    named = [side.place for side in (certificate.data, certificate.neighbour) if isinstance(side, Referred)]
    index = re.search(r"\[(\d+)\]$", named[0]) if named else None
    source = "--data" if asked.data else "--pairs"
    if not given and asked.data is None:
        if index is not None and certificate.origin.kind == OriginKind.OWN_DATA:
            raise InputError(
                "the certificate names its inputs and does not hold them, "
                f"{named[0]} ({certificate.origin.text}): replay with --data FILE"
            )
        return None
    if index is None:
        raise InputError(f"{source} must be left out: the certificate holds its inputs")
    pairs = pairs_at(given[0], certificate.seed) if given else _made(certificate, asked)
    if int(index[1]) >= len(pairs):
        raise InputError(f"{source} must have the pair {index[0]} of the certificate; it has {len(pairs)}")
    return pairs[int(index[1])]


def _made(certificate: certificates.Certificate, asked: Replaying) -> list[Any]:
    """Return the pairs that the audit made of the data."""
    from dpaudit.contract import Relation
    from dpaudit.neighbours.own_data.columns import bounds_of_text
    from dpaudit.neighbours.own_data.pairs import neighbours_of
    from dpaudit.neighbours.own_data.tables import read_dataset

    relation = certificate.relation or Relation.ADD_REMOVE_ONE
    bounds = bounds_of_text(asked.bounds)
    return neighbours_of(read_dataset(str(asked.data)), relation, bounds=bounds, unit=asked.unit, seed=certificate.seed)


def _lines(id: str, certificate: certificates.Certificate, found: certificates.Replay) -> Lines:
    from dpaudit.report.numbers import count, percent, significant, value_text
    from dpaudit.report.wording import event_words

    bound, certified = (
        significant(value, "down", digits=3, apart_from=found.epsilon)
        for value in (found.epsilon_lower, found.certified)
    )
    claim = f"{id} claims epsilon {value_text(found.epsilon)}"
    shown = f"shows >= {bound} on fresh runs ({percent(found.confidence)} sure); the certificate says {certified}"
    lines = [(found.verdict.upper(), f"{claim}, {shown}")]
    counts = found.counts
    if counts is not None:
        hits = f"{count(counts.hits)} of {count(counts.runs)} runs on one input"
        others = f"{count(counts.neighbour_hits)} of {count(counts.neighbour_runs)} on its neighbour"
        lines.append(("because", f'"{event_words(certificate.event)}": {hits}, {others}'))
    return [*lines, ("seed", str(found.seed))]
