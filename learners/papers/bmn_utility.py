"""Statements of BMN on sample compression and on how many examples suffice and are needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from dpaudit.contract import Distribution, Evidence, StatementVerdict, Tools

from ..bisection import least_beyond
from ..finite.counting import scores
from ..mixtures.halfspace import MixtureHalfspace
from ..mixtures.public_family import public_family
from ..samples import Sample
from .evidence import errors_data, exceeds, greatest, judged, tried
from .sizes import errors_of_law, failure_probability, judged_sizes, log_binomial
from .states import derived, edge_case, states

ALPHA = 0.2
BETA = 0.1


def examples_needed(collections: int, epsilon: float, alpha: float, beta: float) -> int:
    """Return (2/(epsilon alpha)) ln(|G|/beta), rounded up."""
    return math.ceil(2 / (epsilon * alpha) * math.log(collections / beta))


def _shared(total: int, parts: int) -> list[int]:
    """Return `parts` counts with that sum, as equal as can be."""
    return [total // parts + (i < total % parts) for i in range(parts)]


def _samples(learner: MixtureHalfspace, public: list[list[int]], n: int, *, label_determined: bool) -> Iterator[Sample]:
    """Yield samples of n with public examples labelled 0 and private ones: labelled 1, or in every way.

    Label-determined ones: half of the examples private, at every set of points. Others: one public example at each
    public point, the rest private at all points of the domain, with every labelling.
    """
    domain = learner.domain.points().tolist()
    for chosen in product((0, 1), repeat=len(domain)):
        private = [x for x, bit in zip(domain, chosen, strict=True) if bit or not label_determined]
        labels = [1 if label_determined else bit for bit in chosen if bit or not label_determined]
        if private:
            half = n // 2 if label_determined else n - len(public)
            counts = _shared(n - half, len(public)) + _shared(half, len(private))
            flags = [True] * len(public) + [False] * len(private)
            yield learner.domain.sample([*public, *private], [0] * len(public) + labels, counts, flags)


def _excess(over_best_halfspace: bool) -> Evidence:
    """Return the evidence on the error on the sample beyond that of the best of G, or of the best halfspace."""
    cases = []
    sizes = set()
    for learner, public in (
        (MixtureHalfspace(1, 1.0, 4), [[0], [2], [4]]),
        (MixtureHalfspace(2, 1.0, 1), [[0, 0], [1, 0], [0, 1]]),
    ):
        # |G| of the public points at hand, not its bound over all.
        n = examples_needed(public_family(np.array(public)).collections(learner.dimension), 1.0, ALPHA, BETA)
        sizes.add(n)
        for sample in _samples(learner, public, n, label_determined=over_best_halfspace):
            p, wrong = errors_of_law(learner, sample)
            if over_best_halfspace:
                best = n - int(scores(learner.concepts, sample).max())
            else:
                best = int(wrong.min())
            failure = float(p[wrong > best + ALPHA * n].sum())
            cases.append((failure, repr(sample), errors_data(learner, sample, best + ALPHA * n, failure)))
    worst, where, data = greatest(cases)
    text = (
        f"alpha = {ALPHA}, beta = {BETA}, epsilon = 1, n = (2/(epsilon alpha)) ln(|G|/beta) = "
        f"{', '.join(map(str, sorted(sizes)))}: over {'all sets' if over_best_halfspace else 'all labellings'} "
        f"of private points (d = 1, side 4 and d = 2, side 1) the exact probability of a greater excess is at most "
        f"{worst:.2g}"
    )
    numbers = {"failure": worst, "beta": BETA, "n": max(sizes)}
    return judged(text, numbers, where, data, failed=exceeds(worst, BETA))


derived(
    "BMN-Lem4.6",
    "(2/(epsilon alpha)) ln(|G|/beta) examples suffice for at most alpha n errors on the sample more than the best of "
    "G, with probability 1 - beta.",
    "Lemma 4.6, with its constant",
    short="Excess error on the sample beyond the best of G",
    printed="fails ≤ {beta}",
    found="≤ {failure:.2g} at n = {n}",
    formula="n = O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha))",
    conditions="alpha, beta, epsilon in (0, 1)",
)(lambda tools: _excess(over_best_halfspace=False))


derived(
    "BMN-Clm4.7",
    "So many examples suffice for at most alpha n errors on the sample more than the best halfspace, with probability "
    "1 - beta, where the private examples are those labelled 1.",
    "Claim 4.7, with the constant of Lemma 4.6",
    short="Excess error on the sample beyond the best halfspace",
    printed="fails ≤ {beta}",
    found="≤ {failure:.2g} at n = {n}",
    formula="n = O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha))",
    conditions="alpha, beta, epsilon in (0, 1)",
)(lambda tools: _excess(over_best_halfspace=True))


# The constants of Lemma 4.8.
PRINTED = (4.0, 8.0, 2.0)


def compression_bound(error: float, k: int, n: int, beta: float) -> float:
    """Return sqrt(error 4 k ln(n/beta)/n) + 8 k ln(n/beta)/n + 2 k/n."""
    root, linear, seen = PRINTED
    log = math.log(n / beta)
    return math.sqrt(error * root * k * log / n) + linear * k * log / n + seen * k / n


def proved_constants(linear: float) -> tuple[float, float, float]:
    """Return constants of Lemma 4.8 that are proved where n > `linear` k ln(n/beta) and n > 2 k.

    Elsewhere the bound is at least 1, since 2 k/n is, or the term before. Let L = k ln(n/beta). The hypothesis of a
    sequence of k examples errs on the m >= n - k others independently: by Bernstein's inequality its error p and the
    share q of errors there differ by at most sqrt(2 p t/m) + t/(3 m), on both sides, for all n^k sequences with
    probability 1 - beta if t = ln(2 n^k/beta) <= L + ln 2. Solved for p: |p - q| <= sqrt(2 q t/m) + (2 + 1/3 +
    sqrt(2/3)) t/m. The k others move the share by at most k/m, and q by a factor of at most n/m.
    """
    # n > linear ln n at k = 1, from the greater solution on.
    least = next(n for n in range(math.ceil(linear), 10**6) if n > linear * math.log(n))
    kept = 1 - 1 / (linear * math.log(least))
    longer = 1 + math.log(2) / math.log(least)
    return 2 * longer / kept**2, (7 / 3 + math.sqrt(2 / 3)) * longer / kept, 1 / kept


@states(
    "BMN-Lem4.8",
    "|err - empirical err| <= sqrt(empirical err 4 k ln(n/beta)/n) + 8 k ln(n/beta)/n + 2 k/n w.p. 1 - beta for "
    "hypotheses made from k examples, on both sides.",
    "Lemma 4.8",
    short="The compression bound on both sides",
    printed="{printed root:g}, {printed linear:g}, {printed seen:g}",
    found="{root:.3g}, {linear:.3g}, {seen:.3g} are proved; one point, k = 1 fails ≤ {failure:.2g}",
    best="constants {root:.3g}, {linear:.3g}, {seen:.3g}",
    formula="|err - err^| <= sqrt(err^ 4 k log(n/beta)/n) + 8 k log(n/beta)/n + 2 k/n",
    conditions="hypotheses made from k of n examples, with probability 1 - beta",
    argument="Bernstein's inequality for the examples beside each of the n^k sequences; the docstring of "
    "dpaudit_learners.papers.bmn_utility.proved_constants has the steps.",
)
def _compression(tools: Tools) -> Evidence:
    cases = []
    for n, p in product((100, 1000, 10_000), (0.001, 0.01, 0.1, 0.5)):
        # All examples at one point: every hypothesis made from one example has the same error p there.
        outside = [abs(p - j / n) > compression_bound(j / n, 1, n, BETA) for j in range(n + 1)]
        failure = math.fsum(math.exp(log) for log, out in zip(log_binomial(n, p), outside, strict=True) if out)
        words = f"all examples at one point, wrong with probability {p:g}, n = {n}"
        cases.append((failure, words, {"n": n, "probability of an error": p, "beta": BETA, "failure": failure}))
    worst, where, data = greatest(cases)
    proved = proved_constants(PRINTED[1])
    numbers = {"failure": worst, "beta": BETA}
    for name, mine, theirs in zip(("root", "linear", "seen"), proved, PRINTED, strict=True):
        numbers |= {name: mine, f"printed {name}": theirs}
    text = (
        f"proved with {proved[0]:.3f}, {proved[1]:.3f} and {proved[2]:.3f} in the place of {PRINTED[0]:g}, "
        f"{PRINTED[1]:g} and {PRINTED[2]:g}; one hypothesis, wrong with probability 0.001, 0.01, 0.1 or 0.5, n = 100 "
        f"to 10,000, k = 1, beta = {BETA}, is outside of the bound with exact probability at most {worst:.2g}"
    )
    # Without the proof one hypothesis decides nothing about the choice among many.
    enough = all(mine <= theirs for mine, theirs in zip(proved, PRINTED, strict=True))
    otherwise = StatementVerdict.HOLDS if enough else StatementVerdict.UNDECIDED
    return judged(text, numbers, where, data, otherwise=otherwise, failed=exceeds(worst, BETA))


@edge_case(
    "BMN-Lem4.8-k",
    "Every hypothesis of G is made from k = d^2 of the examples.",
    "before Lemma 4.8; proof of Theorem 4.9",
    short="Hypotheses of G are made from d² examples",
    printed="≤ {sequences, d=1} hypotheses, d = 1, 10 points",
    found="{|G|, d=1} at d = 1; {|G|, d=2:,} of {sequences, d=2:,} at d = 2",
    best="d² examples and a sign at d = 1; d² from d = 2 on",
    formula="k = d^2",
    argument="A point of the line bounds two halflines, and d^2 = 1 example cannot say which. From d = 2 on the order "
    "of the d points of a halfspace says it; where the public points span a flat of dimension a < d, it takes a + 1 "
    "points for the flat and a for each of d halfspaces, a + 1 + d a <= d^2.",
)
def _compression_size(tools: Tools) -> Evidence:
    numbers: dict[str, float] = {}
    points = np.arange(10)
    for d, public in ((1, points[:, None]), (2, np.column_stack([points, points**2]))):
        # Public examples have the label 0: a map from d^2 of them takes so many values.
        numbers |= {f"|G|, d={d}": public_family(public).collections(d), f"sequences, d={d}": len(points) ** (d * d)}
    size, values, plane, most = numbers.values()
    text = (
        f"10 public points: G has {size} members at d = 1, where a map from one example takes {values} values, and "
        f"{plane:,} at d = 2 (on a parabola), where one from four takes {most:,}"
    )
    witness = f"d = 1, public points 0 .. 9: {size} hypotheses, {values} examples"
    data = {"points": points[:, None], "hypotheses": size, "examples": values}
    return tried(text, numbers, witness, data, failed=size > values or plane > most)


# alpha and beta.
LEVEL = 0.2
# The worst distributions on the line that a search met, alpha = beta = 0.2, and the concepts that label them.
HARD = {
    "realizable": Distribution(np.array([[0], [7], [8]]), np.array([0.5996, 0.2002, 0.2002]), "just above alpha each"),
    "agnostic": Distribution(np.array([[0], [1]]), np.array([0.6001, 0.3999]), "noise on a positive point, half there"),
}
TARGETS = {"realizable": 2, "agnostic": 10}
CORNERS = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 1], [2, 2]])
SHARES = np.array([0.2417, 0.1001, 0.1143, 0.1117, 0.1027, 0.101, 0.11427, 0.11423])


def _pac(tools: Tools, setting: str, **noise: float) -> Evidence:
    """Return the evidence on the learner's sample size on hard cases, d = 1 and d = 2."""
    line = MixtureHalfspace(1, 1.0, side=9)
    plane = MixtureHalfspace(2, 1.0, side=2)
    worst = (f"d = 1, side {line.side}", line, TARGETS[setting], HARD[setting])
    climbed = Distribution(CORNERS, SHARES, "found by climbing, realizable")
    cases = [worst, (f"d = 2, side {plane.side}", plane, 32, climbed)]
    levels = {"alpha": LEVEL, "beta": LEVEL, "halvings": 9, "trials": 50, "setting": setting, **noise}
    return judged_sizes(tools, f"alpha = beta = {LEVEL}, the hardest cases that a search met", cases, **levels)


@derived(
    "BMN-Thm4.9",
    "The learner is (alpha, beta)-PAC with O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha)) examples.",
    "Theorem 4.9, with explicit constants",
    short="Examples for an (alpha, β)-learner",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n* = {n*, d = 1} on the worst case that a search met (d = 1)",
    best="n* = {n*, d = 1} there, exactly",
    slow=True,
    formula="n = O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha))",
    conditions="alpha, beta, epsilon in (0, 1), realizable, label-determined",
    argument="OURS-MixtureBound has a lower bound of the same order for this algorithm.",
)
def _realizable(tools: Tools) -> Evidence:
    found = _pac(tools, "realizable")
    line = MixtureHalfspace(1, 1.0, side=9)
    concept = TARGETS["realizable"]
    law = HARD["realizable"]
    size = least_beyond(lambda n: failure_probability(line, concept, law, n, LEVEL) <= LEVEL, 1, 8)
    words = f"{found.summary}; n* is {size} on the case of d = 1, exactly"
    return replace(found, summary=words, numbers={**found.numbers, "n*, d = 1": size})


derived(
    "BMN-Thm4.10",
    "With max(1/alpha^2, 1/(epsilon alpha)) for the last factor its error exceeds the best halfspace's by alpha at "
    "most, where labels are noisy.",
    "Theorem 4.10, with explicit constants; each label is wrong with probability 1/5",
    short="Examples for excess error alpha under noisy labels",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough on the worst case found (d = 1)",
    best="n = {d = 1, side 9: too few} is too few there",
    slow=True,
    formula="n = O((d^2 log(d/(epsilon alpha)) + log(1/beta)) max(1/alpha^2, 1/(epsilon alpha)))",
    conditions="alpha, beta, epsilon in (0, 1), label-determined",
)(lambda tools: _pac(tools, "agnostic", noise=0.2))


SIDE = 9
# Of the public examples.
SHARE = 0.7


def populations(threshold: int) -> Distribution:
    """Return public examples anywhere, most of them far from the threshold, and private ones at and above it."""
    below = np.abs(np.arange(SIDE + 1) - threshold)
    above = np.arange(threshold, SIDE + 1)
    public = Distribution(np.arange(SIDE + 1)[:, None], below / below.sum())
    private = Distribution(above[:, None], np.full(len(above), 1 / len(above)))
    return Distribution.mixture(public, private, SHARE, "public examples of both labels, private ones labelled 1")


@derived(
    "BMN-relaxation-ii-utility",
    "If only private examples share a label, and public ones have a distribution of their own and both labels, the "
    "examples of Theorem 4.9 are enough as well.",
    "Section 4, relaxation (ii), with the explicit constants of Theorem 4.9",
    short="Examples for an (alpha, β)-learner, two populations",
    printed="n = {d = 1, side 9: theorem's n:,}",
    found="n = {d = 1, side 9: enough} is enough (d = 1)",
    best="n = {d = 1, side 9: enough} on the case tried (d = 1)",
    formula="n = O((d^2 log(d/(epsilon alpha)) + log(1/beta))/(epsilon alpha))",
)
def _both_labels(tools: Tools) -> Evidence:
    learner = MixtureHalfspace(1, 1.0, side=SIDE)
    threshold = 5
    labels = learner.concepts.evaluate(learner.domain.points())
    concept = int((labels == (np.arange(SIDE + 1) >= threshold)).all(axis=1).argmax())
    cases = [(f"d = 1, side {SIDE}", learner, concept, populations(threshold))]
    setup = (
        f"alpha = beta = {LEVEL}, target 1 from {threshold} on; {SHARE:.0%} of the examples are public, with "
        f"both labels and most far from {threshold}, private ones are uniform from {threshold} on"
    )
    return judged_sizes(tools, setup, cases, alpha=LEVEL, beta=LEVEL, halvings=9, trials=50)


def log_deviation(n: int, dimension: int, deviation: float) -> float:
    """Return ln of a bound on Pr[some error on n examples is off by more than `deviation`], VC dimension v = d + 1.

    4 Pi(2 n) e^(-n t^2/8) with Sauer's Pi(m) <= (e m/v)^v (Vapnik and Chervonenkis 1971), for n >= v.
    """
    vc = dimension + 1
    return math.log(4) + vc * math.log(2 * math.e * n / vc) - n * deviation**2 / 8


def examples_for_all(dimension: int, alpha: float, beta: float) -> int:
    """Return the least n at which the errors of all halfspaces are off by at most alpha/4, up to beta/2, by that."""
    limit = math.log(beta / 2)
    # The bound rises up to n = 8 v/t^2 and falls beyond.
    start = math.ceil(8 * (dimension + 1) * 16 / alpha**2)
    return least_beyond(lambda n: log_deviation(n, dimension, alpha / 4) <= limit, start, 2 * start)


def worst_halfline_deviation(n: int, deviation: float) -> float:
    """Return Pr[the error of some halfline is off by more than `deviation`], all labels 0 and a law without atoms.

    The error of x >= t is 1 - F(t), and on the sample 1 - F_n(t): the law of Kolmogorov's statistic.
    """
    from scipy.stats import kstwo

    return float(kstwo.sf(deviation, n))


# The greatest factor by which the share of the formula may grow where alpha falls, or d rises, by powers of ten.
SPREAD = 1.5


@derived(
    "BMN-Thm4.10-uniform",
    "O((d log(1/alpha) + log(1/beta))/alpha^2) examples suffice for the error of the best halfspace on the sample to "
    "be off by at most alpha/4, with probability 1 - beta/2.",
    "proof of Theorem 4.10, before (3)",
    short="Examples for uniform convergence of halfspaces",
    printed="O((d ln(1/alpha) + ln(1/β))/alpha²)",
    found="{greatest:,.0f} times that by the VC bound; d = 1 fails ≤ {failure:.2g}",
    best="O((d + ln(1/β))/alpha²), by chaining",
    formula="n = O((d log(1/alpha) + log(1/beta))/alpha^2)",
    argument="Sauer's lemma and symmetrisation: n t^2/8 = v ln(2 e n/v) + ln(8/beta) with t = alpha/4, v = d + 1, and "
    "n/v is about 1/alpha^2 up to logarithms. The deviation of all halfspaces bounds that of the best one.",
)
def _uniform(tools: Tools) -> Evidence:
    shares = {}
    for d, alpha, beta in product((1, 4, 64, 1024), (0.1, 1e-2, 1e-4, 1e-8), (0.1, 1e-6)):
        formula = (d * math.log(1 / alpha) + math.log(1 / beta)) / alpha**2
        shares[d, alpha, beta] = examples_for_all(d, alpha, beta) / formula
    # The constant inside O(.): that of a moderate alpha and d, which nothing beyond may exceed by much.
    known = max(share for (d, alpha, _), share in shares.items() if d <= 4 and alpha >= 1e-2)
    where = max(shares, key=lambda case: shares[case])
    worst = shares[where]
    failures = {
        alpha: worst_halfline_deviation(examples_for_all(1, alpha, BETA), alpha / 4) for alpha in (0.3, ALPHA, 0.1)
    }
    failure = max(failures.values())
    text = (
        f"d = 1 to 1,024, alpha = 0.1 to 1e-8, beta = 0.1 and 1e-6: the bound of Vapnik and Chervonenkis takes "
        f"{min(shares.values()):.0f} to {worst:.0f} times (d ln(1/alpha) + ln(1/beta))/alpha^2; with its n a halfline "
        f"is off by more than alpha/4 with exact probability at most {failure:.2g} (alpha = 0.3, {ALPHA}, 0.1)"
    )
    numbers = {"greatest": worst, "least": min(shares.values()), "known": known, "failure": failure, "beta/2": BETA / 2}
    witness = f"d = {where[0]}, alpha = {where[1]:g}, beta = {where[2]:g}: {worst:.0f} times the formula"
    failed = worst > SPREAD * known or exceeds(failure, BETA / 2)
    return judged(text, numbers, witness, {"kind": "sizes", **numbers}, failed=failed, grade="numeric")
