"""Warnings of a mechanism are shown once each, after the audit, with how often each line warned."""

from __future__ import annotations

import re
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import dpaudit
from dpaudit import certificates
from dpaudit.running.warning_counts import counted, gathered, taken
from tests.support.grouped import grouped

PAIRS = [(0, 1)]


def warning(bit: int, rng: np.random.Generator) -> float:
    warnings.warn(f"at {rng.random()}", UserWarning, stacklevel=1)
    return bit + float(rng.laplace())


def leaking(bit: int, rng: np.random.Generator) -> int:
    warnings.warn("it leaks", FutureWarning, stacklevel=1)
    return bit


@pytest.fixture(autouse=True)
def record() -> Any:
    """Return the warnings that users see, to whom they are no errors as in these tests."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        yield seen


@pytest.mark.parametrize(
    "how", [{}, {"n_jobs": 2}, {"n_jobs": 2, "backend": "threading"}, {"timeout": 20.0}, {"sequential": True}], ids=str
)
def test_a_line_that_warns_in_every_run_is_shown_once(how: dict[str, Any], record: Any) -> None:
    finding = dpaudit.audit_privacy(warning, PAIRS, **grouped(epsilon=2.0, trials=400, **how))
    assert finding.verdict != "violation"
    (one,) = record
    runs = sum(finding.budget.values()) if finding.design == "sequential" else 2 * finding.trials
    number = int(str(one.message).partition("(this line warned ")[2].partition(" times)")[0].replace(",", ""))
    assert number >= (runs if finding.design == "fixed" else finding.budget["used"])
    assert one.filename == __file__
    assert not taken()


def test_certificates_and_replays_show_them_so_too(record: Any) -> None:
    finding = dpaudit.audit_privacy(leaking, PAIRS, epsilon=1.0, trials=400)
    made = certificates.make(finding, PAIRS, mechanism=leaking)
    certificates.replay(made, leaking)
    assert len(record) == 3
    assert all(re.fullmatch(r"it leaks \(this line warned [\d,]+ times\)", str(one.message)) for one in record)


def test_what_a_filter_ignores_or_makes_an_error_stays_so(record: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dpaudit.audit_privacy(warning, PAIRS, epsilon=2.0, trials=200)
    assert not record
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finding = dpaudit.audit_privacy(warning, PAIRS, epsilon=2.0, trials=200)
    assert "ended in an exception, most often UserWarning" in " ".join(str(finding).split())


def test_each_line_and_each_kind_is_shown_by_itself_and_one_that_warns_once_as_it_is(record: Any) -> None:
    with gathered():
        for number in range(3):
            warnings.warn(f"a {number}", UserWarning, stacklevel=1)
            warnings.warn("b", DeprecationWarning, stacklevel=1)
        warnings.warn("c", UserWarning, stacklevel=1)
    assert [(one.category, str(one.message)) for one in record] == [
        (UserWarning, "a 0 (this line warned 3 times)"),
        (DeprecationWarning, "b (this line warned 3 times)"),
        (UserWarning, "c"),
    ]


def test_another_thread_leaves_the_filters_of_the_process_as_they_are() -> None:
    before, seen = warnings.showwarning, []

    def work() -> None:
        with counted():
            seen.append(warnings.showwarning)
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
