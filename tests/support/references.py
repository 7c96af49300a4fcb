"""Names and paths of this project that prose mentions, and whether there is something where they point.

Prose is docstrings, comments and pages of Markdown. What is looked at stands in backticks, or is a path with one of the
project's folders in front. Names of other libraries and expressions of code are left alone.
"""

from __future__ import annotations

import ast
import builtins
import enum
import io
import os
import re
import sys
import tokenize
import typing
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from source_tree import ROOT, nodes, statements, tree_of

FOLDERS = ("dpaudit", "learners", "tests", "scripts", "examples")
# The changelog also names what has left.
AT_THE_ROOT = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
PAGES = [*AT_THE_ROOT, *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/*.md"), *ROOT.glob("reports/*.md")]
CODE = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
FOREIGN = {"numpy", "scipy", "joblib", "pytest", "matplotlib", "msgspec", "pandas", *sys.stdlib_module_names}
ELSEWHERE = {"sha256sum", "venv", "dpaudit.learners"}
"""Commands, a module of Python that is run and not imported, and the group of entry points."""
STANDARD = {**vars(typing), **vars(enum), **vars(builtins)}

COMMENT = re.compile("#.*[`/]")
"""The form of a comment that mentions something; splitting a module into tokens takes longer than all else."""
QUOTED = re.compile(r"(`+)(.+?)\1", re.DOTALL)
IN_FOLDER = re.compile(rf"(?<![\w/.-])(?:{'|'.join((*FOLDERS, 'docs', 'reports'))})/[\w./*-]*\w/?")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]*)+|[\w.*-]+\.(?:py|md|toml|json|jsonl|html|css|j2|txt|svg|yml|cff)(?:\.bak)?")
NAME = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)(?:\(.*\))?")


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, or the text of a page, with their lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        # A fence becomes as many empty lines, so that lines keep their numbers.
        yield 1, re.sub(r"^```.*?^```", lambda fence: "\n" * fence[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
        return
    for node in statements(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    if COMMENT.search(text):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def references(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the paths and names that a file mentions, with their lines."""
    for line, text in prose(path):
        for match in QUOTED.finditer(text):
            quoted = " ".join(match[2].split())
            if PATH.fullmatch(quoted) or NAME.fullmatch(quoted):
                yield line + text.count("\n", 0, match.start()), quoted
        for match in IN_FOLDER.finditer(text):
            yield line + text.count("\n", 0, match.start()), match[0]


def dead_references(path: Path) -> list[str]:
    """Return the references of a file that lead nowhere, as `file:line reference`."""
    place = path.relative_to(ROOT)
    found = {(line, text) for line, text in references(path) if not (is_path(text, path.parent) or is_name(text))}
    return [f"{place}:{line} {text}" for line, text in sorted(found)]


def is_path(text: str, here: Path) -> bool:
    """Return whether a path stands in the project, or is one that it writes."""
    if not PATH.fullmatch(text):
        return False
    text = text.removeprefix("./").removesuffix(".bak").rstrip("/")  # the store keeps what it replaces as .bak
    shape = re.sub("[A-Z]{2,}", "*", text)  # of `learners/FAMILY/`
    if any(text == made or text.startswith(f"{made}/") for made in ignored()):
        return True
    if "/" not in text and text in known().strings:  # as the name of a file that code writes
        return True
    if "/" not in text:
        return is_one_of(names(), text)
    homes = ("", f"{here.relative_to(ROOT).as_posix()}/", "dpaudit/", "learners/", "tests/")
    return any(is_one_of(files(), home + shape) for home in homes)


def is_one_of(paths: Set[str], shape: str) -> bool:
    """Return whether a path is there, or one of a shape with stars."""
    return any(fnmatch(path, shape) for path in paths) if "*" in shape else shape in paths


@cache
def is_name(text: str) -> bool:
    """Return whether a name, dotted or not, is one of the project's code, or none of its business."""
    if not (match := NAME.fullmatch(text)):
        return False
    first, *rest = match[1].split(".")
    if first in FOREIGN or match[1] in ELSEWHERE or hasattr(builtins, first):
        return True
    if not rest:
        return first in known().identifiers or first in stems()
    parts = [first, *rest]
    for cut in range(len(parts), 0, -1):
        if any(has_member(path, parts[cut:]) for path in modules_called(tuple(parts[:cut]))):
            return True
    if first in known().classes:
        return class_has(first, rest[0])
    # What is left is an expression, such as `finding.curve`: a variable and an attribute that are known.
    return first not in FOLDERS and first in known().identifiers and rest[-1] in known().attributes


@cache
def modules_called(parts: tuple[str, ...]) -> list[Path]:
    """Return the modules and packages whose dotted name ends with these parts."""
    return [path for named, path in dotted() if named[-len(parts) :] == parts]


@cache
def dotted() -> list[tuple[tuple[str, ...], Path]]:
    """Return the parts of the dotted names of all modules and packages."""
    found = []
    for path in CODE:
        named = path.relative_to(ROOT).with_suffix("").parts
        named = named[:-1] if named[-1] == "__init__" else named
        found.append((("dpaudit_learners", *named[1:]) if named[0] == "learners" else named, path))
    return found


def has_member(path: Path, rest: list[str]) -> bool:
    """Return whether a module defines or imports a name, and the class of that name the next one."""
    if not rest:
        return True
    for node in tree_of(path).body:
        if rest[0] in bound(node):
            return len(rest) == 1 or class_has(rest[0], rest[1])
    return False


@cache
def class_has(name: str, member: str) -> bool:
    """Return whether classes of a name, or what they inherit from, have a member; of foreign libraries that is open."""
    if name not in known().classes:
        return name not in STANDARD or hasattr(STANDARD[name], member)
    for node in known().classes[name]:
        bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
        if any(member in bound(child) for child in node.body) or any(class_has(base, member) for base in bases):
            return True
    return False


@cache
def bound(node: ast.AST) -> set[str]:
    """Return the names that a statement of a module or a class binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.If | ast.Try):
        return {name for child in ast.iter_child_nodes(node) for name in bound(child)}
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        (path,) = modules_called(tuple(str(node.module).split(".")))
        return {name for statement in tree_of(path).body for name in bound(statement)}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}


@dataclass
class Known:
    """The identifiers, the names behind dots, the texts and the classes of all code."""

    identifiers: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    classes: dict[str, list[ast.ClassDef]] = field(default_factory=dict)


NAMED = ("id", "attr", "arg", "name", "asname")
"""Fields of nodes that hold a name or nothing."""


@cache
def known() -> Known:
    found = Known()
    named: set[str] = set()
    for node in (node for path in CODE for node in nodes(tree_of(path))):
        held = node.__dict__
        if "value" in held and isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.strings.add(node.value)
        elif "attr" in held:
            found.attributes.add(held["attr"])
        elif isinstance(node, ast.ClassDef):
            found.classes.setdefault(node.name, []).append(node)
        # The names of functions, classes, parameters, variables and keywords, and the parts of imported names.
        named.update(held[part] for part in NAMED if part in held)
    found.identifiers.update(part for name in named if name for part in name.split("."))
    return found


@cache
def files() -> set[str]:
    """Return all files and folders of the project but hidden ones, as paths from its root."""
    found = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        place = Path(folder).relative_to(ROOT)
        found |= {(place / name).as_posix() for name in (*folders, *names)}
    return found


@cache
def names() -> set[str]:
    return {Path(file).name for file in files()}


@cache
def stems() -> set[str]:
    return {Path(file).stem for file in files()}


@cache
def ignored() -> list[str]:
    """Return what .gitignore lists: what is made and not kept."""
    return [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
