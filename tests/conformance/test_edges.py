"""Every verb that audits a learner, at the least sizes of every learner, as a user types it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dpaudit import app
from dpaudit.arguments import parameters_of
from dpaudit.conformance import edges
from dpaudit.registry import Entry, list_learners

COMMAND = {"supremum": "exact"}
"""The command of a verb that is none itself."""
VERBS: dict[str, list[str]] = {
    "exact": ["--n", "1"],
    "supremum": ["--supremum", "--starts", "1", "--evaluations", "1", "--most", "1"],
    "privacy": ["--pairs", "crafted:1", "--trials", "200", "--confidence", "0.9"],
    "utility": ["--n", "1", "--trials", "20", "--confidence", "0.9", "--alpha", "0.4", "--beta", "0.4"],
}
REFUSED = ("has no law(sample)", "promises no privacy", "give --epsilon", "must be", "replace-private needs")
"""Words of verbs that refuse an edge; no traceback has them."""
ENTRIES = [entry for entry in list_learners() if not entry.fault]


def at_the_edge(entry: Entry) -> list[str]:
    """Return the words that set all sizes of a learner to their least; those of its instance where it refuses them."""
    built: Any = entry.build(**entry.instance.parameters)
    least = next(edges(built), built)
    given = {name: value for name, value in parameters_of(least).items() if value is not None}
    return [word for name, value in given.items() for word in ("-p", f"{name}={value}")]


def cases() -> Iterator[Any]:
    """Yield learners and verbs; what `check_edges` runs in Python, and covers of regions, take the full profile."""
    for entry in ENTRIES:
        regions = ".regions." in entry.learner.__module__
        for verb in VERBS:
            marks = [pytest.mark.full] if regions or verb in ("supremum", "utility") else []
            yield pytest.param(entry, verb, marks=marks, id=f"{entry.id}-{verb}")


@pytest.mark.parametrize(("entry", "verb"), list(cases()))
def test_a_verb_ends_at_the_edge(entry: Entry, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = app.main([COMMAND.get(verb, verb), entry.id, *at_the_edge(entry), *VERBS[verb], "--quiet"])
    told = capsys.readouterr()
    assert "Traceback" not in told.err
    if status == 2:
        assert any(words in told.err for words in REFUSED), told.err
    else:
        assert status in (0, 3), told.out
        assert told.out
