"""Stored runs that were altered in any way: refused in a short message, or read as a run of another total."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sealed_runs import KINDS, lines_of, put, resealed, write_run

from dpaudit.cli import main
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.errors import DpauditError
from dpaudit.reporters import html, overview
from dpaudit.reporters import json as json_report

MOST = 2_000
"""Bytes of a message."""
CASES = {"quick": 300, "full": 20_000}
TOKENS = (
    b"null", b"true", b"-1", b"0", b"1.5", b"1e308", b"-1e999", b"NaN", b"Infinity", b'"NaN"', b'"inf"', b'"-inf"', b'""',
    b'"<b>"', b'"banana"', b'"violation"', b'"consistent"', b'"\\ud800"', b'"\\u001b[2J"', b"[]", b"{}", b"[[1]]", b"9" * 30,
    b"9" * 5_000, b"[" * 2_000 + b"]" * 2_000, b'"' + b"x" * 5_000 + b'"', b"\xff", b"\xef\xbb\xbf", b"", b" 1", b'"a":1,',
)  # fmt: skip
VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"(?=[,}\]])|-?\d[\d.e+-]*|true|false|null')
MEMBER = re.compile(rb'"[a-z_]+":(?:"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null),')


@st.composite
def altered(draw: st.DrawFn, lines: list[bytes], foreign: list[bytes]) -> list[bytes]:
    """Return the lines of a file after one to three changes."""
    found = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(found) - 1))
        line = found[number]
        kind = draw(st.sampled_from(("bit", "digit", "value", "member", "double", "cut", "insert", "line")))
        if kind == "line":
            other = draw(st.integers(0, len(found) - 1))
            how = draw(st.sampled_from(("swap", "again", "drop", "foreign")))
            if how == "swap":
                found[number], found[other] = found[other], line
            elif how == "again":
                found.insert(other, line)
            elif how == "foreign":
                found[number] = foreign[other % len(foreign)]
            elif len(found) > 1:
                del found[number]
            continue
        found[number] = _altered_line(draw, kind, line)
    return found


def _altered_line(draw: st.DrawFn, kind: str, line: bytes) -> bytes:
    pattern = {"digit": re.compile(rb"\d"), "value": VALUE, "member": MEMBER, "double": MEMBER}.get(kind)
    if pattern is None:
        place = draw(st.integers(0, max(len(line) - 1, 0)))
        if kind == "bit" and line:
            return line[:place] + bytes([line[place] ^ 1 << draw(st.integers(0, 7))]) + line[place + 1 :]
        return line[:place] if kind == "cut" else line[:place] + draw(st.sampled_from(TOKENS)) + line[place:]
    places = [match.span() for match in pattern.finditer(line)]
    if not places:
        return line
    start, end = draw(st.sampled_from(places))
    new = {
        "digit": lambda: str(draw(st.integers(0, 9))).encode(),
        "value": lambda: draw(st.sampled_from(TOKENS)),
        "member": lambda: b"",
        "double": lambda: line[start:end] * 2,
    }[kind]()
    return line[:start] + new + line[end:]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, bytes, list[bytes]]]:
    """Yield the file of a sealed run, its content, and the lines of another run of the same plan."""
    folder = tmp_path_factory.mktemp("fuzzed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.engine.files.os.fsync", lambda handle: None)
        other = write_run(folder / "other", *KINDS, command="dpaudit run something else")
        path = write_run(folder / "run", *KINDS)
        yield path, path.read_bytes(), lines_of(other)


@pytest.mark.parametrize("profile", [pytest.param("full", marks=pytest.mark.full), "quick"])
def test_no_alteration_is_silent_long_or_a_traceback(stored: tuple[Path, bytes, list[bytes]], profile: str) -> None:
    path, content, foreign = stored
    path.write_bytes(content)
    lines, total = lines_of(path), load_run(path).total
    counts = {"refused": 0, "refused, digests made anew": 0, "another total": 0, "unchanged": 0}

    @settings(
        max_examples=CASES[profile], deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(altered(lines, foreign), st.booleans())
    def alter(changed: list[bytes], anew: bool) -> None:
        if anew:
            try:
                changed = resealed(changed)
            except DpauditError:  # no digest is left in a line
                anew = False
        put(path, changed)
        if path.read_bytes() == content:
            counts["unchanged"] += 1
            return
        try:
            run = load_run(path)
        except DpauditError as error:
            counts["refused, digests made anew" if anew else "refused"] += 1
            assert len(str(error).encode(errors="backslashreplace")) < MOST
            assert FILENAME in str(error)
            return
        # Only who makes the digests anew gets so far, and then the total is another one.
        assert anew
        assert run.total != total
        counts["another total"] += 1
        for reporter in (overview, json_report, html):
            assert reporter.render(run)

    alter()
    print(counts)
    assert counts["refused"] > CASES[profile] / 5
    assert counts["refused, digests made anew"] > CASES[profile] / 10
    assert counts["another total"] > CASES[profile] / 100


def huge(told: dict[str, Any]) -> bytes:
    told["finding"]["worst_atom"] = "x" * 50_000_000
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


def put_in(value: bytes) -> Any:
    return lambda line: line.replace(b'"worst_atom":"1"', b'"worst_atom":' + value)


EXTREMES = {
    "nesting": put_in(b"[" * 100_000 + b"]" * 100_000),
    "nested parameter": lambda line: line.replace(b'"gain":1.0', b'"gain":' + b"[" * 100_000 + b"]" * 100_000),
    "digits": put_in(b"9" * 5_000),
    "digits of a parameter": lambda line: line.replace(b'"gain":1.0', b'"gain":' + b"9" * 5_000),
    "NaN": lambda line: line.replace(b'"gain":1.0', b'"gain":NaN'),
    "no text": put_in(b'"\xff\xfe"'),
    "surrogate": put_in(b'"\\ud800"'),
    "raw surrogate": put_in(b'"\xed\xa0\x80"'),
    "mark": lambda line: b"\xef\xbb\xbf" + line,
    "doubled key": put_in(b'"1","worst_atom":"2"'),
    "doubled key of a parameter": lambda line: line.replace(b'"gain":1.0', b'"gain":1.0,"gain":2.0'),
    "huge": lambda line: huge(json.loads(line)),
    "huge number": put_in(b"9" * 5_000_000),
    "huge word": lambda line: line.replace(b'"verdict":"consistent"', b'"verdict":"' + b"x" * 5_000_000 + b'"'),
    "huge key": lambda line: line.replace(b'"worst_atom":', b'"' + b"x" * 5_000_000 + b'":1,"worst_atom":'),
    "huge parameter": lambda line: line.replace(b'"gain":1.0', b'"gain":"' + b"x" * 5_000_000 + b'"'),
}


@pytest.mark.parametrize("anew", [False, True], ids=["as it is", "digests made anew"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes_are_refused_in_a_short_message(stored, capsys, name: str, anew: bool) -> None:
    path, content, _ = stored
    path.write_bytes(content)
    lines, total = lines_of(path), load_run(path).total
    lines[1] = EXTREMES[name](lines[1])
    put(path, resealed(lines) if anew else lines)
    assert path.read_bytes() != content
    status = main(["verify", str(path), "--total", total])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert f"dpaudit: error: {path}" in err
    assert "Traceback" not in err
    assert len(err.encode()) < MOST
