"""dpaudit: statistical verification and audit of private learning.

The public names are loaded on first use, so that ``import dpaudit`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module

from dpaudit import hooks, loading

TYPE_CHECKING = False  # type checkers take it for true; the module `typing` costs more than all of this one
if TYPE_CHECKING:
    from dpaudit import pac, training
    from dpaudit.audit.audit import audit_privacy
    from dpaudit.audit.coins import Coins, flip_coins
    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.audit.one_run import audit_scores
    from dpaudit.audit.one_run_finding import OneRunFinding
    from dpaudit.audit.one_run_training import audit_one_run
    from dpaudit.audit.parameters import Dataset, Execution, Look
    from dpaudit.audit.request import probe_of
    from dpaudit.audit.samples import audit_samples
    from dpaudit.bounds.melded import epsilon_lower
    from dpaudit.contract import CurveClaim, Pair, PrivacyClaim, Relation
    from dpaudit.errors import DpauditError, InputError, ToolFault
    from dpaudit.neighbours.own_data.dataset_files import read_dataset
    from dpaudit.neighbours.own_data.pairs import neighbours_of
    from dpaudit.neighbours.own_data.tables import register_dataset
    from dpaudit.neighbours.sources import query_patterns
    from dpaudit.neighbours.strategies import pairs_from_strategy
    from dpaudit.outputs.parts import register_flattener
    from dpaudit.report.presenting import to_frame
    from dpaudit.sensitivity.audit import audit_sensitivity
    from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
    from dpaudit.sensitivity.recording import recording

__version__ = "0.1.0"

__all__ = [
    "Coins", "CurveClaim", "Dataset", "DpauditError", "Execution", "InputError", "Look", "OneRunFinding", "Pair",
    "PrivacyClaim", "PrivacyFinding",
    "RecordedFinding", "Relation", "SensitivityFinding", "ToolFault", "audit_one_run", "audit_privacy", "audit_samples",
    "audit_scores", "audit_sensitivity", "epsilon_lower", "flip_coins", "neighbours_of", "pac", "pairs_from_strategy",
    "probe_of", "query_patterns", "read_dataset", "recording", "register_dataset", "register_flattener", "to_frame",
    "training",
]  # fmt: skip

_HOMES = {
    "audit.audit": "audit_privacy",
    "audit.coins": "Coins flip_coins",
    "audit.finding": "PrivacyFinding",
    "audit.one_run": "audit_scores",
    "audit.one_run_finding": "OneRunFinding",
    "audit.one_run_training": "audit_one_run",
    "audit.parameters": "Dataset Execution Look",
    "audit.samples": "audit_samples",
    "audit.request": "probe_of",
    "bounds.melded": "epsilon_lower",
    "contract": "CurveClaim Pair PrivacyClaim Relation",
    "errors": "DpauditError InputError ToolFault",
    "neighbours.sources": "query_patterns",
    "neighbours.strategies": "pairs_from_strategy",
    "neighbours.own_data.dataset_files": "read_dataset",
    "neighbours.own_data.pairs": "neighbours_of",
    "neighbours.own_data.tables": "register_dataset",
    "outputs.parts": "register_flattener",
    "report.presenting": "to_frame",
    "sensitivity.audit": "audit_sensitivity",
    "sensitivity.finding": "RecordedFinding SensitivityFinding",
    "sensitivity.recording": "recording",
}


def _presenter() -> hooks.Presenter:
    from dpaudit.report import presenting

    return presenting


hooks.connect(_presenter)

if not TYPE_CHECKING:  # so that type checkers report names that are not there

    def __getattr__(name: str) -> object:
        if name in ("pac", "training"):  # modules of their own names
            return import_module(f"dpaudit.{name}")
        if name in import_module("dpaudit.pac").__all__:
            raise AttributeError(f"dpaudit.{name} is now dpaudit.pac.{name}")
        return loading.load(globals(), _HOMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
