"""Names and paths that docstrings, comments and pages mention lead somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from references import CODE, PAGES, dead_references, is_name, is_path, references
from source_tree import ROOT


def test_no_reference_points_nowhere() -> None:
    dead = [reference for path in (*CODE, *PAGES) for reference in dead_references(path)]
    assert not dead, "nothing is there:\n" + "\n".join(dead)


@pytest.mark.parametrize(
    "name",
    [
        "dpaudit.audit_privacy",
        "dpaudit.pac.Instance",  # imported for type checking alone
        "dpaudit.contract.Relation.parse",  # what a package imports, and its member
        "exact.composition.compose",
        "seeding.generator(seed, ...)",
        "Relation.REPLACE_ONE",
        "Sample.public",
        "numpy.random.SeedSequence",
        "sys.stderr",
        "finding.curve",  # an expression
        "n_jobs",
        "crafted_pairs",
    ],
)
def test_names_that_are_there(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "dpaudit.no_such_name",
        "dpaudit.contract.Relation.NO_SUCH_NAME",
        "exact.composition.no_such_name",
        "privacy" + "_room.seeding.generator",
        "Relation.NO_SUCH_NAME",
        "finding.no_such_" + "attribute",
        "NoSuch" + "Name",
        "two words",
    ],
)
def test_names_that_are_not_there(name: str) -> None:
    assert not is_name(name)


@pytest.mark.parametrize(
    "path",
    [
        "dpaudit/evidence/",
        "contract/",
        "./scripts/test",
        "scripts/*.py",
        "bench*.py",
        "learners/FAMILY/",
        "README.md",
        "run.jsonl.bak",
        "reports/latest/report.html",
    ],
)
def test_paths_that_are_there(path: str) -> None:
    assert is_path(path, ROOT)
    assert is_path("test_references.py", Path(__file__).parent)


@pytest.mark.parametrize("path", ["dpaudit/no_room/", "learners/no_file.py", "scripts/no_*.py", "no_" + "file.py"])
def test_paths_that_are_not_there(path: str) -> None:
    assert not is_path(path, ROOT)


def test_references_are_found_where_prose_is_and_nowhere_else(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""See `a.b`\nand learners/x.py."""\n\nTEXT = "`not.this`"  # as `this()` does\n')
    assert sorted(references(module)) == [(1, "a.b"), (2, "learners/x.py"), (4, "this()")]
    page = tmp_path / "page.md"
    page.write_text("One\n\n```python\n`not.this`\n```\n`run --now` and `tests/x/`, `x + y`\n")
    assert sorted(set(references(page))) == [(6, "tests/x/")]
