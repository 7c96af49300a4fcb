"""The sum of a run: its rows, its ledger, and what is missing.

What the records amount to is decided in `engine.outcome`; every report format is a view of these rows, so that no two
of them can disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from dpaudit.contract import Verdict
from dpaudit.engine.findings import LedgerRow
from dpaudit.engine.outcome import outcome
from dpaudit.engine.records import Fault, Run
from dpaudit.report.numbers import plural
from dpaudit.report.row import Row
from dpaudit.report.rows import rows_of
from dpaudit.report.verdicts import unseen

__all__ = ["Summary", "learners_text", "summarise"]

_OPEN = (Verdict.FAILED, Verdict.INCOMPLETE)


@dataclass(frozen=True)
class Summary:
    """The rows of a run: the learners, the positive controls, what has no result, and the ledger.

    `pending` holds the planned tasks without a result, `errors` what those of them raised that failed, `faults` the
    learners for which no plan could be made; `done` tasks have a result.
    """

    learners: Sequence[Row]
    controls: Sequence[Row]
    pending: Sequence[str]
    ledger: Sequence[LedgerRow] = ()
    faults: Sequence[Fault] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    done: int = 0

    @property
    def violations(self) -> Sequence[Row]:
        """The learners (controls excluded) with a violation."""
        return [row for row in self.learners if row.verdict == Verdict.VIOLATION]

    @property
    def undecided(self) -> Sequence[Row]:
        """The learners whose utility is undecided."""
        return [row for row in self.learners if row.verdict == Verdict.UNDECIDED]

    @property
    def unfinished(self) -> Sequence[Row]:
        """The learners without a violation of which an audit failed or was not run."""
        return [row for row in self.learners if row.verdict in _OPEN]

    @property
    def without_evidence(self) -> Sequence[Row]:
        """The learners of whose privacy no audit could have seen that the claim fails."""
        return [row for row in self.learners if row.privacy_verdict == Verdict.NO_EVIDENCE]

    @property
    def vacuous(self) -> Sequence[Row]:
        """The learners whose claim of utility promises next to nothing."""
        return [row for row in self.learners if row.utility_verdict == Verdict.VACUOUS]

    @property
    def unseen(self) -> Sequence[Row]:
        """The learners whose black-box audit could not have seen that the claim fails."""
        return [row for row in self.learners if row.blackbox is not None and unseen(row.blackbox)]

    @property
    def convicted(self) -> Sequence[Row]:
        """The positive controls that an audit of privacy caught."""
        return [row for row in self.controls if row.convicted_by]

    @property
    def missed(self) -> Sequence[Row]:
        """The positive controls that none of their audits caught, all of which were made."""
        return [row for row in self.controls if not row.convicted_by and row.complete]

    @property
    def whole(self) -> bool:
        """Whether every learner could be planned and every planned task has a result."""
        return not self.pending and not self.faults


def learners_text(rows: Sequence[Row]) -> str:
    """Return how many learners the rows are about, and how many instances of them if these are more."""
    learners = len({row.learner for row in rows})
    told = plural(learners, "learner")
    return told if learners == len(rows) else f"{told} in {len(rows)} instances"


def summarise(run: Run) -> Summary:
    """Return the rows of a run, and what it adds up to."""
    found, rows = outcome(run), rows_of(run)
    results = sorted(run.results, key=attrgetter("index"))
    return Summary(
        learners=[row for row in rows if row.fault is None],
        controls=[row for row in rows if row.fault is not None],
        pending=found.missing,
        ledger=[result.finding for result in results if isinstance(result.finding, LedgerRow)],
        faults=found.faults,
        errors={failure.task: failure.error for failure in run.failures},
        done=len(results),
    )
