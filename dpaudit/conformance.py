"""The checks that every learner must pass, exported for third parties' learners.

In a test suite::

    @pytest.mark.parametrize("check", dpaudit.conformance.CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check):
        check(MyLearner(epsilon=1.0))

Each check takes a learner, returns nothing, and raises `NonConforming` saying what is wrong.
"""

from __future__ import annotations

import dataclasses
import pickle
import random
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dpaudit import seeding
from dpaudit.arguments import parameters_of
from dpaudit.contract import FAIL, Instance, Learner, PrivacyClaim, Relation, UtilityClaim
from dpaudit.distinguish.canonical import canonical
from dpaudit.distinguish.histogram import tally
from dpaudit.errors import InputError
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.symmetry import check_symmetry

__all__ = ["CHECKS", "FALSE_ALARM", "NonConforming", "check_learner"]

FALSE_ALARM = 1e-6
"""Probability with which `check_run_agrees_with_law` accuses a conforming learner, over all its samples together."""

RUNS = 20_000
SAMPLES = 6
NEIGHBOURS = 2


class NonConforming(AssertionError):
    """A learner breaks the contract."""


def _require(condition: bool, learner: Any, message: str) -> None:
    if not condition:
        raise NonConforming(f"{type(learner).__name__}: {message}")


def _samples(learner: Learner) -> list[Any]:
    """Return a few samples of the learner's example size: realizable, conflicting, and the empty one."""
    pairs = crafted_pairs(learner.domain, learner.instance.n, Relation.REPLACE_ONE, limit=None)
    step = max(1, len(pairs) // SAMPLES)
    return [*(pair.data for pair in pairs[::step][:SAMPLES]), learner.domain.empty_sample()]


def check_constructor_only_stores(learner: Learner) -> None:
    """Check that the constructor stores its arguments unchanged; that learners are frozen, picklable, comparable."""
    _require(dataclasses.is_dataclass(learner), learner, "a learner must be a dataclass")
    again = type(learner)(**parameters_of(learner))
    for name, value in parameters_of(learner).items():
        _require(getattr(again, name) is value, learner, f"the constructor changed {name}={value!r}")
    _require(again == learner, learner, "two learners with the same parameters must be equal")
    _require(
        pickle.loads(pickle.dumps(learner)) == learner, learner, "a learner must survive pickling (workers need it)"
    )
    try:
        setattr(learner, next(iter(parameters_of(learner))), 0)
    except dataclasses.FrozenInstanceError:
        return
    raise NonConforming(f"{type(learner).__name__}: a learner must be a frozen dataclass")


def check_names(learner: Learner) -> None:
    """Check that the id is lower-case words joined by hyphens, and that there are a docstring and an example."""
    _require(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", learner.id) is not None, learner, f"bad id {learner.id!r}")
    _require(bool(type(learner).__doc__), learner, "the class needs a docstring with its theorem and source")
    _require(
        isinstance(learner.instance, Instance), learner, "the class attribute `instance` must be a contract.Instance"
    )
    _require(
        isinstance(type(learner)(**learner.instance.parameters), Learner), learner, "the example's parameters must do"
    )


def check_claims(learner: Learner) -> None:
    """Check that claims are of the contract's types and name the theorem and its source."""
    claim = learner.privacy
    if claim is not None:
        _require(isinstance(claim, PrivacyClaim), learner, f"privacy must be a PrivacyClaim or None, got {claim!r}")
        _require(bool(claim.claim_id and claim.source), learner, "the privacy claim needs a claim_id and a source")
    utility = getattr(learner, "utility", None)
    if utility is not None and not hasattr(learner, "fault"):
        stated = utility(learner.instance.alpha, learner.instance.beta)
        _require(isinstance(stated, UtilityClaim), learner, f"utility must return a UtilityClaim, got {stated!r}")
        _require(bool(stated.claim_id and stated.source), learner, "the utility claim needs a claim_id and a source")
        same = stated.sample_size == learner.sample_size(stated.alpha, stated.beta)  # type: ignore[attr-defined]
        _require(same, learner, "utility(alpha, beta).sample_size must be sample_size(alpha, beta)")
        named = getattr(learner, "settings", (stated.setting,))
        _require(named[:1] == (stated.setting,), learner, f"settings must begin with utility's own {stated.setting!r}")
        for setting in named[1:]:
            other = utility(learner.instance.alpha, learner.instance.beta, setting=setting)
            _require(other.setting == setting, learner, f"utility in {setting!r} must answer for it, got {other!r}")
        _require("solution" not in named or hasattr(learner, "solves"), learner, "the setting solution needs solves")


def check_random_state(learner: Learner) -> None:
    """Check that the global random state stays untouched, and that equal generators give equal outputs."""
    for sample in _samples(learner):
        before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
        first = learner.run(sample, seeding.generator(1, "conformance"), 64)
        if hasattr(learner, "law"):
            learner.law(sample)
        after = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
        _require(before == after, learner, "run or law touched the global random state")
        second = learner.run(sample, seeding.generator(1, "conformance"), 64)
        _require(len(first) == 64, learner, f"run(size=64) returned {len(first)} outputs")
        _require(list(map(repr, first)) == list(map(repr, second)), learner, "equal generators must give equal outputs")


def check_law_is_a_law(learner: Learner) -> None:
    """Check that probabilities sum to 1 within the stated error, and that atoms are distinct and hashable."""
    if not hasattr(learner, "law"):
        return
    for sample in _samples(learner):
        law = learner.law(sample)
        _require(
            len(set(law.atoms)) == len(law.atoms) == len(law.log_prob),
            learner,
            "atoms must be distinct, one a log-probability",
        )
        _require(law.grade in ("exact", "numeric") and law.error >= 0, learner, "a law needs a grade and an error >= 0")
        total = float(np.exp(law.log_prob).sum())
        slack = np.expm1(law.error) + 1e-12 * len(law.atoms)
        _require(
            abs(total - 1) <= slack, learner, f"probabilities on {sample!r} sum to {total!r}, not 1 within {slack:.2g}"
        )


def check_run_agrees_with_law(learner: Learner) -> None:
    """Check that `run` follows `law`, by a G-test on each of several samples; false-alarm rate `FALSE_ALARM` in all."""
    if not hasattr(learner, "law"):
        return
    samples = _samples(learner)
    for index, sample in enumerate(samples):
        law = learner.law(sample)
        counts = tally(learner.run(sample, seeding.generator(2, "conformance", index), RUNS))
        labels = [canonical(atom) for atom in law.atoms]
        possible = {label for label, lp in zip(labels, law.log_prob, strict=True) if lp > -np.inf}
        strange = [label for label in counts if label not in possible]
        _require(not strange, learner, f"run returned {strange[:3]!r}, which the law excludes, on {sample!r}")
        p = _g_test(counts, dict(zip(labels, np.exp(law.log_prob), strict=True)))
        _require(
            p > FALSE_ALARM / len(samples),
            learner,
            f"run disagrees with law on {sample!r}: G-test p = {p:.3g} at {RUNS} runs",
        )


def _g_test(counts: Counter[Any], law: dict[Any, float]) -> float:
    """Return the p-value of the likelihood-ratio test of fit; atoms expected fewer than 20 times are one cell."""
    runs = counts.total()
    cells = [(counts[atom], runs * p) for atom, p in law.items() if runs * p >= 20]
    rest = (runs - sum(c for c, _ in cells), runs - sum(e for _, e in cells))
    cells += [rest] if rest[1] > 1e-6 * runs or rest[0] else []
    statistic = 2 * sum(c * np.log(c / max(e, 1e-300)) for c, e in cells if c)
    return float(chdtrc(len(cells) - 1, max(statistic, 0.0))) if len(cells) > 1 else 1.0


def check_codes_decode(learner: Learner) -> None:
    """Check that every output decodes to a hypothesis that labels points 0 or 1, and only FAIL to None."""
    points = learner.domain.landmarks()
    for sample in _samples(learner):
        codes = (
            learner.law(sample).atoms if hasattr(learner, "law") else set(learner.run(sample, seeding.generator(3), 64))
        )
        for code in list(codes)[:256]:
            hypothesis = learner.decode(code)
            if hypothesis is None:
                _require(code == FAIL, learner, f"only FAIL may decode to None, got None for {code!r}")
                continue
            labels = np.asarray(hypothesis.predict(points))
            good = labels.shape == (len(points),) and bool(np.isin(labels, (0, 1)).all())
            _require(good, learner, f"decode({code!r}).predict must return one label 0 or 1 a point")


def check_huge_counts(learner: Learner) -> None:
    """Check that a sample of 1e12 examples on few distinct points runs like a small one."""
    points = learner.domain.landmarks()[:2]
    sample = learner.domain.sample(points, [1, 0], [10**12, 10**12 - 1])
    outputs = learner.run(sample, seeding.generator(4, "conformance"), 16)
    _require(len(outputs) == 16, learner, "run must accept counts of 1e12")


def check_bad_input(learner: Learner) -> None:
    """Check that parameters out of range and samples of the wrong dimension raise `InputError`."""
    for name, value in parameters_of(learner).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        for bad in (-1, 0, float("nan"), float("inf"), "one"):
            changed = {**parameters_of(learner), name: bad}
            _refused(learner, partial(type(learner), **changed), f"{name}={bad!r}")
    dimension = learner.domain.dimension + 1
    sample: Any = learner.domain.sample(learner.domain.landmarks()[:1], [0])
    wrong = dataclasses.replace(sample, points=np.zeros((1, dimension), dtype=np.int64), domain=None)
    _refused(learner, partial(learner.run, wrong, seeding.generator(5), 1), f"points with {dimension} coordinates")


def _refused(learner: Learner, attempt: Callable[[], object], what: str) -> None:
    try:
        attempt()
    except InputError:
        return
    except Exception as error:
        raise NonConforming(f"{type(learner).__name__}: {what} must raise InputError, raised {error!r}") from error
    raise NonConforming(f"{type(learner).__name__}: {what} must raise InputError, was accepted")


def check_symmetries(learner: Learner) -> None:
    """Check that each generator that `symmetries` returns keeps what tells samples from their neighbours."""
    if not (hasattr(learner, "symmetries") and hasattr(learner, "law")):
        return
    remembered = SimpleNamespace(domain=learner.domain, law=lru_cache(maxsize=None)(learner.law))
    kin = learner.privacy.relation if learner.privacy else Relation.REPLACE_ONE
    samples = [sample for sample in _samples(learner) if sample.n]
    pairs = [(sample, other) for sample in samples for other in _some_neighbours(sample, kin)]
    for permutation in learner.symmetries():
        for sample, other in pairs:
            _require(
                check_symmetry(remembered, sample, other, permutation),
                learner,
                f"{list(permutation)!r:.200} is no symmetry: it changes what tells {sample!r:.200} from {other!r:.200}",
            )


def _some_neighbours(sample: Any, relation: Relation) -> list[Any]:
    """Return a few neighbours of a sample, spread over all."""
    found = list(sample.neighbours(relation))
    return found[:: max(1, len(found) // NEIGHBOURS)][:NEIGHBOURS]


CHECKS: tuple[Callable[[Learner], None], ...] = (
    check_constructor_only_stores,
    check_names,
    check_claims,
    check_random_state,
    check_law_is_a_law,
    check_run_agrees_with_law,
    check_codes_decode,
    check_huge_counts,
    check_bad_input,
    check_symmetries,
)


def check_learner(learner: Learner) -> None:
    """Run every check on a learner; the first that fails raises `NonConforming`."""
    for check in CHECKS:
        check(learner)
