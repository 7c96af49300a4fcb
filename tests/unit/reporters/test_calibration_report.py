"""The auditor audited: what the package carries agrees with itself, and what is shown of it."""

import copy
import json
import re

import pytest
from reporter_runs import load_small
from scipy.stats import binom

from dpaudit.errors import InputError
from dpaudit.reporters import calibration, html

CELL = {
    "mechanism": "geometric", "outputs": "discrete", "delta": 0.0, "condition": "boundary", "design": "fixed",
    "runs": 1000, "pairs": 1, "jobs": 1, "audits": 200, "accused": 4, "rate": 0.02, "lower": 0.005, "upper": 0.05,
    "p_value": 0.99, "level": 0.05, "broken": False,
}  # fmt: skip
GUILTY = {**CELL, "removed": 0.1, "epsilon": 1.1111, "predicted": 2872, "factor": 1, "rate": 0.75, "accused": 150}
SMALL = {
    "schema_version": 1,
    "profile": "full",
    "seed": 0,
    "versions": {"dpaudit": "0.1.0"},
    "level": 0.05,
    "power_promised": 0.95,
    "false_accusations": [CELL, {**CELL, "mechanism": "bits", "accused": 60, "rate": 0.3, "p_value": 0, "broken": 1}],
    "power": [{**GUILTY, "design": "given", "rate": 0.96}, GUILTY, {**GUILTY, "factor": 2, "rate": 0.9}],
    "mutation": {
        "trials": 3000,
        "confidence": 0.999,
        "controls": [
            {"id": "broken-one", "convicted": True, "lower": 2.5, "claim": 1.0},
            {"id": "broken-two", "convicted": False, "lower": 0.5, "claim": 1.0},
        ],
        "sound": [{"id": "sound-one", "convicted": False, "lower": 0.5, "claim": 1.0}],
    },
    "broken": ["accuses too often: bits"],
}


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setattr(html, "load_calibration", lambda: SMALL)
    return html.render(load_small())


def test_sentences_tell_rates_misses_and_broken_promises():
    false, power, missed, sound, *broken = calibration.sentences(SMALL)
    assert "64 of 400 audits of claims that hold accuse, 16 % where 5 % is allowed, in 2 settings" in false
    assert "worst has 30 %" in false
    assert "given events convict in 96 % of audits (worst case 96 %), learned events convict in 90 %" in power
    assert "1 of 2 learners with a planted leak are convicted at 3,000 runs a side" in missed
    assert "not convicted: broken-two" in missed
    assert sound.startswith("Sound learners: 0 of 1")
    assert broken == ["Broken promise: accuses too often: bits"]


def test_tables_mark_what_breaks_a_promise():
    innocent, guilty, controls = calibration.tables(SMALL)
    assert innocent.broken == (False, True)
    assert controls.broken == (False, True)
    assert guilty.rows == (
        ("geometric", "10 %", "1.111", "2,872", "0.960 (200)", "0.750 (200)", "0.900 (200)", "-", "-", "-", "-"),
    )
    for table in (innocent, guilty, controls):
        assert all(len(row) == len(table.heads) for row in table.rows)


def test_the_report_shows_the_section_and_its_broken_rows(page):
    section = page[page.index('<h2 id="calibration">') : page.index('<h2 id="reading">')]
    assert "The auditor audited" in section
    assert "Broken promise: accuses too often: bits" in section
    assert section.count('<span class="violation tag">broken</span>') == 2
    assert section.count('<tr class="violation">') == 2
    assert section.count("<details>") == section.count("</details>") == section.count("<caption>") == 3
    assert not re.search(r"\bpass", section, re.IGNORECASE)


def test_the_report_has_the_same_bytes_again(page):
    assert html.render(load_small()) == page


def test_a_package_without_a_calibration_says_so(monkeypatch):
    monkeypatch.setattr(html, "load_calibration", lambda: None)
    assert "this package carries no calibration" in html.render(load_small())


def test_another_schema_version_is_refused(monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "calibration.json").write_text(json.dumps({**SMALL, "schema_version": 2}))
    monkeypatch.setattr(calibration, "files", lambda package: tmp_path)
    with pytest.raises(InputError, match="schema_version must be 1, got 2"):
        calibration.load_calibration()
    monkeypatch.setattr(calibration, "files", lambda package: tmp_path / "nowhere")
    assert calibration.load_calibration() is None


# What the package carries.


@pytest.fixture(scope="module")
def carried():
    found = calibration.load_calibration()
    assert found is not None
    return found


def test_counts_rates_and_p_values_of_the_carried_calibration_agree(carried):
    for cell in [*carried["false_accusations"], *carried["power"]]:
        assert cell["rate"] == pytest.approx(cell["accused"] / cell["audits"], abs=1e-6)
        assert cell["lower"] <= cell["rate"] <= cell["upper"]
    for cell in carried["false_accusations"]:
        assert cell["p_value"] == pytest.approx(binom.sf(cell["accused"] - 1, cell["audits"], cell["level"]), rel=1e-2)
    for cell in carried["power"]:
        if cell["p_value"] is not None:
            promised = 0.95 if "given" in cell["design"] else 0.9
            assert cell["p_value"] == pytest.approx(binom.cdf(cell["accused"], cell["audits"], promised), rel=1e-2)
    # Nothing is hidden: whatever is marked is told.
    marked = [c for c in [*carried["false_accusations"], *carried["power"]] if c["broken"]]
    missed = [c for c in carried["mutation"]["controls"] if not c["convicted"]]
    assert len(carried["broken"]) >= len(marked) + len(missed)


def test_the_carried_calibration_is_the_full_one(carried):
    innocent = carried["false_accusations"]
    learned = [cell for cell in innocent if cell["design"] != "given"]
    if carried["profile"] != "full":
        pytest.skip("the package carries a quick calibration: run scripts/calibrate.py --profile full")
    assert sum(cell["audits"] for cell in learned) >= 2_000
    assert {cell["outputs"] for cell in learned} == {"discrete", "continuous", "vector", "mixed"}
    assert {cell["design"] for cell in learned} == {"fixed", "strict", "sequential"}
    assert {cell["condition"] for cell in innocent} == {"boundary", "swapped", "no signal", "wrong sign"}
    for name, values in (("pairs", {1, 32}), ("jobs", {1, 2})):
        assert {cell[name] for cell in learned} == values
    assert {cell["delta"] > 0 for cell in learned} == {True, False}
    assert len(carried["mutation"]["controls"]) >= 80
    assert not re.search(r"20\d\d-\d\d", json.dumps(carried))


def test_the_carried_calibration_can_be_shown(carried):
    assert calibration.tables(copy.deepcopy(carried)) == calibration.tables(carried)
    assert len(calibration.sentences(carried)) == 4 + len(carried["broken"])
