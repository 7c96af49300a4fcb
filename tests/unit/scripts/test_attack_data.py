"""Canary records are planted, and mechanisms tell them: nothing that leaves holds one unless it is asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from bench_scripts import script
from quick import by_turns

from dpaudit.report import presenting

NAMES = ["identity", "key", "raises", "named", "leaves", "warned", "thousands", "of_a_class", "batch_raises"]


@pytest.fixture
def mechanisms(tmp_path: Path) -> ModuleType:
    path = tmp_path / "told.py"
    path.write_text(script("attacks.data").MECHANISMS)
    spec: Any = importlib.util.spec_from_file_location("told", path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    "kind",
    [
        *("huge integer", "text"),
        *(pytest.param(kind, marks=pytest.mark.full) for kind in ("Timestamp", "ragged list", "nested dictionary")),
    ],
)
def test_python_lets_no_canary_out_unless_it_is_asked_for(
    kind: str, mechanisms: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures are drawn for texts alone: of all that is searched, the picture of a notebook's page holds no text."""
    attack = script("attacks.data")
    if kind != "text":
        blank = SimpleNamespace(set_dpi=lambda dpi: None, canvas=SimpleNamespace(print_png=lambda file: None))
        monkeypatch.setattr(presenting, "figure", lambda finding: blank)
    assert not list(attack.of_python(NAMES, mechanisms, (kind,)))
    names = ["identity", "raises", "leaves", "warned"]
    asked = {what for what, _ in attack.of_python(names, mechanisms, (kind,), include_data=True)}
    assert asked == {f"{name} on a {kind}" for name in names}  # each is found where values are asked for


# What is named in an output, or raised, takes the way of what is one, in a process of its own for each audit; what is
# raised is searched for above.
@pytest.mark.parametrize("names", by_turns([["identity"], ["batch_raises"], ["named"]], 3))
def test_commands_let_no_canary_out(tmp_path: Path, names: list[str]) -> None:
    assert not list(script("attacks.data").of_commands(tmp_path, names, (".json", ".html")))


def test_spellings_are_those_that_hide_badly() -> None:
    spellings = script("attacks.data").spellings
    assert {"7654321.25", "7,654,321.25", "52.1234567", "7.65432e+06"} <= spellings(7654321.25)
    assert {"610102197402281191", hex(610102197402281191)[2:]} <= spellings(610102197402281191)
    assert {"ZEBEDIAH", "Quuxbury", "haidebeZ", b"Zebediah".hex()} <= spellings({"Zebediah": {"Quuxbury": 1}})
    assert not any(len(one) < 6 for one in spellings([True, 12]))
