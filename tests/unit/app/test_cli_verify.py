"""``dpaudit verify``: sealed and right is 0, anything wrong 2, what is not sealed 3."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import HERE, call, run
from sealed_runs import KINDS, edited, lines_of, put, resealed, write_run

from dpaudit.evidence import verification
from dpaudit.evidence.store import FILENAME, load_run

GOLDEN = HERE.parent / "golden"


@pytest.fixture
def stored(capsys, tmp_path: Path) -> Path:
    """Return the folder of a small run, exact audits and utility of a toy."""
    (tmp_path / "coin.py").write_text(
        "from toy_learners import ToyCoin\nclass C(ToyCoin):\n    id = 'toy-c'\nLEARNERS = (C,)\n"
    )
    words = ["toy-c", "--trials", "100", "--quiet", "--learners", str(tmp_path / "coin.py")]
    assert run(capsys, tmp_path / "run", *words)[0] == 0
    return tmp_path / "run"


def verify(capsys, path: Path, *words: str) -> tuple[int, str, str]:
    return call(capsys, "verify", str(path), "--learners", str(path.parent / "coin.py"), *words)


def test_a_sealed_run_is_verified_and_tasks_are_done_again(capsys, stored: Path) -> None:
    run = load_run(stored)
    status, out, err = verify(capsys, stored, "--again", str(len(run.results)), "--total", run.total.upper())
    assert (status, err) == (0, "")
    number = len(run.results)
    assert out.startswith(f"SEALED       {number} results in ")
    assert f"total        {run.total}\n" in out
    assert f"again        {number} tasks done again: {number} with the same bytes\n" in out
    found = json.loads(verify(capsys, stored, "--json")[1])
    assert (found["state"], found["total"], found["results"], found["again"]) == ("sealed", run.total, number, [])
    assert f"seal         {run.total}\n" in call(capsys, "report", str(stored))[1]


@pytest.mark.parametrize("again", ["0", "-1", "1000"])
def test_more_tasks_than_there_are_and_none_are_bad_input(capsys, stored: Path, again: str) -> None:
    status, out, err = verify(capsys, stored, "--again", again)
    assert (status, out) == (2, "")
    assert re.match(rf"BAD INPUT +--again must be in 1\.\.\d+, the results of the run, got {again}\n", err)


@pytest.mark.parametrize(
    ("total", "words"),
    [("0" * 64, "is not the run of that total: its total is "), ("abc", "--total must be 64 hexadecimal digits")],
)
def test_another_total_is_status_2(capsys, stored: Path, total: str, words: str) -> None:
    status, out, err = verify(capsys, stored, "--total", total)
    assert (status, out) == (2, "")
    assert words in err


def test_where_there_is_no_run(capsys, tmp_path: Path) -> None:
    status, out, err = call(capsys, "verify", str(tmp_path))
    assert (status, out) == (2, "")
    assert "there is no run at" in err


def test_a_run_in_progress_is_not_sealed_yet(capsys, tmp_path: Path) -> None:
    path = write_run(tmp_path, *KINDS, finish=False)
    content = path.read_bytes()
    for end in (len(content), len(content) - 9):
        path.write_bytes(content[:end])
        status, out, _ = call(capsys, "verify", str(tmp_path))
        assert status == 3
        assert re.match(r"NOT SEALED +\d results in .*: the run is not finished", " ".join(out.split()))
    status, _, err = call(capsys, "verify", str(tmp_path), "--total", "0" * 64)
    assert status == 2
    assert "it is not sealed, so it has no total" in err


def test_the_sealed_run_that_is_kept_here_is_right(capsys) -> None:
    path = GOLDEN / "run_small.jsonl"
    assert call(capsys, "verify", str(path))[0] == 0
    assert load_run(path).total in (GOLDEN / "run_small.txt").read_text()
    assert json.loads((GOLDEN / "run_small.json").read_text())["seal"] == load_run(path).total


def test_an_altered_run_is_status_2_with_file_and_line(capsys, stored: Path) -> None:
    path = stored / FILENAME
    path.write_bytes(path.read_bytes().replace(b'"verdict":"consistent"', b'"verdict":"violation"'))
    status, out, err = verify(capsys, stored)
    assert (status, out) == (2, "")
    assert re.match(rf"dpaudit: error: {re.escape(str(path))}, line \d: altered since it was written", err)


def test_numbers_that_were_made_up_are_found_by_doing_all_again(capsys, stored: Path) -> None:
    path, total = stored / FILENAME, load_run(stored).total
    lines = lines_of(path)
    number = next(i for i, line in enumerate(lines) if b'"kind":"exact"' in line and i)
    lines[number] = edited(lines[number], lambda told: told["finding"].update(laws=17))
    put(path, resealed(lines))
    assert verify(capsys, stored)[0] == 0  # whoever computes the digests anew, and keeps to sense, seals what he likes
    assert verify(capsys, stored, "--total", total)[0] == 2
    status, _, err = verify(capsys, stored, "--again", str(len(lines) - 2))
    assert status == 2
    assert re.search(
        rf"line {number + 1}: toy-c/exact/\S+, done again, gives something else: \$\.finding\.laws was 17", err
    )


def test_on_another_version_the_same_verdicts_are_asked_for_and_differences_are_told(
    capsys, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = str(len(load_run(stored).results))
    now = verification.versions() | {"scipy": "0.0"}
    monkeypatch.setattr(verification, "versions", lambda: now)
    status, out, _ = verify(capsys, stored, "--again", number)
    assert status == 0
    assert re.search(r"^changed +scipy \S+, now 0\.0$", out, re.M)
    made = verification.perform

    def nearly(task, **options):
        record = made(task, **options)
        return (
            record
            if record.kind != "exact"
            else verification.replace(record, finding=verification.replace(record.finding, error=1e-9))
        )

    monkeypatch.setattr(verification, "perform", nearly)
    status, out, _ = verify(capsys, stored, "--again", number)
    assert status == 0
    assert f"{int(number) - 1} with the same bytes, 1 with the same verdict" in out
    assert re.search(
        r"^differs +toy-c/exact/\S+: \$\.finding\.error was .*, is 1e-09$", " ".join(out.split("\n ")), re.M
    )


def test_another_learner_of_the_same_name_is_told(capsys, stored: Path) -> None:
    learner = stored.parent / "coin.py"
    learner.write_text(learner.read_text() + "    x = 1\n".replace("    ", ""))
    status, out, _ = verify(capsys, stored, "--again", "1")
    assert status == 0
    assert re.search(r"^changed +the code of coin\.py$", out, re.M)
    status, _, err = call(capsys, "verify", str(stored), "--again", "1")
    assert status == 2
    assert "toy-c" in err
