"""Halfspaces from mixtures of private and public examples (BMN: the PPM model).

Every example carries a public flag (`Sample.public`); neighbours differ in one private example. In the
label-determined model an example is public exactly if it has the public label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import (
    CaseFamily,
    Distribution,
    Hypothesis,
    InputError,
    Instance,
    Law,
    Picture,
    PrivacyClaim,
    Relation,
    Sample,
    Shape,
    UtilityClaim,
    WorstFailure,
    later,
)

from ..arrays import Bools, Floats, Integers, summed
from ..bisection import least_beyond
from ..citations import BMN
from ..domains import Grid
from ..finite.counting import ClassLearner
from ..geometry.pictures import error_share, framed
from ..geometry.polygons import clip, square
from ..halfspaces.concepts import Halfspace, Halfspaces
from ..halfspaces.depth.tukey_depth import MAX_DIMENSION
from ..mechanisms import exponential
from ..parameters import Built, check_integer, check_parameters, check_run, check_sample, check_statement
from ..samples import Sample as Flagged
from .intersections import MAX_LISTED, Intersections, Outside, members_of
from .missed_facets import HardPolytope
from .public_family import MAX_COLLECTIONS, Functional, PublicFamily, log_collections, public_family
from .rejection import Rejected, Tallied
from .wedges import Wedges

# Below this, heights of points over spanned hyperplanes fit an int64.
MAX_SIDE = 2**18
MAX_ATOMS = 2**17
# The largest dimension whose sample sizes are computed: there each takes 10 to 25 seconds.
LARGEST = 512
PICTURED_POINTS = 40
# More hypotheses, by their logarithm, are no float.
MOST_LOG = 700.0
_PROOF = (
    "some hypothesis of G makes no error on the sample, and any other one that public points of the grid can make has "
    "the weight exp(-epsilon W/2) at most relative to it, W ~ Bin(n, > alpha); whether it is in G does not matter"
)
_MISSING = "which public points a sample has, and so how few of all hypotheses that they can make are in G"
Code = tuple[tuple[Functional, ...], ...]
"""() for the empty hypothesis, else the halfspaces and the equations of the flat."""


@dataclass(frozen=True)
class MixtureGrid(Grid):
    """A grid whose samples carry public flags: those given, else the label-determined ones.

    Without flags, examples with the label `public_label` are public, all others private.
    """

    public_label: int = 0

    def sample(
        self, points: ArrayLike, labels: ArrayLike, counts: ArrayLike | None = None, public: ArrayLike | None = None
    ) -> Flagged:
        """Return the labelled multiset with its public flags."""
        if public is None:
            flags = np.asarray(labels) == self.public_label
        else:
            flags = public
        return super().sample(points, labels, counts, flags)


@dataclass(frozen=True)
class MixtureHalfspace(ClassLearner):
    """Learn halfspaces from private and public examples: the exponential mechanism over public intersections.

    C~_pub holds both sides of every hyperplane that public points span (see `mixtures.public_family`); G holds every
    collection of at most d of them, read as "0 on the intersection, cut with the flat of the public points, 1 outside",
    and the empty hypothesis, 1 everywhere (labels turned if the public one is 1). One of G is returned with probability
    proportional to exp(-epsilon errors / 2), errors counted on public and private examples together. Collections are
    not merged, even if they label the sample alike: how many label it alike depends on the private points.

    Pure epsilon-differentially private under replacement of one private example: G depends on public points alone, and
    the number of errors has sensitivity 1. Outputs are () for the empty hypothesis, else (halfspaces, flat), each a
    tuple of rows (w_1, .., w_d, t).

    Utility. G contains a hypothesis with no more errors than the best halfspace that labels all private examples that
    it labels 1 correctly (Helly; BMN Lemma 4.5). Every hypothesis is determined by at most d^2 examples: d of them for
    each halfspace, or d - 1 if at most d fix the flat. `sample_size` takes the union bound over these choices.
    The privacy status may be anything as long as all private examples have the label that is not the public one: public
    and private populations of their own, public examples of either label, noise in the labels of public ones (BMN,
    relaxation (ii)). Of other populations the theorem does not speak: each private example with the public label may
    cost one more error, and without public examples nothing but the empty hypothesis is learned.

    Parameters
    ----------
    dimension : int
        d. The learner runs for d = 1, 2 or 3; `sample_size` and `hard_failure` are computed up to 512.
    epsilon : float
        The privacy claim.
    side : int
        Points lie in {0 .. side}^dimension.
    literal : bool
        Build C~_pub as printed, with "arbitrary" halfspaces; fails where public points lie in a flat.
    public_label : {0, 1}
        The label inside an intersection, which examples must have to be public in the label-determined model. The
        complement of a halfspace agrees with a halfspace on the grid, so that all above holds with labels turned.

    Notes
    -----
    The learner is improper. Public points in general position may be 256 in the plane and 74 in space. From 21 points
    in space on, whose collections are too many to be counted, a run on a sample that no collection labels well may take
    any time, for it draws by rejection alone. Source: BMN, Algorithms 1 and 2, Lemma 4.1, Theorems 4.9 and 4.10.
    """

    dimension: int
    epsilon: float
    side: int = 4
    literal: bool = False
    public_label: int = later(0)

    id: ClassVar[str] = "mixture-halfspace"
    instance: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 1.0, "side": 2}, n=6, exhaustive=False)
    pictured: ClassVar[Instance] = Instance({"dimension": 2, "epsilon": 2.0, "side": 12}, n=200)
    settings: ClassVar[tuple[str, ...]] = ("realizable", "agnostic")
    # Whether all hypotheses are looked at one by one, as some controls do.
    _lists: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self, dimension=(1, LARGEST), side=(1, MAX_SIDE), public_label=(0, 1))

    concepts = Built(Halfspaces)

    @property
    def domain(self) -> MixtureGrid:
        """The grid, in at most three dimensions; samples without flags are label-determined."""
        check_integer("dimension", self.dimension, 1, MAX_DIMENSION)
        return MixtureGrid(self.side, self.dimension, self.public_label)

    @property
    def privacy(self) -> PrivacyClaim:
        """Pure epsilon-differential privacy under replacement of one private example."""
        return PrivacyClaim(self.epsilon, 0.0, Relation.REPLACE_PRIVATE, "BMN-Lem4.1", f"{BMN}, Lemma 4.1")

    @property
    def _rate(self) -> float:
        return self.epsilon / 2

    def family(self, sample: Sample) -> PublicFamily:
        """Return the halfspaces that the public points of the sample span."""
        return public_family(self._spanning(sample), literal=self.literal)

    def _spanning(self, sample: Sample) -> Integers:
        """Return the points that span the family: the public ones."""
        if sample.public is None:
            flags = np.zeros(len(sample.labels), dtype=np.bool_)
        else:
            flags = sample.public
        return np.asarray(sample.points[flags], dtype=np.int64)

    def errors(self, sample: Sample) -> Integers:
        """Return how many examples every hypothesis of G labels wrongly, in the order of the codes."""
        return self._collections(sample).all_errors

    def _collections(self, sample: Sample) -> Intersections:
        """Return the collections of G, with what it takes to count their errors."""
        points, gains, base = self._gains(sample)
        return Intersections(self.family(sample).inside(points), gains, base, self.dimension)

    def _gains(self, sample: Sample) -> tuple[Integers, Integers, int]:
        """Return the distinct points, the errors that each adds if it is inside, and the errors if none is."""
        # An example inside is an error if it has the other label; outside, if it has the public one.
        outside = sample.labels != self.public_label
        points, gains = summed(sample.points.astype(np.int64), np.where(outside, sample.counts, -sample.counts))
        return points, gains, int(sample.counts[~outside].sum())

    def codes(self, family: PublicFamily, indices: Integers) -> list[Code]:
        """Return the outputs that stand for the hypotheses with these numbers."""
        return _codes(family, members_of(indices, len(family.halfspaces), self.dimension))

    def _eligible(self, sample: Sample, errors: Integers) -> Bools:
        return np.ones(len(errors), dtype=np.bool_)

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Code]:
        """Return the outputs of independent runs; see `_ranking` for how they are drawn."""
        check_run(sample, self.domain, size)
        # Samples hash by their contents, which their protocol does not say.
        hashable: Any = sample
        family, ranking = _ranking(self, hashable)
        return _codes(family, ranking.draw(self._rate, rng, size))

    def decode(self, code: Code) -> Outside:
        """Return the hypothesis."""
        halfspaces, flat = code or ((), ())
        return Outside(halfspaces, flat, self.public_label)

    def law(self, sample: Sample) -> Law:
        """Return the softmax on G; `InputError` if G has more than 2^17 members (run has no such limit)."""
        check_sample(sample, self.domain)
        family = self.family(sample)
        size = family.collections(self.dimension)
        if size > MAX_ATOMS:
            raise InputError(f"G must have at most {MAX_ATOMS} hypotheses for the exact law, got {size}")
        errors = self.errors(sample)
        # The exponential mechanism with the score -errors.
        log_prob, error = exponential.log_law(-errors, self._rate, self._eligible(sample, errors))
        return Law(self.codes(family, np.arange(len(errors))), log_prob, error)

    def utility(self, alpha: float, beta: float, setting: str = "realizable") -> UtilityClaim:
        """Return the claim Pr[error > alpha] <= beta (in excess of the best halfspace, if agnostic).

        With k = d^2, r = n - k, M(n) choices of at most k examples and signs, and L = (2/epsilon) ln(|G| / (beta/2)):

        - realizable: L <= r alpha / 2 (the mechanism errs at most half as often as allowed) and
          M e^(-r alpha / 8) <= beta / 2 (no hypothesis with error above alpha errs that rarely outside its k examples);
        - agnostic: L' = (2/epsilon) ln(3 |G| / beta) <= r alpha / 4, M e^(-r alpha^2 / 8) <= beta / 3,
          e^(-n alpha^2 / 8) <= beta / 3 and (k / r)(1 + alpha / 4) <= alpha / 4.
        """
        check_statement(alpha, beta, setting, ("realizable", "agnostic"))
        size = least_beyond(lambda n: self._enough(n, alpha, beta, setting), 1, 2)
        claim = "BMN-Thm4.9" if setting == "realizable" else "BMN-Thm4.10"
        return UtilityClaim(alpha, beta, size, setting, claim, f"{BMN}, Theorem {claim[7:]}, constants derived")

    def _enough(self, n: int, alpha: float, beta: float, setting: str) -> bool:
        """Return whether n examples meet the conditions of `utility`."""
        # A hypothesis is fixed by at most d^2 examples; the other r examples test it.
        k = self.dimension**2
        # The failure probability is divided over two events, or three where the best halfspace may look worse than it
        # is.
        log_beta = math.log(beta / (2 if setting == "realizable" else 3))
        rest = n - k
        gap = 2 / self.epsilon * (self._log_hypotheses(n) - log_beta)
        if setting == "realizable":
            # The two conditions of the docstring, on logarithms: numbers of choices exceed any float.
            return gap <= rest * alpha / 2 and self._log_choices(n) - log_beta <= rest * alpha / 8
        # The third condition, e^(-n alpha^2/8) <= beta/3, follows from the second, since M >= 1 and n >= r.
        chosen = gap <= rest * alpha / 4 and self._log_choices(n) - log_beta <= rest * alpha**2 / 8
        return chosen and k * (1 + alpha / 4) <= rest * alpha / 4

    def _log_hypotheses(self, n: int) -> float:
        """Return ln of the greatest |G| on n examples."""
        return log_collections(2 * math.comb(n, self.dimension), self.dimension)

    def _log_choices(self, n: int) -> float:
        """Return ln M(n): points of the flat (unless it is the space), halfspaces in it, and the empty hypothesis."""
        d = self.dimension
        # By how many points fix the flat: k + 1 of them, and then k for each hyperplane within it.
        flats = [math.log(math.comb(n, k + 1)) + log_collections(2 * math.comb(n, k), d) for k in range(d)]
        return float(np.logaddexp.reduce([*flats, self._log_hypotheses(n)]))

    def hard_failure(self, alpha: float, n: int) -> tuple[float, str]:
        """Return a lower bound for the failure rate on a case in many dimensions; see `mixtures.missed_facets`.

        `InputError` in at most three dimensions, where the learner runs and cases are searched for; on a grid with a
        side below 4 d - 3; for alpha from 1/(2 d + 2.001) on; for the literal construction.
        """
        check_integer("dimension", self.dimension, MAX_DIMENSION + 1, LARGEST)
        # Below that side the cross-polytope of the case does not fit.
        check_integer("side", self.side, 4 * self.dimension - 3, MAX_SIDE)
        if self.literal:
            raise InputError.of("literal", self.literal, "False, for a failure rate that is computed")
        hard = HardPolytope.cross(self.dimension, alpha)
        return hard.failure(self._rate, n), f"{hard}; a lower bound for the failure rate"

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases.

        Of the hypotheses in G one makes no error on the sample (BMN, Lemma 4.5), and a given one with error above alpha
        is chosen with probability at most exp(-epsilon W/2) for its number W of errors, if it is in G at all. So the
        failure rate is at most H (1 - alpha (1 - exp(-epsilon/2)))^n, H the number of hypotheses that points of the
        grid can make: no sample is given, and no union bound over its points is needed.

        `InputError` for the literal construction, and where H is beyond any float.
        """
        if self.literal:
            raise InputError.of("literal", self.literal, "False, for a bound on all cases")
        log_outputs = self._log_choices((self.side + 1) ** self.dimension)
        if log_outputs > MOST_LOG:
            raise InputError(f"there are more than exp({MOST_LOG}) hypotheses, for which no bound is computed")
        number = math.exp(log_outputs) * (1 + 1e-9)
        upper = math.exp(min(0.0, math.log(number) + n * math.log1p(alpha * math.expm1(-self._rate))))
        numbers = {"outputs": number, "rate": self._rate}
        return WorstFailure(0.0, upper, CaseFamily.OUTPUTS, numbers, _PROOF, _MISSING)

    def speaks_of(self, distribution: Distribution, ones: Floats) -> bool:
        """Return whether no private example has the public label; label-determined ones never have."""
        if distribution.public is None:
            return True
        # Points of probability 0 are in no sample.
        private = ~distribution.public & (distribution.probabilities > 0)
        public_label = ones if self.public_label else 1 - ones
        return not (public_label[private] > 0).any()

    def scene(self, rng: np.random.Generator) -> tuple[Sample, Halfspace]:
        """Return the sample of the picture, with its labels' flags, and its target: a halfspace off one corner."""
        # Not parallel to an axis or a diagonal, so that no grid line coincides with its boundary.
        target = Halfspace((2,) * (self.dimension - 1) + (3,), 2 * self.side * (self.dimension + 1) // 3)
        points = rng.integers(0, self.side + 1, (PICTURED_POINTS, self.dimension))
        counts = rng.multinomial(self.pictured.n, np.full(len(points), 1 / len(points)))
        return self.domain.sample(points, target.predict(points), counts), target

    def picture(self, sample: Sample, codes: Sequence[Code], target: Hypothesis | None = None) -> Picture:
        """Return the sample and the regions that were learned to have the public label; dimension 2 only."""
        check_integer("dimension", self.dimension, 2, 2)
        shapes = []
        for code in codes:
            hypothesis = self.decode(code)
            # An equation of the flat is two inequalities.
            opposite = [tuple(-v for v in row) for row in hypothesis.flat]
            rows = [*hypothesis.halfspaces, *hypothesis.flat, *opposite]
            label = f"learned to be {self.public_label}, error {error_share(sample, hypothesis):.3g} on the sample"
            shapes.append(_polygon(self.side, rows, "blue", 0.16, label))
        if isinstance(target, Halfspace):
            row = (*target.weights, target.threshold)
            inside = row if self.public_label else tuple(-v for v in row)
            shapes.append(_polygon(self.side, [inside], "orange", 0.0, f"target: {self.public_label} on this side"))
        caption = (
            "Public and private examples, and the regions that were learned to be labelled "
            f"{self.public_label}: intersections of halfplanes through public points. A region without area is drawn "
            "as a line or not at all."
        )
        return Picture((framed(self.side, caption, [*shapes, *_markers(sample)], "x_1", "x_2"),))

    def symmetries(self) -> list[Integers]:
        """Return no symmetry: outputs name points of the plane."""
        return []


@lru_cache(maxsize=2)
def _ranking(learner: MixtureHalfspace, sample: Sample) -> tuple[PublicFamily, Tallied | Rejected]:
    """Return the family, and what draws from it; kept for the last samples, since runs come in chunks.

    Few hypotheses are listed by their errors. Many are drawn by rejection; where that takes too many tries they are
    counted by errors, in the plane by wedges, else in blocks.
    """
    family = learner.family(sample)
    size = family.collections(learner.dimension)
    if learner._lists and size > MAX_LISTED:
        raise InputError(f"{learner.id} lists all hypotheses, at most {MAX_LISTED}; these public points give {size}")
    points, gains, base = learner._gains(sample)
    # Few hypotheses are listed; -1 marks those that a control never draws.
    if size <= MAX_ATOMS or learner._lists or learner.dimension == 1:
        collections = learner._collections(sample)
        errors = collections.all_errors
        return family, Tallied(collections, np.where(learner._eligible(sample, errors), errors, -1))

    @cache
    def counted() -> Tallied:
        if learner.dimension == 2 and not family.flat:
            return Tallied(Wedges.of(family.halfspaces, points, gains, base, learner.side))
        return Tallied(learner._collections(sample))

    # Too many to be counted: then draws go on until one is accepted.
    fallback = counted if size <= MAX_COLLECTIONS else None
    return family, Rejected.of(family, points, gains, learner.dimension, fallback)


def _codes(family: PublicFamily, collections: list[tuple[int, ...]]) -> list[Code]:
    """Return the outputs that stand for collections of halfspaces of the family."""
    rows = family.halfspaces
    return [(tuple([rows[i] for i in members]), family.flat) if members else () for members in collections]


def _polygon(side: int, rows: Sequence[Sequence[int | Fraction]], tone: str, shade: float, label: str) -> Shape:
    """Return the part of the square in all halfplanes; nothing where there are none, of the empty hypothesis."""
    corners = square(0, side) if rows else []
    for a, b, t in rows:
        corners = clip(corners, [a * x + b * y - t for x, y in corners])
    points = tuple((float(x), float(y)) for x, y in corners)
    return Shape("polygon", points, tone, shade, 1.2 if shade else 2.0, dashed=not shade, label=label)


def _markers(sample: Sample) -> list[Shape]:
    """Return the markers of public and private points of either label."""
    if sample.public is None:
        public = np.zeros(len(sample.labels), dtype=np.bool_)
    else:
        public = sample.public
    shapes = []
    for flag, kind, markers in ((True, "public", ("square", "cross")), (False, "private", ("ring", "dot"))):
        for label, marker in enumerate(markers):
            rows = sample.points[(public == flag) & (sample.labels == label)].tolist()
            points = tuple((float(x), float(y)) for x, y in rows)
            if points:
                shapes.append(Shape("points", points, "ink", marker=marker, label=f"{kind}, labelled {label}"))
    return shapes


LEARNERS = (MixtureHalfspace,)
