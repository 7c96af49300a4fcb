"""The ledger: where statements come from, what a check may return, and what command, run and reports show."""

from __future__ import annotations

import importlib.metadata
import json
import math
import pickle
import re
import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from toy_records import ledger_row

import dpaudit
from dpaudit import app, registry
from dpaudit.contract import Constants, Evidence, Part, Statement
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.perform import check_statement
from dpaudit.evidence.records import LedgerRow
from dpaudit.record import decode, encodable
from dpaudit.report import schema
from dpaudit.report.ledger import LedgerFault, check_statements, counts_text, ledger_table

HERE = Path(__file__).parent

STATEMENTS = """
from dpaudit.contract import Statement, Evidence

def evidence(verdict, witness=""):
    return lambda tools: Evidence(verdict, "found " + verdict, {{"n": 3, "x": float("inf")}}, "exact", witness)

def crash(tools):
    raise ZeroDivisionError("toy")

def names(tools):
    kept = all(hasattr(tools, name) for name in ("audit_law", "audit_utility", "scaling_law"))
    return Evidence("holds" if kept else "undecided", "public names", {{}}, "numeric")

STATEMENTS = (
    Statement("TOY-b", "Two is even.", "Toy, p. 2", evidence("holds")),
    Statement("TOY-a", "Every number is even.", "Toy, p. 1", evidence("refuted", "three is odd"), failure="false",
              place="p. 1", formula="2 | n", argument="An odd number is none.", survives="no"),
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
    assert found.get_statement("TOY-a").statement == "Every number is even."


def test_every_paper_has_statements_in_the_installed_ledger():
    ids = [entry.id for entry in registry.load().statements]
    assert len(ids) == len(set(ids)) >= 50
    assert {id.partition("-")[0] for id in ids} >= {"NIS", "STE", "KMMS", "BMNS", "BMN", "OURS"}


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
        dpaudit.pac.ledger(["NIS-ParityFailur"])
    with pytest.raises(InputError, match="see `dpaudit ledger`"):
        dpaudit.pac.ledger(["?"])


# --- the function


def test_rows_say_what_the_checks_found(tmp_path):
    rows = check_statements(["TOY-c", "TOY-a", "TOY-c"], paths=(write(tmp_path),))
    assert [row.id for row in rows] == ["TOY-c", "TOY-a"]
    tools, row = rows
    assert (tools.verdict, tools.grade) == ("holds", "numeric")
    assert (row.verdict, row.grade, row.witness) == ("false", "exact", "three is odd")
    assert (row.place, row.formula, row.survives, row.part) == ("p. 1", "2 | n", "no", "papers")
    assert (row.statement, row.source, row.summary) == ("Every number is even.", "Toy, p. 1", "found refuted")
    assert row.numbers == {"n": 3, "x": math.inf}
    assert isinstance(row.numbers["n"], int)
    with pytest.raises(AttributeError):
        row.verdict = "holds"


def test_an_installed_statement_is_checked_and_the_number_of_jobs_does_not_matter():
    ids = ["NIS-ParityFailure", "NIS-Point", "STE-Conj2"]
    rows = dpaudit.pac.ledger(ids)
    assert [(row.id, row.verdict) for row in rows] == list(zip(ids, ["loose", "holds", "holds"], strict=True))
    assert rows[0].numbers == {"before": 0.5, "after": 0.625, "slides": 0.75}
    assert dpaudit.pac.ledger(ids, n_jobs=2) == rows


def test_all_statements_are_checked_by_default_in_the_order_of_their_ids(tmp_path, no_installed):
    assert [row.id for row in check_statements(paths=(write(tmp_path),))] == ["TOY-a", "TOY-b", "TOY-c"]
    assert check_statements([], paths=(write(tmp_path),)) == ()
    assert dpaudit.pac.ledger() == ()


@pytest.mark.parametrize("options", [{"n_jobs": 0}, {"n_jobs": True}, {"n_jobs": 1.5}])
def test_bad_options_are_refused(options):
    with pytest.raises(InputError, match="n_jobs must be a non-zero integer"):
        dpaudit.pac.ledger(["NIS-Point"], **options)


def test_a_single_string_is_refused_instead_of_read_letter_by_letter():
    with pytest.raises(InputError, match="ids must be a sequence of statement ids, got the string 'NIS-Point'"):
        dpaudit.pac.ledger("NIS-Point")


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
    assert app.main(given) == 3
    assert "stopped in endless" in capsys.readouterr().out.replace("\n", " ")
    assert app.main([*given, "TOY-q"]) == 0
    for bad in (0, -1, math.nan, math.inf, "1"):
        with pytest.raises(InputError, match="time_limit must be"):
            check_statements(paths=(str(path),), time_limit=bad)


def test_one_statement_with_its_witness_and_no_other(capsys):
    assert app.main(["ledger", "--witness", "NIS-Poin"]) == 2
    assert "did you mean NIS-Point" in capsys.readouterr().err
    assert app.main(["ledger", "NIS-Occam", "--witness", "NIS-Point"]) == 2
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
    with pytest.raises(ToolFault, match=r"X names {.*}, which its evidence does not give"):
        told(found=template)


def test_every_statement_of_the_papers_has_a_line_for_tables():
    installed = registry.load().statements
    assert len(installed) >= 75
    for statement in installed:
        assert 3 < len(statement.short) <= 80, statement.id
        assert 0 < len(statement.printed) <= 60, statement.id
        assert len(statement.found) <= 110, statement.id
    assert sum(not statement.found for statement in installed) <= 1


GROUNDS = {"place": "p. 1", "formula": "2 | n", "argument": "An odd number is none.", "survives": "no"}


@pytest.mark.parametrize("missing", GROUNDS)
def test_an_accusation_without_grounds_is_none(missing):
    grounds = {name: words for name, words in GROUNDS.items() if name != missing}
    with pytest.raises(InputError, match=f"the accusation X has no {missing}"):
        Statement("X", "s", "p", lambda tools: None, failure="gap", **grounds)
    with pytest.raises(InputError, match="failure must be one of false, gap, misprint, edge case"):
        Statement("X", "s", "p", lambda tools: None, failure="loose", **GROUNDS)


@pytest.mark.parametrize(
    ("found", "declared", "verdict", "survives"),
    [
        ("refuted", {"failure": "gap", **GROUNDS}, "gap", "no"),
        ("refuted", {}, "refuted", "not applicable"),
        ("holds", {"failure": "false", **GROUNDS}, "holds", "not applicable"),
        ("loose", {}, "loose", "not applicable"),
        ("loose", {"constants": "ours"}, "derived", "not applicable"),
        ("undecided", {"constants": "ours"}, "undecided", "not applicable"),
        ("loose", {"constants": "ours", "part": "ours"}, "holds", "not applicable"),
    ],
)
def test_the_class_is_declared_and_the_contradiction_computed(found, declared, verdict, survives):
    evidence = Evidence(found, "as found", {}, "exact", "three" if found == "refuted" else "")
    row = check_statement(Statement("X", "s", "p", lambda tools: evidence, **declared))
    assert (row.verdict, row.survives) == (verdict, survives)


def test_lower_bounds_confirm_nothing():
    row = ledger_row("undecided", one_sided=True)
    assert "not refuted  Toy-1" in ledger_table([row])
    assert "undecided    Toy-1" not in ledger_table([row])
    assert counts_text([row]) == "1 statement of papers checked: 1 undecided"
    with pytest.raises(InputError, match="verdict must be one of refuted, undecided"):
        Evidence("holds", "as found", {}, "exact", one_sided=True)


@pytest.mark.parametrize(("verdict", "constants"), [("loose", "ours"), ("derived", "paper")])
def test_whose_constants_decides_what_a_row_may_say(verdict, constants):
    with pytest.raises(InputError, match=f"is {verdict} with constants of {constants}"):
        ledger_row(verdict, constants=Constants(constants))


def test_rows_of_before_the_classes_are_read_as_they_were_written():
    stored = encodable(ledger_row("refuted"))
    for name in ("place", "formula", "conditions", "constants", "survives", "argument", "part"):
        del stored[name]
    row = decode(json.dumps(stored), LedgerRow)
    assert (row.verdict, row.survives) == ("refuted", "not applicable")
    assert counts_text([row]) == "1 statement of papers checked: 1 refuted"


def test_rows_that_are_no_papers_are_counted_by_themselves():
    rows = [ledger_row("false"), ledger_row("derived"), ledger_row("holds", part=Part.OURS)]
    assert counts_text(rows) == "2 statements of papers checked: 1 false, 1 derived; 1 of ours: 1 holds"


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
