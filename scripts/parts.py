"""Run the parts of an entry point by name: the modules of a package beside this file that have a function `main`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

__all__ = ["parts", "run"]


def parts(package: str) -> dict[str, str]:
    """Return the parts of a package, each with the first line of its docstring; nothing is imported."""
    found = {}
    for path in sorted((Path(__file__).parent / package).glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def run(script: str, package: str, words: Sequence[str]) -> int:
    """Run the part that the first word names with the others as its arguments, and return its exit status.

    Without a name, or with one that is not known, the parts are listed.
    """
    known = parts(package)
    if not words or words[0] not in known:
        print(f"usage: python scripts/{script} NAME [OPTIONS]")
        for name, text in known.items():
            print(f"  {name:18}{text}")
        return 2 if words and words[0] not in ("-h", "--help") else 0
    name, *rest = words
    # A part reads its arguments and shows its own name as a script does.
    sys.argv = [f"{script} {name}", *rest]
    return int(import_module(f"{package}.{name}").main() or 0)
