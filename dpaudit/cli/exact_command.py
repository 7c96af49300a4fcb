"""The command that computes an exact worst case."""

from __future__ import annotations

from dpaudit.cli.learners import note_taken
from dpaudit.cli.single_audit import audit, find_learner
from dpaudit.cli.verb import Given
from dpaudit.engine.arguments import ExactArguments
from dpaudit.engine.tasks import exact_task
from dpaudit.exact.composition import check_times
from dpaudit.exact.enclosure import require_exact_law

__all__ = ["command"]


def command(args: Given) -> int:
    """Compute one exact worst case and return the status."""
    if args.compose is not None:
        check_times(args.compose, "compose")
    entry, learner, parameters = find_learner(args)
    if args.enclosure:
        require_exact_law(learner)
    task = exact_task(
        entry,
        learner,
        parameters=parameters,
        n=args.n,
        relation=args.relation,
        crafted=True if args.samples else None,
        enclosure=args.enclosure,
        compose=args.compose,
    )
    taken = task.arguments
    assert isinstance(taken, ExactArguments)
    if args.n is None:
        note_taken(entry, {"n": taken.n})
    return audit(args, [task])
