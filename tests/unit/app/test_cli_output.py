"""Output of the verbs: colour, width, JSON, reports, and the command that makes a result again."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from cli_support import TOYS, call, called, instant_privacy, run, verb  # noqa: F401  # acts by being here
from jsonschema import Draft202012Validator

from dpaudit import app
from dpaudit.app.application import COMMANDS
from dpaudit.app.options import FORMS
from dpaudit.evidence.outcome import AUDITS
from dpaudit.evidence.store import load_run
from dpaudit.record import encodable
from dpaudit.report import schema
from dpaudit.report.repeat import repeat_command


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return the standard output, which is a terminal from now on."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


LIAR = ("exact", "toy-liar", "-p", "gain=2", "--n", "1", "--learners", TOYS)


def test_the_verdict_is_coloured_and_broken_at_the_width_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    assert app.main(LIAR) == 1
    plain = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())
    assert terminal.getvalue().startswith("\x1b[1;31mVIOLATION\x1b[0m    toy-liar claims epsilon =")
    verdict = plain.partition("repeat")[0].splitlines()
    assert max(map(len, verdict)) <= 50
    assert len(verdict) > 3


@pytest.mark.parametrize("forced", [False, True])
def test_colour_can_be_refused(monkeypatch: pytest.MonkeyPatch, forced: bool) -> None:
    terminal = at_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    if forced:
        monkeypatch.setenv("FORCE_COLOR", "1")
    assert app.main(LIAR) == 1
    assert terminal.getvalue().startswith("VIOLATION    toy-liar")
    assert "\x1b" not in terminal.getvalue()


def test_elsewhere_lines_have_80_columns_and_colour_only_if_asked_for(capsys, monkeypatch) -> None:
    text = called(capsys, *LIAR, joined=False)[1]
    assert "\x1b" not in text
    # A command is one line, so that it can be copied.
    assert max(len(line) for line in text.splitlines() if not line.startswith("repeat")) <= 80
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == ["VIOLATION", "because", "repeat"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert called(capsys, *LIAR)[1].startswith("\x1b[1;31mVIOLATION")


def test_more_is_shown_if_asked_for(capsys) -> None:
    out = called(capsys, *LIAR, "-v")[1]
    for label in ("VIOLATION", "parameters", "claim", "epsilon", "witness", "repeat"):
        assert len(re.findall(rf"^{label} ", out, re.M)) == 1


@pytest.mark.parametrize("words", [("exact", "toy-liar"), ("privacy", "toy-coin"), ("utility", "toy-coin")])
@pytest.mark.parametrize("suffix", FORMS)
def test_a_report_is_written_in_the_format_of_the_suffix(capsys, tmp_path: Path, words, suffix: str) -> None:
    path = tmp_path / f"report{suffix}"
    status, out, _ = call(capsys, *words, "--out", str(path))
    text = path.read_text()
    assert words[1] in text
    if suffix == ".json":
        Draft202012Validator(schema.load("report")).validate(json.loads(text))
        assert (
            shlex.split(json.loads(text)["header"]["command"])[1:]
            == shlex.split(re.search(r"^repeat +(.*)$", out, re.M)[1])[1:]
        )
    if suffix == ".txt":
        assert f"status       {status} " in text


def test_a_report_that_dpaudit_did_not_write_is_kept(capsys, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("the boss's")
    call(capsys, "exact", "toy-liar", "--out", str(path))
    assert (tmp_path / "mine.txt.bak").read_text() == "the boss's"


def test_the_ledger_writes_a_report(capsys, tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    status, _, err = call(capsys, "ledger", "NIS-ParityFailure", "--jobs", "1", "--out", str(path))
    assert (status, err) == (0, "")
    report = json.loads(path.read_text())
    assert [row["id"] for row in report["ledger"]["statements"]] == ["NIS-ParityFailure"]


def test_runs_and_reports_are_told_as_json(capsys, tmp_path: Path) -> None:
    status, out, _ = run(capsys, tmp_path / "out", "toy-liar", "--json")
    assert (status, json.loads(out)["totals"]["violations"]) == (1, 1)
    assert (
        called(capsys, "report", str(tmp_path / "out"), "--json")[1]
        == out
        == (tmp_path / "out" / "report.json").read_text()
    )


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("new", "help")])
def test_every_verb_with_results_has_json(name: str) -> None:
    assert "--json" in [word for option in verb(name).params for word in option.opts]


def test_every_result_of_a_run_is_made_again_by_one_command(capsys, tmp_path: Path) -> None:
    run(capsys, tmp_path, "toy-coin", "toy-liar", "toy-bare", "broken-toy-open", "--seed", "3")
    results = [result for result in load_run(tmp_path).results if result.kind in AUDITS]
    assert {result.kind for result in results} == set(AUDITS)
    for result in results:
        words = shlex.split(repeat_command(result, 3, [TOYS]))
        _, out, err = called(capsys, *words[1:], "--json")
        assert json.loads(out)["finding"] == encodable(result.finding)
        assert err == ""


def test_progress_is_shown_unless_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for words, live in ((LIAR, True), ((*LIAR, "--quiet"), False)):
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr("dpaudit.progress.LIVE_SECONDS", 0.0)
        assert app.main(words) == 1
        assert ("laws" in stream.getvalue()) == live
