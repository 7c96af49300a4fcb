"""The commands on a project: check, diff and new."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from cli_support import called

from dpaudit.app import check as checks
from dpaudit.app.options import FORMS

MECHANISM = """
PAIRS = [(0, 1)]

def response(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit
"""
SETTINGS = 'trials = 2000\n[[audit]]\nname = "rr"\nmechanism = "rr.py:response"\nepsilon = 1.2\n'


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rr.py").write_text(MECHANISM)
    (tmp_path / "audit.toml").write_text(SETTINGS)
    return tmp_path


Capture = pytest.CaptureFixture[str]


def test_check_shows_a_table_and_keeps_it_and_diff_says_what_got_worse(capsys: Capture, project: Path) -> None:
    status, out, err = called(capsys, "check", joined=False)
    assert (status, out.splitlines()[-1]) == (0, "1 claim: 1 consistent.")
    assert "check.json; dpaudit diff compares it with the check before" in " ".join(err.split())
    assert called(capsys, "diff")[0] == 2
    (project / "audit.toml").write_text(SETTINGS.replace("1.2", "0.5"))
    status, out, _ = called(capsys, "check", joined=False)
    assert status == 1
    assert '\nVIOLATION rr: answer "' in out
    assert "times as often" in out
    status, out, _ = called(capsys, "diff", joined=False)
    assert status == 1
    (worse,) = [line.split(maxsplit=2) for line in out.splitlines() if line[:1].isalpha()]
    assert worse[:2] == ["WORSE", "rr"]
    assert worse[2].startswith("consistent, now violation (")
    assert "claims epsilon 0.5000, claimed 1.200 before" in " ".join(out.split())  # one row for one break
    assert called(capsys, "diff", ".dpaudit", ".")[:2] == (0, "nothing changed\n")
    worse = [json.loads(line)["worse"] for line in called(capsys, "diff", "--json", joined=False)[1].splitlines()]
    assert worse == [True]


def test_a_part_of_the_audits_is_not_kept(capsys: Capture, project: Path) -> None:
    status, out, _ = called(capsys, "check", "rr", "--json", joined=False)
    assert (status, json.loads(out)["verdict"]) == (0, "consistent")
    assert not (project / ".dpaudit").exists()


def test_an_interrupted_check_shows_what_it_has_found_and_how_to_go_on(capsys: Capture, project: Path) -> None:
    # It asks the command to end and waits for that, for at most twenty seconds.
    body = f"import os, signal, time\n    os.kill({os.getpid()}, signal.SIGINT)\n    time.sleep(20)\n    os._exit(1)\n"
    (project / "rr.py").write_text(MECHANISM + "\ndef stopping(bit, rng):\n    " + body)
    more = SETTINGS.partition("\n")[2]
    others = more.replace('"rr"', '"stops"').replace(":response", ":stopping") + more.replace('"rr"', '"last"')
    (project / "audit.toml").write_text(SETTINGS + others)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of the tests ignore it
    try:
        status, out, err = called(capsys, "check", joined=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (status, out.splitlines()[-1]) == (130, "1 claim: 1 consistent.")
    assert "INTERRUPTED  after 1 of 3 audits, which the table shows" in err
    assert "resume       dpaudit check stops last" in err
    assert not (project / ".dpaudit").exists()


def test_check_writes_a_report(capsys: Capture, project: Path) -> None:
    assert called(capsys, "check", "--out", "report.json")[0] == 0
    assert json.loads((project / "report.json").read_text())["learners"][0]["learner"] == "rr.py:response"


CHECKED: dict[str, list[checks.Checked]] = {}
"""The checks that reports in several forms are made of, by their settings."""


@pytest.fixture
def _checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = checks.check

    def check(settings: Path, *given: Any, **options: Any) -> list[checks.Checked]:
        text = settings.read_text()
        if text not in CHECKED:
            CHECKED[text] = list(made(settings, *given, **options))
        return CHECKED[text]

    monkeypatch.setattr(checks, "check", check)


@pytest.mark.usefixtures("_checked_once")
@pytest.mark.parametrize("form", [suffix[1:] for suffix in FORMS])
def test_a_report_tells_audits_of_one_mechanism_apart(capsys: Capture, project: Path, form: str) -> None:
    """An entry never hides another one, what is accepted is no failure, and what could not be audited is told."""
    entry = '[[audit]]\nname = "{}"\nmechanism = "{}"\nepsilon = {}\n'
    known = 'accepted = { reason = "known", date = 2026-01-31, epsilon = 1.2 }\n'
    kept = SETTINGS + entry.format("half", "rr.py:response", 0.5) + known
    broken = entry.format("broken", "rr.py:response", 0.5) + entry.format("lost", "gone.py:f", 1)
    (project / "audit.toml").write_text(kept + broken)
    assert called(capsys, "check", "--out", f"all.{form}")[0] == 2
    text = (project / f"all.{form}").read_text()
    for name in ("half", "broken") if form == "sarif" else ("rr", "half", "broken"):
        assert f"rr.py:response ({name})" in text.replace("\n   ", "")
    assert "gone.py:f" in text
    (project / "audit.toml").write_text(kept)
    assert called(capsys, "check", "--out", f"kept.{form}")[0] == 0
    text = (project / f"kept.{form}").read_text()
    if form == "json":
        verdicts = {one["label"]: one["verdict"]["privacy"] for one in json.loads(text)["learners"]}
        assert verdicts == {"rr.py:response (rr)": "consistent", "rr.py:response (half)": "accepted"}
    elif form == "xml":
        assert 'tests="2" failures="0" errors="0" skipped="1"' in text
    elif form == "sarif":
        assert [(one["level"], one["ruleId"]) for one in json.loads(text)["runs"][0]["results"]] == [
            ("note", "privacy-violation")
        ]
    else:
        assert "up to 1.2: known (2026-01-31)" in text
        assert "one violation accepted; no other" in text.lower() or "1 violation accepted; no other" in text
        assert "is broken:" not in text
        assert "status       1" not in text
    if form == "html":
        assert "dpaudit check half" in text


def test_a_dry_run_estimates_and_keeps_nothing(capsys: Capture, project: Path) -> None:
    status, out, _ = called(capsys, "check", "--dry-run", joined=False)
    assert (status, out.splitlines()[0]) == (0, "rr  about 0:00")
    (project / "audit.toml").write_text(SETTINGS.replace("rr.py", "gone.py"))
    status, _, err = called(capsys, "check", "--dry-run")
    assert status == 2
    assert "there is no file" in err
    assert not (project / ".dpaudit").exists()


def test_what_is_begun_can_be_checked_at_once(capsys: Capture) -> None:
    status, out, _ = called(capsys, "new", "mechanism", "mean", joined=False)
    assert status == 0
    assert "dpaudit privacy mean.py:mean --epsilon 1" in out
    status, out, _ = called(capsys, "check", "mean", joined=False)
    assert status == 1
    assert "\n!  mean" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("check", "--config", "none.toml"), "there is no file 'none.toml'"),
        (("check", "rx"), "there is no audit 'rx'; there are rr"),
        (("check", "--out", "x.pdf"), "--out must be a file that ends in"),
        (("diff", "one"), "give OLD and NEW, or neither for the last two checks of this project"),
        (("diff", "one", "two"), "there is no file 'one'"),
        (("diff",), "there is no check in "),
        (("new", "mechanism", "a-b"), "must be a name of Python"),
        (("new", "mechanism", "rr"), "rr.py is there already"),
        (("new", "machine", "rr"), "mechanism"),
    ],
)
def test_wrong_command_lines_say_what_to_type(capsys: Capture, words: tuple[str, ...], told: str) -> None:
    status, out, err = called(capsys, *words)
    assert (status, out) == (2, "")
    assert told in err
