"""``dpaudit privacy``: a mechanism is audited; ``dpaudit replay``: the violation of a certificate is run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.app.audits import (
    UNNAMED,
    find_learner,
    json_lines,
    note_taken,
    read_parameters,
    show,
    show_lines,
)
from dpaudit.app.command import check_folder, command, in_words
from dpaudit.app.options import (
    FORMS,
    PLAIN,
    Claim,
    Delta,
    Epsilon,
    Parameters,
    RunTimeout,
    Seed,
    Shown,
    ShownPlain,
    TimeLimit,
    Where,
    argument,
    given,
    jobs,
    looks,
    of,
)
from dpaudit.app.streams import keeping, notify, say, written
from dpaudit.audit.options import OWN_DATA_SECONDS, Options
from dpaudit.errors import DpauditError, InputError, blamed
from dpaudit.progress import duration
from dpaudit.report.numbers import count, percent, plural, significant

if TYPE_CHECKING:
    from dpaudit import certificates
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.evidence.records import Result
    from dpaudit.evidence.tasks import PrivacyArguments
    from dpaudit.places import Place
    from dpaudit.report.terminal import Lines


class Audited(NamedTuple):
    """The mechanism, its claim, its inputs and the runs of ``dpaudit privacy``."""

    id: Annotated[str, argument("ID")]
    parameter: Parameters
    epsilon: Epsilon
    delta: Delta
    claim: Claim
    relation: Annotated[str | None, of(Options.relation)]
    pairs: Annotated[str | None, of(Options.pairs)]
    data: Annotated[str | None, of(Options.data)]
    header: Annotated[bool | None, of(Options.header)]
    bounds: Annotated[str | None, of(Options.bounds)]
    unit: Annotated[str | None, of(Options.unit)]
    group: Annotated[int, of(Options.group)]
    include_data: Annotated[bool, of(Options.include_data)]
    batched: Annotated[bool, of(Options.batched)]
    sequential: Annotated[bool | None, of(Options.sequential)]
    look: Annotated[frozenset[str], looks("curve", "float-bits", "time")]
    randomness: Annotated[str, of(Options.randomness)]
    timeout: RunTimeout
    time_limit: TimeLimit
    trials: Annotated[int, of(Options.trials)]
    confidence: Annotated[float, of(Options.confidence)]

    def arguments(self) -> PrivacyArguments:
        """Return the options of the audit; `InputError` if one is wrong."""
        from dpaudit.contract import Relation
        from dpaudit.evidence.tasks import PrivacyArguments

        limit = self.time_limit
        if self.data is not None and limit is None:
            # The pairs of a dataset take as many runs as they are given: a command has a minute, and says what more
            # would show.
            limit = OWN_DATA_SECONDS
        return PrivacyArguments(
            epsilon=self.epsilon,
            delta=self.delta,
            claim=self.claim,
            relation=None if self.relation is None else Relation.parse(self.relation),
            pairs=self.pairs,
            data=self.data,
            header=self.header,
            bounds=self.bounds,
            unit=self.unit,
            group=self.group,
            include_data=self.include_data,
            batched=self.batched,
            sequential=self.sequential,
            curve="curve" in self.look,
            float_bits="float-bits" in self.look,
            time="time" in self.look,
            randomness=Options.randomness.read(self.randomness),
            timeout=self.timeout,
            time_limit=limit,
            trials=self.trials,
            confidence=self.confidence,
        )


class PrivacyRunOptions(NamedTuple):
    """The options of ``dpaudit privacy`` on where runs are made and kept, and the certificate of what they show."""

    seed: Seed
    n_jobs: Annotated[int, jobs("processes", 1)]
    on: Where
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
    dry_run: Annotated[
        bool, given("run the mechanism a few times and estimate how long the audit takes (default: audit)")
    ]


@command("privacy", "dpaudit privacy mean.py:mean --epsilon 1", FORMS)
def privacy(audited: Audited, runs: PrivacyRunOptions, shown: Shown) -> int:
    """Run a mechanism on pairs of neighbouring inputs and test whether its privacy claim can be true.

    The event that distinguishes the inputs of a pair best is chosen on some of the runs, and epsilon is bounded from
    below on fresh runs. A bound above the claim is a violation. Otherwise the claim is consistent with these runs,
    which would have shown a leak of the stated size on an event as likely as the one tested, on the pairs that were
    compared long enough; or there is no evidence, where they could not have shown one, for the reason given. ID is
    FILE.py:function or MODULE:function, a function (data, rng) -> output, on the list PAIRS of (data, neighbour) beside
    it or on --pairs; or a learner of `dpaudit list`, on crafted samples.
    """
    from msgspec.structs import replace

    from dpaudit.evidence.perform import perform
    from dpaudit.evidence.tasks import Task
    from dpaudit.neighbours.sources import examples_of, is_source, pairs_of_source, with_examples, without_examples
    from dpaudit.places import is_place

    # Before the runs, which may take hours.
    check_folder("certificate", runs.certificate)
    asked = audited.arguments()
    if runs.dry_run:
        return _estimate(audited, asked, runs, shown)
    if is_place(audited.id):
        return _audit_mechanism(audited, asked, runs, shown)
    # A learner makes many runs in one call anyway, and its pairs are samples.
    if asked.batched or (asked.pairs is not None and not is_source(asked.pairs)):
        raise InputError(
            f"--pairs and --batched are for FILE.py:function; the pairs of the learner {audited.id} are crafted, or "
            "drawn by --pairs random:COUNT"
        )
    entry, built, parameters = find_learner(audited.id, audited.parameter, shown.learners)
    examples = examples_of(asked.pairs)
    if examples is None:
        examples = entry.instance.n
        note_taken(entry, {"n": examples})
    # Stored as a number and not within the text, as n is in every other task.
    asked = replace(asked, n=examples, pairs=without_examples(asked.pairs))
    with keeping(runs.continued), blamed(f"the audit of {entry.id}"):
        task = Task(entry.id, parameters, asked)
        result = perform(
            task,
            seed=runs.seed,
            paths=shown.learners,
            continued=runs.continued,
            n_jobs=runs.n_jobs,
            backend=runs.on.backend,
            address=runs.on.address,
            progress=not shown.quiet,
        )
    source = with_examples(asked.pairs, examples)
    pairs = partial(pairs_of_source, source, built, relation=asked.relation, seed=runs.seed)
    status = _show(result, runs, shown)
    place = source
    if asked.pairs is None:
        place = "crafted pairs"
    return _certify(status, result, runs, built, pairs, place, progress=not shown.quiet)


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
    # A violation stays one, whatever could not be written.
    if status == 1:
        return status
    return 2


def _estimate(named: Audited, asked: PrivacyArguments, runs: PrivacyRunOptions, shown: Shown) -> int:
    from dpaudit.app import subject as subjects
    from dpaudit.app.check import runs_of, seconds_of

    with subjects.named(named.id, asked, runs.seed, read_parameters(named.parameter)) as subject:
        pairs = len(subject.pairs())
        made = runs_of(subject)
        seconds = seconds_of(subject)
    limit = asked.time_limit
    if shown.json:
        say(json_lines([dict(mechanism=named.id, runs=made, pairs=pairs, seconds=seconds, time_limit=limit)]))
        return 0
    sides = f"{count(made)} runs at most, on both sides of {plural(pairs, 'pair')}"
    paced = ""
    ended = ""
    if limit:
        paced = f", and up to {count(made // 2)} to see how long one takes"
        if limit < seconds:
            ended = f"; the time limit ends it after {duration(limit)}"
    say(f"{named.id}: {sides}{paced}, about {duration(seconds)}{ended}\n")
    return 0


def _audit_mechanism(named: Audited, asked: PrivacyArguments, runs: PrivacyRunOptions, shown: Shown) -> int:
    from dpaudit.app import subject as subjects
    from dpaudit.neighbours.strategies import is_strategy

    if named.parameter:
        raise InputError(f"-p is for learners of the registry; {named.id} takes none")
    with subjects.named(named.id, asked, runs.seed) as subject:
        # An interruption says where the runs are that were stored until then.
        with keeping(runs.continued):
            finding = subject.audit(
                n_jobs=runs.n_jobs,
                backend=runs.on.backend,
                address=runs.on.address,
                continued=runs.continued,
                progress=not shown.quiet,
            )
        result = subject.result(named.id, subject.arguments(), finding)
        # Smaller pairs are looked for among those that the strategy makes, if the pairs are from one.
        strategy = None
        if subject.place is not None:
            given = subject.place.find()
            if is_strategy(given):
                strategy = given
        status = _show(result, runs, shown)
        return _certify(
            status,
            result,
            runs,
            subject.mechanism,
            subject.pairs,
            asked.data or subject.source or "crafted pairs",
            name=named.id,
            strategy=strategy,
            progress=not shown.quiet,
        )


def _certify(
    status: int,
    result: Result,
    runs: PrivacyRunOptions,
    mechanism: Any,
    pairs: Callable[[], Sequence[Any]],
    place: str,
    *,
    name: str = "",
    strategy: Any = None,
    progress: bool = False,
) -> int:
    """Write the certificate that was asked for, if the finding is a violation, and return the status of the command.

    The verdict has been printed: what prevents a certificate is a note, and leaves the status of a violation as it is.
    """
    from dataclasses import replace

    from dpaudit import certificates
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.audit.parameters import Execution
    from dpaudit.evidence.tasks import PrivacyArguments

    finding = result.finding
    arguments = result.arguments
    assert isinstance(finding, PrivacyFinding)
    assert isinstance(arguments, PrivacyArguments)
    if (path := runs.certificate) is None:
        return status
    if prevented := _no_certificate(finding):
        notify("note", prevented)
        return status
    try:
        made = certificates.make(
            finding,
            pairs(),
            mechanism=mechanism,
            name=name,
            place=place,
            strategy=strategy,
            batched=arguments.batched,
            n_jobs=runs.n_jobs,
            timeout=arguments.timeout,
            # A certificate has one event of outputs: no curve, and no run time.
            look=replace(arguments.look, curve=False, time=False),
            execution=Execution(timeout_is=arguments.timeout_is, progress=progress),
        )
    except DpauditError as error:
        notify("note", f"no certificate is written, and the violation stands: {in_words(error)}")
        return status

    def write() -> None:
        made.write(path)
        notify("note", _certificate_words(made, path, arguments.data))

    try:
        return written(status, write)
    # Where the verifier's own arithmetic does not bear it out.
    except DpauditError as error:
        notify("note", f"no certificate is written, and the violation stands: {in_words(error)}")
        return status


def _no_certificate(finding: PrivacyFinding) -> str:
    """Return why a finding has no certificate; empty if it may have one."""
    from dpaudit.contract import PrivacyVerdict

    if finding.verdict != PrivacyVerdict.VIOLATION:
        return "no violation was found, so no certificate is written"
    if finding.curve_test is not None and finding.epsilon_lower <= finding.epsilon:
        return "a bet on all outputs refutes the claim and no event does, so no certificate is written"
    if finding.rests_on_time:
        return "the verdict rests on run times, which a certificate does not hold, so none is written"
    return ""


def _certificate_words(made: certificates.Certificate, path: str, data: str | None) -> str:
    """Return what a certificate that was written shows, and how to check it."""
    from dpaudit.evidence.certificate import Referred

    again = ""
    if data and (isinstance(made.data, Referred) or isinstance(made.neighbour, Referred)):
        again = f"; it names its inputs by recipe: replay with --data {data}"
    checked = f"check it by python -P -m dpaudit.verify_certificate {path}"
    if made.relation is None:
        checked += UNNAMED
    lower = significant(made.epsilon_lower, "down", digits=3, apart_from=made.epsilon)
    return f"the certificate {path} shows epsilon >= {lower}; {checked}{again}"


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
        given("the dataset that was audited, if the certificate names inputs by recipe", metavar="FILE"),
    ]
    header: Annotated[bool | None, of(Options.header)]
    bounds: Annotated[str | None, of(Options.bounds)]
    unit: Annotated[str | None, of(Options.unit)]
    outside: Annotated[bool, of(Options.outside)]
    group: Annotated[int, of(Options.group)]
    batched: Annotated[bool, of(Options.batched)]
    randomness: Annotated[str, of(Options.randomness)]
    timeout: RunTimeout
    timeout_is: Annotated[str, of(Options.timeout_is)]
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
    confidence: Annotated[float, of(Options.confidence, "of the replay, never the certificate's")]
    trials: Annotated[int | None, given("runs on each side (default: the certificate's)")]
    seed: Annotated[int | None, given("root of all randomness (default: random)")]
    n_jobs: Annotated[int, jobs("processes", 1)]


@command("replay", "dpaudit replay certificate.json mean.py:mean", (*PLAIN, ".xml"))
def replay(asked: Replaying, shown: ShownPlain) -> int:
    """Run a mechanism again on the pair of a certificate, on fresh seeds, and test the certificate's event alone.

    The result rests on nothing in the certificate but the claim, the pair and the event. ID is as for `dpaudit
    privacy`; a certificate never names what is loaded. Inputs that the certificate names and does not hold are taken
    from --pairs or --data: they must have its rows, columns and types, and their values are not checked. The status is
    1 for a violation, 2 where the inputs are no neighbours, 3 where fresh runs show none or it is not known whether
    they are.
    """
    from dpaudit import certificates
    from dpaudit.audit.parameters import Execution
    from dpaudit.contract import OPEN, PrivacyVerdict
    from dpaudit.places import Place, importable, is_place
    from dpaudit.report.formats import Promise, summed

    if asked.data is not None and asked.pairs is not None:
        raise InputError("one of --data and --pairs must be left out: each says where the inputs are")
    certificate = certificates.read(asked.file)
    place = None
    if is_place(asked.id):
        place = Place.parse("the mechanism", asked.id)
    given = None
    if asked.pairs:
        given = Place.parse("--pairs", asked.pairs)
    metric_place = None
    if asked.metric:
        metric_place = Place.parse("--metric", asked.metric)
    # Modules beside the files that were named, and nothing that the certificate names.
    with importable(*(one.folder for one in (place, given, metric_place) if one is not None)):
        if place is not None:
            mechanism = place.find()
        else:
            _, mechanism, _ = find_learner(asked.id, asked.parameter, shown.learners)
        pair = _pair(certificate, asked, given)
        metric = None
        if metric_place is not None:
            metric = metric_place.find()
        found = certificates.replay(
            certificate,
            mechanism,
            pair=pair,
            relation=asked.relation,
            metric=metric,
            confidence=asked.confidence,
            trials=asked.trials,
            seed=asked.seed,
            randomness=asked.randomness,
            batched=asked.batched,
            n_jobs=asked.n_jobs,
            timeout=asked.timeout,
            execution=Execution(timeout_is=asked.timeout_is, progress=not shown.quiet),
        )
    lines = _lines(asked.id, certificate, found)
    case = Promise(asked.id, "result", found.verdict, summed(lines))
    status = OPEN
    if found.verdict == PrivacyVerdict.VIOLATION:
        status = 1
    return show_lines(shown, lines, found, title=f"dpaudit: the replay of {asked.file}", case=case, status=status)


def _pair(certificate: certificates.Certificate, asked: Replaying, given: Place | None) -> Any:
    """Return the pair of a list that a certificate names; None where it holds its inputs."""
    from dpaudit.contract import Relation
    from dpaudit.evidence.certificate import Referred
    from dpaudit.neighbours.own_data.dataset_files import read_dataset
    from dpaudit.neighbours.own_data.pairs import neighbours_of
    from dpaudit.neighbours.own_data.value_bounds import bounds_of_text
    from dpaudit.neighbours.sources import pairs_at

    named = next((side for side in (certificate.data, certificate.neighbour) if isinstance(side, Referred)), None)
    source = "--data" if asked.data else "--pairs"
    if given is None and asked.data is None:
        if named is not None and certificate.origin.kind.own:
            raise InputError(
                "the certificate names its inputs and does not hold them, "
                f"{named.place} ({certificate.origin.text}): replay with --data FILE"
            )
        return None
    if named is None:
        raise InputError(f"{source} must be left out: the certificate holds its inputs")
    # Certificates of earlier versions have no number of the pair.
    if not isinstance(named.index, int):
        raise InputError(f"{source} must be left out: the certificate does not say which pair of a list it is about")
    if given is not None:
        pairs = pairs_at(given, certificate.seed)
    else:
        # The relation by which audits make pairs of a dataset by default.
        relation = certificate.relation or Relation.ADD_REMOVE_ONE
        pairs = neighbours_of(
            read_dataset(str(asked.data), header=asked.header),
            relation,
            group=asked.group,
            bounds=bounds_of_text(asked.bounds),
            unit=asked.unit,
            outside=asked.outside,
            seed=certificate.seed,
        )
    if named.index >= len(pairs):
        raise InputError(f"{source} must have the pair [{named.index}] of the certificate; it has {len(pairs)}")
    return pairs[named.index]


def _lines(id: str, certificate: certificates.Certificate, found: certificates.Replay) -> Lines:
    from dpaudit.report.words.claims import claim_words
    from dpaudit.report.words.events import answer_words

    # Rounded down, as a lower bound, and never onto the claim that it exceeds.
    bound, certified = (
        significant(value, "down", digits=3, apart_from=found.epsilon)
        for value in (found.epsilon_lower, found.certified)
    )
    claim = f"{id} claims {claim_words(found.epsilon, found.delta)}"
    # Said first: without it the bound proves nothing, however large it is.
    if not found.neighbours:
        exceeds = ""
        if found.epsilon_lower > found.epsilon:
            exceeds = "the bound exceeds the claim, and it was "
        claim = f"{exceeds}not checked that the inputs are neighbours: give --relation, or --metric; {claim}"
    shown = f"shows ε ≥ {bound} on fresh runs ({percent(found.confidence)} sure); the certificate says {certified}"
    lines: Lines = [(found.verdict, f"{claim}, {shown}")]
    counts = found.counts
    if counts is not None:
        hits = f"{count(counts.hits)} of {count(counts.runs)} runs on one input"
        others = f"{count(counts.neighbour_hits)} of {count(counts.neighbour_runs)} on its neighbour"
        lines.append(("because", f'"{answer_words(certificate.event)}": {hits}, {others}'))
    if not found.values_checked:
        text = "values of the inputs, which the certificate does not hold; rows, columns and types are as it says"
        lines.append(("not checked", text))
    return [*lines, ("seed", str(found.seed))]
