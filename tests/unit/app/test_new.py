"""Beginning an audit: what is written convicts what it wrote, and is private once it is mended."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dpaudit.app.check import check
from dpaudit.app.settings import begin, read_project
from dpaudit.errors import InputError


def verdicts(settings: Path) -> dict[str, str]:
    for name in ("noisy_mean", "majority"):
        sys.modules.pop(name, None)
    return {one.row.name: one.row.verdict.value for one in check(settings)}


def test_what_is_begun_is_a_violation_until_it_is_mended(tmp_path: Path) -> None:
    mechanism = begin("mechanism", "noisy_mean", tmp_path)
    learner = begin("learner", "majority", tmp_path)
    settings = tmp_path / "audit.toml"
    assert mechanism == (tmp_path / "noisy_mean.py", tmp_path / "test_noisy_mean.py", settings)
    assert learner == (tmp_path / "majority.py", tmp_path / "test_majority.py", settings)
    settings.write_text(settings.read_text().replace("trials = 100000", "trials = 8000"))
    assert verdicts(settings) == {"noisy_mean": "violation", "majority": "violation"}
    (tmp_path / "mended").mkdir()
    for source, wrong, right in (
        (mechanism[0], "scale = sensitivity / 2 ", "scale = sensitivity / EPSILON "),
        (learner[0], "return self.epsilon * margin ", "return self.epsilon / 2 * margin "),
    ):
        assert source.read_text().count(wrong) == 1
        (tmp_path / "mended" / source.name).write_text(source.read_text().replace(wrong, right))
    mended = tmp_path / "mended" / settings.name
    mended.write_text(settings.read_text())
    assert verdicts(mended) == {"noisy_mean": "consistent", "majority": "consistent"}


def test_the_learner_that_is_begun_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpaudit.conformance import check_learner

    begin("learner", "house_of_two", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__("house_of_two")
    assert module.LEARNER.id == "house-of-two"
    assert type(module.LEARNER).__name__ == "HouseOfTwo"
    check_learner(module.LEARNER)


def test_the_table_of_pyproject_gets_the_entry_where_it_has_the_others(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[project]\nname = "x"\n\n[tool.dpaudit]\ntrials = 2000\n')
    assert begin("mechanism", "a", tmp_path)[-1] == path
    begin("learner", "b", tmp_path)
    assert not (tmp_path / "audit.toml").exists()
    assert [one.name for one in read_project(path).audit] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "there", "told"),
    [
        ("a-b", "", "name must be a name of Python, such as noisy_mean, got 'a-b'"),
        ("class", "", "name must be a name of Python"),
        ("mean", "mean.py", r"mean\.py is there already: choose another name, or remove it"),
        ("mean", "test_mean.py", r"test_mean\.py is there already"),
    ],
)
def test_nothing_is_overwritten(name: str, there: str, told: str, tmp_path: Path) -> None:
    if there:
        (tmp_path / there).write_text("mine")
    with pytest.raises(InputError, match=told):
        begin("mechanism", name, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ([there] if there else [])


def test_a_name_that_the_settings_have_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text('[[audit]]\nname = "mean"\nmechanism = "other.py:f"\n')
    with pytest.raises(InputError, match=r"audit\.toml has an audit 'mean' already: choose another name"):
        begin("mechanism", "mean", tmp_path)
    (tmp_path / "inner").mkdir()
    with pytest.raises(InputError, match=r"the settings of this project are .*: work in"):
        begin("mechanism", "fine", tmp_path / "inner")
    assert not list(tmp_path.rglob("*.py"))
