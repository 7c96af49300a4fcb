"""Begins an audit: a file with a mechanism or a learner, its test, and its entry in the settings."""

from __future__ import annotations

import keyword
from importlib.resources import files
from pathlib import Path
from typing import Literal

from dpaudit.errors import InputError
from dpaudit.project.settings import FILE, PYPROJECT, find_settings, read_project

__all__ = ["Kind", "begin"]

Kind = Literal["mechanism", "learner"]


def begin(kind: Kind, name: str, folder: Path | None = None) -> tuple[Path, ...]:
    """Write a mechanism or a learner that can be audited at once, and return the files written.

    Of a mechanism NAME.py claims epsilon = 1 and adds the noise for epsilon = 2: its audit and its test fail until it
    is mended, which shows what a violation looks like. ``audit.toml`` (or the ``pyproject.toml`` that has the table)
    gets an entry; it is made if there is none.

    Parameters
    ----------
    kind : {"mechanism", "learner"}
        What to begin.
    name : str
        The name of the file and of what it defines: an identifier of Python.
    folder : Path, optional
        Where; the current folder by default.

    Raises
    ------
    InputError
        If the name is no identifier, a file is there already, or the settings have an audit of that name.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError.of("name", name, "a name of Python, such as noisy_mean")
    here = (folder or Path.cwd()).resolve()
    made = {here / f"{name}.py": f"{kind}.py", here / f"test_{name}.py": f"test_{kind}.py"}
    for path in made:
        if path.exists():
            raise InputError(f"{path.name} is there already: choose another name, or remove it")
    settings, entry = _settings(here, kind, name)
    texts = {path: _filled(template, name) for path, template in made.items()}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    with settings.open("a", encoding="utf-8") as file:
        file.write(entry)
    return (*texts, settings)


def _settings(here: Path, kind: Kind, name: str) -> tuple[Path, str]:
    """Return the settings that get the entry, and the entry as text."""
    try:
        path = find_settings(here)
    except InputError:
        path = here / FILE
    if path.is_file() and path.parent != here:
        raise InputError(f"the settings of this project are {path}: work in {path.parent}, so that its places hold")
    begun = path.is_file() and path.read_text(encoding="utf-8").strip()
    if begun and "[[" in begun and name in {audit.name for audit in read_project(path).audit}:
        raise InputError(f"{path.name} has an audit {name!r} already: choose another name")
    table = "tool.dpaudit.audit" if path.name == PYPROJECT else "audit"
    entry = _filled(f"{kind}.toml", name).replace("[[audit]]", f"[[{table}]]")
    return path, f"\n{entry}" if begun else _filled("head.toml", name) + entry


def _filled(template: str, name: str) -> str:
    """Return a template with the name in it."""
    text = (files("dpaudit.project") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
    words = "".join(word.capitalize() for word in name.split("_"))
    return text.replace("NAME", name).replace("Named", words).replace("HYPHENED", name.replace("_", "-").strip("-"))
