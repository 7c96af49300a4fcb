"""``dpaudit exact``."""

from __future__ import annotations

from dpaudit.cli.options import RESULT, flag, identity, option, whole
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "exact",
    """
    Computes the exact output law of the learner on samples of n examples and on all their neighbours, and from them the
    worst-case epsilon. Without --n it takes the n of the learner's example, and crafted samples only where all cannot
    be listed. Needs a learner with a law. --enclose recomputes the losses that decide in ball arithmetic; --compose K
    bounds the privacy of K runs, from above by the dominating pair and from below by single pairs of neighbours.
    """,
    "dpaudit exact parity-private -p dimension=2 -p epsilon=1 --n 3",
    (
        *identity(),
        option(
            "--relation",
            metavar="NAME",
            help="replace-one, add-remove-one or replace-private (default: the claim's)",
        ),
        option(
            "--crafted",
            "samples",
            is_flag=True,
            flag_value="crafted",
            help="crafted pairs only, for domains too large to list (default: all samples of n)",
        ),
        flag(
            "--enclose",
            "enclosure",
            help="enclose the worst epsilon in ball arithmetic; needs the extra `exact` (default: an a-priori error)",
        ),
        option(
            "--compose",
            type=whole,
            metavar="K",
            help="bound what K runs on one sample cost too: epsilon by delta and delta by epsilon (default: one run)",
        ),
        *RESULT,
    ),
)
