"""The nouns that the harness and the learners share, and nothing that computes.

A learner imports this package and nothing else of dpaudit; dpaudit never names a learner. Everything structural is a
protocol, so that a third party's learner needs no base class.
"""

from __future__ import annotations

from dpaudit.contract.claims import *
from dpaudit.contract.curve_claims import *
from dpaudit.contract.learners import *
from dpaudit.contract.pairs import *
from dpaudit.contract.picture import *
from dpaudit.contract.samples import *
from dpaudit.contract.statuses import *
from dpaudit.contract.steps import *
from dpaudit.contract.tools import *
from dpaudit.contract.verdicts import *
from dpaudit.contract.worst_cases import *
from dpaudit.errors import InputError as InputError
