"""The worst case of the exponential mechanism over a finite class, over points, and over thresholds.

Both ends of the supremum of Pr[error > alpha] over all concepts and distributions, in floating point. The proofs are in
docs/research/results.md, "Sample complexities that are known".

With the target right on all n examples, a rival h that is wrong on W_h of them has the weight exp(-rate W_h) relative
to the target. Rivals whose error is at most alpha only lower the failure rate, which is at most E[B/(1 + B)] for B the
sum of exp(-rate W_h) over the others: a concave function of B.
"""

from __future__ import annotations

import math

import numpy as np

from dpaudit.contract import CaseFamily, InputError, WorstFailure

from ..arrays import Floats

# By how much, relatively, an error that counts as a failure is above alpha in the worst cases.
ABOVE = 1e-9
# Standard deviations of a count that sums cover, on either side; what they leave out counts as failures.
SPREAD = 9
# Shares that are tried as the boundary between even and uneven ones.
SHARES = 32
# Larger sums over two counts are not made.
MOST_TERMS = 2**20

_FINITE = (
    "E[B/(1 + B)] <= E[B]/(1 + E[B]), B the sum of exp(-epsilon W/2) over the rivals, each wrong on W ~ Bin(n, > alpha)"
)
_THRESHOLDS = (
    "the rivals on one side of the target are wrong wherever the nearest bad one is, and the two farthest are together "
    "wrong everywhere; B/(1 + B) is concave, so that an even split between two sides of mass alpha is worst"
)
_POINTS = (
    "s bad rivals are worst with equal masses and the least mass max(0, (s alpha - 1)/(s - 1)) on the target's own "
    "point, by convexity; every s is covered"
)


def finite_class_failure(rivals: float, rate: float, alpha: float, n: int) -> WorstFailure:
    """Return the bound E[B]/(1 + E[B]) of the failure rate for a class of `rivals` + 1 concepts; no case is offered.

    Where concepts have measures, `rivals` is that of all others over the target's.
    """
    log_mean = log_count(rivals) + n * math.log1p(alpha * math.expm1(-rate))
    return WorstFailure(
        0.0, float(_odds(np.array(log_mean))), CaseFamily.FINITE_CLASS, {"rivals": rivals, "rate": rate}, _FINITE,
        "a bound on the failure rate that uses how the errors of the rivals overlap, where the certificate adds them "
        "up, or a distribution that comes near that sum, with all rivals just above alpha",
    )  # fmt: skip


def thresholds_failure(domain_size: int, rate: float, alpha: float, n: int) -> WorstFailure:
    """Return both ends for the thresholds c_0 .. c_T on T = `domain_size` points.

    Upper: the nearest bad rivals on both sides of the target are wrong on N_L and N_R examples, of masses that may be
    taken to be alpha, and the farthest ones also on the other F = n - N_L - N_R. B/(1 + B) is at most that of

        B = (T - 1 + exp(-rate F))/2 (exp(-rate N_L) + exp(-rate N_R)).

    From alpha = 1/2 on only one side can be bad: B = (T - 1) exp(-rate N) + exp(-rate n). Lower: the masses are just
    above alpha on the two points next to the middle target, and the rest on the first point; from alpha = 1/2 on, on
    the first point with the rest on the last one, and the target c_0.

    `InputError` if the sum over both counts has too many terms.
    """
    # An error of alpha itself is no failure.
    above = alpha * (1 + ABOVE)
    size = domain_size
    # Two disjoint sides of mass above alpha fit only below 1/2.
    split = 2 * above < 1
    # The middle threshold, rounded up: as many rivals on either side.
    target = -(-size // 2) if split else 0
    left = max(0, target - 1)
    right = size - max(1, target)
    if split:
        lower, _ = _two_sides(left, right, above, rate, n)
        upper = sum(_two_sides((size - 1) / 2, (size - 1) / 2, alpha, rate, n, far=0.5))
        # Point 0 is the left one of the two where the target is c_1.
        masses = {0: 1 - 2 * above, target: above}
        masses[target - 1] = masses.get(target - 1, 0.0) + above
        case = "mass just above alpha on either side of the middle target, the rest on the first point"
    else:
        lower, _ = _one_side(size - 1, above, rate, n)
        upper = sum(_one_side(size - 1, alpha, rate, n, rest=1.0))
        masses = {0: above, size - 1: 1 - above}
        case = "mass just above alpha on the first point, the rest on the last one"
    return WorstFailure(
        lower, min(1.0, upper), CaseFamily.THRESHOLDS, {"domain_size": size, "rate": rate, "mass": above}, _THRESHOLDS,
        "", target, tuple((x,) for x in masses), tuple(masses.values()), case,
    )  # fmt: skip


def points_failure(domain_size: int, rate: float, alpha: float, n: int) -> WorstFailure:
    """Return both ends for the point functions on T = `domain_size` points, with K = T - 1 rivals of the target.

    Upper: the greatest value over s, the number of bad rivals. With the mass q = a(s) = max(0, (s alpha - 1)/(s - 1))
    on the target's own point and alpha - q on each of s others, k ~ Bin(n, q) examples are at the own point, N_j at the
    others, and B = exp(-rate k) sum_j exp(-rate N_j). Where K alpha <= 1 that is so for s < K; all K rivals can be bad
    as well, but then one of them at least has more mass: with K N_j and F other examples of masses alpha and
    1 - K alpha, B = (K - 1 + exp(-rate F))/K sum_j exp(-rate N_j) is the larger one, and `_uneven` another bound.
    Lower: all rivals just above alpha, or, where K alpha < 1, all but one, which has the rest.
    """
    # With K rivals of mass above alpha each, more than the whole mass is needed if K alpha > 1: then they overlap at
    # the target's own point.
    rivals = domain_size - 1
    above = alpha * (1 + ABOVE)
    full = rivals * above > 1
    own = _own_mass(rivals, above)
    hard = (1 - own) / rivals if full else above
    near = rivals if full else rivals - 1
    lower = _with_own_mass(near, own, above, rate, n)[0]
    upper = _most_of_points(rivals, alpha, rate, n)
    masses = [own, *[hard] * near, *([] if full else [1 - near * above])]
    kept = [(x, mass) for x, mass in enumerate(masses) if mass > 0]
    case = f"mass {own:.4g} on the target's own point, {hard:.4g} on each of {near} others"
    return WorstFailure(
        lower, upper, CaseFamily.POINTS, {"rivals": rivals, "rate": rate, "mass": above}, _POINTS,
        "" if full else "an exact mean over the counts of all rivals but one, which four moments enclose",
        0, tuple((x,) for x, _ in kept), tuple(mass for _, mass in kept),
        case if full else f"{case}, the rest on one more",
    )  # fmt: skip


def _most_of_points(rivals: int, alpha: float, rate: float, n: int) -> float:
    """Return the upper end of `points_failure`: numbers of bad rivals are left out in blocks that are bounded."""
    if rivals * alpha <= 1:
        far, chance = likely_counts(n, 1 - rivals * alpha)
        weights = (rivals - 1 + np.exp(-rate * far)) / rivals
        # All K rivals bad, and what is left over shared evenly by their points.
        even = _of_sum(rivals, 1 / rivals, n - far, weights, chance, rate)[1]
        if rivals > 1:
            return min(even, _uneven(rivals, alpha, rate, n))
        return even

    def exact(s: int) -> float:
        return _with_own_mass(s, _own_mass(s, alpha), alpha, rate, n)[1]

    # Up to 1/alpha rivals need no mass on the target's own point; of these numbers the greatest is the worst.
    first = max(1, math.floor(1 / alpha))
    best = max(exact(first), exact(rivals))
    blocks = [(first, rivals)]
    # Branch and bound over the number of bad rivals: a block whose bound is no more than the best value is left out.
    while blocks:
        low, high = blocks.pop()
        if high - low < 2 or _block(low, high, alpha, rate, n) <= best:
            continue
        middle = (low + high) // 2
        best = max(best, exact(middle))
        blocks += [(low, middle), (middle, high)]
    return best


def _uneven(rivals: int, alpha: float, rate: float, n: int) -> float:
    """Return the bound for K rivals that are all bad with 1 - K alpha left over, by how evenly they have that.

    Each has a share of it. Either one has all but (K - 1) d of it at least, or two have d at least.
    """
    # Rivals that have the rest are taken out and added by themselves: B/(1 + B) is subadditive.
    one, two = (_with_own_mass(s, 0.0, alpha, rate, n)[1] for s in (rivals - 1, rivals - 2))
    rest = (1 - rivals * alpha) * math.expm1(-rate)

    def bound(d: float) -> float:
        return max(one + (1 + rest * (1 - (rivals - 1) * d)) ** n, two + 2 * (1 + rest * d) ** n)

    return min(bound(i / SHARES / (rivals - 1)) for i in range(1, SHARES))


def _block(low: int, high: int, alpha: float, rate: float, n: int) -> float:
    """Return a bound for all numbers of bad rivals from `low` to `high`: the own mass least, its effect on others too.

    By Jensen's inequality, with the most rivals, the least own mass a(low), and of the shares (alpha - a(s))/(1 - a(s))
    the least, that of a(high).
    """
    least = _own_mass(low, alpha)
    most = _own_mass(high, alpha)
    k, chance = likely_counts(n, least)
    means = math.log(high) + (n - k) * math.log1p((alpha - most) / (1 - most) * math.expm1(-rate)) - rate * k
    # In an upper bound the counts that were left out fail.
    return float(chance @ _odds(means)) + _left_out(chance)


def log_count(count: float) -> float:
    """Return ln of a count, -inf for 0."""
    return math.log(count) if count else -math.inf


def _odds(log_sum: Floats) -> Floats:
    """Return B/(1 + B) for ln B."""
    from scipy.special import expit

    return np.asarray(expit(log_sum))


def likely_counts(n: int, mass: float, deviations: float = SPREAD, more: float = 2 * SPREAD) -> tuple[Floats, Floats]:
    """Return the counts within some standard deviations of the mean of Bin(n, mass), and a few more; their chances."""
    from scipy.stats import binom

    # `more` counts keep the tails of a small mean, which is no normal distribution.
    spread = deviations * math.sqrt(n * mass * (1 - mass)) + more
    low = max(0, math.floor(n * mass - spread))
    high = min(n, math.ceil(n * mass + spread))
    counts = np.arange(low, high + 1, dtype=np.float64)
    return counts, np.asarray(binom.pmf(counts, n, mass))


def _left_out(chance: Floats) -> float:
    """Return what is left of all probability."""
    return max(0.0, 1 - float(chance.sum()))


def _one_side(rivals: float, mass: float, rate: float, n: int, rest: float = 0.0) -> tuple[float, float]:
    """Return E[B/(1 + B)] for B = rivals exp(-rate N) + rest exp(-rate n), N ~ Bin(n, mass), and what is left out."""
    count, chance = likely_counts(n, mass)
    logs = np.logaddexp(log_count(rivals) - rate * count, log_count(rest) - rate * n)
    return float(chance @ _odds(logs)), _left_out(chance)


def _two_sides(left: float, right: float, mass: float, rate: float, n: int, far: float = 0.0) -> tuple[float, float]:
    """Return E[B/(1 + B)] over likely counts, and the probability of the others.

    B = (left + far exp(-rate F)) exp(-rate N_L) + (right + far exp(-rate F)) exp(-rate N_R), F = n - N_L - N_R.
    """
    from scipy.stats import binom

    count, outer = likely_counts(n, mass)
    if len(count) ** 2 > MOST_TERMS:
        raise InputError(f"a sum over {len(count)}^2 counts is too long for the worst case at n = {n}")
    # A trinomial law: N_L first, then N_R among the examples that are left.
    chance = outer[:, None] * binom.pmf(count[None, :], n - count[:, None], mass / (1 - mass))
    one = -rate * count[:, None]
    other = -rate * count[None, :]
    near = np.logaddexp(log_count(left) + one, log_count(right) + other)
    # F = n - N_L - N_R is negative only where the chance is 0.
    elsewhere = -rate * n - one - other
    logs = np.logaddexp(near, log_count(far) + np.minimum(elsewhere, 0.0) + np.logaddexp(one, other))
    return float((chance * _odds(logs)).sum()), _left_out(chance)


def _own_mass(rivals: int, alpha: float) -> float:
    """Return a(s), the least mass of the target's own point at which s rivals can all err by alpha."""
    if rivals > 1:
        return max(0.0, (rivals * alpha - 1) / (rivals - 1))
    return 0.0


def _with_own_mass(rivals: int, own: float, alpha: float, rate: float, n: int) -> tuple[float, float]:
    """Return two ends of E[B/(1 + B)] for B = exp(-rate k) sum_j exp(-rate N_j) over s rivals of mass alpha - own.

    The sum is over k ~ Bin(n, own). Without own mass the mean for one or two rivals is a sum over their counts.
    """
    if not own and (rivals == 1 or (rivals == 2 and len(likely_counts(n, alpha)[0]) ** 2 <= MOST_TERMS)):
        if rivals == 1:
            low, rest = _one_side(1.0, alpha, rate, n)
        else:
            low, rest = _two_sides(1.0, 1.0, alpha, rate, n)
        return low, low + rest
    k, chance = likely_counts(n, own)
    return _of_sum(rivals, (alpha - own) / (1 - own), n - k, np.exp(-rate * k), chance, rate)


def _of_sum(rivals: int, share: float, n: Floats, weights: Floats, chance: Floats, rate: float) -> tuple[float, float]:
    """Return two ends of E[w C/(1 + w C)], C = sum_j exp(-rate N_j) over s rivals, N multinomial of n examples.

    n and the weight w are random, with the probabilities `chance`; given both, C has moments in closed form. With
    M = w E C, y = 1 + M and mu_i the central moments of w C, Taylor's formula has a remainder of known sign:

        M/y - mu_2/y^3 + mu_3/y^4 - mu_4/y^4 <= E[w C/(1 + w C)] <= min(M/y, M/y - mu_2/y^3 + mu_3/y^4).

    Jensen's inequality is the other upper end; M/y - mu_2/y^2 is another lower one.
    """
    if not rivals:
        return 0.0, 0.0
    mean, second, third, fourth = _central_moments(rivals, share, rate, n)
    y = 1 + weights * mean
    value = weights * mean / y
    fine = value - weights**2 * second / y**3 + weights**3 * third / y**4
    # The greater of two lower ends.
    low = np.maximum(fine - weights**4 * fourth / y**4, value - weights**2 * second / y**2)
    # Jensen's inequality, or Taylor's formula with one term more, whichever is less.
    high = np.minimum(value, fine)
    return max(0.0, float(chance @ low)), min(1.0, float(chance @ high) + _left_out(chance))


def _central_moments(rivals: int, share: float, rate: float, n: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean and central moments 2 .. 4 of sum_j exp(-rate N_j), N multinomial of n, a `share` for each rival."""
    s = rivals
    # 1 - exp(-i rate): its digits count where the rate is small.
    drop = [-math.expm1(-i * rate) for i in range(5)]

    def power(cells: int, total: float) -> Floats:
        """Return s (s - 1) .. times (1 - share total)^n: the mean of a product over so many different rivals."""
        ways = math.perm(s, cells)
        if ways and share * total < 1:
            return ways * np.exp(n * math.log1p(-share * total))
        return np.zeros(len(n))

    # Raw moments: a power of the sum, by how many different rivals its factors belong to.
    m1 = power(1, drop[1])
    m2 = power(1, drop[2]) + power(2, 2 * drop[1])
    m3 = power(1, drop[3]) + 3 * power(2, drop[2] + drop[1]) + power(3, 3 * drop[1])
    m4 = (
        power(1, drop[4]) + 4 * power(2, drop[3] + drop[1]) + 3 * power(2, 2 * drop[2])
        + 6 * power(3, drop[2] + 2 * drop[1]) + power(4, 4 * drop[1])
    )  # fmt: skip
    # From raw to central moments.
    return m1, m2 - m1**2, m3 - 3 * m1 * m2 + 2 * m1**3, m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
