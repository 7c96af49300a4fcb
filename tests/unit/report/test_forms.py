"""The reports for other tools: JUnit, SARIF and Markdown, and the choice of a format by suffix."""

import json
import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from pages import many
from reporter_runs import change, controls_missed, failed, load_small, only
from test_html import full_of
from toy_records import privacy_finding, result, run_of

from dpaudit.app.audits import rendered, suffix_of
from dpaudit.app.options import FORMS
from dpaudit.audit.checks_and_gaps import Identical
from dpaudit.contract import PrivacyVerdict, TaskVerdict, UtilityVerdict
from dpaudit.errors import InputError
from dpaudit.evidence.records import Fault
from dpaudit.report.formats import escaped, junit, markdown, promises, sarif
from dpaudit.report.summary import summarise

RENDERERS = [junit, markdown, sarif]


def troubled():
    """Return a run with a violation, a missed control, no evidence, an undecided accuracy, a failure and a fault."""
    run = controls_missed(load_small())
    run = change(run, "exact", verdict="violation", epsilon=1.5, epsilon_at_claim=1.5)
    run = change(run, "utility", "claim", verdict="undecided")
    lost = next(r for r in run.results if r.learner == "threshold-exponential")
    run = failed(run, lost, "RuntimeError: <oops> & more")
    return replace(run, header=replace(run.header, faults=(Fault("poor", "ValueError: no"),)))


def silent():
    run = only(load_small(), "parity-private", "privacy")
    return change(run, "privacy", verdict="no evidence", gaps=(Identical(2),))


def outcomes():
    return promises(summarise(troubled()))


def test_every_promise_has_an_outcome():
    found = {(p.mechanism, p.subject): (p.rule, p.verdict) for p in outcomes()}
    assert found["parity-private-careless", "control"] == ("missed-control", TaskVerdict.MISSED)
    assert found["parity-private", "privacy"] == ("privacy-violation", PrivacyVerdict.VIOLATION)
    assert found["parity-private", "accuracy"] == ("accuracy-undecided", UtilityVerdict.UNDECIDED)
    assert found["parity-elimination", "privacy"] == ("", TaskVerdict.NO_CLAIM)
    assert found["threshold-exponential", "privacy"] == ("audit-not-finished", TaskVerdict.FAILED)
    assert [p.verdict.rank for p in outcomes()] == sorted(p.verdict.rank for p in outcomes())
    told = {p.subject: p.text for p in outcomes() if p.mechanism == "parity-private"}
    assert told["privacy"].startswith(
        "Violation. It claims ε = 1, has 1.50 (exact), shows ≥ 0.500. Because: output 0 on"
    )
    assert "Accuracy" not in told["privacy"]
    assert told["accuracy"].startswith("Accuracy: undecided. It fails in 50.3 % of runs, 60.0 % allowed. Because:")


def test_junit_has_the_usual_shape():
    root = ElementTree.fromstring(junit(troubled()))
    assert root.tag == "testsuites"
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.attrib["name"]
        properties, *cases = suite
        assert [(p.attrib["name"], p.attrib["value"]) for p in properties] == [("seal", load_small().total)]
        counted = {"tests": len(cases)}
        for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            counted[name] = sum(case.find(tag) is not None for case in cases)
        for name, number in counted.items():
            assert int(suite.attrib[name]) == number
            totals[name] += number
        for case in cases:
            assert case.tag == "testcase"
            assert set(case.attrib) == {"classname", "name"}
            assert all(case.attrib.values())
            assert [child.tag for child in case] in (["failure"], ["error"], ["skipped"], ["system-out"])
            assert all(child.text or child.attrib["message"] for child in case)
    assert {name: int(root.attrib[name]) for name in totals} == totals
    assert totals["failures"] == 2
    assert totals["skipped"] == 1
    assert totals["errors"] == 2  # the audit that failed, and the mechanism that could not be planned
    failures = {case.attrib["classname"]: case.find("failure").attrib for case in root.iter("testcase")
                if case.find("failure") is not None}  # fmt: skip
    assert failures["parity-private"]["type"] == "privacy-violation"
    assert "has 1.50 (exact)" in failures["parity-private"]["message"]


def test_no_evidence_is_skipped_and_warned_of():
    case = next(ElementTree.fromstring(junit(silent())).iter("testcase"))
    assert "both inputs are the same" in case.find("skipped").attrib["message"]
    (found,) = json.loads(sarif(silent()))["runs"][0]["results"]
    assert (found["ruleId"], found["level"]) == ("no-evidence", "warning")
    assert "1 without evidence" in markdown(silent())


def test_sarif_has_what_its_schema_requires():
    document = json.loads(sarif(troubled()))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "dpaudit"
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == 2
    assert len(run["results"]) == 3
    prints = set()
    for found in run["results"]:
        assert rules[found["ruleIndex"]] == found["ruleId"]
        assert found["level"] in ("error", "warning")
        assert found["message"]["text"]
        assert found["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
        prints.add(found["partialFingerprints"]["promise/v1"])
    assert len(prints) == 3
    assert json.loads(sarif(load_small()))["runs"][0]["results"] == []
    assert json.loads(sarif(load_small()))["runs"][0]["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize(
    ("place", "uri"),
    [("src/my.py:noisy", "src/my.py"), ("src\\my.py:noisy", "src/my.py"), ("package.module:noisy", None)],
)
def test_a_function_of_a_file_is_found_there(place, uri):
    one = result("privacy", finding=privacy_finding("violation"), learner=place)
    (found,) = json.loads(sarif(run_of(one)))["runs"][0]["results"]
    (location,) = found["locations"]
    assert location["logicalLocations"][0]["name"] == "noisy"
    physical = location.get("physicalLocation", {}).get("artifactLocation", {}).get("uri")
    assert physical == uri


def test_markdown_says_the_answer_first_and_folds_what_is_calm():
    text = markdown(troubled())
    assert text.startswith("## The audit is blind: it missed the planted fault of parity-private-careless.\n")
    assert "**Violation.** It claims ε = 1, has" in text
    assert "- **parity-private**: " in text
    assert "RuntimeError: &lt;oops&gt; &amp; more" in text
    assert text.count("```") == 2
    calm = markdown(many(load_small()))
    assert calm.startswith("## No violation found in 24 privacy claims.\n")
    assert "<details><summary>Consistent, or without a claim: 36</summary>\n\n| Mechanism |" in calm
    tables = [line for line in calm.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1
    assert len(calm.encode()) < 100_000


def test_markdown_escapes_what_it_would_obey():
    assert escaped("a|b <i> *c* [d](e) @me #1 `x`") == r"a\|b &lt;i&gt; \*c\* \[d\](e) &#64;me \#1 \`x\`"


@pytest.mark.parametrize("render", RENDERERS)
def test_hostile_words_stay_words(render):
    evil = "<script>alert('x')</script>\"]]>&{{ 7*7 }}|\x1b[2J\u202e\ud800\x00\n# a"
    text = render(full_of(evil))
    text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]", text)
    if render is junit:
        assert any("<script>" in case.attrib["classname"] for case in ElementTree.fromstring(text).iter("testcase"))
    if render is markdown:
        fence = text.index("```")
        assert "<script" not in text[:fence]


@pytest.mark.parametrize("render", RENDERERS)
def test_same_results_same_bytes(render):
    run = load_small()
    assert render(run) == render(replace(run, results=run.results[::-1]))


def test_the_suffix_names_the_format():
    assert {f".{suffix_of(f'x/report{suffix}')}" for suffix in FORMS} == set(FORMS)
    assert suffix_of("REPORT.MD") == "md"
    with pytest.raises(InputError, match=re.escape(f"a file that ends in {', '.join(FORMS)}")):
        suffix_of("report.docx")


@pytest.mark.parametrize("suffix", FORMS)
def test_every_format_takes_a_run_and_a_single_finding(suffix):
    run = load_small()
    single = change(only(run, "parity-private", "privacy"), "privacy", verdict="violation", epsilon_lower=2.0)
    assert rendered(run, suffix[1:]) != rendered(single, suffix[1:])
    assert "parity-private" in rendered(single, suffix[1:])
