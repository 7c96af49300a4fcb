"""The blocks of docs/my-data.md do what the page says."""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path
from typing import Any

import pytest

from dpaudit.app import main

PAGE = (Path(__file__).parents[4] / "docs" / "my-data.md").read_text(encoding="utf-8")
BLOCKS = [block.partition("\n")[::2] for block in PAGE.split("```")[1::2]]


def test_the_python_of_the_page_prints_what_stands_below_it() -> None:
    names: dict[str, Any] = {}
    pythons = [i for i, (kind, _) in enumerate(BLOCKS) if kind == "python"]
    assert len(pythons) == 5
    for i in pythons:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(BLOCKS[i][1], names)
        assert BLOCKS[i + 1] == ("text", printed.getvalue())


def test_the_command_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("user,age\n1,31\n1,47\n2,60\n")
    (tmp_path / "mean.py").write_text("def mean(data, rng):\n    return data['age'].sum() + float(rng.laplace())\n")
    (line,) = [text for kind, text in BLOCKS if kind == "sh"]
    words = shlex.split(line.strip().removeprefix("dpaudit "))
    assert main([*words, "--trials", "1000", "--quiet"]) == 1
