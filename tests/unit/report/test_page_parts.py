"""The parts of the HTML pages: elements of inputs, numbers, states, and the figures' places."""

import math
import re
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from reporter_runs import change, claiming, first, load_small, only, put, retold, with_results
from toy_records import privacy_finding, result

from dpaudit.bounds.curve import claimed_delta, fit_curve
from dpaudit.contract import Origin, OriginKind, Relation
from dpaudit.contract.pairs import differing
from dpaudit.events.event import Bets, Cells, Interval
from dpaudit.outputs.canonical import canonical
from dpaudit.report.figures import accuracy_figure, claim_bar, claim_row, curve_figure, place, power_figure
from dpaudit.report.html import _side, render_finding
from dpaudit.report.numbers import number, raised, share
from dpaudit.report.summary import summarise
from dpaudit.report.view import AuditedMechanism, mechanisms, row_of, view_of
from dpaudit.report.words.claims import times_words
from dpaudit.report.words.events import answer_words


def mechanism(run):
    summary = summarise(run)
    return mechanisms([*summary.learners, *summary.controls])[0]


@pytest.mark.parametrize(
    ("inputs", "changed"),
    [
        (("[1, 2, 2]", "[1, 5, 2]"), ["2", "5"]),
        (("[10, 2]", "[12, 2]"), ["10", "12"]),
        (("[1, 2]", "[1, 2, 3]"), ["", ", 3"]),
        (("{'a': (1, 2), 'b': [3]}", "{'a': (1, 2), 'b': [4.5]}"), ["3", "4.5"]),
        (("Sample(n=2: (0,)->0, (1,)->1)", "Sample(n=2: (0,)->1, (1,)->1)"), ["0", "1"]),
        (("[1, 1]", "[1, 1, 1]"), ["", ", 1"]),
        (("0", "1"), ["0", "1"]),
        (("a\nb", "a b"), ["\n", " "]),
        (("[4]", "[4]"), ["", ""]),
        (("", "x"), ["", "x"]),
    ],
)
def test_two_inputs_are_cut_where_they_differ(inputs, changed):
    places = differing(*inputs)
    assert [text[start:end] for text, (start, end) in zip(inputs, places, strict=True)] == changed
    assert inputs[0][: places[0][0]] == inputs[1][: places[1][0]]
    assert inputs[0][places[0][1] :] == inputs[1][places[1][1] :]


def test_long_inputs_keep_what_differs():
    data, other = str([*range(90)]), str([*range(89), 7])
    place, other_place = differing(data, other)
    shown = _side("D", data, place, 0, 0, longest=100)
    assert (shown["changed"], other[slice(*other_place)], shown["after"]) == ("89", "7", "]")
    assert len(shown["before"]) == 100
    assert shown["before"].startswith("…")
    long = _side("D", "x" * 500, differing("x" * 500, "y")[0], 0, 0, longest=100)["changed"]
    assert (len(long), long[-1]) == (100, "…")


def test_numbers_lean_to_the_safe_side():
    assert (number(0.714999, "down"), number(1.0601, "up"), number(math.inf)) == ("0.714", "1.07", "∞")
    assert number(0.99999, "down", apart_from=1.0) == "0.999"
    assert [raised(text) for text in ("1e-06", "4.2e+08 of", "0.5", "-inf")] == ["10⁻⁶", "4.2 × 10⁸ of", "0.5", "-∞"]
    assert [share(v) for v in (0, 0.0412, 0.5, 1, 0.00001, 0.99999)] == ["0", "4.1", "50", "100", "0.001", "99.999"]
    assert (share(0.0001, "down"), share(0.0001, "up"), share(0.9999, "up")) == ("0", "0.1", "100")
    assert raised(times_words(2e7, 1.0)) == "2.0 × 10⁷ times as often, the claim allows 2.7"
    assert times_words(2.71, 1.0) == "2.7 times as often, the claim allows 2.72"


def test_answers_are_the_outputs_where_these_are_few():
    assert answer_words(Cells("output", ((0, 1),))) == "“0” or “1”"
    assert answer_words(Cells("output", (), ("'a'",))) == "“'a'”"
    assert answer_words(Cells("output", (), ("NaN",))) == "output is NaN"
    assert answer_words(Cells("output", (), ("'NaN'",))) == "“'NaN'”"
    assert answer_words(Cells("output[0]", (), ("not NaN",), rare=True)).startswith("output[0] is not NaN or any")
    assert answer_words(Cells.of("output", [canonical((Fraction(-1, 2), Fraction(3)))])) == "“(-1/2, 3)”"
    assert answer_words(Cells("output", ((5, 5),)), {"5": "parity of x1"}) == "“parity of x1”"
    assert answer_words(Cells("output", ((0, 50),))) == "output in {0..50}"
    assert answer_words(Cells("output", ((0, 0),), rare=True)).startswith("output in {0} or any output rare")
    assert answer_words(Interval("value", -math.inf, 2.0)) == "output < 2"
    assert answer_words(Interval("mean", 0.5, 2.0, (1,))) == "0.5 ≤ mean of output[1] < 2"
    assert answer_words(Bets(3, 1.0)).startswith("no single event")


def test_places_of_the_figure_of_all_claims_grow():
    sizes = [0.0, 0.05, 0.1, 0.2, 1.0, 10.0, 11.0, 1e3, math.inf]
    places = [place(size) for size in sizes]
    assert places == sorted(set(places))
    assert (places[0], places[2], places[4]) == (0, 5, 48)
    assert places[-1] < 100


def test_rows_are_well_formed_and_say_what_they_show():
    for learner in ("parity-private", "parity-elimination", "parity-private-careless"):
        root = ElementTree.fromstring(claim_row(mechanism(only(load_small(), learner))))
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == root[0].text
        assert root.attrib["aria-label"].startswith(f"{learner}: ")


def test_the_blind_zone_reaches_the_edge_where_nothing_could_be_seen():
    run = only(load_small(), "parity-private", "privacy")
    row = claim_row(mechanism(change(run, "privacy", detectable_epsilon=math.inf)))
    assert 'x="48%" width="52%"' in row
    assert 'fill="url(#hatch)"' in row
    assert "no leak, however large, would be detected" in row
    bounded = claim_row(mechanism(change(run, "privacy", detectable_epsilon=2.0)))
    assert 'x="48%" width="12.94%"' in bounded


def test_a_bar_beyond_the_claim_is_cut_at_it():
    run = change(only(load_small(), "parity-private", "privacy"), "privacy", epsilon_lower=2.0, verdict="violation")
    row = claim_row(mechanism(run))
    assert 'class="f-bad" x="0%" width="48%" y="10" height="14" opacity="0.4"' in row
    assert 'class="f-bad" x="48%" width="12.94%"' in row
    assert "f-ok" not in row
    assert "hatch" not in row


def test_one_claim_alone_is_drawn_whatever_its_size():
    run = only(load_small(), "parity-private")
    for epsilon, lower, exact in ((1.0, 0.0, 0.5), (0.0, 0.0, 0.0), (1.0, math.inf, math.inf), (700.0, 3.0, 1e-9)):
        made = change(claiming(run, epsilon=epsilon), "privacy", epsilon_lower=lower)
        made = change(made, "exact", epsilon=exact, epsilon_at_claim=exact)
        drawn = claim_bar(mechanism(made))
        ElementTree.fromstring(drawn)
        places = [float(v) for v in re.findall(r'(?:x|x1|x2|width)="([\d.]+)%"', drawn)]
        assert all(0 <= v <= 100 for v in places)


@pytest.mark.parametrize("claim", [(1.0, 0.0), (0.5, 1e-6), (2.0, 0.3), (0.0, 0.1), (700.0, 0.01)])
def test_claimed_curve_is_the_best_over_the_trade_off(claim):
    e, d = claim
    # The slow way: the supremum of a piecewise linear function, on a grid with the knots in it.
    knot = (1 - d) * math.exp(-e) / (1 + math.exp(-e))
    x = np.union1d(np.linspace(0, 1, 20_001), [knot])
    with np.errstate(over="ignore", invalid="ignore"):
        f = np.maximum.reduce([np.zeros_like(x), 1 - d - np.where(x > 0, np.exp(e) * x, 0), np.exp(-e) * (1 - d - x)])
    for epsilon in (0.0, 0.1, 0.5, 1.0, 1.7, 3.0):
        slow = np.max(1 - f - np.exp(epsilon) * x)
        assert claimed_delta(epsilon, e, d) == pytest.approx(slow, abs=1e-9)


def test_claimed_curve_meets_the_claim_and_randomised_response():
    assert claimed_delta(1.0, 1.0, 1e-6) == 1e-6
    assert claimed_delta(5.0, 1.0, 1e-6) == 1e-6
    assert claimed_delta(0.0, 0.0, 0.0) == 0
    # Randomised response that tells the truth with probability e / (1 + e): its total variation distance.
    truth = math.e / (1 + math.e)
    assert claimed_delta(0.0, 1.0, 0.0) == pytest.approx(truth - (1 - truth), abs=1e-15)
    assert claimed_delta(1 - 1e-12, 1.0, 0.25) == pytest.approx(0.25, abs=1e-11)


def line_of(svg, name):
    """Return the points of the curve of a class."""
    path = re.search(rf'<path class="{name}" d="([^"]*)"', svg)[1]
    return np.array([[float(v) for v in pair] for pair in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)])


def test_exact_curve_lies_below_the_promised_one_and_above_it_for_the_broken_learner():
    for learner, sign in (("parity-private", 1), ("parity-private-careless", -1)):
        drawn = curve_figure(mechanism(only(load_small(), learner))).svg
        exact, promised = line_of(drawn, "curve"), line_of(drawn, "promised")
        half = exact[:, 0].max() * 0.5
        # Downwards is positive in SVG.
        assert sign * (np.interp(half, *exact.T) - np.interp(half, *promised.T)) > 2


def test_what_is_ruled_out_lies_below_the_exact_curve():
    view = curve_figure(mechanism(only(load_small(), "parity-private")))
    ruled, exact = line_of(view.svg, "ruled"), line_of(view.svg, "curve")
    kept = ruled[:-2]  # without the two corners that close it
    assert (kept[:, 1] - np.interp(kept[:, 0], *exact.T) > -0.2).all()  # pixels, rounded to tenths
    assert "Orange" not in view.caption
    assert 'class="beyond"' not in view.svg


def test_what_is_ruled_out_beyond_the_promise_is_told_apart():
    run = only(load_small(), "parity-private", "privacy")
    curve = fit_curve([9_900], 10_000, [100], 10_000, 0.01)
    view = curve_figure(mechanism(change(run, "privacy", curve=curve, epsilon_lower=3.0, verdict="violation")))
    assert "Orange: of that, beyond the promise." in view.caption
    beyond, promised = line_of(view.svg, "beyond"), line_of(view.svg, "promised")
    assert (beyond[:, 1] <= np.interp(beyond[:, 0], *promised.T) + 1).all()
    assert "found, ε ≥ 3.00" in view.svg


def test_without_a_curve_the_epsilon_that_was_found_is_marked():
    run = change(only(load_small(), "parity-private", "privacy"), "privacy", curve=None, epsilon_lower=3.0)
    svg = curve_figure(mechanism(run)).svg
    assert "found, ε ≥ 3.00" in svg
    mark, promised = line_of(svg, "found"), line_of(svg, "promised")
    assert mark[0, 0] == pytest.approx(promised[:, 0].max() / 1.15, abs=1)
    assert mark[1, 1] < mark[0, 1]
    silent = curve_figure(mechanism(change(run, "privacy", epsilon_lower=0.0))).svg
    assert 'class="found"' not in silent


def test_degenerate_curves_are_drawn_or_left_out():
    run = only(load_small(), "parity-private")
    flat = claiming(run, epsilon=0.0, delta=0.0)
    flat = change(change(flat, "privacy", epsilon_lower=0.0), "exact", epsilon=0.0, curve=((0.0, 0.0), (1.0, 0.0)))
    ElementTree.fromstring(curve_figure(mechanism(flat)).svg)
    ElementTree.fromstring(curve_figure(mechanism(change(run, "exact", curve=(), epsilon=math.inf))).svg)
    assert curve_figure(mechanism(only(load_small(), "parity-elimination", "utility"))) is None


def test_accuracy_is_drawn_a_row_a_sample_size():
    row = mechanism(only(load_small(), "parity-private", "utility")).accurate
    view = accuracy_figure(row)
    root = ElementTree.fromstring(view.svg)
    sizes = [text.text for text in root.iter("text") if (text.text or "").startswith("n = ")]
    assert sizes[-1] == "n = 119"
    assert len(sizes) == 1 + len({case.n for case in row.ladder})
    assert "allowed, 60 %" in view.svg
    assert "The promise is for n = 119" in view.caption
    assert "Grey: fewer examples" in view.caption


def test_huge_sample_sizes_and_certain_failure_are_drawn():
    run = only(load_small(), "parity-private", "utility")
    certain = {"failure_rate": 1.0, "failure_lower": 0.99, "failure_upper": 1.0, "n": 10**12, "verdict": "violation"}
    run = put(run, *(retold(r, **certain) for r in run.results))
    drawn = accuracy_figure(mechanism(with_results(run, run.results[:1])).accurate).svg
    assert "n = 1,000,000,000,000" in drawn
    assert all(float(v) <= 100 for v in re.findall(r'x[12]?="([\d.]+)%"', drawn))


def test_without_an_audit_at_the_theorems_n_there_is_no_figure():
    run = only(load_small(), "parity-elimination", "utility")
    run = put(run, *(replace(r, arguments=replace(r.arguments, role="ladder")) for r in run.results))
    assert accuracy_figure(mechanism(run).accurate) is None


def test_power_shows_the_frontier_and_nothing_where_there_is_none():
    finding = first(load_small(), "privacy").finding
    drawn = power_figure(finding)
    assert [text for text in ("1.02", "1.07", "1.30") if f">{text}<" in drawn] == ["1.02", "1.07", "1.30"]
    assert ">1 in 1,000<" in drawn
    assert "1 in 10,000" not in drawn  # there no leak is within reach
    assert power_figure(replace(finding, frontier=((0.1, math.inf),))) == ""


@pytest.mark.parametrize(
    ("kind", "learner", "noun"),
    [
        (OriginKind.OWN_USERS, "counts.py:counts", "user"),
        (OriginKind.OWN_DATA, "counts.py:counts", "record"),
        (OriginKind.CRAFTED, "parity-private", "example"),
    ],
)
def test_a_page_says_what_comes_or_goes_between_neighbours(kind, learner, noun):
    finding = privacy_finding(origins=(Origin(kind, "toy"),), relation=Relation.ADD_REMOVE_ONE)
    page = render_finding(result("privacy", finding=finding, learner=learner))
    assert f"one {noun} more or less" in page
    assert all(f"one {other} more or less" not in page for other in {"user", "record", "example"} - {noun})


@pytest.mark.parametrize(("lower", "anchor"), [(0.2, "start"), (0.98, "end")])
def test_what_was_found_is_named_beside_its_mark_and_not_on_it(lower, anchor):
    row = row_of([view_of(privacy_finding(epsilon_lower=lower))])
    svg = curve_figure(AuditedMechanism("m", [row])).svg
    text = re.search(r"<text ([^>]*)>found, ε", svg)[1]
    mark = float(re.search(r'class="found" d="M([\d.]+)', svg)[1])
    assert float(re.search(r'x="([\d.]+)%', text)[1]) == pytest.approx(mark / 10, abs=0.2)
    assert ('text-anchor="end"' in text) == (anchor == "end")
    assert f'dx="{-6 if anchor == "end" else 6}"' in text
