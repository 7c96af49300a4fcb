"""Certificates of violations: made from a finding, read from a file, and replayed on fresh runs.

`dpaudit.verify_certificate` recomputes the bound of one from its counts, with the standard library alone.
"""

from dpaudit.evidence.certificate import Certificate, read
from dpaudit.evidence.certifying import make
from dpaudit.evidence.replaying import Replay, replay

__all__ = ["Certificate", "Replay", "make", "read", "replay"]
