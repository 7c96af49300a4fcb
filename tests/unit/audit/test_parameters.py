"""The parameter objects of `audit_privacy`, and that each option is declared once."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec
import numpy as np
import pytest

import dpaudit
from dpaudit.audit.options import OPTIONS
from dpaudit.audit.parameters import Dataset, Execution, Look
from dpaudit.certificates import make, replay
from dpaudit.errors import InputError
from dpaudit.evidence.tasks import AuditOptions

# False alarms are not at stake: no audit of this module tests a claim that it states.


def response(bit: int, rng: np.random.Generator) -> int:
    return bit if rng.random() < 0.75 else 1 - bit


def test_the_record_of_options_has_all_that_are_declared_with_their_defaults() -> None:
    stored = {field.name: field.default for field in msgspec.structs.fields(AuditOptions)}
    assert list(stored) == list(OPTIONS)
    # Trials and confidence of a project stand in for those that an audit leaves open.
    assert {name for name, default in stored.items() if default != OPTIONS[name].default} == {"trials", "confidence"}


def test_parameters_have_the_declared_defaults() -> None:
    for function in (dpaudit.audit_privacy, Look, Execution, Dataset):
        for name, parameter in inspect.signature(function).parameters.items():
            if name in OPTIONS and name not in ("claim", "data", "pairs"):
                assert parameter.default == OPTIONS[name].default, name


@pytest.mark.parametrize("function", [dpaudit.audit_privacy, make, replay])
def test_a_signature_fits_in_a_reader_s_mind(function: Any) -> None:
    assert len(inspect.signature(function).parameters) <= 16


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Look(curve=1), "curve must be True or False, got 1"),
        (lambda: Look(include_data="yes"), "include_data must be True or False, got 'yes'"),
        (lambda: Dataset([1.0], group=0), "group must be an integer >= 1, got 0"),
        (lambda: Dataset(None), "data must hold records, got None"),
        (lambda: dpaudit.audit_privacy(response, [(0, 1)], epsilon=1.0, look="time"), "look must be a dpaudit.Look"),
        (lambda: dpaudit.audit_privacy(response, [(0, 1)], epsilon=1.0, execution=60), "execution must be a dpaudit"),
        (lambda: Execution(time_limit=0), r"time_limit must be in \(0, inf\), got 0"),
        (lambda: Execution(timeout_is="fault"), "timeout_is must be one of output, error; got 'fault'"),
        (lambda: Execution(continued=3), "continued must be the path of a file, got 3"),
        (lambda: Execution(continued="f", sequential=False), "continued is for sequential=True"),
    ],
)
def test_wrong_values_are_refused_where_they_are_given(wrong: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        wrong()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"curve": True}, r"write look=dpaudit.Look\(curve=True\)"),
        ({"time_limit": 3.0}, r"write execution=dpaudit.Execution\(time_limit=3.0\)"),
        ({"bounds": (0, 1)}, r"write data=dpaudit.Dataset\(data, bounds=\(0, 1\)\)"),
        ({"eps": 1.0}, "write epsilon=1.0"),
    ],
)
def test_a_field_of_an_object_that_is_given_alone_shows_the_line_to_write(given: dict[str, Any], line: str) -> None:
    with pytest.raises(TypeError, match=line):
        dpaudit.audit_privacy(response, [(0, 1)], **given)


def test_the_call_that_repeats_names_what_was_given_and_no_records() -> None:
    found = dpaudit.audit_privacy(
        response, [(0, 1)], epsilon=2.0, trials=500, look=Look(curve=True), execution=Execution(progress=False)
    )
    assert (
        found.call
        == "dpaudit.audit_privacy(response, [(0, 1)], epsilon=2.0, trials=500, look=dpaudit.Look(curve=True))"
    )
    found = dpaudit.audit_privacy(
        lambda data, rng: len(data) + rng.laplace(),
        data=Dataset([0.12345, 0.5] * 9, bounds=(0, 1), unit=["Ada", "Bob"] * 9),
        epsilon=20.0,
        trials=500,
    )
    assert "data=dpaudit.Dataset(data, bounds=(0, 1), unit=unit)" in found.call


def test_pairs_of_a_learner_are_named_by_a_text() -> None:
    learner = dpaudit.pac.get_learner("threshold-exponential", domain_size=4, epsilon=1.0)
    claim = learner.privacy
    made = dpaudit.audit_privacy(learner, "crafted:3", trials=400)
    assert {origin.kind for origin in made.origins} == {"crafted"}
    usual = dpaudit.audit_privacy(learner, trials=400)
    assert usual == dpaudit.audit_privacy(learner, f"crafted:{learner.instance.n}", trials=400)
    drawn = dpaudit.audit_privacy(learner, "random:4:2", trials=400)
    assert {origin.kind for origin in drawn.origins} == {"random"}
    assert claim is not None
    with pytest.raises(InputError, match="the mechanism given is no learner"):
        dpaudit.audit_privacy(response, "crafted:3", epsilon=1.0)
    patterns = dpaudit.audit_privacy(
        lambda answers, rng: answers + rng.laplace(scale=2.0, size=2), "patterns:2", epsilon=1.0, trials=400
    )
    assert {origin.kind for origin in patterns.origins} == {"pattern"}
