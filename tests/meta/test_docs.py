"""The pages under docs/ tell the truth: their Python and their commands run, and print what the pages show.

The blocks of a page run in their order, in one folder and one namespace: `python` as it is, the commands of
`console` (``$ dpaudit ...``, also ``$ pytest`` and ``$ python ...``) with the exit status that a comment ``# status
1`` tells. A block with a title, as in ``toml title="audit.toml"``, is written to that file instead. Output that is
shown, below a command or in a `text` block below Python, must be printed, and ``...`` stands for anything. Numbers are
those that are printed, digit by digit, where the libraries have the versions that the pages were written with, else
within a twentieth; times are not compared. ``python scripts/write.py numbers`` puts printed numbers into the pages.
"""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from bench_scripts import script
from forked import ran
from source_tree import ROOT

import dpaudit
from dpaudit import places
from dpaudit.app import main
from dpaudit.registry import load

PAGES_MADE = script("writers.commands").PAGES
PAGES = sorted((ROOT / "docs").rglob("*.md"))
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![A-Za-z])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
TIME = re.compile(r" ?(?:s|ms|min|minutes?|seconds?)\b")
STATUS = re.compile(r"#.*\bstatus (\d+)")
NOT_RUN = {"pip"}
"""Programs whose commands are no business of this test."""


WRITTEN_WITH = {"numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1"}
"""The versions with which the numbers of the pages were made."""
TOLERANCE = 0.0 if all(version(name) == known for name, known in WRITTEN_WITH.items()) else 0.05


class Block(NamedTuple):
    """A fenced block: its language, the file that it is written to, and its text."""

    language: str
    title: str
    text: str


class Command(NamedTuple):
    """A command of a console, the exit status that it should have, and the output that is shown."""

    words: list[str]
    status: int
    shown: str


def blocks(text: str) -> list[Block]:
    found = []
    for language, more, body in FENCE.findall(text):
        title = re.search(r'title="([^"]+)"', more)
        found.append(Block(language, title[1] if title else "", body))
    return found


def commands(text: str) -> Iterator[Command]:
    for line, shown in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.MULTILINE):
        status = STATUS.search(line)
        yield Command(shlex.split(line.replace("\\\n", ""), comments=True), int(status[1]) if status else 0, shown)


def is_printed(shown: str, printed: str, tolerance: float = TOLERANCE) -> bool:
    """Say whether all that is shown was printed, in its order, with numbers that differ by no more than a share."""
    return numbers_printed(shown, printed, tolerance) is not None


def numbers_printed(shown: str, printed: str, tolerance: float) -> list[str] | None:
    """Return the numbers that were printed in the place of those shown; None if not all that is shown was printed."""
    line = re.sub(r" ?\.\.\. ?", "...", " ".join(shown.split()))
    parts, last, numbers = [], 0, []
    for found in NUMBER.finditer(line):
        parts += [_literal(line[last : found.start()]), f"({NUMBER.pattern})"]
        numbers.append(None if TIME.match(line, found.end()) else _value(found[0]))
        last = found.end()
    pattern = re.compile("".join([*parts, _literal(line[last:])]))
    for match in pattern.finditer(" ".join(printed.split())):
        pairs = zip(numbers, match.groups(), strict=True)
        if all(want is None or math.isclose(want, _value(got), rel_tol=tolerance) for want, got in pairs):
            return [got if want is not None else "" for want, got in zip(numbers, match.groups(), strict=True)]
    return None


def _literal(text: str) -> str:
    return ".*?".join(re.escape(piece) for piece in text.split("..."))


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def run(command: Command) -> int:
    """Run a command and return its exit status."""
    program, *arguments = command.words
    if program == "dpaudit":
        return main(arguments)
    if program == "pytest":
        done = ran("-m", "pytest", "-p", "no:cacheprovider", *arguments)
    else:
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    print(done.stdout, done.stderr)
    return done.returncode


def outputs_of(page: Path, printed_since: Callable[[], str]) -> Iterator[tuple[str, str]]:
    """Run the blocks of a page in the present folder, and yield what is shown with what was printed."""
    module, printed = sys.modules["page"], ""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
            # Every command of a reader is a process of its own, which loads a file that was written again.
            sys.modules.pop(Path(block.title).stem, None)
            places._load_by_value.cache_clear()
        elif block.language == "python":
            exec(compile(block.text, page.name, "exec"), module.__dict__)
            printed = printed_since()
        elif block.language == "text":
            yield block.text, printed
        elif block.language == "console":
            for command in commands(block.text):
                if command.words[0] not in NOT_RUN:
                    assert run(command) == command.status, command.words
                    printed = printed_since()
                    yield command.shown, printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_the_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # workers take longer to start than the audits of a page
    monkeypatch.setitem(sys.modules, "page", ModuleType("page"))
    for shown, printed in outputs_of(page, lambda: capsys.readouterr().out):
        assert is_printed(shown, printed), f"python scripts/write.py numbers {page.name}\n{shown}\nprinted:\n{printed}"


def test_commands_are_read_with_their_status_and_output() -> None:
    text = "$ dpaudit check \\\n    --json  # status 1, for it is wrong\none \\\ntwo\n$ dpaudit help\n"
    first, second = commands(text)
    assert first == (["dpaudit", "check", "--json"], 1, "one \\\ntwo\n")
    assert second == (["dpaudit", "help"], 0, "")


def test_output_is_compared_with_its_numbers_but_for_times() -> None:
    assert is_printed("shows >= 1.97\n  (99.9 % sure)", "head\nshows >= 1.97 (99.9 % sure)\ntail")
    assert not is_printed("shows >= 1.97", "shows >= 1.86")
    assert is_printed("shows >= 1.97", "shows >= 1.92", 0.05)
    assert not is_printed("shows >= 1.97", "shows >= 1.86", 0.05)
    assert not is_printed("shows >= 1.97", "shows >= 1.96", 0.0)
    assert not is_printed("1,000 of 2", "1,000 of 3")
    assert is_printed("took 3.5 s", "took 7 s")
    assert not is_printed("took 3.5 steps", "took 7 steps")
    assert is_printed("head ... tail", "head\nshows\ntail")
    assert is_printed("...\nx3 has 1", "x3 has 1")
    assert not is_printed("CONSISTENT mean", "VIOLATION mean")
    assert not is_printed("tail ... head", "head tail")
    assert numbers_printed("1.97 of 3 in 2 s", "1.9 of 3 in 4 s", 0.05) == ["1.9", "3", ""]
    assert numbers_printed("1.97 of 3", "4 of 3", 0.05) is None


def test_every_page_is_in_the_menu() -> None:
    menu = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    docs = ROOT / "docs"
    assert sorted(menu) == sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))


@pytest.mark.parametrize("name", PAGES_MADE)
def test_the_pages_that_are_made_from_code_are_current(name: str) -> None:
    made = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert made == PAGES_MADE[name](), "run: python scripts/write.py commands"


def test_formulas_become_mathml_and_unknown_ones_are_refused() -> None:
    pytest.importorskip("latex2mathml", reason="the site is built with it")
    hook = script("writers.mathml")
    page = r'<p><span class="arithmatex">\(a &lt; b\)</span></p><div class="arithmatex">\[\frac{1}{2}\]</div>'
    made = hook.on_page_content(page)
    assert made.count("<math") == 2
    assert "arithmatex" not in made
    assert "<mfrac>" in made
    with pytest.raises(ValueError, match=r"\\nonsense is not known in MathML"):
        hook.in_mathml(r"\nonsense{x}", display=False)


def test_the_readme_shows_the_numbers_of_the_pages() -> None:
    readme, first, measured = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("README.md", "docs/index.md", "docs/research/benchmark.md")
    )
    shown = [one.shown for block in blocks(readme) if block.language == "console" for one in commands(block.text)]
    assert all(output in first for output in shown)
    assert any("VIOLATION" in output for output in shown)
    medians = dict(re.findall(r"^\| (\w+) (?:\| [^|]+ ){5}\| ([\d.]+) \|", measured, re.MULTILINE))
    ours = re.findall(r"^\| (\w+) \([^)]+\) .*\| ([\d.]+) \|$", readme, re.MULTILINE)
    assert len(ours) == 5
    assert [(name, f"{float(medians[name]):.3f}") for name, _ in ours] == ours


def test_the_hook_runs_a_command_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    entry = re.search(r"entry: (dpaudit .+)", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert entry
    assert main([*entry[1].split()[1:], "--help"]) == 0
    assert "Audit every mechanism of a project" in capsys.readouterr().out


def test_all_places_name_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    bibtex = re.search(r"version = \{(\S+)\}", (ROOT / "docs/index.md").read_text(encoding="utf-8"))
    logged = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert cited
    assert bibtex
    assert logged
    assert {project["version"], cited[1], bibtex[1], logged[1]} == {dpaudit.__version__}


def test_the_pages_list_every_public_name_and_every_statement() -> None:
    named = re.findall(
        r"^::: (dpaudit(?:\.pac)?)\.(\w+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    public = [(module.__name__, name) for module in (dpaudit, dpaudit.pac) for name in module.__all__]
    assert sorted(named) == sorted({*public} - {("dpaudit", "pac")})
    listed = re.findall(
        r"^\| ([\w.-]+-[\w.-]+) \|", (ROOT / "docs/research/theorems.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == [entry.id for entry in load().statements]
