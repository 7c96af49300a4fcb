"""Verbs that show no audit of one mechanism write it in every format, and no verb with results is without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from cli_support import called
from toy_records import privacy_finding

from dpaudit.app.application import COMMANDS, app
from dpaudit.app.kept import keep
from dpaudit.app.options import PLAIN
from dpaudit.evidence.records import SINGLE, Header, Listed, Result, Run
from dpaudit.evidence.tasks import PrivacyArguments
from dpaudit.report.json import render


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audit.toml").write_text("")
    for epsilon in (2.0, 0.5):
        header = Header(plan=(), seed=0, profile=SINGLE, command="x")
        verdict = "violation" if epsilon < 1 else "no evidence"
        finding = privacy_finding(verdict, epsilon=epsilon)
        arguments = PrivacyArguments(trials=finding.trials, confidence=finding.confidence)
        result = Result(task="one", learner="m.py:f", parameters={}, arguments=arguments, finding=finding)
        listed = {result.learner: Listed("a|b <i>")}
        keep(render(Run(header, (result,), listed=listed)), tmp_path)
    return tmp_path


@pytest.mark.parametrize("verb", ["diff", "list"])
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
    for verb, name in (("diff", "told.pdf"), ("diff", "told.xml"), ("list", "told.svg")):
        status, out, err = called(capsys, verb, "--out", name)
        assert (status, out) == (2, "")
        assert f"must be a file that ends in {', '.join(PLAIN)}, got 'told." in " ".join(err.split())


def test_what_is_wrong_with_the_words_of_a_verb_names_its_help(capsys: Any, project: Path) -> None:
    for words in (("diff", "--out"), ("diff", "one")):
        status, _, err = called(capsys, *words)
        assert status == 2
        assert "dpaudit help diff" in err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("new", "help")])
def test_every_verb_with_results_writes_them(name: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert "--out" in [word for option in command.params for word in option.opts]
