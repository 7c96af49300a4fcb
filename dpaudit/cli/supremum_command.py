"""The command that searches a supremum."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit.cli.single_audit import find_learner
from dpaudit.cli.streams import output, say, wants_color, width_of
from dpaudit.cli.verb import Given
from dpaudit.contract import PrivacyVerdict
from dpaudit.engine.files import keep_foreign, write_atomically
from dpaudit.engine.tasks import canonical
from dpaudit.errors import InputError, blamed
from dpaudit.exact.supremum.audit import audit_supremum
from dpaudit.exact.supremum.finding import SupremumFinding
from dpaudit.reporters.aligned import laid_out
from dpaudit.reporters.repeat import command_line
from dpaudit.reporters.supremum import supremum_brief, supremum_lines
from dpaudit.reporters.verdict_block import aligned

__all__ = ["command"]

_FORMS = (".json", ".txt")


def command(args: Given) -> int:
    """Search one supremum and return the status: 1 if the claim, or the learner's closed form, is refuted."""
    out = None if args.out is None else _place(args.out)
    entry, learner, parameters = find_learner(args)
    options = {name: getattr(args, name) for name in ("starts", "evaluations", "most", "relation", "seed")}
    with blamed(f"the audit of {entry.id}"):
        finding = audit_supremum(learner, **options, progress=not args.quiet)
    repeat = command_line("supremum", entry.id, parameters, options, args.learners)
    told = {"learner": entry.id, "parameters": parameters, "finding": finding.to_dict(), "command": repeat}
    if args.json:
        say(f"{canonical(told)}\n")
    else:
        lines = supremum_brief(finding, entry.id, repeat=repeat)
        say(laid_out(lines, width_of(output()), wants_color(args.color)))
        if args.verbose:
            say("\n" + _page(finding, entry.id, repeat))
    if out is not None:
        keep_foreign(out)
        write_atomically(out, _written(out.suffix, told, finding, entry.id, repeat).encode())
    return 1 if finding.verdict is PrivacyVerdict.VIOLATION or finding.proof_refuted else 0


def _place(path: str) -> Path:
    """Return where to write; `InputError` for an unknown form or a folder that is not there, before anything runs."""
    place = Path(path)
    if place.suffix.lower() not in _FORMS:
        raise InputError.of("out", path, f"a file that ends in {', '.join(_FORMS)}")
    if not place.parent.is_dir():
        raise InputError.of("out", path, "a file in a folder that exists")
    return place


def _page(finding: SupremumFinding, name: str, repeat: str) -> str:
    return aligned([("learner", name), *supremum_lines(finding), ("repeat", repeat)])


def _written(suffix: str, told: Mapping[str, Any], finding: SupremumFinding, name: str, repeat: str) -> str:
    return f"{canonical(told)}\n" if suffix.lower() == ".json" else _page(finding, name, repeat)
