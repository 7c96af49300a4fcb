"""The settings of a project: what they say, and what is told where they are wrong."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from dpaudit.app.settings import find_settings, read_project
from dpaudit.errors import InputError

GOOD = """
trials = 2000

[[audit]]
name = "mean"
mechanism = "mean.py:mean"
epsilon = 1
accepted = { reason = "until the next release", date = 2026-01-31, epsilon = 2 }

[[audit]]
name = "points"
mechanism = "point-exponential"
parameters = { domain_size = 4 }
exact = true
"""
ONE = '[[audit]]\nname = "mean"\nmechanism = "mean.py:mean"\n'


def written(folder: Path, text: str, name: str = "audit.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_settings_are_typed_records(tmp_path: Path) -> None:
    project = read_project(written(tmp_path, GOOD))
    mean, points = project.audit
    assert (project.trials, project.confidence, mean.trials) == (2_000, 0.999, None)
    assert (mean.epsilon, points.parameters, points.exact) == (1.0, {"domain_size": 4}, True)
    assert mean.accepted is not None
    assert mean.accepted.date == datetime.date(2026, 1, 31)


def test_the_table_of_pyproject_says_the_same(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\n\n[tool.dpaudit]' + GOOD.replace("[[audit]]", "[[tool.dpaudit.audit]]")
    assert read_project(written(tmp_path, text, "pyproject.toml")) == read_project(written(tmp_path, GOOD))


def test_settings_are_found_here_or_above_and_the_file_of_its_own_comes_first(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "inner"
    inner.mkdir(parents=True)
    shared = written(tmp_path, "[tool.dpaudit]\n", "pyproject.toml")
    written(inner, "[tool.other]\n", "pyproject.toml")
    assert find_settings(inner) == shared
    own = written(tmp_path, ONE)
    assert find_settings(inner) == own


def test_where_there_are_none_the_message_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no audit\.toml in .*`dpaudit new mechanism NAME` begins one"):
        find_settings(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trials = [", r"audit\.toml is no TOML: .*"),
        ("", r"lists no \[\[audit\]\]; `dpaudit new mechanism NAME` adds one"),
        ("trails = 20\n" + ONE, "the project has no key 'trails'; did you mean trials?"),
        (ONE + "epsiln = 1", "audit 'mean' has no key 'epsiln'; did you mean epsilon?"),
        (ONE + "qqqq = 1", "audit 'mean' has no key 'qqqq'; there are name, mechanism, "),
        (ONE + "trials = 'many'", "trials of audit 'mean': must be a whole number >= 10, got 'many'"),
        (ONE + "trials = 3", "trials of audit 'mean': must be a whole number >= 10"),
        (ONE + "confidence = 1.5", "confidence of audit 'mean': must be a number > 0.5 and < 1, got 1.5"),
        (ONE + "randomness = 'mine'", "randomness of audit 'mean': must be \"argument\" or \"own\", got 'mine'"),
        (ONE + "bound = 'melded'", "audit 'mean' has no key 'bound'; did you mean bounds?"),
        (
            ONE + "bounds = '0,100'",
            r"bounds of audit 'mean': must be a list or a table, got '0,100'; write bounds = \[0, 100\]",
        ),
        (ONE + "bounds = 'age=0,99.5;a b=-1,1'", r'; write bounds = \{ age = \[0, 99.5\], "a b" = \[-1, 1\] \}'),
        (ONE + "bounds = 'all'", r"; write bounds = \[0, 100\], or bounds = \{ age = \[0, 100\] \} for one column"),
        (ONE + "group = 0", "group of audit 'mean': must be a whole number >= 1, got 0"),
        (ONE + "batched = 1", "batched of audit 'mean': must be true or false, got 1"),
        (
            ONE + "accepted = { reason = 'x', date = 'soon', epsilon = 1 }",
            "date of accepted of audit 'mean': must be a date without quotes, as 2026-01-31",
        ),
        (
            ONE + "accepted = { reason = 'x', date = 2026-01-31, epsilon = inf }",
            "accepted of audit 'mean': epsilon must be a finite number, got inf",
        ),
        (
            ONE + "accepted = { reason = 'x', date = 1999-01-31, epsilon = 2 }",
            "accepted of audit 'mean': date must be a date within 10 years of today",
        ),
        ("trials = " + "9" * 5_000, r"audit\.toml is no TOML: Exceeds the limit"),
        ("trials = " + "[" * 100_000, r"audit\.toml is nested too deep to be read"),
        (ONE + "relation = 'next'", "audit 'mean': relation must be one of replace-one, add-remove-one, "),
        ("[[audit]]\nname = 'mean'", "audit 'mean': mechanism is missing; add mechanism = \"mean.py:mean\""),
        ("[[audit]]\nname = 'a b'\nmechanism = 'm:f'", "name of audit 'a b': must be letters and digits, "),
        (ONE + ONE, "each audit needs a name of its own; mean is there twice"),
        ("[audit]\nname = 'mean'", r"audits are tables \[\[audit\]\], with two brackets; got"),
        (
            ONE + "accepted = { reason = 'x', date = 2026-01-31 }",
            "accepted of audit 'mean': epsilon is missing; add epsilon = 1",
        ),
        (ONE + "accepted = { why = 'x' }", "accepted of audit 'mean' has no key 'why'; there are reason, date, eps"),
        (
            ONE + "accepted = { reason = '', date = 2026-01-31, epsilon = 2 }",
            "reason of accepted of audit 'mean': must be text in quotes, not empty",
        ),
    ],
)
def test_wrong_settings_are_refused_with_their_place(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told.replace("?", r"\?").replace("|", r"\|")) as refused:
        read_project(written(tmp_path, text))
    assert str(tmp_path / "audit.toml") in str(refused.value)


def test_audits_are_chosen_by_name(tmp_path: Path) -> None:
    project = read_project(written(tmp_path, GOOD))
    assert [one.name for one in project.chosen(["points", "points"])] == ["points"]
    assert [one.name for one in project.chosen([])] == [one.name for one in project.audit]
    with pytest.raises(InputError, match="there is no audit 'point'; did you mean points"):
        project.chosen(["point"])
