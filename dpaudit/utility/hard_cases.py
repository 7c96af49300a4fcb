"""Hard cases for a utility audit, made from the concept class itself.

A theorem promises its bound for every concept and every distribution; an audit runs a few. For labels without noise
they are chosen so that a sample is likely to miss what distinguishes the concept from its nearest rival: little
probability, but more than alpha, on a point where the two differ. With noise, labels are nearly fair coins where
concepts differ; for a problem on the points, the data lie as close to each other as they can.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpaudit.arguments import read_choice, read_number
from dpaudit.contract import (
    SETTINGS,
    ConceptClass,
    Distribution,
    Domain,
    HasHardTargets,
    Hypothesis,
    Learner,
)
from dpaudit.utility.interval import size_of

# The shares of labels that are flipped in the cases of a class that is too large to be numbered.
NOISE = (0.1, 0.3)
# Domains up to this size are used whole; of larger ones the landmarks.
MAX_POINTS = 2**12
# Up to this many labels (concepts times points) a case in which no concept is right is made.
MAX_TRIED = 2**20
# Classes are evaluated whole up to this many labels (concepts times points), others at some concepts.
MAX_LABELS = 2**22
# The number of concepts of a larger class that are tried, spread over the codes; codes near the target's are tried too.
SOME = 256
# Programs up to this many entries (rivals times points) are solved.
MAX_ENTRIES = 2**16
# Decimals to which masses are rounded: the last bits of a solution depend on the machine.
DIGITS = 9

Floats = NDArray[np.float64]
Labels = NDArray[np.uint8]
Points = NDArray[np.integer]
Key = tuple[str, str, bytes, bytes]
# The concept or its code, points, their probabilities, name, and noise of the points or None.
_Case = tuple[int | Hypothesis, Points, Floats, str, Floats | None]


@dataclass(frozen=True)
class HardCase:
    """A concept, a distribution and, in the setting "agnostic", the noise of each point, with a name for reports.

    The concept is its code, or itself where its class is too large to be numbered.
    """

    concept: int | Hypothesis
    distribution: Distribution
    name: str
    noise: Floats | None = None

    @property
    def key(self) -> Key:
        """The parts of a case that distinguish it: all but the name."""
        law = self.distribution
        noise = b"" if self.noise is None else self.noise.tobytes()
        return repr(self.concept), repr(law.points.tolist()), law.probabilities.tobytes(), noise

    def target(self, concepts: ConceptClass) -> Hypothesis:
        """Return the concept."""
        if isinstance(self.concept, int):
            return concepts.concept(self.concept)
        return self.concept


def hard_cases(learner: Learner, alpha: float, setting: str = "realizable") -> list[HardCase]:
    """Return adversarial (concept, distribution) pairs for a learner at accuracy alpha, in a fixed order.

    "realizable" and "empirical". For the middle concept c of the class, and each label that c gives: the nearest rival
    (least symmetric difference D with c) that differs from c at a point with that label; that hard point has
    probability just above alpha, and one point where both agree has the rest. For the first of them also: the rest
    spread over all other points, and probabilities halving towards the hard point. The same two points for the last
    concept. The uniform distribution with the first, middle and last concept. Rivals differing at positive
    points come first: learners that look at positive examples only err there. Last the learner's own `hard_targets`.

    "agnostic". Labels of the middle concept, flipped so often that the excess of its nearest rival is just above alpha:
    all probability on the hard point, a little more than half of it there, or uniform. The uniform distribution with
    three labels in ten flipped, and, unless the class is large, with the label of every other point flipped for
    certain, so that no concept is right.

    Of a class that is too large to be numbered these are the `hard_targets` of the class and the learner alone: as they
    are, and in the setting "agnostic" with one label in ten flipped, and three. On a domain that is too large to be
    listed those of the class are added to the others.

    "solution". Equal shares on k + 1 points next to each other (a middle point, moved by one along each of k axes), all
    on that point, the uniform distribution, and the first realizable case; labels of the middle concept.

    The learner's `domain` and `concepts` are used, and nothing is run; alpha is in (0, 1).
    """
    read_number("alpha", alpha, 0, 1)
    read_choice("setting", setting, SETTINGS)
    size = size_of(learner.concepts)
    if size is None:
        own = list(_own(learner, alpha, NOISE if setting == "agnostic" else (None,)))
        if setting == "solution" and own:
            points = learner.domain.landmarks()
            own = [*_side_by_side(learner.domain, points[len(points) // 2], own[0][0]), *own]
        return _distinct({}, own)
    points, whole = evaluated_points(learner)
    # In the settings "realizable" and "empirical" labels have no noise, and the same cases are hard.
    makers = {"agnostic": _noisy, "solution": _close}
    uniform = "uniform" if whole else "uniform on landmarks"
    cases = makers.get(setting, _plain)(learner, points, alpha, uniform)
    words = {0: "first concept", size // 2: "middle concept", size - 1: "last concept"}
    return _distinct(words, cases)


def evaluated_points(learner: Learner) -> tuple[Points, bool]:
    """Return the points on which cases are made, and whether they are the whole domain or only its landmarks."""
    if learner.domain.size <= MAX_POINTS:
        return learner.domain.points(), True
    return learner.domain.landmarks(), False


def _distinct(words: Mapping[int, str], cases: Iterable[_Case]) -> list[HardCase]:
    """Return the cases without repeats, the first of each kept, on the points that have probability.

    `words` name some concepts by their codes; a concept without a code is named by its case.
    """
    kept: dict[Key, HardCase] = {}
    for concept, points, weights, name, noise in cases:
        seen = weights > 0
        law = Distribution(points[seen], weights[seen] / weights.sum(), name)
        if noise is not None:
            noise = noise[seen]
        if isinstance(concept, int):
            name = f"{name}; {words.get(concept, f'concept {concept}')}"
        case = HardCase(concept, law, name, noise)
        kept.setdefault(case.key, case)
    return list(kept.values())


def just_above(alpha: float) -> float:
    """Return a mass a little more than alpha."""
    return alpha + min(alpha, 1 - alpha) / 1000


def _plain(learner: Learner, points: Points, alpha: float, uniform: str) -> Iterator[_Case]:
    """Yield the cases without noise, the hardest first, repeats included."""
    concepts = learner.concepts
    size = len(points)
    mass = just_above(alpha)
    middle = concepts.size // 2
    last = concepts.size - 1
    # Of the middle concept both labels are tried at a hard point, of the last one the first.
    for code, take in ((middle, 2), (last, 1)):
        hard = list(hard_points(concepts, points, code))[:take]
        for at in hard:
            yield code, points, _two_point(size, at.hard, at.easy, mass), f"just above alpha on a {at.word} point", None
        if code != middle:
            continue
        for at in hard[:1]:
            spread = np.where(np.arange(size) == at.hard, mass, (1 - mass) / max(1, size - 1))
            yield code, points, spread, f"just above alpha on a {at.word} point, the rest spread", None
            halving = _halving(size, at.hard, alpha)
            yield code, points, halving, f"probabilities halving towards a {at.word} point", None
    for code in (0, middle, last):
        yield code, points, np.full(size, 1 / size), uniform, None
    # The first distribution on which many rivals of the middle concept are just bad, if the class is small.
    if concepts.size * size <= MAX_TRIED:
        found = just_bad(concepts.evaluate(points), middle, mass)
        for weights, name in itertools.islice(found, 1):
            yield middle, points, weights, name, None
    yield from _own(learner, alpha, (None,))


def _own(learner: Learner, alpha: float, shares: Sequence[float | None]) -> Iterator[_Case]:
    """Yield the cases of learner and class, each with every share of labels flipped, or as it is for None."""
    sources: list[object] = [learner]
    # A class describes targets for where it, or its domain, cannot be listed.
    if size_of(learner.concepts) is None or learner.domain.size > MAX_POINTS:
        sources.append(learner.concepts)
    targets = [target for one in sources if isinstance(one, HasHardTargets) for target in one.hard_targets(alpha)]
    for concept, law, name in targets:
        weights = np.asarray(law.probabilities, dtype=np.float64)
        for share in shares:
            if share is None:
                yield concept, law.points, weights, name, None
            else:
                yield concept, law.points, weights, f"{name}, {share:.0%} noise", np.full(len(weights), share)


def _noisy(learner: Learner, points: Points, alpha: float, uniform: str) -> Iterator[_Case]:
    concepts = learner.concepts
    size = len(points)
    excess = just_above(alpha)
    middle = concepts.size // 2
    flat = np.full(size, 1 / size)

    def flipped(advantage: float) -> Floats:
        """Return the noise at which one label of a point has so much more probability than the other."""
        return np.full(size, (1 - min(1.0, advantage)) / 2)

    for at in list(hard_points(concepts, points, middle))[:1]:
        alone = _two_point(size, at.hard, at.easy, 1.0)
        most = (1 + excess) / 2
        yield middle, points, alone, f"nearly fair labels on a {at.word} point", flipped(excess)
        half = np.where(np.arange(size) == at.hard, flipped(excess / most), 0.0)
        yield middle, points, _two_point(size, at.hard, at.easy, most), f"noise on a {at.word} point, half there", half
        yield middle, points, flat, f"{uniform}, all rivals just above alpha", flipped(excess * size / at.distance)
    yield middle, points, flat, f"{uniform}, 30 % noise", np.full(size, 0.3)
    if concepts.size * size <= MAX_TRIED:
        yield middle, points, flat, f"{uniform}, every other label wrong", np.arange(size) % np.float64(2)


def _close(learner: Learner, points: Points, alpha: float, uniform: str) -> Iterator[_Case]:
    middle = learner.concepts.size // 2
    yield from _side_by_side(learner.domain, points[len(points) // 2], middle)
    yield middle, points, np.full(len(points), 1 / len(points)), uniform, None
    yield from list(_plain(learner, points, alpha, uniform))[:1]


def _side_by_side(domain: Domain, middle: Points, concept: int | Hypothesis) -> Iterator[_Case]:
    """Yield the cases in which all data lie as close to each other as they can."""
    near = _neighbourhood(domain, middle)
    yield concept, near, np.full(len(near), 1 / len(near)), f"equal shares on {len(near)} points side by side", None
    yield concept, near[:1], np.ones(1), "all on one point", None


def _neighbourhood(domain: Domain, middle: Points) -> Points:
    """Return a point and, for each axis, a neighbouring point of the domain."""
    found = [middle]
    for axis in range(len(middle)):
        step = np.zeros_like(middle)
        step[axis] = 1
        found += [p for p in (middle + step, middle - step) if domain.contains(p[None, :])[0]][:1]
    return np.array(found)


def _two_point(size: int, hard: int, easy: int, mass: float) -> Floats:
    weights = np.zeros(size)
    weights[hard] = mass
    weights[easy] = 1 - mass
    return weights


def _halving(size: int, hard: int, alpha: float) -> Floats:
    """Return probabilities 1/2, 1/4, ... on the points nearest to the hard one, the hard one last and least.

    As many points as bring the least probability below alpha.
    """
    nearest = np.argsort(np.abs(np.arange(size) - hard), kind="stable")
    chosen = nearest[: min(size, math.ceil(math.log2(1 / alpha)) + 3)][::-1]
    weights = np.zeros(size)
    weights[chosen] = 2.0 ** -np.arange(1, len(chosen) + 1)
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class HardPoint:
    """A point at which a concept differs from its nearest rival: rows of it, and of a point where the two agree.

    `word` is the concept's label of the hard point, "positive" or "negative", and `distance` on how many points the two
    differ.
    """

    hard: int
    easy: int
    word: str
    distance: int


def hard_points(concepts: ConceptClass, points: Points, code: int) -> Iterator[HardPoint]:
    """Yield the hard points of a concept among points of shape (m, k), at most one for each label, positive first.

    The class is evaluated whole on the points if that gives at most 2^22 labels, else at some of its concepts.
    """
    own, rivals = _labels(concepts, points, code)
    differing = rivals != own
    sizes = differing.sum(axis=1)
    for label, word in ((1, "positive"), (0, "negative")):
        separating = (differing & (own == label)).any(axis=1) & (sizes < len(points))
        if separating.any():
            nearest = differing[np.argmin(np.where(separating, sizes, len(points) + 1))]
            hard = np.flatnonzero(nearest & (own == label))[-1]
            easy = np.flatnonzero(~nearest)[0]
            yield HardPoint(int(hard), int(easy), word, int(nearest.sum()))


def _labels(concepts: ConceptClass, points: Points, code: int) -> tuple[Labels, Labels]:
    """Return the labels of one concept, (m,), and of the whole class or of some other concepts, (rivals, m).

    Those are spread evenly over the class, or near to `code` as numbers or as bit patterns.
    """
    size = concepts.size
    if size * len(points) <= MAX_LABELS:
        labels = concepts.evaluate(points)
        return labels[code], labels
    spread = {i * (size - 1) // (SOME - 1) for i in range(SOME)}
    # Codes that differ by one, or in one bit, are likely to be of concepts that differ at few points.
    near = {code - 1, code + 1, *(code ^ (1 << bit) for bit in range(size.bit_length()))}
    some = sorted(c for c in spread | near if 0 <= c < size and c != code)
    return concepts.concept(code).predict(points), np.array([concepts.concept(c).predict(points) for c in some])


def just_bad(labels: Labels, code: int, mass: float) -> Iterator[tuple[Floats, str]]:
    """Yield distributions of the points on which many rivals of a concept err by little more than alpha.

    Each solves a linear program: minimise the sum of err_w(h) over all rivals h subject to err_w(h) >= mass for some of
    them, where err_w(h) is the weight of the points at which h differs from the concept and w is a distribution. Those
    are all rivals; the nearer half; the nearest ones. A program without a solution is left out.

    `labels`, of shape (concepts, m), are those of all concepts, `code` is the concept and `mass` a little more than
    alpha. The probabilities, of shape (m,), come with a description of the rivals that are bad.
    """
    differing = np.unique(labels != labels[code], axis=0)
    differing = differing[differing.any(axis=1)]
    if not len(differing) or differing.size > MAX_ENTRIES:
        return
    sizes = differing.sum(axis=1)
    chosen = {
        "all rivals": np.ones(len(sizes), dtype=bool),
        "the nearer half of the rivals": sizes <= np.median(sizes),
        "the nearest rivals": sizes == sizes.min(),
    }
    seen: list[Floats] = []
    for name, bad in chosen.items():
        weights = solved(differing, bad, mass)
        # Different programs can have the same solution, which is one case.
        if weights is not None and not any(np.array_equal(weights, other) for other in seen):
            seen.append(weights)
            yield weights, f"{name} just above alpha"


def solved(differing: NDArray[np.bool_], bad: NDArray[np.bool_], mass: float) -> Floats | None:
    """Return the solution of one program; None if it has none."""
    from scipy.optimize import linprog

    matrix = differing.astype(np.float64)
    points = matrix.shape[1]
    found = linprog(
        matrix.sum(axis=0), A_ub=-matrix[bad], b_ub=np.full(int(bad.sum()), -mass),
        A_eq=np.ones((1, points)), b_eq=[1.0], bounds=(0, 1), method="highs",
    )  # fmt: skip
    if found.status != 0:
        return None
    # The solver may return masses slightly below 0.
    weights = np.round(np.maximum(found.x, 0.0), DIGITS)
    return np.asarray(weights / weights.sum())
