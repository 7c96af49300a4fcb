"""Halfspaces by sample and aggregate: a deep point among the halfspaces of subsamples (BMNS: LearnHalfSpace)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.contract import (
    FAIL,
    CaseFamily,
    Hypothesis,
    InputError,
    Instance,
    Law,
    PrivacyClaim,
    Sample,
    UtilityClaim,
    WorstFailure,
)

from ..arrays import summed
from ..citations import BMNS
from ..domains import Grid
from ..mechanisms.log_laws import log_mixture
from ..parameters import (
    Built,
    check_choice,
    check_integer,
    check_parameters,
    check_run,
    check_sample,
    check_statement,
)
from .concepts import Halfspace, Halfspaces
from .depth.space_fractions import MAX_SPACE_POINTS
from .hull_point import Point
from .plane_consistent import Consistent
from .plane_dichotomies import (
    MAX_COUNTED_SIDE,
    MAX_PLANE_SUBSAMPLES,
    PlaneDichotomies,
    plane_dichotomies,
    unlisted,
)
from .releases import Agreement, AnyHullPoint, DeepExponential, DeepRecConcave, Release
from .subsamples import Multiplicities, Subsamples, independent_counts

Code = Point | int
# Up to this many subsamples are drawn one by one.
MAX_SUBSAMPLES = 10**6
_PROOF = (
    "an answer that errs by more than alpha is wrong at a point of some mass, and has a score of at most the number of "
    "the h_i that are wrong there; these have not seen it, and empty subsamples are negatively associated"
)
_MISSING = "how many of the h_i that have not seen a point are wrong there, and how good the best answer is"
VARIANTS: dict[str, type[Release]] = {
    "rec-concave": DeepRecConcave,
    "exponential": DeepExponential,
    "hull": AnyHullPoint,
    "positive": Agreement,
}


@dataclass(frozen=True)
class HalfspaceTukey:
    """Learn halfspaces by sample and aggregate (LearnHalfSpace): a deep point among halfspaces of subsamples.

    Every example joins one of m subsamples; of each a consistent halfspace h_i of H is chosen uniformly; where none is,
    h_i is a fixed default (number 0), because privacy must hold for every sample. See `halfspaces.subsamples`. A point
    deep among the h_i, as points (w, t) of R^(d + 1), is released.

    Private like the release: one example touches one subsample, so it changes at most one h_i.

    Utility. If at every x at least r of the h_i agree with the output, it errs at x only where r of them do: its error
    is at most the sum of theirs, divided by r. One of them has an error above a' = r alpha/m with probability at most
    m |H| e^(-a' n/m): an example joins a given subsample and shows a given error of a' with probability a'/m. So with
    r the release's `agreement(m, beta/2)`, n >= (m^2 / (r alpha)) ln(2 m |H| / beta) examples suffice.

    Parameters
    ----------
    side, dimension : int
        The grid. By coordinates ("rec-concave", "exponential", "hull"): dimension 1 with side <= 8, or dimension 2 with
        side 1; for runs alone, dimension 2 with side <= 3, and with side <= 1,000 for at most 200 subsamples, for which
        RecConcave promises nothing: see `utility`. The theorem asks for m = 54,135 at side 1 and 753,168 at side 2 or 3
        (epsilon 1, delta 1e-6, beta 0.1).
        Variant "positive": dimension 1, 2 or 3, wherever H can be listed; for runs alone, dimension 2 with side <= 100,
        with at most 2^10 subsamples.
    epsilon, delta, beta : float
        Of the release; delta and beta are used by variants "rec-concave" and "hull" alone.
    subsamples : int
        m.
    variant : {"rec-concave", "exponential", "hull", "positive"}
        How the h_i are aggregated: FindTukey as printed, or with the exponential mechanism for every coordinate; any
        point of the convex hull, which the remark after Corollary 4.3 says is enough; or a halfspace that has what the
        remark asks of a positive combination, by one exponential mechanism. See `halfspaces.releases`.

    Notes
    -----
    Source: BMNS, Figure 2, Theorem 4.2 ("Tukey rank at most r" in its proof should be "at least r").
    """

    side: int
    dimension: int
    epsilon: float
    delta: float = 1e-6
    beta: float = 0.1
    subsamples: int = 3
    variant: str = "rec-concave"

    id: ClassVar[str] = "halfspace-tukey"
    instance: ClassVar[Instance] = Instance({"side": 1, "dimension": 1, "epsilon": 1.0, "subsamples": 3}, n=3)

    _spending: ClassVar[float] = 1.0
    _subsampling: ClassVar[type[Subsamples]] = Subsamples

    def __post_init__(self) -> None:
        # Beyond 10^6 a run would list too many subsamples; `simulate` takes any number.
        check_parameters(self, subsamples=(1, 2**62))
        check_choice("variant", self.variant, [*VARIANTS])
        if self.variant != "positive":
            check_integer("dimension", self.dimension, 1, 2)
            check_integer("side", self.side, 1, 8 if self.dimension == 1 else MAX_COUNTED_SIDE)
            if self.dimension == 2 and self.side > 1 and self.plane is None:
                raise InputError(f"side must be 1 in dimension 2 where halfspaces are listed, got {self.side}")
        if self.plane is None:
            _ = self.concepts.size
        elif self.variant == "positive":
            check_integer("subsamples", self.subsamples, 1, MAX_PLANE_SUBSAMPLES)
        elif self.plane.size > MAX_SPACE_POINTS:
            # The distinct h_i are no more than H has.
            listed = "the planes through any three of the representations, points of R^3, are listed"
            check_integer("subsamples", self.subsamples, 1, MAX_SPACE_POINTS, listed)
        _ = self.release

    concepts = Built(Halfspaces)

    domain = Built(Grid)

    @property
    def plane(self) -> PlaneDichotomies | None:
        """H on a large grid of the plane; None where it is listed, in `concepts`, or where it is needed in a list."""
        if self._subsampling is not Subsamples:
            return None
        if self.variant == "positive":
            return unlisted(self.side, self.dimension)
        if self.dimension == 2 and self.side > 1:
            return plane_dichotomies(self.side, sorted_cuts=False)
        return None

    @property
    def release(self) -> Release:
        """The private release."""
        kind = VARIANTS[self.variant]
        epsilon = self.epsilon * self._spending
        if issubclass(kind, DeepRecConcave):
            return kind(self.side, self.dimension + 1, epsilon, self.delta, self.beta)
        # Representations (w, t) are points of R^(d + 1), among which the releases by depth work; the other one works
        # on H.
        return kind(self.side, self.dimension + (kind is DeepExponential), epsilon)

    @property
    def scheme(self) -> Subsamples:
        """The subsampling that makes the h_i."""
        return self._subsampling(self.concepts, self.subsamples)

    @property
    def privacy(self) -> PrivacyClaim:
        """The claim of the release, which the reduction keeps."""
        # RecConcave spends no delta on few candidates.
        if isinstance(self.release, DeepRecConcave):
            delta = self.release.privacy.delta
        else:
            delta = 0.0
        return PrivacyClaim(self.epsilon, delta, claim_id="BMNS-Thm4.2", source=f"{BMNS}, Theorem 4.2")

    def decode(self, code: Code) -> Hypothesis | None:
        """Return the halfspace with that representation; None for `FAIL`, which only broken variants return."""
        if isinstance(code, int):
            return None
        return Halfspace(code[:-1], code[-1])

    def run(self, sample: Sample, rng: np.random.Generator, size: int) -> list[Code]:
        """Return the outputs of independent runs; runs with the same counts of the h_i share the release's scores."""
        check_run(sample, self.domain, size)
        check_integer("subsamples", self.subsamples, 1, MAX_SUBSAMPLES)
        plane = self.plane
        if plane is not None:
            return [self._run_unlisted(plane, sample, rng) for _ in range(size)]
        return self._released(self.scheme.draw(sample, rng, size), rng, size)

    def _run_unlisted(self, plane: PlaneDichotomies, sample: Sample, rng: np.random.Generator) -> Code:
        """Return the output of one run, on a grid whose halfplanes are not listed."""
        # Figure 2, steps 1 to 3: subsamples, and a consistent halfspace of each.
        if self.subsamples > MAX_SPACE_POINTS and self.variant != "positive":
            return self._run_alike(plane, sample, rng)
        groups, examples = np.nonzero(self.scheme.seen(sample, rng, 1)[0])
        points = np.asarray(sample.points[examples], dtype=np.int64)
        among = Consistent(plane, points, sample.labels[examples], groups, self.subsamples)
        release = self.release
        if isinstance(release, Agreement):
            return release.release_among(among.ones(rng), self.subsamples, rng, 1)[0]
        chosen = np.array(list(among.chosen(rng)), dtype=np.int64)
        return release.find(*summed(chosen, np.ones(len(chosen), dtype=np.int64)), rng, 1)[0]

    def _run_alike(self, plane: PlaneDichotomies, sample: Sample, rng: np.random.Generator) -> Code:
        """Return the output of one run, where subsamples with the same examples are counted together."""
        alike, times = self.scheme.seen_alike(sample, rng)
        groups, examples = np.nonzero(alike)
        points = np.asarray(sample.points[examples], dtype=np.int64)
        among = Consistent(plane, points, sample.labels[examples], groups, len(alike))
        release = self.release
        assert not isinstance(release, Agreement)
        return release.find(*among.chosen_of(times, rng), rng, 1)[0]

    def simulate(
        self, target: int, probabilities: ArrayLike, n: int, rng: np.random.Generator, size: int
    ) -> list[Code]:
        """Return the outputs of runs on fresh samples of n independent examples labelled by a concept, one run each.

        Subsamples are of equal size, as in the paper; n and m may be as large as the theorems ask (below 2^62).

        `target` is the number of the labelling concept, `probabilities` (|X|,) the distribution on the points of the
        grid, at most 16; n is at least m.
        """
        check_integer("size", size, 1)
        if self.plane is not None:
            raise InputError(f"side must be smaller to simulate runs, got {self.side}: all of H would be listed")
        found = independent_counts(self.concepts, target, probabilities, n, self.subsamples, rng, size)
        return self._released(found, rng, size)

    def _released(self, found: Counter[Multiplicities | None], rng: np.random.Generator, size: int) -> list[Code]:
        codes: list[Code] = []
        for counts, times in sorted(found.items(), key=lambda item: item[0] or ()):
            codes += [FAIL] * times if counts is None else self.release.release(counts, rng, times)
        return [codes[i] for i in rng.permutation(size)]

    def law(self, sample: Sample) -> Law:
        """Return the law on all that can be released, and FAIL; for few examples, subsamples and halfspaces."""
        check_sample(sample, self.domain)
        if self.plane is not None:
            raise InputError(
                f"side must be smaller for the exact law, got {self.side}: it mixes over the choice of each subsample "
                f"among {self.plane.size} halfspaces, which would have to be listed; run has no such limit"
            )
        # The law mixes the laws of the release over the counts of the h_i.
        atoms: list[Code] = [FAIL, *self.release.outputs]
        mixture = self.scheme.mixture(sample)
        fails = float(mixture.pop(None, Fraction(0)))
        laws = [self.release.release_law(counts) for counts in mixture if counts is not None]
        weights = [math.log(p) for p in mixture.values()]
        rows = [np.append(-np.inf, law.log_prob) for law in laws]
        if fails:
            rows.append(np.append(0.0, np.full(len(atoms) - 1, -np.inf)))
            weights.append(math.log(fails))
        # A log of an exact rational is good to 2 ulp of a value below 2^8.
        log_prob, error = log_mixture(weights, rows, max([law.error for law in laws], default=0.0) + 2.0**-43)
        return Law(atoms, log_prob, error)

    def utility(self, alpha: float, beta: float) -> UtilityClaim | None:
        """Return the claim of Theorem 4.2; None where m is too small for it to promise anything."""
        if self.release.agreement(self.subsamples, self.beta / 2):
            return self._claim(alpha, beta)
        return None

    def worst_failure(self, alpha: float, n: int) -> WorstFailure:
        """Return an upper end of the failure rate over all cases, for the variant "positive".

        Some h has a score of D = ceil(m/(d + 2)) at least. One that errs by more than alpha is wrong at a point x of a
        mass above p = alpha/(|X| - 1), or of 1/|X|, and its score is at most A, the number of the h_i that are wrong
        there too. These have not seen x, so A <= U, the number of subsamples without x; the empty ones of m bins are
        negatively associated, hence E exp(a U) <= (1 + (exp(a) - 1) (1 - p/m)^n)^m for the rate a, and

            Pr[failure] <= psi((|H| - 1) exp(-a D) E exp(a U)),    psi(x) = x/(1 + x).

        On two points H has all labellings, so that a label of a point that was not seen is fair: A is binomial given U,
        (exp(a) - 1)/2 takes the place of exp(a) - 1, p that of alpha, and D that of m/2: unless more than half of the
        h_i are wrong at x, or at a point of mass 1/2 or more, which Chernoff's bound adds, one that is right at x, and
        at the other point too if that has more than alpha, has so high a score. Three labellings are wrong.

        `InputError` for the other variants, which select by coordinates.
        """
        release = self.release
        if not isinstance(release, Agreement):
            raise InputError.of("variant", self.variant, "'positive', for a bound on all cases")
        m = self.subsamples
        points = (self.side + 1) ** self.dimension
        fair = points == 2 and alpha < 0.5
        rivals = (self.plane or self.concepts).size - 1
        depth = math.ceil(m / 2) if fair else math.ceil(m / (self.dimension + 2))
        mass = alpha if fair else min(alpha / (points - 1), 1 / points)
        rate = self.epsilon * self._spending / 2

        def log_grown(tilt: float, mass: float) -> float:
            """Return the logarithm of a bound on E exp(tilt A)."""
            weight = math.expm1(tilt) / (2 if fair else 1)
            return m * math.log1p(weight * math.exp(n * math.log1p(-mass / m)))

        def most(mass: float) -> float:
            """Return a bound on the chance that more than half of the h_i are wrong at a point."""
            least = m // 2 + 1
            wrong = math.exp(n * math.log1p(-mass / m)) / 2
            odds = least * (1 - wrong) / (max(1, m - least) * wrong) if wrong > 0 else math.e
            tilt = max(0.0, min(math.log(odds), 50.0))
            return math.exp(min(0.0, log_grown(tilt, mass) - tilt * least))

        odds = math.exp(min(700.0, math.log(rivals) + log_grown(rate, mass) - rate * depth))
        upper = odds / (1 + odds)
        if fair:
            upper += most(mass) + most(0.5)
        numbers = {
            "subsamples": m, "points": points, "rivals": rivals, "depth": depth, "fair": int(fair), "rate": rate
        }  # fmt: skip
        return WorstFailure(0.0, min(1.0, upper), CaseFamily.SUBSAMPLES, numbers, _PROOF, _MISSING)

    def sample_size(self, alpha: float, beta: float) -> int:
        """Return the sample size of the theorem."""
        return self._claim(alpha, beta).sample_size

    def _claim(self, alpha: float, beta: float) -> UtilityClaim:
        """Return the claim of Theorem 4.2; `InputError` where m is too small for beta."""
        check_statement(alpha, beta)
        m = self.subsamples
        r = self.release.agreement(self.subsamples, beta / 2)
        if not r:
            raise InputError(f"beta must be larger for {m} subsamples (or these more), got {beta!r}")
        # (m^2 / (r alpha)) ln(2 m |H| / beta), in logarithms: |H| may be huge.
        n = m * m / (r * alpha) * (math.log(2 * m * (self.plane or self.concepts).size) - math.log(beta))
        source = f"{BMNS}, Theorem 4.2, constants derived"
        return UtilityClaim(alpha, beta, math.ceil(n), "realizable", "BMNS-Thm4.2", source)


LEARNERS = (HalfspaceTukey,)
