"""Pictures: what may be drawn, how a task draws it, how the report shows it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from msgspec import structs
from reporter_runs import load_small, only, with_results
from toy_learners import ToyCoin

from dpaudit.contract import Instance, Panel, Picture, Shape
from dpaudit.errors import InputError, ToolFault
from dpaudit.evidence.outcome import kind_of, outcome
from dpaudit.evidence.perform import draw_picture, perform
from dpaudit.evidence.plan import make_plan
from dpaudit.evidence.records import Result, Run
from dpaudit.evidence.tasks import PictureArguments, Task, picture_task
from dpaudit.record import encodable
from dpaudit.registry import Entry, load
from dpaudit.report import html, schema
from dpaudit.report import json as json_report
from dpaudit.report.pictures import pictures
from dpaudit.report.summary import summarise

SQUARE = Shape("polygon", ((0, 0), (2, 0), (2, 2)), "blue", shade=0.5, label="a <triangle>")
PANEL = Panel("What is seen.", (0, 2), (0, 4), (SQUARE,))
OFFERED = [entry for entry in load(()).entries if hasattr(entry.learner, "picture") and entry.fault is None]


@dataclass(frozen=True)
class Drawn(ToyCoin):
    """A coin with a picture: its outputs, as markers."""

    id: ClassVar[str] = "toy-drawn"
    pictured: ClassVar[Instance] = Instance({"gain": 1.0}, n=5)

    def picture(self, sample: Any, codes: Any, target: Any) -> Picture:
        words = f"n={sample.n}, target {target.label}"
        marks = Shape("points", tuple((i, c) for i, c in enumerate(codes)))
        return Picture((Panel(words, (-1, 3), (-1, 2), (marks,)),))


DRAWN = Entry("toy-drawn", Drawn, "here")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Shape("blob", ()), "kind must be one of polygon, line, disc, points; got 'blob'"),
        (lambda: Shape("line", (), tone="red"), "tone must be one of"),
        (lambda: Shape("points", (), marker="star"), "marker must be one of"),
        (lambda: Shape("line", ((0, float("nan")),)), "points must be finite"),
        (lambda: Shape("line", ((0, 1, 2),)), "points must be pairs"),
        (lambda: Shape("line", (), shade=1.5), r"shade must be in \[0, 1\]"),
        (lambda: Shape("disc", ((0, 0),)), "radius > 0"),
        (lambda: Shape("points", ((0, 0),), sizes=(1, 2)), "sizes must be none or one a point"),
        (lambda: Panel("", (0, 1), (0, 1), ()), "caption must say"),
        (lambda: Panel("c", (1, 1), (0, 1), ()), "x must be"),
        (lambda: Picture(()), "a picture needs a panel"),
        (lambda: Picture((replace(PANEL, shapes=(SQUARE,) * 3000),)), "at most 2048 shapes"),
    ],
)
def test_bad_shapes_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_a_picture_is_planned_for_learners_that_offer_one_and_not_for_controls():
    kinds = [task.kind for task in make_plan([DRAWN]).tasks]
    assert kinds.count("picture") == 1
    control = type("Control", (Drawn,), {"id": "broken-drawn", "fault": "all"})
    assert "picture" not in [task.kind for task in make_plan([Entry("broken-drawn", control, "here")]).tasks]
    task = picture_task(DRAWN)
    assert (task.parameters, task.arguments) == ({"gain": 1.0}, PictureArguments(n=5, runs=3))
    plain = type("Plain", (ToyCoin,), {"id": "toy-plain", "picture": Drawn.picture})
    assert picture_task(Entry("toy-plain", plain, "here")).parameters == {"gain": 3.0}


def test_the_picture_depends_on_the_seed_and_the_learner_alone():
    first, again, other = (draw_picture(Drawn(1.0), 5, 40, seed) for seed in (0, 0, 1))
    assert first == again
    assert first.picture != other.picture
    assert first.picture.panels[0].caption == "n=5, target 1"
    assert draw_picture(Drawn(1.5), 5, 40, 0).picture != first.picture


def test_a_scene_of_the_learners_own_is_used():
    def scene(self, rng):
        return self.domain.sample([[0], [1]], [0, 1], [7, rng.integers(1, 2)]), ToyCoin(1.0).concepts.concept(0)

    staged = type("Staged", (Drawn,), {"scene": scene})(1.0)
    assert draw_picture(staged, 5, 3, 0).picture.panels[0].caption == "n=8, target 0"


def test_something_else_than_a_picture_is_a_fault():
    wrong = type("Wrong", (Drawn,), {"picture": lambda self, sample, codes, target: {"panels": []}})
    with pytest.raises(ToolFault, match=r"picture of toy-drawn must return .*Picture, got \{'panels'"):
        draw_picture(wrong(1.0), 5, 3, 0)


def record_of(panel: Panel, learner: str = "parity-private", **parameters: Any) -> Result:
    """Return the result of a picture."""
    finding = structs.replace(draw_picture(Drawn(1.0), 5, 3, 0), picture=Picture((panel,)))
    task = Task(learner, parameters, PictureArguments(n=5, runs=3))
    return Result(task=task.key, learner=learner, parameters=parameters, arguments=task.arguments, finding=finding)


def run_with(record: Result) -> Run:
    run = only(load_small(), "parity-private")
    return with_results(run, [*run.results, record])


def test_the_report_shows_the_picture_under_its_learner():
    run = run_with(record_of(PANEL, gain=1.0))
    page = html.render(run)
    assert page == html.render(run_with(record_of(PANEL, gain=1.0)))
    assert "What is seen. An illustration: 3 runs on one sample of 5 examples, for gain = 1." in page
    assert "a &lt;triangle&gt;" in page
    assert len(summarise(run).learners) == len(summarise(only(load_small(), "parity-private")).learners)
    Draft202012Validator(schema.load("run")).validate(encodable(run.results[-1]))
    Draft202012Validator(schema.load("report")).validate(json.loads(json_report.render(run)))
    assert kind_of(run.results[-1]) == "drawn"
    assert outcome(run).missing == ()


def drawn(panel: Panel) -> ElementTree.Element:
    (row,) = summarise(run_with(record_of(panel))).learners
    ((text, _),) = pictures(row, "name")
    return ElementTree.fromstring(text)


def test_coordinates_become_pixels_and_y_points_up():
    root = drawn(PANEL)
    (group,) = root.findall("g")
    # Height 4 becomes 300 pixels, so one unit is 75; the panel's foot is at 308.
    assert group.find("path").get("d") == "M44 308L194 308L194 158Z"
    stretched = drawn(replace(PANEL, equal=False))
    assert stretched.find("g").find("path").get("d") == "M44 308L344 308L344 158Z"


def test_each_kind_of_shape_is_drawn():
    dots = [Shape("points", ((1, 1), (0, 0)), marker=m, sizes=(4.0, 6.0)) for m in ("dot", "ring", "cross", "square")]
    line = Shape("line", ((0, 0), (1, 3)), "orange", shade=0.4, dashed=True)
    group = drawn(replace(PANEL, shapes=(line, Shape("disc", ((1, 2),), radius=0.5), *dots))).find("g")
    path, disc, *markers = list(group)
    assert path.get("d") == "M44 308L119 83"
    assert path.get("style").startswith("fill: none; stroke: var(--badf")
    assert "dasharray" in path.get("style")
    assert (disc.get("cx"), disc.get("cy"), disc.get("rx"), disc.get("ry")) == ("119", "158", "37.5", "37.5")
    assert [(e.tag, len(list(e))) for e in markers] == [("g", 2)] * 4
    assert [e.get("r") for e in markers[0]] == ["2", "3"]


@pytest.mark.parametrize(
    ("ends", "words"),
    [((0, 1), ["0", "0.5", "1"]), ((-3, 7), ["0", "5"]),
     ((1e6, 3e6), ["1e+06", "1.5e+06", "2e+06", "2.5e+06", "3e+06"]),
     ((0.001, 0.0012), ["0.001", "0.00105", "0.0011", "0.00115", "0.0012"])],
)  # fmt: skip
def test_axes_have_round_numbers(ends, words):
    texts = [e.text for e in drawn(replace(PANEL, x=ends, equal=False)).findall("text")]
    assert texts[: len(words)] == words


@pytest.mark.parametrize(
    "entry",
    [
        # Its picture is that of `hull-point-exponential`, made of a release that takes a second.
        pytest.param(entry, id=entry.id, marks=[pytest.mark.full] * (entry.id == "hull-point-rec-concave"))
        for entry in OFFERED
    ],
)
def test_every_picture_offered_is_small_and_valid(entry):
    record = perform(picture_task(entry), seed=0)
    Draft202012Validator(schema.load("picture")).validate(record.finding.to_dict())
    run = run_with(structs.replace(record, learner="parity-private"))
    (row,) = summarise(run).learners
    figures = pictures(row, "name")
    for text, caption in figures:
        assert len(text) < 30_000
        assert caption
        assert not re.search(r"\bnan\b|\binf\b", text)
        ElementTree.fromstring(text)
