"""``dpaudit replay``."""

from __future__ import annotations

import click

from dpaudit.audit.options import RUNNING
from dpaudit.cli.options import COLOR, JSON, LEARNERS, PARAMETER, QUIET, TOLD, declared, jobs, option, whole
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "replay",
    """
    Runs a mechanism again on the pair of a certificate, on fresh seeds, and tests the certificate's event alone: what
    it finds rests on nothing that the certificate says but the claim, the pair and the event. ID is as for `dpaudit
    privacy`; a certificate never names what is loaded. Inputs that the certificate names and does not hold are taken
    from --pairs or --data, and must have its digests.
    """,
    "dpaudit replay certificate.json mean.py:mean",
    (
        click.Argument(["file"], metavar="CERTIFICATE"),
        click.Argument(["id"], metavar="ID"),
        PARAMETER,
        option(
            "--pairs",
            metavar="SOURCE",
            help="FILE.py:NAME or MODULE:NAME, the list that was audited (default: the certificate's own inputs)",
        ),
        option(
            "--data",
            metavar="FILE",
            help="the dataset that was audited, if the certificate names inputs by recipe and digest (default: none)",
        ),
        option("--bounds", metavar="LOW,HIGH", help="as in the audit of --data (default: none)"),
        option("--unit", metavar="COLUMN", help="as in the audit of --data (default: every row is one)"),
        *declared(*RUNNING, "randomness"),
        option("--trials", type=whole, metavar="N", help="runs on each side (default: the certificate's)"),
        option("--seed", type=whole, metavar="N", help="root of all randomness (default: drawn anew)"),
        jobs("processes", 1),
        JSON,
        QUIET,
        TOLD,
        COLOR,
        LEARNERS,
    ),
)
