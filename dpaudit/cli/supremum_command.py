"""The command that searches a supremum."""

from __future__ import annotations

from dpaudit.cli.single_audit import find_learner
from dpaudit.cli.text_output import check_plain, show_plain, write_plain
from dpaudit.cli.verb import Given
from dpaudit.contract import Verdict
from dpaudit.engine.tasks import canonical
from dpaudit.errors import blamed
from dpaudit.exact.finding import SupremumFinding
from dpaudit.exact.supremum import audit_supremum
from dpaudit.report.aligned import Lines, aligned
from dpaudit.report.ci import Promise
from dpaudit.report.measured import supremum_brief, supremum_lines
from dpaudit.report.plain import Plain, summed
from dpaudit.report.plots import as_svg
from dpaudit.report.repeat import command_line

__all__ = ["command"]


def command(args: Given) -> int:
    """Search one supremum and return the status: 1 if the claim, or the learner's closed form, is refuted."""
    check_plain(args.out, ".xml", ".svg")
    entry, learner, parameters = find_learner(args)
    options = {name: getattr(args, name) for name in ("starts", "evaluations", "most", "relation", "seed")}
    with blamed(f"the audit of {entry.id}"):
        finding = audit_supremum(learner, **options, progress=not args.quiet)
    repeat = command_line("supremum", entry.id, parameters, options, args.learners)
    told = canonical({"learner": entry.id, "parameters": parameters, "finding": finding.to_dict(), "command": repeat})
    brief, page = supremum_brief(finding, entry.id, repeat=repeat), _page(finding, entry.id, repeat)
    show_plain(args, f"{told}\n", brief, page)
    status = 1 if finding.verdict is Verdict.VIOLATION or finding.proof_refuted else 0
    write_plain(
        args.out,
        lambda: Plain(
            f"dpaudit: the supremum of {entry.id}",
            json=f"{told}\n",
            text=aligned(page),
            lines=[brief[0], *page],
            case=Promise(entry.id, "result", Verdict.VIOLATION if status else finding.verdict, summed(brief)),
            figure=lambda: as_svg(finding.plot()),
        ),
    )
    return status


def _page(finding: SupremumFinding, name: str, repeat: str) -> Lines:
    return [("learner", name), *supremum_lines(finding), ("repeat", repeat)]
