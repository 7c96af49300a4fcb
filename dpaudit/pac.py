"""Private PAC learners: their audits, findings, pairs of samples, and the ledger of what papers claim of them.

The names are loaded on first use, as those of `dpaudit` are.
"""

from __future__ import annotations

from dpaudit import loading

TYPE_CHECKING = False  # as in `dpaudit.loading`
if TYPE_CHECKING:
    from dpaudit.contract import Distribution, Instance, Law, Learner, UtilityClaim
    from dpaudit.exact.audit import audit_law
    from dpaudit.exact.finding import LawFinding, SupremumFinding
    from dpaudit.exact.supremum import audit_supremum
    from dpaudit.neighbours.crafted import crafted_pairs
    from dpaudit.neighbours.random_samples import random_pairs
    from dpaudit.registry import get_learner, list_learners
    from dpaudit.registry.scaling import scaling_law
    from dpaudit.report.ledger import ledger
    from dpaudit.utility.audit import audit_utility
    from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding, UtilityFinding
    from dpaudit.utility.sample_complexity import sample_complexity

__all__ = [
    "Distribution", "Instance", "Law", "LawFinding", "Learner", "SampleComplexityFinding", "ScalingFinding",
    "SupremumFinding", "UtilityClaim", "UtilityFinding", "audit_law", "audit_supremum", "audit_utility",
    "crafted_pairs", "get_learner", "ledger", "list_learners", "random_pairs", "sample_complexity", "scaling_law",
]  # fmt: skip

_HOMES = {
    "contract": "Distribution Instance Law Learner UtilityClaim",
    "exact.audit": "audit_law",
    "exact.finding": "LawFinding SupremumFinding",
    "exact.supremum": "audit_supremum",
    "neighbours.crafted": "crafted_pairs",
    "neighbours.random_samples": "random_pairs",
    "registry": "get_learner list_learners",
    "registry.scaling": "scaling_law",
    "report.ledger": "ledger",
    "utility.audit": "audit_utility",
    "utility.finding": "SampleComplexityFinding ScalingFinding UtilityFinding",
    "utility.sample_complexity": "sample_complexity",
}

if not TYPE_CHECKING:  # so that type checkers report names that are not there

    def __getattr__(name: str) -> object:
        return loading.load(globals(), _HOMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
