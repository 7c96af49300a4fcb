import json
import math
import re
from itertools import pairwise

import pytest
from msgspec.structs import replace
from pages import Page, many
from reporter_runs import (
    change,
    change_witness,
    claiming,
    controls_missed,
    failed,
    first,
    load_small,
    only,
    planned,
    put,
    retold,
    with_results,
)

from dpaudit.audit.checks_and_gaps import Identical, Powerless
from dpaudit.contract import Origin
from dpaudit.events.event import Cells
from dpaudit.evidence.outcome import outcome
from dpaudit.evidence.records import SINGLE, Fault
from dpaudit.exact.finding import PairInWords
from dpaudit.report import console, formats, html


@pytest.fixture(scope="module")
def small():
    return html.render(load_small())


def heading(page):
    return re.sub("<[^>]*>", "", re.search("<h1[^>]*>(.*?)</h1>", page, re.DOTALL)[1]).strip()


def test_page_is_one_self_contained_file(small):
    page = Page(small)
    assert small.startswith("<!DOCTYPE html>")
    assert not {"img", "iframe", "object", "base"} & set(page.tags)
    assert page.tags.count("script") == 1
    assert not re.search(r"https?:|//|@import|url\((?!#)", small)
    for tag, attributes in page.attributes:
        assert not any(name.startswith("on") or name == "src" for name in attributes)
        for name in ("href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#") or (tag, attributes[name]) == ("link", "data:,")
    assert "default-src 'none'" in small


def test_the_script_names_nothing_outside(small):
    script = re.search("<script>(.*?)</script>", small, re.DOTALL)[1]
    assert not re.search(r"fetch|XMLHttp|import|eval|innerHTML|location|cookie|Storage", script)


def test_ids_are_unique_and_links_resolve():
    for text in (
        html.render(load_small()),
        html.render(many(load_small())),
        html.render(controls_missed(load_small())),
    ):
        page = Page(text)
        ids = page.ids()
        assert len(ids) == len(set(ids))
        targets = [a[name][1:] for tag, a in page.attributes for name in ("href",) if name in a and tag != "link"]
        targets += [a["aria-labelledby"] for _, a in page.attributes if "aria-labelledby" in a]
        targets += re.findall(r"url\(#([^)]*)\)", text)
        assert set(targets) <= set(ids)


def test_page_is_accessible(small):
    page = Page(small)
    assert dict(page.attributes)["html"] == {"lang": "en"}
    assert {"header", "nav", "main", "footer"} <= set(page.tags)
    assert all(a.get("scope") in ("col", "row") for tag, a in page.attributes if tag == "th")
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    scrolled = [a for _, a in page.attributes if a.get("class") == "scroll"]
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolled)


def test_every_svg_is_named_or_hidden(small):
    inner = re.sub(r'<svg role="img".*?</title>|<svg [^>]*viewBox="0 0 1000[^>]*>', "", small)
    for tag in re.findall("<svg[^>]*>", inner):
        named = 'role="img"' in tag and re.search('aria-label="[^"]+"', tag)
        inside_a_hidden_axis = tag == '<svg height="18">'
        assert named or "aria-hidden" in tag or inside_a_hidden_axis, tag


def test_the_answer_is_the_heading_and_agrees_with_the_exit_status():
    run = load_small()
    broken = change(run, "exact", verdict="violation", epsilon=1.0000001, epsilon_at_claim=1.0000001)
    inaccurate = change(run, "utility", "claim", verdict="violation")
    silent = change(only(run, "parity-private", "privacy"), "privacy", verdict="no evidence", gaps=(Identical(2),))
    undecided = change(run, "utility", "claim", verdict="undecided")
    lost = planned(run, "box-tightest/exact/n1-ab")
    told = {
        "No violation found in 2 privacy claims.": (run, 0),
        "1 of 2 privacy claims is violated: parity-private.": (broken, 1),
        "The audit is blind: it missed the planted fault of parity-private-careless.": (controls_missed(broken), 1),
        "No privacy claim is violated, but 1 promise of accuracy: parity-private.": (inaccurate, 1),
        "No violation found in 1 privacy claim; 1 without evidence.": (silent, 3),
        "No violation so far, but 1 result missing.": (lost, 2),
        "No claim of privacy was tested.": (only(run, "parity-elimination"), 0),
    }
    for answer, (given, status) in told.items():
        assert heading(html.render(given)) == console.render(given).splitlines()[0] == answer
        assert outcome(given).status == status
    assert heading(html.render(undecided)) == "No violation found in 2 privacy claims."
    assert "accuracy 1 undecided" in Page(html.render(undecided)).unfolded
    assert heading(html.render(with_results(run, []))) == "No claim of privacy was tested."


def test_a_missed_control_leads_the_page():
    page = html.render(controls_missed(load_small()))
    text = Page(page).unfolded
    assert text.index("it missed") < text.index("missed", text.index("it missed") + 9)
    assert '<section class="m" id="m-parity-private-careless"' in page
    assert page.index('id="m-parity-private-careless"') < page.index('id="m-parity-private"')
    assert "No audit found its leak" in text
    assert "0 of 1 planted fault caught; missed: parity-private-careless" in text


def test_what_is_missing_is_said_before_the_figure_and_listed():
    run = load_small()
    lost = next(r for r in run.results if r.learner == "threshold-exponential")
    run = failed(run, lost, "RuntimeError: <oops>")
    run = replace(run, header=replace(run.header, faults=(Fault("poor", "ValueError: no"),)))
    page = html.render(run)
    text = Page(page).unfolded
    assert text.index("; not planned: 1 learner") < text.index("All claims in one figure")
    assert f"{lost.task}: RuntimeError: <oops>" in text
    assert "poor: ValueError: no" in text
    assert "The audit of privacy failed: RuntimeError: <oops>." in text
    assert re.search('id="m-threshold-exponential" aria-labelledby', page)  # open, for it needs a look


def test_only_what_needs_a_look_is_open():
    page = html.render(load_small())
    assert page.count('<details class="mfold">') == 4  # three learners and the control
    assert '<section class="m"' not in page
    assert not re.search("<details[^>]* open", page)
    undecided = html.render(change(load_small(), "utility", "claim", verdict="undecided"))
    assert '<section class="m" id="m-parity-private"' in undecided
    assert "Accuracy: undecided." in Page(undecided).unfolded
    assert "accuracy 1 undecided" in Page(undecided).unfolded


def test_a_learner_without_evidence_never_looks_consistent():
    run = only(load_small(), "parity-private", "privacy")
    page = html.render(change(run, "privacy", verdict="no evidence", gaps=(Identical(2),)))
    text = Page(page).unfolded
    assert "both inputs are the same in all of 2 pairs" in text
    assert "v-ok" not in page[page.index('id="m-parity-private"') : page.index('id="controls"')]
    gone = {"detectable_epsilon": math.inf, "detectable_delta": math.inf, "frontier": ()}
    page = html.render(change(run, "privacy", **gone, verdict="no evidence", gaps=(Powerless(),)))
    assert "is detectable: no leak was within reach" in Page(page).text
    assert ">never<" in page


def test_the_words_of_a_whole_quick_run_are_few():
    text = html.render(many(load_small()))
    page = Page(text)
    assert len(page.unfolded.split()) <= 2_500
    assert len(text.encode()) <= 1_000_000
    assert page.unfolded.count("learner-number-") >= 60  # a row of the figure for each claim, and one of the table
    assert "97 of 97 planted faults caught" in page.unfolded
    assert "broken-number-96" in page.text
    assert "broken-number-96" not in page.unfolded


def test_a_violation_among_many_is_open_and_first():
    run = change(many(load_small()), "exact", verdict="violation", epsilon=1.5, epsilon_at_claim=1.5)
    page = Page(html.render(run))
    assert page.unfolded.index("learner-number-0") < page.unfolded.index("learner-number-1 ")
    assert "Violation. It claims ε = 1, has 1.50 (exact)" in page.text
    assert [a["id"] for tag, a in page.attributes if tag == "section" and a.get("class") == "m"] == [
        "m-learner-number-0"
    ]


def test_numbers_are_rounded_so_that_nothing_is_flattered(small):
    text = Page(small).text
    for words in (
        "ε = 0.511",
        "ε ≥ 0.500",
        "ε ≥ 1.02",
        "worst of 56 ordered pairs of neighbours, samples of 1 example",
        "95 % sure",
    ):
        assert words in text, words
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=0.99999, detectable_epsilon=1.00001)
    text = Page(html.render(run)).text
    assert "ε ≥ 0.999" in text
    assert "ε ≥ 1.01" in text


def test_numbers_of_the_table_are_in_the_json_report(small):
    from dpaudit.report import json as json_report

    rows = {row["learner"]: row for row in json.loads(json_report.render(load_small()))["learners"]}
    table = small[small.index('id="all"') :].partition("</table>")[0]
    for line in re.findall("<tr data-k.*?</tr>", table)[:2]:
        row = rows[re.search(">([^<]*)</a>", line)[1]]
        keys = [float(v) for v in re.findall('class="num" data-v="([^"]*)"', line)]
        names = ("claimed_epsilon", "exact_epsilon", "epsilon_lower", "detectable_epsilon")
        assert keys[:4] == [-1 if row["numbers"][name] is None else row["numbers"][name] for name in names]


def test_delta_decides_where_the_claim_has_one():
    run = claiming(only(load_small(), "parity-private"), delta=1e-6)
    told = {"epsilon": math.inf, "claimed_delta": 1e-6, "delta_at_claim": 2.5e-7, "epsilon_at_claim": 0.75}
    text = Page(html.render(change(run, "exact", **told))).text
    assert "ε = 1, δ = 10⁻⁶" in text
    assert "It claims ε = 1, δ = 10⁻⁶, has ε = 0.750 at that δ (exact)" in text
    assert "δ = 2.50 × 10⁻⁷exact at the claimed ε" in text
    assert "ε = ∞" not in text
    # A run of an earlier version knows the epsilon at 0 alone.
    old = Page(html.render(change(run, "exact", **{**told, "epsilon_at_claim": None}))).text
    assert "has δ = 2.50 × 10⁻⁷ there (exact)" in old


def test_answers_are_told_in_words():
    run = change_witness(only(load_small(), "parity-private"), event=Cells("output", ((-1, -1), (3, 3))))
    run = put(run, replace(first(run, "privacy"), decoded={"-1": "failure", "3": "parity of x1 and x2"}))
    assert "how often the answer is “failure” or “parity of x1 and x2”." in Page(html.render(run)).text


def test_the_witness_shows_the_likelier_side_and_what_changes(small):
    text = Page(small).text
    assert "31.3 % (50,012 of 160,000)" in text
    assert "18.7 % (29,968 of 160,000)" in text
    assert (
        "The closest call: one example changes, and one answer comes 1.7 times as often, the claim allows 2.7" in text
    )
    assert small.count("<mark>") == 6  # where the inputs of each of three pairs differ
    assert "No single event: bets" in text or "no single event: bets on 3000 runs" in text


def test_contradiction_is_told_first():
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=0.6, warnings=("few runs",))
    text = Page(html.render(run)).unfolded
    assert "Contradiction. The runs show more than the exact laws allow" in text
    assert "(!)" in text


def test_instances_of_one_learner_are_one_part():
    run = only(load_small(), "parity-private")
    run = put(run, replace(run.results[0], parameters={**run.results[0].parameters, "dimension": 3}))
    page = html.render(run)
    assert heading(page) == "No violation found in 2 privacy claims."
    assert page.count('id="m-parity-private"') == 1
    twins = [replace(r, learner=r.learner.replace("-", "_")) for r in run.results]
    ids = Page(html.render(with_results(run, [*run.results, *twins]))).ids()
    assert {"m-parity-private", "m-parity-private-"} <= set(ids)


def test_the_ledger_shows_what_is_refuted_and_folds_the_rest(small):
    page = Page(small)
    assert "4 statements of papers checked: 1 misprint, 1 loose, 1 holds, 1 refuted" in page.unfolded
    part = page.unfolded[page.unfolded.index("Ledger: what papers state") :]
    assert "One example moves Pr[fail] from 1/2 to 1/2 + ε/4" in part
    assert "Pr[fail] = 0.75" in part
    assert "at most 0.625" in part
    assert "SL-Rounds" not in part
    assert "The threshold learner: c_j(x) = 1 iff x < j; why: The slide before has x <= j" in page.text
    assert "the theorem survives" in page.text
    assert "Witness: d = 1, epsilon = 1: the sample (1 -> 1) replaced by (0 -> 1)." in page.text
    assert "J rounds of epsilon/J each are epsilon-private." in page.text
    assert 'id="ledger"' not in html.render(only(load_small(), "parity-private"))


def test_the_command_seed_and_versions_are_there(small):
    text = Page(small).text
    assert load_small().header.command in text
    assert "seed 0" in text
    assert "numpy 2.0.0" in text
    repeat = re.findall("<code>(dpaudit privacy parity-private [^<]*)</code>", small)
    assert any("--trials 240000" in command and command.endswith("--seed 0") for command in repeat)


def full_of(words):
    """Return a run in which everything that others say is `words`."""
    run = claiming(only(load_small(), "parity-private"), source=words, claim_id=words)
    cases = [r for r in run.results if r.kind == "utility"]
    run = put(run, *(replace(r, arguments=replace(r.arguments, case=words)) for r in cases))
    run = put(run, *(retold(r, concept=words, failure=words, claim_id=words) for r in run.results if r in cases))
    origin = Origin(text=words)
    run = change_witness(run, event=Cells("output", (), (words,)), data=words, neighbour=words, origin=origin)
    told = {"warnings": (words,), "distinguisher": words, "scores": (words,), "origins": (origin,), "bound": words}
    run = change(run, "privacy", not_looked_at=(words,), **told)
    run = change(run, "exact", worst_atom=words, pair_in_words=PairInWords(words, words, origin))
    renamed = (replace(r, learner=words, parameters={words: words}) for r in run.results)
    run = planned(replace(run, results=tuple(renamed)), f"{words}/exact/n1-ab")
    header = {"command": words, "profile": words, "versions": {words: words}, "sources": {words: words}}
    return replace(run, header=replace(run.header, faults=(Fault(words, words),), **header))


def test_words_of_a_learner_cannot_become_markup():
    evil = "<script>alert('x')</script>\"><img src=x onerror=y>&{{ 7*7 }}"
    text = html.render(full_of(evil))
    page = Page(text)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert evil in "".join(page.words)
    assert "49" not in "".join(page.words).replace("491", "")


def test_words_of_a_learner_cannot_change_how_a_page_reads():
    page = html.render(full_of("a\x1b[2J\u202eb\ud800\x00\x85\nc"))
    page.encode()
    assert page.count("a\\x1b[2J\\u202eb\\ud800\\x00\\x85\\nc") >= 20
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", page)


def test_words_of_a_statement_cannot_become_markup():
    evil = "<script>alert(1)</script>"
    run = load_small()
    rows = [r for r in run.results if r.kind == "ledger"]
    told = dict.fromkeys(("id", "statement", "source", "summary", "witness", "short", "printed", "found"), evil)
    page = Page(html.render(put(run, *(retold(r, **told) for r in rows))))
    assert page.tags.count("script") == 1
    assert evil in page.text


def test_same_results_same_bytes(small):
    run = load_small()
    assert html.render(run) == small
    assert html.render(replace(run, results=run.results[::-1])) == small


def luminance(colour):
    """Return the relative luminance of WCAG 2."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_in_both_themes_and_on_paper(small):
    blocks = re.findall(r":root\{([^}]*--bg[^}]*)\}", small)
    themes = [dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", block)) for block in blocks]
    assert len(themes) == 3  # light, dark, and dark printed
    assert themes[0]["bg"] == themes[2]["bg"] == "#fff"
    for theme in themes:
        for text in ("ink", "mute", "bad", "ok", "none"):
            assert contrast(theme[text], theme["bg"]) >= 4.5, text
        for mark in ("badf", "okf", "nonef", "hatch"):
            assert contrast(theme[mark], theme["bg"]) >= 3, mark
        assert contrast(theme["ink"], theme["panel"]) >= 4.5
        assert contrast(theme["mute"], theme["noneband"]) >= 4.5
    assert contrast(themes[0]["link"], themes[0]["bg"]) >= 4.5
    assert contrast(themes[1]["link"], themes[1]["bg"]) >= 4.5


def test_mechanisms_without_a_claim_have_no_line_in_the_figure_of_claims(small):
    figure = small.partition('id="figure"')[2].partition("</section>")[0]
    table = small.partition('id="all"')[2].partition("</table>")[0]
    assert "parity-elimination" not in figure
    assert "Without a claim of ε, and in the table alone: 1 mechanism." in figure
    assert "parity-elimination" in table
    assert "table alone" not in html.render(only(load_small(), "parity-private"))


def test_single_audits_have_no_columns_and_parts_of_what_they_do_not_have():
    run = only(load_small(), "parity-private", "privacy")
    single = replace(run, header=replace(run.header, profile=SINGLE, controls={}), total="")
    page = html.render(single)
    shown = {"page": page, "text": console.render(single), "md": formats.markdown(single), "xml": formats.junit(single)}
    for name, text in shown.items():
        assert "not sealed" not in text, name
        assert "fails" not in text.lower().partition("<style")[0] or name == "page", name
    table = page.partition('id="all"')[2].partition("</table>")[0]
    heads = re.findall(r'scope="col"[^>]*>([^<]*)', table)
    assert heads == ["Mechanism", "Verdict", "claimed ε", "found ε ≥", "would catch ε ≥"]
    assert 'id="controls"' not in page
    assert "Controls" not in Page(page).text
    assert "accuracy" not in shown["md"]
    assert "exact" not in shown["md"].splitlines()[6]
    whole = html.render(load_small())
    assert 'id="controls"' in whole
    assert ">Accuracy<" in whole
