"""Figures with fewer bytes: the same marks in the same places."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from reporter_runs import load_small, only

from dpaudit.reporters.compact import compact, share_styles
from dpaudit.reporters.figures import figures
from dpaudit.reporters.polyline import straightened, thinned
from dpaudit.reporters.summary import summarise

RAW = """<svg viewBox="0 0 360 230"><g id="figure_1"><g id="patch_1"><path d="M 0 0
L 9 9
z
" style="fill: none"/></g><g id="axes_1"><g id="matplotlib.axis_1">
<g id="xtick_1"><path d="M 10 90
L 10 20
" clip-path="url(#p1)" style="fill: none; stroke: #d8d8d8"/>
<defs><path id="m1" d="M 0 0
L 0 3.5
" style="stroke: #1b1b1b"/></defs>
<g><use href="#m1" x="10" y="90" style="fill: #1b1b1b; stroke: #000000"/></g>
<text style="font-size: 10px" x="10.04" y="99" transform="rotate(-0 10.04 99)">0.0 &lt; 1</text></g>
<g id="xtick_2"><path d="M 50 90
L 50 20
" clip-path="url(#p1)" style="fill: none; stroke: #d8d8d8"/>
<g><use href="#m1" x="50" y="90" style="fill: #1b1b1b; stroke: #000000"/></g>
<text style="font-size: 10px" x="50" y="99" transform="rotate(-90 50 99)">0.5</text></g></g>
<g id="line2d_1"><path d="M 10 90
L 20 80
L 30 70
L 40 60.3
" clip-path="url(#p1)" style="fill: none; stroke: #0072b2"/></g>
<defs><path id="m2" d="M 0 3
C 0.79 3 1.55 2.68 2.12 2.12
z
" style="stroke: #0072b2"/></defs>
<g id="line2d_2"><g clip-path="url(#p1)"><use href="#m2" x="40" y="60" style="fill: #0072b2"/></g></g></g></g>
<defs><clipPath id="p1"><rect x="10" y="20" width="300.5" height="70.25"/></clipPath></defs></svg>"""


@pytest.fixture(scope="module")
def small():
    return compact(RAW)


def test_ticks_and_grid_become_one_path_each(small):
    assert '<path d="M10 90L10 20M50 90L50 20" style="fill: none; stroke: #d8d8d8"/>' in small
    # A mark's own colour stands above that of its use; its fill comes from the use.
    assert '<path d="M10 90L10 93.5M50 90L50 93.5" style="fill: #1b1b1b; stroke: #1b1b1b"/>' in small


def test_labels_share_a_group_and_keep_their_words(small):
    assert (
        '<g style="font-size: 10px"><text x="10" y="99">0.0 &lt; 1</text>'
        '<text x="50" y="99" transform="rotate(-90 50 99)">0.5</text></g>'
    ) in small


def test_lines_lose_what_nobody_sees_and_stay_clipped(small):
    assert '<path d="M10 90L30 70L40 60.3" clip-path="url(#p1)"' in small


def test_round_marks_and_clips_stay_references(small):
    root = ElementTree.fromstring(small)
    assert [e.attrib["href"] for e in root.iter("use")] == ["#m2"]
    assert {e.attrib["id"] for e in root.iter() if "id" in e.attrib} == {"m2", "p1"}
    assert "figure_1" not in small
    assert 'style="fill: none"' not in small
    assert "\n" not in small


def test_filled_or_translucent_shapes_of_one_style_stay_apart():
    shapes = '<path d="M 0 0 L 9 0 L 9 9 z" style="{0}"/><path d="M 1 1 L 8 1 L 8 8 z" style="{0}"/>'
    for style in ("fill: #0072b2", "fill: none; stroke: #0072b2; stroke-opacity: 0.5"):
        assert compact(f"<svg>{shapes.format(style)}</svg>").count("<path") == 2
    assert compact(f"<svg>{shapes.format('fill: none; stroke: #0072b2')}</svg>").count("<path") == 1


def test_styles_that_several_elements_have_become_classes_of_the_page():
    sheet, slim = share_styles(['<a style="x: 1"/><b style="y: 2"/>', '<c style="x: 1"/>', '<d style="x: 1"/>'])
    assert sheet == ".s0 { x: 1 }"
    assert slim == ['<a class="s0"/><b style="y: 2"/>', '<c class="s0"/>', '<d class="s0"/>']
    assert share_styles([]) == ("", [])


def test_a_figure_says_as_much_as_before(monkeypatch):
    """The texts, the colours and the ends of every line are those of matplotlib's own figure."""
    rows = summarise(only(load_small(), "parity-private")).learners
    slim = [drawn for drawn, _ in figures(rows[0], "a")]
    monkeypatch.setattr("dpaudit.reporters.svg.compact", lambda svg: svg)
    full = [drawn for drawn, _ in figures(rows[0], "a")]
    for before, after in zip(full, slim, strict=True):
        assert len(after) < len(before) / 3
        texts = [sorted("".join(e.itertext()).strip() for e in ElementTree.fromstring(s).iter("text"))
                 for s in (before, after)]  # fmt: skip
        assert texts[0] == texts[1]
        assert set(re.findall(r"--figure-\w+", before)) == set(re.findall(r"--figure-\w+", after))


def test_thinned_lines_stay_within_the_tolerance_of_every_point():
    points = [(i / 3, 40 * math.exp(-i / 30) + math.sin(i)) for i in range(60)]
    for tolerance in (0.01, 0.06, 1.0, 100.0):
        kept = thinned(points, tolerance)
        assert kept[0] == points[0]
        assert kept[-1] == points[-1]
        assert kept == [p for p in points if p in kept]
        spans = list(pairwise(kept))
        for point in points:
            assert min(distance(point, *span) for span in spans) <= tolerance + 1e-12
    assert len(thinned(points, 100.0)) == 2
    assert thinned(points, 0.0) == points


def distance(p, a, b):
    """Return the distance from a segment by trying many of its points, less what the grid may miss."""
    steps = (i / 200 for i in range(201))
    nearest = min(math.dist(p, (a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))) for t in steps)
    return nearest - math.dist(a, b) / 200


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M 0 0\nL 1 1\nL 2 2\nL 3 3\n", "M0 0L3 3"),
        ("M 0 0 L 5 0 L 5 5 z M 9 9 L 9 8", "M0 0L5 0L5 5zM9 9L9 8"),
        ("M -0.04 1.25 L 2.96 3.1", "M0 1.2L3 3.1"),
        ("M 0 3 C 0.795 3 1.55 2.68 2.12 2.12 z ", "M0 3C0.8 3 1.55 2.68 2.12 2.12z"),
    ],
)
def test_paths_in_short(path, short):
    assert straightened(path) == short
