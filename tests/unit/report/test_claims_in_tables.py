"""Claims that are curves in tables, pages and changes: in their own words, never as the point that was tested."""

import json

import pytest
from msgspec.structs import replace
from reporter_runs import change, load_small, only

import dpaudit
from dpaudit.app.comparison import Change, check_text, compare
from dpaudit.app.rows import claim_row
from dpaudit.audit.claim_tests import CurveTest
from dpaudit.report import console, html
from dpaudit.report.formats import _table
from dpaudit.report.glossary import CATCHES, VISIBLE
from dpaudit.report.json import render
from dpaudit.report.plots import figure_of
from dpaudit.report.view import AuditedMechanism, row_of, view_of
from dpaudit.report.words.finding import brief_lines
from dpaudit.report.words.privacy import unseen_words

PAIRS = [([0.0], [1.0])]
CLAIMS = {
    "gaussian": dpaudit.PrivacyClaim.gaussian(1.0),
    "sequential": dpaudit.PrivacyClaim.gaussian(1.0),
    "zero-concentrated": dpaudit.PrivacyClaim.zero_concentrated(0.5),
    "renyi": dpaudit.PrivacyClaim.renyi([(8.0, 4.0)]),
    "points": dpaudit.PrivacyClaim.points([(1.0, 0.1), (2.0, 0.01)]),
}
WORDS = {
    "gaussian": "μ = 1",
    "sequential": "μ = 1",
    "zero-concentrated": "ρ = 0.5",
    "renyi": "ε = 4 at order 8",
    "points": "2 points",
}


def noisy(data, rng):
    return sum(data) + rng.normal()


@pytest.fixture(scope="module")
def found():
    def one(name, claim):
        return dpaudit.audit_privacy(
            noisy, PAIRS, claim=claim, trials=2_000, execution=dpaudit.Execution(sequential=name == "sequential")
        )

    return {name: one(name, claim) for name, claim in CLAIMS.items()}


@pytest.mark.parametrize("name", CLAIMS)
def test_tables_show_the_claim_and_no_epsilon_that_nobody_claims(found, name) -> None:
    finding = found[name]
    row = row_of([view_of(finding)])
    table, point = _table([AuditedMechanism("m", [row])]), str(finding.delta)
    cells = [cell.strip() for cell in table.splitlines()[2].split("|")[3:-1]]
    assert cells[0] == WORDS[name]
    assert "claimed δ" not in table
    assert point not in table
    if name == "gaussian":
        tested = finding.curve_test
        assert [cell[:2] for cell in cells[1:]] == ["μ ", "μ "]
        assert float(cells[1][2:]) == pytest.approx(tested.mu_lower, rel=0.01)
        assert float(cells[2][2:]) == pytest.approx(tested.detectable_mu, rel=0.01)
    elif name != "sequential":
        assert cells[1:] == ["-", "-"]
    shown = claim_row("a", "m.py:a", [finding])
    text = check_text([shown])
    assert point[:6] not in text
    assert CATCHES in text
    assert max(map(len, text.splitlines())) <= 80
    assert shown.curve_claim[0] == WORDS[name]


@pytest.mark.parametrize("name", CLAIMS)
def test_a_page_and_a_figure_name_the_claim_and_the_point(found, name) -> None:
    page, point = html.render_finding(found[name]), str(found[name].delta)
    assert WORDS[name] in page
    assert "point tested" in page
    assert name == "points" or point not in page
    labels = [one.get_text() for one in figure_of(row_of([view_of(found[name])])).legends[0].get_texts()]
    assert f"claim {WORDS[name]}" in labels


def test_beside_a_verdict_stands_the_curve(found) -> None:
    aside = html.figures.aside(AuditedMechanism("m", [row_of([view_of(found["gaussian"])])]))
    assert aside == "μ = 1 (Gaussian privacy)"


def test_the_figure_of_all_claims_leaves_out_what_has_no_place_on_its_axis() -> None:
    tested = CurveTest(CLAIMS["gaussian"], 0.0, mu_lower=0.1, detectable_mu=2.0)
    run = change(only(load_small(), "parity-private"), "privacy", tested_claim=tested)
    page = html.render(run)
    figure = page.partition('id="figure"')[2].partition("</section>")[0]
    assert "parity-private" not in figure
    assert "Without a claim of ε, and in the table alone: 1 mechanism." in figure
    assert CATCHES in page
    assert "μ 2.00" in page.partition('id="all"')[2].partition("</table>")[0]
    assert json.loads(render(run))["learners"][0]["numbers"]["claimed_mu"] == 1.0
    text = console.full(run)
    assert CATCHES in text
    assert "mu = 1" in text


def test_changes_are_of_what_is_claimed(found) -> None:
    gauss, zero, points = (claim_row("a", "m", [found[n]]) for n in ("gaussian", "zero-concentrated", "points"))
    assert compare([gauss], [gauss]) == []
    words = "claims ρ = 0.5 (zero-concentrated privacy), claimed μ = 1 (Gaussian privacy) before"
    assert Change("a", words, None) in compare([gauss], [zero])
    assert not any("epsilon" in one.text and "would catch" in one.text for one in compare([gauss], [points]))
    more = replace(gauss, numbers={**gauss.numbers, "claimed_mu": 2.0}, curve_claim=("μ = 2", "Gaussian privacy"))
    assert compare([gauss], [more]) == [Change("a", "claims mu 2.000, claimed 1.000 before", True)]
    worse = replace(gauss, numbers={**gauss.numbers, "detectable_mu": 9.0})
    (change,) = compare([gauss], [worse])
    assert change.text.startswith("would catch a mu of 9.000")
    assert change.text.endswith(VISIBLE)


def test_what_was_not_looked_at_is_in_three_lines_and_in_markdown(found) -> None:
    finding = dpaudit.audit_privacy(
        lambda data, rng: [sum(data) + rng.normal(), *rng.normal(size=3)], PAIRS, epsilon=1.5, delta=0.1, trials=2_000
    )
    few, many = (replace(finding, not_looked_at=tuple("abcd"[:n])) for n in (2, 4))
    assert unseen_words(few) == "not looked at: a, b"
    assert unseen_words(many) == "4 kinds of features not looked at: -v or finding.not_looked_at names them"
    assert unseen_words(replace(finding, not_looked_at=())) == ""
    for one in (few, many):
        assert unseen_words(one) in dict(brief_lines(one))["power"]
        table = _table([AuditedMechanism("m", [row_of([view_of(one)])])])
        assert unseen_words(one).replace("_", "\\_") in table
        assert CATCHES in table
