"""``dpaudit privacy``: a black-box audit of a learner, or of any function in a file or a module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.audit.options import OPTIONS, RUNNING
from dpaudit.cli.audits import Chosen, check_out, find_learner, note_taken, show
from dpaudit.cli.command import command
from dpaudit.cli.options import Declared, Seed, Shown, given, jobs
from dpaudit.cli.streams import pending
from dpaudit.errors import InputError, blamed

if TYPE_CHECKING:
    from dpaudit.engine.arguments import PrivacyArguments
    from dpaudit.engine.records import Result
    from dpaudit.registry.import_spec import Place

__all__ = ["privacy"]


_Audit = Annotated[dict[str, Any], Declared(tuple(name for name in OPTIONS if name != "n"))]


@command("privacy", "dpaudit privacy mean.py:mean --epsilon 1")
def privacy(
    learner: Chosen,
    audit: _Audit,
    seed: Seed,
    n_jobs: Annotated[int, jobs("processes", 1)],
    certificate: Annotated[
        str | None,
        given(
            "write the certificate of a violation too, with the pair and the event made simpler (default: none)",
            metavar="FILE",
        ),
    ],
    shown: Shown,
) -> int:
    """Run a mechanism on pairs of neighbouring inputs and test whether its privacy claim can be true.

    The event that tells the inputs of a pair apart best is chosen on some of the runs, and epsilon is bounded from
    below on fresh runs. A bound above the claim is a violation. Otherwise the claim is consistent with these runs,
    which would have shown a leak of the stated size; or there is no evidence, where they could not have shown one, for
    the reason given. ID is FILE.py:function or MODULE:function, a function (data, rng) -> output, on the list PAIRS of
    (data, neighbour) beside it or on --pairs; or a learner of `dpaudit list`, on crafted samples.
    """
    from msgspec.structs import replace

    from dpaudit.contract import Relation
    from dpaudit.engine.arguments import PrivacyArguments
    from dpaudit.engine.perform import perform
    from dpaudit.engine.tasks import Task
    from dpaudit.neighbours.named import is_source
    from dpaudit.registry.import_spec import is_place

    useless = [f"--{name}" for name in ("strict", "curve", "bound") if audit[name]]
    if audit["sequential"] and useless:
        raise InputError(f"{' and '.join(useless)} must be left out with --sequential, which bets instead of counting")
    if certificate is not None and not Path(certificate).parent.is_dir():
        raise InputError.of("certificate", certificate, "a file in a folder that exists")
    check_out(shown.out)
    relation = None if audit["relation"] is None else Relation.parse(audit["relation"])
    asked = PrivacyArguments(**audit | {"n": learner.n, "relation": relation})
    runs = _Runs(seed, n_jobs, not shown.quiet, certificate)
    if is_place(learner.id):
        return show([_audit_mechanism(learner, asked, runs)], seed, shown)
    if asked.batched or (asked.pairs is not None and not is_source(asked.pairs)):
        raise InputError(
            f"--pairs and --batched are for FILE.py:function; the pairs of the learner {learner.id} are crafted, or "
            "drawn by --pairs random:COUNT"
        )
    entry, built, parameters = find_learner(learner.id, learner.parameter, shown.learners)
    if learner.n is None:
        note_taken(entry, {"n": entry.instance.n})
        asked = replace(asked, n=entry.instance.n)
    with blamed(f"the audit of {entry.id}"):
        result = perform(
            Task(entry.id, parameters, asked), seed=seed, paths=shown.learners, n_jobs=n_jobs, progress=runs.progress
        )
    pairs = _pairs(asked, None, built, seed)
    _certify(asked, runs, result, built, pairs, n=asked.n, place=asked.pairs or "crafted pairs")
    return show([result], seed, shown)


class _Runs(NamedTuple):
    """The root seed, the processes, whether progress is shown, and the certificate that was asked for."""

    seed: int
    n_jobs: int
    progress: bool
    certificate: str | None


def _audit_mechanism(named: Chosen, arguments: PrivacyArguments, runs: _Runs) -> Result:
    """Audit a function or a learner that was named by its place; the result is as `engine.perform` returns it."""
    from msgspec.structs import asdict, replace

    from dpaudit.arguments import check_built
    from dpaudit.audit.audit import audit_privacy
    from dpaudit.contract import Learner
    from dpaudit.engine.records import Result
    from dpaudit.engine.tasks import Task
    from dpaudit.neighbours.named import is_source, is_strategy, pairs_beside
    from dpaudit.neighbours.own_data.columns import bounds_of_text
    from dpaudit.neighbours.own_data.files import read_dataset
    from dpaudit.registry.import_spec import Place, importable

    if named.parameter:
        raise InputError(f"-p is for learners of the registry; {named.id} takes none")
    place = Place.parse("the mechanism", named.id)
    given = None if arguments.pairs is None or is_source(arguments.pairs) else Place.parse("--pairs", arguments.pairs)
    with importable(place.folder, *([given.folder] if given else [])):
        mechanism = place.find()
        check_built(mechanism, named.id)
        learner = mechanism if isinstance(mechanism, Learner) else None
        if learner is None:
            _check_plain(named, mechanism)
            if arguments.pairs is None and arguments.data is None:
                given = pairs_beside(place, "--pairs")
                arguments = replace(arguments, pairs=f"{given.source}:{given.name}")
        chosen = asdict(arguments)
        chosen["pairs"] = _pairs(arguments, given, mechanism, runs.seed)
        if chosen["pairs"] is not None:
            del chosen["n"]  # they are of n examples already
        if arguments.data is not None:
            chosen["data"] = read_dataset(arguments.data)
        chosen["bounds"] = bounds_of_text(arguments.bounds)
        finding = audit_privacy(mechanism, **chosen, seed=runs.seed, n_jobs=runs.n_jobs, progress=runs.progress)
        claim = None if learner is None else learner.privacy
        key = Task(named.id, {}, arguments).key
        result = Result(task=key, learner=named.id, parameters={}, arguments=arguments, finding=finding, claim=claim)
        _certify(
            arguments, runs, result, mechanism, _certified(runs, chosen), name=named.id,
            strategy=given.find() if given and is_strategy(given.find()) else None, n=None if given else named.n,
            place=arguments.data or arguments.pairs or "crafted pairs",
        )  # fmt: skip
    return result


def _check_plain(named: Chosen, mechanism: Any) -> None:
    """Refuse what is no function, and the options of learners; the audit itself checks how it can be called."""
    if not callable(mechanism):
        raise InputError(f"{named.id} must be a function (data, rng) -> output, got {mechanism!r:.100}")
    if named.n is not None:
        raise InputError(f"--n is for learners, whose samples are crafted; {named.id} gets the pairs given")


def _pairs(arguments: PrivacyArguments, place: Place | None, mechanism: Any, seed: int) -> list[Any] | None:
    """Return the pairs: those at a place, those of a source such as random:50; None for a learner's crafted ones."""
    from dpaudit.neighbours.named import pairs_at, pairs_of_source

    if place is not None:
        return pairs_at(place, seed)
    if arguments.pairs is None:
        return None
    return list(pairs_of_source(arguments.pairs, mechanism, n=arguments.n, relation=arguments.relation, seed=seed))


def _certified(runs: _Runs, chosen: Mapping[str, Any]) -> Any:
    """Return the pairs that were audited; those made of data are made again if a certificate is asked for."""
    from dpaudit.contract import Relation
    from dpaudit.neighbours.own_data.pairs import neighbours_of

    if runs.certificate is None or chosen["data"] is None:
        return chosen["pairs"]
    relation = chosen["relation"] or Relation.ADD_REMOVE_ONE
    return neighbours_of(chosen["data"], relation, bounds=chosen["bounds"], unit=chosen["unit"], seed=runs.seed)


def _certify(
    arguments: PrivacyArguments, runs: _Runs, result: Result, mechanism: Any, pairs: Any, **about: Any
) -> None:
    """Write the certificate that was asked for, if the finding is a violation; a note says which file has it."""
    from dpaudit import certificates
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.certificates.certificate import Referred
    from dpaudit.contract import Verdict

    path, finding = runs.certificate, result.finding
    assert isinstance(finding, PrivacyFinding)
    if path is None:
        return
    if finding.verdict != Verdict.VIOLATION:
        pending.append("no violation was found, so no certificate is written")
        return
    made = certificates.make(
        finding,
        pairs,
        mechanism=mechanism,
        float_bits=arguments.float_bits,
        n_jobs=runs.n_jobs,
        include_data=arguments.include_data,
        progress=runs.progress,
        **{name: getattr(arguments, name) for name in RUNNING} | about,
    )
    made.write(path)
    checked = f"python -m dpaudit.verify_certificate {path}"
    named = isinstance(made.data, Referred) or isinstance(made.neighbour, Referred)
    data = arguments.data
    again = f"; it names its inputs by recipe and digest: replay with --data {data}" if named and data else ""
    pending.append(f"the certificate {path} shows epsilon >= {made.epsilon_lower:.3g}; check it by {checked}{again}")
