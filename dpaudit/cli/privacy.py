"""``dpaudit privacy``: a mechanism is audited; ``dpaudit replay``: the violation of a certificate is run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.audit.options import OF_DATA, OPTIONS, OWN_DATA_SECONDS, grouped
from dpaudit.cli.audits import (
    UNNAMED,
    LearnerOptions,
    find_learner,
    json_lines,
    note_taken,
    read_parameters,
    show,
    show_lines,
)
from dpaudit.cli.command import check_folder, command, in_words
from dpaudit.cli.options import (
    FORMS,
    PLAIN,
    Address,
    Backend,
    Declared,
    Parameters,
    Seed,
    Shown,
    ShownPlain,
    argument,
    given,
    jobs,
    of,
)
from dpaudit.cli.streams import keeping, notify, say, written
from dpaudit.errors import DpauditError, InputError, blamed
from dpaudit.progress import duration
from dpaudit.report.numbers import count, percent, plural, significant

if TYPE_CHECKING:
    from dpaudit import certificates
    from dpaudit.engine.records import Result
    from dpaudit.engine.tasks import PrivacyArguments
    from dpaudit.registry.import_spec import Place
    from dpaudit.report.terminal import Lines


class PrivacyRunOptions(NamedTuple):
    """The options of ``dpaudit privacy`` on the runs, and the certificate of what they show."""

    audit: Annotated[dict[str, Any], Declared(tuple(name for name in OPTIONS if name != "n"))]
    seed: Seed
    n_jobs: Annotated[int, jobs("processes", 1)]
    backend: Backend
    address: Address
    continued: Annotated[
        str | None,
        given(
            "keep the runs in it, and go on from those that it has, from another machine too; with --sequential",
            metavar="FILE",
            names=("--continue",),
        ),
    ]
    certificate: Annotated[
        str | None,
        given("write the certificate of a violation too, with the pair and the event made simpler", metavar="FILE"),
    ]
    plan: Annotated[
        str | None,
        given(
            "make the runs that choose alone, and write what they choose: dpaudit shard makes parts of those that "
            "confirm, anywhere, and dpaudit merge gives the finding",
            metavar="FILE",
        ),
    ]
    dry_run: Annotated[
        bool, given("run the mechanism a few times and estimate how long the audit takes (default: audit)")
    ]


@command("privacy", "dpaudit privacy mean.py:mean --epsilon 1", FORMS)
def privacy(learner: LearnerOptions, runs: PrivacyRunOptions, shown: Shown) -> int:
    """Run a mechanism on pairs of neighbouring inputs and test whether its privacy claim can be true.

    The event that distinguishes the inputs of a pair best is chosen on some of the runs, and epsilon is bounded from
    below on fresh runs. A bound above the claim is a violation. Otherwise the claim is consistent with these runs,
    which would have shown a leak of the stated size on an event as likely as the one tested, on the pairs that were
    compared long enough; or there is no evidence, where they could not have shown one, for the reason given. ID is
    FILE.py:function or MODULE:function, a function (data, rng) -> output, on the list PAIRS of (data, neighbour) beside
    it or on --pairs; or a learner of `dpaudit list`, on crafted samples.
    """
    from msgspec.structs import replace

    from dpaudit.contract import Relation
    from dpaudit.engine.perform import perform
    from dpaudit.engine.tasks import PrivacyArguments, Task
    from dpaudit.neighbours.named import is_source, pairs_of_source
    from dpaudit.registry.import_spec import is_place

    audit = runs.audit
    check_folder("certificate", runs.certificate)
    relation = None if audit["relation"] is None else Relation.parse(audit["relation"])
    if audit["data"] is not None and audit["time_limit"] is None and runs.plan is None:  # parts have no time limit
        audit = audit | {"time_limit": OWN_DATA_SECONDS}
    asked = PrivacyArguments(**audit | {"n": learner.n, "relation": relation})
    spread = {name: getattr(runs, name) for name in ("n_jobs", "backend", "address")}
    options: dict[str, Any] = {**spread, "progress": not shown.quiet}
    if runs.dry_run:
        return _estimate(learner, asked, runs, shown)
    if runs.plan is not None:
        from dpaudit.cli.shards import write_plan

        for name in ("continued", "certificate"):
            if getattr(runs, name) is not None:
                raise InputError("{plan} takes no {" + name + "}", names=("plan", name))
        return write_plan(runs.plan, learner, asked, runs.seed, shown, spread)
    if is_place(learner.id):
        return _audit_mechanism(learner, asked, runs, shown, options)
    if asked.batched or (asked.pairs is not None and not is_source(asked.pairs)):
        raise InputError(
            f"--pairs and --batched are for FILE.py:function; the pairs of the learner {learner.id} are crafted, or "
            "drawn by --pairs random:COUNT"
        )
    entry, built, parameters = find_learner(learner.id, learner.parameter, shown.learners)
    if learner.n is None:
        note_taken(entry, {"n": entry.instance.n})
        asked = replace(asked, n=entry.instance.n)
    with keeping(runs.continued), blamed(f"the audit of {entry.id}"):
        task = Task(entry.id, parameters, asked)
        result = perform(task, seed=runs.seed, paths=shown.learners, continued=runs.continued, **options)
    drawn = partial(pairs_of_source, str(asked.pairs), built, n=asked.n, relation=asked.relation, seed=runs.seed)
    about = {"n": asked.n, "place": asked.pairs or "crafted pairs", "progress": not shown.quiet}
    status = _show(result, runs, shown)
    return _certify(status, result, runs, built, drawn if asked.pairs else lambda: None, **about)


def _show(result: Result, runs: PrivacyRunOptions, shown: Shown) -> int:
    """Print the verdict, before anything is done that may fail, and return the status."""
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.report.repeat import repeat_command

    status = show([result], runs.seed, shown, repeat_command(result, runs.seed, shown.learners, runs.continued))
    assert isinstance(result.finding, PrivacyFinding)
    continued = result.finding.continued
    if not continued or not continued.unwritten:
        return status
    notify("error", f"{continued.unwritten}; the runs made since are in no file, what is printed stands")
    return status if status == 1 else 2


def _estimate(named: LearnerOptions, asked: PrivacyArguments, runs: PrivacyRunOptions, shown: Shown) -> int:
    from dpaudit.project import subject as subjects
    from dpaudit.project.check import runs_of, seconds_of

    with subjects.named(named.id, asked, runs.seed, read_parameters(named.parameter)) as subject:
        pairs, made, seconds = len(subject.pairs()), runs_of(subject), seconds_of(subject)
    limit = asked.time_limit
    if shown.json:
        say(json_lines([dict(mechanism=named.id, runs=made, pairs=pairs, seconds=seconds, time_limit=limit)]))
        return 0
    sides = f"{count(made)} runs at most, on both sides of {plural(pairs, 'pair')}"
    paced = f", and up to {count(made // 2)} to see how long one takes" if limit else ""
    ended = f"; the time limit ends it after {duration(limit)}" if limit and limit < seconds else ""
    say(f"{named.id}: {sides}{paced}, about {duration(seconds)}{ended}\n")
    return 0


def _audit_mechanism(
    named: LearnerOptions, asked: PrivacyArguments, runs: PrivacyRunOptions, shown: Shown, options: dict[str, Any]
) -> int:
    from msgspec.structs import replace

    from dpaudit.audit.audit import audit_privacy
    from dpaudit.neighbours.named import is_strategy
    from dpaudit.project import subject as subjects

    if named.parameter:
        raise InputError(f"-p is for learners of the registry; {named.id} takes none")
    with subjects.named(named.id, asked, runs.seed) as subject:
        with keeping(runs.continued):
            finding = audit_privacy(subject.mechanism, **subject.arguments, continued=runs.continued, **options)
        result = subject.result(named.id, replace(asked, pairs=subject.source), finding)
        given = subject.place.find() if subject.place else None
        about = {"strategy": given if is_strategy(given) else None, "n": named.n if subject.place is None else None}
        about |= {"name": named.id, "place": asked.data or subject.source or "crafted pairs"}
        pairs = subject.pairs if asked.data else lambda: subject.arguments.get("pairs")
        status = _show(result, runs, shown)
        return _certify(status, result, runs, subject.mechanism, pairs, progress=options["progress"], **about)


def _certify(
    status: int,
    result: Result,
    runs: PrivacyRunOptions,
    mechanism: Any,
    pairs: Callable[[], Sequence[Any] | None],
    **about: Any,
) -> int:
    """Write the certificate that was asked for, if the finding is a violation, and return the status of the command.

    The verdict has been printed: what prevents a certificate is a note, and leaves the status of a violation as it is.
    """
    from dpaudit import certificates
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.certificates.certificate import Referred
    from dpaudit.contract import PrivacyVerdict
    from dpaudit.engine.tasks import PrivacyArguments

    finding = result.finding
    arguments = result.arguments
    assert isinstance(finding, PrivacyFinding)
    assert isinstance(arguments, PrivacyArguments)
    if (path := runs.certificate) is None:
        return status
    prevented = ""
    if finding.verdict != PrivacyVerdict.VIOLATION:
        prevented = "no violation was found, so no certificate is written"
    elif finding.curve_test is not None and finding.epsilon_lower <= finding.epsilon:
        prevented = "a bet on all outputs refutes the claim and no event does, so no certificate is written"
    elif finding.rests_on_time:
        prevented = "the verdict rests on run times, which a certificate does not hold, so none is written"
    if prevented:
        notify("note", prevented)
        return status
    about |= {name: getattr(arguments, name) for name in grouped("run", "certificate")} | {"n_jobs": runs.n_jobs}
    try:
        made = certificates.make(finding, pairs(), mechanism=mechanism, **about)
    except DpauditError as error:
        notify("note", f"no certificate is written, and the violation stands: {in_words(error)}")
        return status

    def write() -> None:
        made.write(path)
        named = isinstance(made.data, Referred) or isinstance(made.neighbour, Referred)
        data = arguments.data
        again = f"; it names its inputs by recipe and digest: replay with --data {data}" if named and data else ""
        checked = f"check it by python -P -m dpaudit.verify_certificate {path}"
        if made.relation is None:
            checked += UNNAMED
        lower = significant(made.epsilon_lower, "down", digits=3, apart_from=made.epsilon)
        notify("note", f"the certificate {path} shows epsilon >= {lower}; {checked}{again}")

    try:
        return written(status, write)
    except DpauditError as error:  # the verifier's own arithmetic does not bear it out
        notify("note", f"no certificate is written, and the violation stands: {in_words(error)}")
        return status


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
    header: Annotated[bool | None, of(OPTIONS["header"])]
    of_data: Annotated[dict[str, Any], Declared(OF_DATA)]
    running: Annotated[dict[str, Any], Declared(grouped("run", "replay"))]
    relation: Annotated[
        str | None,
        given("what neighbours are, of an audit (default: what the certificate says)", metavar="RELATION"),
    ]
    metric: Annotated[
        str | None,
        given(
            "FILE.py:NAME or MODULE:NAME, a distance of two inputs that is at most 1 for neighbours (default: by the "
            "relation, of datasets)",
            metavar="SOURCE",
        ),
    ]
    confidence: Annotated[float, of(OPTIONS["confidence"], "of the replay, never the certificate's")]
    trials: Annotated[int | None, given("runs on each side (default: the certificate's)")]
    seed: Annotated[int | None, given("root of all randomness (default: random)")]
    n_jobs: Annotated[int, jobs("processes", 1)]


@command("replay", "dpaudit replay certificate.json mean.py:mean", (*PLAIN, ".xml"))
def replay(asked: Replaying, shown: ShownPlain) -> int:
    """Run a mechanism again on the pair of a certificate, on fresh seeds, and test the certificate's event alone.

    The result rests on nothing in the certificate but the claim, the pair and the event. ID is as for `dpaudit
    privacy`; a certificate never names what is loaded. Inputs that the certificate names and does not hold are taken
    from --pairs or --data, and must have its digests. The status is 1 for a violation, 2 where the inputs are no
    neighbours, 3 where fresh runs show none or it is not known whether they are.
    """
    from dpaudit import certificates
    from dpaudit.contract import OPEN, PrivacyVerdict
    from dpaudit.registry.import_spec import Place, importable, is_place
    from dpaudit.report.formats import Promise, summed

    if asked.data is not None and asked.pairs is not None:
        raise InputError("one of --data and --pairs must be left out: each says where the inputs are")
    certificate = certificates.read(asked.file)
    places = [Place.parse("the mechanism", asked.id)] if is_place(asked.id) else []
    given = [Place.parse("--pairs", asked.pairs)] if asked.pairs else []
    metric = [Place.parse("--metric", asked.metric)] if asked.metric else []
    with importable(*(place.folder for place in (*places, *given, *metric))):
        mechanism = places[0].find() if places else find_learner(asked.id, asked.parameter, shown.learners)[1]
        named = {name: getattr(asked, name) for name in ("relation", "confidence", "trials", "seed", "n_jobs")}
        named |= {"pair": _pair(certificate, asked, given), "metric": metric[0].find() if metric else None}
        found = certificates.replay(certificate, mechanism, progress=not shown.quiet, **named, **asked.running)
    lines = _lines(asked.id, certificate, found)
    case = Promise(asked.id, "result", found.verdict, summed(lines))
    status = 1 if found.verdict == PrivacyVerdict.VIOLATION else OPEN
    return show_lines(shown, lines, found, title=f"dpaudit: the replay of {asked.file}", case=case, status=status)


def _pair(certificate: certificates.Certificate, asked: Replaying, given: Sequence[Place]) -> Any:
    """Return the pair of a list that a certificate names; None where it holds its inputs."""
    from dpaudit.certificates.certificate import Referred
    from dpaudit.contract import Relation
    from dpaudit.neighbours.named import pairs_at
    from dpaudit.neighbours.own_data.columns import bounds_of_text
    from dpaudit.neighbours.own_data.pairs import neighbours_of
    from dpaudit.neighbours.own_data.tables import read_dataset

    named = next((side for side in (certificate.data, certificate.neighbour) if isinstance(side, Referred)), None)
    source = "--data" if asked.data else "--pairs"
    if not given and asked.data is None:
        if named is not None and certificate.origin.kind.own:
            raise InputError(
                "the certificate names its inputs and does not hold them, "
                f"{named.place} ({certificate.origin.text}): replay with --data FILE"
            )
        return None
    if named is None:
        raise InputError(f"{source} must be left out: the certificate holds its inputs")
    if not isinstance(named.index, int):
        raise InputError(f"{source} must be left out: the certificate does not say which pair of a list it is about")
    if given:
        pairs = pairs_at(given[0], certificate.seed)
    else:
        relation = certificate.relation or Relation.ADD_REMOVE_ONE
        options = asked.of_data | {"bounds": bounds_of_text(asked.of_data["bounds"])}
        dataset = read_dataset(str(asked.data), header=asked.header)
        pairs = neighbours_of(dataset, relation, **options, seed=certificate.seed)
    if named.index >= len(pairs):
        raise InputError(f"{source} must have the pair [{named.index}] of the certificate; it has {len(pairs)}")
    return pairs[named.index]


def _lines(id: str, certificate: certificates.Certificate, found: certificates.Replay) -> Lines:
    from dpaudit.report.words.claims import claim_words
    from dpaudit.report.words.events import answer_words

    bound, certified = (
        significant(value, "down", digits=3, apart_from=found.epsilon)
        for value in (found.epsilon_lower, found.certified)
    )
    claim = f"{id} claims {claim_words(found.epsilon, found.delta)}"
    if not found.neighbours:
        exceeds = "the bound exceeds the claim, and it was " if found.epsilon_lower > found.epsilon else ""
        claim = f"{exceeds}not checked that the inputs are neighbours: give --relation, or --metric; {claim}"
    shown = f"shows ε ≥ {bound} on fresh runs ({percent(found.confidence)} sure); the certificate says {certified}"
    lines: Lines = [(found.verdict, f"{claim}, {shown}")]
    counts = found.counts
    if counts is not None:
        hits = f"{count(counts.hits)} of {count(counts.runs)} runs on one input"
        others = f"{count(counts.neighbour_hits)} of {count(counts.neighbour_runs)} on its neighbour"
        lines.append(("because", f'"{answer_words(certificate.event)}": {hits}, {others}'))
    return [*lines, ("seed", str(found.seed))]
