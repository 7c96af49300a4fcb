"""Digests of the code that results come from."""

from __future__ import annotations

import dpaudit_learners.parities.private  # noqa: F401 - digests are of modules that are loaded
from dpaudit.evidence import verification as sources


def test_a_digest_is_of_names_and_contents_of_the_modules_and_of_nothing_else(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder / "inner").mkdir(parents=True)
        for name in ("a.py", "inner/__init__.py", "inner/b.py"):
            (tmp_path / folder / name).write_text(f"n = '{name}'\n")
    before = sources.digest_of(tmp_path / "x")
    assert sources.digest_of(tmp_path / "y") == before
    (tmp_path / "y" / "data.csv").write_text("1")
    (tmp_path / "y" / "results").mkdir()
    (tmp_path / "y" / "results" / "no_package.py").write_text("")
    (tmp_path / "y" / "a.py").write_bytes(b"n = 'a.py'\r\n")
    assert sources.digest_of(tmp_path / "y") == before
    (tmp_path / "y" / "inner" / "b.py").rename(tmp_path / "y" / "inner" / "c.py")
    assert sources.digest_of(tmp_path / "y") != before
    (tmp_path / "x" / "inner" / "b.py").write_text("n = 2\n")
    assert sources.digest_of(tmp_path / "x") != before


def test_digests_of_packages_and_paths_by_name(tmp_path):
    first, second = tmp_path / "a" / "mine.py", tmp_path / "b" / "mine.py"
    for file, text in ((first, "LEARNERS = ()\n"), (second, "LEARNERS = []\n")):
        file.parent.mkdir()
        file.write_text(text)
    first, second = str(first), str(second)
    modules = ["dpaudit_learners.parities.private", "builtins", "no.such.module"]
    found = sources.sources(modules, [first, second, str(tmp_path / "a")])
    assert sorted(found) == ["a/", "dpaudit", "dpaudit_learners", "mine.py"]
    assert found == sources.sources(["dpaudit_learners.parities.private"], [str(tmp_path / "a"), second, first])
    assert found["mine.py"].count("-") == 1
