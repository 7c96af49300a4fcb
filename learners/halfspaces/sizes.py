"""Sample sizes that finding a deep point takes: as Theorem 3.6 prints, with explicit constants, measured, and pictured.

Success is the theorem's: a point of depth at least n/(2 (d + 1)), with probability 1 - beta.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpaudit.contract import Panel, Sample, Shape

from ..bisection import least
from ..mechanisms.rec_concave import RecConcave
from ..parameters import check_integer, check_positive, check_probability
from .depth.tukey_depth import tukey_depths
from .hull_point import HullPoint, exponential_examples, weighted_points
from .lower_bound import common_point_examples, required_examples


def log_star(size: float) -> int:
    """Return how often the binary logarithm must be taken of a size >= 1 until it is at most 1."""
    return 0 if size <= 1 else 1 + log_star(math.log2(size))


def figure_1_share(epsilon: float, delta: float, dimension: int) -> float:
    """Return epsilon_0 = epsilon / (2 sqrt(2 d ln(2/delta))), what Figure 1 gives each coordinate."""
    return epsilon / (2 * math.sqrt(2 * dimension * math.log(2 / delta)))


def printed_examples(dimension: int, candidates: int, epsilon: float, delta: float, beta: float) -> float:
    """Return the n with n/(2 (d + 1)) = 8^k (12 k / (alpha_0 epsilon_0)) ln(192 k^2 / (beta_0 delta_0)), k = log* |X~|.

    Proposition 2.11 with Figure 1's parameters: alpha_0 = 1/(2 d), beta_0 = beta/d, delta_0 = delta/(2 d) and epsilon_0
    = epsilon/(2 sqrt(2 d ln(2/delta))); for at most `candidates` on every axis.
    """
    check_integer("dimension", dimension, 1)
    check_integer("candidates", candidates, 2)
    check_positive("epsilon", epsilon)
    for name, value in (("delta", delta), ("beta", beta)):
        check_probability(name, value)
    k = log_star(candidates)
    share = figure_1_share(epsilon, delta, dimension)
    # 192 k^2/(beta_0 delta_0) with both divided over d coordinates: beta delta/(2 d^2).
    logarithm = math.log(192 * k * k * 2 * dimension * dimension / (beta * delta))
    return 2.0 * (dimension + 1) * int(8**k) * 12 * k * 2 * dimension / share * logarithm


def recursive_examples(dimension: int, candidates: int, epsilon: float, delta: float, beta: float) -> int:
    """Return the n from which RecConcave, (epsilon/d, delta/d) a coordinate, suffices for so many candidates on each.

    n/(2 d) is the least of FindTukey's promises; this is `HullPointRecConcave.required_examples` in any dimension.
    """
    # Basic composition over the coordinates.
    share = Fraction(epsilon) / dimension
    part = Fraction(delta) / dimension
    mechanism = RecConcave.within(max(1, candidates - 1), Fraction(1), Fraction(1, 2 * dimension), share, part)
    return math.ceil(2 * dimension * mechanism.promise_needed(beta / dimension))


def crossover(dimension: int, epsilon: float, delta: float, beta: float, most: int = 2**15) -> int | None:
    """Return the least k from which RecConcave needs fewer examples than the exponential mechanism, 2^k candidates.

    On each of d axes; both may lose half of the depth n/(d + 1). None if 2^most will not do. Between k = 33 and 2^32
    RecConcave has three levels and its n hardly grows (like ln ln k), the other's grows like k: bisection finds it.
    """

    def pays(k: int) -> bool:
        pure = exponential_examples(dimension, (2**k,) * dimension, epsilon, beta)
        return recursive_examples(dimension, 2**k, epsilon, delta, beta) < pure

    return least(pays, 0, most) if pays(most) else None


def hard_samples(learner: HullPoint, n: int) -> list[Sample]:
    """Return samples of n examples, divided evenly among few points, where deep points are few.

    n should be a multiple of 12.
    """
    top = learner.side
    axes = np.eye(learner.dimension, dtype=np.int64)
    corner = 0 * axes[0]
    middle = 0 * axes[0] + learner.side // 2
    groups = [[corner], [middle], [corner, axes[0]], [middle, middle + axes[0]], [corner, corner + top]]
    groups += [[corner, *axes], [corner, *(top * axes)]]
    if learner.dimension == 1 and top > 1:
        groups.append([corner, axes[0], 2 * axes[0]])
    return [
        learner.domain.sample(np.array(points), np.zeros(len(points), dtype=np.int64), [n // len(points)] * len(points))
        for points in groups
    ]


def shallow_probability(learner: HullPoint, sample: Sample) -> float:
    """Return the probability, by the exact law, of releasing a point less than n/(2 (d + 1)) deep."""
    points, weights = weighted_points(sample)
    law = learner.find_law(points, weights)
    depths = tukey_depths(points, weights, list(law.atoms))  # type: ignore[arg-type]  # atoms are points
    # The depth that Theorem 3.6 promises.
    needed = Fraction(sample.n, 2 * (learner.dimension + 1))
    return float(np.exp(law.log_prob)[[int(depth) < needed for depth in depths]].sum())


def measured_examples(learner: HullPoint, beta: float) -> int:
    """Return the least n at which no sample of `hard_samples` fails with a probability above beta.

    Among multiples of 12, so that the samples divide evenly, by bisection below the n that is promised to suffice.
    """

    def fails(n: int) -> bool:
        return any(shallow_probability(learner, sample) > beta for sample in hard_samples(learner, n))

    return 12 * least(lambda k: not fails(12 * k), 0, -(-learner.explicit_examples(beta) // 12))


EPSILON = 1.0
DELTA = 1e-6
BETA = 0.1
# log2 of the number of points on a line.
LINE = range(1, 13)
MEASURED = (2, 3, 4, 5, 6, 7, 8)
MEASURED_RECURSIVE = (5, 6, 7)
# log2 T of the grids [T]^10.
SPACE = (1, 2, 3, 4, 6, 8)
Pure = Callable[[int, int, float], HullPoint]
Recursive = Callable[[int, int, float, float, float], HullPoint]


def size_panels(exponential: Pure, rec_concave: Recursive) -> tuple[Panel, Panel]:
    """Return n against the domain's size: on a line, measured sizes included, and for d = 10 with the lower bound.

    Both are learners whose sizes are measured, made of (side, dimension, epsilon) and (side, dimension, epsilon, delta,
    beta).
    """
    setting = f"epsilon = {EPSILON:g}, delta = {DELTA:g}, beta = {BETA:g}"
    line = (
        f"Examples for a point of depth n/4 among 2^k points on a line, {setting}; measured are the least n at which "
        "no hard sample fails more often than beta. The sample pictured beside has no part in it."
    )
    space = (
        f"Examples for a point of the convex hull of points of [T]^10, {setting}: the lower bound of Theorem 5.1, what "
        "finds a common point of its hard samples, and upper bounds over Claim 3.5's domain. Formulas alone: no sample "
        "has a part in it."
    )
    shapes = _on_a_line(exponential, rec_concave)
    ends = (0.0, 13.0)
    drawn = Panel(line, ends, (0.0, 11.0), shapes, "log2 of the number of points", "log10 n", equal=False)
    return drawn, Panel(space, (0.0, 9.0), (0.0, 14.0), _in_space(), "log2 T", "log10 n", equal=False)


def _curve(
    xs: Sequence[int], ns: Sequence[float], tone: str, label: str, *, dashed: bool = False, kind: str = "line"
) -> Shape:
    # A bound below 1 says nothing.
    points = tuple((float(x), math.log10(n)) for x, n in zip(xs, ns, strict=True) if n >= 1)
    return Shape(kind, points, tone, dashed=dashed, label=label)


def _on_a_line(exponential: Pure, rec_concave: Recursive) -> tuple[Shape, ...]:
    pure = [measured_examples(exponential(2**k - 1, 1, EPSILON), BETA) for k in MEASURED]
    recursive = [measured_examples(rec_concave(2**k - 1, 1, EPSILON, DELTA, BETA), BETA) for k in MEASURED_RECURSIVE]
    printed = [printed_examples(1, 2**k, EPSILON, DELTA, BETA) for k in LINE]
    explicit = [recursive_examples(1, 2**k, EPSILON, DELTA, BETA) for k in LINE]
    return (
        _curve(LINE, printed, "grey", "RecConcave, printed", dashed=True),
        _curve(LINE, explicit, "purple", "RecConcave, explicit"),
        _curve(LINE, [exponential_examples(1, (2**k,), EPSILON, BETA) for k in LINE], "blue", "exponential, explicit"),
        _curve(MEASURED_RECURSIVE, recursive, "purple", "RecConcave, measured", kind="points"),
        _curve(MEASURED, pure, "blue", "exponential, measured", kind="points"),
    )


def _in_space() -> tuple[Shape, ...]:
    d = 10
    sides = [2**k - 1 for k in SPACE]
    # Powers of two above Claim 3.5's bound (d |X|^(d^2 (d + 1)))^(2^d) on |X~_i|, X the grid of a side.
    bits = [2**d * (math.log2(d) + d * d * (d + 1) * d * math.log2(side + 1)) for side in sides]
    domains = [int(2 ** math.ceil(b + 1e-6 * b)) for b in bits]
    recursive = [float(recursive_examples(d, size, EPSILON, DELTA, BETA)) for size in domains]
    pure = [float(exponential_examples(d, (size,) * d, EPSILON, BETA)) for size in domains]
    needed = [required_examples(d, side, EPSILON, DELTA) for side in sides]
    return (
        _curve(SPACE, pure, "blue", "exponential, explicit"),
        _curve(SPACE, recursive, "purple", "RecConcave, explicit"),
        _curve(SPACE, [common_point_examples(d, side, EPSILON) for side in sides], "orange", "a common point"),
        _curve(SPACE, needed, "ink", "lower bound", dashed=True),
    )
