"""``dpaudit utility``."""

from __future__ import annotations

from dpaudit.cli.options import RESULT, identity, jobs, option, statistics, whole
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "utility",
    """
    Measures how often the learner's error exceeds alpha; its theorem promises: at most with probability beta. The error
    is that on the distribution, with fresh samples labelled by a concept (realizable); its excess over the best
    concept's, with noisy labels (agnostic); that on the sample, one for all runs (empirical); or whether the output
    solves the learner's problem on that sample (solution). The hard cases are concepts and distributions on which
    learners of the class fail most. With --n below the theorem's n, or without a theorem, failures are shown and
    refute nothing.
    """,
    "dpaudit utility threshold-exponential --alpha 0.1 --beta 0.1 --distribution all",
    (
        *identity("what the learner's theorem asks for"),
        option("--alpha", type=float, help="error that is accepted (default: the example's)"),
        option("--beta", type=float, help="rate of failure that is accepted (default: the example's)"),
        option(
            "--concept",
            type=whole,
            metavar="CODE",
            help="number of the target concept (default: the hard case's own; 0 for uniform)",
        ),
        option(
            "--distribution",
            metavar="D",
            default="all",
            help="uniform, the number of a hard case, or all hard cases (default: all)",
        ),
        option(
            "--setting",
            metavar="NAME",
            help="what the error is, and what is random; all: each that the theorem speaks of (default: the theorem's)",
        ),
        option(
            "--noise",
            type=float,
            help="setting agnostic: how often a label is wrong (default: the hard case's; needed for uniform)",
        ),
        option(
            "--most",
            type=whole,
            metavar="TRIALS",
            help="the most runs, made where fewer leave the verdict open (default: --trials)",
        ),
        *statistics(
            1_000,
            "runs for each case",
            "of the verdict, over everything that is tried",
            jobs("processes", 1),
        ),
        *RESULT,
    ),
)
