"""Exceptions are told by their names at any number of runs, and sums of named numbers as formulas."""

from __future__ import annotations

import html
import math
import re

import numpy as np
import pytest
from msgspec import UNSET, structs
from toy_records import privacy_finding

import dpaudit
from dpaudit.app import main
from dpaudit.app.options import FORMS
from dpaudit.audit.finding import PlainEvent, _coarse_event, _coarse_plain_event
from dpaudit.contract import Direction
from dpaudit.events.event import Cells, Interval, Withheld
from dpaudit.events.exceptions import ExceptionKinds, as_exceptions, by_name, exceptions_of
from dpaudit.events.formula import LEAST_HITS, Formula, _written, sum_event
from dpaudit.naming import Mention, Mentioned, Name, position
from dpaudit.outputs.canonical import Raised, timed_out
from dpaudit.report.words.events import answer_words
from dpaudit.report.words.privacy import shown_event
from dpaudit.withheld import Coarse


class Unusual(Exception):
    """An exception of the mechanism."""


def divides(x, rng):
    return 1 / (1 - x) + rng.laplace()


def sometimes(x, rng):
    if rng.random() < (0.5 if x else 0.02):
        raise KeyError(f"at {rng.random()}")
    return (rng.normal(), "a")


def of_two_kinds(x, rng):
    if rng.random() < (0.6 if x else 0.02):
        raise (Unusual if rng.random() < 0.5 else ValueError)("no")
    return rng.normal()


def of_one_of_two(x, rng):
    if rng.random() < 0.5:
        raise (Unusual if rng.random() < (0.95 if x else 0.05) else ValueError)("no")
    return (rng.normal(), "a")


def told(finding):
    assert finding.verdict == "violation"
    return " ".join(str(finding).split()).partition(" because ")[2]


@pytest.mark.parametrize("trials", [60, 100, 300, 2_000])
def test_a_division_by_zero_is_told_by_its_name_at_any_number_of_runs(trials):
    for pair, direction in (((0, 1), "backward"), ((1, 0), "forward")):
        finding = dpaudit.audit_privacy(divides, [pair], epsilon=1.0, trials=trials)
        assert told(finding).startswith("raised ZeroDivisionError: 100 % on 1, never on 0")
        shown = finding.witness.plain or finding.witness
        assert shown.direction == direction


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (sometimes, "raised KeyError: "),
        (of_two_kinds, "raised Unusual or ValueError: "),
    ],
)
def test_exceptions_of_some_runs_are_told_by_their_names(mechanism, words, sequential):
    finding = dpaudit.audit_privacy(
        mechanism, [(0, 1)], epsilon=1.0, trials=1_000, execution=dpaudit.Execution(sequential=sequential)
    )
    assert told(finding).startswith(words)
    assert dpaudit.PrivacyFinding.from_dict(finding.to_dict()) == finding


def test_one_of_two_exceptions_is_told_apart():
    assert re.match("raised (Unusual|ValueError): ", told(dpaudit.audit_privacy(
        of_one_of_two, [(0, 1)], epsilon=1.0, trials=1_000)))  # fmt: skip


def test_a_timeout_is_told_with_its_limit():
    import time

    def hangs(x, rng):
        while x:
            time.sleep(0.01)
        return rng.normal()

    # On a busy machine a run that does not hang may be late too. If a tenth of them is, 1 audit of 100 misses the leak,
    # and if three tenths are, 8 (of 100 simulated audits each; with 30 runs 20 and 47). If none is, none does.
    finding = dpaudit.audit_privacy(hangs, [(0, 1)], epsilon=1.0, trials=60, timeout=0.02, confidence=0.9)
    assert re.match(r"timed out after 0\.02 s: 100 % on 1, (never|[\d.]+ %) on 0", told(finding))


def test_every_format_names_the_exception(tmp_path, capsys):
    file = tmp_path / "divides.py"
    file.write_text("PAIRS = [(0, 1)]\n\ndef divides(x, rng):\n    return 1 / (1 - x) + rng.laplace()\n")
    out = str(tmp_path / "report.json")
    assert main(["privacy", f"{file}:divides", "--epsilon", "1", "--trials", "80", "--out", out]) == 1
    assert "raised ZeroDivisionError" in " ".join(capsys.readouterr().out.split())
    for suffix in FORMS.keys() - {".json"}:
        path = tmp_path / f"report{suffix}"
        main(["report", out, "--out", str(path)])
        assert "raised ZeroDivisionError" in html.unescape(path.read_text().replace("\\", "")), suffix


def test_kinds_are_those_of_training_and_others_have_a_cell_of_their_own():
    outputs = [1.0, Raised(KeyError("a")), Raised(KeyError("b")), timed_out(0.5)]
    kinds = exceptions_of(outputs)
    assert kinds == ExceptionKinds(("KeyError", "timed out after 0.5 s"))
    assert kinds([*outputs, Raised(ValueError())]).tolist() == [0, 1, 1, 2, 3]
    assert kinds(np.zeros(3)).tolist() == [0, 0, 0]
    assert exceptions_of(outputs[1:]) is None  # nothing to tell them from
    assert exceptions_of([1.0]) is None
    assert by_name(outputs, [True] * 4) == Cells.of_values("exception", kinds.kinds)
    assert by_name(outputs, [True, False, False, False]) is None


def test_an_event_that_holds_other_outputs_too_is_left_as_it_is():
    class Holds:
        """A selection that holds the negative numbers and, of exceptions, as many as it says."""

        def __init__(self, *cells):
            self.cells, self.event = cells, self

        def discretizer(self, outputs):
            return np.array([7 if type(one) is Raised else int(one < 0) for one in outputs])

        def has(self, cell):
            return cell in self.cells

    sides = [[-1.0, 1.0, Raised(KeyError())], [-1.0, 1.0, 2.0]]
    assert as_exceptions(Holds(7), sides)[1][0] == {0: 2, 1: 1}
    assert as_exceptions(Holds(0, 1), sides) is not None  # that there was none
    assert as_exceptions(Holds(1, 7), sides) is None
    assert as_exceptions(Holds(0), sides) is None
    assert as_exceptions(Holds(7), [np.zeros(3), np.zeros(3)]) is None


def test_names_of_exceptions_of_the_mechanism_are_withheld_and_others_are_not():
    coarse = Coarse()
    assert all(map(coarse.value, ["ZeroDivisionError", "no exception", "timed out after 0.05 s", "another exception"]))
    assert not any(map(coarse.value, ["Unusual", "timed out after Zeb", "timed out after 5 s, Zeb"]))


# Formulas

COUPLING = 0.5


def joint(data, rng, size):
    """Return two releases, each of which keeps its own claim of mu = 1."""
    first, second = rng.normal(data, 1, size), rng.normal(COUPLING * data, 1, size)
    return [{"client_a": a, "client_b": b} for a, b in zip(first.tolist(), second.tolist(), strict=True)]


def test_a_score_of_named_numbers_is_told_as_a_formula():
    finding = dpaudit.audit_privacy(
        joint, [(1.0, 0.0)], claim=dpaudit.PrivacyClaim.gaussian(1.0), trials=20_000, confidence=0.95, batched=True
    )
    assert re.match(r"client_a \+ 0\.[4-6]\d? client_b (<|>=) -?[\d.]+: ", told(finding))
    assert "linear discriminant" not in str(finding)
    assert finding.witness.plain.hits <= finding.witness.plain.trials


def test_a_formula_has_few_terms_and_few_digits_and_holds_what_it_says():
    rng = np.random.default_rng(0)
    sides = [rng.normal(x * np.array([2.0, 0.0, -1.0, 0.0]), 1, (4_000, 4)) for x in (0, 1)]
    formula = Formula.fit(*sides)
    assert formula.name == "output[0] - 0.5 output[2]"
    assert formula(sides[0]).tolist() == pytest.approx((sides[0][:, 0] - 0.5 * sides[0][:, 2]).tolist())
    event, direction, ((x, m), (y, k)) = sum_event(sides, 1.0, 0.0)
    assert isinstance(event, Interval)
    likely = formula(sides[1 if direction is Direction.BACKWARD else 0])
    assert x == ((event.low <= likely) & (likely < event.high)).sum()
    assert x / m > math.e * y / k


def test_numbers_of_other_sizes_have_coefficients_of_theirs():
    rng = np.random.default_rng(0)
    sides = [[(1000 * a, b, "n") for a, b in rng.normal(x, 1, (2_000, 2)).tolist()] for x in (0, 1)]
    assert Formula.fit(*sides).name == "0.001 output[0] + output[1]"


def test_noise_that_two_numbers_share_cancels_in_their_difference():
    """A penalty on weights leaves the shared noise, in which the shift of 1 does not show."""
    rng = np.random.default_rng(0)
    sides = []
    for x in (0, 1):
        shared = rng.laplace(scale=20, size=500)
        sides.append(np.stack([x + shared, shared - rng.laplace(scale=0.05, size=500), rng.normal(size=500)], axis=1))
    assert Formula.fit(*sides).name == "output[0] - output[1]"
    _, _, ((x, _), (y, _)) = sum_event(sides, 1.0, 0.0)
    assert x >= 490
    assert y <= 5


@pytest.mark.parametrize(("shifted", "told_of"), [(4, False), (2 * LEAST_HITS, True)])
def test_a_sum_of_few_outputs_is_not_told(shifted: int, told_of: bool) -> None:
    outputs = np.random.default_rng(0).normal(0, 1, (500, 2))
    moved = outputs.copy()
    moved[:shifted] += 100.0
    assert (sum_event([outputs, moved], 1.0, 0.0) is not None) == told_of


def test_there_is_no_formula_where_the_claim_is_kept_or_nothing_is_named():
    rng = np.random.default_rng(0)
    alike = [rng.normal(size=(500, 2)) for _ in (0, 1)]
    assert sum_event(alike, 2.0, 0.0) is None
    assert sum_event([side[:, 0] for side in alike], 0.0, 0.0) is None
    assert Formula.fit(*(rng.normal(x, 1, (500, 40)) for x in (0, 1))) is None
    assert sum_event([side[:3] for side in alike], 0.0, 0.0) is None


CLIENTS = [Name.of("{}", Mention(one, Mentioned.TERM)) for one in ("client_a", "client_b")]
ENTRIES = [Name.of("output[{}]", position(i)) for i in (0, 3, 4)]


@pytest.mark.parametrize(
    ("feature", "names", "words"),
    [
        (_written(CLIENTS, [1.0, -0.5]), (), "a sum of multiples of some of its numbers"),
        (_written(CLIENTS, [1.0, -0.5]), ("client_a", "client_b"), "a sum of multiples of client_a and client_b"),
        (_written(ENTRIES, [-0.25, 1e-5, 1.0]), (), "a sum of multiples of output[0], output[3] and output[4]"),
        (Name("value"), (), None),
    ],
)
def test_own_data_shows_a_formula_without_its_numbers(feature, names, words):
    assert Coarse(names=frozenset(names)).sum_of(feature) == words


def test_own_data_shows_no_coefficient_and_no_threshold():
    assert _written(ENTRIES, [-0.25, 1e-5, 1.0]) == "-0.25 output[0] + 1e-05 output[3] + output[4]"
    event = Interval(_written(CLIENTS, [1.0, 0.5]), 1.57, math.inf)
    seen = PlainEvent(event, Direction.FORWARD, 300, 1_000, 30, 1_000)
    hidden = _coarse_plain_event(Coarse(names=frozenset({"client_a", "client_b"})), seen)
    assert hidden.event == Withheld("a sum of multiples of client_a and client_b")
    assert _coarse_event(Coarse(), event) == Withheld("a sum of multiples of some of its numbers")
    assert not any(digit in answer_words(hidden.event) for digit in "0123456789")
    # Where a threshold of one number may not be shown, nothing is said in simpler words, as before.
    fewer = PlainEvent(Interval("value", 1.57, math.inf), *structs.astuple(seen)[1:])
    assert _coarse_plain_event(Coarse(), fewer) is UNSET


def test_a_withheld_sum_is_shown_only_if_it_shows_as_much_as_the_event_tested():
    tested = privacy_finding("violation", epsilon_lower=5.0)
    for hits, tested_is_shown in ((30, True), (900, False)):
        plain = PlainEvent(Withheld("a sum of multiples of a and b"), Direction.FORWARD, hits, 1_000, 4, 1_000)
        finding = structs.replace(tested, witness=structs.replace(tested.witness, plain=plain))
        assert (shown_event(finding) is finding.witness) == tested_is_shown


def test_the_sum_of_a_plain_event_is_made_from_outputs_alone():
    rng = np.random.default_rng(0)
    sides = [joint(x, rng, 1_000) for x in (1.0, 0.0)]
    found = PlainEvent.of(sides, 2.2, 0.0)
    assert "client_a" in answer_words(found.event)
    assert "client_b" in answer_words(found.event)
