"""Tests the digests of what was audited: files, packages and the distributions that installed them."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from cli_support import TOYS

from dpaudit.evidence.subjects import Subject, subjects_of


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_function_in_a_file_is_the_file_and_recorded_outputs_are_theirs(tmp_path: Path) -> None:
    (tmp_path / "mean.py").write_bytes(b"def mean(): ...")
    (tmp_path / "outputs.csv").write_bytes(b"x\n1\n")
    found = subjects_of(["mean.py:mean", "mean.py:other", "recorded:outputs.csv", "gone.py:f"], tmp_path)
    assert found == (
        Subject("mean.py", {"sha256": sha256(b"def mean(): ...")}),
        Subject("outputs.csv", {"sha256": sha256(b"x\n1\n")}),
    )


def test_a_module_is_its_file_or_its_folder_and_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("1 / 0")
    package = tmp_path / "packed"
    (package / "inner").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    for name in ("__init__.py", "inner/b.py", "a.py", "__pycache__/x.pyc"):
        (package / name).write_text(f"1 / 0  # {name}")
    alone, folder = subjects_of(["loud:f", "packed.inner.b:f"], tmp_path)
    assert alone == Subject("loud.py", {"sha256": sha256(b"1 / 0")})
    kept = ["__init__.py", "a.py", "inner/b.py"]
    text = "".join(f"{sha256(f'1 / 0  # {name}'.encode())}  {name}\n" for name in kept)
    assert folder == Subject("packed/", {"dirHash": sha256(text.encode())})
    assert "loud" not in sys.modules


def test_an_installed_module_is_its_distribution(tmp_path: Path) -> None:
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed/__init__.py").write_text("")
    info = tmp_path / "packed-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("packed/__init__.py,sha256=x,0\n")
    expected = Subject("packed-1.0.dist-info/RECORD", {"sha256": sha256((info / "RECORD").read_bytes())})
    assert subjects_of(["packed:f"], tmp_path) == (expected,)
    for archive in ({"hashes": {"sha256": "a" * 64}}, {"hash": f"sha256={'a' * 64}"}):
        given = {"url": "file:///tmp/packed-1.0-py3-none-any.whl", "archive_info": archive}
        (info / "direct_url.json").write_text(json.dumps(given))
        assert subjects_of(["packed:f"], tmp_path) == (Subject("packed-1.0-py3-none-any.whl", {"sha256": "a" * 64}),)
    for other in ('{"url": 1}', "[", json.dumps({"url": "x.whl", "archive_info": {"hash": "sha256=XYZ"}})):
        (info / "direct_url.json").write_text(other)
        assert subjects_of(["packed:f"], tmp_path) == (expected,)


@pytest.mark.parametrize("name", ["no-such-learner", "no_such_module:f", ":", "x.py:"])
def test_what_is_not_there_is_left_out(name: str, tmp_path: Path) -> None:
    assert subjects_of([name], tmp_path) == ()


def test_a_learner_is_what_defines_it() -> None:
    own, *_ = subjects_of(["toy-coin"], paths=(TOYS,))
    assert own == Subject("toy_learners.py", {"sha256": sha256(Path(TOYS).read_bytes())})
    (reference,) = subjects_of(["point-exponential"])
    assert list(reference.digest) in (["dirHash"], ["sha256"])
