"""Every exhibit can be read and its code compiles; the page says of findings what they hold."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from museum import audit_one, page, run
from museum.draw import drawn
from museum.exhibit import Exhibit, exhibits, read

FILES = exhibits()
GIVEN: dict[str, Any] = {
    "title": "sum without bounds",
    "source": "https://example.org/1",
    "wrong": "Values are not clipped.",
    "kind": "reduction",
    "package": "sums",
    "version": "1.0",
    "right": "values are clipped",
    "requires": [],
    "data": "fifty numbers",
    "epsilon": 1.0,
    "relation": "add-remove-one",
    "bounds": [0, 1],
    "code": "DATA = [0.5] * 50\ndef wrong(data, rng): return sum(data) + rng.laplace()\n"
    "def right(data, rng): return sum(x if 0 <= x <= 1 else 0 for x in data) + rng.laplace()\n",
    "pair": "PAIRS = [([0.5, 9.0], [0.5])]\n",
}


def write(file: Path, fields: dict[str, Any]) -> None:
    """Write fields as TOML, whose texts, numbers and flat lists are those of JSON."""
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items()), encoding="utf-8")


def defined(text: str) -> set[str]:
    """Return the names that are assigned or defined at the top of some code."""
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        for target in getattr(node, "targets", []):
            names |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    return names


@pytest.mark.parametrize("name", FILES)
def test_an_exhibit_is_read_and_defines_what_audits_need(name: str) -> None:
    exhibit = read(FILES[name])
    assert {"DATA", "wrong", "right"} <= defined(exhibit.code)
    assert "PAIRS" in defined(exhibit.pair)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "unknown field `colour`"),
        ({"kind": "rumour"}, "kind"),
        ({"relation": "near"}, "relation"),
        ({"wrong": ""}, "empty: wrong"),
        ({"source": "a friend"}, "source must be an address"),
        ({"requires": ["sums==1.0"]}, "a reduction is plain Python"),
        ({"delta": 1.0}, "delta in"),
    ],
)
def test_what_an_exhibit_may_not_hold_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    file = tmp_path / "sums-no-bounds.toml"
    write(file, GIVEN | change)
    with pytest.raises(ValueError, match=message) as caught:
        read(file)
    assert file.name in str(caught.value)


def test_a_field_left_out_and_a_wrong_name_are_named(tmp_path: Path) -> None:
    file = tmp_path / "sums-no-bounds.toml"
    write(file, {name: value for name, value in GIVEN.items() if name != "epsilon"})
    with pytest.raises(ValueError, match="missing required field `epsilon`"):
        read(file)
    with pytest.raises(ValueError, match="the name of an exhibit"):
        read(file.rename(tmp_path / "Sums.toml"))


def test_a_name_stands_in_one_folder_alone(tmp_path: Path) -> None:
    for folder in ("exhibits", "held_out"):
        (tmp_path / "museum" / folder).mkdir(parents=True)
        (tmp_path / "museum" / folder / "sums-no-bounds.toml").touch()
    with pytest.raises(ValueError, match="two exhibits sums-no-bounds"):
        exhibits(tmp_path)


@pytest.mark.parametrize("pair", [False, True])
def test_an_audit_finds_the_defect_and_not_its_twin(
    pair: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin is accused with a probability of at most 0.001 in each audit, over the choice of the seed."""
    monkeypatch.setattr(audit_one, "TRIALS", dict.fromkeys(audit_one.TRIALS, 4_000))
    monkeypatch.syspath_prepend(tmp_path)
    exhibit = msgspec.convert(GIVEN, Exhibit)
    module = audit_one.module_of(f"sums-{pair}", exhibit, tmp_path)
    found = audit_one.audit(module, exhibit, "wrong", pair)
    assert found["verdict"] == "violation"
    assert found["epsilon_lower"] > 1
    assert audit_one.audit(module, exhibit, "right", pair)["verdict"] == "consistent"
    monkeypatch.setattr(module, "right", module.wrong)
    assert audit_one.audit(module, exhibit, "right", pair)["certificate"].startswith("right")


def test_sides_share_an_environment_unless_they_differ() -> None:
    installed = GIVEN | {"kind": "installed", "requires": ["sums==1.0", "numbers"]}
    one = msgspec.convert(installed, Exhibit)
    assert one.requirements("wrong") == one.requirements("right") == ["numbers", "sums==1.0"]
    two = msgspec.convert(installed | {"right_requires": ["sums==2.0"]}, Exhibit)
    assert two.requirements("right") == ["sums==2.0"]


def record(side: str, pair: bool, verdict: str, lower: float) -> dict[str, Any]:
    about = {"name": "sums-no-bounds", "held_out": False, "side": side, "pair_given": pair}
    return about | {"verdict": verdict, "epsilon_lower": lower, "runs": 1_200, "seconds": 3.4}


def test_the_page_has_the_totals_and_a_row_for_each_exhibit(tmp_path: Path) -> None:
    exhibit = msgspec.convert(GIVEN, Exhibit)
    records = [
        record("wrong", False, "consistent", 0.9),
        record("right", False, "consistent", 0.8),
        record("wrong", True, "violation", 2.0),
        record("right", True, "consistent", 0.9),
    ]
    shown = page.text({"sums-no-bounds": exhibit}, records, {"sums-no-bounds": "no row is large"})
    assert "| reductions | 1 | 0 (0%) | 0 of 0 | 1 | 0 |" in shown
    assert (
        "| [sum without bounds](https://example.org/1) | sums 1.0, reduction | consistent | **found**: 2 of 1 "
        "| 1,200, 3 s | consistent |" in shown
    )
    assert "- sum without bounds (`sums-no-bounds`): no row is large" in shown
    held_out = page.text({"sums-no-bounds": exhibit}, [one | {"held_out": True} for one in records], {})
    assert "| held out | 1 | 0 (0%) | 0 of 0 | 1 | 0 |" in held_out
    assert "## Held out" in held_out


def test_records_are_stored_by_what_they_are_of_and_the_last_one_counts(tmp_path: Path) -> None:
    log = tmp_path / "records.jsonl"
    lines = [record("wrong", False, "error", 0.0), record("wrong", False, "violation", 2.0)]
    log.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    (kept,) = run.stored(log).values()
    assert kept["verdict"] == "violation"


def test_a_third_is_kept_apart_as_it_was_drawn() -> None:
    held_out = sorted(name for name, path in FILES.items() if path.parent.name == "held_out")
    assert held_out == drawn(list(FILES))
    assert len(held_out) == len(FILES) // 3 >= 12
