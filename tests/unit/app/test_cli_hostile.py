"""Names, outputs and exceptions of audited code, and texts of stored runs, cannot act on the terminal."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from cli_support import called
from sealed_runs import KINDS, edited, lines_of, put, resealed, write_run

from dpaudit.app.options import FORMS
from dpaudit.evidence.store import FILENAME
from dpaudit.progress import Line

HOSTILE = "a\x1b[2J\x1b]0;title\x07b\r\nVERDICT consistent\x9b31m\u202ec\u2028d"
"""Clears the screen, sets the title, forges a line, colours, and turns the direction of writing."""
MECHANISMS = f"""
HOSTILE = {HOSTILE!r}
PAIRS = [(0, 1), (HOSTILE, 1)]
def says(data, rng): return HOSTILE if data and rng.random() < 0.9 else "b"
def raises(data, rng): raise ValueError(HOSTILE)
def names(data, rng): return {{HOSTILE: float(bool(data)) + rng.random()}}
names.__name__ = names.__qualname__ = HOSTILE
def breaks(data, rng, size): raise ValueError(HOSTILE)
"""


def assert_harmless(text: str) -> None:
    assert not [c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    assert not any(line.startswith("VERDICT") for line in text.splitlines())


@pytest.mark.parametrize("words", [["says"], ["raises"], ["names", "-v"], ["says", "--json"], ["breaks", "--batched"]])
def test_an_audit_shows_what_is_hostile_as_it_is(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hostile.py").write_text(MECHANISMS)
    arguments = ["privacy", f"hostile.py:{words[0]}", "--epsilon", "0.5", "--trials", "200", *words[1:]]
    status, out, err = called(capsys, *arguments, "--out", "report.md", joined=False)
    assert status in (1, 2, 3)
    for text in (out, err, *(path.read_text() for path in Path().glob("report.md"))):
        assert_harmless(text)


@pytest.mark.parametrize("form", ["console", *(suffix[1:] for suffix in FORMS), "verify"])
def test_a_stored_run_shows_what_is_hostile_as_it_is(capsys, tmp_path: Path, form: str) -> None:
    def infect(told: dict) -> None:
        for name in ("command", "profile"):
            if name in told:
                told[name] = HOSTILE
        for name in ("worst_atom", "summary", "distribution", "distinguisher", "claim_id", "short", "found"):
            if name in told.get("finding", {}):
                told["finding"][name] = HOSTILE

    write_run(tmp_path, *KINDS)
    path = tmp_path / FILENAME
    put(path, resealed([edited(line, infect) for line in lines_of(path)]))
    words = ["verify", str(tmp_path)] if form == "verify" else ["report", str(tmp_path), "--format", form]
    status, out, err = called(capsys, *words, *(["-v"] if form == "console" else []), joined=False)
    assert status in (0, 3), err
    assert_harmless(out)
    assert_harmless(err)
    if form == "json":
        assert json.loads(out)["header"]["command"] == HOSTILE


def test_progress_shows_what_is_hostile_as_it_is(capsys) -> None:
    import sys

    line = Line(sys.stderr, "audits", clock=iter(range(0, 1000, 100)).__next__)
    line(1, 2, HOSTILE)
    assert_harmless(capsys.readouterr().err)
