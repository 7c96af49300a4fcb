"""Verbs that show no audit of one mechanism write it in every format, and no verb with results is without one."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import click
import pytest
from cli_support import called

from dpaudit.cli.app import COMMANDS, app
from dpaudit.cli.options import PLAIN
from dpaudit.contract import PrivacyVerdict, Verdict
from dpaudit.project.history import keep
from dpaudit.project.standings import Counted, Standing


def row(verdict: Verdict, found: float) -> Standing:
    numbers = {"claimed_epsilon": 1.0, "epsilon_lower": found, "detectable_epsilon": 1.1}
    tested = Counted(epsilon=1.0, delta=0.0)  # by bets
    return Standing(name="a|b <i>", mechanism="m.py:f", verdict=verdict, numbers=numbers, tested=tested)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.toml").write_text("")
    for day, verdict, found in ((1, PrivacyVerdict.CONSISTENT, 0.9), (2, PrivacyVerdict.VIOLATION, 1.9)):
        keep([row(verdict, found)], tmp_path, datetime.datetime(2026, 1, day, tzinfo=datetime.UTC))
    return tmp_path


@pytest.mark.parametrize("verb", ["history", "diff", "list"])
def test_it_is_written_in_every_format(capsys: Any, project: Path, verb: str) -> None:
    written = {}
    for suffix in PLAIN:
        path = project / f"told{suffix}"
        _, shown, _ = called(capsys, verb, "--out", str(path), joined=False)
        written[suffix] = path.read_text()
    assert json.loads(written[".json"].splitlines()[0] if verb != "list" else written[".json"])
    assert "<h1" in written[".html"]
    assert "<i>" not in written[".html"]
    assert written[".md"].startswith("## dpaudit: ")
    if verb == "diff":
        assert "a\\|b &lt;i&gt;" in written[".md"]
    if verb != "list":  # its table is as wide as it must be where nobody looks at a terminal
        assert written[".txt"] == shown


def test_a_format_that_there_is_not_is_refused_before_anything_runs(capsys: Any, project: Path) -> None:
    for verb, name in (("history", "told.pdf"), ("diff", "told.xml"), ("list", "told.svg")):
        status, out, err = called(capsys, verb, "--out", name)
        assert (status, out) == (2, "")
        assert "must be a file that ends in .html, .json, .md, .txt, got 'told." in " ".join(err.split())


def test_what_is_wrong_with_the_words_of_a_verb_names_its_help(capsys: Any, project: Path) -> None:
    for words in (("history", "--out"), ("history", "--config", "nope.toml")):
        status, _, err = called(capsys, *words)
        assert status == 2
        assert "dpaudit help history" in err


def test_the_history_shows_the_verdicts_that_occur(capsys: Any, project: Path) -> None:
    _, shown, _ = called(capsys, "history", joined=False)
    head, _, latest, first, _ = shown.splitlines()
    assert head.split() == ["at", "(UTC)", "claims", "violation", "consistent"]
    assert latest.split() == ["2026-01-02", "00:00", "1", "1", "0"]
    assert first.split() == ["2026-01-01", "00:00", "1", "0", "1"]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("new", "help", "completion")])
def test_every_verb_with_results_writes_them(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert "--out" in [word for option in command.params for word in option.opts]
