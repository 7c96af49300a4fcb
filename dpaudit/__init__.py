"""dpaudit: statistical verification and audit of private learning.

The public names are loaded on first use, so that ``import dpaudit`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

from dpaudit import presentation

TYPE_CHECKING = False  # type checkers take it for true; the module `typing` costs more than all of this one
if TYPE_CHECKING:
    from typing import Any

    from dpaudit.audit.audit import audit_privacy
    from dpaudit.audit.coins import Coins, flip_coins
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.audit.one_run import audit_scores
    from dpaudit.audit.one_run_finding import OneRunFinding
    from dpaudit.audit.one_run_training import audit_one_run
    from dpaudit.audit.request import probe_of
    from dpaudit.contract import (
        CurveClaim,
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
    from dpaudit.neighbours.own_data.pairs import neighbours_of
    from dpaudit.neighbours.own_data.tables import read_dataset, register_dataset
    from dpaudit.neighbours.sampled import pairs_from_strategy, random_pairs
    from dpaudit.outputs.parts import register_flattener
    from dpaudit.registry import get_learner, list_learners
    from dpaudit.report.ledger import ledger
    from dpaudit.report.presenting import to_frame
    from dpaudit.utility.audit import audit_utility
    from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding, UtilityFinding
    from dpaudit.utility.sample_complexity import sample_complexity
    from dpaudit.utility.scaling import scaling_law

__version__ = "0.1.0"

__all__ = [
    "Coins", "CurveClaim", "Distribution", "DpauditError", "InputError", "Instance", "Law", "LawFinding", "Learner",
    "OneRunFinding", "Pair", "PrivacyClaim", "PrivacyFinding", "Relation", "SampleComplexityFinding", "ScalingFinding",
    "SupremumFinding", "ToolFault", "UtilityClaim", "UtilityFinding", "audit_law", "audit_one_run", "audit_privacy",
    "audit_scores", "audit_supremum", "audit_utility", "crafted_pairs", "flip_coins", "get_learner", "ledger",
    "list_learners", "neighbours_of", "pairs_from_strategy", "probe_of", "query_patterns", "random_pairs",
    "read_dataset", "register_dataset", "register_flattener", "sample_complexity", "scaling_law", "to_frame",
    "training",
]  # fmt: skip

_HOMES = {
    "audit.audit": "audit_privacy",
    "audit.coins": "Coins flip_coins",
    "audit.finding": "PrivacyFinding",
    "audit.one_run": "audit_scores",
    "audit.one_run_finding": "OneRunFinding",
    "audit.one_run_training": "audit_one_run",
    "audit.request": "probe_of",
    "contract": "CurveClaim Distribution Instance Law Learner Pair PrivacyClaim Relation UtilityClaim",
    "errors": "DpauditError InputError ToolFault",
    "exact.audit": "audit_law",
    "exact.finding": "LawFinding SupremumFinding",
    "exact.supremum": "audit_supremum",
    "neighbours.crafted": "crafted_pairs",
    "neighbours.named": "query_patterns",
    "neighbours.own_data.pairs": "neighbours_of",
    "neighbours.own_data.tables": "read_dataset register_dataset",
    "neighbours.sampled": "pairs_from_strategy random_pairs",
    "outputs.parts": "register_flattener",
    "registry": "get_learner list_learners",
    "report.ledger": "ledger",
    "report.presenting": "to_frame",
    "utility.audit": "audit_utility",
    "utility.finding": "SampleComplexityFinding ScalingFinding UtilityFinding",
    "utility.sample_complexity": "sample_complexity",
    "utility.scaling": "scaling_law",
}
"""Module -> the public names that it defines."""

presentation.register(lambda: import_module("dpaudit.report.presenting"))


def __getattr__(name: str) -> Any:
    if name == "training":  # a module of its own names
        return import_module("dpaudit.training")
    for home, names in _HOMES.items():
        if name in names.split():
            globals()[name] = getattr(import_module(f"dpaudit.{home}"), name)
            return globals()[name]
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
