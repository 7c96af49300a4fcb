"""Count what kills, faults and corruptions lose: `python scripts/bench_reliability.py [--out docs/reliability.md]`.

Each part makes as many cases as its option says and counts those in which something was lost. The full counts are
``--kills 200 --faults 1000 --corruptions 20000 --boundary 3000 --memory 40 --mechanisms 500``; the page says how many
were made.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
from faulty_files import HOW, Faulty
from scipy.stats import binom

import dpaudit
from dpaudit.blackbox import audit as audit_module
from dpaudit.cli import main
from dpaudit.clock import Clock
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.errors import DpauditError
from dpaudit.lifeline import STOPPING

LEARNERS = ("broken-box-doubled", "broken-box-support")
RUN = ("run", *LEARNERS, "--profile", "quick", "--trials", "100", "--no-html", "--quiet")
STOPS = (
    "SIGKILL parent",
    "SIGKILL worker",
    "SIGKILL group",
    "SIGINT group, three times",
    "SIGTERM parent",
    "SIGHUP group",
)
FOUND = {0, 1, 3}
"""Exit statuses of a run that was finished."""
PATIENCE = 180.0
HUNG = 999
"""In the place of the status of a command that had to be ended after so many seconds."""
LEFT = 2.0
"""Seconds that workers may live after their parent."""

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from dpaudit.cli import main
sys.argv[:2] = ["dpaudit"]
sys.exit(main())
"""

LN_3 = 1.0986122886681098

MECHANISM = """
PAIRS = [(0, 1)]
def response(bit, rng):
    return bit if rng.random() < 0.7 else 1 - bit
"""


@dataclass
class Row:
    """A line of the table: what was done how often, and in how many cases something was lost."""

    what: str
    made: int
    lost: int
    told: str
    notes: list[str] = field(default_factory=list)


def command(*words: str, folder: Path, code: str | None = None) -> subprocess.Popen[str]:
    """Begin a command of dpaudit in a session and with a temporary folder of its own."""
    (folder / "tmp").mkdir(exist_ok=True)
    start = ["-m", "dpaudit"] if code is None else ["-c", code]
    return subprocess.Popen(
        [sys.executable, *start, *words],
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, signal.SIGHUP)],
    )


def finished(*words: str, folder: Path, code: str | None = None) -> tuple[int, str]:
    """Return the status of a command, and what it wrote to standard error."""
    process = command(*words, folder=folder, code=code)
    try:
        _, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:  # and whatever it ignores
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return HUNG, f"it was ended after {PATIENCE:g} s"
    return process.returncode, err


def reference(folder: Path, jobs: int) -> tuple[bytes, float]:
    """Return the stored bytes of a run that nobody disturbs, and the seconds that it took."""
    began = time.monotonic()
    status, err = finished(*RUN, "--jobs", str(jobs), "--out", "out", folder=folder)
    if status not in FOUND:
        raise SystemExit(err)
    return (folder / "out" / "run.jsonl").read_bytes(), time.monotonic() - began


def members(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                told = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(told[3]) == session and told[0] != "Z":
                found.append(int(entry.name))
    return found


def stop(leader: int, how: str) -> None:
    """Send a signal, or several."""
    number = getattr(signal, how.split()[0])
    workers = [pid for pid in members(leader) if pid != leader]
    if "worker" in how:
        if workers:
            os.kill(random.choice(workers), number)
        return
    for _ in range(3 if "three" in how else 1):
        try:
            (os.killpg if "group" in how else os.kill)(leader, number)
        except ProcessLookupError:
            return
        time.sleep(0.02)


def warm(folder: Path, *words: str) -> int:
    """Begin a command in a copy of this process, which has loaded what it needs, and return its number."""
    if pid := os.fork():
        return pid
    try:
        os.setsid()
        os.chdir(folder)
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder / "tmp")
        for end, name in enumerate((os.devnull, "out.txt", "err.txt")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), end)
        sys.stdout, sys.stderr = (os.fdopen(end, "w", buffering=1, closefd=False) for end in (1, 2))
        for number in STOPPING:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        sys.argv = ["dpaudit", *words]
        status = main()
        sys.stderr.flush()
        os._exit(status)
    finally:
        os._exit(HUNG % 256)


def waited(pid: int, seconds: float) -> int | None:
    """Return how a process ended; None, after it was killed, if it did not in time."""
    deadline = time.monotonic() + seconds
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.01)
    return os.waitstatus_to_exitcode(ended[1])


def kills(number: int) -> Row:
    """Stop runs at random moments, resume them, and compare the bytes."""
    notes, lost, statuses = [], 0, Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        wholes, seconds = {}, {}
        for jobs in ("1", "2"):
            (base := Path(name, f"calm{jobs}", "tmp")).mkdir(parents=True)
            began = time.monotonic()
            waited(warm(base.parent, *RUN, "--jobs", jobs, "--out", "out"), PATIENCE)
            seconds[jobs] = time.monotonic() - began
            wholes[jobs] = (base.parent / "out" / FILENAME).read_bytes()
        assert wholes["1"] == wholes["2"]
        for case in range(number):
            # Some with workers of joblib, which load everything anew.
            how, jobs = STOPS[case % len(STOPS)], "2" if case // len(STOPS) % 8 == 7 else "1"
            folder = Path(name, str(case))
            (folder / "tmp").mkdir(parents=True)
            pid = warm(folder, *RUN, "--jobs", jobs, "--out", "out")
            time.sleep(random.uniform(0, seconds[jobs]))
            stop(pid, how)
            wrong = []
            status = waited(pid, PATIENCE)
            if status is None:
                wrong.append("hung")
            deadline = time.monotonic() + LEFT
            while members(pid) and time.monotonic() < deadline:
                time.sleep(0.02)
            if members(pid):
                wrong.append(f"processes left after {LEFT:g} s")
            statuses[f"{how}: {status}"] += 1
            again = waited(warm(folder, *RUN, "--jobs", "1", "--out", "out", "--resume"), PATIENCE)
            if again not in FOUND or (folder / "out" / FILENAME).read_bytes() != wholes["1"]:
                wrong.append(f"resumed with status {again}: {(folder / 'err.txt').read_text()[-300:]}")
            if list((folder / "tmp").glob("dpaudit-*")):
                wrong.append("a temporary folder is left")
            lost += bool(wrong)
            notes += [f"{how}, {jobs} jobs: {text}" for text in wrong]
            if case % 20 == 19:
                print(f"{case + 1} kills, {lost} lost", file=sys.stderr, flush=True)
    told = "resumed, the same bytes; nobody left after 2 s; statuses " + ", ".join(
        map("{0[0]} ({0[1]})".format, sorted(statuses.items()))
    )
    return Row("runs stopped at random moments, by " + ", ".join(STOPS[:number]), number, lost, told, notes)


def apart(call: Callable[[], object]) -> tuple[int, str]:
    """Return the status of a call that a copy of this process makes, and what it wrote to standard error."""
    with tempfile.TemporaryFile() as told:
        if not (pid := os.fork()):
            os.setpgid(0, 0)
            os.dup2(told.fileno(), 2)
            sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
            sys.stdout = open(os.devnull, "w")
            try:
                status = call()
                sys.stderr.flush()
                os._exit(status if isinstance(status, int) else 0)
            finally:
                os._exit(HUNG % 256)
        deadline = time.monotonic() + PATIENCE
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            if time.monotonic() > deadline:
                os.killpg(pid, signal.SIGKILL)
                ended = os.waitpid(pid, 0)
                break
            time.sleep(0.01)
        told.seek(0)
        return os.waitstatus_to_exitcode(ended[1]), told.read().decode(errors="replace")


def faulty(folder: Path, last: int, how: str, words: Sequence[str]) -> int:
    """Make a run whose calls on files in a folder are counted and may fail; keep the list of them beside it."""
    faults = Faulty(str(folder), last, how)
    faults.install()
    status = main(words)
    faults.last = 0
    (folder.parent / f"{folder.name}.calls").write_text("\n".join(faults.calls))
    return status


def faults(most: int) -> Row:
    """Let each call to the file system fail once, in each way, resume, and compare the bytes."""
    notes, lost, made, statuses = [], 0, 0, Counter[int]()
    words = (*RUN, "--backend", "sequential", "--jobs", "1", "--out")
    with tempfile.TemporaryDirectory() as name:
        calm = Path(name, "calm")
        status, err = apart(partial(faulty, calm, 0, "EIO", (*words, str(calm))))
        if status not in FOUND:
            raise SystemExit(err)
        whole, calls = (calm / FILENAME).read_bytes(), Path(name, "calm.calls").read_text().split("\n")
        cases = [(i, how) for i, call in enumerate(calls) for how in HOW if how != "short" or call.startswith("write")]
        for case, (i, how) in enumerate(cases[:most]):
            folder = Path(name, str(case))
            wrong = []
            status, err = apart(partial(faulty, folder, i + 1, how, (*words, str(folder))))
            statuses[status] += 1
            if "Traceback" in err or status not in {*FOUND, 2}:
                wrong.append(f"status {status}, {err[-300:]}")
            if status in FOUND and (folder / FILENAME).read_bytes() != whole:
                wrong.append(f"status {status}, and other bytes")
            if status == 2 and str(folder) not in err:
                wrong.append(f"no file is named: {err[-300:]}")
            if not calls[i].startswith("unlink") and list(folder.glob("*.tmp")):
                wrong.append("a scratch file is left")
            again, err = apart(partial(main, (*words, str(folder), "--resume")))
            if again not in FOUND or (folder / FILENAME).read_bytes() != whole:
                wrong.append(f"resumed with status {again}: {err[-300:]}")
            made, lost = made + 1, lost + bool(wrong)
            notes += [f"{calls[i]} (call {i + 1} of {len(calls)}), {how}: {text}" for text in wrong]
    told = "no traceback, the file named, no scratch file left; resumed, the same bytes; statuses "
    told += ", ".join(f"{status} ({count})" for status, count in sorted(statuses.items()))
    what = f"calls to the file system that fail, each of the {len(calls)} of a run: no space, input/output error"
    return Row(f"{what}, writes that end half-way", made, lost, told, notes)


def corruptions(number: int) -> Row:
    """Alter each byte of a finished run, and then bits of it by chance, and read it."""
    refused = same = silent = 0
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        whole, _ = reference(Path(name), 1)
        path = Path(name, "out", "run.jsonl")
        before = load_run(path)
        changed = [(at, random.randrange(1, 256)) for at in range(len(whole))]
        changed += [(random.randrange(len(whole)), 1 << random.randrange(8)) for _ in range(number)]
        for at, flipped in changed:
            content = bytearray(whole)
            content[at] ^= flipped
            path.write_bytes(content)
            try:
                same += (read := load_run(path)) == before
                silent += read != before
            except DpauditError:
                refused += 1
            except Exception as error:
                notes.append(f"byte {at}: {type(error).__name__}: {error}")
    told = f"{refused} refused, {same} read as the same results, {silent} read as others"
    what = f"bytes of a finished run altered: each of {len(whole):,}, and {number:,} single bits by chance"
    return Row(what, len(changed), same + silent + len(notes), told, notes)


def response(bit: int, rng: np.random.Generator) -> int:
    """Return a bit by randomised response, private for epsilon = ln 3 and not for less."""
    return bit if rng.random() < 0.75 else 1 - bit


def laplace(x: float, rng: np.random.Generator) -> float:
    """Return a number with Laplace noise, private for epsilon = 1 and not for less."""
    return x + rng.laplace()


def failing(bit: int, rng: np.random.Generator) -> int:
    """Raise an exception three times as often on one of the bits, private for epsilon = ln 3 and not for less."""
    if rng.random() < (0.75 if bit else 0.25):
        raise ValueError("no answer")
    return 1


TIGHT: tuple[tuple[Callable[..., object], float], ...] = ((response, LN_3), (laplace, 1.0), (failing, LN_3))


def boundary(number: int) -> Row:
    """Audit claims that hold with equality, by a fixed number of runs and by bets."""
    accused = Counter[str]()
    for seed in range(number):
        function, epsilon = TIGHT[seed % 3]
        sequential = bool(seed // 3 % 2)
        finding = dpaudit.audit_privacy(
            function, [(0, 1)], epsilon=epsilon, trials=1_000, seed=seed, sequential=sequential
        )
        accused[f"{function.__name__}, {finding.design}"] += finding.verdict == "violation"
    total = sum(accused.values())
    # The most that chance makes of so many at the level itself, but once in a thousand.
    allowed = int(binom.ppf(0.999, number, 0.001))
    told = f"{total} accused; {0.001 * number:g} are allowed on average, and by chance up to {allowed}: "
    told += ", ".join(f"{name} {count}" for name, count in accused.items())
    return Row("audits of claims that hold with equality, confidence 0.999", number, max(0, total - allowed), told)


def memory(number: int) -> Row:
    """Audit under limits of address space, from one that suffices to one in which nothing can be loaded."""
    notes, lost, statuses = [], 0, Counter[int]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.py").write_text(MECHANISM)
        for case in range(number):
            limit = int(2**31 * 0.8 ** (case * 8 / max(1, number - 1)))  # with less, OpenBLAS waits for ever
            words = ("privacy", "mine.py:response", "--epsilon", "1", "--trials", "2000", "--quiet")
            status, err = finished(str(limit), *words, folder=folder, code=LIMITED)
            statuses[status] += 1
            if status not in (0, 2):
                lost += 1
                notes.append(f"{limit} bytes: status {status}, {err[-200:]}")
    told = "a finding, or status 2 with a message: " + ", ".join(
        f"status {s} {n} times" for s, n in sorted(statuses.items())
    )
    return Row("audits under limits of address space (RLIMIT_AS)", number, lost, told, notes)


def mechanisms(number: int) -> Row:
    """Check many mechanisms of one project."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.py").write_text(MECHANISM)
        entry = '[[audit]]\nname = "m{0}"\nmechanism = "mine.py:response"\nepsilon = 1\ntrials = 400\nseed = {0}\n'
        (folder / "audit.toml").write_text("".join(entry.format(i) for i in range(number)))
        process = command("check", "--quiet", "--json", folder=folder)
        out, err = process.communicate(timeout=PATIENCE + 10 * number)
        rows = len(out.splitlines())
    return Row(
        "mechanisms in one check",
        number,
        number - rows,
        f"{rows} rows, status {process.returncode}",
        [err] if rows < number else [],
    )


class Turned:
    """A clock that goes on only when it is turned."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """Return the seconds that it was turned by."""
        return self.seconds


def _slow(clock: Turned, x: float, rng: np.random.Generator) -> float:
    clock.seconds += 20.0
    return x + rng.laplace()


def slow_clock() -> Row:
    """Audit for a day by a clock that goes on with each run."""
    day, notes, told = 24 * 3600.0, [], []
    for sequential in (False, True):
        turned = Turned()
        slow = partial(_slow, turned)
        with mock.patch.object(audit_module, "Clock", partial(Clock, now=turned)):
            finding = dpaudit.audit_privacy(
                slow, [(0, 1)], epsilon=1.0, trials=10**6, time_limit=day, sequential=sequential
            )
        told.append(f"{finding.design}: {turned.seconds / 3600:.1f} h, {finding.trials} trials, {finding.verdict}")
        notes += [] if turned.seconds <= 1.1 * day else [f"{finding.design} took {turned.seconds / 3600:.1f} h"]
    return Row(
        "audits of a day (time_limit of 24 h, runs of 20 s, by a clock that is turned)",
        2,
        len(notes),
        "; ".join(told),
        notes,
    )


PARTS: dict[str, tuple[Callable[[int], Row], int]] = {
    "kills": (kills, 6),
    "faults": (faults, 6),
    "corruptions": (corruptions, 200),
    "boundary": (boundary, 20),
    "memory": (memory, 5),
    "mechanisms": (mechanisms, 10),
    "clock": (lambda number: slow_clock(), 1),
}


def page(rows: dict[str, Row]) -> str:
    """Return the page, which also says what was not measured."""
    missing = [name for name in PARTS if name not in rows]
    lines = [
        "# Reliability measured",
        "",
        f"Made by `python scripts/bench_reliability.py` (dpaudit {dpaudit.__version__}, python "
        f"{platform.python_version()}, {platform.system()}). The cases are those that were made; more are made by "
        "`--kills 200 --faults 1000 --corruptions 20000 --boundary 3000 --memory 40 --mechanisms 500`.",
        "",
        "| what was done | cases | lost | what came of it |",
        "| --- | ---: | ---: | --- |",
        *(f"| {row.what} | {row.made:,} | {row.lost:,} | {row.told} |" for row in rows.values()),
        *(["", f"Not measured here: {', '.join(missing)}."] if missing else []),
    ]
    notes = [f"* {row.what}: {' '.join(note.split())}" for row in rows.values() for note in row.notes]
    return "\n".join([*lines, *(["", "## Cases in which something was lost", "", *notes] if notes else [])]) + "\n"


def bench() -> None:
    parser = argparse.ArgumentParser(description="Measure what kills, faults, corruptions and limits do to runs.")
    for name, (_, number) in PARTS.items():
        parser.add_argument(
            f"--{name}", type=int, default=number, metavar="N", help=f"cases; 0 for none (default: {number})"
        )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="keep the rows there; parts of 0 cases are taken from it"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page there (default: print it)")
    given = parser.parse_args()
    kept = json.loads(given.rows.read_text(encoding="utf-8")) if given.rows and given.rows.exists() else {}
    rows = {name: Row(**kept[name]) for name in PARTS if name in kept}
    for name, (part, _) in PARTS.items():
        if number := getattr(given, name):
            rows[name] = part(number)
            print(
                f"{name}: {rows[name].made} cases, {rows[name].lost} lost; {rows[name].told}",
                file=sys.stderr,
                flush=True,
            )
            if given.rows:
                given.rows.write_text(json.dumps({name: asdict(row) for name, row in rows.items()}), encoding="utf-8")
    text = page({name: rows[name] for name in PARTS if name in rows})
    print(text) if given.out is None else given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    bench()
