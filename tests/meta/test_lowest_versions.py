"""The pins of `./scripts/test --lowest` are the lower bounds of pyproject.toml, and at least the first with wheels."""

from __future__ import annotations

import runpy
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from source_tree import ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts/lowest_versions.py"))
pins, FLOORS = SCRIPT["pins"], SCRIPT["FLOORS"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REQUIRED = [*PROJECT["dependencies"], *(text for extra in PROJECT["optional-dependencies"].values() for text in extra)]


@pytest.mark.parametrize("python", [(3, 11), (3, 12), *FLOORS, (3, 99)])
def test_every_requirement_is_pinned_to_a_version_that_it_allows(python: tuple[int, int]) -> None:
    pinned = {Requirement(line).name: line.partition("==")[2] for line in pins(PROJECT, python)}
    assert pinned.keys() == {Requirement(text).name for text in REQUIRED}
    for text in REQUIRED:
        assert Version(pinned[Requirement(text).name]) in Requirement(text).specifier


def test_a_floor_counts_from_its_python_on() -> None:
    project = {"dependencies": ["numpy>=1.26"], "optional-dependencies": {}}
    assert [list(pins(project, (3, minor))) for minor in (11, 13)] == [["numpy==1.26"], ["numpy==2.1.0"]]
    assert list(pins(project, (3, 99))) == list(pins(project, max(FLOORS)))


@pytest.mark.parametrize("requirement", ["numpy", "numpy==1.26", "numpy>=1.26,<2", "numpy>1.26"])
def test_a_requirement_without_a_plain_lower_bound_is_refused(requirement: str) -> None:
    with pytest.raises(ValueError, match=f"no lowest version .* in '{requirement}'"):
        list(pins({"dependencies": [requirement], "optional-dependencies": {}}, (3, 11)))
