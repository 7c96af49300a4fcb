"""The house: imports run one way, modules stay small, importing is cheap, public names are frozen."""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dpaudit

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("dpaudit/**/*.py"), *ROOT.glob("learners/**/*.py")])

# A room may import from itself and from rooms on earlier lines only. `results` stands below the audits because they
# return findings.
TIERS = (
    ("contract", "errors", "jsonable", "picture"),
    ("results", "seeding", "schema", "arguments", "workers"),
    ("bounds", "distinguish", "neighbours", "registry"),
    ("adapters", "sampling", "exact", "utility"),
    ("betting",),
    ("blackbox",),
    ("conformance", "engine"),
    ("ledger", "reporters", "tables"),
    ("cli", "pytest_plugin", "__main__"),
)
TIER = {room: i for i, rooms in enumerate(TIERS) for room in rooms}

PUBLIC = {
    "Distribution", "DpauditError", "Example", "InputError", "Law", "LawFinding", "Learner", "Pair", "PrivacyClaim",
    "PrivacyFinding", "Relation", "ToolFault", "UtilityClaim", "UtilityFinding", "audit_law", "audit_privacy",
    "audit_utility", "crafted_pairs", "get_learner", "ledger", "list_learners", "pairs_from_strategy",
    "query_patterns", "random_pairs", "to_frame",
}  # fmt: skip


def imports_at_runtime(path: Path) -> set[str]:
    """Return the modules that a file imports, those under `if TYPE_CHECKING` left out."""
    tree = ast.parse(path.read_text())
    hidden = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for child in branch.body
        for node in ast.walk(child)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "dpaudit" and len(parts) > 1 and parts[1] in TIER else None


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    for module in imports_at_runtime(path):
        if parts[0] == "learners":
            assert not module.startswith("dpaudit") or module.startswith("dpaudit.contract"), (
                f"learners import {module}"
            )
        elif parts[1] != "__init__":
            assert not module.startswith("learners"), "dpaudit never names a learner"
            here, there = parts[1], room(module)
            if there is not None and there != here:
                assert TIER[there] <= TIER[here], f"{here} imports {there}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_room_is_known(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    assert parts[0] == "learners" or parts[1] == "__init__" or parts[1] in TIER


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            doc = ast.get_docstring(node) or ""
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno + 1 - len(doc.splitlines()) <= 60, f"{node.name} is too long"


def test_public_names_are_frozen() -> None:
    assert set(dpaudit.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(dpaudit, name) is not None
    assert set(dpaudit.__all__) <= set(dir(dpaudit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dpaudit.nothing


HEAVY = "{'numpy', 'scipy', 'pandas', 'matplotlib', 'joblib', 'statsmodels', 'jinja2', 'sklearn'}"


@pytest.mark.parametrize("module", ["dpaudit", "dpaudit.pytest_plugin", "dpaudit.contract", "dpaudit.errors"])
def test_importing_loads_no_scientific_library(module: str) -> None:
    code = f"import sys, {module}; print(sorted({HEAVY} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_listing_loads_nothing_heavier_than_numpy() -> None:
    code = (
        "import sys, io, contextlib, dpaudit.cli as cli\n"
        "with contextlib.redirect_stdout(io.StringIO()): cli.main(['list'])\n"
        f"print(sorted(({HEAVY} - {{'numpy'}}) & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_no_file_reads_a_pickle() -> None:
    for path in SOURCES:
        text = path.read_text()
        assert "pickle.load(" not in text
        # The conformance check pickles a learner in memory, to see that workers can get it.
        assert "pickle.loads(" not in text or path.parent.name == "conformance"


def commands_of_the_readme() -> list[str]:
    text = (ROOT / "README.md").read_text()
    blocks = [block for block in text.split("```")[1::2] if block.startswith("console")]
    lines = [line[2:].partition("#")[0].strip() for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    return [line for line in lines if line.startswith("dpaudit ")]


@pytest.mark.parametrize("command", commands_of_the_readme())
def test_the_commands_of_the_readme_work(command: str, tmp_path: Path) -> None:
    from dpaudit.cli import main

    words = [word.replace("reports/mine", str(tmp_path / "mine")) for word in shlex.split(command)[1:]]
    words = [word if word != "mine.html" else str(tmp_path / word) for word in words]
    if words[0] == "report":
        assert main(["run", "point-consistent", "--profile", "quick", "--out", str(tmp_path / "mine")]) == 0
    assert main(words) == 0


def test_the_readme_begins_with_the_two_commands_that_ci_runs() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.index("./scripts/audit") < text.index("./scripts/test") < text.index("##")
    assert "./scripts/test" in (ROOT / ".ci/run").read_text()
    for script in ("scripts/audit", "scripts/test", ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111


def test_the_python_of_the_readme_works() -> None:
    text = (ROOT / "README.md").read_text()
    code = next(block for block in text.split("```")[1::2] if block.startswith("python") and "audit_privacy" in block)
    printed = subprocess.check_output([sys.executable, "-c", code.removeprefix("python")], text=True)
    assert printed.startswith("consistent ") or printed.startswith("violation ")
