"""dpaudit: statistical verification and audit of private learning.

The public names are loaded on first use, so that ``import dpaudit`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; the module `typing` costs more than all of this one
if TYPE_CHECKING:
    from typing import Any

    from dpaudit.audit.audit import audit_privacy
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.audit.probing import probe_of
    from dpaudit.contract import (
        Distribution,
        Instance,
        Law,
        Learner,
        Pair,
        PrivacyClaim,
        Relation,
        UtilityClaim,
    )
    from dpaudit.errors import DpauditError, InputError, ToolFault
    from dpaudit.exact.audit import audit_law
    from dpaudit.exact.finding import LawFinding, SupremumFinding
    from dpaudit.exact.supremum import audit_supremum
    from dpaudit.neighbours.crafted import crafted_pairs
    from dpaudit.neighbours.named import query_patterns
    from dpaudit.neighbours.own_data.files import read_dataset
    from dpaudit.neighbours.own_data.pairs import neighbours_of
    from dpaudit.neighbours.own_data.tables import register_dataset
    from dpaudit.neighbours.sampled import pairs_from_strategy, random_pairs
    from dpaudit.outputs.parts import register_flattener
    from dpaudit.registry import get_learner, list_learners
    from dpaudit.report.ledger import ledger
    from dpaudit.report.tables import to_frame
    from dpaudit.utility.audit import audit_utility
    from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding, UtilityFinding
    from dpaudit.utility.sample_complexity import sample_complexity
    from dpaudit.utility.scaling import scaling_law

__version__ = "0.1.0"

_HOMES = {
    "Distribution": "contract",
    "DpauditError": "errors",
    "Instance": "contract",
    "InputError": "errors",
    "Law": "contract",
    "LawFinding": "exact.finding",
    "Learner": "contract",
    "Pair": "contract",
    "PrivacyClaim": "contract",
    "PrivacyFinding": "audit.finding",
    "Relation": "contract",
    "SampleComplexityFinding": "utility.finding",
    "ScalingFinding": "utility.finding",
    "SupremumFinding": "exact.finding",
    "ToolFault": "errors",
    "UtilityClaim": "contract",
    "UtilityFinding": "utility.finding",
    "audit_law": "exact.audit",
    "audit_privacy": "audit.audit",
    "audit_supremum": "exact.supremum",
    "audit_utility": "utility.audit",
    "crafted_pairs": "neighbours.crafted",
    "get_learner": "registry",
    "ledger": "report.ledger",
    "list_learners": "registry",
    "neighbours_of": "neighbours.own_data.pairs",
    "pairs_from_strategy": "neighbours.sampled",
    "probe_of": "audit.probing",
    "query_patterns": "neighbours.named",
    "random_pairs": "neighbours.sampled",
    "read_dataset": "neighbours.own_data.files",
    "register_dataset": "neighbours.own_data.tables",
    "register_flattener": "outputs.parts",
    "sample_complexity": "utility.sample_complexity",
    "scaling_law": "utility.scaling",
    "to_frame": "report.tables",
}

__all__ = [
    "Distribution",
    "DpauditError",
    "InputError",
    "Instance",
    "Law",
    "LawFinding",
    "Learner",
    "Pair",
    "PrivacyClaim",
    "PrivacyFinding",
    "Relation",
    "SampleComplexityFinding",
    "ScalingFinding",
    "SupremumFinding",
    "ToolFault",
    "UtilityClaim",
    "UtilityFinding",
    "audit_law",
    "audit_privacy",
    "audit_supremum",
    "audit_utility",
    "crafted_pairs",
    "get_learner",
    "ledger",
    "list_learners",
    "neighbours_of",
    "pairs_from_strategy",
    "probe_of",
    "query_patterns",
    "random_pairs",
    "read_dataset",
    "register_dataset",
    "register_flattener",
    "sample_complexity",
    "scaling_law",
    "to_frame",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"dpaudit.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
