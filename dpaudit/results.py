"""The fields and the methods that all findings share."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Literal

import msgspec

from dpaudit.record import Frozen, encodable

__all__ = ["SCHEMA_VERSION", "STREAMS_VERSION", "Finding", "versions"]

SCHEMA_VERSION: Literal[2] = 2
"""The version of what is stored; 1 told events and verdicts in words."""
STREAMS_VERSION = 1
"""The version of the addresses of random streams: equal versions, seeds and arguments give equal outputs."""


def versions() -> dict[str, str]:
    """Return the versions of the libraries that a result, or the bytes of its report, depends on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Look the versions up once: parsing the packages' metadata takes as long as a small audit."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in ("dpaudit", "numpy", "scipy", "scikit-learn", "matplotlib", "jinja2", "python-flint"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            if name != "python-flint":  # what needs it does not run without it
                found[name] = "not installed"
    return found


class Finding(Frozen, frozen=True, kw_only=True, tag_field="kind"):
    """Base of every finding: a typed record that writes itself, and that `record.decode` reads.

    Attributes
    ----------
    versions : dict of str to str
        Versions of Python and of the libraries that the numbers depend on.
    schema_version : int
        The version of the schema that the record keeps.
    """

    kind: ClassVar[str]
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[2] = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON-safe data that validates against the schema of its kind."""
        found: dict[str, Any] = encodable(self)
        return found
