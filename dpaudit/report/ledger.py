"""The ledger: every statement of the papers that computation can check, and the verdict on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Self, TextIO

from dpaudit.audit.options import Options
from dpaudit.contract import ACCUSATIONS, OF_STATEMENTS, Part, StatementVerdict, Survives
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.execute import Progress, execute
from dpaudit.evidence.records import Failure, LedgerRow, Result
from dpaudit.evidence.tasks import ledger_task
from dpaudit.registry import load
from dpaudit.report.numbers import counted, plural
from dpaudit.report.terminal import WIDTH, Head, style_of, table

_HEADS = (
    Head("verdict", "word"),
    Head("statement", "name"),
    Head("evidence", "word"),
    Head("what it says, and what was found", "text"),
)


class LedgerFault(ToolFault):
    """Some checks raised, so that nothing is known of their statements.

    `rows` are the statements whose checks ran; `faults` has the id of each other one with what its check raised.
    """

    def __init__(self, rows: tuple[LedgerRow, ...], faults: Mapping[str, str]) -> None:
        self.rows = rows
        self.faults = dict(faults)
        words = "; ".join(f"{id}: {error}" for id, error in self.faults.items())
        super().__init__(f"{len(self.faults)} of {len(rows) + len(self.faults)} checks failed: {words}")

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[LedgerRow, ...], dict[str, str]]]:
        """Let the error travel between processes: exceptions are rebuilt from their message otherwise."""
        return type(self), (self.rows, self.faults)


def ledger(
    ids: Sequence[str] | None = None, *, n_jobs: int = 1, time_limit: float | None = None
) -> tuple[LedgerRow, ...]:
    """Check statements of the papers and return the verdict on each.

    Parameters
    ----------
    ids : sequence of str, optional
        Which statements, in this order; by default all that are installed, sorted by id.
    n_jobs : int
        How many checks run at a time; -1 for one a processor. No verdict depends on it.
    time_limit : float, optional
        Seconds that each check may take. One that takes longer is undecided, and its row says in which part it was.

    Returns
    -------
    tuple of LedgerRow
        One for each statement: `id`, `statement`, `source`; `verdict`, its class ("false", "gap", "misprint", "edge
        case", "loose", "holds", "undecided" or "derived"); `summary`, `numbers`, `grade` ("exact", "numeric" or
        "statistical"); `place`, `formula` and `conditions` as printed, whose `constants` were checked, whether the
        theorem `survives`, the `argument`, the `part` of the ledger; what is `printed` and `found` and the `best`
        constant known; the instance that decides as `witness_data`, in words as `witness` where it contradicts; and
        `repeat`, the command that makes the row again.

    Raises
    ------
    InputError
        If an id is unknown (the message names the nearest) or `n_jobs` is 0, before anything runs.
    LedgerFault
        If checks raised: a `ToolFault` that names them, raised once all the others are done; `rows` holds those.

    Examples
    --------
    >>> [row.verdict for row in ledger(["NIS-ParityFailure"])]  # doctest: +SKIP
    ['loose']
    """
    return check_statements(ids, n_jobs=n_jobs, time_limit=time_limit)


def check_statements(
    ids: Sequence[str] | None = None,
    *,
    n_jobs: int = 1,
    time_limit: float | None = None,
    paths: tuple[str, ...] = (),
    progress: TextIO | None = None,
) -> tuple[LedgerRow, ...]:
    """Check statements as `ledger` does; those of the modules at `paths` too; the progress goes to a stream."""
    # A text is a sequence of texts as well: each of its letters would be an unknown id.
    if isinstance(ids, str):
        raise InputError(f"ids must be a sequence of statement ids, got the string {ids!r}", parameter="ids", value=ids)
    Options.time_limit.read(time_limit)
    registry = load(paths)
    statements = registry.statements
    if ids is not None:
        statements = tuple(registry.get_statement(id) for id in dict.fromkeys(ids))
    tasks = [ledger_task(statement, time_limit) for statement in statements]
    ended: dict[str, Result | Failure] = {}
    records = execute(tasks, seed=0, paths=paths, n_jobs=n_jobs)
    with Progress(progress, len(tasks), noun="checks") as show, closing(records):
        for record in records:
            ended[record.task] = record
            show(record)
    found = [ended[task.key] for task in tasks]
    rows = tuple(r.finding for r in found if isinstance(r, Result) and isinstance(r.finding, LedgerRow))
    # All others have run by now, and the error has their rows.
    if faults := {record.learner: record.error for record in found if isinstance(record, Failure)}:
        raise LedgerFault(rows, faults)
    return rows


def class_counts(rows: Sequence[LedgerRow], part: Part = Part.PAPERS) -> dict[StatementVerdict, int]:
    """Return how many statements of a part are of each class, without classes of which there are none."""
    found = Counter(row.verdict for row in rows if row.part == part)
    return {verdict: found[verdict] for verdict in OF_STATEMENTS if found[verdict]}


# The parts of the ledger, in words that follow a number of statements.
PARTS = {Part.PAPERS: "of papers", Part.OURS: "of ours", Part.AUDITOR: "to test the auditor"}


def counts_text(rows: Sequence[LedgerRow]) -> str:
    """Return the counts as "4 statements of papers checked: 1 false, 2 loose, 1 holds; 1 of ours: 1 holds"."""
    parts = []
    for part, words in PARTS.items():
        found = class_counts(rows, part)
        classes = ", ".join(counted(verdict, n) for verdict, n in found.items())
        total = sum(found.values())
        if part == Part.PAPERS:
            parts.append(f"{plural(total, 'statement')} {words} checked" + f": {classes}" * bool(classes))
        elif total:
            parts.append(f"{total} {words}: {classes}")
    return "; ".join(parts)


def place_words(row: LedgerRow) -> list[str]:
    """Return where a statement stands and as what, and what follows from a contradiction."""
    words = []
    if row.formula:
        words = [f"{row.place}: {row.formula}"]
    if row.conditions:
        words += [f"if {row.conditions}"]
    if row.verdict in ACCUSATIONS:
        words += [f"why: {row.argument}", _SURVIVES[row.survives]]
    return words


MEANINGS = {
    StatementVerdict.FALSE: "as printed and with its conditions, an instance contradicts it",
    StatementVerdict.GAP: "a step of a proof does not follow; what is proved may hold",
    StatementVerdict.MISPRINT: "a slip: the source has it right elsewhere, or needs it otherwise in the next line",
    StatementVerdict.EDGE_CASE: "it fails only in a case that the source plainly leaves out",
    StatementVerdict.LOOSE: "true, and a constant that is printed is far from the truth, by the factor shown",
    StatementVerdict.HOLDS: "no computation contradicts it, on the cases that the row names",
    StatementVerdict.UNDECIDED: "what was computed does not contradict it, and shows nothing of other cases",
    StatementVerdict.DERIVED: (
        "the source has O(.), Θ(.) or Ω(.); no computation contradicts it with constants that are ours"
    ),
    StatementVerdict.REFUTED: "an instance contradicts it; no class was judged, or there were none when it was made",
}
"""The meanings of the classes of statements, for the page of the theorems and the report of a run."""
_SURVIVES = {
    Survives.YES: "the theorem survives",
    Survives.NO: "the theorem does not survive as it is printed",
    Survives.UNKNOWN: "whether the theorem survives is not known",
    Survives.NOT_APPLICABLE: "",
}


def ledger_table(rows: Sequence[LedgerRow], color: bool = False, width: int = WIDTH) -> str:
    """Return statements as a table, with ANSI escapes if `color`; empty without statements."""

    def words(row: LedgerRow) -> tuple[str, ...]:
        """Return the statement, and on lines of their own what was found, the witness and the best constant known."""
        parts = [row.statement, *place_words(row), f"-> {row.summary}"]
        parts += [f"witness: {row.witness}"] * bool(row.witness) + [f"best known: {row.best}"] * bool(row.best)
        return tuple(" ".join(part.split()) for part in parts)

    if not rows:
        return ""
    cells = [(row.word, row.id, str(row.grade), words(row)) for row in rows]
    styles = [style_of(row.verdict) for row in rows]
    return "\n".join(table(_HEADS, cells, styles, width, color)) + "\n"
