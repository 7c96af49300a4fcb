"""The ledger: every statement of the papers that computation can check, and the verdict on it.

Since `dpaudit.ledger` is the function, the package never binds this module under that name; ``from dpaudit.ledger
import LedgerFault`` reaches what else is in here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.engine.execute import Event, Listener, TaskFailed, TaskFinished, execute
from dpaudit.engine.findings import LedgerRow
from dpaudit.engine.tasks import ledger_task
from dpaudit.errors import InputError, ToolFault
from dpaudit.registry import load

__all__ = ["LedgerFault", "LedgerRow", "check_statements", "ledger"]


class LedgerFault(ToolFault):
    """Some checks raised, so that nothing is known of their statements.

    Attributes
    ----------
    rows : tuple of LedgerRow
        The statements whose checks ran.
    faults : dict of str to str
        Id of each other statement -> what its check raised.
    """

    def __init__(self, rows: tuple[LedgerRow, ...], faults: Mapping[str, str]) -> None:
        self.rows, self.faults = rows, dict(faults)
        told = "; ".join(f"{id}: {error}" for id, error in self.faults.items())
        super().__init__(f"{len(self.faults)} of {len(rows) + len(self.faults)} checks failed: {told}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel between processes: exceptions are rebuilt from their message otherwise."""
        return type(self), (self.rows, self.faults)


def ledger(ids: Sequence[str] | None = None, *, n_jobs: int = 1) -> tuple[LedgerRow, ...]:
    """Check statements of the papers and return the verdict on each.

    Parameters
    ----------
    ids : sequence of str, optional
        Which statements, in this order; by default all that are installed, sorted by id.
    n_jobs : int
        How many checks run at a time; -1 for one a processor. No verdict depends on it.

    Returns
    -------
    tuple of LedgerRow
        One for each statement: `id`, `statement`, `source`, `verdict` ("holds", "loose", "refuted" or "undecided"),
        `summary`, `numbers`, `grade` ("exact", "numeric" or "statistical") and, where refuted, `witness`.

    Raises
    ------
    InputError
        If an id is unknown (the message names the nearest) or `n_jobs` is 0, before anything runs.
    LedgerFault
        If checks raised: a `ToolFault` that names them, raised once all the others are done; `rows` holds those.

    Examples
    --------
    >>> [row.verdict for row in ledger(["NIS-ParityFailure"])]  # doctest: +SKIP
    ['refuted']
    """
    return check_statements(ids, n_jobs=n_jobs)


def check_statements(
    ids: Sequence[str] | None = None,
    *,
    n_jobs: int = 1,
    paths: tuple[str, ...] = (),
    listeners: Sequence[Listener] = (),
) -> tuple[LedgerRow, ...]:
    """Check statements as `ledger` does; those of the modules at `paths` too, telling `listeners` what happens."""
    if isinstance(ids, str):
        raise InputError(f"ids must be a sequence of statement ids, got the string {ids!r}", parameter="ids", value=ids)
    registry = load(paths)
    entries = registry.statements if ids is None else [registry.get_statement(id) for id in dict.fromkeys(ids)]
    tasks = [ledger_task(entry) for entry in entries]
    ended: dict[str, Event] = {}

    def keep(event: Event) -> None:
        if isinstance(event, TaskFinished | TaskFailed):
            ended[event.task] = event

    execute(tasks, seed=0, listeners=[keep, *listeners], paths=paths, n_jobs=n_jobs)
    faults, rows = {}, []
    for task in tasks:
        event = ended[task.key]
        if isinstance(event, TaskFailed):
            faults[task.learner] = event.error
        elif isinstance(event, TaskFinished):
            assert isinstance(event.record.finding, LedgerRow)
            rows.append(event.record.finding)
    if faults:
        raise LedgerFault(tuple(rows), faults)
    return tuple(rows)
