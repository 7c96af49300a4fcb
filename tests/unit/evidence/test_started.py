"""The date of a run stands beside its file, so that equal runs are equal byte by byte, and in every report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from dpaudit.evidence.records import Header
from dpaudit.evidence.started import now, read_start
from dpaudit.evidence.store import FILENAME, Store, load_run
from dpaudit.report import console, formats, html
from dpaudit.report import json as json_report
from dpaudit.report.about import date_words

DATE, WORDS = "2026-01-31T12:00:00Z", "31 January 2026, 12:00 UTC"


@pytest.fixture
def run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1769860800")
    header = Header(seed=0, profile="quick", plan=(), command="dpaudit run", versions={})
    Store.start(tmp_path / FILENAME, header).finish()
    return tmp_path / FILENAME


def test_the_date_is_no_part_of_the_file_that_is_sealed(run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert now() == DATE
    run = load_run(run_file)
    assert run.started == DATE
    assert b"2026" not in run_file.read_bytes()
    before = run_file.read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1869860800")
    Store.start(run_file, replace(run.header, digest="")).finish()
    assert run_file.read_bytes() == before
    again = load_run(run_file)
    assert again.started > run.started
    assert again.seal == run.seal


def test_a_resumed_run_keeps_the_date_of_its_start(run_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1869860800")
    Store.resume(run_file, load_run(run_file).header).finish()
    assert load_run(run_file).started == DATE


@pytest.mark.parametrize("content", [None, b"", b"\xff", b"yesterday", b"2026-01-31\n<script>"])
def test_a_run_without_its_date_is_read_and_says_so(run_file: Path, content: bytes | None) -> None:
    beside = run_file.with_suffix(".started")
    if content is None:
        beside.unlink()
    else:
        beside.write_bytes(content)
    run = load_run(run_file)
    assert (run.started, date_words(run.started), read_start(run_file)) == ("", "", "")
    assert "started not recorded" in " ".join(console.render(run).split())
    assert "started" not in json.loads(json_report.render(run))


def test_every_format_names_the_date(run_file: Path) -> None:
    run = load_run(run_file)
    assert WORDS in " ".join(console.render(run).split())
    assert f"started on {WORDS}" in html.render(run)
    assert f"Started: {WORDS}" in formats.markdown(run)
    assert json.loads(json_report.render(run))["started"] == DATE
    assert json.loads(formats.sarif(run))["runs"][0]["invocations"][0]["startTimeUtc"] == DATE
    assert json_report.run_in(json_report.render(run).encode(), "a test").started == DATE
