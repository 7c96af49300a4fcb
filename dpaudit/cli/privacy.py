"""``dpaudit privacy``: a black-box audit of a learner, or of any function in a file or a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
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
        given("write the certificate of a violation too, with the pair and the event made simpler", metavar="FILE"),
    ],
    shown: Shown,
) -> int:
    """Run a mechanism on pairs of neighbouring inputs and test whether its privacy claim can be true.

    The event that distinguishes the inputs of a pair best is chosen on some of the runs, and epsilon is bounded from
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
    from dpaudit.neighbours.named import is_source, pairs_of_source
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
        task = Task(entry.id, parameters, asked)
        result = perform(task, seed=seed, paths=shown.learners, n_jobs=n_jobs, progress=runs.progress)
    source = partial(pairs_of_source, str(asked.pairs), built, n=asked.n, relation=asked.relation, seed=seed)
    pairs = source if asked.pairs else lambda: None
    _certify(asked, runs, result, built, pairs, n=asked.n, place=asked.pairs or "crafted pairs")
    return show([result], seed, shown)


class _Runs(NamedTuple):
    """The root seed, the processes, whether progress is shown, and the certificate that was asked for."""

    seed: int
    n_jobs: int
    progress: bool
    certificate: str | None


def _audit_mechanism(named: Chosen, asked: PrivacyArguments, runs: _Runs) -> Result:
    """Audit a function or a learner that was named by its place; the result is as `engine.perform` returns it."""
    from msgspec.structs import asdict, replace

    from dpaudit.audit.audit import audit_privacy
    from dpaudit.engine.records import Result
    from dpaudit.engine.tasks import Task
    from dpaudit.neighbours.named import is_strategy
    from dpaudit.project.settings import Audit
    from dpaudit.project.subject import subject_of

    if named.parameter:
        raise InputError(f"-p is for learners of the registry; {named.id} takes none")
    audit = Audit(name=named.id, mechanism=named.id, seed=runs.seed, **asdict(asked))
    with subject_of(audit, Path(), ("the mechanism", "--pairs")) as subject:
        asked = replace(asked, pairs=subject.source)
        finding = audit_privacy(subject.mechanism, **subject.arguments, n_jobs=runs.n_jobs, progress=runs.progress)
        claim = None if subject.learner is None else subject.learner.privacy
        key = Task(named.id, {}, asked).key
        result = Result(task=key, learner=named.id, parameters={}, arguments=asked, finding=finding, claim=claim)
        given = subject.place.find() if subject.place else None
        about = {"strategy": given if is_strategy(given) else None, "n": named.n if subject.place is None else None}
        place = asked.data or asked.pairs or "crafted pairs"
        pairs = subject.pairs if asked.data else lambda: subject.arguments.get("pairs")
        _certify(asked, runs, result, subject.mechanism, pairs, name=named.id, place=place, **about)
    return result


def _certify(
    arguments: PrivacyArguments,
    runs: _Runs,
    result: Result,
    mechanism: Any,
    pairs: Callable[[], Sequence[Any] | None],
    **about: Any,
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
    about |= {name: getattr(arguments, name) for name in (*RUNNING, "float_bits", "include_data")}
    made = certificates.make(finding, pairs(), mechanism=mechanism, n_jobs=runs.n_jobs, progress=runs.progress, **about)
    made.write(path)
    checked = f"python -m dpaudit.verify_certificate {path}"
    named = isinstance(made.data, Referred) or isinstance(made.neighbour, Referred)
    data = arguments.data
    again = f"; it names its inputs by recipe and digest: replay with --data {data}" if named and data else ""
    pending.append(f"the certificate {path} shows epsilon >= {made.epsilon_lower:.3g}; check it by {checked}{again}")
