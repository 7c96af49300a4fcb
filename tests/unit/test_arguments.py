"""Bad input is refused by name before any run; numbers of NumPy are numbers; what only raises is warned of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpaudit
from dpaudit.arguments import parameters_of
from dpaudit.audit.checks_and_gaps import Answer
from dpaudit.contract import PrivacyClaim
from dpaudit.errors import InputError
from dpaudit.report.words.privacy import gap_words
from tests.support.grouped import grouped

RUNS: list[int] = []


def counted(bit: int, rng: np.random.Generator) -> int:
    RUNS.append(bit)
    return int(rng.integers(2))


GOOD: dict[str, Any] = {"pairs": [(0, 1)], "epsilon": 1.0, "trials": 1000}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_jobs": 0}, r"n_jobs must be a non-zero integer, at most \d+ here \(-1 for one a processor\), got 0"),
        ({"n_jobs": 1.0}, r"n_jobs must be a non-zero integer, .*, got 1\.0"),
        ({"n_jobs": True}, "n_jobs must be a non-zero integer, .*, got True"),
        ({"n_jobs": 100_000}, "n_jobs must be a non-zero integer, at most .*, got 100000"),
        ({"n_jobs": 2, "backend": "foo"}, "backend must be one that joblib knows, got 'foo': .*loky"),
        ({"backend": ["loky"]}, r"backend must be one that joblib knows, got \['loky'\]"),
        ({"confidence": "0.9"}, r"confidence must be in \(0.5, 1\), got '0.9'"),
        ({"confidence": None}, r"confidence must be in \(0.5, 1\), got None"),
        ({"confidence": np.float32(0.5)}, r"confidence must be in \(0.5, 1\), got "),
        ({"pairs": 5}, r"pairs must be a sequence of \(data, neighbour\) pairs, got 5"),
        ({"trials": np.float64(1000.5)}, "trials must be an integer >= 10, got "),
        ({"trials": True}, "trials must be an integer >= 10, got True"),
        ({"trials": "many"}, "trials must be an integer >= 10, got 'many'"),
        ({"epsilon": "1"}, "epsilon must be a finite number >= 0, got '1'"),
        ({"epsilon": np.float32("inf")}, "epsilon must be a finite number >= 0, got "),
        ({"delta": np.float32(1)}, r"delta must be in \[0, 1\), got "),
        ({"sequential": True, "trials": 49}, r"trials must be at least 50 in a sequential audit, got 49"),
    ],
)
def test_what_is_refused_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dpaudit.audit_privacy(counted, **grouped(**{**GOOD, **changed}))


def test_nothing_is_run_for_bad_numbers() -> None:
    RUNS.clear()
    for changed in ({"n_jobs": 0}, {"backend": "foo"}, {"confidence": "0.9"}, {"trials": 1.5}, {"pairs": 5}):
        with pytest.raises(InputError):
            dpaudit.audit_privacy(counted, **grouped(**{**GOOD, **changed}))
    assert RUNS == []


@pytest.mark.parametrize("pairs", [1, 3, 20, 60])
@pytest.mark.parametrize("sequential", [False, True])
def test_the_least_budget_is_enough(pairs: int, sequential: bool) -> None:
    trials = 50 if sequential else 10
    options = {"epsilon": 1.0, "trials": trials, "sequential": sequential, "confidence": 0.95}
    found = dpaudit.audit_privacy(counted, [(0, 1)] * pairs, **grouped(**options))
    assert found.verdict != "violation"
    # Two runs of a pair are the least; bets may use both sides of trials, and in a search both of five runs, which are
    # half of what the checks leave.
    most = trials if sequential else 5
    assert any("pairs were not run" in words for words in found.warnings) == (pairs > most)


def test_numbers_of_numpy_are_numbers() -> None:
    plain = dpaudit.audit_privacy(counted, [(0, 1)], epsilon=0.5, delta=0.25, trials=1000, confidence=0.75, seed=3)
    given = dpaudit.audit_privacy(
        counted,
        [(0, 1)],
        epsilon=np.float32(0.5),
        delta=Fraction(1, 4),
        trials=np.int64(1000),
        confidence=np.float32(0.75),
        seed=np.int64(3),
        n_jobs=np.int8(1),
    )
    assert given == plain
    assert given.to_dict() == plain.to_dict()
    assert type(PrivacyClaim(np.float16(1)).epsilon) is float
    assert type(PrivacyClaim(1).epsilon) is int  # what was stored with 1 must not read 1.0 tomorrow


def learner_class() -> Any:
    return type(dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=2))


@pytest.mark.parametrize(
    "audit",
    [
        lambda learner: dpaudit.audit_privacy(learner),
        lambda learner: dpaudit.pac.audit_law(learner),
        lambda learner: dpaudit.pac.audit_utility(learner, 0, "uniform", alpha=0.1, beta=0.1),
    ],
    ids=["privacy", "law", "utility"],
)
def test_a_class_is_no_learner(audit: Any) -> None:
    with pytest.raises(InputError, match="must be a learner, not its class: build ParityPrivate"):
        audit(learner_class())


class Guess:
    """A class that is a mechanism: calling it makes a run, and its instance is the output."""

    def __init__(self, bit: int, rng: np.random.Generator) -> None:
        self.label = bit if rng.random() < 0.75 else 1 - bit

    def predict(self, points: Any) -> Any:
        return np.full(len(points), self.label)


def test_a_class_may_be_a_mechanism() -> None:
    finding = dpaudit.audit_privacy(
        Guess, [(0, 1)], epsilon=0.3, trials=2_000, look=dpaudit.Look(probe=np.zeros((1, 1)))
    )
    assert finding.verdict == "violation"


def misspelt(bit: int, rng: np.random.Generator) -> int:
    return undefined_name  # type: ignore[name-defined,no-any-return] # noqa: F821 - the point of the test


def now_and_then(bit: int, rng: np.random.Generator) -> int:
    if rng.random() < 0.1:
        raise ValueError("no answer")
    return 0


def nearly_always(bit: int, rng: np.random.Generator) -> int:
    if rng.random() < 0.997:
        raise ValueError("no answer" if rng.random() < 0.9 else "none")
    return 0


@pytest.mark.parametrize("sequential", [False, True])
def test_what_only_raises_is_no_evidence(sequential: bool) -> None:
    finding = dpaudit.audit_privacy(
        misspelt, [(0, 1)], epsilon=1.0, trials=500, execution=dpaudit.Execution(sequential=sequential)
    )
    assert finding.verdict == "no evidence"
    (gap,) = finding.gaps
    assert gap.raised == gap.runs > 300
    assert gap_words(gap).startswith("every run ended in an exception, most often NameError: name 'undefined_name' is")
    finding = dpaudit.audit_privacy(
        now_and_then, [(0, 1)], epsilon=1.0, trials=500, execution=dpaudit.Execution(sequential=sequential)
    )
    assert (finding.verdict, finding.gaps) == ("consistent", ())
    # 300 runs or more at rate 0.003 have 20 without an exception with probability below 1e-15.
    finding = dpaudit.audit_privacy(
        nearly_always, [(0, 1)], epsilon=1.0, trials=500, execution=dpaudit.Execution(sequential=sequential)
    )
    (gap,) = finding.gaps
    assert gap.usual == "ValueError: no answer"


def test_a_batched_mechanism_s_exception_ends_the_audit() -> None:
    def fails(bit: int, rng: np.random.Generator, size: int) -> Any:
        raise ZeroDivisionError("batch")

    with pytest.raises(dpaudit.InputError, match="raised ZeroDivisionError: batch"):
        dpaudit.audit_privacy(fails, [(0, 1)], epsilon=1.0, trials=500, batched=True)


@dataclass(frozen=True)
class Sized:
    size: int
    flag: bool = False
    id: ClassVar[str] = "sized"


def test_the_parameters_of_a_learner_are_its_fields() -> None:
    assert parameters_of(Sized(3)) == {"size": 3, "flag": False}
    assert parameters_of(Sized) == parameters_of(Guess) == parameters_of(3) == {}


class Measurement:
    """An object like an OpenDP measurement: `invoke` takes the data alone."""

    input_domain = "integers"

    def __init__(self, scale: float) -> None:
        self._scale, self._noise = scale, np.random.default_rng(0)

    def invoke(self, data: int) -> int:
        stop = 1 - np.exp(-1 / self._scale)
        return int(data + self._noise.geometric(stop) - self._noise.geometric(stop))


@pytest.mark.parametrize(("scale", "verdict"), [(2.0, "consistent"), (0.4, "violation")])
def test_measurements_of_opendp_are_audited(scale: float, verdict: str) -> None:
    # epsilon is 1 / scale: 0.5 and 2.5. False-alarm rate 1e-6.
    finding = dpaudit.audit_privacy(Measurement(scale), [(0, 1)], epsilon=1.0, trials=3_000, confidence=1 - 1e-6)
    assert finding.verdict == verdict
    assert [check.answer for check in finding.checks if not check.passed] == [Answer.OWN]


@pytest.mark.parametrize("trials", [10, 11, 24, 32])
@pytest.mark.parametrize("pairs", [1, 3])
def test_the_least_budgets_end_with_a_finding(trials: int, pairs: int) -> None:
    found = dpaudit.audit_privacy(
        lambda data, rng: data + float(rng.laplace()), [(0, 1)] * pairs, epsilon=1.0, trials=trials
    )
    assert found.verdict == "no evidence"
