"""What a run's records add up to: the one place that decides which claims are refuted and which controls convicted.

Progress, exit status and every report are views of what stands here, so that no two of them can disagree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.engine.tasks import canonical

__all__ = ["AUDITS", "PRIVACY_AUDITS", "Outcome", "Record", "group", "outcome", "refutes", "refuting", "word"]

PRIVACY_AUDITS = ("exact", "privacy")
"""The kinds of audit that test a claim of privacy, and so can convict a positive control."""
AUDITS = (*PRIVACY_AUDITS, "utility")

Record = Mapping[str, Any]
Identity = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """What a run adds up to.

    Parameters
    ----------
    violations : tuple of str
        Tasks that refute the claim of a learner that is not broken on purpose.
    unconvicted : tuple of str
        Positive controls, one for each setting of their parameters, that no audit of privacy convicted, with none of
        their audits missing: the auditor, not the control, is at fault.
    missing : tuple of str
        Planned tasks without a finding.
    faults : tuple of str
        Learners for which no plan could be made, with the error.
    """

    violations: tuple[str, ...]
    unconvicted: tuple[str, ...]
    missing: tuple[str, ...]
    faults: tuple[str, ...] = ()

    @property
    def status(self) -> int:
        """The exit status: 2 if anything is missing or was never planned, else 1 if anything is wrong, else 0."""
        return 2 if self.missing or self.faults else int(bool(self.violations or self.unconvicted))


def refutes(record: Record) -> bool:
    """Say whether a record refutes the claim that it is about.

    A point of the ladder, below the theorem's n, cannot; nor can a claim of the ledger (that a paper errs is no
    violation by a learner) or a picture.
    """
    audit = record["kind"] in AUDITS and record["arguments"].get("role") != "ladder"
    return bool(audit and record["finding"]["verdict"] == "violation")


def refuting(records: Sequence[Record]) -> tuple[str, ...]:
    """Return the kinds of audit among the records that refute a claim, in the order of `AUDITS`."""
    found = {record["kind"] for record in records if refutes(record)}
    return tuple(kind for kind in AUDITS if kind in found)


def word(record: Record) -> str:
    """Return in a word what one record says.

    One of "violation", "undecided" and "consistent" (which includes "holds") for a learner's claim,
    "convicted" and "not convicted" for a positive control, "ladder" for a point below the theorem's n,
    "checked" for a claim of the ledger, "drawn" for a picture.
    """
    if record["kind"] in ("ledger", "picture"):
        return "checked" if record["kind"] == "ledger" else "drawn"
    if record["fault"] is not None:
        return "convicted" if _convicts([record]) else "not convicted"
    if record["arguments"].get("role") == "ladder":
        return "ladder"
    verdict = record["finding"]["verdict"]
    return "consistent" if verdict == "holds" else str(verdict)


def group(records: Sequence[Record]) -> dict[Identity, list[Record]]:
    """Return the audits' records by learner and parameters, in the order in which these first appear."""
    groups: dict[Identity, list[Record]] = {}
    for record in records:
        if record["kind"] in AUDITS:
            groups.setdefault((record["learner"], canonical(record["parameters"])), []).append(record)
    return groups


def outcome(run: Mapping[str, Any]) -> Outcome:
    """Return what a run, as `store.load_run` gives it, adds up to."""
    header, results = run["header"], run["results"]
    done = {record["task"] for record in results}
    controls = {key: records for key, records in group(results).items() if records[0]["fault"] is not None}
    missing = tuple(key for key in header["plan"] if key not in done)
    # A task's key begins with the learner: an audit that is missing may yet convict.
    open_to = {key.partition("/")[0] for key in missing}
    return Outcome(
        violations=tuple(r["task"] for r in results if r["fault"] is None and refutes(r)),
        unconvicted=tuple(
            sorted(id for (id, _), found in controls.items() if id not in open_to and not _convicts(found))
        ),
        missing=missing,
        faults=tuple(header.get("faults", ())),
    )


def _convicts(records: Sequence[Record]) -> bool:
    """Say whether an audit of privacy among the records convicts the control that they are about."""
    return any(kind in PRIVACY_AUDITS for kind in refuting(records))
