"""The modules of dpaudit and learners, and what each imports, read from their text."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("dpaudit/**/*.py"), *ROOT.glob("learners/**/*.py")])


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the tree of a module, which stays: the collector of garbage, which takes longer, need not look at it."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        gc.enable()


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes of a tree, as `ast.walk` does in three times the time."""
    found = [tree]
    for node in found:
        yield node
        for held in vars(node).values():
            if isinstance(held, ast.AST):
                found.append(held)
            elif isinstance(held, list):
                found += [one for one in held if isinstance(one, ast.AST)]


BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield a module and all statements in it, without the expressions in them."""
    found: list[ast.AST] = [tree]
    for node in found:
        yield node
        for block in BLOCKS:
            found += getattr(node, block, ())


def imports(tree: ast.Module, modules: Set[str], package: Sequence[str] = ()) -> set[str]:
    """Return which of the modules a module of that package imports, inside of functions and for type checking too."""
    found = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            home = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*home, *([node.module] if node.module else [])])
            # learners/ is installed under another name, so its modules name each other relatively.
            assert (node.level > 0) == (module.split(".")[0] == "learners"), f"from {module} import ..."
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= names & modules or {module}
    return found & modules


def circle(graph: Mapping[str, Set[str]]) -> list[str]:
    """Return nodes each of which leads to the next one and the last to the first, or nothing if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
