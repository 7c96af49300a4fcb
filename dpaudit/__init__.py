"""dpaudit: statistical verification and audit of private learning.

The public names are loaded on first use, so that ``import dpaudit`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.contract import (
        Distribution,
        Example,
        Law,
        Learner,
        Pair,
        PrivacyClaim,
        Relation,
        UtilityClaim,
    )
    from dpaudit.errors import DpauditError, InputError, ToolFault
    from dpaudit.privacy.blackbox import audit_privacy
    from dpaudit.privacy.exact import audit_law
    from dpaudit.registry import get_learner, list_learners
    from dpaudit.results import LawFinding, PrivacyFinding, UtilityFinding
    from dpaudit.utility.pac import audit_utility

__version__ = "0.1.0"

_HOMES = {
    "Distribution": "contract",
    "DpauditError": "errors",
    "Example": "contract",
    "InputError": "errors",
    "Law": "contract",
    "LawFinding": "results",
    "Learner": "contract",
    "Pair": "contract",
    "PrivacyClaim": "contract",
    "PrivacyFinding": "results",
    "Relation": "contract",
    "ToolFault": "errors",
    "UtilityClaim": "contract",
    "UtilityFinding": "results",
    "audit_law": "privacy.exact",
    "audit_privacy": "privacy.blackbox",
    "audit_utility": "utility.pac",
    "get_learner": "registry",
    "list_learners": "registry",
}

__all__ = [
    "Distribution",
    "DpauditError",
    "Example",
    "InputError",
    "Law",
    "LawFinding",
    "Learner",
    "Pair",
    "PrivacyClaim",
    "PrivacyFinding",
    "Relation",
    "ToolFault",
    "UtilityClaim",
    "UtilityFinding",
    "audit_law",
    "audit_privacy",
    "audit_utility",
    "get_learner",
    "list_learners",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"dpaudit.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
