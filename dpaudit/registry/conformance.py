"""The checks that every learner must pass; their public name is `dpaudit.conformance`.

Each check takes a learner, returns nothing, and raises `NonConforming` with the learner's name and its defect.
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from dpaudit import contract, seeding
from dpaudit.arguments import lacking, parameters_of
from dpaudit.contract import FAIL, Grade, Instance, Learner, PrivacyClaim, Relation, Sample, UtilityClaim
from dpaudit.errors import InputError
from dpaudit.events.cells import tally
from dpaudit.exact.audit import audit_law
from dpaudit.exact.supremum import audit_supremum
from dpaudit.neighbours.crafted import crafted_pairs
from dpaudit.neighbours.multisets import check_symmetry
from dpaudit.outputs.canonical import canonical
from dpaudit.utility.audit import audit_utility
from dpaudit.utility.hard_cases import hard_cases

__all__ = [
    "CHECKS",
    "FALSE_ALARM",
    "Ability",
    "NonConforming",
    "Offers",
    "check_bad_input",
    "check_claims",
    "check_codes_decode",
    "check_constructor_only_stores",
    "check_edges",
    "check_huge_counts",
    "check_law_is_a_law",
    "check_learner",
    "check_names",
    "check_parts",
    "check_random_state",
    "check_run_agrees_with_law",
    "check_symmetries",
    "edges",
    "offers",
]

FALSE_ALARM = 1e-6
"""Probability with which `check_run_agrees_with_law` accuses a conforming learner, over all its samples together."""
# Samples that checks look at, runs on each, and neighbours of each of them.
SAMPLES = 6
RUNS = 20_000
NEIGHBOURS = 2
# The least values of parameters that are sizes, by their names.
LEAST = {"dimension": (1,), "domain_size": (1, 2), "k": (1,), "rounds": (1,), "side": (1,), "subsamples": (1,)}


class NonConforming(AssertionError):
    """A learner breaks the contract."""


def _require(condition: bool, learner: Learner | type, message: str) -> None:
    """Raise `NonConforming` with the learner's name unless a condition holds."""
    if not condition:
        kind = learner if isinstance(learner, type) else type(learner)
        raise NonConforming(f"{kind.__name__}: {message}")


def _samples_of(learner: Learner) -> list[Sample]:
    """Return a few samples of the learner's instance: realizable, conflicting, and the empty one."""
    pairs = crafted_pairs(learner.domain, learner.instance.n, Relation.REPLACE_ONE, limit=None)
    step = max(1, len(pairs) // SAMPLES)
    return [*(pair.data for pair in pairs[::step][:SAMPLES]), learner.domain.empty_sample()]


def check_parts(learner: Learner | type) -> None:
    """Check that a learner, or a class of learners, has every part that the contract requires."""
    missing = lacking(learner)
    _require(not missing, learner, f"a learner must have {', '.join(missing)}; see contract.Learner")


def check_constructor_only_stores(learner: Learner) -> None:
    """Check that the constructor stores its arguments unchanged; that learners are frozen, picklable, comparable."""
    _require(dataclasses.is_dataclass(learner), learner, "a learner must be a dataclass")
    given = parameters_of(learner)
    again = type(learner)(**given)
    stored = parameters_of(again)
    for name, value in given.items():
        # The same object, as equal values may be of different types: 1, 1.0 and True.
        _require(stored[name] is value, learner, f"the constructor changed {name}={value!r}")
    _require(again == learner, learner, "two learners with the same parameters must be equal")
    # Workers in other processes get the learner by pickle.
    try:
        sent = pickle.loads(pickle.dumps(learner))
    except Exception as error:  # of many types, its author's among them
        raise NonConforming(f"{type(learner).__name__}: a learner must pickle (workers need it): {error}") from error
    _require(sent == learner, learner, "a learner must survive pickling (workers need it)")
    frozen = type(learner).__dataclass_params__.frozen  # type: ignore[attr-defined]
    _require(frozen, learner, "a learner must be a frozen dataclass")


def check_names(learner: Learner) -> None:
    """Check that ids are lower-case words joined by hyphens, and that there are a docstring and an instance."""
    _require(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", learner.id) is not None, learner, f"bad id {learner.id!r}")
    _require(bool(type(learner).__doc__), learner, "the class needs a docstring with its theorem and source")
    instances = {"instance": learner.instance}
    # A control inherits these from its honest base, which is checked itself.
    if isinstance(learner, contract.HasPicturedInstance) and not isinstance(learner, contract.HasFault):
        instances["pictured"] = learner.pictured
    if isinstance(learner, contract.HasFurtherInstances) and not isinstance(learner, contract.HasFault):
        instances |= {f"audited[{i}]": instance for i, instance in enumerate(learner.audited)}
    for name, instance in instances.items():
        _require(isinstance(instance, Instance), learner, f"{name} must be a contract.Instance, got {instance!r}")
        made = type(learner)(**instance.parameters)
        _require(isinstance(made, Learner), learner, f"the parameters of {name} must make a learner")


def check_claims(learner: Learner) -> None:
    """Check that claims are of the contract's types, name their source, and agree with sample size and settings."""
    claim = learner.privacy
    if claim is not None:
        _require(isinstance(claim, PrivacyClaim), learner, f"privacy must be a PrivacyClaim or None, got {claim!r}")
        _require(bool(claim.claim_id and claim.source), learner, "the privacy claim needs a claim_id and a source")
    if not isinstance(learner, contract.HasUtility) or isinstance(learner, contract.HasFault):
        return
    stated = learner.utility(learner.instance.alpha, learner.instance.beta)
    if stated is None:
        return
    _require(isinstance(stated, UtilityClaim), learner, f"utility must return a UtilityClaim, got {stated!r}")
    _require(bool(stated.claim_id and stated.source), learner, "the utility claim needs a claim_id and a source")
    size = None
    if isinstance(learner, contract.HasSampleSize):
        size = learner.sample_size(stated.alpha, stated.beta)
    _require(stated.sample_size == size, learner, "utility(alpha, beta).sample_size must be sample_size(alpha, beta)")
    settings: tuple[str, ...] = (stated.setting,)
    if isinstance(learner, contract.HasSettings):
        settings = learner.settings
        _require(
            settings[:1] == (stated.setting,), learner, f"settings must begin with utility's own {stated.setting!r}"
        )
        for setting in settings[1:]:
            other = learner.utility(stated.alpha, stated.beta, setting=setting)
            right = other is not None and other.setting == setting
            _require(right, learner, f"utility in {setting!r} must answer for it, got {other!r}")
    solvable = "solution" not in settings or isinstance(learner, contract.Solves)
    _require(solvable, learner, "the setting solution needs solves")


def check_bad_input(learner: Learner) -> None:
    """Check that parameters out of range and samples of the wrong dimension raise `InputError`."""
    attempts: dict[str, Callable[[], object]] = {}
    for (name, value), bad in product(parameters_of(learner).items(), (-1, 0, float("nan"), float("inf"), "one")):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # The value that the parameter has is allowed: one that is 0 may be 0.
        if number and bad != value:
            attempts[f"{name}={bad!r}"] = partial(type(learner), **{**parameters_of(learner), name: bad})
    dimension = learner.domain.dimension + 1
    sample = learner.domain.sample(learner.domain.landmarks()[:1], [0])
    # The domain of a sample would refuse such points before the learner sees them.
    wrong = dataclasses.replace(
        sample,  # type: ignore[type-var]
        points=np.zeros((1, dimension), dtype=np.int64),
        domain=None,
    )
    attempts[f"points with {dimension} coordinates"] = partial(learner.run, wrong, seeding.generator(5), 1)
    for given, attempt in attempts.items():
        try:
            attempt()
        except InputError:
            continue
        # Any other type is what is looked for.
        except Exception as error:
            raise NonConforming(f"{type(learner).__name__}: {given} must raise InputError, raised {error!r}") from error
        _require(False, learner, f"{given} must raise InputError, was accepted")


def _global_state() -> bytes:
    # No number is drawn from it: it is what a learner must not touch.
    return pickle.dumps((np.random.get_state(), random.getstate()))  # noqa: NPY002


def check_random_state(learner: Learner) -> None:
    """Check that the global random state stays untouched, and that equal generators give equal outputs."""
    for sample in _samples_of(learner):
        before = _global_state()
        # Twice with the same address: whatever else the outputs depend on shows as a difference.
        first = learner.run(sample, seeding.generator(1, "conformance"), 64)
        if isinstance(learner, contract.HasLaw):
            learner.law(sample)
        _require(before == _global_state(), learner, "run or law touched the global random state")
        second = learner.run(sample, seeding.generator(1, "conformance"), 64)
        _require(len(first) == 64, learner, f"run(size=64) returned {len(first)} outputs")
        _require(list(map(repr, first)) == list(map(repr, second)), learner, "equal generators must give equal outputs")


def check_codes_decode(learner: Learner) -> None:
    """Check that every output decodes to a hypothesis that labels points 0 or 1, and only FAIL to None."""
    points = learner.domain.landmarks()
    seen: set[str] = set()
    for sample in _samples_of(learner):
        if isinstance(learner, contract.HasLaw):
            codes = list(learner.law(sample).atoms)
        else:
            codes = list(set(learner.run(sample, seeding.generator(3), 64)))
        # Enough to see a fault of `decode`, however many atoms a law has.
        for code in codes[:256]:
            if repr(code) in seen:
                continue
            seen.add(repr(code))
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


def check_law_is_a_law(learner: Learner) -> None:
    """Check that probabilities sum to 1 within the stated error, and that atoms are distinct and hashable."""
    if not isinstance(learner, contract.HasLaw):
        return
    for sample in _samples_of(learner):
        law = learner.law(sample)
        distinct = len(set(law.atoms)) == len(law.atoms) == len(law.log_prob)
        _require(distinct, learner, "atoms must be distinct, one a log-probability")
        graded = law.grade in (Grade.EXACT, Grade.NUMERIC) and law.error >= 0
        _require(graded, learner, "a law needs a grade and an error >= 0")
        total = float(np.exp(law.log_prob).sum())
        # Each probability may be off by the factor exp(error), and the sum by its own rounding.
        slack = np.expm1(law.error) + 1e-12 * len(law.atoms)
        fits = bool(abs(total - 1) <= slack)
        _require(fits, learner, f"probabilities on {sample!r} sum to {total!r}, not 1 within {slack:.2g}")


def check_run_agrees_with_law(learner: Learner) -> None:
    """Check that `run` follows `law`, by a G-test on each of several samples; false-alarm rate `FALSE_ALARM` in all."""
    if not isinstance(learner, contract.HasLaw):
        return
    samples = _samples_of(learner)
    for index, sample in enumerate(samples):
        law = learner.law(sample)
        counts = tally(learner.run(sample, seeding.generator(2, "conformance", index), RUNS))
        cells = [canonical(atom) for atom in law.atoms]
        # An output that the law excludes is refuted by a single run, without any test.
        possible = {cell for cell, lp in zip(cells, law.log_prob, strict=True) if lp > -np.inf}
        strange = [cell for cell in counts if cell not in possible]
        _require(not strange, learner, f"run returned {strange[:3]!r}, which the law excludes, on {sample!r}")
        p = _g_test(counts, dict(zip(cells, np.exp(law.log_prob), strict=True)))
        # The samples share the rate of false alarms.
        fits = p > FALSE_ALARM / len(samples)
        _require(fits, learner, f"run disagrees with law on {sample!r}: G-test p = {p:.3g} at {RUNS} runs")


def _g_test(counts: Counter[Hashable], law: Mapping[Hashable, float]) -> float:
    """Return the p-value of the likelihood-ratio test of fit; atoms expected fewer than 20 times are one cell."""
    runs = counts.total()
    # With less in a cell the statistic is far from chi-squared, and the rate of false alarms another one.
    cells = [(counts[atom], runs * p) for atom, p in law.items() if runs * p >= 20]
    seen = runs - sum(c for c, _ in cells)
    expected = runs - sum(e for _, e in cells)
    # Less than this is what rounding left of probabilities that sum to 1.
    if expected > 1e-6 * runs or seen:
        cells.append((seen, expected))
    if len(cells) <= 1:
        return 1.0
    statistic = 2 * sum(c * np.log(c / max(e, 1e-300)) for c, e in cells if c)
    return float(chdtrc(len(cells) - 1, max(statistic, 0.0)))


def check_symmetries(learner: Learner) -> None:
    """Check that each generator that `symmetries` returns keeps what distinguishes samples from their neighbours."""
    if not (isinstance(learner, contract.HasSymmetries) and isinstance(learner, contract.HasLaw)):
        return
    # Each symmetry asks for the laws of the same samples.
    law: Callable[..., contract.Law] = lru_cache(maxsize=None)(learner.law)
    kin = learner.privacy.relation if learner.privacy else Relation.REPLACE_ONE
    pairs: list[tuple[Sample, Sample]] = []
    for sample in _samples_of(learner):
        # Nothing of the empty sample can be replaced.
        if sample.n == 0:
            continue
        found = list(sample.neighbours(kin))
        pairs += [(sample, other) for other in found[:: max(1, len(found) // NEIGHBOURS)][:NEIGHBOURS]]
    for permutation in learner.symmetries():
        for sample, other in pairs:
            kept = check_symmetry(law, learner.domain, sample, other, permutation)
            changed = f"it changes the loss of {sample!r:.200} and {other!r:.200}"
            _require(kept, learner, f"{list(permutation)!r:.200} is no symmetry: {changed}")


def edges(learner: Learner) -> Iterator[Learner]:
    """Yield the learner with all sizes among its parameters at their least, and with each one alone.

    A size that it refuses by `InputError` is left out.
    """
    given = parameters_of(learner)
    sizes = [(name, value) for name in LEAST if given.get(name) is not None for value in LEAST[name]]
    changed = [given | dict(sizes), *(given | {name: value} for name, value in sizes)]
    for i, parameters in enumerate(changed):
        if parameters not in changed[:i]:
            with suppress(InputError):
                yield type(learner)(**parameters)


def check_edges(learner: Learner) -> None:
    """Check that audits at the edges of the parameters end, or refuse by `InputError`, on one example."""
    audits = {"run": _run, "law": _law, "supremum": _supremum, "utility": _utility}
    for edge, (name, audit) in product(edges(learner), audits.items()):
        try:
            audit(edge)
        except InputError:
            continue
        # Whatever a learner raises is its fault, and is reported.
        except Exception as error:
            _require(False, edge, f"{name} of {edge!r} raised {type(error).__name__}: {error}")


def _run(edge: Learner) -> None:
    sample = edge.domain.sample(edge.domain.landmarks()[:1], [1])
    for code in edge.run(sample, seeding.generator(0, "conformance", "edge"), 2):
        edge.decode(code)


def _law(edge: Learner) -> None:
    if isinstance(edge, contract.HasLaw):
        audit_law(edge, n=1)


def _supremum(edge: Learner) -> None:
    if isinstance(edge, contract.HasLaw):
        audit_supremum(edge, starts=1, evaluations=1, most=1)


def _utility(edge: Learner) -> None:
    alpha = edge.instance.alpha
    beta = edge.instance.beta
    if isinstance(edge, contract.HasUtility):
        edge.utility(alpha, beta)
    hard_cases(edge, alpha)
    audit_utility(edge, 0, "uniform", alpha=alpha, beta=beta, n=1, trials=20, confidence=0.9)


class Ability(NamedTuple):
    """An optional ability: the method or attribute that offers it, as a signature, and its meaning."""

    name: str
    signature: str
    meaning: str


class Offers(NamedTuple):
    """The abilities that a learner offers, and those that it may add."""

    offered: tuple[Ability, ...]
    further: tuple[Ability, ...]

    def __str__(self) -> str:
        """Return both lists, a line an ability."""
        lines: list[str] = []
        for title, found in (("offers", self.offered), ("may add", self.further)):
            if found:
                lines.append(f"{title}:")
            lines += [f"  {ability.signature}\n      {ability.meaning}" for ability in found]
        return "\n".join(lines)


def offers(learner: Learner | type) -> Offers:
    """Return the optional abilities that a learner, or a class of learners, offers and those that it may add.

    `offered` and `further` are tuples of abilities with `name`, `signature` and `meaning`; as text, two lines each.

    Raises
    ------
    NonConforming
        If it lacks a part that every learner must have: the message names the learner and the part.
    """
    check_parts(learner)
    offered = [name for name, kind in contract.ABILITIES.items() if isinstance(learner, kind)]
    further = [name for name in contract.ABILITIES if name not in offered]
    return Offers(tuple(map(_ability, offered)), tuple(map(_ability, further)))


def _ability(name: str) -> Ability:
    """Return an ability as the protocol that declares it describes it: an annotated attribute, or a method."""
    kind = contract.ABILITIES[name]
    attributes = inspect.get_annotations(kind)
    if name in attributes:
        signature = f": {attributes[name]}"
    else:
        method = str(inspect.signature(getattr(kind, name)))
        # Annotations are strings here, and shown in quotes.
        signature = method.replace("(self, ", "(").replace("(self)", "()").replace("'", "")
    return Ability(name, name + signature, (inspect.getdoc(kind) or "").partition("\n")[0])


CHECKS: tuple[Callable[[Learner], None], ...] = (
    check_parts,
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
    check_edges,
)


def check_learner(learner: Learner) -> None:
    """Run every check on a learner, those of its optional abilities too; the first failure raises `NonConforming`."""
    for check in CHECKS:
        check(learner)
