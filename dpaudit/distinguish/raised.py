"""The output of a run that ended in an exception."""

from __future__ import annotations

__all__ = ["Raised"]


class Raised:
    """The output of a run that ended in an exception: its type, and separately its message."""

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__qualname__
        self.message = str(error)
