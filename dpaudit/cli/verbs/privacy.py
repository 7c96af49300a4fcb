"""``dpaudit privacy``."""

from __future__ import annotations

from dpaudit.audit.options import SEED
from dpaudit.cli.options import RESULT, declared, identity, jobs, of_declaration, option
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "privacy",
    """
    Runs a mechanism on pairs of neighbouring inputs, picks the event that tells them apart best, and bounds epsilon
    from below on fresh runs. A bound above the claim is a violation. Otherwise the claim is consistent with these runs,
    which would have shown a leak of the size that is told; or there is no evidence, where they could not have shown
    one, and it is said why. ID is FILE.py:function or MODULE:function, a function (data, rng) -> output, on the list
    PAIRS of (data, neighbour) beside it or on --pairs; or a learner of `dpaudit list`, on crafted samples.
    """,
    "dpaudit privacy mean.py:mean --epsilon 1",
    (
        *identity(),
        *declared(),
        *declared("trials", "confidence"),
        of_declaration(SEED),
        jobs("processes", 1),
        option(
            "--certificate",
            metavar="FILE",
            help="write the certificate of a violation too, with the pair and the event made simpler (default: none)",
        ),
        *RESULT,
    ),
)
