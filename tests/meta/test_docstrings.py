"""Docstrings, of constants too, begin with what a thing does or is, in plain words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

import pytest
from source_tree import ROOT, SOURCES, statements, tree_of

SCRIPTS = ("scripts", "scripts/attacks", "scripts/benchmarks", "scripts/benchmarks/losses", "scripts/writers")
FOLDERS = (*SCRIPTS, "examples", "museum")
FILES = [*SOURCES, *(path for folder in FOLDERS for path in sorted(ROOT.glob(f"{folder}/*.py")))]
QUESTIONS = ("What ", "How ", "Who ", "Where ", "Which ")


def documented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module, its classes, constants, and public functions and methods, with their lines."""
    for node in statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            for before, after in pairwise(node.body):
                match before, after:
                    case (ast.Assign() | ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text)))):
                        yield after.lineno, text
        if isinstance(node, ast.Module | ast.ClassDef) or (
            isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        ):
            text = ast.get_docstring(node)
            if text is not None:
                yield node.body[0].lineno, text


def test_no_docstring_begins_as_a_question() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {text.partition(chr(10))[0]}"
        for path in FILES
        for line, text in documented(tree_of(path))
        if text.startswith(QUESTIONS)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "'What it is.'",
        "class A:\n    'How it is.'",
        "class A:\n  def f():\n    def g():\n      'Who it is.'",
        "x = 1\n'Which it is.'",
    ],
)
def test_such_docstrings_are_found(code: str) -> None:
    assert any(text.startswith(QUESTIONS) for _, text in documented(ast.parse(code)))


def test_others_are_left_alone() -> None:
    code = "'Whatever.'\nx = 'What '\ndef _f():\n    'What it is.'\ndef f():\n    return 'What '"
    assert not any(text.startswith(QUESTIONS) for _, text in documented(ast.parse(code)))
