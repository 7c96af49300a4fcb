"""The nouns that the harness and the learners share, and nothing that computes.

A learner imports this package and nothing else of dpaudit; dpaudit never names a learner. Everything structural is a
protocol, so that a third party's learner needs no base class.
"""

from __future__ import annotations

from dpaudit.contract.abilities import (
    ABILITIES,
    HasExactLaw,
    HasFault,
    HasFurtherInstances,
    HasHardFailure,
    HasHardTargets,
    HasLaw,
    HasLimitLaw,
    HasPicturedInstance,
    HasPopulations,
    HasSampleSize,
    HasScene,
    HasSettings,
    HasSupremum,
    HasSymmetries,
    HasUtility,
    Pictured,
    Solves,
)
from dpaudit.contract.claims import FIXED_SETTINGS, SETTINGS, PrivacyClaim, Relation, UtilityClaim
from dpaudit.contract.learners import FAIL, LATER, PARTS, Instance, Law, Learner, later
from dpaudit.contract.pairs import Made, MadePair, Origin, OriginKind, Pair
from dpaudit.contract.picture import Panel, Picture, Shape
from dpaudit.contract.samples import ConceptClass, Distribution, Domain, Hypothesis, Sample
from dpaudit.contract.statements import (
    Evidence,
    LawAudit,
    MeasuredLaw,
    Neighbours,
    Statement,
    SupremumAudit,
    Tools,
    UtilityAudit,
)
from dpaudit.contract.suprema import Supremum
from dpaudit.contract.verdicts import (
    OF_PRIVACY,
    OF_STATEMENTS,
    OF_UTILITY,
    OPEN,
    Direction,
    Grade,
    Support,
    Verdict,
    exit_status,
)
from dpaudit.errors import InputError

__all__ = [
    "ABILITIES",
    "FAIL",
    "FIXED_SETTINGS",
    "LATER",
    "OF_PRIVACY",
    "OF_STATEMENTS",
    "OF_UTILITY",
    "OPEN",
    "PARTS",
    "SETTINGS",
    "ConceptClass",
    "Direction",
    "Distribution",
    "Domain",
    "Evidence",
    "Grade",
    "HasExactLaw",
    "HasFault",
    "HasFurtherInstances",
    "HasHardFailure",
    "HasHardTargets",
    "HasLaw",
    "HasLimitLaw",
    "HasPicturedInstance",
    "HasPopulations",
    "HasSampleSize",
    "HasScene",
    "HasSettings",
    "HasSupremum",
    "HasSymmetries",
    "HasUtility",
    "Hypothesis",
    "InputError",
    "Instance",
    "Law",
    "LawAudit",
    "Learner",
    "Made",
    "MadePair",
    "MeasuredLaw",
    "Neighbours",
    "Origin",
    "OriginKind",
    "Pair",
    "Panel",
    "Picture",
    "Pictured",
    "PrivacyClaim",
    "Relation",
    "Sample",
    "Shape",
    "Solves",
    "Statement",
    "Support",
    "Supremum",
    "SupremumAudit",
    "Tools",
    "UtilityAudit",
    "UtilityClaim",
    "Verdict",
    "exit_status",
    "later",
]
