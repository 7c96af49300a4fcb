"""The command line: its grammar and its exit status.

What the commands do stands in `commands` and `audit_commands`.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import dpaudit
from dpaudit.cli.help_text import COMMANDS, STATUS, WHOLE
from dpaudit.cli.streams import kept_clean, output
from dpaudit.cli.wording import in_options
from dpaudit.contract import SETTINGS
from dpaudit.errors import DpauditError

__all__ = ["build_parser", "main"]

_TRIALS = 100_000
_UTILITY_TRIALS = 1_000
_CONFIDENCE = 0.95
_WIDTH = 90


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 all consistent, 1 a violation, 2 bad input or a fault."""
    args = build_parser().parse_args(argv)
    with _terminable(), kept_clean():
        return _status(args)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to terminate end a command as Ctrl-C does: results kept, workers ended, a message, status 2."""
    handler = signal.getsignal(signal.SIGTERM)
    if handler != signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield  # whoever embeds the command has plans of its own
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def _status(args: argparse.Namespace) -> int:
    """Run one command; whatever it raises becomes a line on stderr and the status 2."""
    try:
        return int(_action(args.command)(args))
    except DpauditError as error:
        message = in_options(" ".join(str(error).split("\n")))
    except BrokenPipeError:
        _drop_stdout()
        return 2
    except OSError as error:
        message = f"{error.filename or 'file system'}: {error.strerror or error}"
    except KeyboardInterrupt:
        message = "interrupted"
    # An uncaught exception would exit with 1, which means a violation; an exit of what is audited with 0, even.
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        message = f"unexpected {type(error).__name__}: {error}"
    print(f"dpaudit: error: {message}", file=sys.stderr)
    return 2


def _action(command: str) -> Callable[[argparse.Namespace], int]:
    """Return what a command does; its module is loaded only now."""
    homes = {"privacy": "audit_commands", "exact": "audit_commands", "utility": "audit_commands"}
    home = {**homes, "ledger": "ledger_command"}.get(command, "commands")
    module = import_module(f"dpaudit.cli.{home}")
    action: Callable[[argparse.Namespace], int] = getattr(module, f"{command}_command")
    return action


def _drop_stdout() -> None:
    """Send to nowhere what is still to be written: the reader has gone, and Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output().fileno())


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
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
    return parser


def _fill(paragraph: str) -> str:
    return textwrap.fill(" ".join(paragraph.split()), _WIDTH)


def _add_learners(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--learners",
        metavar="PATH",
        action="append",
        default=[],
        help="look for learners in this .py file or folder too; repeatable (default: installed ones only)",
    )


def _add_single(
    parser: argparse.ArgumentParser,
    n: str = "the example's",
    what: str = "the learner, as `dpaudit list` shows it",
) -> None:
    """Add what the three single audits share."""
    parser.add_argument("id", metavar="ID", help=what)
    parser.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the learner; repeatable (default: those of the learner's example, with a note)",
    )
    parser.add_argument("--n", type=int, help=f"examples in a sample (default: {n})")
    parser.add_argument("--json", action="store_true", help="one JSON object a finding (default: text)")
    _add_learners(parser)


def _add_statistics(parser: argparse.ArgumentParser, trials: int, what: str) -> None:
    parser.add_argument("--trials", type=_whole, default=trials, help=f"{what} (default: %(default)s)")
    parser.add_argument(
        "--confidence",
        type=float,
        default=_CONFIDENCE,
        help="of the verdict, over everything that is tried (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="root of all randomness (default: %(default)s)")
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=1,
        help="processes; -1 for one a processor; no result depends on it (default: %(default)s)",
    )


def _whole(text: str) -> int:
    """Read a whole number, also one written as 1e5."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
    return int(number)


def _jobs(text: str) -> int:
    if (jobs := int(text)) == 0:
        raise argparse.ArgumentTypeError("must be a positive number of processes, or -1 for one a processor")
    return jobs


def _add_list(commands: Any) -> None:
    parser = _command(commands, "list")
    parser.add_argument("--json", action="store_true", help="a JSON array (default: a table)")
    parser.add_argument("--all", action="store_true", help="positive controls too (default: without them)")
    _add_learners(parser)


def _add_privacy(commands: Any) -> None:
    parser = _command(commands, "privacy")
    _add_single(parser, what="the learner, as `dpaudit list` shows it, or any mechanism, as MODULE:FUNCTION")
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
    flags = {
        "batched": "call FUNCTION with (data, rng, size) for size outputs (default: with (data, rng) for one)",
        "strict": "the certified exact bound: slow, at most 1e6 runs in all (default: the melded one)",
        "sequential": "bet run by run and stop as soon as the claim is refuted (default: a fixed number of runs)",
        "curve": "bound delta at every epsilon too, for a fifth of the error probability (default: epsilon only)",
        "float-bits": "look at the bits of floats too (default: at their values)",
    }
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    _add_statistics(parser, _TRIALS, "runs on each side of each pair, on average")


def _add_exact(commands: Any) -> None:
    parser = _command(commands, "exact")
    _add_single(parser)
    parser.add_argument("--relation", help="replace-one, add-remove-one or replace-private (default: the claim's)")
    parser.add_argument(
        "--crafted",
        action="store_true",
        help="crafted pairs only, for domains too large to list (default: all samples of n)",
    )
    parser.add_argument(
        "--enclose",
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
    _add_single(parser, "what the learner's theorem asks for")
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
        choices=(*SETTINGS, "all"),
        help="what the error is, and what is random; all: each that the theorem speaks of (default: the theorem's own)",
    )
    parser.add_argument(
        "--noise",
        type=float,
        help="setting agnostic: how often a label is wrong (default: the hard case's; needed for uniform)",
    )
    _add_statistics(parser, _UTILITY_TRIALS, "runs for each case")


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
    parser.add_argument("--trials", type=_whole, help="runs a side in the black-box audits (default: the profile's)")
    parser.add_argument("--confidence", type=float, default=_CONFIDENCE, help="of each finding (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="root of all randomness (default: %(default)s)")
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=-1,
        help="audits at a time; -1 for one a processor; no result depends on it (default: %(default)s)",
    )
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
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr (default: progress)")
    _add_learners(parser)


def _add_ledger(commands: Any) -> None:
    parser = _command(commands, "ledger")
    parser.add_argument("ids", metavar="ID", nargs="*", help="claims (default: all)")
    parser.add_argument("--refuted", action="store_true", help="show the refuted ones only (default: all checked)")
    parser.add_argument("--json", action="store_true", help="one JSON object a claim (default: a table)")
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=-1,
        help="checks at a time; -1 for one a processor; no result depends on it (default: %(default)s)",
    )
    _add_learners(parser)


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
