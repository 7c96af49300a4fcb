"""The output of a run that ended in an exception."""

from __future__ import annotations

__all__ = ["TIMED_OUT", "Raised", "timed_out"]

TIMED_OUT = "timed out"
"""In the place of a type, for a run that was ended: no type has a name of two words."""


class Raised:
    """The output of a run that ended in an exception: its type, and separately its message."""

    def __init__(self, error: BaseException) -> None:
        self.kind = type(error).__qualname__
        self.message = str(error)


def timed_out(seconds: float) -> Raised:
    """Return the output of a run that was ended after so many seconds."""
    output = Raised(TimeoutError(f"after {seconds:g} s"))
    output.kind = TIMED_OUT
    return output
