"""The exact privacy audit: every output law of a learner, compared over every pair of neighbours.

No sampling, no confidence level: the worst-case epsilon and the whole curve delta(epsilon) over the pairs
covered, each with a bound on its error.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from dpaudit.arguments import check_built
from dpaudit.contract import (
    Grade,
    HasLaw,
    HasPairLaws,
    HasSymmetries,
    Law,
    Learner,
    Pair,
    PrivacyClaim,
    PrivacyVerdict,
    Relation,
    Sample,
)
from dpaudit.errors import InputError
from dpaudit.exact.enclosure import enclose, require_exact_law
from dpaudit.exact.finding import LawFinding, PairInWords
from dpaudit.exact.profiles import LawTable, LossProfiles
from dpaudit.neighbours.exhaustive import PairPlan, every_pair, given_pairs
from dpaudit.neighbours.multisets import Ranks
from dpaudit.progress import Progress, followed
from dpaudit.results import remembering

LOG = logging.getLogger(__name__)

CURVE_POINTS = 33


@remembering
def audit_law(
    learner: Learner,
    *,
    n: int | None = None,
    samples: Iterable[Sample | Pair] | None = None,
    relation: Relation | str | None = None,
    enclosure: bool = False,
    progress: Progress = False,
) -> LawFinding:
    """Compute the worst-case epsilon and delta of a learner from its exact output laws.

    Over the pairs (S, S') covered and the outputs o,

        epsilon = max ln Pr[A(S) = o] / Pr[A(S') = o],
        delta(e) = max over pairs of sum over o of (Pr[A(S) = o] - exp(e) Pr[A(S') = o])_+.

    Parameters
    ----------
    learner : Learner
        Must have `law(sample)`; its `symmetries()`, if any, shrink the enumeration. Where it has `pair_laws(sample,
        neighbour)` and these are not None, they are compared instead: two laws a pair.
    n : int, optional
        Audit every sample of n examples over the learner's domain against every neighbour. By default, where
        no samples are given either, the `n` of the learner's instance.
    samples : iterable of samples and pairs, optional
        Audit these samples against all their neighbours; a `Pair` stands for itself.
    relation : Relation or str, optional
        By default the claim's, else REPLACE_ONE.
    enclosure : bool
        Recompute the losses that decide epsilon in ball arithmetic: `finding.enclosure` then holds two floats between
        which the worst case lies. Needs a learner with `exact_law` (see `exact.enclosure`) and python-flint.
    progress : bool or callable
        As for `audit_privacy`; laws are counted.

    Returns
    -------
    LawFinding
        The verdict is "violation" if the claim is refuted beyond the error bound: for a claim with delta = 0
        if ``epsilon - error`` (or the lower end of the enclosure) exceeds the claimed epsilon, else if delta at the
        claimed epsilon exceeds the claimed delta by more than its error. `worst_pair` is ordered so that `worst_atom`
        is likelier on `data`; it attains `epsilon`, but `delta_at_claim` where the claim has delta > 0 and that is
        positive. `samples` and `pairs` count with symmetric copies: all samples of n examples, or the distinct ones
        given.

    Raises
    ------
    InputError
        If the learner has no law, both `n` and `samples` are given, a pair is none, there is too much to
        enumerate, or an enclosure is asked for that cannot be had.
    """
    source = _check(learner, n, samples)
    if enclosure:
        require_exact_law(learner)
    rel = relation_of(learner, relation)
    size = None
    if samples is not None:
        plan = given_pairs(learner.domain, samples, rel)
    else:
        size = learner.instance.n if n is None else n
        generators: Sequence[NDArray[np.int64]] = ()
        if isinstance(learner, HasSymmetries):
            generators = learner.symmetries()
        plan = every_pair(learner.domain, size, rel, list(generators))
    table, left, right = _laws(source, plan, progress, listed=enclosure)
    profiles = LossProfiles(table.log_prob, table.error, left, right)
    ends = None
    if enclosure:
        ends = enclose(learner, plan.inputs, table.atoms, profiles)
    finding = _finding(learner.privacy, plan, table, profiles, size, rel, ends)
    # An object with a law need not be a learner, and then has no id.
    name = getattr(learner, "id", type(learner).__name__)
    LOG.info("law of %s: %s, epsilon %.4g over %d pairs", name, finding.verdict, finding.epsilon, plan.pairs)
    return finding


def relation_of(learner: Learner, relation: Relation | str | None = None) -> Relation:
    """Return the relation that is asked for; by default the claim's, else REPLACE_ONE."""
    if relation is not None:
        return Relation.parse(relation)
    return learner.privacy.relation if learner.privacy else Relation.REPLACE_ONE


def _laws(source: HasLaw, plan: PairPlan, progress: Progress, *, listed: bool) -> tuple[LawTable, Ranks, Ranks]:
    """Return the laws, and the numbers of the two laws of each pair.

    There is one law an input; where a learner gives the two laws of a pair in common cells, two for each two inputs.
    `listed` refuses laws in cells.
    """

    def in_cells(left: int, right: int) -> tuple[Law, Law] | None:
        if not isinstance(source, HasPairLaws):
            return None
        return source.pair_laws(plan.inputs(left), plan.inputs(right))

    size = plan.size
    left = plan.left
    right = plan.right
    laws: Iterable[tuple[Sample, Law]] = ((data, source.law(data)) for data in map(plan.inputs, range(size)))
    # A learner has such laws for all of its samples or for none, so that the first pair decides.
    if in_cells(int(plan.left[0]), int(plan.right[0])) is not None:
        if listed:
            raise InputError("{enclosure} needs laws that list the outputs; these are too many", names=("enclosure",))
        # A pair and the same pair in the other direction share their two laws.
        ends = np.sort(np.column_stack((plan.left, plan.right)), axis=1)
        twos, place = np.unique(ends, axis=0, return_inverse=True)
        first = 2 * place.ravel()
        swapped = plan.left > plan.right
        size = twos.size
        left = first + swapped
        right = first + ~swapped
        pair_laws = (law for one, other in twos.tolist() for law in in_cells(one, other) or ())
        laws = zip(map(plan.inputs, twos.ravel().tolist()), pair_laws, strict=True)
    table = LawTable(size)
    with followed(progress, size, "laws") as report:
        for data, law in laws:
            table.add(law, data)
            if report is not None:
                report(1)
    return table, left, right


def _check(learner: Learner, n: int | None, samples: Iterable[Sample | Pair] | None) -> HasLaw:
    """Return the learner as one with a law, or raise `InputError` if it, or the arguments, cannot be audited."""
    check_built(learner)
    if not isinstance(learner, HasLaw):
        name = learner.id if isinstance(learner, Learner) else learner
        raise InputError(f"learner {name!r} has no law(sample), which the exact audit needs; use the black-box audit")
    if n is not None and samples is not None:
        raise InputError(
            "give {n} or {samples}, not both: {n} audits every sample of n examples", names=("n", "samples")
        )
    return learner


def _finding(
    claim: PrivacyClaim | None,
    plan: PairPlan,
    table: LawTable,
    profiles: LossProfiles,
    n: int | None,
    rel: Relation,
    ends: tuple[float, float] | None,
) -> LawFinding:
    claimed_epsilon = None
    claimed_delta = 0.0
    epsilon_at_claim = None
    claim_id = ""
    if claim is not None:
        claimed_epsilon = claim.epsilon
        claimed_delta = claim.delta
        epsilon_at_claim = profiles.epsilon_at(claim.delta)
        if rel is claim.relation:
            claim_id = claim.claim_id
    at_claim = profiles.delta(claimed_epsilon or 0.0)
    if claimed_epsilon is not None and claimed_delta > 0 and at_claim > 0:
        pair, atom = profiles.worst_delta(claimed_epsilon)
    else:
        pair, atom = profiles.worst()
    worst = Pair(plan.inputs(int(plan.left[pair])), plan.inputs(int(plan.right[pair])), origin=plan.origin(pair))
    output = table.atoms[atom]
    finding = LawFinding(
        verdict=_verdict(claim, at_claim, profiles, ends),
        epsilon=profiles.epsilon,
        error=profiles.epsilon_error,
        claimed_epsilon=claimed_epsilon,
        claimed_delta=claimed_delta,
        delta_at_claim=at_claim,
        epsilon_at_claim=epsilon_at_claim,
        pair_in_words=PairInWords(repr(worst.data), repr(worst.neighbour), worst.origin),
        worst_atom=repr(output),
        worst_output=_in_fractions(output),
        worst_code=output if type(output) is int else UNSET,
        pairs=plan.pairs,
        samples=plan.samples,
        laws=len(table.error),
        n=None if n is None else int(n),
        relation=rel,
        grade=Grade(table.grade),
        curve=_curve(claimed_epsilon or 0.0, profiles),
        claim_id=claim_id,
        enclosure=ends,
    )
    finding.__dict__.update(worst_pair=worst, profiles=profiles)
    return finding


def _verdict(
    claim: PrivacyClaim | None, at_claim: float, profiles: LossProfiles, ends: tuple[float, float] | None
) -> PrivacyVerdict:
    """Return "violation" if delta at the claim, or epsilon, exceeds the claim by more than the number's own error.

    `ends` enclose epsilon, where an enclosure was asked for.
    """
    refuted = False
    if claim is not None and claim.delta > 0:
        refuted = at_claim - profiles.delta_error(claim.epsilon) > claim.delta
    elif claim is not None and ends is not None:
        refuted = ends[0] > claim.epsilon
    elif claim is not None:
        refuted = profiles.epsilon - profiles.epsilon_error > claim.epsilon
    return PrivacyVerdict.VIOLATION if refuted else PrivacyVerdict.CONSISTENT


def _in_fractions(output: Hashable) -> str:
    """Return an output as `repr` writes it; rationals are written as fractions."""
    if type(output) is tuple:
        return f"({', '.join(map(_in_fractions, output))}{',' * (len(output) == 1)})"
    return str(output) if type(output) is Fraction else repr(output)


def _curve(claimed: float, profiles: LossProfiles) -> tuple[tuple[float, float], ...]:
    """Return (epsilon, delta) from 0 to a little above the claimed epsilon and the greatest finite loss."""
    finite = profiles.peaks[np.isfinite(profiles.peaks)]
    top = 1.05 * max(claimed, float(finite.max(initial=0.0)))
    if top == 0:
        # Nothing leaks and nothing is claimed: the curve is 0 everywhere.
        top = 1.0
    grid = {*np.linspace(0.0, top, CURVE_POINTS).tolist(), float(claimed)}
    return tuple((e, profiles.delta(e)) for e in sorted(grid) if math.isfinite(e))
