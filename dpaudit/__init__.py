"""dpaudit: statistical verification and audit of private learning.

The public names are loaded on first use, so that ``import dpaudit`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; the module `typing` costs more than all of this one
if TYPE_CHECKING:
    from typing import Any

    from dpaudit.audit.audit import audit_privacy as audit_privacy
    from dpaudit.audit.finding import PrivacyFinding as PrivacyFinding
    from dpaudit.audit.probing import probe_of as probe_of
    from dpaudit.contract import Distribution as Distribution
    from dpaudit.contract import Instance as Instance
    from dpaudit.contract import Law as Law
    from dpaudit.contract import Learner as Learner
    from dpaudit.contract import Pair as Pair
    from dpaudit.contract import PrivacyClaim as PrivacyClaim
    from dpaudit.contract import Relation as Relation
    from dpaudit.contract import UtilityClaim as UtilityClaim
    from dpaudit.errors import DpauditError as DpauditError
    from dpaudit.errors import InputError as InputError
    from dpaudit.errors import ToolFault as ToolFault
    from dpaudit.exact.audit import audit_law as audit_law
    from dpaudit.exact.finding import LawFinding as LawFinding
    from dpaudit.exact.finding import SupremumFinding as SupremumFinding
    from dpaudit.exact.supremum import audit_supremum as audit_supremum
    from dpaudit.neighbours.crafted import crafted_pairs as crafted_pairs
    from dpaudit.neighbours.named import query_patterns as query_patterns
    from dpaudit.neighbours.own_data.pairs import neighbours_of as neighbours_of
    from dpaudit.neighbours.own_data.tables import read_dataset as read_dataset
    from dpaudit.neighbours.own_data.tables import register_dataset as register_dataset
    from dpaudit.neighbours.sampled import pairs_from_strategy as pairs_from_strategy
    from dpaudit.neighbours.sampled import random_pairs as random_pairs
    from dpaudit.outputs.parts import register_flattener as register_flattener
    from dpaudit.registry import get_learner as get_learner
    from dpaudit.registry import list_learners as list_learners
    from dpaudit.report.ledger import ledger as ledger
    from dpaudit.report.presenting import to_frame as to_frame
    from dpaudit.utility.audit import audit_utility as audit_utility
    from dpaudit.utility.finding import SampleComplexityFinding as SampleComplexityFinding
    from dpaudit.utility.finding import ScalingFinding as ScalingFinding
    from dpaudit.utility.finding import UtilityFinding as UtilityFinding
    from dpaudit.utility.sample_complexity import sample_complexity as sample_complexity
    from dpaudit.utility.scaling import scaling_law as scaling_law

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
    "read_dataset": "neighbours.own_data.tables",
    "register_dataset": "neighbours.own_data.tables",
    "register_flattener": "outputs.parts",
    "sample_complexity": "utility.sample_complexity",
    "scaling_law": "utility.scaling",
    "to_frame": "report.presenting",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"dpaudit.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
