"""Print the lowest versions that pyproject.toml allows, as pins for pip: `python scripts/lowest_versions.py`."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

FLOORS = {
    (3, 13): {
        "numpy": "2.1.0",
        "pandas": "2.2.3",
        "pyarrow": "18.0.0",
        "python-flint": "0.7.0",
        "scikit-learn": "1.5.2",
        "statsmodels": "0.14.3",
    },
    (3, 14): {
        "numpy": "2.3.2",
        "pandas": "2.3.3",
        "pyarrow": "22.0.0",
        "python-flint": "0.8.0",
        "scikit-learn": "1.7.2",
        "scipy": "1.16.1",
        "statsmodels": "0.14.5",
    },
}
"""The first versions with wheels for a Python, where the lowest that pyproject.toml allows have none."""


def pins(project: dict[str, Any], python: tuple[int, int]) -> Iterator[str]:
    """Yield `name==version` for each requirement of a project and its extras.

    Raises
    ------
    ValueError
        If a requirement is not written `name>=version`.
    """
    floors: dict[str, str] = {}
    for version in sorted(FLOORS):
        floors |= FLOORS[version] if version <= python else {}
    extras = chain.from_iterable(project["optional-dependencies"].values())
    for requirement in sorted({*project["dependencies"], *extras}):
        match = re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement)
        if not match:
            raise ValueError(f"pyproject.toml gives no lowest version as name>=version in {requirement!r}")
        yield f"{match[1]}=={floors.get(match[1], match[2])}"


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(pins(tomllib.loads(text)["project"], sys.version_info[:2])))
