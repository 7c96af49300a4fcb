"""The auditor audited: what the package carries agrees with itself, and what is shown of it."""

import json
import re

import pytest
from msgspec import convert
from msgspec.structs import asdict, replace
from reporter_runs import load_small
from scipy.stats import binom

from dpaudit.errors import ToolFault
from dpaudit.record import encodable
from dpaudit.report import calibration, calibration_record, html
from dpaudit.report.calibration_record import Calibration, NullCell, PowerCell, load_calibration

CELL = NullCell(
    mechanism="geometric", outputs="discrete", delta=0.0, condition="boundary", design="fixed", runs=1000, pairs=1,
    jobs=1, audits=200, accused=4, rate=0.02, lower=0.005, upper=0.05, p_value=0.99, level=0.05, broken=False,
)  # fmt: skip
COUNTED = {name: value for name, value in asdict(CELL).items() if name != "level"} | {"rate": 0.75, "accused": 150}
LEAK = PowerCell(**COUNTED, removed=0.1, epsilon=1.1111, predicted=2872, factor=1)
SMALL = convert(
    {
        "schema_version": 1,
        "profile": "full",
        "seed": 0,
        "versions": {"dpaudit": "0.1.0"},
        "level": 0.05,
        "power_promised": 0.95,
        "false_accusations": [CELL, replace(CELL, mechanism="bits", accused=60, rate=0.3, p_value=0.0, broken=True)],
        "power": [replace(LEAK, design="given", rate=0.96), LEAK, replace(LEAK, factor=3, rate=0.9)],
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
    },
    Calibration,
)


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setattr(html, "load_calibration", lambda: SMALL)
    return html.render(load_small())


def test_sentences_tell_rates_misses_and_broken_promises():
    false, power, missed, sound = calibration.rates(SMALL)
    assert "64 of 400 audits of claims that hold find a violation, 16 % where 5 % is allowed, in 2 settings" in false
    assert "worst has 30 %" in false
    assert "in 96 % of audits by given events (worst case 96 %), in 90 % of audits by learned events" in power
    assert "1 of 2 learners with a planted leak are detected at 3,000 runs a side" in missed
    assert "not detected: broken-two" in missed
    assert sound.startswith("Sound learners: in 0 of 1")
    assert calibration.broken_promises(SMALL) == ["Broken promise: accuses too often: bits"]


def test_tables_mark_what_breaks_a_promise():
    null, alternative, controls = calibration.tables(SMALL)
    assert null.broken == (False, True)
    assert controls.broken == (False, True)
    assert alternative.rows == (
        ("geometric", "10 %", "1.111", "2,872", "0.960 (200)", "0.750 (200)", "0.900 (200)", "-", "-", "-", "-"),
    )
    for table in (null, alternative, controls):
        assert all(len(row) == len(table.heads) for row in table.rows)


def test_the_report_tells_how_often_the_auditor_errs_and_what_it_promised_in_vain(page):
    section = page[page.index("How often the auditor errs") : page.index("</details></section>")]
    assert section.count("<li>") == 5
    assert section.index("Broken promise: accuses too often: bits") < section.index("False positives: ")
    assert not re.search(r"\bpass", section, re.IGNORECASE)


def test_the_report_has_the_same_bytes_again(page):
    assert html.render(load_small()) == page


def test_a_package_without_a_calibration_says_so(monkeypatch):
    monkeypatch.setattr(html, "load_calibration", lambda: None)
    assert "this package carries no calibration" in html.render(load_small())


@pytest.mark.parametrize(
    ("change", "words"),
    [({"schema_version": 2}, "schema_version"), ({"more": 1}, "more"), ({"level": 1.5}, r"\$\.level")],
)
def test_anything_else_than_a_calibration_is_refused(monkeypatch, tmp_path, change, words):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "calibration.json").write_text(json.dumps({**encodable(SMALL), **change}))
    monkeypatch.setattr(calibration_record, "files", lambda package: tmp_path)
    with pytest.raises(ToolFault, match=words):
        load_calibration()
    monkeypatch.setattr(calibration_record, "files", lambda package: tmp_path / "nowhere")
    assert load_calibration() is None


# What the package carries.


@pytest.fixture(scope="module")
def carried():
    found = load_calibration()
    assert found is not None
    return found


def test_counts_rates_and_p_values_of_the_carried_calibration_agree(carried):
    for cell in [*carried.false_accusations, *carried.power]:
        assert cell.rate == pytest.approx(cell.accused / cell.audits, abs=1e-6)
        assert cell.lower <= cell.rate <= cell.upper
    for cell in carried.false_accusations:
        assert cell.p_value == pytest.approx(binom.sf(cell.accused - 1, cell.audits, cell.level), rel=1e-2)
    for cell in carried.power:
        if cell.p_value is not None:
            promised = 0.95 if "given" in cell.design else 0.9
            assert cell.p_value == pytest.approx(binom.cdf(cell.accused, cell.audits, promised), rel=1e-2)
    # Nothing is hidden: whatever is marked is told.
    marked = [c for c in [*carried.false_accusations, *carried.power] if c.broken]
    missed = [c for c in carried.mutation.controls if not c.convicted]
    assert len(carried.broken) >= len(marked) + len(missed)


def test_the_carried_calibration_is_the_full_one(carried):
    null = carried.false_accusations
    learned = [cell for cell in null if cell.design != "given"]
    if carried.profile != "full":
        pytest.skip("the package carries a quick calibration: run scripts/calibrate.py --profile full")
    assert sum(cell.audits for cell in learned) >= 2_000
    assert {cell.outputs for cell in learned} == {"discrete", "continuous", "vector", "mixed"}
    assert {cell.design for cell in learned} == {"fixed", "strict", "sequential"}
    assert {cell.condition for cell in null} == {"boundary", "swapped", "no signal", "wrong sign"}
    for name, values in (("pairs", {1, 32}), ("jobs", {1, 2})):
        assert {getattr(cell, name) for cell in learned} == values
    assert {cell.delta > 0 for cell in learned} == {True, False}
    assert len(carried.mutation.controls) >= 80
    assert not re.search(r"20\d\d-\d\d", json.dumps(encodable(carried)))


def test_the_carried_calibration_can_be_shown(carried):
    assert all(table.rows for table in calibration.tables(carried))
    assert len(calibration.rates(carried)) == 4
