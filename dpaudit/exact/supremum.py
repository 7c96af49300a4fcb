"""The audit of a learner's supremum: proposals, limits and closed forms, and what they support together."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator

from dpaudit import seeding
from dpaudit.arguments import check_built, read_integer
from dpaudit.contract import (
    Grade,
    HasFault,
    HasLaw,
    HasLimitLaw,
    HasSupremum,
    Law,
    Learner,
    Origin,
    OriginKind,
    Pair,
    PrivacyVerdict,
    Relation,
    Sample,
    Support,
    Supremum,
)
from dpaudit.errors import InputError
from dpaudit.exact.audit import audit_law, relation_of
from dpaudit.exact.enclosure import owner_of
from dpaudit.exact.finding import AGREES, LawFinding, PairInWords, SupremumFinding
from dpaudit.exact.universe import CAP, Peak, Star, Universe, Weights, climb, growth, plus, ray_bases
from dpaudit.progress import Progress, followed
from dpaudit.results import remembering

LOG = logging.getLogger(__name__)

# The most rays that are enumerated.
RAYS = 150
# The relative error of a closed form: what exceeds it by more refutes it.
ROUNDING = 1e-9
# Copies times epsilon at which a ray is close to its limit.
_FAR = 40


@remembering
def audit_supremum(
    learner: Learner,
    *,
    starts: int = 8,
    evaluations: int = 250,
    most: int = 4,
    relation: Relation | str | None = None,
    seed: int = 0,
    progress: Progress = False,
) -> SupremumFinding:
    """Search the supremum of a learner's privacy loss over samples of every size.

    The loss of neighbours S, S' is max over outputs o of ln Pr[A(S) = o] / Pr[A(S') = o]; a maximum over all samples of
    a few examples can be far below its supremum over all n. The search climbs over samples of few distinct examples
    with any multiplicities, and follows rays: a few examples and t copies of another one. For examples T that a pair
    shares, 2 |X| laws give the loss of every replacement. Where the learner has `limit_law`, rays are followed to
    their exact limit; where it has `supremum`, its closed form is the value unless the search refutes it. Of a domain
    of more than 64 points the landmarks alone are tried.

    Parameters
    ----------
    learner : Learner
        Must have `law(sample)`. The `supremum` that a positive control inherits is not its own and is not asked.
    starts : int
        Climbs, from independent random samples.
    evaluations : int
        Steps of a climb.
    most : int
        The most distinct examples in a sample, not counting the one that differs.
    relation : Relation or str, optional
        By default the claim's, else REPLACE_ONE.
    seed : int
        The root of the search's randomness.
    progress : bool or callable
        As for `audit_privacy`; laws are counted.

    Returns
    -------
    SupremumFinding
        With `value`, `error`, `support`, `witness` and `agreement`.

    Raises
    ------
    InputError
        If the learner has no law, or its law refuses every sample that was tried.
    """
    check_built(learner)
    if not isinstance(learner, HasLaw):
        raise InputError(
            f"learner {learner.id!r} has no law(sample), which the supremum needs; use the black-box audit"
        )
    for name, value in (("starts", starts), ("evaluations", evaluations), ("most", most)):
        read_integer(name, value)
    search = _Search(learner, relation_of(learner, relation), seeding.check_seed(seed))
    with followed(progress, starts * evaluations * len(search.universe.changed), "laws") as report:
        search.star = Star(search.universe, search.relation, learner.law, report=report)
        search.climb(starts, evaluations, most)
        search.follow_rays(most)
        search.try_closed_form()
    return search.finding(starts)


class _Search:
    """One search: the best pair, the best limit and the closed form found so far."""

    def __init__(self, learner: Learner, relation: Relation, seed: int) -> None:
        assert isinstance(learner, HasLaw)
        self.learner = learner
        self.relation = relation
        self.seed = seed
        self.universe = Universe(learner.domain, relation)
        # Examples that the law does not distinguish would only multiply the pairs of every star.
        self.universe.fold(learner.law, seeding.generator(seed, "supremum", learner.id, "fold"))
        # Made once it is known whom progress is reported to.
        self.star: Star
        self.peaks: list[Peak] = []
        self.best: LawFinding | None = None
        # In a star of limits, and the example that is added.
        self.limit: tuple[Peak, int] | None = None
        self.closed: Supremum | None = None

    def climb(self, starts: int, evaluations: int, most: int) -> None:
        """Climb from several starts; the greatest loss is the best pair."""
        for number in range(starts):
            rng = seeding.generator(self.seed, "supremum", self.learner.id, number)
            peak = climb(self.star, self.universe.items, evaluations=evaluations, most=most, rng=rng)
            if peak is None:
                refusal = self.star.refusal
                raise InputError(
                    f"the law of learner {self.learner.id!r} refuses every sample that was tried: {refusal}"
                )
            self.peaks.append(peak)
        self._offer(max(self.peaks, key=lambda peak: peak.safe))

    def follow_rays(self, most: int) -> None:
        """Follow rays to their exact limits where the learner has them, else far enough."""
        rays = ray_bases(self.universe.items, most, RAYS)
        if isinstance(self.learner, HasLimitLaw) and _owns(self.learner, "limit_law"):
            self._follow_to_limits(self.learner.limit_law, rays)
            return
        far = [self.star(plus(base, [(direction, self._reach())])) for direction, base in rays]
        if found := [peak for peak in far if peak is not None]:
            self._offer(max(found, key=lambda peak: peak.safe))

    def _follow_to_limits(
        self, limit_law: Callable[[Sample, Sample], Law], rays: Iterator[tuple[int, Weights]]
    ) -> None:
        def star(item: int) -> Star:
            direction = self.universe.sample(((item, 1),))
            return Star(self.universe, self.relation, lambda sample: limit_law(sample, direction), limits=True)

        stars = {item: star(item) for item in self.universe.items}
        limits = ((stars[direction](base), direction) for direction, base in rays)
        found = [(peak, direction) for peak, direction in limits if peak is not None]
        if not found:
            return
        peak, direction = max(found, key=lambda limit: limit[0].safe)
        self.limit = peak, direction
        # No sample need attain the limit: a pair is sought that comes close to it, as a witness.
        reach = self._reach()
        near = None
        while reach <= CAP and (near is None or near.loss < peak.loss * (1 - AGREES)):
            near = self.star(plus(peak.weights, [(direction, reach)]))
            reach *= 10
        if near is not None:
            self._offer(near)

    def _reach(self) -> int:
        """Return how many copies bring a ray near its limit; without a claim there is no scale to go by."""
        claim = self.learner.privacy
        if claim is None or claim.epsilon == 0:
            return 1000
        return min(CAP, math.ceil(_FAR / claim.epsilon))

    def try_closed_form(self) -> None:
        """Ask the learner for its closed form, and see how near to it its own ray comes."""
        learner = self.learner
        if isinstance(learner, HasSupremum) and _owns(learner, "supremum") and self.relation is relation_of(learner):
            self.closed = learner.supremum()
        if self.closed is None:
            return
        # The learner's own pairs tend to the closed form: one that comes close to it is a witness.
        for t in (10**power for power in range(7)):
            if self.best is not None and self.best.epsilon >= self.closed.value * (1 - AGREES):
                return
            try:
                self._keep(self._audited(self.closed.ray(t)))
            except InputError:
                return

    def _offer(self, peak: Peak) -> None:
        left, right = (self.universe.sample(plus(peak.weights, change)) for change in (peak.left, peak.right))
        pair = Pair(left, right, Origin(OriginKind.CRAFTED, "search for the supremum"))
        self._keep(self._audited(pair))

    def _keep(self, found: LawFinding) -> None:
        # By what is certain: errors of laws grow with the counts.
        if self.best is None or found.epsilon - found.error > self.best.epsilon - self.best.error:
            self.best = found

    def finding(self, starts: int) -> SupremumFinding:
        """Return what closed form, limits and pairs support together."""
        best = self.best
        claim = self.learner.privacy
        assert best is not None
        value, error, support, ray = self._found(best)
        proof = ""
        proved_value = None
        refuted = False
        if self.closed is not None:
            proof = self.closed.proof
            proved_value = self.closed.value
            refuted = value - error > proved_value * (1 + ROUNDING)
            if not refuted:
                value = proved_value
                support = Support.PROVED
                ray = ""
                error = ROUNDING * value if math.isfinite(value) else 0.0
        verdict = best.verdict
        claimed_epsilon = None
        claimed_delta = 0.0
        if claim is not None:
            claimed_epsilon = claim.epsilon
            claimed_delta = claim.delta
            # A pure claim fails below its supremum at some sample, also where none that was computed shows it.
            if claim.delta == 0 and value - error > claim.epsilon:
                verdict = PrivacyVerdict.VIOLATION
        pair = best.worst_pair
        assert isinstance(pair, Pair)
        found = SupremumFinding(
            verdict=verdict,
            value=value,
            error=error,
            support=support,
            claimed_epsilon=claimed_epsilon,
            claimed_delta=claimed_delta,
            attained=best.epsilon,
            attained_error=best.error,
            pair_in_words=PairInWords(repr(pair.data), repr(pair.neighbour), pair.origin),
            worst_atom=best.worst_atom,
            n=pair.data.n,
            growth=tuple(growth(pair, self.learner.domain, lambda one: self._audited(one).epsilon)),
            starts=starts,
            agreement=sum(peak.loss >= value * (1 - AGREES) for peak in self.peaks),
            laws=self.star.laws,
            relation=self.relation,
            grade=Grade.NUMERIC if self.star.numeric else Grade.EXACT,
            seed=self.seed,
            ray=ray,
            proof=proof,
            proved_value=proved_value,
            proof_refuted=refuted,
            claim_id=best.claim_id,
        )
        LOG.info("supremum of %s: %.6g (%s), %d laws", self.learner.id, value, support, self.star.laws)
        found.__dict__["pair"] = pair
        return found

    def _found(self, best: LawFinding) -> tuple[float, float, Support, str]:
        """Return the greatest loss that the search found, its error, what it rests on, and the ray of a limit."""
        if self.limit is not None:
            peak, direction = self.limit
            if peak.safe > best.epsilon - best.error:
                ray = repr(self.universe.sample(((direction, 1),)))
                return peak.loss, peak.error, Support.LIMIT, ray
        return best.epsilon, best.error, Support.LOWER_BOUND, ""

    def _audited(self, pair: Pair) -> LawFinding:
        return audit_law(self.learner, samples=[pair], relation=self.relation)


def _owns(learner: Learner, ability: str) -> bool:
    """Say whether an ability belongs to the law of a learner: not if a class overrides the law, or plants a fault."""
    own = owner_of(learner, ability)
    others = ["law"]
    if isinstance(learner, HasFault):
        others.append("fault")
    return all(issubclass(own, owner_of(learner, name)) for name in others)
