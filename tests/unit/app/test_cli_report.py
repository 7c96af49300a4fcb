"""Stored runs that are no longer what was written: the file, the line and the field are named, in a short line."""

from __future__ import annotations

import json

import pytest
from cli_support import call, instant_privacy, run  # noqa: F401  # acts by being here

from dpaudit.evidence.lines import digest_in, linked
from dpaudit.evidence.store import FILENAME
from dpaudit.evidence.tasks import canonical


def changed(line: bytes, change, before: str = "") -> bytes:
    """Return a line after a change of its record, with a digest that is right again."""
    record = json.loads(line)
    change(record)
    return linked(canonical(record).encode(), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line, _: line.replace(b'"toy-coin"', b'"toy-coil"'), "altered since it was written"),
        (lambda line, _: line[:-30], "altered since it was written"),
        (lambda line, before: changed(line, lambda r: r["finding"].update(pairs="many"), before), "$.finding.pairs"),
        (
            lambda line, before: changed(line, lambda r: r["finding"].pop("verdict"), before),
            "missing required field `verdict`",
        ),
        (
            lambda line, before: changed(line, lambda r: r["finding"].update(verdict="x" * 10_000), before),
            "$.finding.verdict",
        ),
        (lambda line, before: changed(line, lambda r: r.update({"y" * 10_000: 1}), before), "unknown field"),
        (lambda line, before: changed(line, lambda r: r["finding"].update(versions=3), before), "$.finding.versions"),
    ],
    ids=["byte", "cut", "type", "missing", "long", "unknown", "versions"],
)
def test_a_record_that_is_not_what_was_written_is_refused_with_its_line(capsys, tmp_path, change, message):
    run(capsys, tmp_path, "toy-coin")
    path = tmp_path / FILENAME
    lines = path.read_bytes().splitlines()
    lines[2] = change(lines[2], digest_in(lines[1]))
    path.write_bytes(b"\n".join(lines) + b"\n")
    for words in (("report", str(tmp_path)), ("run", "toy-coin", "--resume", "--quiet")):
        status, out, err = call(capsys, *words) if words[0] == "report" else run(capsys, tmp_path, *words[1:])
        assert (status, out) == (2, "")
        assert f"dpaudit: error: {path}, line 3: " in err
        assert message in err
        assert len(err) < 2_000


@pytest.mark.parametrize("version", [1, 3])
def test_a_run_of_another_schema_version_is_refused_with_what_to_do(capsys, tmp_path, version):
    run(capsys, tmp_path, "toy-coin")
    path = tmp_path / FILENAME
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(changed(first, lambda record: record.update(schema_version=version)) + b"\n" + rest)
    status, out, err = call(capsys, "report", str(tmp_path))
    assert (status, out) == (2, "")
    assert f"{path} has schema version {version}; this dpaudit reads 2: " in err


@pytest.mark.parametrize(
    "content", [b"{}\n", b"nothing\n", b"[1]\n", b"\xff\n", b'{"schema_version":"' + b"9" * 9999 + b'"}\n']
)
def test_a_file_that_is_no_run_is_refused_in_a_short_line(capsys, tmp_path, content):
    (tmp_path / FILENAME).write_bytes(content)
    status, out, err = call(capsys, "report", str(tmp_path))
    assert (status, out) == (2, "")
    assert f"{tmp_path / FILENAME}, line 1: not the header of a run" in err
    assert len(err) < 2_000


def test_what_others_wrote_cannot_act_on_the_terminal(capsys, tmp_path):
    (tmp_path / "learners.py").write_text(
        "from toy_learners import ToyCoin\n"
        "class Loud(ToyCoin):\n"
        "    'A \\x1b[2J\\u202e learner.'\n"
        "    id = 'toy-loud'\n"
        "    fault = 'it \\x1b]0;owns\\x07 the title'\n"
        "    def law(self, sample): raise ValueError('\\x1b[31mred\\nline')\n"
        "LEARNERS = (Loud,)\n"
    )
    words = ("--learners", str(tmp_path / "learners.py"))
    for command in (("list", "--all"), ("privacy", "toy-loud", "--trials", "100"), ("exact", "toy-loud")):
        _, out, err = call(capsys, *command, *words)
        assert "\x1b" not in out + err
        assert "\u202e" not in out + err
    assert r"raised ValueError: \x1b[31mred line" in err
