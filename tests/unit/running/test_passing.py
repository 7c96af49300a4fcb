"""The generator reaches only parameters that ask for it: a table of signatures, for every way to pass a mechanism."""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cli_support
import numpy as np
import pytest
import signatures
from quick import by_turns
from signatures import BATCHED, FILLED, OWN, PAIRS, SINGLE

import dpaudit
from dpaudit.app.check import check
from dpaudit.audit.checks_and_gaps import CheckName
from dpaudit.errors import InputError
from dpaudit.running.adapters import as_mechanism
from dpaudit.running.passing import GENERATORS, QUANTITIES, form_of, generator_lacks, with_generator
from tests.support.grouped import grouped

pytest_plugins = ["pytester"]

TABLE = [*((name, False, wanted) for name, wanted in SINGLE.items()), *((name, True, w) for name, w in BATCHED.items())]
FEW = list({(batched, wanted): (name, batched, wanted) for name, batched, wanted in reversed(TABLE)}.values())
"""A signature of each kind of answer in both forms: what asks for a generator is decided in one place, which
`test_from_python` tries with all of them, in whatever way the mechanism is named."""
EPSILON = 2.0
"""Twice the true epsilon of what is called as it asks: an accusation has probability far below 0.001."""
NO_GENERATOR = r"takes no generator"
FILE = Path(signatures.__file__)


def mechanism_of(name: str):
    return operator.attrgetter(name)(signatures)


def audited(name: str, batched: bool, randomness: str) -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(
        mechanism_of(name), PAIRS, epsilon=EPSILON, trials=60, batched=batched, randomness=randomness
    )


def test_there_are_enough_signatures_and_each_kind_of_answer_in_both_forms() -> None:
    assert len(SINGLE) >= 40
    assert len(BATCHED) >= 30
    for table in (SINGLE, BATCHED):
        answers = list(table.values())
        assert answers.count(FILLED) >= 20
        assert answers.count(OWN) >= 8
        assert len(set(answers)) >= 5


@pytest.mark.parametrize(("name", "batched", "wanted"), by_turns(TABLE))
def test_from_python(name: str, batched: bool, wanted: str) -> None:
    if wanted == FILLED:
        found = audited(name, batched, "argument")
        (generator,) = (one for one in found.checks if one.name == CheckName.GENERATOR)
        assert generator.passed
        assert found.verdict != "violation"
        # The generator is passed where it is asked for, whatever is declared.
        assert audited(name, batched, "own").verdict != "violation"
    elif wanted == OWN:
        with pytest.raises(InputError, match=f"{NO_GENERATOR}.*randomness=own"):
            audited(name, batched, "argument")
        assert audited(name, batched, "own").verdict != "violation"
    else:
        for randomness in ("argument", "own"):
            with pytest.raises(InputError, match=f"^mechanism must take .*{wanted}"):
                audited(name, batched, randomness)


@pytest.mark.parametrize(
    "misfilled",
    [
        lambda data, rng: signatures.flag(data, rng),
        lambda data, rng: signatures.option_before(data, rng),
        lambda data, rng: signatures.rows(data, rng),
        lambda data, rng: signatures.another_name(data, rng),
        lambda data, rng: signatures.named(data, None),
    ],
)
def test_a_mechanism_of_the_table_gives_its_data_away_if_it_gets_what_it_did_not_ask_for(misfilled) -> None:
    assert dpaudit.audit_privacy(misfilled, PAIRS, epsilon=EPSILON, trials=200).verdict == "violation"


@pytest.mark.parametrize(
    ("name", "batched", "wanted"), [pytest.param(*one, marks=[pytest.mark.full] * (one not in FEW)) for one in TABLE]
)
def test_from_the_command_line(capsys: pytest.CaptureFixture[str], name: str, batched: bool, wanted: str) -> None:
    words = ["privacy", f"{FILE}:{name}", "--epsilon", str(EPSILON), "--trials", "60", "--seed", "0"]
    words += ["--batched"] if batched else []
    status, out, err = cli_support.call(capsys, *words)
    if wanted == FILLED:
        assert status in (0, 3), out + err
    else:
        assert status == 2
        assert "mechanism must take" in err
        assert ("--randomness own" if wanted == OWN else wanted) in " ".join(err.split())
    if wanted == OWN:
        status, out, err = cli_support.call(capsys, *words, "--randomness", "own")
        assert status in (0, 3), out + err


@pytest.fixture
def table(request: pytest.FixtureRequest) -> list[tuple[str, bool, str]]:
    """Return the signatures that one test tries in turn: in the quick profile a few."""
    return TABLE if request.config.getoption("--profile") == "full" else FEW


@pytest.mark.parametrize("randomness", ["argument", "own"])
def test_from_the_settings_of_a_project(tmp_path: Path, table: Any, randomness: str) -> None:
    settings = tmp_path / "audit.toml"
    text = "trials = 60\n"
    for name, batched, _ in table:
        text += f"[[audit]]\nname = '{name}'\nmechanism = '{FILE}:{name}'\nepsilon = {EPSILON}\n"
        text += f"randomness = '{randomness}'\n"
        text += "batched = true\n" if batched else ""
    settings.write_text(text)
    rows = {one.row.name: one.row for one in check(settings)}
    assert len(rows) == len(table)
    for name, _, wanted in table:
        row = rows[name]
        if wanted == FILLED or (wanted == OWN and randomness == "own"):
            assert row.verdict in ("consistent", "no evidence"), f"{name}: {row.why}"
        else:
            assert row.verdict == "failed", name
            assert (NO_GENERATOR if wanted == OWN else wanted) in row.why


SUITE = """
import operator
import pytest
import signatures
from dpaudit import InputError

TABLE = {table!r}

@pytest.mark.parametrize(("name", "batched", "wanted"), TABLE)
@pytest.mark.parametrize("randomness", ["argument", "own"])
def test_one(assert_private, name, batched, wanted, randomness):
    def audit():
        mechanism = operator.attrgetter(name)(signatures)
        assert_private(mechanism, signatures.PAIRS, epsilon=2.0, trials=60, batched=batched, randomness=randomness,
                       allow_no_evidence=True)
    if wanted == signatures.FILLED or (wanted == signatures.OWN and randomness == "own"):
        audit()
    else:
        with pytest.raises(InputError, match="mechanism must take"):
            audit()
"""


def test_from_the_fixture(pytester: pytest.Pytester, table: Any) -> None:
    pytester.makepyfile(SUITE.replace("{table!r}", repr(table)))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-q")
    result.assert_outcomes(passed=2 * len(table), warnings=result.parseoutcomes().get("warnings", 0))


@pytest.mark.parametrize("builtin", [max, operator.itemgetter(0), dict])
@pytest.mark.parametrize("batched", [False, True])
def test_a_builtin_without_a_signature_is_never_given_a_generator(builtin, batched: bool) -> None:
    called = with_generator(builtin, batched=batched)
    assert "shows no signature" in generator_lacks(called)
    assert form_of(builtin, batched=batched).positional == (("data", "size") if batched else ("data",))


def test_a_builtin_is_audited_as_it_is_where_its_randomness_is_its_own() -> None:
    pairs = [([0, 1], [0, 2])]
    with pytest.raises(InputError, match=r"shows no signature, so that .* lambda data, rng: .*randomness=own"):
        dpaudit.audit_privacy(max, pairs, epsilon=1.0, trials=100)
    assert dpaudit.audit_privacy(max, pairs, epsilon=1.0, trials=100, randomness="own").verdict == "violation"
    assert dpaudit.audit_privacy(sum, pairs, epsilon=1.0, trials=100, randomness="own").verdict == "violation"


def test_a_compiled_function() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def by_name(data, scale=1.0, rng=None):
        return np.round(data + rng.laplace(0.0, scale))

    @numba.njit
    def alone(data, debug=False):
        return float(data) if debug else np.round(data + np.random.laplace(0.0, 1.0))  # noqa: NPY002

    for function, randomness in ((by_name, "argument"), (alone, "own")):
        found = dpaudit.audit_privacy(function, [(0.0, 1.0)], epsilon=EPSILON, trials=200, randomness=randomness)
        assert found.verdict != "violation"
        assert found.epsilon_lower < 1.0


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("default", ["", "=None"])
@pytest.mark.parametrize("mark", ["", "*, "])
def test_every_name_of_the_list_asks_for_the_generator(name: str, default: str, mark: str) -> None:
    scope: dict = {}
    exec(f"def asks(data, scale=1.0, *, {name}{default}): return scale, {name}", scope)
    exec(f"def among(data, {mark}{name}{default}, scale=1.0): return scale, {name}", scope)
    for function in (scope["asks"], scope["among"]):
        rng = np.random.default_rng(0)
        assert with_generator(function)(0, rng) == (1.0, rng)


@pytest.mark.parametrize("name", [*sorted(QUANTITIES), "Epsilon", "noise_scale", "eps0", "n_bins", "top_k"])
def test_a_second_required_parameter_that_is_a_quantity_is_refused(name: str) -> None:
    scope: dict = {}
    exec(f"def f(data, {name}): return 0", scope)
    with pytest.raises(InputError, match=rf"{name}, is a quantity .* functools.partial\(f, {name}=...\)"):
        as_mechanism(scope["f"])
    exec(f"def g(data, {name}, number): return 0", scope)
    if name != "size":  # which asks for the number of runs
        with pytest.raises(InputError, match=rf"functools.partial\(g, {name}=...\)"):
            as_mechanism(scope["g"], batched=True)
    told = "pass batched=True and randomness=own"
    with pytest.raises(InputError) as raised:
        as_mechanism(scope["f"])
    assert (told in str(raised.value)) == (name == "size")


@pytest.mark.parametrize(
    "name", ["token", "gen", "key", "noise", "seed", "random", "private_rng", "n_random", "raw_generator"]
)
def test_any_other_second_required_parameter_gets_the_generator(name: str) -> None:
    scope: dict = {}
    exec(f"def f(data, {name}): return {name}", scope)
    rng = np.random.default_rng(0)
    assert with_generator(scope["f"])(0, rng) is rng


def test_what_a_partial_sets_is_not_replaced() -> None:
    def fixed(data: float, rng: np.random.Generator | int | None = None) -> float:
        return data + float(np.random.default_rng(rng).laplace())

    with pytest.raises(InputError, match=r"takes no generator: functools.partial has set rng; .* randomness=own"):
        dpaudit.audit_privacy(functools.partial(fixed, rng=0), [(0.0, 1.0)], epsilon=1.0, trials=200)
    # A fixed seed is a total leak.
    found = dpaudit.audit_privacy(
        functools.partial(fixed, rng=0), [(0.0, 1.0)], epsilon=1.0, trials=200, randomness="own"
    )
    assert found.verdict == "violation"


def test_a_fixed_seed_as_the_default_of_the_generator_is_named() -> None:
    def seeded(data: float, random_state: int = 0) -> float:
        return round(data + float(np.random.default_rng(random_state).laplace()))

    found = dpaudit.audit_privacy(seeded, [(0, 1)], epsilon=EPSILON, trials=1000)
    assert found.verdict == "consistent"
    (told,) = (text for text in found.warnings if "fixed seed" in text)
    assert told.startswith("the default random_state=0 of ")


def test_a_fixed_seed_under_another_name_is_a_total_leak() -> None:
    def seeded(data: float, seed: int = 0) -> float:
        return data + float(np.random.default_rng(seed).laplace())

    found = dpaudit.audit_privacy(seeded, [(0.0, 1.0)], epsilon=1.0, trials=200, randomness="own")
    assert found.verdict == "violation"


def sklearn_like(data: float, random_state: np.random.RandomState) -> float:
    return round(data + signatures.check_random_state(random_state).laplace())


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"timeout": 5.0},
        pytest.param({"n_jobs": 2}, marks=pytest.mark.full),  # as guards below
        {"sequential": True},
        {"time": True},
    ],
)
def test_a_random_state_is_an_address_as_a_generator_is(given: dict) -> None:
    found = dpaudit.audit_privacy(sklearn_like, [(0, 1)], **grouped(epsilon=EPSILON, trials=1000, **given))
    (generator,) = (one for one in found.checks if one.name == CheckName.GENERATOR)
    assert generator.passed
    assert found.verdict == "consistent"
    again = dpaudit.audit_privacy(sklearn_like, [(0, 1)], **grouped(epsilon=EPSILON, trials=1000, **given))
    if "time" not in given:
        assert found.to_dict() == again.to_dict()


def test_a_random_state_draws_from_the_stream_of_the_run_and_advances_it() -> None:
    called = with_generator(sklearn_like)
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    outputs = [called(0, rng) for _ in range(5)]
    assert outputs == [round(np.random.RandomState(twin.bit_generator).laplace()) for _ in range(5)]
    assert rng.bit_generator.state == twin.bit_generator.state != np.random.default_rng(5).bit_generator.state


def test_a_generator_is_kept_where_it_is_not_refused_and_exceptions_of_the_data_stay() -> None:
    def raises(data: float, random_state: np.random.Generator) -> float:
        assert isinstance(random_state, np.random.Generator)
        if data:
            raise ValueError("no data of this kind")
        return float(random_state.laplace())

    called = with_generator(raises)
    rng = np.random.default_rng(0)
    called(0, rng)
    with pytest.raises(ValueError, match="no data of this kind"):
        called(1, rng)
    called(0, rng)

    def takes_neither(data: float, random_state: object) -> float:
        raise ValueError(f"{random_state!r} is no seed of numpy.random")

    with pytest.raises(ValueError, match=r"^Generator\(PCG64\)"):
        with_generator(takes_neither)(0, rng)


def test_what_came_before_the_refusal_is_drawn_again() -> None:
    def late(data: float, random_state: object) -> tuple:
        first = random_state.random()  # type: ignore[attr-defined]
        return first, signatures.check_random_state(random_state).random_sample()

    made = with_generator(late)(0, np.random.default_rng(3))
    other = np.random.RandomState(np.random.default_rng(3).bit_generator)
    assert made == (other.random_sample(), other.random_sample())


def test_other_doors_pass_the_generator_by_the_same_rule() -> None:
    def train(canaries: list, clip: float = 1.0, *, rng: np.random.Generator) -> float:
        assert clip == 1.0
        return sum(canaries) + float(rng.normal())

    def score(released: float, canaries: list) -> np.ndarray:
        return np.arange(len(canaries)) * released

    assert dpaudit.audit_one_run(train, list(range(20)), epsilon=1.0, score=score, seed=0).canaries == 20
    dpaudit.audit_one_run(lambda canaries: 1.0, list(range(20)), epsilon=1.0, score=score, seed=0)
    with pytest.raises(InputError, match=r"train must take \(canaries, rng\); .* epsilon, is a quantity"):
        dpaudit.audit_one_run(lambda canaries, epsilon: 1.0, list(range(20)), epsilon=1.0, score=score)
    with pytest.raises(InputError, match="train must be a function"):
        dpaudit.audit_one_run(3, list(range(20)), epsilon=1.0, score=score)  # type: ignore[arg-type]

    def noisy(data: list, scale: float = 1.0, rng: np.random.Generator | None = None) -> float:
        return sum(data) + (rng or np.random.default_rng()).laplace(scale=scale)

    def own(data: list, exact: bool = False) -> float:
        return sum(data) if exact else sum(data) + np.random.laplace()  # noqa: NPY002

    for mechanism in (noisy, own, lambda data, *, prng: noisy(data, rng=prng)):
        found = dpaudit.audit_sensitivity(mechanism, [([1, 0], [0, 0])], claim=1)
        assert isinstance(found, dpaudit.RecordedFinding)
        assert found.verdict == "not refuted"

    def step(batch: list, noise: float = 1.0, *, random_state: np.random.RandomState) -> np.ndarray:
        assert noise == 1.0
        return np.array([sum(batch), 0.0]) + signatures.check_random_state(random_state).normal(size=2)

    made = dpaudit.training.noisy_step(step, [0.0], 1.0, noise_multiplier=1.0)
    assert made.audit(trials=300).verdict != "violation"
    own_step = dpaudit.training.noisy_step(
        lambda batch: np.array([sum(batch), 0.0]) + np.random.normal(size=2),  # noqa: NPY002
        [0.0],
        1.0,
        noise_multiplier=1.0,
        direction=[1.0, 0.0],
    )
    with pytest.raises(InputError, match=r"the step takes no generator; .* pass randomness=own"):
        own_step.audit(trials=300)
    assert own_step.audit(trials=300, randomness="own").verdict != "violation"


def test_addresses_of_streams_are_what_they_were() -> None:
    """The form of a call is no part of a mechanism's address."""
    assert as_mechanism(signatures.named).stream == "named"
    assert as_mechanism(signatures.keyword_only).stream == "keyword_only"
    assert as_mechanism(signatures.a_partial).stream == "with_epsilon of [(), {'epsilon': 1.0}]"
    assert as_mechanism(signatures.callable_object).stream == "CallableObject"


class Dispatching:
    """Methods that `functools.singledispatchmethod` makes."""

    @functools.singledispatchmethod
    def plain(self, data: object, debug: bool = False, *, rng: np.random.Generator) -> float:
        raise TypeError("no data")

    @plain.register
    def _(self, data: int, debug: bool = False, *, rng: np.random.Generator) -> tuple:
        return data, debug, rng

    @functools.singledispatchmethod
    @classmethod
    def of_class(cls, data: object, rng: np.random.Generator) -> float:
        raise TypeError("no data")

    @of_class.register
    @classmethod
    def _(cls, data: int, rng: np.random.Generator) -> tuple:
        return data, False, rng


def test_a_method_that_dispatches_by_type_is_called_as_it_is() -> None:
    rng = np.random.default_rng(0)
    for method in (Dispatching().plain, Dispatching.of_class, Dispatching().of_class):
        assert with_generator(method)(1, rng) == (1, False, rng)
    assert with_generator(functools.partial(Dispatching().plain, debug=True))(1, rng) == (1, True, rng)


def asserts_a_random_state(data: int, random_state: object) -> float:
    assert isinstance(random_state, np.random.RandomState)
    return data if random_state.random_sample() < 0.75 else 1 - data


def refuses_all_but_a_random_state(data: int, rng: object = None) -> float:
    if not isinstance(rng, np.random.RandomState):
        raise ValueError("bad rng")
    return data if rng.random_sample() < 0.75 else 1 - data


def asserts_a_random_of_python(data: int, rng: object) -> float:
    assert isinstance(rng, random.Random)
    return data if rng.random() < 0.75 else 1 - data


def asks_for_a_method_of_python(data: int, prng: random.Random) -> float:
    return data if prng.randint(1, 4) < 4 else 1 - data


def asks_for_a_method_of_python_alone(data: int, rng: object) -> float:
    return data if rng.randrange(4) < 3 else 1 - data  # type: ignore[attr-defined]


def takes_an_integer(data: int, random_state: int | None = None) -> float:
    if random_state is not None and not isinstance(random_state, int):
        raise TypeError("random_state must be an integer")
    return data if np.random.default_rng(random_state).random() < 0.75 else 1 - data


def seeds_python(data: int, seed: object) -> float:
    return data if random.Random(seed).random() < 0.75 else 1 - data  # type: ignore[arg-type]


GUARDED = (
    asserts_a_random_state,
    refuses_all_but_a_random_state,
    asserts_a_random_of_python,
    asks_for_a_method_of_python,
    asks_for_a_method_of_python_alone,
    takes_an_integer,
    seeds_python,
)


@pytest.mark.parametrize(
    ("mechanism", "given"),
    [
        pytest.param(mechanism, given, marks=[pytest.mark.full] * bool(i and j))
        for i, mechanism in enumerate(GUARDED)
        for j, given in enumerate(({}, {"n_jobs": 2}, {"timeout": 5.0}))
    ],
)
def test_a_guard_that_refuses_a_generator_gets_one_of_another_kind(
    mechanism: Callable[..., Any], given: dict[str, Any]
) -> None:
    """The noise comes from the stream of the run, so that the audit can be repeated."""
    found = dpaudit.audit_privacy(mechanism, [(0, 1)], **grouped(epsilon=1.2, trials=1_000, **given))
    assert found.verdict == "consistent"
    assert found.epsilon_lower > 0.5
    assert all(check.passed for check in found.checks)
    again = dpaudit.audit_privacy(mechanism, [(0, 1)], **grouped(epsilon=1.2, trials=1_000, **given))
    assert found.to_dict() == again.to_dict()


def test_a_method_that_classes_understand_differently_is_not_guessed() -> None:
    """As one of numpy's, ``randint(1, 4)`` is never 4, and the answer has no noise."""

    def either(data: int, rng: object) -> float:
        return data if rng.randint(1, 4) < 4 else 1 - data  # type: ignore[attr-defined]

    found = dpaudit.audit_privacy(either, [(0, 1)], epsilon=1.2, trials=300)
    assert found.verdict == "no evidence"
    assert "has no attribute 'randint'" in " ".join(str(found).split())


def test_exceptions_of_the_data_are_no_refusal_of_the_generator() -> None:
    kinds: list[type] = []

    def raises(data: int, rng: object) -> float:
        kinds.append(type(rng))
        raise ValueError("no data of this kind")

    found = dpaudit.audit_privacy(raises, [(0, 1)], epsilon=1.0, trials=300)
    assert found.verdict == "no evidence"
    assert kinds.count(np.random.Generator) > 300
    # Other kinds are tried in two calls, and no more.
    assert [kinds.count(kind) for kind in (np.random.RandomState, random.Random, int)] == [2, 2, 2]

    def after_a_draw(data: int, rng: np.random.Generator) -> float:
        kinds.append(type(rng))
        assert rng.random() < 0.5
        return data

    kinds.clear()
    dpaudit.audit_privacy(after_a_draw, [(0, 1)], epsilon=1.0, trials=300)
    assert set(kinds) == {np.random.Generator}


@pytest.mark.parametrize("name", ["debug", "verbose", "is_exact", "columns"])
def test_a_second_required_parameter_that_is_an_option_is_refused(name: str) -> None:
    """A generator is true: it would switch the noise off, and the audit would accuse what it made itself."""
    scope: dict = {}
    exec(f"def f(data, {name}): return 0", scope)
    with pytest.raises(InputError, match=rf"{name}, is an option .* functools.partial\(f, {name}=...\)"):
        as_mechanism(scope["f"])


@pytest.mark.parametrize("declared", ["bool", "float", "'str'", "list"])
def test_a_second_required_parameter_of_another_type_is_refused(declared: str) -> None:
    scope: dict = {}
    exec(f"def f(data, second: {declared}): return 0", scope)
    with pytest.raises(InputError, match=r"second, is declared as \w+ and no generator"):
        as_mechanism(scope["f"])
    exec("def f(data, seed: int): return 0", scope)
    as_mechanism(scope["f"])


@pytest.mark.parametrize(("signature", "filled"), [
    ("epsilon, data, rng", "epsilon=..."),
    ("epsilon, delta, data, rng", "epsilon=..., delta=..."),
    ("n, values, gen", "n=..."),
    ("config, data, rng", "config=..."),
])  # fmt: skip
def test_a_quantity_before_the_data_is_what_has_to_be_fixed(signature: str, filled: str) -> None:
    scope: dict = {}
    exec(f"def f({signature}): return 0", scope)
    with pytest.raises(InputError, match=rf"gets the data: fix it, as functools.partial\(f, {filled}\) does$"):
        as_mechanism(scope["f"])
    fixed = {name.removesuffix("=..."): 1 for name in filled.split(", ")}
    if "rng" in signature:
        as_mechanism(functools.partial(scope["f"], **fixed))
