"""The two streams: what a command says goes to standard output; notes, and what an audited mechanism prints, do not."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from dpaudit.escaping import printable, printable_page, shortened

# Characters of a message: it may hold the text of an exception of audited code.
_LONGEST_LINE = 1_500

# The width where no terminal states one: of text, and of messages, which are then not broken.
_COLUMNS = 80
_UNBROKEN = 1_000_000

# The standard output of the command, while what else is printed goes to standard error.
_ours: list[TextIO] = []
# Notes to be shown with the result; they go with the command that came to none.
pending: list[str] = []
# Why standard output took not all that was said, such as a full disk behind it.
lost: list[str] = []


@contextmanager
def kept_clean() -> Iterator[None]:
    """Send to standard error what anything but `say` prints: one stray line breaks ``--json``."""
    _ours.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _ours.pop()
        pending.clear()


def output() -> TextIO:
    """Return the standard output of the command."""
    if _ours:
        return _ours[-1]
    return sys.stdout


def say(text: str) -> None:
    """Write to standard output what a terminal cannot obey; a reader that has gone (``| head``) changes no status."""
    while pending:
        # Notes belong to a result, and stand before it; an error is shown without them.
        notify("note", pending.pop(0))
    stream = output()
    # What a terminal of another encoding cannot show is escaped: an ASCII locale is no fault.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = printable_page(text)
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        drop_output()
    except OSError as error:
        lost.append(error.strerror or str(error))
        notify("error", f"standard output: {lost[-1]}; what was found is not shown whole")
        drop_output()


def lost_by_help(error: OSError) -> bool:
    """Say whether an error is that standard output takes no page of help; if so that is said, and the rest dropped.

    The library for commands writes these pages itself, and its errors name no file.
    """
    # click writes pages of help itself, so that only the place of the error tells it apart.
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or at.tb_frame.f_globals.get("__name__") != "click.utils":
        return False
    notify("error", f"standard output: {error.strerror or error}; what was found is not shown whole")
    drop_output()
    return True


def drop_output() -> None:
    """Send to nowhere what is still to be written: the reader has gone, and Python flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output().fileno())


def open_missing() -> None:
    """Open what the parent process closed of standard input, output and error, as nowhere.

    Without this the next file that is opened takes its number, and what is meant for a stream is written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # `open` takes the lowest number that is free, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Escape in the block what a terminal could obey in warnings of audited code, which Python shows as they are."""
    before = warnings.formatwarning

    def formatted(*what: Any, **more: Any) -> str:
        return "".join(f"{printable(line)}\n" for line in before(*what, **more).splitlines())

    warnings.formatwarning = formatted
    try:
        yield
    finally:
        warnings.formatwarning = before


def notify(kind: str, text: str) -> None:
    """Write one line to standard error: a "note", a "warning", a "fault" or an "error"."""
    print(f"dpaudit: {kind}: {_shortened(text)}", file=sys.stderr)


def _shortened(text: str) -> str:
    return shortened(printable(" ".join(shortened(text, 2 * _LONGEST_LINE).splitlines())), _LONGEST_LINE)


def written(status: int, write: Callable[[], object]) -> int:
    """Write a file that goes with what has been printed, and return the status of the command.

    A file that cannot be written is named on standard error. The status is then 2, but never in the place of 1: the
    violation that was printed stays one.
    """
    try:
        write()
    except OSError as error:
        place = ""
        if error.filename:
            place = f"{error.filename}: "
        notify("error", f"{place}{error.strerror or error}; the file was not written, what is printed stands")
        if status != 1:
            return 2
    return status


@contextmanager
def keeping(file: str | Path | None) -> Iterator[None]:
    """Let an interruption say that what was stored is kept in a file, if it is there."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if file is not None and Path(file).exists():
            stop.add_note(f"what was stored is kept in {file}: the same command goes on from it")
        raise


def complain(label: str, text: str, *more: tuple[str, str]) -> None:
    """Write to standard error why there is no result, with what to do: broken at the width of a terminal alone."""
    from dpaudit.report.terminal import laid_out

    # A command that is to be copied stays in one line in files and pipes.
    width = _UNBROKEN
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
    sys.stderr.write(laid_out([(label, _shortened(text)), *more], width, wants_color(sys.stderr)))


def width_of(stream: TextIO) -> int:
    """Return the columns of a terminal, and 80 for anything else."""
    if stream.isatty():
        return shutil.get_terminal_size().columns
    return _COLUMNS


def wants_color(stream: TextIO | None = None) -> bool:
    """Return whether to colour: on a terminal, or if FORCE_COLOR is set, and never if NO_COLOR is set.

    The two variables are those that many programs share (no-color.org, force-color.org), so that no command has an
    option for it.
    """
    # A refusal wins over FORCE_COLOR.
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream or output()).isatty()
