"""The registry: where learners come from, and what it says when something is wrong."""

from __future__ import annotations

import importlib.metadata
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import toy_learners

from dpaudit import registry
from dpaudit.contract import Instance
from dpaudit.errors import InputError

TOYS = toy_learners.__file__

SOURCE = """
from dataclasses import dataclass
from dpaudit.contract import Instance
{extra}
@dataclass(frozen=True)
class {name}:
    '''Does {id}.

    And more.
    '''
    size: int
    flag: bool = False
    id = "{id}"
    instance = Instance({{"size": 3}}, n=1)
    privacy = domain = concepts = None
    def run(self, sample, rng, size): ...
    def decode(self, code): ...

LEARNERS = ({name},)
"""


def write(path: Path, name: str, id: str, extra: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(SOURCE).format(name=name, id=id, extra=extra))
    return path


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    """No installed learners, no cache, no modules left behind."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: ())
    registry.load.cache_clear()
    known = set(sys.modules)
    yield
    registry.load.cache_clear()
    for name in set(sys.modules) - known:
        if name.startswith((registry.PRIVATE, "someones")):
            del sys.modules[name]


def install(monkeypatch, module: str) -> None:
    point = importlib.metadata.EntryPoint("someone", module, registry.GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: (point,) if group == registry.GROUP else ())


def test_a_file_is_loaded_and_its_learners_are_sorted(tmp_path):
    write(tmp_path / "b.py", "B", "toy-b")
    found = registry.load((str(tmp_path / "b.py"), TOYS))
    ids = [entry.id for entry in found.entries]
    assert ids == sorted(ids)
    assert {"toy-b", "toy-coin"} <= set(ids)
    assert found.problems == ()


def test_an_entry_says_what_a_list_needs(tmp_path):
    entry = registry.load((str(write(tmp_path / "a.py", "A", "toy-a")),)).get("toy-a")
    assert entry.summary == "Does toy-a."
    assert list(entry.parameters) == ["size", "flag"]
    assert entry.parameters["flag"] is False
    assert (entry.fault, entry.claim()) == (None, None)
    toys = registry.load((TOYS,))
    assert toys.get("broken-toy-open").fault == "it leaks twice its claim"
    assert toys.get("toy-coin").claim().epsilon == 3.0


def test_a_folder_is_walked_and_its_files_import_each_other(tmp_path):
    write(tmp_path / "one.py", "One", "toy-one", "from .helper import VALUE")
    (tmp_path / "helper.py").write_text("VALUE = 1\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "__init__.py").write_text("")
    write(tmp_path / "deep" / "two.py", "Two", "toy-two")
    found = registry.load((str(tmp_path),))
    assert [entry.id for entry in found.entries] == ["toy-one", "toy-two"]
    assert found.problems == ()


def test_an_entry_point_package_is_walked(tmp_path, monkeypatch):
    (tmp_path / "someones_learners").mkdir()
    (tmp_path / "someones_learners" / "__init__.py").write_text("")
    write(tmp_path / "someones_learners" / "one.py", "One", "toy-one")
    (tmp_path / "someones_learners" / "tools.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    install(monkeypatch, "someones_learners")
    assert [entry.id for entry in registry.list_learners()] == ["toy-one"]
    assert registry.get_learner("toy-one", size=4).size == 4


def test_the_private_module_shadows_nothing(tmp_path):
    path = write(tmp_path / "json.py", "A", "toy-a")
    registry.load((str(path),))
    import json

    assert json.loads("1") == 1


@pytest.mark.parametrize("text", ["import no_such_module_at_all", "raise SystemExit(3)", "def"])
def test_a_module_that_fails_to_load_is_a_problem_and_the_others_stand(tmp_path, text):
    write(tmp_path / "good.py", "Good", "toy-good")
    (tmp_path / "bad.py").write_text(text)
    found = registry.load((str(tmp_path),))
    assert [entry.id for entry in found.entries] == ["toy-good"]
    assert len(found.problems) == 1
    assert found.problems[0].requested
    assert "module bad" in str(found.problems[0])


def test_a_broken_entry_point_is_a_problem_nobody_asked_for(monkeypatch):
    install(monkeypatch, "someones_missing_module")
    found = registry.load((TOYS,))
    assert [problem.requested for problem in found.problems] == [False]
    assert found.get("toy-coin").id == "toy-coin"


def test_two_learners_with_one_id_are_refused(tmp_path):
    write(tmp_path / "one.py", "One", "toy-same")
    write(tmp_path / "two.py", "Two", "toy-same")
    with pytest.raises(InputError, match=r"two learners have the id 'toy-same'.*one\.py.*two\.py"):
        registry.load((str(tmp_path),))


def test_a_path_given_twice_is_loaded_once(tmp_path):
    path = write(tmp_path / "one.py", "One", "toy-one")
    (tmp_path / "link.py").symlink_to(path)
    for paths in ((path, path), (path, tmp_path / "." / "one.py"), (tmp_path, path), (path, tmp_path / "link.py")):
        found = registry.load(tuple(map(str, paths)))
        assert [entry.id for entry in found.entries] == ["toy-one"]
        assert found.problems == ()
        # Otherwise worker processes could not find the class under its name.
        learner = found.get("toy-one").learner
        assert vars(sys.modules[learner.__module__])["One"] is learner
    with pytest.raises(InputError, match="two learners have the id 'toy-one'"):
        registry.load((str(path), str(write(tmp_path / "more" / "two.py", "Two", "toy-one"))))


def test_one_class_in_two_modules_is_one_learner(tmp_path):
    write(tmp_path / "one.py", "One", "toy-one")
    (tmp_path / "two.py").write_text("from .one import LEARNERS\n")
    assert len(registry.load((str(tmp_path),)).entries) == 1


@pytest.mark.parametrize(
    ("id", "near"), [("toy-coyn", "toy-coin"), ("toy-lair", "toy-liar"), ("broken-toy-opne", "broken-toy-open")]
)
def test_an_unknown_id_names_the_nearest(id, near):
    with pytest.raises(InputError, match=f"no learner '{id}'; did you mean .*{near}"):
        registry.load((TOYS,)).get(id)


def test_an_id_near_to_nothing_points_to_the_list():
    with pytest.raises(InputError, match="dpaudit list"):
        registry.load((TOYS,)).get("zzzzzzzz")


def test_parameters_are_checked_by_name(tmp_path):
    entry = registry.load((str(write(tmp_path / "a.py", "A", "toy-a")),)).get("toy-a")
    assert entry.build(size=2) == entry.learner(2, False)
    with pytest.raises(InputError, match="no parameter 'sise'; allowed: size, flag"):
        entry.build(sise=2)
    with pytest.raises(InputError, match=r"needs the parameter\(s\) size; allowed: size, flag"):
        entry.build(flag=True)


@pytest.mark.parametrize("path", ["absent.py", "text.txt"])
def test_a_path_without_learners_is_refused(tmp_path, path):
    (tmp_path / "text.txt").write_text("")
    with pytest.raises(InputError, match=r"\.py file or a folder"):
        registry.load((str(tmp_path / path),))


@dataclass
class Shell:
    id: Any = "toy-shell"
    example: Any = None


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Shell(), "must hold classes"),
        (type("A", (toy_learners.ToyBare,), {"id": "Bad Id"}), "A.id must be lower-case words"),
        (type("B", (toy_learners.ToyBare,), {"instance": 3}), r"B.instance must be a dpaudit\.pac\.Instance, got 3"),
        (type("B", (), {"id": "toy-b"}), "B lacks instance, privacy, domain, concepts, run, decode"),
        (type("D", (toy_learners.ToyBare,), {"fault": None}), "D.fault must be a sentence, got None"),
        (
            type("C", (), {"id": "toy-c", "instance": Instance({}, 1), "run": 1}),
            "lacks privacy, domain, concepts, decode",
        ),
    ],
)
def test_what_is_no_learner_is_a_problem_that_says_why(tmp_path, monkeypatch, thing, words):
    module = type(sys)("someones_odd")
    module.LEARNERS = (thing,)
    monkeypatch.setitem(sys.modules, "someones_odd", module)
    install(monkeypatch, "someones_odd")
    found = registry.load(())
    assert found.entries == ()
    assert re.search(words, str(found.problems[0]))
