"""Findings as a table, for people who go on in a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.engine.store import load_run
from dpaudit.errors import InputError
from dpaudit.record import encodable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["to_frame"]


def to_frame(findings: Any) -> pd.DataFrame:
    """Return findings as a table with one row each.

    Parameters
    ----------
    findings : str, Path, finding, or iterable of findings
        A folder or file that `dpaudit run` wrote (its results then stand in the order of the plan, with the learner,
        its parameters and the arguments of the audit), or what the audits returned.

    Returns
    -------
    pandas.DataFrame
        Columns are the fields of the findings' JSON; what is nested has dotted names, like ``witness.event``. Fields
        that a finding lacks are missing values; infinity, which JSON lacks, is a float again.

    Raises
    ------
    InputError
        If there is no run at the path, or something is no finding.

    Examples
    --------
    >>> import dpaudit
    >>> learners = [dpaudit.get_learner("parity-private", dimension=d, epsilon=1.0) for d in (1, 2)]
    >>> frame = to_frame([dpaudit.audit_law(learner, n=2) for learner in learners])
    >>> frame["epsilon"].round(6).tolist()
    [0.510826, 0.510826]
    """
    import pandas as pd

    rows = _stored(findings) if isinstance(findings, str | Path) else _made(findings)
    return pd.json_normalize(rows).map(_with_infinities).infer_objects()


def _with_infinities(value: Any) -> Any:
    """Return a value of the JSON, an infinity as a float."""
    return float(value) if value in ("inf", "-inf") else value


def _stored(path: str | Path) -> list[dict[str, Any]]:
    names = ("learner", "parameters", "arguments", "fault")
    stored = map(encodable, load_run(path).results)
    return [{name: one[name] for name in names} | one["finding"] for one in stored]


def _made(findings: Any) -> list[dict[str, Any]]:
    listed = list(findings) if isinstance(findings, Iterable) else [findings]
    for item in listed:
        if not hasattr(item, "to_dict"):
            raise InputError.of("findings", item, "a path or what audits returned")
    return [item.to_dict() for item in listed]
