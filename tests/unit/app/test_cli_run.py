"""The commands that run and report: statuses, files, and runs that are killed and resumed."""

from __future__ import annotations

import json
import os
import re
import signal
from functools import partial
from pathlib import Path

import pytest
from cli_support import PYTHONPATH, TOYS, call, instant_privacy, run  # noqa: F401  # acts by being here
from forked import begin, ran
from jsonschema import Draft202012Validator
from waiting import has_lines, wait_until

from dpaudit import app
from dpaudit.audit.audit import audit_privacy
from dpaudit.evidence import execute, perform
from dpaudit.evidence.store import FILENAME, Store, load_run
from dpaudit.record import encodable
from dpaudit.report import schema


def test_a_run_of_honest_learners_is_status_0_and_writes_its_reports(capsys, tmp_path):
    # Quietly: where a machine is busy, a run says after two seconds how far it is.
    status, out, err = run(capsys, tmp_path / "out", "toy-coin", "broken-toy-open", "--quiet")
    assert status == 0, out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["report.json", FILENAME, "run.started"]
    assert re.search(r"^  toy-coin +3 +3.00 +2.\d\d ", out, re.M)
    assert re.search(r"^controls +1 of 1 planted fault caught$", out, re.M)
    assert re.search(r"^status +0 \(no violation\)$", out, re.M)
    assert "broken-toy-open" in call(capsys, "report", str(tmp_path / "out"), "-v")[1]
    stored = load_run(tmp_path / "out")
    assert [r.task for r in stored.results] == [planned.task for planned in stored.header.plan]
    command = "dpaudit run toy-coin broken-toy-open --profile quick --seed 0 --confidence 0.999 --learners "
    assert stored.header.command.startswith(command)
    # Pasted, it overwrites no run; and where this one was written is in no byte of it.
    assert stored.header.command.endswith(" --out reports/remade")
    assert list(stored.header.controls) == ["broken-toy-open"]
    assert err == f"dpaudit: note: wrote {tmp_path / 'out' / FILENAME}, {tmp_path / 'out' / 'report.json'}\n"


def test_a_run_with_a_liar_is_status_1(capsys, tmp_path):
    assert run(capsys, tmp_path, "toy-coin", "toy-liar")[0] == 1


def test_a_control_that_is_not_convicted_is_status_1_and_named(capsys, tmp_path):
    status, out, _ = run(capsys, tmp_path, "toy-coin", "broken-toy-silent")
    assert status == 1
    assert out.startswith("The audit is blind: it missed the planted fault of broken-toy-silent.\n")


def test_a_task_that_fails_is_status_2_and_its_error_is_shown(capsys, tmp_path):
    status, _, err = run(capsys, tmp_path, "toy-crash", "toy-liar", "--quiet")
    assert status == 2
    assert re.search(r"^dpaudit: fault: toy-crash/exact/\S+: ZeroDivisionError: toy", err, re.M)
    stored = load_run(tmp_path)
    assert len(stored.results) == len(stored.header.plan) - 1
    (failure,) = stored.failures
    assert failure.error.startswith("ZeroDivisionError: toy")
    for record in (stored.header, failure):
        Draft202012Validator(schema.load("run")).validate(encodable(record))
    assert app.main(["report", str(tmp_path), "-v"]) == 2
    out, err = capsys.readouterr()
    assert re.search(r"^x +toy-crash .* failed: privacy$", out, re.M)
    assert re.search(r"^missing +toy-crash/exact/\S+: ZeroDivisionError: toy", out, re.M)
    assert re.search(r"^dpaudit: fault: toy-crash/exact/\S+: ZeroDivisionError: toy", err, re.M)


def test_a_learner_that_cannot_be_planned_is_status_2_but_the_others_are_audited(capsys, tmp_path):
    body = "class Bad(ToyCoin):\n    id = 'toy-bad'\n    utility = lambda s, a, b: 1 // 0\n"
    (tmp_path / "bad.py").write_text(f"from toy_learners import ToyCoin\n{body}LEARNERS = (Bad,)\n")
    words = [
        "run",
        "toy-bad",
        "toy-coin",
        "--profile",
        "quick",
        "--jobs",
        "1",
        "--out",
        str(tmp_path / "o"),
        "--no-html",
    ]
    assert app.main([*words, "--learners", str(tmp_path / "bad.py"), "--learners", TOYS]) == 2
    fault = "toy-bad: no audit could be planned: ZeroDivisionError"
    out, err = capsys.readouterr()
    assert f"dpaudit: fault: {fault}" in err
    assert f"not planned {fault}" in " ".join(out.split())
    assert "missing      0 results; not planned: 1 learner" in out
    stored = load_run(tmp_path / "o")
    assert stored.results
    Draft202012Validator(schema.load("run")).validate(encodable(stored.header))
    # What was stored says so too, in every format.
    (found,) = stored.header.faults
    told = f"dpaudit: fault: {found.learner}: {found.error}\n"
    assert call(capsys, "report", str(tmp_path / "o"))[::2] == (2, told)
    status, out, _ = call(capsys, "report", str(tmp_path / "o"), "--format", "json")
    assert (status, json.loads(out)["totals"]["unplanned"]) == (2, 1)
    Draft202012Validator(schema.load("report")).validate(json.loads(out))
    status, out, _ = call(capsys, "report", str(tmp_path / "o"), "--format", "html")
    assert status == 2
    assert "toy-bad: no audit could be planned: ZeroDivisionError" in out


def test_a_run_that_gained_or_lost_a_learner_without_a_plan_is_not_resumed(capsys, tmp_path):
    """Its tasks are those of the others either way."""
    body = "class Bare(ToyBare):\n    id = 'toy-odd'\n    {}\nLEARNERS = (Bare,)\n"
    for name, line in (("before", "pass"), ("after", "utility = lambda s, a, b: 1 // 0")):
        (tmp_path / f"{name}.py").write_text("from toy_learners import ToyBare\n" + body.format(line))
    words = ["run", "toy-coin", "toy-odd", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "o")]
    words += ["--no-html", "--quiet", "--learners", TOYS]
    assert app.main([*words, "--learners", str(tmp_path / "before.py")]) == 0
    assert app.main([*words, "--resume", "--learners", str(tmp_path / "after.py")]) == 2
    error = capsys.readouterr().err
    assert "the learners without a plan were none, are now toy-odd. Leave out --resume to start afresh" in error


@pytest.mark.parametrize("command", ["exact", "privacy", "utility", "run", "list"])
def test_a_learner_that_ends_the_process_is_status_2(capsys, tmp_path, monkeypatch, command):
    """`sys.exit(0)` in a learner must not pass for "all consistent"."""
    body = "class Quitter(ToyCoin):\n    id = 'toy-quitter'\n    def law(self, sample): sys.exit(0)\n"
    body += "    def run(self, sample, rng, size): sys.exit(0)\n"
    if command == "list":
        body += "    @property\n    def privacy(self): sys.exit(0)\n"
    (tmp_path / "q.py").write_text(f"import sys\nfrom toy_learners import ToyCoin\n{body}LEARNERS = (Quitter,)\n")
    monkeypatch.setattr(perform, "audit_privacy", audit_privacy)
    words = [command, *(["toy-quitter"] if command != "list" else []), "--learners", str(tmp_path / "q.py")]
    if command == "run":
        words += ["--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "o"), "--no-html"]
    status = app.main(words)
    out, err = capsys.readouterr()
    assert "SystemExit" in err
    if command == "list":  # one learner must not hide the others
        assert (status, "unknown" in out) == (0, True)
        return
    assert status == 2
    assert "consistent" not in out


def test_a_path_given_twice_is_loaded_once(capsys):
    assert call(capsys, "exact", "toy-coin", "--learners", TOYS)[0] == 0


def test_a_run_starts_afresh_or_resumes_as_told(capsys, tmp_path):
    run(capsys, tmp_path, "toy-coin")
    content = (tmp_path / FILENAME).read_bytes()
    run(capsys, tmp_path, "toy-coin")
    assert (tmp_path / f"{FILENAME}.bak").read_bytes() == (tmp_path / FILENAME).read_bytes() == content
    lines = content.splitlines(keepends=True)
    (tmp_path / FILENAME).write_bytes(b"".join(lines[:3]) + lines[3][:20])
    status, _, err = run(capsys, tmp_path, "toy-coin", "--resume")
    assert status == 0
    assert f"dpaudit: resuming: 2/{len(lines) - 2} audits" in err
    assert (tmp_path / FILENAME).read_bytes() == content


def test_a_run_resumed_with_another_seed_is_refused(capsys, tmp_path):
    run(capsys, tmp_path, "toy-coin")
    status, _, err = run(capsys, tmp_path, "toy-coin", "--resume", "--seed", "9")
    assert status == 2
    assert "seed was 0, is now 9" in err


def test_the_order_and_number_of_jobs_and_the_place_leave_no_trace_in_the_bytes(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1769860800")  # the date of a report is that of its own run
    run(capsys, tmp_path / "one", "toy-coin", "broken-toy-open")
    words = ["run", "toy-coin", "broken-toy-open", "--profile", "quick", "--jobs", "2", "--on", "threading"]
    app.main([*words, "--out", str(tmp_path / "two"), "--no-html", "--quiet", "--learners", TOYS])
    for name in (FILENAME, "report.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_an_interrupt_keeps_what_is_done(capsys, tmp_path, monkeypatch):
    append = Store.append

    def interrupt(self, record):
        append(self, record)
        if len(self.done) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "append", interrupt)
    status, _, err = run(capsys, tmp_path, "toy-coin")
    assert status == 130
    assert re.search(r"^INTERRUPTED  after 2 of \d+ audits; their results are kept in ", err, re.M)
    monkeypatch.undo()
    assert len(load_run(tmp_path).results) == 2


def test_an_interrupt_while_reports_are_written_says_that_the_run_is_kept(capsys, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.app.runs._report", interrupt)
    status, _, err = run(capsys, tmp_path, "toy-coin")
    assert status == 130
    done, planned = re.search(
        r"^INTERRUPTED  after (\d+) of (\d+) audits; their results are kept in ", err, re.M
    ).groups()
    assert done == planned == str(len(load_run(tmp_path).results))
    monkeypatch.undo()
    assert run(capsys, tmp_path, "toy-coin", "--resume")[0] == 0
    assert (tmp_path / "report.json").is_file()


def test_an_interrupted_audit_says_what_is_kept(capsys, tmp_path, monkeypatch):
    (tmp_path / "f.py").write_text("PAIRS = [(0, 1)]\ndef f(x, rng):\n    return x\n")

    def interrupt(*_, execution, **__):
        if execution.continued is not None:
            Path(execution.continued).write_text("runs")
        raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.evidence.perform.audit_privacy", interrupt)
    words = ("privacy", f"{tmp_path}/f.py:f", "--epsilon", "1", "--sequential", "--quiet")
    status, _, err = call(capsys, *words, "--continue", str(tmp_path / "kept"))
    assert (status, err) == (
        130,
        f"INTERRUPTED  what was stored is kept in {tmp_path}/kept: the same command goes on from it\n",
    )
    assert call(capsys, *words)[2] == "INTERRUPTED  the command did not come to its end\n"


def test_report_renders_a_stored_run_without_running_anything(capsys, tmp_path, monkeypatch):
    _, shown, _ = run(capsys, tmp_path / "out", "toy-coin", "toy-liar")
    monkeypatch.setattr(execute, "perform", None)
    status, out, _ = call(capsys, "report", str(tmp_path / "out"))
    assert (status, out) == (1, shown)
    target = tmp_path / "again.json"
    call(capsys, "report", str(tmp_path / "out" / FILENAME), "--format", "json", "--out", str(target))
    assert target.read_bytes() == (tmp_path / "out" / "report.json").read_bytes()


def test_report_of_an_unfinished_run_says_so(capsys, tmp_path):
    run(capsys, tmp_path, "toy-coin")
    stored = load_run(tmp_path)
    store = Store.start(tmp_path / FILENAME, stored.header)
    store.append(stored.results[0])
    status, out, err = call(capsys, "report", str(tmp_path))
    assert status == 2
    assert f"{len(stored.results) - 1} of {len(stored.results)} audits have no result" in err
    assert re.search("^seal +not sealed$", out, re.M)


SLOW = """
import os, time
from toy_learners import ToyBare, ToyCoin

class Slow(ToyBare):
    def law(self, sample):
        # So that there is time to kill the run between two results.
        time.sleep(float(os.environ.get("TOY_DELAY", "0")))
        {action}
        return ToyCoin(1.0).law(sample)

LEARNERS = tuple(type("S%d" % i, (Slow,), {{"id": "slow-%d" % i}}) for i in range(6))
"""


def slow_run(folder: Path, *words: str) -> list[str]:
    learners = folder / "slow.py"
    return [
        "-m",
        "dpaudit",
        "run",
        "--profile",
        "quick",
        "--no-html",
        "--quiet",
        "--out",
        str(folder / "out"),
        "--learners",
        str(learners),
        *[f"slow-{i}" for i in range(6)],
        *words,
    ]


def test_a_run_that_is_killed_resumes_to_the_same_bytes(tmp_path):
    contents = []
    folder = tmp_path / "here"  # the command that a run stores names its learners' file
    for name in ("killed", "whole"):
        folder.mkdir()
        (folder / "slow.py").write_text(SLOW.format(action=""))
        env = {**os.environ, "PYTHONPATH": PYTHONPATH}
        path = folder / "out" / FILENAME
        if name == "killed":
            slow = {**env, "TOY_DELAY": "0.05"}
            process = begin(*slow_run(folder, "--jobs", "1"), env=slow, cwd=folder)
            wait_until(partial(has_lines, path, 3), seconds=30)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=30)
            assert process.returncode == -signal.SIGKILL
            assert 3 <= path.read_bytes().count(b"\n") < 7
        done = ran(*slow_run(folder, "--resume", "--jobs", "1"), env=env, cwd=folder)
        assert done.returncode == 0, done.stderr
        contents.append(path.read_bytes())
        folder.rename(tmp_path / name)
    assert contents[0] == contents[1]
    assert contents[0].count(b"\n") == 8  # header, six results, seal


def test_a_task_that_kills_its_worker_is_a_failure_and_the_others_go_on(tmp_path):
    """It is named, alone, and the run ends with status 2 instead of hanging."""
    (tmp_path / "slow.py").write_text(SLOW.format(action='self.id == "slow-5" and os._exit(9)'))
    env = {**os.environ, "PYTHONPATH": PYTHONPATH}
    done = ran(*slow_run(tmp_path, "--jobs", "2"), env=env, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    stored = load_run(tmp_path / "out")
    assert [record.learner for record in stored.results] == [f"slow-{i}" for i in range(5)]
    (failure,) = stored.failures
    assert failure.learner == "slow-5"
    assert re.match(r"WorkerDied: the task ended its process \(exit status 9\)", failure.error)
