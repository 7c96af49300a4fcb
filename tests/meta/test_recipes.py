"""The recipes of CONTRIBUTING.md are true: each is followed here, step by step, and what it promises appears.

Where a step adds to a table that is read when it is needed, the table is replaced for a test; where a step writes into
code, it writes into a copy of the package, which a process of its own imports.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from cli_support import called
from oracle.clopper_pearson import ClopperPearson
from reporter_runs import GOLDEN
from source_tree import ROOT

import dpaudit
import dpaudit_learners
from dpaudit import registry, verify_certificate
from dpaudit.app.options import FORMS
from dpaudit.audit import claim_tests, fixed_design
from dpaudit.conformance import CHECKS
from dpaudit.events.feature_screening import search
from dpaudit.events.feature_screening.feature import LeafFeature, one_of
from dpaudit.naming import Name
from dpaudit.registry import Registry, conformance
from dpaudit.report import formats, html
from dpaudit.report.words.privacy import BOUNDS
from dpaudit_learners import papers

Capture = pytest.CaptureFixture[str]
FOLLOWED = {
    "learner",
    "statement of a paper",
    "bound",
    "feature of an output",
    "report format",
    "column of the report",
    "option of an audit",
    "command",
}


# --- what recipes name


@cache
def recipes() -> dict[str, str]:
    """Return the recipes of CONTRIBUTING.md by what each is for."""
    sections = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[1:]
    headed = (section.partition("\n") for section in sections)
    return {head.removeprefix("A new "): text for head, _, text in headed if head.startswith("A new ")}


def steps(recipe: str) -> list[str]:
    return re.split(r"^\d\. ", recipes()[recipe], flags=re.MULTILINE)[1:]


def test_every_recipe_is_followed() -> None:
    assert recipes().keys() == FOLLOWED


def files_of(step: str) -> list[Path]:
    """Return the files and folders that a step names, those of a family or a paper at every one that there is."""
    found = []
    for named in re.findall(r"`((?:[\w*-]+/)+[\w.*-]*)`", step):
        shape = re.sub("FAMILY|NAME|PAPER", "*", named.rstrip("/"))
        there = sorted(ROOT.glob(shape)) or sorted((ROOT / shape).parent.glob("*.py"))
        assert there, f"{named}: nothing is there"
        found += there
    return found


@pytest.mark.parametrize("recipe", sorted(FOLLOWED))
def test_what_a_recipe_names_is_there(recipe: str) -> None:
    for step in steps(recipe):
        files = [inner for one in files_of(step) for inner in ([one] if one.is_file() else one.rglob("*.py"))]
        text = "\n".join(one.read_text(encoding="utf-8") for one in files)
        # Names of code stand in a file that the same step names; what a reader is to write has capitals for its parts.
        for name in re.findall(r"`(_?[A-Za-z]\w+)(?:\(.*?\)|=.*?)?`", step) if text else ():
            assert re.search(rf"\b{name}\b", text), f"{name} is in none of {', '.join(map(str, files))[:200]}"


# --- a learner, a statement


FAMILY = {
    "coins/__init__.py": '"""Points once more."""\n',
    "coins/biased.py": '''
        """Points by the exponential mechanism."""

        from dataclasses import dataclass
        from typing import ClassVar

        from dpaudit.contract import Instance

        from ..finite.exponential import ExponentialLearner
        from ..parameters import Built
        from ..points.concepts import Points


        @dataclass(frozen=True)
        class Biased(ExponentialLearner):
            """Learn points privately."""

            domain_size: int
            epsilon: float
            id: ClassVar[str] = "biased"
            instance: ClassVar[Instance] = Instance({"domain_size": 3, "epsilon": 1.0}, n=2)

            concepts = Built(Points)


        LEARNERS = (Biased,)
        ''',
    "coins/controls.py": '''
        """Biased coins with one known leak each."""

        from ..controls import DOUBLED, SUPPORT, controls, fault, rate
        from .biased import Biased

        LEAK = fault("three times the rate that epsilon allows", _rate=rate(1.5))
        LEARNERS = (*controls(Biased, "biased", doubled=DOUBLED, support=SUPPORT, tripled=LEAK),)
        ''',
}
PAPER = '''
    """Statements on sums, of which one is right."""

    from dpaudit.contract import Survives

    from .evidence import judged, tried
    from .states import always, at_most, derived, false, states


    @states("NIS-Sum", "A sum of two is at most twice the greater.", "section 9", formula="a + b <= 2 max(a, b)")
    @always("{cases} pairs are as stated, {wrong} are not")
    def _sum():
        for a, b in ((1, 2), (2, 2)):
            yield a + b <= 2 * max(a, b), {"a": a, "b": b}


    @derived("NIS-Share", "A share is at most one.", "section 9", formula="O(1)")
    @at_most(1.0, "the greatest of {cases} shares is {share}")
    def _share():
        yield 0.5, "half", {}


    @states("NIS-Tried", "Nothing is odd.", "section 9")
    def _tried(tools):
        return tried("two is even", {"n": 2}, "", {}, one_sided=True)


    @false(
        "NIS-Squares",
        "Every number is its own square.",
        "section 9",
        formula="n = n^2",
        argument="Two is not.",
        survives=Survives.NO,
    )
    def _squares(tools):
        return judged("2^2 = 4", {"n": 2}, "n = 2", {"n": 2}, failed=2 != 2**2)
    '''


@pytest.fixture
def _grown(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget, in the end, the modules that a test adds to those of the learners."""
    registry.load()
    before = set(sys.modules)
    registry.load.cache_clear()
    yield
    for name in sys.modules.keys() - before:
        if name.startswith("dpaudit_learners"):
            del sys.modules[name]
    registry.load.cache_clear()


def grown(monkeypatch: pytest.MonkeyPatch, package: Any, folder: Path, files: dict[str, str]) -> Registry:
    """Write files beside those of a package of learners, and return what is found now."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    found = registry.load()
    assert not found.problems
    return found


@pytest.mark.usefixtures("_grown")
def test_a_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    found = grown(monkeypatch, dpaudit_learners, tmp_path / "learners", FAMILY)
    sound = found.get("biased")
    controls = [entry for entry in found.entries if entry.fault and issubclass(entry.learner, sound.learner)]
    assert len(controls) == 3
    assert "biased" in called(capsys, "list")[1]
    monkeypatch.setattr(conformance, "RUNS", 4_000)
    monkeypatch.setattr(conformance, "SAMPLES", 2)
    for entry, status in ((sound, 0), *((control, 1) for control in controls)):
        for check in CHECKS:
            check(entry.build(**entry.instance.parameters))
        assert called(capsys, "exact", entry.id, "--quiet")[0] == status, entry.id
    # The claim is exact and holds, so that no audit may call it a violation but once in a thousand seeds.
    monkeypatch.chdir(tmp_path)
    words = ("run", "biased", "--profile", "quick", "--jobs", "1", "--no-html", "--quiet", "--allow-no-evidence")
    assert called(capsys, *words)[0] == 0


@pytest.mark.usefixtures("_grown")
def test_a_statement_of_a_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    found = grown(monkeypatch, papers, tmp_path / "papers", {"nis_sums.py": PAPER})
    assert found.get_statement("NIS-Sum").source.endswith("section 9")
    told = {
        "NIS-Sum": "2 pairs are as stated, 0 are not",
        "NIS-Share": "the greatest of 1 shares is 0.5",
        "NIS-Tried": "two is even",
        "NIS-Squares": "2^2 = 4",
    }
    status, out, _ = called(capsys, "ledger", *told, "--json")
    rows = {row["id"]: row for row in map(json.loads, out.splitlines())}
    assert status == 0, out
    assert {id: row["summary"] for id, row in rows.items()} == told
    verdicts = {id: row["verdict"] for id, row in rows.items()}
    assert verdicts == {"NIS-Sum": "holds", "NIS-Share": "derived", "NIS-Tried": "undecided", "NIS-Squares": "false"}
    assert rows["NIS-Squares"]["survives"] == "no"


# --- a bound, a feature, a format


def flips(data: int, rng: np.random.Generator, size: int) -> np.ndarray[Any, Any]:
    """Return a bit that is that of the data in three runs of four."""
    return (rng.random(size) < 0.25 + 0.5 * data).astype(np.int64)


def test_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim_tests, "Melded", ClopperPearson)
    for module in (claim_tests, fixed_design):
        monkeypatch.setattr(module, "MELDED", ClopperPearson.name)
    monkeypatch.setitem(BOUNDS, ClopperPearson.name, "one exact limit a side")
    outputs, others = (flips(data, np.random.default_rng(data), 4_000) for data in (0, 1))
    finding = dpaudit.audit_samples(outputs, others, epsilon=0.5, delta=0.01)
    assert (finding.verdict, finding.bound) == ("violation", "clopper-pearson")
    assert "bound: one exact limit a side" in html.render_finding(finding)
    # The verifier of the standard library derives the same from the counts.
    test = max(finding.tests, key=lambda one: one.epsilon_lower)
    witness = finding.witness  # of which the likelier side comes first
    counts = [test.hits, witness.trials or 0, test.neighbour_hits, witness.neighbour_trials or 0]
    derived = verify_certificate.bound(finding.bound, counts, finding.delta, test.error)
    assert derived == pytest.approx(finding.epsilon_lower, abs=1e-6)


def thirds(values: Any) -> list[LeafFeature]:
    """Return the third decimal of a number."""
    return [LeafFeature(Name("third decimal"), third, one_of(*range(10)))]


def third(values: Any) -> Any:
    return np.round(np.abs(values) * 1_000).astype(np.int64) % 10


def test_a_feature_of_an_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def mechanism(data: int, rng: np.random.Generator, size: int) -> Any:
        # The third decimal is even on one side, odd on the other, with three decimals at most before it.
        return rng.integers(-999, 999, size) + (rng.integers(100, size=size) * 10 + 2 * rng.integers(5, size=size)
                                                + data) / 1_000  # fmt: skip

    monkeypatch.setattr(search, "_REAL", (*search._REAL, thirds))
    execution = dpaudit.Execution(sequential=False)
    finding = dpaudit.audit_privacy(
        mechanism, [(0, 1)], epsilon=1, trials=4_000, batched=True, execution=execution, randomness="argument"
    )
    assert finding.verdict == "violation"
    assert "third decimal of output" in html.render_finding(finding)


def counted(run: Any) -> str:
    """Return how many results a run has."""
    return f"{len(run.results)} results\n"


def test_a_report_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(formats, "counted", counted, raising=False)
    monkeypatch.setitem(FORMS, ".count", ("formats", "counted"))
    path = tmp_path / "report.count"
    stored = str(GOLDEN / "run_small.jsonl")
    status, _, err = called(capsys, "report", stored, "--out", str(path))
    assert status == 0, err
    assert re.fullmatch(r"[1-9]\d* results\n", path.read_text())
    monkeypatch.setitem(formats.FORMS, ".count", lambda shown: f"{len(shown.lines)} lines")
    assert formats.rendered(formats.Plain("t", "{}", "", [("verdict", "right")]), ".count") == b"1 lines"


# --- a column, an option, a command: in a copy


COLUMN = '    Column("runs_made", "runs\\nmade", "runs made", "privacy", "given"),\n'
NUMBER = '        found["runs_made"] = tested.blackbox.trials\n'
OPTION = '    patience = Option[int](int, 3, help="how long to wait", metavar="N", ge=1)\n'
SIGN = "dpaudit/app/sign.py"
COMMAND = '''
    """``dpaudit sign``: a sign of life."""

    from typing import Annotated

    from dpaudit.app.command import command
    from dpaudit.app.options import Verbose, argument
    from dpaudit.app.streams import say


    @command("sign", "dpaudit sign ME")
    def sign(name: Annotated[str, argument("NAME")], verbose: Verbose) -> int:
        """Greet somebody."""
        say(f"hello {name}{'!' * verbose}\\n")
        return 0
    '''
WRITTEN: Sequence[tuple[str, str, str]] = [
    # File, what is looked for, and what is written behind it.
    ("dpaudit/report/columns.py", r"^COLUMNS = \(\n", COLUMN),
    ("dpaudit/report/columns.py", r"^def numbers_of(?:.*\n)*?    if tested\.blackbox is not None:\n", NUMBER),
    ("dpaudit/audit/options.py", r'^class Options:\n    """.*?"""\n', OPTION),
    ("dpaudit/audit/parameters.py", r"^class Execution:\n(?:.*\n)*?    backend: .*\n", "    patience: int = 3\n"),
    (
        "dpaudit/audit/parameters.py",
        r"^class Execution:\n(?:.*\n)*?    def __post_init__.*\n",
        "        Options.patience.read(self.patience)\n",
    ),
    (
        "dpaudit/evidence/tasks.py",
        r"^class AuditOptions(?:.*\n)*?    epsilon: .*\n",
        '    patience: Annotated[int, _within("patience")] = 3\n',
    ),
    (
        "dpaudit/app/privacy.py",
        r"^class Audited(?:.*\n)*?    parameter: .*\n",
        "    patience: Annotated[int, of(Options.patience)]\n",
    ),
    (
        "dpaudit/app/privacy.py",
        r"^class Audited(?:.*\n)*?        return PrivacyArguments\(\n",
        "            patience=self.patience,\n",
    ),
    (
        "dpaudit/app/subject.py",
        r"    def arguments(?:.*\n)*?        return PrivacyArguments\(\n",
        "            patience=options.patience,\n",
    ),
    (
        "dpaudit/evidence/perform.py",
        r"^        execution=Execution\(\n",
        "            patience=options.patience,\n",
    ),
    ("dpaudit/app/application.py", r"^SPECIAL = \{\n", '    "sign": ("sign", "greet somebody"),\n'),
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package in which a column, an option and a command were written."""
    folder = tmp_path_factory.mktemp("copy")
    # With what is compiled, which is valid for files of the same times.
    shutil.copytree(ROOT / "dpaudit", folder / "dpaudit")
    (folder / SIGN).write_text(dedent(COMMAND))
    for name, place, text in WRITTEN:
        path = folder / name
        before = path.read_text()
        found = re.search(place, before, flags=re.MULTILINE)
        assert found, f"{name} has no {place}"
        path.write_text(before[: found.end()] + text + before[found.end() :])
    return folder


CALLS = """
import contextlib, io, json, sys
from dpaudit.app import main
made = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        made.append((main(words), out.getvalue()))
print(json.dumps(made))
"""


def in_copy(copy: Path, *commands: str) -> list[tuple[int, str]]:
    """Return the status of each of some commands of the copy, and what it prints."""
    env = {**os.environ, "PYTHONPATH": str(copy)}
    process = [sys.executable, "-c", CALLS, json.dumps([words.split() for words in commands])]
    made = subprocess.run(process, cwd=copy, env=env, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert made.returncode == 0, made.stderr
    return [(status, out) for status, out in json.loads(made.stdout)]


def test_a_column_of_the_report(copy: Path) -> None:
    heads = {"console": r"runs[^\n]*\n[^\n]*made", "html": "runs made", "md": "runs made", "json": "runs_made"}
    stored = GOLDEN / "run_small.jsonl"
    shown = in_copy(copy, *(f"report {stored} --format {format}" for format in heads))
    for (format, head), (status, out) in zip(heads.items(), shown, strict=True):
        assert status == 0
        assert re.search(head, out), format


def test_an_option_of_an_audit(copy: Path) -> None:
    (copy / "coin.py").write_text("PAIRS = [(0, 1)]\n\ndef coin(data, rng):\n    return int(rng.integers(2))\n")
    settings = 'trials = 1000\n[[audit]]\nname = "c"\nmechanism = "coin.py:coin"\nepsilon = 1\npatience = 5\n'
    (copy / "audit.toml").write_text(settings)
    words = "privacy coin.py:coin --epsilon 1 --trials 1000 --quiet --patience"
    help, taken, refused, project = in_copy(
        copy, "privacy --help", f"{words} 5", f"{words} 0", "check --quiet --out project.json"
    )
    assert re.search(r"--patience N +how long to wait", help[1])
    assert taken[0] == 0
    assert "--patience 5" in taken[1]
    assert refused[0] == 2
    assert project[0] == 0
    (result,) = json.loads((copy / "project.json").read_text())["results"]
    assert result["arguments"]["patience"] == 5


def test_a_command(copy: Path) -> None:
    whole, greeted, help = in_copy(copy, "--help", "sign me --verbose", "help sign")
    assert re.search(r"sign +greet somebody", whole[1])
    assert greeted == (0, "hello me!\n")
    assert "Greet somebody." in help[1]
