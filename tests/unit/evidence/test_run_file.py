"""The lines of a run file: whatever is altered in one is refused, with file and line."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from toy_records import failure, header, result

from dpaudit.contract import PrivacyClaim
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.lines import write_line
from dpaudit.evidence.store import read_header, read_record
from dpaudit.results import SCHEMA_VERSION

PATH = Path("folder/run.jsonl")
RECORDS = (result("exact"), result("privacy"), result("utility"), result("ledger"), result("picture"), failure())


def line_of(record) -> bytes:
    return write_line(record).rstrip(b"\n")


def sealed(told: dict) -> bytes:
    """Return JSON data as a line with a right digest: what a program that knows the rule could write."""
    rest = json.dumps({k: v for k, v in told.items() if k != "digest"}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.blake2b(rest.encode(), digest_size=32).hexdigest()
    return json.dumps({**told, "digest": digest}, sort_keys=True, separators=(",", ":")).encode()


def read(line: bytes):
    return read_record(PATH, 7, line)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.kind)
def test_a_record_is_read_as_it_was_written(record):
    line = line_of(record)
    assert sealed(json.loads(line)) == line
    again = read(line)
    assert line_of(again) == line
    assert (again.kind, again.arguments) == (record.kind, record.arguments)
    assert re.fullmatch("[0-9a-f]{64}", again.digest)


@pytest.mark.parametrize("record", [result("utility"), failure()], ids=["result", "failure"])
def test_every_altered_byte_of_a_record_is_refused_with_file_and_line(record):
    line = line_of(record)
    for place in range(len(line)):
        for bit in range(8):
            altered = bytearray(line)
            altered[place] ^= 1 << bit
            with pytest.raises(ToolFault, match=r"^folder/run\.jsonl, line 7: "):
                read(bytes(altered))


def test_every_altered_byte_of_a_header_is_refused_with_its_file():
    line = line_of(header(["t"]))
    assert read_header(PATH, line).schema_version == SCHEMA_VERSION
    for place in range(len(line)):
        for changed in (line[place] ^ 1, line[place] ^ 3, line[place] ^ 128):
            altered = bytearray(line)
            altered[place] = changed
            with pytest.raises((ToolFault, InputError), match=r"^folder/run\.jsonl(, line 1:| has schema version)"):
                read_header(PATH, bytes(altered))


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_line_that_lost_its_end_is_refused(cut):
    with pytest.raises(ToolFault, match="line 7: "):
        read(line_of(result())[:-cut])


@pytest.mark.parametrize("text", [b"null", b"[]", b"{}", b'{"record":"result"}'])
def test_a_record_without_its_digest_is_refused(text):
    with pytest.raises(ToolFault, match=r"^folder/run\.jsonl, line 7: a record without its digest$"):
        read(text)


def changed(path: str, value: object = None) -> dict:
    """Return a stored result with the field at a path such as finding.beta set; without a value, taken out."""
    told = json.loads(line_of(result("utility")))
    *inner, last = path.split(".")
    place = told
    for name in inner:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return told


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (changed("finding.beta"), r"missing required field `beta` - at `\$.finding`"),
        (changed("task"), r"missing required field `task`"),
        (changed("learner", 3), r"Expected `str`, got `int` - at `\$.learner`"),
        (changed("finding.beta", "0.1"), r"Expected `float`, got `str` - at `\$.finding.beta`"),
        (changed("finding.failures", 1.5), r"Expected `int`, got `float` - at `\$.finding.failures`"),
        (changed("finding.verdict", "fine"), r"Invalid enum value 'fine' - at `\$.finding.verdict`"),
        (changed("finding.secret", 1), r"unknown field `secret` - at `\$.finding`"),
        (changed("arguments.secret", 1), r"unknown field `secret` - at `\$.arguments`"),
        (changed("secret", 1), "unknown field `secret`"),
        (changed("finding.kind", "rumour"), r"Invalid value 'rumour' - at `\$.finding.kind`"),
        (changed("arguments.kind", "rumour"), r"Invalid value 'rumour' - at `\$.arguments.kind`"),
        (changed("record", "rumour"), r"Invalid value 'rumour' - at `\$.record`"),
        (changed("finding.schema_version", 3), r"Invalid enum value 3 - at `\$.finding.schema_version`"),
    ],
)
def test_a_sealed_record_that_is_no_record_is_refused_with_its_field(told, words):
    with pytest.raises(ToolFault, match=rf"^folder/run\.jsonl, line 7: .*{words}"):
        read(sealed(told))


@pytest.mark.parametrize(
    ("record", "path"),
    [
        (result("exact", claim=PrivacyClaim(1.0)), "claim"),
        (result("exact"), "finding.worst_pair.origin"),
        (result("privacy"), "finding.origins[0]"),
        (result("picture"), "finding.picture"),
        (result("picture"), "finding.picture.panels[0]"),
    ],
)
def test_an_unknown_field_of_a_plain_dataclass_is_refused_with_its_place(record, path):
    told = json.loads(line_of(record))
    place = told
    for step in re.findall(r"\w+", path):
        place = place[int(step) if step.isdigit() else step]
    place["more"] = 1
    with pytest.raises(ToolFault, match=re.escape(f"line 7: Object contains unknown field `more` - at `$.{path}`")):
        read(sealed(told))


def test_infinity_is_a_word_and_nan_is_nothing():
    told = json.loads(line_of(result("exact")))
    told["finding"]["epsilon"] = "inf"
    assert read(sealed(told)).finding.epsilon == float("inf")
    told["finding"]["epsilon"] = "nan"
    with pytest.raises(ToolFault, match=r"line 7: Expected a number .*, got 'nan' - at `\$.finding.epsilon`"):
        read(sealed(told))


@pytest.mark.parametrize("version", [0, 1, 3, 99])
def test_another_schema_version_is_refused(version):
    line = sealed({**json.loads(line_of(header(["t"]))), "schema_version": version})
    with pytest.raises(InputError, match=f"folder/run.jsonl has schema version {version}; this dpaudit reads 2: "):
        read_header(PATH, line)


@pytest.mark.parametrize("text", [b"", b"{}", b"3", b"[1]", b"\xff", b'{"schema_version": "2"}'])
def test_what_is_no_header_is_no_run(text):
    with pytest.raises(ToolFault, match=r"^folder/run\.jsonl, line 1: .*it is not a dpaudit run"):
        read_header(PATH, text)


def test_a_result_is_no_header():
    told = {**json.loads(line_of(result())), "schema_version": SCHEMA_VERSION}
    with pytest.raises(ToolFault, match="line 1: "):
        read_header(PATH, sealed(told))
