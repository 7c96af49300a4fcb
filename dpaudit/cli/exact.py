"""``dpaudit exact`` and ``dpaudit supremum``: the worst case by exact output laws."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from dpaudit.cli.audits import Chosen, audit, check_out, find_learner, note_taken, show_measured
from dpaudit.cli.command import command
from dpaudit.cli.options import (
    DRAWN,
    Color,
    Json,
    Learners,
    Parameters,
    Quiet,
    Relation,
    Shown,
    ShownOut,
    Verbose,
    argument,
    given,
)
from dpaudit.errors import blamed

__all__ = ["exact", "supremum"]


@command("exact", "dpaudit exact parity-private -p dimension=2 -p epsilon=1 --n 3")
def exact(
    learner: Chosen,
    relation: Relation,
    samples: Annotated[
        bool,
        given("crafted pairs only, for domains too large to list (default: all samples of n)", names=("--crafted",)),
    ],
    enclosure: Annotated[
        bool,
        given(
            "enclose the worst epsilon in ball arithmetic; needs the extra `exact` (default: an a-priori error)",
            names=("--enclose",),
        ),
    ],
    compose: Annotated[
        int | None,
        given(
            "bound what K runs on one sample cost too: epsilon by delta and delta by epsilon (default: one run)",
            metavar="K",
        ),
    ],
    shown: Shown,
) -> int:
    """Compute the worst-case epsilon of a learner from its exact output law.

    Takes the law on all samples of n examples and on all their neighbours. Without --n it takes the n of the learner's
    example, and crafted samples only where all cannot be listed. Needs a learner with a law. --enclose recomputes the
    losses that decide in ball arithmetic; --compose K bounds the privacy of K runs, from above by the dominating pair
    and from below by single pairs of neighbours.
    """
    from dataclasses import replace

    from dpaudit.engine.arguments import ExactArguments
    from dpaudit.engine.tasks import exact_task
    from dpaudit.exact.composition import check_times
    from dpaudit.exact.enclosure import require_exact_law

    if compose is not None:
        check_times(compose, "compose")
    entry, built, parameters = find_learner(learner.id, learner.parameter, shown.learners)
    if enclosure:
        require_exact_law(built)
    instance = replace(entry.instance, parameters=parameters)
    task = exact_task(
        built, instance, n=learner.n, relation=relation, crafted=samples, enclosure=enclosure, compose=compose
    )
    assert isinstance(task.arguments, ExactArguments)
    if learner.n is None:
        note_taken(entry, {"n": task.arguments.n})
    return audit([task], shown)


class Search(NamedTuple):
    """The search: its climbs, and the samples that it visits."""

    starts: Annotated[int, given("climbs from random samples", default=8)]
    evaluations: Annotated[int, given("steps of a climb", default=250)]
    most: Annotated[int, given("distinct examples in a sample", default=4)]
    relation: Relation
    seed: Annotated[int, given("root of the search's randomness", default=0)]


class ShownSupremum(NamedTuple):
    """The options on what is shown."""

    json: Json
    out: ShownOut
    verbose: Verbose
    quiet: Quiet
    color: Color
    learners: Learners


@command("supremum", "dpaudit supremum conjunction-greedy -p dimension=2 -p k=2 -p epsilon=1")
def supremum(id: Annotated[str, argument("ID")], parameter: Parameters, search: Search, shown: ShownSupremum) -> int:
    """Search the greatest privacy loss of a learner over samples of every size.

    A maximum over all samples of a few examples can be far below it. The search climbs over weighted samples, follows
    rays of ever more copies of an example (to their exact limit if the learner has one), and takes the learner's closed
    form unless the search refutes it. The value is proved, a limit or a lower bound. Needs a learner with a law.
    """
    from dpaudit.contract import Verdict
    from dpaudit.exact.supremum import audit_supremum
    from dpaudit.report.repeat import command_line

    check_out(shown.out, DRAWN)
    entry, learner, parameters = find_learner(id, parameter, shown.learners)
    options = search._asdict()
    with blamed(f"the audit of {entry.id}"):
        finding = audit_supremum(learner, **options, progress=not shown.quiet)
    repeat = command_line("supremum", entry.id, parameters, options, shown.learners)
    data = {"learner": entry.id, "parameters": parameters, "finding": finding.to_dict(), "command": repeat}
    verdict = Verdict.VIOLATION if finding.proof_refuted else finding.verdict
    title = f"dpaudit: the supremum of {entry.id}"
    show_measured(finding, entry.id, repeat, shown, data, title=title, verdict=verdict)
    return verdict.status
