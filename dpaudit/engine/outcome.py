"""What a run's findings add up to: which claims are violated, which controls were missed, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Outcome", "outcome", "word"]


@dataclass(frozen=True)
class Outcome:
    """What a run adds up to.

    Parameters
    ----------
    violations : tuple of str
        Tasks that refute the claim of a learner that is not broken on purpose.
    unconvicted : tuple of str
        Positive controls that no audit convicted: the auditor, not the control, is at fault.
    missing : tuple of str
        Planned tasks without a finding.
    """

    violations: tuple[str, ...]
    unconvicted: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def status(self) -> int:
        """The exit status: 2 if anything is missing, else 1 if anything is wrong, else 0."""
        return 2 if self.missing else int(bool(self.violations or self.unconvicted))


def word(record: Mapping[str, Any]) -> str:
    """Return in a word what one record says.

    One of "violation", "undecided" and "consistent" (which includes "holds") for a learner's claim,
    "convicted" and "not convicted" for a positive control, "ladder" for a point below the theorem's n, which
    cannot refute it, "checked" for a claim of the ledger: that a paper errs is no violation by a learner.
    """
    verdict = record["finding"]["verdict"]
    if record.get("kind") == "ledger":
        return "checked"
    if record["fault"] is not None:
        return "convicted" if verdict == "violation" else "not convicted"
    if record["arguments"].get("role") == "ladder":
        return "ladder"
    return "consistent" if verdict == "holds" else str(verdict)


def outcome(run: Mapping[str, Any]) -> Outcome:
    """Return what a run, as `store.load_run` gives it, adds up to."""
    results = run["results"]
    done = {record["task"] for record in results}
    controls = {r["learner"]: False for r in results if r["fault"] is not None}
    for record in results:
        if word(record) == "convicted":
            controls[record["learner"]] = True
    return Outcome(
        violations=tuple(r["task"] for r in results if word(r) == "violation"),
        unconvicted=tuple(sorted(name for name, convicted in controls.items() if not convicted)),
        missing=tuple(key for key in run["header"]["plan"] if key not in done),
    )
