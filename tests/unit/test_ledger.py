"""The ledger: where statements come from, what a check may return, and what command, run and reports show."""

from __future__ import annotations

import importlib.metadata
import json
import math
import pickle
import re
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from reporter_runs import load_small, only, put, retold

import dpaudit
from dpaudit import cli, registry, schema
from dpaudit.contract import Evidence, Grade, Statement, StatementVerdict
from dpaudit.engine.evidence import check_statement
from dpaudit.engine.findings import LedgerRow
from dpaudit.engine.outcome import outcome, word
from dpaudit.engine.plan import make_plan
from dpaudit.engine.records import Planned
from dpaudit.engine.store import FILENAME, load_run
from dpaudit.engine.tasks import ledger_task
from dpaudit.errors import InputError, ToolFault
from dpaudit.ledger import LedgerFault, check_statements
from dpaudit.registry import StatementEntry
from dpaudit.reporters import console, html
from dpaudit.reporters import json as json_report
from dpaudit.reporters import ledger as ledger_report

HERE = Path(__file__).parent

STATEMENTS = """
from dpaudit.contract import Statement, Evidence

def evidence(verdict, witness=""):
    return lambda tools: Evidence(verdict, "found " + verdict, {{"n": 3, "x": float("inf")}}, "exact", witness)

def crash(tools):
    raise ZeroDivisionError("toy")

def names(tools):
    kept = all(hasattr(tools, name) for name in ("audit_law", "audit_utility", "audit_privacy"))
    return Evidence("holds" if kept else "undecided", "public names", {{}}, "numeric")

STATEMENTS = (
    Statement("TOY-b", "Two is even.", "Toy, p. 2", evidence("holds")),
    Statement("TOY-a", "Every number is even.", "Toy, p. 1", evidence("refuted", "three is odd")),
    Statement("TOY-c", "The check gets the tools.", "Toy, p. 3", names),
    {more}
)
"""
CRASH = 'Statement("TOY-d", "Nobody knows.", "Toy, p. 4", crash),'


def write(folder: Path, more: str = "", name: str = "claims.py") -> str:
    path = folder / name
    path.write_text(textwrap.dedent(STATEMENTS).format(more=more))
    return str(path)


@pytest.fixture
def no_installed(monkeypatch):
    """Nothing is found but what stands at the paths given."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: ())
    registry.load.cache_clear()
    yield
    registry.load.cache_clear()


# --- where statements come from


def test_statements_are_found_with_their_origin_and_sorted(tmp_path):
    path = write(tmp_path)
    found = registry.load((path,))
    ids = [entry.id for entry in found.statements]
    assert ids == sorted(ids)
    assert {"TOY-a", "TOY-b", "TOY-c", "NIS-ParityFailure"} <= set(ids)
    assert found.problems == ()
    assert found.get_statement("TOY-a").origin == path
    assert found.get_statement("TOY-a").statement.statement == "Every number is even."


def test_every_paper_has_statements_in_the_installed_ledger():
    ids = [entry.id for entry in registry.list_statements()]
    assert len(ids) == len(set(ids)) >= 50
    assert {id.partition("-")[0] for id in ids} >= {"NIS", "STE", "KMMS", "BMNS", "BMN"}


def test_two_statements_with_one_id_are_refused(tmp_path):
    write(tmp_path)
    write(tmp_path, name="more.py")
    with pytest.raises(InputError, match=r"two statements have the id 'TOY-b': one in .*claims\.py, one in .*more\.py"):
        registry.load((str(tmp_path),))


def test_one_statement_in_two_modules_is_one_statement(tmp_path, no_installed):
    write(tmp_path)
    (tmp_path / "again.py").write_text("from .claims import STATEMENTS\n")
    assert [entry.id for entry in registry.load((str(tmp_path),)).statements] == ["TOY-a", "TOY-b", "TOY-c"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("STATEMENTS = 7", "STATEMENTS must be a tuple of dpaudit.contract.Statement, got 7"),
        ("STATEMENTS = ('NIS',)", "STATEMENTS must hold dpaudit.contract.Statement, got 'NIS'"),
        ("STATEMENTS = (Statement('two words', 's', 'p', len),)", "a statement's id must be words .* got 'two words'"),
        ("STATEMENTS = (Statement('a/b', 's', 'p', len),)", "a statement's id must be words .* got 'a/b'"),
        ("STATEMENTS = (Statement('X-1', ' ', '', len),)", "the statement X-1 has no statement and no source"),
        ("STATEMENTS = (Statement('X-1', 's', 'p', None),)", "the check of the statement X-1 must be callable"),
    ],
)
def test_what_is_no_statement_is_a_problem_and_not_in_the_ledger(tmp_path, no_installed, line, words):
    (tmp_path / "bad.py").write_text(f"from dpaudit.contract import Statement\n{line}\n")
    found = registry.load((str(tmp_path / "bad.py"),))
    assert found.statements == ()
    assert re.search(words, str(found.problems[0]))
    assert found.problems[0].requested


def test_an_unknown_id_names_the_nearest():
    with pytest.raises(InputError, match="there is no statement 'NIS-ParityFailur'; did you mean NIS-ParityFailure"):
        dpaudit.ledger(["NIS-ParityFailur"])
    with pytest.raises(InputError, match="see `dpaudit ledger`"):
        dpaudit.ledger(["?"])


# --- the function


def test_rows_say_what_the_checks_found(tmp_path):
    rows = check_statements(["TOY-c", "TOY-a", "TOY-c"], paths=(write(tmp_path),))
    assert [row.id for row in rows] == ["TOY-c", "TOY-a"]
    tools, row = rows
    assert (tools.verdict, tools.grade) == ("holds", "numeric")
    assert (row.verdict, row.grade, row.witness) == ("refuted", "exact", "three is odd")
    assert (row.statement, row.source, row.summary) == ("Every number is even.", "Toy, p. 1", "found refuted")
    assert row.numbers == {"n": 3, "x": math.inf}
    assert isinstance(row.numbers["n"], int)
    with pytest.raises(AttributeError):
        row.verdict = "holds"


def test_an_installed_statement_is_checked_and_the_number_of_jobs_does_not_matter():
    ids = ["NIS-ParityFailure", "NIS-Point", "STE-Conj2"]
    rows = dpaudit.ledger(ids)
    assert [(row.id, row.verdict) for row in rows] == list(zip(ids, ["refuted", "holds", "holds"], strict=True))
    assert rows[0].witness
    assert rows[0].numbers == {"before": 0.5, "after": 0.625, "slides": 0.75}
    assert dpaudit.ledger(ids, n_jobs=2) == rows


def test_all_statements_are_checked_by_default_in_the_order_of_their_ids(tmp_path, no_installed):
    assert [row.id for row in check_statements(paths=(write(tmp_path),))] == ["TOY-a", "TOY-b", "TOY-c"]
    assert check_statements([], paths=(write(tmp_path),)) == ()
    assert dpaudit.ledger() == ()


@pytest.mark.parametrize("options", [{"n_jobs": 0}, {"n_jobs": True}, {"n_jobs": 1.5}])
def test_bad_options_are_refused(options):
    with pytest.raises(InputError, match="n_jobs must be a non-zero integer"):
        dpaudit.ledger(["NIS-Point"], **options)


def test_a_single_string_is_refused_instead_of_read_letter_by_letter():
    with pytest.raises(InputError, match="ids must be a sequence of statement ids, got the string 'NIS-Point'"):
        dpaudit.ledger("NIS-Point")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_check_that_raises_is_a_fault_after_the_others_are_done(tmp_path, no_installed, n_jobs):
    path = write(tmp_path, CRASH + CRASH.replace("TOY-d", "TOY-0"))
    with pytest.raises(LedgerFault, match="2 of 5 checks failed: TOY-0: ZeroDivisionError: toy") as caught:
        check_statements(paths=(path,), n_jobs=n_jobs)
    assert isinstance(caught.value, ToolFault)
    assert [row.id for row in caught.value.rows] == ["TOY-a", "TOY-b", "TOY-c"]
    assert list(caught.value.faults) == ["TOY-0", "TOY-d"]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.rows, again.faults, str(again)) == (caught.value.rows, caught.value.faults, str(caught.value))


def test_an_interrupt_is_no_fault():
    def interrupt(tools):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_statement(Statement("X", "s", "p", interrupt))


def test_a_check_that_takes_too_long_is_stopped_and_says_where(tmp_path, no_installed, capsys):
    path = tmp_path / "slow.py"
    path.write_text(
        "from dpaudit.contract import Evidence, Statement\n"
        "def quick(tools):\n    return Evidence('holds', 'found', {'n': 1}, 'exact')\n"
        "def endless(tools):\n    while True:\n        try:\n            sum(range(1000))\n"
        "        except Exception:\n            pass\n"
        "STATEMENTS = (Statement('TOY-e', 's', 'p', endless, 'short', '{n}', '{n}'),\n"
        "              Statement('TOY-q', 's', 'p', quick))\n"
    )
    rows = check_statements(paths=(str(path),), time_limit=0.2)
    assert [(row.id, row.verdict, bool(row.stopped_in)) for row in rows] == [
        ("TOY-e", "undecided", True),
        ("TOY-q", "holds", False),
    ]
    assert re.fullmatch(r"endless, line [5-9]: .+", rows[0].stopped_in)
    assert rows[0].summary == f"not decided within 0.2 s; stopped in {rows[0].stopped_in}"
    assert rows[0].printed == ""
    given = ["ledger", "--learners", str(path), "--time-limit", "0.2", "--quiet"]
    assert cli.main(given) == 3
    assert "stopped in endless" in capsys.readouterr().out.replace("\n", " ")
    assert cli.main([*given, "TOY-q"]) == 0
    for bad in (0, -1, math.nan, math.inf, "1"):
        with pytest.raises(InputError, match="time_limit must be"):
            check_statements(paths=(str(path),), time_limit=bad)


def test_one_statement_with_its_witness_and_no_other(capsys):
    assert cli.main(["ledger", "--witness", "NIS-Poin"]) == 2
    assert "did you mean NIS-Point" in capsys.readouterr().err
    assert cli.main(["ledger", "NIS-Occam", "--witness", "NIS-Point"]) == 2
    assert "the only statement" in capsys.readouterr().err


def checked(**numbers) -> LedgerRow:
    return check_statement(Statement("X", "s", "p", lambda tools: Evidence("holds", "found", numbers, "exact")))


def told(printed="", found="", **numbers):
    evidence = Evidence("holds", "as stated", {"n, printed": 30841, "share: least": 0.0412, **numbers}, "exact")
    return check_statement(Statement("X", "s", "p", lambda tools: evidence, "in a line", printed, found))


def test_a_line_for_tables_has_the_numbers_of_the_evidence():
    row = told("n = {n, printed:,}", "{share: least:.1%} of ε = {epsilon}", epsilon=math.inf)
    assert (row.short, row.printed, row.found) == ("in a line", "n = 30,841", "4.1% of ε = inf")
    assert told("{share: least}").printed == "0.0412"
    assert (told().printed, told().found) == ("", "")


@pytest.mark.parametrize("template", ["{m}", "{n:,}", "{n, printed:.2q}"])
def test_a_line_that_names_no_number_is_a_fault(template):
    with pytest.raises(ToolFault, match=r"X tells {.*}, which its evidence does not give"):
        told(found=template)


def test_every_statement_of_the_papers_has_a_line_for_tables():
    installed = registry.load().statements
    assert len(installed) >= 75
    for entry in installed:
        statement = entry.statement
        assert 3 < len(statement.short) <= 80, statement.id
        assert 0 < len(statement.printed) <= 60, statement.id
        assert len(statement.found) <= 90, statement.id
    assert sum(not entry.statement.found for entry in installed) <= 1


def test_numbers_become_plain_ones():
    row = checked(a=np.float64(0.5), b=np.int64(7), c=Fraction(1, 4), d=10**400, e=-math.inf)
    assert row.numbers == {"a": 0.5, "b": 7, "c": 0.25, "d": 10**400, "e": -math.inf}
    assert [type(value) for value in row.numbers.values()] == [float, int, float, int, float]
    stored = json.loads(json.dumps(row.to_dict(), allow_nan=False))
    assert stored["numbers"] == {"a": 0.5, "b": 7, "c": 0.25, "d": 10**400, "e": "-inf"}
    Draft202012Validator(schema.load("ledger")).validate(stored)


@pytest.mark.parametrize("value", [math.nan, np.nan, True, np.True_, "3", None, 1j])
def test_what_is_no_number_is_a_fault(value):
    with pytest.raises(ToolFault, match=r"the check of X gives n = .* which is not a number"):
        checked(n=value)


@pytest.mark.parametrize("value", [None, True, {"verdict": "holds"}])
def test_a_check_that_returns_no_evidence_is_a_fault(value):
    with pytest.raises(ToolFault, match=r"the check of X must return dpaudit\.contract\.Evidence, got"):
        check_statement(Statement("X", "s", "p", lambda tools: value))


@pytest.mark.parametrize(
    "code",
    [
        "import dpaudit.ledger; import dpaudit; f = dpaudit.ledger",
        "import importlib, dpaudit; importlib.import_module('dpaudit.ledger'); f = dpaudit.ledger",
        "from dpaudit.ledger import LedgerFault; from dpaudit import ledger as f",
        "import dpaudit; f = dpaudit.ledger; import dpaudit.ledger; f = dpaudit.ledger",
        "import dpaudit.cli.ledger_command; import dpaudit; f = dpaudit.ledger",
        "from dpaudit.ledger import ledger as f",
    ],
)
def test_the_name_is_the_function_whatever_was_imported_first(code):
    shown = "import sys, types; print(type(f).__name__, f.__module__, type(sys.modules['dpaudit.ledger']).__name__)"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{shown}"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["function", "dpaudit.ledger", "module"]


def test_other_submodules_are_bound_as_ever():
    assert dpaudit.registry is sys.modules["dpaudit.registry"]
    dpaudit.errors.marker = 1
    del dpaudit.errors.marker


# --- in a run


def test_statements_are_planned_after_the_audits_by_what_they_say(tmp_path):
    entries = registry.load((write(tmp_path),)).statements
    toys = [entry for entry in entries if entry.id.startswith("TOY")]
    plan = make_plan([], statements=toys)
    assert [(task.learner, task.kind) for task in plan.tasks] == [(f"TOY-{c}", "ledger") for c in "abc"]
    key = plan.tasks[0].key
    assert re.fullmatch(r"TOY-a/ledger/[0-9a-f]{10}", key)
    other = Statement("TOY-a", "Another statement.", "Toy, p. 1", len)
    assert ledger_task(StatementEntry(other, "here")).key != key
    assert make_plan([]).tasks == ()


@pytest.mark.parametrize("verdict", list(StatementVerdict))
def test_a_refuted_statement_is_no_violation(verdict):
    run = only(load_small(), "SL-Point")
    run = put(run, retold(run.results[0], verdict=verdict, witness="w"))
    assert word(run.results[0]) == "checked"
    assert outcome(run).status == 0
    assert (
        outcome(replace(run, header=replace(run.header, plan=(*run.header.plan, Planned("u", "u", "ledger"))))).status
        == 2
    )


def run(folder: Path, *words: str, more: str = "") -> tuple[int, Path]:
    """Run everything that a folder holds: one learner that claims no privacy, and the statements."""
    (folder / "bare.py").write_text(
        "from toy_learners import ToyBare, ToyCoin\n"
        "class Lawful(ToyBare):\n"
        "    id = 'toy-lawful'\n"
        "    def law(self, sample):\n        return ToyCoin(1.0).law(sample)\n"
        "LEARNERS = (Lawful,)\n"
    )
    write(folder, more)
    out = folder / "out"
    fixed = ["run", "--profile", "quick", "--quiet", "--out", str(out), "--learners", str(folder)]
    return cli.main([*fixed, *words]), out


def test_a_run_of_everything_checks_the_statements_and_reports_them(tmp_path, no_installed, capsys):
    status, out = run(tmp_path, "--jobs", "1")
    shown = capsys.readouterr().out
    assert status == 0, shown
    assert "\nledger       3 statements checked: 2 hold, 0 loose, 1 refuted, 0 undecided\n" in shown
    validator = Draft202012Validator(schema.load("run"))
    for line in (out / FILENAME).read_text().splitlines():
        validator.validate(json.loads(line))
    stored = load_run(out)
    assert [record.kind for record in stored.results] == ["exact", "ledger", "ledger", "ledger"]
    document = json.loads((out / "report.json").read_text())
    Draft202012Validator(schema.load("report")).validate(document)
    assert document["ledger"]["counts"] == {"holds": 2, "loose": 0, "refuted": 1, "undecided": 0}
    assert [row["id"] for row in document["ledger"]["statements"]] == ["TOY-a", "TOY-b", "TOY-c"]
    assert len(document["learners"]) == 1
    assert "three is odd" in (out / "report.html").read_text()


def test_a_run_of_given_learners_checks_no_statements(tmp_path, no_installed, capsys):
    status, out = run(tmp_path, "toy-lawful", "--jobs", "1", "--no-html")
    assert status == 0
    assert {record.kind for record in load_run(out).results} == {"exact"}
    assert "ledger" not in capsys.readouterr().out


def test_the_jobs_and_a_kill_leave_no_trace_in_the_bytes(tmp_path, no_installed):
    _, out = run(tmp_path, "--jobs", "1", "--no-html")
    whole = (out / FILENAME).read_bytes()
    run(tmp_path, "--jobs", "2", "--backend", "threading", "--no-html")
    assert (out / FILENAME).read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    (out / FILENAME).write_bytes(b"".join(lines[:3]) + lines[3][:30])
    assert run(tmp_path, "--jobs", "1", "--resume", "--no-html")[0] == 0
    assert (out / FILENAME).read_bytes() == whole


def test_a_check_that_fails_in_a_run_is_status_2_and_keeps_the_others(tmp_path, no_installed, capsys):
    status, out = run(tmp_path, "--jobs", "1", "--no-html", more=CRASH)
    shown = capsys.readouterr()
    assert status == 2
    assert re.search(r"^dpaudit: fault: TOY-d/ledger/\w+: ZeroDivisionError: toy", shown.err, re.M)
    assert "ledger       3 statements checked" in shown.out
    assert "missing      1 result" in shown.out
    assert len(load_run(out).results) == 4


# --- the command


def call(capsys, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.main(["ledger", "--jobs", "1", *words])
    return status, *capsys.readouterr()


def test_the_command_shows_verdict_statement_evidence_and_witness(tmp_path, no_installed, capsys):
    status, out, err = call(capsys, "--learners", write(tmp_path))
    assert (status, err) == (0, "")
    heads, rule, *lines = out.splitlines()
    assert heads.split() == ["verdict", "statement", "evidence", "what", "it", "says,", "and", "what", "was", "found"]
    assert set(rule) == {"-"}
    at = heads.index("what it says")
    assert lines[0] == "refuted  TOY-a      exact     Every number is even."
    assert lines[1:3] == [" " * at + "-> found refuted", " " * at + "witness: three is odd"]
    assert lines[3].split()[:3] == ["holds", "TOY-b", "exact"]
    assert lines[-1] == "3 statements checked: 2 hold, 0 loose, 1 refuted, 0 undecided"


def test_the_command_can_show_the_refuted_ones_only(tmp_path, capsys):
    _, out, _ = call(capsys, "TOY-b", "TOY-a", "--refuted", "--learners", write(tmp_path))
    assert "TOY-a" in out
    assert "TOY-b" not in out
    assert out.endswith("\n\n2 statements checked: 1 holds, 0 loose, 1 refuted, 0 undecided\n")
    _, out, _ = call(capsys, "TOY-b", "--refuted", "--learners", write(tmp_path))
    assert out == "1 statement checked: 1 holds, 0 loose, 0 refuted, 0 undecided\n"


def test_the_command_as_json_is_one_row_a_line(tmp_path, capsys):
    status, out, _ = call(capsys, "TOY-b", "TOY-a", "--json", "--learners", write(tmp_path))
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [(row["id"], row["numbers"]["x"]) for row in rows] == [("TOY-b", "inf"), ("TOY-a", "inf")]
    for row in rows:
        Draft202012Validator(schema.load("ledger")).validate(row)
    _, out, _ = call(capsys, "TOY-b", "TOY-a", "--json", "--refuted", "--learners", write(tmp_path))
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["TOY-a"]


def test_a_fault_is_status_2_and_the_others_are_shown(tmp_path, no_installed, capsys):
    status, out, err = call(capsys, "--learners", write(tmp_path, CRASH))
    assert status == 2
    assert "3 statements checked" in out
    assert re.search(r"^dpaudit: fault: TOY-d: ZeroDivisionError: toy \(.*claims\.py, line \d+\)$", err, re.M)


def test_an_unknown_statement_is_status_2_before_anything_runs(capsys):
    status, out, err = call(capsys, "NIS-Pointe")
    assert (status, out) == (2, "")
    assert "there is no statement 'NIS-Pointe'; did you mean NIS-Point" in err


def test_an_empty_ledger_says_so(no_installed, capsys):
    status, out, err = call(capsys)
    assert (status, out) == (0, "0 statements checked: 0 hold, 0 loose, 0 refuted, 0 undecided\n")
    assert "no module lists statements" in err


# --- in words


def row(**changes) -> LedgerRow:
    fields = {"id": "X-1", "statement": "s", "source": "p", "verdict": "holds", "summary": "f", "numbers": {}}
    told = {**fields, "grade": "exact", **changes}
    return LedgerRow(**{**told, "verdict": StatementVerdict(told["verdict"]), "grade": Grade(told["grade"])})


def test_the_table_fits_loses_no_word_and_obeys_none():
    words = [f"word{i}" for i in range(60)]
    long = row(id="Long-" + "id-" * 30 + "end", statement=" ".join(words), verdict="undecided", grade="statistical")
    odd = row(statement="\u03b1 <= 1\x1b[2J", verdict="refuted", witness="x" * 300)
    plain, coloured = (ledger_report.render([long, odd], color) for color in (False, True))
    assert "\u03b1 <= 1\\x1b[2J" in plain
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 120
    assert re.findall(r"word\d+", plain) == words
    assert plain.count("x" * 20) >= 10
    assert "\x1b[33mrefuted" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert ledger_report.render([]) == ""


def test_every_verdict_is_counted_and_toned():
    rows = [row(verdict=verdict, witness="w") for verdict in ("loose", "loose", "refuted", "undecided")]
    assert ledger_report.counts_text(rows) == "4 statements checked: 0 hold, 2 loose, 1 refuted, 1 undecided"
    assert set(StatementVerdict) == set(ledger_report.counts([]))


@pytest.mark.parametrize("field", ["statement", "source", "summary"])
def test_a_row_says_what_is_stated_where_and_what_was_found(field):
    with pytest.raises(InputError, match=f"{field} must not be empty"):
        row(**{field: ""})
    with pytest.raises(InputError, match="a refutation needs a witness"):
        row(verdict="refuted")


def test_the_page_has_a_section_with_every_statement():
    page = html.render(load_small())
    start, end = (page.index(f'<section aria-labelledby="{name}">') for name in ("ledger", "words"))
    part = page[start:end]
    assert "of 3 statements checked, 1 refuted, 1 loose, 1 hold" in page
    assert part.count('<th scope="row"') == 3
    assert part.count('<span class="word v-bad">') == 1
    assert "the sample (1 -&gt; 1) replaced by (0 -&gt; 1)" in part
    assert '<section aria-labelledby="ledger">' not in html.render(only(load_small(), "parity-private"))


def test_reports_without_statements_say_nothing_of_them():
    stored = only(load_small(), "parity-private")
    assert "ledger" not in console.render(stored)
    told = json.loads(json_report.render(stored))["ledger"]
    assert told == {"counts": ledger_report.counts([]), "statements": []}


def test_a_statement_planned_without_a_result_is_pending():
    run = load_small()
    run = replace(run, results=tuple(r for r in run.results if r.learner != "SL-Point"))
    assert "missing results: 1" in console.render(run)
    assert "ledger: 2 statements checked" in console.render(run)
