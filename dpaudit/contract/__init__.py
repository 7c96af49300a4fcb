"""The nouns that the harness and the learners share, and nothing that computes.

A learner imports this package and nothing else of dpaudit; dpaudit never names a learner. Everything structural is a
protocol, so that a third party's learner needs no base class.
"""

from __future__ import annotations

from dpaudit.contract.claims import FIXED_SETTINGS, SETTINGS, PrivacyClaim, Relation, UtilityClaim
from dpaudit.contract.learners import FAIL, Instance, Law, Learner
from dpaudit.contract.samples import ConceptClass, Distribution, Domain, Hypothesis, Pair, Sample
from dpaudit.contract.statements import Evidence, Statement
from dpaudit.contract.verdicts import Direction, Grade, PrivacyVerdict, StatementVerdict, UtilityVerdict
from dpaudit.errors import InputError
from dpaudit.picture import Panel, Picture, Shape

__all__ = [
    "FAIL",
    "FIXED_SETTINGS",
    "SETTINGS",
    "ConceptClass",
    "Direction",
    "Distribution",
    "Domain",
    "Evidence",
    "Grade",
    "Hypothesis",
    "InputError",
    "Instance",
    "Law",
    "Learner",
    "Pair",
    "Panel",
    "Picture",
    "PrivacyClaim",
    "PrivacyVerdict",
    "Relation",
    "Sample",
    "Shape",
    "Statement",
    "StatementVerdict",
    "UtilityClaim",
    "UtilityVerdict",
]
