"""Verification of certificates of sample complexities, in decimal arithmetic that rounds outwards.

It recomputes both sizes of a certificate from the proofs in docs/research/results.md, "Sample complexities that are
known", and shares no code with the learners that make them. Every bound on a supremum that is used here is one on a
number that does not increase with n: an n at which it is at most beta suffices, and so does every larger one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from dpaudit.contract import CaseFamily
from dpaudit.utility.call_certificates import faces, literals, subsamples, threshold_calls
from dpaudit.utility.certificate_numbers import Numbers, count, drops, kept, mass_above, odds_to_chance, positive
from dpaudit.utility.cover_certificates import covers
from dpaudit.utility.decimals import MOST_TERMS, ONE, UP, ZERO, Enclosure, check_terms, likely, mean
from dpaudit.utility.finding import SizeCertificate
from dpaudit.utility.selection_certificates import outputs, selections

# Random equations beyond the number of variables after which the share of right solutions is taken to stay.
MORE_EQUATIONS = 140
# A block of numbers of rivals is not divided whose bound is at most so many times the greatest value known.
CLOSE = Fraction(10001, 10000)
# Shares of the mass that is left over which are tried as the boundary between even and uneven ones.
SHARES = 32

# For n examples, a lower end of the failure rate of a case, and an upper end of that of any case.
Ends = tuple[Callable[[int], Decimal], Callable[[int], Decimal]]


def refuted(certificate: SizeCertificate, alpha: float, beta: float) -> str:
    """Return what is wrong with a certificate, in a sentence; empty if both of its sizes are right.

    At `fails` examples the failure rate of the family's case exceeds beta, where `fails` is not 0. At `suffices`
    examples the bound for all concepts and distributions is at most beta. That the learner is of the family, with these
    numbers, is the learner's word.
    """
    try:
        lower, upper = _ENDS[certificate.family](certificate.numbers, Fraction(alpha))
        if certificate.fails and not lower(certificate.fails) > Decimal(beta):
            return f"at {certificate.fails} examples the case is not shown to fail with a probability above {beta!r}"
        if not upper(certificate.suffices) <= Decimal(beta):
            return f"{certificate.suffices} examples are not shown to suffice for every case"
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        return f"the numbers {dict(certificate.numbers)} are not those of the family {certificate.family}: {error!r}"
    return ""


def _finite_class(numbers: Numbers, alpha: Fraction) -> Ends:
    rivals = Fraction(numbers["rivals"])
    if rivals < 0:
        raise ValueError(f"rivals must not be negative, got {float(rivals)}")
    each = kept(alpha, drops(positive(numbers, "rate"))[1])

    return lambda n: Decimal(0), lambda n: odds_to_chance(rivals * each**n).high


def _thresholds(numbers: Numbers, alpha: Fraction) -> Ends:
    size = count(numbers, "domain_size", 2)
    rate = positive(numbers, "rate")
    mass = mass_above(numbers, alpha)
    target = -(-size // 2)

    def lower(n: int) -> Decimal:
        if 2 * mass < 1:
            return _two_sides((target - 1, size - target), 0, mass, rate, n).low
        return _one_side(size - 1, 0, mass, rate, n).low

    def upper(n: int) -> Decimal:
        if 2 * alpha < 1:
            half = Fraction(size - 1, 2)
            return _two_sides((half, half), Fraction(1, 2), alpha, rate, n).high
        return _one_side(size - 1, 1, alpha, rate, n).high

    return lower, upper


def _one_side(rivals: int, rest: int, mass: Fraction, rate: Fraction, n: int) -> Enclosure:
    """Return E[B/(1 + B)] for B = rivals exp(-rate N) + rest exp(-rate n)."""
    powers = Enclosure.exp(-rate).powers(n)
    near = Enclosure.of(rivals)
    far = rest * powers[n]
    return mean(n, mass, lambda k: odds_to_chance(near * powers[k] + far))


def _two_sides(
    rivals: Sequence[Fraction | int], far: Fraction | int, mass: Fraction, rate: Fraction, n: int
) -> Enclosure:
    """Return E[B/(1 + B)] for B = (l + far exp(-rate F)) exp(-rate N_L) + (r + far exp(-rate F)) exp(-rate N_R).

    l and r are the `rivals`; N_L and N_R have the same mass, and F is the number of all other examples.
    """
    check_terms(len(likely(n, mass)) ** 2)
    powers = Enclosure.exp(-rate).powers(n)
    left, right = map(Enclosure.of, rivals)
    more = Enclosure.of(far)

    def given(count: int) -> Enclosure:
        """Return the mean given N_L; the other count is binomial in what is left."""
        own = powers[count]

        def value(other: int) -> Enclosure:
            total = left * own + right * powers[other]
            if far:
                total = total + more * powers[n - count - other] * (own + powers[other])
            return odds_to_chance(total)

        return mean(n - count, mass / (1 - mass), value)

    return mean(n, mass, given)


def _points(numbers: Numbers, alpha: Fraction) -> Ends:
    rivals = count(numbers, "rivals", 1)
    rate = positive(numbers, "rate")
    mass = mass_above(numbers, alpha)

    # The case: all rivals have this mass or, where that leaves some over, all but the last, which has the rest.
    bad = rivals if rivals * mass > 1 else rivals - 1

    def lower(n: int) -> Decimal:
        return _with_own_mass(bad, mass, rate, n).low

    def upper(n: int) -> Decimal:
        if rivals * alpha > 1:
            return _every_number(rivals, alpha, rate, n)
        # F examples are elsewhere; C/(x + C) with x = K/(K - 1 + exp(-rate F)).
        scales = [rivals / (rivals - 1 + power) for power in Enclosure.exp(-rate).powers(n)]
        even = _of_sum(rivals, Fraction(1, rivals), 1 - rivals * alpha, scales, rate, n).high
        if rivals == 1:
            return even
        return min(even, _uneven(rivals, alpha, rate, n))

    return lower, upper


def _uneven(rivals: int, alpha: Fraction, rate: Fraction, n: int) -> Decimal:
    """Return a bound for rivals that are all bad and share the mass 1 - rivals * alpha beyond that.

    For any d, one rival has at least 1 - (rivals - 1) d of it, or two have d each: such a term of C has a mean of at
    most (1 - share c)^F given F, and adds at most its mean to that of C/(1 + C).
    """
    drop = drops(rate)[1]
    left = 1 - rivals * alpha
    one, two = (_with_own_mass(s, alpha, rate, n) for s in (rivals - 1, rivals - 2))

    def bound(d: Fraction) -> Decimal:
        single = one + kept(left * (1 - (rivals - 1) * d), drop) ** n
        double = two + 2 * kept(left * d, drop) ** n
        return max(single.high, double.high)

    return min(bound(Fraction(i, SHARES * (rivals - 1))) for i in range(1, SHARES))


def _own_mass(rivals: int, alpha: Fraction) -> Fraction:
    """Return the least mass of the target's own point with which so many rivals can all err by alpha."""
    if rivals <= 1:
        return Fraction(0)
    return max(Fraction(0), (rivals * alpha - 1) / (rivals - 1))


def _with_own_mass(rivals: int, alpha: Fraction, rate: Fraction, n: int) -> Enclosure:
    """Return E[C/(exp(rate k) + C)] for k examples at the own point and equal masses of the rivals.

    Without own mass the mean for one or two rivals is a sum over their counts.
    """
    own = _own_mass(rivals, alpha)
    if rivals == 1 and not own:
        return _one_side(1, 0, alpha, rate, n)
    if rivals == 2 and not own and len(likely(n, alpha)) ** 2 <= MOST_TERMS:
        return _two_sides((1, 1), 0, alpha, rate, n)
    return _of_sum(rivals, (alpha - own) / (1 - own), own, Enclosure.exp(rate).powers(n), rate, n)


def _every_number(rivals: int, alpha: Fraction, rate: Fraction, n: int) -> Decimal:
    """Return a bound for every number of bad rivals up to `rivals`, which have more than 1 if each has alpha.

    Up to 1/alpha the more rivals the worse. Beyond that, blocks of numbers are halved until one bound does for each.
    """
    first = max(1, math.floor(1 / alpha))
    best = max(_with_own_mass(first, alpha, rate, n).high, _with_own_mass(rivals, alpha, rate, n).high)
    enough = UP.multiply(best, Enclosure.of(CLOSE).high)
    blocks = [(first, rivals)]
    while blocks:
        low, high = blocks.pop()
        if high - low < 2:
            continue
        if (bound := _block(low, high, alpha, rate, n)) <= enough:
            best = max(best, bound)
            continue
        middle = (low + high) // 2
        best = max(best, _with_own_mass(middle, alpha, rate, n).high)
        blocks += [(low, middle), (middle, high)]
    return best


def _block(low: int, high: int, alpha: Fraction, rate: Fraction, n: int) -> Decimal:
    """Return a bound for `low` to `high` bad rivals: Jensen's, with the most rivals and, apart, the least masses."""
    own = _own_mass(low, alpha)
    other = _own_mass(high, alpha)
    powers = kept((alpha - other) / (1 - other), drops(rate)[1]).powers(n)
    grown = Enclosure.exp(rate).powers(n)
    rivals = Enclosure.of(high)

    def value(k: int) -> Enclosure:
        total = rivals * powers[n - k]
        return total / (grown[k] + total)

    return mean(n, own, value).high


def _of_sum(
    rivals: int, share: Fraction, outside: Fraction, scales: Sequence[Enclosure], rate: Fraction, n: int
) -> Enclosure:
    """Return E[C/(x + C)], C = sum_j exp(-rate N_j) over s rivals with a share each of the n - k examples, x = x(k).

    k ~ Bin(n, outside). With M the mean, y = x + M and mu_i the central moments of C given k,

        M/y - mu_2 x/y^3 + mu_3 x/y^4 - mu_4/y^4 <= E[C/(x + C)] <= min(M/y, M/y - mu_2 x/y^3 + mu_3 x/y^4),

    and M/y - mu_2/y^2 is another lower end.
    """
    if not rivals:
        return ZERO
    products = _products(rivals, share, rate, n)

    def value(k: int) -> Enclosure:
        x = scales[k]
        first, second, third, fourth = _central(*(table[n - k] for table in products))
        y = x + first
        ratio = first / y
        square = y * y
        fine = ratio - second * x / (square * y) + third * x / (square * square)
        low = max((fine - fourth / (square * square)).low, (ratio - second / square).low, Decimal(0))
        return Enclosure(low, min(ratio.high, fine.high))

    return mean(n, outside, value)


# The first four moments of C consist of products of powers of its terms; these are the powers.
_PRODUCTS = ((1,), (2,), (1, 1), (3,), (2, 1), (1, 1, 1), (4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1))


def _products(rivals: int, share: Fraction, rate: Fraction, n: int) -> list[list[Enclosure]]:
    """Return the sums of the means of `_PRODUCTS` over all choices of terms in order, each for 0 .. n examples."""
    d = drops(rate)

    def table(cells: int, *parts: int) -> list[Enclosure]:
        """Return s (s - 1) .. E exp(-rate (i N_1 + j N_2 + ..)) for the parts i, j, .., one for each of the terms."""
        ways = math.perm(rivals, cells)
        if not ways:
            return [ZERO] * (n + 1)
        return [ways * power for power in kept(share, sum((d[part] for part in parts), ZERO)).powers(n)]

    return [table(len(parts), *parts) for parts in _PRODUCTS]


def _central(*e: Enclosure) -> tuple[Enclosure, ...]:
    """Return mean and central moments from the means of the products, in the order of `_PRODUCTS`."""
    m1 = e[0]
    m2 = e[1] + e[2]
    m3 = e[3] + 3 * e[4] + e[5]
    m4 = e[6] + 4 * e[7] + 3 * e[8] + 6 * e[9] + e[10]
    square = m1 * m1
    third = m3 - 3 * m1 * m2 + 2 * m1 * square
    fourth = m4 - 4 * m1 * m3 + 6 * square * m2 - 3 * (square * square)
    return m1, m2 - square, third, fourth


def _parities(numbers: Numbers, alpha: Fraction) -> Ends:
    dimension = count(numbers, "dimension", 1)
    mass = mass_above(numbers, alpha)
    keep = Fraction(numbers["keep"])
    failure = Fraction(numbers["failure"])
    if not (0 < keep <= 1 and 0 <= failure < 1 and 2 * keep * mass <= 1):
        raise ValueError(f"keep, failure and mass must be in range, got {keep}, {failure}, {mass}")
    rights = _answered_right(dimension)
    own = Enclosure.of(failure)
    more = Enclosure(rights[-1].low, Decimal(1))
    # The mass that the nonzero points of the case share.
    exists = mass * (2 - Fraction(2, 2**dimension)) <= 1

    def failing(error: Fraction, n: int) -> Enclosure:
        """Return f + (1 - f)(1 - E 1/|V|): each example is a random equation with probability 2 p error."""
        right = mean(n, 2 * keep * error, lambda k: rights[k] if k < len(rights) else more)
        return own + (1 - own) * (1 - right)

    def lower(n: int) -> Decimal:
        return failing(mass, n).low if exists else Decimal(0)

    return lower, lambda n: failing(alpha, n).high


def _answered_right(dimension: int) -> list[Enclosure]:
    """Return E 1/|V| for V the solutions of 0, 1, .. uniformly random homogeneous equations, which does not fall."""
    check_terms((dimension + MORE_EQUATIONS) * dimension)
    halves = [Enclosure.of(Fraction(1, 2**k)) for k in range(dimension + 1)]
    law = [*[ZERO] * dimension, ONE]
    found = []
    for _ in range(dimension + MORE_EQUATIONS):
        # An equation holds on all of 2^k solutions with probability 2^-k; else it halves them.
        holds = [chance * half for chance, half in zip(law, halves, strict=True)]
        found.append(sum(holds, ZERO))
        falls = [*(chance * (1 - half) for chance, half in zip(law[1:], halves[1:], strict=True)), ZERO]
        law = [kept + fall for kept, fall in zip(holds, falls, strict=True)]
    return found


def _interior_points(numbers: Numbers, alpha: Fraction) -> Ends:
    size = count(numbers, "domain_size", 2)
    grown = Enclosure.exp(positive(numbers, "rate"))

    def failing(n: int) -> Enclosure:
        """Return the greater one of the rates on one point and on two neighbouring points."""
        weights = {size - 1: grown**n}
        if n > 1:
            weights[size - 2] = grown ** (n // 2) + grown ** (n - n // 2)
        rates = [out / (out + inside) for out, inside in weights.items()]
        return Enclosure(max(one.low for one in rates), max(one.high for one in rates))

    return lambda n: failing(n).low, lambda n: failing(n).high


_ENDS: dict[CaseFamily, Callable[[Numbers, Fraction], Ends]] = {
    CaseFamily.FINITE_CLASS: _finite_class,
    CaseFamily.THRESHOLDS: _thresholds,
    CaseFamily.POINTS: _points,
    CaseFamily.PARITIES: _parities,
    CaseFamily.INTERIOR_POINTS: _interior_points,
    CaseFamily.COVERS: covers,
    CaseFamily.SELECTIONS: selections,
    CaseFamily.OUTPUTS: outputs,
    CaseFamily.LITERALS: literals,
    CaseFamily.FACES: faces,
    CaseFamily.THRESHOLD_CALLS: threshold_calls,
    CaseFamily.SUBSAMPLES: subsamples,
}
