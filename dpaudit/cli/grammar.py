"""The grammar of the command line: each command with its options."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

import dpaudit
from dpaudit.cli.help_text import COMMANDS, STATUS, WHOLE
from dpaudit.cli.options import add_allowance, add_jobs, add_learners, add_single, add_statistics

__all__ = ["build_parser"]

_TRIALS = 100_000
_UTILITY_TRIALS = 1_000
_WIDTH = 90
_OF_THE_VERDICT = "of the verdict, over everything that is tried"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; in what it reads, `parser` is the command's own."""
    parser = argparse.ArgumentParser(
        prog="dpaudit",
        description=_fill(WHOLE),
        epilog=STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"dpaudit {dpaudit.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_add_list, _add_privacy, _add_exact, _add_utility, _add_run, _add_ledger, _add_report):
        add(commands)
    return parser


def _command(commands: Any, name: str) -> argparse.ArgumentParser:
    """Add a command with its help: a paragraph, an example and the exit status."""
    line, paragraph, example = COMMANDS[name]
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=line,
        description=_fill(paragraph),
        epilog=f"example:\n  {example}\n\n{STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(parser=parser)
    return parser


def _fill(paragraph: str) -> str:
    return textwrap.fill(" ".join(paragraph.split()), _WIDTH)


def _add_list(commands: Any) -> None:
    parser = _command(commands, "list")
    parser.add_argument("--json", action="store_true", help="a JSON array (default: a table)")
    parser.add_argument("--all", action="store_true", help="positive controls too (default: without them)")
    add_learners(parser)


def _add_privacy(commands: Any) -> None:
    parser = _command(commands, "privacy")
    add_single(parser, what="the learner, as `dpaudit list` shows it, or any mechanism, as MODULE:FUNCTION")
    parser.add_argument("--epsilon", type=float, help="claim to test (default: the learner's own)")
    parser.add_argument("--delta", type=float, help="claim to test (default: the learner's own; 0 for a function)")
    parser.add_argument("--relation", help="what neighbours are (default: as in the learner's claim)")
    parser.add_argument(
        "--pairs",
        metavar="SOURCE",
        help="MODULE:PAIRS, a list of (data, neighbour) tuples, a callable that returns one, or a strategy of "
        "hypothesis; patterns:DIMENSION, the eight ways in which one record moves the answers of so many counting "
        "queries; random:COUNT, random neighbouring samples, for learners only (default: crafted, for learners only)",
    )
    parser.add_argument(
        "--bound",
        metavar="NAME",
        help="melded, or unconditional: certified, slow, at most 1e6 runs in all (default: melded)",
    )
    flags = {
        "batched": "call FUNCTION with (data, rng, size) for size outputs (default: with (data, rng) for one)",
        "strict": "the same as --bound unconditional (default: the melded bound)",
        "sequential": "bet run by run and stop as soon as the claim is refuted (default: a fixed number of runs)",
        "curve": "bound delta at every epsilon too, for a fifth of the error probability (default: epsilon only)",
        "float-bits": "look at the bits of floats too (default: at their values)",
    }
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    parser.add_argument(
        "--randomness",
        default="argument",
        metavar="SOURCE",
        help="argument, the generator that is passed; own, for a library with entropy of its own, such as OpenDP or "
        "diffprivlib (default: %(default)s)",
    )
    add_statistics(parser, _TRIALS, "runs on each side of each pair, on average", _OF_THE_VERDICT, ("processes", 1))


def _add_exact(commands: Any) -> None:
    parser = _command(commands, "exact")
    add_single(parser)
    parser.add_argument("--relation", help="replace-one, add-remove-one or replace-private (default: the claim's)")
    parser.add_argument(
        "--crafted",
        dest="samples",
        action="store_const",
        const="crafted",
        help="crafted pairs only, for domains too large to list (default: all samples of n)",
    )
    parser.add_argument(
        "--enclose",
        dest="enclosure",
        action="store_true",
        help="enclose the worst epsilon in ball arithmetic too; needs the extra `exact` (default: an a-priori error)",
    )
    parser.add_argument(
        "--compose",
        type=int,
        metavar="K",
        help="bound what K runs on one sample cost too: epsilon by delta and delta by epsilon (default: one run)",
    )


def _add_utility(commands: Any) -> None:
    parser = _command(commands, "utility")
    add_single(parser, "what the learner's theorem asks for")
    parser.add_argument("--alpha", type=float, help="error that is accepted (default: the example's)")
    parser.add_argument("--beta", type=float, help="rate of failure that is accepted (default: the example's)")
    parser.add_argument(
        "--concept",
        type=int,
        metavar="CODE",
        help="number of the target concept (default: the hard case's own; 0 for uniform)",
    )
    parser.add_argument(
        "--distribution",
        metavar="D",
        default="all",
        help="uniform, the number of a hard case, or all hard cases (default: %(default)s)",
    )
    parser.add_argument(
        "--setting",
        help="what the error is, and what is random; all: each that the theorem speaks of (default: the theorem's own)",
    )
    parser.add_argument(
        "--noise",
        type=float,
        help="setting agnostic: how often a label is wrong (default: the hard case's; needed for uniform)",
    )
    add_statistics(parser, _UTILITY_TRIALS, "runs for each case", _OF_THE_VERDICT, ("processes", 1))


def _add_run(commands: Any) -> None:
    parser = _command(commands, "run")
    parser.add_argument("ids", metavar="ID", nargs="*", help="learners (default: all)")
    parser.add_argument(
        "--profile",
        choices=("quick", "default", "full"),
        default="default",
        help="how much work: seconds, minutes, hours (default: %(default)s)",
    )
    parser.add_argument("--out", metavar="DIR", default="reports/latest", help="where to (default: %(default)s)")
    parser.add_argument("--resume", action="store_true", help="go on with the run in DIR (default: start afresh)")
    add_statistics(parser, None, "runs a side in the black-box audits", "of each finding", ("audits at a time", -1))
    parser.add_argument(
        "--backend",
        choices=("loky", "threading", "sequential"),
        default="loky",
        help="how joblib spreads them (default: %(default)s)",
    )
    parser.add_argument(
        "--html",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write report.html (default: --html)",
    )
    add_allowance(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr (default: progress)")
    add_learners(parser)


def _add_ledger(commands: Any) -> None:
    parser = _command(commands, "ledger")
    parser.add_argument("ids", metavar="ID", nargs="*", help="statements (default: all)")
    parser.add_argument("--refuted", action="store_true", help="show the refuted ones only (default: all checked)")
    parser.add_argument("--json", action="store_true", help="one JSON object a statement (default: a table)")
    add_jobs(parser, "checks at a time", -1)
    add_learners(parser)


def _add_report(commands: Any) -> None:
    parser = _command(commands, "report")
    parser.add_argument("path", metavar="PATH", help="the folder of a run, or its run.jsonl")
    parser.add_argument(
        "--format",
        choices=("console", "json", "html"),
        default="console",
        help="what to render (default: %(default)s)",
    )
    parser.add_argument("--out", metavar="FILE", help="where to (default: standard output)")
    add_allowance(parser)
