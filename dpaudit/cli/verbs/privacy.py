"""``dpaudit privacy``."""

from __future__ import annotations

from dpaudit.cli.options import RESULT, flag, identity, jobs, limits, option, statistics
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
        option("--epsilon", type=float, help="claim to test (default: the learner's own)"),
        option("--delta", type=float, help="claim to test (default: the learner's own; 0 for a function)"),
        option("--relation", metavar="NAME", help="what neighbours are (default: as in the learner's claim)"),
        option(
            "--pairs",
            metavar="SOURCE",
            help="FILE.py:NAME or MODULE:NAME, a list of (data, neighbour) tuples, a callable that returns one, or a "
            "strategy of hypothesis; patterns:DIMENSION, the eight ways in which one record moves the answers of so "
            "many counting queries; random:COUNT, random neighbouring samples, for learners only (default: PAIRS of "
            "the function's own file or module; crafted samples for learners)",
        ),
        option(
            "--data",
            metavar="FILE",
            help=".csv, .tsv, .parquet or .npy, one dataset: pairs that an attacker would try are made of it; a "
            "record comes or goes, or is replaced with --relation replace-one (default: --pairs)",
        ),
        option(
            "--bounds",
            metavar="LOW,HIGH",
            help="values that --data may hold, of all numbers, or by column as 'age=0,100;share=0,1'; what is outside "
            "of them is tried too (default: those that it holds)",
        ),
        option("--unit", metavar="COLUMN", help="column of --data that names the users (default: every row is one)"),
        flag(
            "--include-data",
            help="show values of --data (default: the recipes of the pairs, as 'row 17 removed', and its digest)",
        ),
        option(
            "--bound",
            metavar="NAME",
            help="melded, or unconditional: certified, slow, at most 1e6 runs in all (default: melded)",
        ),
        flag("--batched", help="call the function with (data, rng, size) for size outputs (default: one at a time)"),
        flag("--strict", help="the same as --bound unconditional (default: the melded bound)"),
        flag("--sequential", help="bet run by run, stop once the claim is refuted (default: a fixed number of runs)"),
        flag("--curve", help="bound delta at every epsilon too, for a fifth of the error (default: epsilon only)"),
        flag("--float-bits", help="look at the bits of floats too (default: at their values)"),
        option(
            "--randomness",
            default="argument",
            metavar="SOURCE",
            help="argument, the generator that is passed; own, for a library with entropy of its own, such as OpenDP "
            "or diffprivlib (default: argument)",
        ),
        *limits(),
        *statistics(
            100_000,
            "runs on each side of each pair, on average",
            "of the verdict, over everything that is tried",
            jobs("processes", 1),
        ),
        option(
            "--certificate",
            metavar="FILE",
            help="write the certificate of a violation too, with the pair and the event made simpler (default: none)",
        ),
        *RESULT,
    ),
)
