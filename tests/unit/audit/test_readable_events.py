"""Where a feature says what a score says, findings name the feature."""

from __future__ import annotations

import html
import math
import re

import msgspec
import numpy as np
import pandas as pd
import pytest

import dpaudit
from dpaudit import certificates
from dpaudit.app import main
from dpaudit.app.options import FORMS
from dpaudit.events.event import Interval
from dpaudit.report.words.events import answer_words


def of_another_length(x, rng):
    return list(rng.normal(size=3 + 2 * x))


def of_another_key(x, rng):
    return {"a" if rng.random() < 0.2 + 0.6 * x else "b": rng.normal()}


def raising(x, rng):
    if rng.random() < 0.3 * x:
        raise ValueError(f"at {rng.random()}")
    return rng.normal()


def telling(x, rng):
    return f'{{"id": {rng.integers(10**6)}, "total": {3 * x + rng.laplace():.3f}}}'


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (of_another_length, "len(output) < "),
        (of_another_key, "keys of output = {'"),
        (raising, "raised ValueError: "),
        (telling, "json.loads(output)['total'] < "),
    ],
)
def test_the_event_is_one_that_a_person_reads_off_the_output(mechanism, words):
    finding = dpaudit.audit_privacy(mechanism, [(0, 1)], epsilon=1.0, trials=3_000, seed=0)
    assert finding.verdict == "violation"
    assert words in " ".join(str(finding).split())


def mean(data, rng):
    """Return the mean of values between 0 and 1 with Laplace noise, without looking for NaN."""
    return float(np.clip(data, 0.0, 1.0).sum()) / 10 + rng.laplace(scale=0.1)


@pytest.mark.parametrize(
    ("mechanism", "subject"),
    [
        (mean, "output"),
        (lambda data, rng: np.float32(mean(data, rng)), "output"),
        (lambda data, rng: {"mean": mean(data, rng), "rows": 10}, "output['mean']"),
    ],
    ids=["float", "float32", "part"],
)
def test_an_output_that_becomes_nan_is_called_so(mechanism, subject):
    whole, broken = [0.5] * 10, [0.5] * 9 + [math.nan]
    # Seen from either side, the likelier one first.
    for pair, words in (((whole, broken), f"{subject} is not NaN: "), ((broken, whole), f"{subject} is NaN: ")):
        finding = dpaudit.audit_privacy(mechanism, [pair], epsilon=1.0, trials=3_000, seed=0)
        assert finding.verdict == "violation"
        assert words in " ".join(str(finding).split())


def test_a_nan_that_was_added_to_the_data_is_called_so():
    finding = dpaudit.audit_privacy(
        mean, data=dpaudit.Dataset([i / 10 for i in range(10)], bounds=(0, 1)), epsilon=1.0, trials=2_000, seed=0
    )
    assert finding.verdict == "violation"
    text = " ".join(str(finding).split())
    assert "output is not NaN: 100 % on " in text
    assert "never on a record with NaN (outside the bounds)" in text


class Notes:
    """Outputs of several parts, of which one differs."""

    @staticmethod
    def dictionary(x, rng):
        return {"a": float(rng.normal()), "b": float(10 * x + rng.normal())}

    @staticmethod
    def nested(x, rng):
        return {"stats": {"mean": float(10 * x + rng.normal()), "rows": 5}}

    @staticmethod
    def table(x, rng):
        return pd.DataFrame({"a": rng.normal(size=3), "b": 10 * x + rng.normal(size=3)})

    @staticmethod
    def series(x, rng):
        return pd.Series(Notes.dictionary(x, rng))

    @staticmethod
    def cities(x, rng):
        return {"Paris": int(rng.integers(50))} | ({"Nice": int(rng.integers(50))} if x else {})

    @staticmethod
    def records(x, rng):
        return [{"a": a, "b": b + 3 * x} for a, b in rng.normal(size=(3, 2))]


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (Notes.dictionary, r"output\['b'\] (<|>=) -?[\d.]+"),
        (Notes.nested, r"output\['stats'\]\['mean'\] (<|>=) -?[\d.]+"),
        (Notes.table, r"output\['b'\]\[\d\] (<|>=) -?[\d.]+"),
        pytest.param(Notes.series, r"output\['b'\] (<|>=) -?[\d.]+", marks=pytest.mark.full),  # as a table's
        (Notes.cities, "no key 'Nice'|output has the key 'Nice'"),
        (Notes.records, r"output\[\d\]\['b'\] (<|>=) -?[\d.]+"),
    ],
)
@pytest.mark.parametrize("sequential", [False, True])
def test_an_event_over_a_score_is_shown_by_one_of_a_part(mechanism, words, sequential):
    finding = dpaudit.audit_privacy(
        mechanism, [(0, 1)], epsilon=0.5, trials=2_000, seed=0, execution=dpaudit.Execution(sequential=sequential)
    )
    assert finding.verdict == "violation"
    shown = finding.witness.plain
    assert shown is not msgspec.UNSET
    # It holds of the outputs as it says, on runs of which the audit has seen none.
    rng = np.random.default_rng(7)
    likely, other = (0, 1) if shown.direction == "forward" else (1, 0)
    rates = [shown.event.holds([mechanism(x, rng) for _ in range(500)]).mean() for x in (likely, other)]
    assert rates == pytest.approx(shown.rates, abs=0.25 if sequential else 0.15)
    assert re.search(f"because +({words}): ", " ".join(str(finding).split()))
    assert f"{shown.hits:,} of {shown.trials:,} against" in finding.summary()
    assert f"in {shown.trials + shown.neighbour_trials} runs" in " ".join(str(finding).split())


def test_every_format_has_the_event(tmp_path, capsys):
    file = tmp_path / "cities.py"
    file.write_text(
        "PAIRS = [(0, 1)]\n\ndef cities(x, rng):\n"
        "    return {'Paris': int(rng.integers(50))} | ({'Nice': int(rng.integers(50))} if x else {})\n"
    )
    out = str(tmp_path / "report.json")
    assert main(["privacy", f"{file}:cities", "--epsilon", "0.5", "--trials", "2000", "--out", out]) == 1
    words = re.compile("no key 'Nice'|output has the key 'Nice'")
    assert words.search(" ".join(capsys.readouterr().out.split()))
    for suffix in FORMS.keys() - {".json"}:
        path = tmp_path / f"report{suffix}"
        main(["report", out, "--out", str(path)])
        assert words.search(html.unescape(path.read_text().replace("\\", ""))), suffix


def test_an_event_that_says_all_has_no_other_beside_it():
    finding = dpaudit.audit_privacy(lambda x, rng: x, [(0, 1)], epsilon=1.0, trials=2_000, seed=0)
    assert finding.verdict == "violation"
    assert finding.witness.plain is msgspec.UNSET


def test_a_part_that_is_nan_or_absent_is_an_event_of_its_own():
    outputs = [{"m": math.nan}, {"m": 1.0}, {}, 3.0, '{"m": NaN}', math.nan, np.float32("nan")]
    assert Interval("NaN", 0.5, math.inf, ("m",)).holds(outputs).tolist() == [True, *[False] * 3, True, False, False]
    assert Interval("NaN", 0.5, math.inf).holds(outputs).nonzero()[0].tolist() == [5, 6]
    assert Interval("present", -math.inf, 0.5, ("m",)).holds(outputs).nonzero()[0].tolist() == [2, 3, 5, 6]
    ends = ((0.5, 1.0), (0.0, 0.5))
    words = [answer_words(Interval(name, *between, ("m",))) for name in ("NaN", "present") for between in ends]
    assert words == ["output['m'] is NaN", "output['m'] is not NaN", "output has the key 'm'", "no key 'm'"]
    assert answer_words(Interval("present", -math.inf, 0.5, ("a", 1))) == "no element 1 in output['a']"


def test_the_certificate_calls_a_nan_so_too():
    def divided(x, rng):
        return math.nan if x and rng.random() < 0.8 else float(rng.normal())

    pairs = [(0, 1)]
    finding = dpaudit.audit_privacy(divided, pairs, epsilon=1.0, trials=3_000, seed=0)
    made = certificates.make(finding, pairs, mechanism=divided)
    assert answer_words(made.event) in ("output is NaN", "output is not NaN")
    assert made.epsilon_lower > 0.8 * finding.epsilon_lower


@pytest.mark.parametrize("sequential", [False, True])
def test_codes_of_hypotheses_are_not_taken_for_numbers(sequential):
    learner = dpaudit.pac.get_learner("point-consistent", domain_size=12)
    finding = dpaudit.audit_privacy(
        learner, epsilon=0.5, delta=0.0, trials=2_000, execution=dpaudit.Execution(sequential=sequential)
    )
    assert finding.verdict == "violation"
    assert finding.witness.plain is msgspec.UNSET
