"""Files are replaced and appended to so that nothing else is touched, and an error names them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from source_tree import ROOT

from dpaudit import files
from dpaudit.app import main
from dpaudit.evidence.store import FILENAME
from dpaudit.files import append_line, write_atomically


@pytest.mark.parametrize("link", ["x.tmp", "x"])
def test_no_symbolic_link_is_followed(tmp_path: Path, link: str) -> None:
    target = tmp_path / "target"
    target.write_text("the boss's")
    (tmp_path / link).symlink_to(target)
    write_atomically(tmp_path / "x", b"ours")
    assert target.read_text() == "the boss's"
    assert (tmp_path / "x").read_bytes() == b"ours"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target", "x"]


def test_no_line_is_appended_through_a_symbolic_link(tmp_path: Path) -> None:
    (target := tmp_path / "target").write_text("the boss's")
    (tmp_path / "x").symlink_to(target)
    with pytest.raises(OSError, match=f"symbolic links: '{tmp_path / 'x'}'"):
        append_line(tmp_path / "x", b"more\n")
    assert target.read_text() == "the boss's"


def test_a_run_behind_a_symbolic_link_is_not_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "point-consistent", "--profile", "quick", "--no-html", "--quiet", "--on", "sequential"]
    first = tmp_path / "first"
    first.write_bytes(b"".join((ROOT / "tests/golden/run_small.jsonl").read_bytes().splitlines(keepends=True)[:2]))
    (folder := tmp_path / "second").mkdir()
    (folder / FILENAME).symlink_to(first)
    assert main([*words, "--out", str(folder), "--resume"]) == 2
    assert f"{folder / FILENAME} is a symbolic link, which no run makes" in capsys.readouterr().err
    assert first.read_bytes().count(b"\n") == 2


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_names_the_file_and_leaves_no_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        write_atomically(path, b"new")
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        append_line(path, b"more\n")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("x", b"old")]


def test_an_interrupt_leaves_no_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "x", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("error", "words"), [(errno.ENOSPC, "/dev/shm or "), (errno.EIO, "file system: ")])
def test_an_error_that_names_no_file_says_where_it_may_lie(tmp_path, capsys, monkeypatch, error, words):
    def fail(path: Path) -> None:
        raise OSError(error, os.strerror(error))

    (tmp_path / FILENAME).touch()
    monkeypatch.setattr("dpaudit.evidence.store.load_run", fail)
    assert main(["report", str(tmp_path)]) == 2
    assert f"dpaudit: error: {words}" in capsys.readouterr().err
