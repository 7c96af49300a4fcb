"""The planning of values without elements: numbers, text, bytes and exceptions."""

from __future__ import annotations

from typing import Any

from dpaudit.outputs import readers
from dpaudit.outputs.derived_values import (
    Decimals,
    Fields,
    Hexadecimal,
    Message,
    Numbers,
    from_hexadecimal,
    from_json,
    template,
)
from dpaudit.outputs.planner import Planner
from dpaudit.outputs.shared import counted, follow
from dpaudit.outputs.steps import Path

__all__ = ["exception", "none", "octets", "real", "text", "whole"]

MOST_TEMPLATES = 64
MOSTLY = 0.95
"""The share of texts that must be JSON, or hexadecimal, to be read as such."""
ENDS = 64
"""Bytes that are read from each end."""


def whole(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan integers and Booleans."""
    planner.add(path, readers.Whole())


def real(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan floats."""
    planner.add(path, readers.Real())


def none(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan nothing: that an output is None is its type."""


def octets(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan bytes."""
    planner.add(path, readers.Octets(ENDS))


def text(planner: Planner, values: list[str], path: Path) -> None:
    """Plan texts: as they are, and what JSON or hexadecimal digits stand for, or their numbers and what is between."""
    planner.add(path, readers.Text())
    outer, planner.in_row = planner.in_row, True
    different = counted(None, values)
    for step, read in ((Fields(), from_json), (Hexadecimal(), from_hexadecimal)):
        decimal = read is from_hexadecimal and all(map(str.isdigit, different))
        readable = sum(count for value, count in different.items() if read(value) is not None)
        if not decimal and readable >= MOSTLY * len(values):
            planner.node(follow(step, values)[0], (*path, step))
            break
    else:
        templates = counted(template, values)
        if max(templates.values()) > 1 and len(templates) < len(different):
            planner.category(template, values, path, "text between the numbers", MOST_TEMPLATES)
            whole, decimals = (follow(step, values)[0] for step in (Numbers(), Decimals()))
            planner.node(whole, (*path, Numbers()))
            if list(decimals) != list(whole):
                planner.node(decimals, (*path, Decimals()))
    planner.in_row = outer


def exception(planner: Planner, values: list[Any], path: Path) -> None:
    """Plan exceptions: their type, and their message as text."""
    planner.category(_exception_kind, values, path, "exception type")
    step = Message()
    planner.node(step(values)[0], (*path, step))


def _exception_kind(error: Any) -> str:
    return str(getattr(error, "kind", type(error).__qualname__))
