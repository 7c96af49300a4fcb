import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from reporter_runs import (
    GOLDEN,
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

from dpaudit.blackbox.gaps import Identical, Powerless
from dpaudit.contract import Origin
from dpaudit.engine.records import Fault
from dpaudit.engine.store import load_run
from dpaudit.event import Cells, Told
from dpaudit.exact.finding import PairInWords
from dpaudit.reporters import html

TEMPLATES = Path(html.__file__).parent / "templates"
VOID = {"meta", "link", "br", "img", "hr", "input", "col"}


class Page(HTMLParser):
    """The elements of a page; fails on tags that do not balance."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "title"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


@pytest.fixture(scope="module", autouse=True)
def no_calibration():
    """Leave out the calibration of the package, which changes; `test_calibration_report` has its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(html, "load_calibration", lambda: None)
        yield


@pytest.fixture(scope="module")
def small():
    return html.render(load_small())


def test_page_is_one_self_contained_file(small):
    page = Page(small)
    assert small.startswith("<!DOCTYPE html>")
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    assert not re.search(r"https?:|//|@import|url\((?!#)", small)
    for _, attributes in page.attributes:
        assert not any(name.startswith("on") or name == "src" for name in attributes)
        for name in ("href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")


def test_ids_are_unique_and_links_resolve(small):
    page = Page(small)
    ids = [a["id"] for _, a in page.attributes if "id" in a]
    assert len(ids) == len(set(ids))
    targets = [a[name][1:] for _, a in page.attributes for name in ("href", "xlink:href") if name in a]
    targets += [a["aria-labelledby"] for _, a in page.attributes if "aria-labelledby" in a]
    targets += re.findall(r"url\(#([^)]*)\)", small)
    assert set(targets) <= set(ids)


def test_page_is_accessible(small):
    page = Page(small)
    assert page.tags.count("caption") == page.tags.count("table")
    assert all(a.get("scope") in ("col", "row") for tag, a in page.attributes if tag == "th")
    assert all(a.get("role") == "img" and a["aria-label"] for tag, a in page.attributes if tag == "svg")
    assert page.tags.count("svg") == page.tags.count("figcaption") == 7
    assert dict(page.attributes)["html"] == {"lang": "en"}
    assert page.tags.count("h1") == 1


def test_every_number_stands_beside_its_grade(small):
    text = Page(small).text
    assert "0.5108 exact, 56 pairs, n = 1, all samples".replace(" ", "") in text.replace("\xa0", " ").replace(" ", "")
    assert "≥ 0.5002" in text
    assert "statistical, 95 %; would detect from 1.013" in text
    assert "0.503 [0.467, 0.539]" in text
    assert "worst of 2 hard cases" in text
    assert "empirical; statistical, 95 %; worst of 2 hard cases in 2 settings" in text.replace("\xa0", " ")
    assert "No violation found at these runs." in text
    assert "it convicted 1 of 1" in text


def test_it_says_what_it_is_not(small):
    text = Page(small).text
    assert "never an upper bound" in text
    assert "does not mean that the claim is true" in text
    assert not re.search(r"\bpass", text, re.IGNORECASE)


def section(text, learner, following):
    """Return the text of one learner's section."""
    return text[text.index(f"{learner} Verdict") : text.index(f"{following} Verdict")]


def test_power_stands_with_every_black_box_audit(small):
    fixed = section(Page(small).text, "parity-private", "parity-elimination")
    for words in (
        "Power These runs detect with probability 95\xa0%: a true epsilon of 1.013 or more on an event as "
        "likely as the main one tested; a probability of 0.0001200 or more of an event impossible on the other side.",
        "Probability of the event 0.10.010.0010.0001",
        "Least epsilon detected 1.0201.0701.300none in reach",
        "Compared30 pairs, 64 events",
        "Pairs from8 crafted, 2 random, 2 given, 18 local search",
        "Scores triedhistogram, logistic",
        "Budgetruns on each side, all pairs together: 30,000 to compare the pairs, 10,000 to vary the best pair, "
        "40,000 to choose the event, 160,000 to confirm it",
        "Error probability0.05 in all: 0.04 for the verdict, 0.01 for the curve",
    ):
        assert re.sub(r"\s", "", words) in re.sub(r"\s", "", fixed), words
    assert "These runs detect" not in section(Page(small).text, "parity-elimination", "threshold-exponential")


def test_bets_have_no_events_and_no_counts(small):
    told = section(Page(small).text, "threshold-exponential", "parity-private-careless convicted: exact + black box")
    assert "Sequential design: bets against the claim" in told
    assert "No single event: bets on 3000 runs of this pair raised the stake by exp(1.25): Sample" in told
    assert "as likely as the" not in told
    assert "of probability 0.1" in told
    assert "This is what bets on a given event detect with half of the runs of a pair that leads" in told
    assert "4,000 runs used of 4,000 allowed" in told
    assert "2 pairs, by bets and not by events" in told
    assert not re.search(r"None|null", told)


def test_a_leak_out_of_reach_is_said_to_be_so():
    run = only(load_small(), "parity-private", "privacy")
    gone = {"detectable_epsilon": math.inf, "detectable_delta": math.inf, "frontier": ()}
    run = change(run, "privacy", **gone, verdict="no evidence", gaps=(Powerless(),))
    text = Page(html.render(run)).text
    assert "no leak, however large, on an event as likely as the main one tested; no probability, however" in text
    assert "No evidencethese runs would have detected no leak, however large" in text
    assert "There is no evidence on the privacy of: parity-private." in text
    assert "The black-box audit could have seen no leak (no evidence) of: parity-private." in text
    assert "No violation found at these runs, and no evidence on 1 of 1 learner." in text
    assert "The frontier" not in text


def test_witness_is_told_from_the_likelier_side(small):
    assert (
        "occurred in 50,012 of 160,000 runs (31.26 %) on Sample(n=1: (1, 0)->1), and in 29,968 of 160,000 (18.73 %) on "
        "Sample(n=1: (0, 1)->0)"
    ) in Page(small).text
    run = change_witness(only(load_small(), "parity-private"), direction="forward")
    assert "(31.26 %) on Sample(n=1: (0, 1)->0), and in" in Page(html.render(run)).text


def test_command_seed_and_versions_are_there(small):
    text = Page(small).text
    assert load_small().header.command in text
    assert "the seed 0" in text
    assert '<tr><th scope="row">numpy</th><td>2.0.0</td></tr>' in small


@pytest.mark.parametrize("learner", ["parity-private", "parity-elimination", "parity-private-careless"])
@pytest.mark.parametrize("kind", ["exact", "privacy", "utility"])
def test_missing_pieces_are_named_with_a_reason(learner, kind):
    run = load_small()
    page = Page(html.render(only(run, learner, kind)))
    present = bool(only(run, learner, kind).results)
    assert page.text.count("not computed") >= (2 if present else 1)
    assert not re.search(r"None|Undefined|nan\b", page.text)


def test_empty_run_still_reads():
    text = Page(html.render(with_results(load_small(), []))).text
    assert "No learner was audited." in text
    assert "not computed: no learner has a result yet" in text


def test_violations_controls_and_pending_tasks_are_announced():
    run = controls_missed(change(load_small(), "exact", verdict="violation", epsilon=1.0000001))
    page = html.render(planned(run, "box-tightest/exact/n1-ab"))
    text = Page(page).text
    assert "1 of 4 learners breaks a promise." in text
    assert "A violation in: parity-private." in text
    assert "Nothing final is known of: box-tightest." in text
    assert "1.0000001" in text
    assert "it convicted 0 of 1, so its silence elsewhere means less." in text
    assert "1 planned audit was not run to its end." in text
    assert "box-tightest/exact/n1-ab" in text
    assert '<div class="violation outcome">' in page


def test_a_missed_control_is_said_in_the_headline():
    page = html.render(controls_missed(load_small()))
    assert "No violation found at these runs, but a positive control was missed." in Page(page).text
    assert '<div class="violation outcome">' in page


def test_an_incomplete_run_says_so_first_and_shows_every_learner():
    run = load_small()
    lost = next(r for r in run.results if r.learner == "threshold-exponential")
    run = failed(run, lost, "RuntimeError: <oops>")
    run = replace(run, results=tuple(r for r in run.results if r.kind != "exact"))
    page = html.render(run)
    text = Page(page).text
    assert '<p class="headline"><strong>Incomplete: 4 of 16 planned audits have no result.</strong></p>' in page
    assert '<div class="undecided outcome">' in page
    assert "Among the results there is no violation." in text
    assert "known of: parity-private, parity-elimination, threshold-exponential. 1 audit failed. 3 planned" in text
    assert "No violation found at these runs" not in text
    assert '<span class="undecided tag">failed: privacy</span>' in page
    assert "Failedprivacy: RuntimeError: <oops>" in text
    assert "unknownno audit has a result" in text
    assert f"{lost.task}: failed, RuntimeError: <oops>" in text


def test_a_learner_without_evidence_gets_no_green_badge_but_one_of_its_own():
    run = only(load_small(), "parity-private", "privacy")
    assert '<span class="clear tag">no violation found</span>' in html.render(run)
    page = html.render(change(run, "privacy", verdict="no evidence", gaps=(Identical(2),)))
    assert '<span class="clear tag">' not in page
    assert '<span class="no-evidence tag">no evidence: privacy</span>' in page
    assert '<div class="no-evidence outcome">' in page
    assert "black box: no evidence" in page
    assert "both inputs are the same in all of 2 pairs" in page


def test_the_page_has_contents_and_folds_what_is_long(small):
    page = Page(small)
    links = [a["href"][1:] for tag, a in page.attributes if tag == "a" and a["href"].startswith("#")]
    sections = ["learners", "controls", "ledger", "calibration", "reading", "details", "control-details", "remake"]
    assert links[: len(sections)] == sections
    folded = [a.get("id") for tag, a in page.attributes if tag == "details"]
    assert folded == [None, None, "learner-4"]  # the power of two audits, and the control
    assert not any("open" in a for tag, a in page.attributes if tag == "details")
    # Of a control that running it convicted, the witness says all.
    control = small[small.index('<details class="learner"') :]
    assert "These runs detect" not in control[: control.index("</details>")]
    assert "details { display: none; }" in small.partition("@media print")[2].replace("nav, .screen, ", "")


def test_codes_are_said_in_words():
    run = change(only(load_small(), "parity-private"), "exact", worst_atom="-1")
    run = change_witness(run, event=Cells("output", ((-1, -1), (3, 3))))
    text = Page(html.render(run)).text
    assert "at the output -1 (failure)" in text
    assert "The event “output in {-1, 3} (-1: failure)” occurred" in text
    run = put(run, replace(first(run, "privacy"), decoded={"-1": "failure", "3": "parity 3"}))
    assert "The event “output in {-1, 3} (-1: failure, 3: parity 3)” occurred" in Page(html.render(run)).text


def test_a_run_of_schema_version_1_tells_its_events_in_its_own_words(small):
    old = html.render(load_run(GOLDEN / "run_small_v1.jsonl"))
    differs = [(a, b) for a, b in zip(old.splitlines(), small.splitlines(), strict=True) if a != b]
    # Version 1 said of a vacuous claim that it holds.
    assert [a for a, _ in differs if "<dt>Witness</dt>" not in a and "vacuous" not in a] == []
    # The witnesses of three black-box audits: version 1 knew the words of an event alone.
    fixed, bets, control = [(a, b) for a, b in differs if "<dt>Witness</dt>" in a]
    for before, after in (fixed, control):
        assert before.replace("the output is 1 or 3", "output in {1, 3}") == after
    assert bets[0].replace("made the stake exp(1.25) times larger", "raised the stake by exp(1.25)") == bets[1]


def test_instances_of_one_learner_are_one_learner():
    run = only(load_small(), "parity-private")
    run = put(run, replace(run.results[0], parameters={**run.results[0].parameters, "dimension": 3}))
    assert "1 learner in 2 instances, against what each promises" in Page(html.render(run)).text


def test_contradiction_and_several_audits_are_told():
    run = change(only(load_small(), "parity-private"), "privacy", epsilon_lower=0.6, warnings=("few runs",))
    twin = replace(first(run, "exact"), task="twin")
    text = Page(html.render(with_results(run, [*run.results, twin]))).text
    assert "The black-box lower bound exceeds the exact worst case." in text
    assert "This run holds 3 audits of the privacy of this learner" in text
    assert "few runs" in text


def test_delta_decides_where_the_claim_has_one():
    run = claiming(only(load_small(), "parity-private"), delta=1e-6)
    run = change(run, "exact", epsilon=math.inf, claimed_delta=1e-6, delta_at_claim=2.5e-7)
    text = Page(html.render(run)).text
    assert "delta 1e-06" in text
    assert "delta at the claimed epsilon: 2.500e-7" in text
    assert "epsilon is infinite (exact)" in text


def full_of(words):
    """Return a run in which everything that others say is `words`."""
    run = claiming(only(load_small(), "parity-private"), source=words, claim_id=words)
    cases = [r for r in run.results if r.kind == "utility"]
    run = put(run, *(replace(r, arguments=replace(r.arguments, case=words)) for r in cases))
    run = put(run, *(retold(r, concept=words, failure=words, claim_id=words) for r in run.results if r in cases))
    origin = Origin(text=words)
    run = change_witness(run, event=Told(words), data=words, neighbour=words, origin=origin)
    run = change(
        run, "privacy", warnings=(words,), distinguisher=words, scores=(words,), origins=(origin,), bound=words
    )
    run = change(run, "exact", worst_atom=words, pair_in_words=PairInWords(words, words, origin))
    renamed = (replace(r, learner=words, parameters={words: words}) for r in run.results)
    run = planned(replace(run, results=tuple(renamed)), f"{words}/exact/n1-ab")
    told = {"command": words, "profile": words, "versions": {words: words}, "sources": {words: words}}
    return replace(run, header=replace(run.header, faults=(Fault(words, words),), **told))


def test_words_of_a_learner_cannot_become_markup():
    evil = "<script>alert('x')</script>\"><img src=x onerror=y>&{{ 7*7 }}"
    page = Page(html.render(full_of(evil)))
    assert not {"script", "img"} & set(page.tags)
    assert evil in "".join(page.words)
    assert "49" not in "".join(page.words).replace("491", "")


def test_words_of_a_learner_cannot_change_how_a_page_reads():
    page = html.render(full_of("a\x1b[2J\u202eb\ud800\x00\x85\nc"))
    page.encode()
    assert page.count("a\\x1b[2J\\u202eb\\ud800\\x00\\x85\\nc") >= 30
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", page)


def test_same_results_same_bytes(small):
    run = load_small()
    assert html.render(run) == small
    assert html.render(replace(run, results=run.results[::-1])) == small


def luminance(colour):
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_in_both_themes():
    css = (TEMPLATES / "report.css").read_text()
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{([^}]*--[^}]*)\}", css)
    ]
    assert len(themes) == 2
    for theme in themes:
        for text in ("text", "quiet", "link", "figure-ink"):
            assert contrast(theme[text], theme["page"]) >= 4.5, text
        for name in ("violation", "undecided", "clear"):
            assert contrast(theme[name], theme[f"{name}-back"]) >= 4.5, name
            assert contrast(theme["text"], theme[f"{name}-back"]) >= 4.5, name
        for line in ("exact", "claim", "bound", "other"):
            assert contrast(theme[f"figure-{line}"], theme["page"]) >= 3, line
        assert contrast(theme["figure-exact"], theme["figure-area"]) >= 3
        assert contrast(theme["text"], theme["panel"]) >= 4.5
