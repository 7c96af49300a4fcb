"""The house: imports run one way, importing is cheap, public names are frozen."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from forked import ran
from source_tree import MODULES, ROOT, SOURCES, circle, imports, tree_of

import dpaudit
from dpaudit.results import _call_text

# A room imports rooms on its own line and on earlier ones; "" is what stands in no folder of learners/, and
# dpaudit/__init__.py. Every other folder of learners/ is a family.
FLOORS = {
    "dpaudit": (
        ("certificate_grammar", "verify_certificate", "verify_finding"),
        (
            "errors",
            "escaping",
            "files",
            "naming",
            "withheld",
            "jsonable",
            "contract",
            "loading",
            "plain_numbers",
            "record",
            "hooks",
            "results",
            "family_wise",
        ),
        ("seeding", "arguments", "folders", "progress"),
        ("places",),
        ("bounds", "outputs"),
        ("events", "neighbours"),
        ("running",),
        ("exact", "utility", "sensitivity"),
        ("registry",),
        ("conformance",),
        ("audit",),
        ("training",),
        ("evidence",),
        ("certificates",),
        ("report",),
        ("pac",),
        ("", "app", "pytest_plugin", "__main__"),
    ),
    "learners": (("",), ("covers", "geometry", "mechanisms", "finite"), ("a family",), ("papers",)),
}

PUBLIC = {
    "dpaudit": {
        "Coins", "CurveClaim", "Dataset", "DpauditError", "Execution", "InputError", "Look", "OneRunFinding", "Pair",
        "PrivacyClaim", "PrivacyFinding",
        "RecordedFinding", "Relation", "SensitivityFinding", "ToolFault", "audit_one_run", "audit_privacy",
        "audit_samples", "audit_scores", "audit_sensitivity", "epsilon_lower", "flip_coins", "neighbours_of", "pac",
        "pairs_from_strategy", "probe_of", "query_patterns", "read_dataset", "recording", "register_dataset",
        "register_flattener", "to_frame", "training",
    },
    "dpaudit.pac": {
        "Distribution", "Instance", "Law", "LawFinding", "Learner", "SampleComplexityFinding", "ScalingFinding",
        "SupremumFinding", "UtilityClaim", "UtilityFinding", "audit_law", "audit_supremum", "audit_utility",
        "crafted_pairs", "get_learner", "ledger", "list_learners", "random_pairs", "sample_complexity", "scaling_law",
    },
}  # fmt: skip


@cache
def imports_of(module: str) -> set[str]:
    path = MODULES[module]
    return imports(tree_of(path), MODULES.keys(), path.relative_to(ROOT).parts[:-1])


def room(module: str) -> str:
    """Say `dpaudit.evidence` for `dpaudit.evidence.plan`; modules of learners/ itself: `learners`."""
    if module.startswith("learners"):
        return ".".join(MODULES[module].relative_to(ROOT).parts[:-1][:2])
    return ".".join(module.split(".")[:2])


def floor(module: str) -> int:
    package, _, name = room(module).partition(".")
    floors = {name: i for i, names in enumerate(FLOORS[package]) for name in names}
    return floors[name] if package == "dpaudit" or name in floors else floors["a family"]


def test_imports_run_one_way() -> None:
    for module in MODULES:
        here = floor(module)  # a KeyError means a room that FLOORS lacks
        for other in imports_of(module):
            if module.startswith("dpaudit"):
                assert other.startswith("dpaudit"), f"{module} imports {other}: dpaudit never names a learner"
            elif other.startswith("dpaudit"):
                assert room(other) == "dpaudit.contract", f"{module} imports {other}"
                continue
            assert floor(other) <= here, f"{module} imports {other}"


@pytest.mark.parametrize("group", [str, room], ids=["modules", "rooms"])
def test_no_import_goes_round_in_a_circle(group: Callable[[str], str]) -> None:
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        others = {group(other) for other in imports_of(module)}
        graph.setdefault(group(module), set()).update(others - {group(module)})
    assert not circle(graph), " imports ".join(circle(graph))


def test_a_circle_is_found_and_a_diamond_is_none() -> None:
    assert not circle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}})
    assert sorted(set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}))) == ["b", "c"]
    code = "if TYPE_CHECKING:\n    from x.y import Z\ndef f():\n    import x.z\n    from x import w\n    import os"
    assert imports(ast.parse(code), {"x", "x.y", "x.z", "x.w"}) == {"x.y", "x.z", "x.w"}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_frozen(module: str) -> None:
    package = import_module(module)
    assert set(package.__all__) == PUBLIC[module]
    for name in PUBLIC[module]:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_a_name_that_moved_says_where_to() -> None:
    with pytest.raises(AttributeError, match=r"^dpaudit\.get_learner is now dpaudit\.pac\.get_learner$"):
        _ = dpaudit.get_learner
    assert not any(hasattr(dpaudit, name) for name in PUBLIC["dpaudit.pac"])


@pytest.mark.parametrize("module", PUBLIC)
def test_a_finding_names_its_audit_where_it_is(module: str) -> None:
    audits = [one for name in PUBLIC[module] if hasattr(one := getattr(import_module(module), name), "__wrapped__")]
    assert len(audits) >= 3
    assert [_call_text(one, {}) for one in audits] == [f"{module}.{one.__name__}()" for one in audits]


@pytest.mark.parametrize("module", PUBLIC)
def test_type_checkers_see_every_public_name_where_it_is_loaded_from(module: str) -> None:
    tree = tree_of(MODULES[module])
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    homes = import_module(module)._HOMES
    loaded = {name: f"dpaudit.{home}" for home, names in homes.items() for name in names.split()}
    assert seen == loaded | {name: "dpaudit" for name in ("pac", "training") if name in seen}
    assert seen.keys() == PUBLIC[module]


def heavy() -> set[str]:
    """Return the names under which what dpaudit depends on is imported."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = {re.split("[^A-Za-z0-9_-]", text)[0] for text in project["dependencies"]}
    return {{"scikit-learn": "sklearn"}.get(name, name) for name in required}


HEAVY = {"click", "flint", *heavy()}


def loaded(code: str) -> set[str]:
    """Return the names of the modules that are loaded after some code has run in a process of its own."""
    code = f"{code}\nimport sys; print(); print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1].split())


def command(*words: str) -> str:
    return (
        f"import contextlib, dpaudit.__main__\n"
        f"with contextlib.suppress(SystemExit): dpaudit.__main__.main({list(words)!r})"
    )


LIGHT = {
    "import dpaudit, dpaudit.pac": {"pytest"},
    "import dpaudit.contract, dpaudit.errors": {"pytest"},
    "import dpaudit.pytest_plugin": set(),
    command("--help"): {"pytest"},
    command("help", "privacy"): {"pytest"},
    command("privacy", "--help"): {"pytest"},
    command("--version"): {"pytest"},
}


@pytest.mark.parametrize("code", LIGHT)
def test_importing_and_helping_load_no_library(code: str) -> None:
    grammar = {"click"} if "__main__" in code else set()
    assert loaded(code) & (HEAVY | LIGHT[code]) == grammar


def test_listing_loads_nothing_heavier_than_numpy_and_what_draws_the_table() -> None:
    assert loaded(command("list")) & (HEAVY | {"pytest"}) == {"click", "numpy", "rich"}


def test_what_audits_loads_no_library_that_few_audits_need() -> None:
    few = {"pandas", "sklearn", "matplotlib", "scipy.stats", "statsmodels", "jinja2", "flint"}
    assert not loaded("import dpaudit.evidence.perform, dpaudit.app.subject") & few


def test_an_audit_and_its_p_value_load_no_statsmodels() -> None:
    audit = "dpaudit.audit_privacy(lambda x, rng: x + rng.normal(), [(0, 1)], trials=200, epsilon=1.0)"
    # Nor `scipy.stats`, which takes longer to load than such an audit.
    assert not loaded(f"import dpaudit; {audit}.p_value") & {"scipy.stats", "statsmodels"}
    assert "statsmodels" in loaded("from dpaudit.family_wise import adjusted; adjusted([0.1, 0.2])")


def test_no_file_reads_a_pickle() -> None:
    for path in SOURCES:
        text = path.read_text()
        assert "pickle.load(" not in text
        # The conformance check pickles a learner in memory, to see that workers can get it; and a process sends work to
        # the copy of itself that makes it. What comes from audited code is read by `outputs.decoding`.
        assert "pickle.loads(" not in text or path.name in ("conformance.py", "transport.py")


def commands_of_the_readme() -> list[str]:
    text = (ROOT / "README.md").read_text()
    blocks = [block for block in text.split("```")[1::2] if block.startswith("console")]
    lines = [line[2:].partition("#")[0].strip() for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    return [line for line in lines if line.startswith("dpaudit ")]


STATUS_OF = {"dpaudit check": 1}
"""Commands of the README that end with another status than 0, by how they begin: the mean is wrong on purpose."""
NEEDED = {"dpaudit new mechanism mean"}
"""Commands of other pages too, without which those of the README do not work."""


def test_the_commands_of_the_readme_work_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpaudit.app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # workers take longer to start than these audits
    # What pages have as well, with their output, is run for them (in another folder), but for what later commands need.
    pages = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("index", "learners", "report"))
    run_there = {line[2:].partition("#")[0].strip() for line in pages.splitlines() if line[:2] == "$ "} - NEEDED
    for command in (one for one in commands_of_the_readme() if one.replace("reports/mine", "mine") not in run_there):
        expected = next((status for begin, status in STATUS_OF.items() if command.startswith(begin)), 0)
        assert main(shlex.split(command)[1:]) == expected, command


def test_the_readme_names_the_commands_that_ci_runs() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.index("$ ./scripts/audit") < text.index("$ ./scripts/test")
    assert "./scripts/test" in (ROOT / ".ci/run").read_text()
    for script in ("scripts/audit", "scripts/test", ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111


def test_the_python_of_the_readme_works() -> None:
    text = (ROOT / "README.md").read_text()
    blocks = [block.removeprefix("python") for block in text.split("```")[1::2] if block.startswith("python")]
    own, suite, learners = (ran("-c", block) for block in blocks)
    assert own.returncode == suite.returncode == learners.returncode == 0
    assert own.stdout.startswith("VIOLATION ")
    assert learners.stdout.count("\n") == 3
