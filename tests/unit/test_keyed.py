"""Digests of people's data: keyed, with a key that is made once, stays in its folder and is its owner's alone."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit import certificates
from dpaudit.cli.app import main
from dpaudit.errors import InputError
from dpaudit.keyed import FOLDER, NAME, SIZE, is_of, key_of, keyed, using
from dpaudit.neighbours.own_data.tables import table_of
from dpaudit.outputs.values import digest_of

ONE = [4242.5]
"""A data set of which an unkeyed digest is inverted by trying numbers."""
MECHANISM = "def top(data, rng):\n    return float(data['income'].max()) if len(data) else 0.0\n"


def test_a_key_is_made_once_and_its_owner_alone_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    assert key_of(folder) is None
    assert not folder.exists()
    key = key_of(folder, make=True)
    assert key is not None
    assert len(key) == SIZE
    assert key_of(folder) == key_of(folder, make=True) == key != key_of(tmp_path / "other", make=True)
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    assert "key" in (folder / ".gitignore").read_text().split()
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", NAME]
    (folder / NAME).chmod(0o644)
    assert key_of(folder) == key
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600


def test_processes_that_make_a_key_at_once_have_the_same(tmp_path: Path) -> None:
    code = "from dpaudit.keyed import key_of; print(key_of('k', make=True).hex())"
    made = [subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(4)]
    assert len({one.communicate()[0] for one in made}) == 1


@pytest.mark.parametrize("content", ["", "zz", "00" * 31, "00" * 33, "é"])
def test_a_file_that_holds_no_key_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="holds no key of 32 bytes"):
        key_of(tmp_path)


def test_where_no_key_can_be_written_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert key_of(tmp_path / "file", make=True) is None
    assert keyed("ab", None) == keyed("", b"k") == ""


def test_a_digest_depends_on_the_key_and_names_it() -> None:
    one, other = b"1" * SIZE, b"2" * SIZE
    assert keyed("ab", one) == keyed("ab", one) != keyed("ab", other)
    assert keyed("ab", one).partition(":")[2] != keyed("ac", one).partition(":")[2]
    assert is_of(keyed("ab", one), one)
    assert not is_of(keyed("ab", one), other)
    assert not is_of(keyed("ab", one), None)
    assert is_of("ab", None)


def top(data: Any, rng: np.random.Generator) -> float:
    return max(data, default=0.0)


def test_what_a_finding_says_of_the_data_is_keyed_or_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    plain = dpaudit.audit_privacy(top, data=ONE, epsilon=1.0, trials=100)
    assert not plain.witness.digest
    assert not (tmp_path / FOLDER).exists()  # a function of Python writes no file
    key = key_of(make=True)
    found = dpaudit.audit_privacy(top, data=ONE, epsilon=1.0, trials=100)
    assert found.witness.digest == keyed(table_of(ONE).digest(), key)
    assert f"; digest of the data: {found.witness.digest}]" in found.summary()
    assert table_of(ONE).digest() not in str(found.to_dict())
    moved = dpaudit.audit_sensitivity(len, data=[4242.5, 1.5], claim=0.5).witness
    assert moved is not None
    assert str(moved.digest).partition(":")[0] == str(found.witness.digest).partition(":")[0]
    with using(b"7" * SIZE):
        assert keyed(table_of(ONE).digest(), b"7" * SIZE) == dpaudit.neighbours_of(ONE)[0].digest
    assert "digest" not in str(plain)


def test_a_certificate_names_data_by_a_keyed_digest_and_is_replayed_with_the_key(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    key = key_of(make=True)
    pairs = dpaudit.neighbours_of([4242.5, 1.5])
    finding = dpaudit.audit_privacy(top, pairs, epsilon=1.0, trials=100, relation="unbounded")
    made = certificates.make(finding, pairs)
    pair = pairs[made.data.index]  # type: ignore[union-attr,index]
    assert made.data.digest == keyed(digest_of(pair.data), key)
    assert certificates.replay(made, top, pair=pair, trials=100).verdict == "violation"
    others = dpaudit.neighbours_of([2.5, 1.5])
    with pytest.raises(InputError, match="not the one that was audited"):
        certificates.replay(made, top, pair=others[made.data.index], trials=100)  # type: ignore[union-attr,index]
    with using(b"7" * SIZE), pytest.raises(InputError, match="key of another folder: replay where"):
        certificates.replay(made, top, pair=pair, trials=100)


def test_the_command_line_makes_a_key_and_no_digest_without_it_leaves(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(MECHANISM)
    (tmp_path / "people.csv").write_text("income\n4242.5\n1.5\n")
    command = "privacy m.py:top --data people.csv --epsilon 1 --trials 100 --quiet --sequential"
    for out in ("a.json", "b.json"):
        assert main([*command.split(), "--out", out, "--continue", f"{out}.runs"]) == 1
    first, second = ((tmp_path / out).read_text() for out in ("a.json", "b.json"))
    assert first == second.replace("b.json.runs", "a.json.runs")
    key = key_of()
    table = dpaudit.read_dataset("people.csv")
    assert keyed(table_of(table).digest(), key) in (tmp_path / "a.json").read_text()
    assert stat.S_IMODE((tmp_path / "a.json.runs").stat().st_mode) == 0o600
    written = "".join(path.read_text() for path in tmp_path.iterdir() if path.is_file())
    for pair in dpaudit.neighbours_of(table):
        assert digest_of(pair.data) not in written
        assert digest_of(pair.neighbour) not in written
    assert table_of(table).digest() not in written
