"""Faults of the tool or of its input; what an audit learns is a finding, never an exception."""

from __future__ import annotations

__all__ = ["DpauditError", "InputError", "ToolFault"]


class DpauditError(Exception):
    """Base of every error that dpaudit raises on purpose."""


class InputError(DpauditError, ValueError):
    """The input cannot be audited: the message names the parameter, the value and what is allowed."""


class ToolFault(DpauditError, RuntimeError):
    """The tool itself failed (a worker died, a result file is corrupt); nothing is known of the mechanism."""
