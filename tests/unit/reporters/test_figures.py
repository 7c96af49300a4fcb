import math
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from reporter_runs import GOLDEN, change, claiming, load_small, only, put, retold, with_results

from dpaudit.bounds.curve import fit_curve
from dpaudit.reporters.figures import figures
from dpaudit.reporters.privacy_figure import claimed_delta
from dpaudit.reporters.summary import summarise


def row(run):
    summary = summarise(run)
    return [*summary.learners, *summary.controls][0]


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


def test_figures_are_small_well_formed_and_described():
    for learner in ("parity-private", "parity-elimination", "parity-private-careless"):
        for drawn, caption in figures(row(only(load_small(), learner)), "a"):
            assert len(drawn.encode()) < 7_500
            root = ElementTree.fromstring(drawn.replace("xlink:href", "href"))
            assert root.attrib["role"] == "img"
            assert root.attrib["aria-label"] in (f"Privacy of {learner}", f"Failure rate of {learner}")
            assert caption
            assert set(root.attrib) == {"role", "aria-label", "viewBox"}


def test_ids_are_unique_over_figures_and_every_reference_resolves():
    drawn = [svg for name in ("a", "b") for svg, _ in figures(row(load_small()), name)]
    assert len(drawn) == 4
    ids = re.findall(r'\bid="([^"]*)"', "".join(drawn))
    assert len(ids) == len(set(ids)) > 0
    used = re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', "".join(drawn))
    assert used
    assert {a or b for a, b in used} <= set(ids)


def test_every_colour_follows_the_theme():
    for drawn, _ in figures(row(load_small()), "a"):
        bare = re.sub(r"var\(--figure-\w+, #[0-9a-f]{6}\)", "", drawn)
        assert not re.findall(r"#[0-9a-fA-F]{6}", re.sub(r'(href="#|url\(#)[^")]*', "", bare))


def test_texts_are_texts_with_all_their_digits():
    privacy, failure = (drawn for drawn, _ in figures(row(load_small()), "a"))
    assert ">exact epsilon 0.5108<" in privacy
    assert ">claim 1<" in privacy
    assert ">beta = 0.6<" in failure
    assert ">119<" in failure
    assert "font-family" not in privacy + failure


def line_of(drawn, colour, width=1.8):
    """Return the points of the first line in a colour of the palette and of a width."""
    for style, path in re.findall(r'<path d="([^"]*)"[^>]*style="([^"]*)"', drawn):
        path, style = style, path
        if f"--figure-{colour}," in style and f"stroke-width: {width}" in style:
            return np.array([[float(v) for v in pair] for pair in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)])
    raise AssertionError(f"no line in {colour}")


def test_exact_curve_lies_below_the_claimed_one_and_above_it_for_the_broken_learner():
    for learner, sign in (("parity-private", 1), ("parity-private-careless", -1)):
        drawn = figures(row(only(load_small(), learner)), "a")[0][0]
        exact, claim = line_of(drawn, "exact"), line_of(drawn, "claim")
        # Downwards is positive in SVG; at the left end, epsilon = 0, and in the middle of the drawn range.
        middle = np.interp(exact[:, 0].max() * 0.5, *exact.T) - np.interp(exact[:, 0].max() * 0.5, *claim.T)
        assert sign * middle > 2


def test_band_of_the_curve_lies_below_the_exact_one_and_says_its_confidence():
    drawn, caption = figures(row(only(load_small(), "parity-private")), "a")[0]
    assert ">below: ruled out (black box, 99 %)<" in drawn
    assert ">left: ruled out (black box, 95 %)<" in drawn
    assert "with confidence 99 %" in caption
    band, exact = line_of(drawn, "bound", 1.2), line_of(drawn, "exact")
    left = band[:, 0] < exact[:, 0].max() / 3
    below = band[left, 1] - np.interp(band[left, 0], *exact.T)
    assert (below > 0).all()  # downwards is positive in SVG
    assert below.max() < 15  # and it lies near: 160,000 runs show nearly all


def test_band_over_the_claimed_curve_is_all_in_the_picture():
    run = only(load_small(), "parity-private", "privacy")
    run = change(run, "privacy", curve=fit_curve([9_900], 10_000, [100], 10_000, 0.01))
    drawn = figures(row(run), "a")[0][0]
    band, claim = line_of(drawn, "bound", 1.2), line_of(drawn, "claim")
    assert band[0, 1] < claim[0, 1] - 10
    assert band[:, 1].min() > 0


def test_a_band_that_shows_nothing_is_drawn():
    run = only(load_small(), "parity-private", "privacy")
    run = change(run, "privacy", epsilon_lower=0.0, curve=fit_curve([5], 10, [5], 10, 0.01))
    drawn, caption = figures(row(run), "a")[0]
    assert "below: ruled out (black box, 99 %)" in drawn
    assert "left: ruled out" not in drawn
    assert "ruled out no epsilon" in caption


def test_without_a_curve_the_band_is_only_for_a_positive_bound():
    run = change(only(load_small(), "parity-private"), "privacy", curve=None)
    assert ">left: ruled out (black box, 95 %)<" in figures(row(run), "a")[0][0]
    assert "below: ruled out" not in figures(row(run), "a")[0][0]
    drawn, caption = figures(row(change(run, "privacy", epsilon_lower=0.0)), "a")[0]
    assert "left: ruled out" not in drawn
    assert "ruled out no epsilon" in caption


def test_band_of_an_infinite_bound_and_infinite_epsilon():
    run = change(only(load_small(), "parity-private-careless"), "privacy", epsilon_lower=math.inf)
    run = change(run, "exact", epsilon=math.inf)
    drawn, caption = figures(row(run), "a")[0]
    assert "exact epsilon infinite" in drawn
    # The arrow at the right end of the axis, and beside its words.
    assert len(re.findall(r'<path d="M[^"]*z" style="fill: var\(--figure-exact', drawn)) == 2
    assert "every epsilon below inf is ruled out" in caption


def test_where_the_exact_curve_stops_short_is_marked_and_said():
    run = change(only(load_small(), "parity-private-careless"), "privacy", epsilon_lower=8.0)
    run = change(run, "exact", epsilon=math.inf, curve=((0.0, 0.25), (1.5, 0.25), (3.0, 0.25)))
    drawn, caption = figures(row(run), "a")[0]
    assert ">computed up to 3.000<" in drawn
    assert "The open circle, at epsilon = 3.000, is where it was computed last and not where the leak ends" in caption
    # Where it comes down to 0, or reaches the right end, nothing is left to say.
    for curve, lower in ((((0.0, 0.25), (3.0, 0.0)), 8.0), (((0.0, 0.25), (3.0, 0.25)), 2.0)):
        run = change(change(run, "exact", curve=curve), "privacy", epsilon_lower=lower)
        drawn, caption = figures(row(run), "a")[0]
        assert "computed up to" not in drawn
        assert "open circle" not in caption


@pytest.mark.parametrize(
    ("kinds", "names"),
    [(("exact",), 1), (("privacy",), 1), (("utility",), 2), (("exact", "privacy", "utility"), 2)],
)
def test_what_is_missing_is_said(kinds, names):
    drawn = figures(row(only(load_small(), "parity-private", *kinds)), "a")
    assert len(drawn) == names
    if "exact" not in kinds:
        assert "The exact curve was not computed" in drawn[0][1]


def test_each_setting_has_a_figure_of_its_own():
    (one, first_caption), (two, second_caption) = figures(row(only(load_small(), "parity-elimination")), "a")[1:]
    assert first_caption.startswith("Setting realizable: share of runs in which error > 0.1, with exact intervals.")
    assert second_caption.startswith("Setting empirical: share of runs in which error on the sample > 0.1,")
    assert 'id="a-failure-realizable' in one
    assert 'id="a-failure-empirical' in two
    assert ">37<" in one
    assert ">37<" not in two


def test_nothing_known_means_no_figure():
    run = only(load_small(), "parity-elimination", "utility")
    run = put(run, *(replace(r, arguments=replace(r.arguments, role="ladder")) for r in run.results))
    assert figures(row(run), "a") == []


def test_degenerate_curves_and_claims_are_drawn():
    run = claiming(only(load_small(), "parity-private"), epsilon=0.0, delta=0.0)
    run = change(change(run, "privacy", epsilon_lower=0.0), "exact", epsilon=0.0, curve=((0.0, 0.0), (1.0, 0.0)))
    assert len(figures(row(run), "a")) == 2
    assert len(figures(row(change(run, "exact", curve=())), "a")) == 2


def test_huge_and_equal_sample_sizes_are_drawn():
    run = only(load_small(), "parity-private", "utility")
    run = put(run, *(retold(result, n=10**12 >> max(0, i - 1)) for i, result in enumerate(run.results)))
    drawn = figures(row(run), "a")[1][0]
    assert "1.0e+12" in drawn
    one = with_results(run, run.results[:1])
    assert len(figures(row(one), "a")) == 2


_RENDER = """
import hashlib, sys
from dpaudit.engine.store import load_run
from dpaudit.reporters import html
print(hashlib.sha256(html.render(load_run(sys.argv[1])).encode()).hexdigest())
print("matplotlib.pyplot" in sys.modules)
"""


def test_same_bytes_in_other_processes_whatever_the_users_style(tmp_path):
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 33\naxes.labelpad: 20\nxtick.major.size: 12\nsvg.hashsalt: other\n"
    )
    outputs = set()
    for seed, rc in (("0", {}), ("1", {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")})):
        env = {"PATH": "", "PYTHONHASHSEED": seed, "MPLCONFIGDIR": str(tmp_path), "HOME": str(tmp_path), **rc}
        done = subprocess.run(
            [sys.executable, "-c", _RENDER, str(GOLDEN / "run_small.jsonl")],
            env=env,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().endswith("False\n")  # no global drawing state
