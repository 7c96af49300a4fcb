"""The command that makes one black-box audit: of a learner, or of anybody's MODULE:FUNCTION."""

from __future__ import annotations

from msgspec.structs import replace

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import OPTIONS
from dpaudit.cli.certifying import certify, check_certificate
from dpaudit.cli.learners import note_taken
from dpaudit.cli.mechanism import audit_mechanism
from dpaudit.cli.report_files import check_suffix
from dpaudit.cli.single_audit import audit, find_learner, show
from dpaudit.cli.verb import Given
from dpaudit.contract import Relation
from dpaudit.engine.arguments import PrivacyArguments
from dpaudit.engine.records import Result
from dpaudit.engine.tasks import Task
from dpaudit.errors import InputError
from dpaudit.neighbours.named import is_source, pairs_of_source
from dpaudit.registry.import_spec import is_place

__all__ = ["command"]

def command(args: Given) -> int:
    """Make one black-box audit and return the status."""
    _check_design(args)
    check_certificate(args)
    relation = None if args.relation is None else Relation.parse(args.relation)
    asked = PrivacyArguments(**{name: getattr(args, name) for name in OPTIONS} | {"relation": relation})
    if is_place(args.id):
        check_suffix(args.out)
        result = audit_mechanism(args, asked)
        return show(args, [result], args.seed)
    if args.batched or (args.pairs is not None and not is_source(args.pairs)):
        raise InputError(
            f"--pairs and --batched are for FILE.py:function; the pairs of the learner {args.id} are crafted, or drawn "
            "by --pairs random:COUNT"
        )
    entry, learner, parameters = find_learner(args)
    if args.n is None:
        note_taken(entry, {"n": entry.instance.n})
    arguments = replace(asked, n=entry.instance.n if args.n is None else args.n)

    def then(result: Result) -> None:
        source = {"n": arguments.n, "relation": arguments.relation, "seed": args.seed}
        pairs = None if arguments.pairs is None else list(pairs_of_source(arguments.pairs, learner, **source))
        assert isinstance(result.finding, PrivacyFinding)
        certify(args, result.finding, learner, pairs, n=arguments.n, place=arguments.pairs or "crafted pairs")

    return audit(args, [Task(entry.id, parameters, arguments)], then=then)


def _check_design(args: Given) -> None:
    """Refuse options that the sequential design has no use for, rather than drop them in silence."""
    useless = [f"--{name}" for name in ("strict", "curve", "bound") if getattr(args, name)]
    if args.sequential and useless:
        raise InputError(f"{' and '.join(useless)} must be left out with --sequential, which bets instead of counting")
