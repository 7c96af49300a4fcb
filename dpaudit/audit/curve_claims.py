"""Audit a claim that is a curve: training chooses one point of it and one event, or a bet by Holder's inequality.

Refuting a point (epsilon, delta) that the claim implies refutes the claim (`bounds.tangent`), so the audit of a curve
is that of a point which training has chosen together with the event, and fresh runs spend all of the error on it.
Renyi and zero-concentrated privacy are averages, and one event shows little of an average: there most of the error is
for a bet on all outputs (`bounds.holder`), on the same fresh runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import UNSET, UnsetType

from dpaudit.audit.claim_tests import CurveTest, EventTest, HolderEvidence
from dpaudit.audit.power import LEARNING, MASSES, Power
from dpaudit.audit.request import Request, resolve_claim
from dpaudit.audit.trained_pair import TrainedPair
from dpaudit.bounds.holder import SHORTFALLS, by_label, detectable_shortfall, fit_bet, label_ends
from dpaudit.bounds.tangent import ClaimPoints, delta_lower, mu_of_delta, orders_of, tangent_probability
from dpaudit.contract import CurveClaim, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.events.event import Tally
from dpaudit.events.prefixes import likelier_first
from dpaudit.events.selected import OrderedCells, SelectedEvent
from dpaudit.places import Place, importable

# The deltas, about, of the point that pairs are searched by, for tails that training can learn exceed it, and of the
# one that is bet against, which Gaussian noise that is too small exceeds soonest.
SEARCHED_DELTA = 0.01
BET_DELTA = 0.2
# Of the error of a claim with a bet by Holder's inequality, for the event: it has the certificate.
EVENT_SHARE = 0.1
# Orders that are bet on of a claim for all of them: higher ones need rarer outputs.
LARGEST_ORDER = 4.0
# Orders times mu beyond which tests of a Gaussian mechanism need outputs that hardly any run returns.
TESTABLE = 3.5


def named_claim(text: str | None, epsilon: float | None = None, delta: float | None = None) -> CurveClaim | None:
    """Return the claim that a text names, such as "gaussian:0.5"; None if there is no text.

    The words are those of `Options.claim`; a profile is named by its place. `InputError` if the text names no claim, or
    is given together with `epsilon` or `delta`.
    """
    if text is None:
        return None
    _refuse_numbers("claim", epsilon, delta)
    word, _, value = text.partition(":")
    if word == "profile" and value:
        place = Place.parse("--claim profile", value)
        with importable(place.folder):
            return PrivacyClaim.profile(place.find())
    try:
        if word == "gaussian":
            return PrivacyClaim.gaussian(float(value))
        if word == "zero-concentrated":
            return PrivacyClaim.zero_concentrated(float(value))
        if word == "renyi":
            orders = [one.split(",") for one in value.split(";")]
            return PrivacyClaim.renyi([(float(order), float(bound)) for order, bound in orders])
    except InputError as error:  # in the names of the numbers, which the option does not have
        raise InputError("{claim} {given}: {why}", names=("claim",), given=text, why=str(error)) from None
    except ValueError:  # no number, or not two of them
        pass
    wanted = (
        "gaussian:MU, zero-concentrated:RHO, renyi:ALPHA,EPSILON (several as renyi:2,1;4,2) or profile:FILE.py:NAME"
    )
    raise InputError.of("claim", text, wanted)


def _refuse_numbers(claim: str, epsilon: float | None, delta: float | None) -> None:
    """Raise `InputError` if epsilon or delta is given together with a claim; `claim` is the name of its parameter."""
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if value is not None:
            message = "{" + name + "} must be left out where {" + claim + "} is given: there is one claim; got {value_}"
            raise InputError(message, names=(name, claim), value=value, value_=repr(value))


def resolve_claims(
    source: Any,
    claim: PrivacyClaim | CurveClaim | None,
    epsilon: float | None,
    delta: float | None,
    relation: Relation | str | None,
    *,
    bets: bool = False,
) -> tuple[CurveClaim | None, PrivacyClaim]:
    """Return the claim that is a curve, if one was given, and the claim to test, or to search by where it is a curve.

    The point that `bets` are against is fixed here, as nothing that was seen may choose it. `InputError` if two claims
    are given at once, or what is given is no claim.
    """
    curve = None
    if claim is not None:
        _refuse_numbers("claim", epsilon, delta)
    if isinstance(claim, PrivacyClaim):
        epsilon = claim.epsilon
        delta = claim.delta
        if relation is None:
            relation = claim.relation
    elif isinstance(claim, CurveClaim):
        curve = claim
        points = ClaimPoints.of(claim)
        about = SEARCHED_DELTA
        if bets:
            about = BET_DELTA
        # 1e-9 keeps a delta of 0 from having no logarithm.
        i = int(np.abs(np.log((points.delta + 1e-9) / about)).argmin())
        epsilon = float(points.epsilon[i])
        delta = float(points.delta[i])
    elif claim is not None:
        raise InputError.of("claim", claim, "a claim, such as dpaudit.PrivacyClaim.gaussian(1.0)")
    return curve, resolve_claim(source, epsilon, delta, relation)


def choose_point(request: Request, pair: TrainedPair) -> tuple[SelectedEvent, Request]:
    """Return the event that shows most of a point of the claim on the training runs, and the request for that point."""
    assert request.curve_claim is not None
    points = ClaimPoints.of(request.curve_claim)
    orders = (
        OrderedCells.of(discretizer, tallies)
        for discretizer, tallies in zip(pair.discretizers, pair.tallies, strict=True)
    )
    # The event that shows the greatest share of a point: the point that counts exceed most would be, of a claim that is
    # kept with slack, in a far tail where both are next to nothing.
    _, i, event = max((one.of_points(points) for one in orders), key=lambda one: one[0])
    claim = replace(request.claim, epsilon=float(points.epsilon[i]), delta=float(points.delta[i]), claim_id="")
    return event, replace(request, claim=claim)


def event_share(claim: CurveClaim | None) -> float:
    """Return the share of the verdict's error that the event has."""
    if claim is None or claim.mu is not None or claim.points:
        return 1.0
    return EVENT_SHARE


def curve_test(
    request: Request, main: SelectedEvent, counts: tuple[Tally, Tally], test: EventTest, sides: tuple[int, int],
    met: int, gamma: float,
) -> CurveTest | None:  # fmt: skip
    """Return the test of a claim that is a curve by fresh counts, by the cells of the main event; None without one.

    `test` is that of the event at the point, `sides` are the runs made on either, so many training runs of a side
    `met` rare events, and `gamma` is the error of the verdict.
    """
    claim = request.curve_claim
    point = request.claim
    if claim is None:
        return None
    first, other = likelier_first(test.direction, *sides)
    lower = delta_lower(test.hits, first, test.neighbour_hits, other, epsilon=point.epsilon, gamma=test.error)
    if claim.mu is not None:
        able, mass = _mu_of_test(main.neighbour_mass, met, sum(sides) // 2, claim.mu, gamma)
        mu = mu_of_delta(point.epsilon, lower)
        return CurveTest(claim, lower, mu_lower=mu, detectable_mu=able, detectable_mass=mass)
    orders = orders_of(claim, LARGEST_ORDER)
    if not orders:
        return CurveTest(claim, lower)
    error = gamma * (1 - event_share(claim))
    runs = min(sides)
    short = detectable_shortfall(orders, kept_shift(orders), max(1, runs // LEARNING), error)
    # Labels are cells in the event's order. The bet that training fits pays on as many runs of either side.
    trained, made = (
        np.array([[side[atom] for atom in main.ranking] for side in one])
        for one in (map(main.event.with_rare_merged, main.training), counts)
    )
    # The sides differ by chance in their runs. Which runs of the longer one count is drawn without a look at them.
    rng = np.random.default_rng(0)
    fresh = [rng.multivariate_hypergeometric(side, runs, method="marginals") for side in made]
    ends = label_ends(trained.sum(axis=0))
    bet = fit_bet(by_label(trained[0], ends), by_label(trained[1], ends), orders, runs, error)
    shown = bet.log_evidence(by_label(fresh[0], ends), by_label(fresh[1], ends))
    holder = HolderEvidence(bet.alpha, bet.epsilon, shown, error)
    return CurveTest(claim, lower, detectable_shortfall=short, holder=holder)


def _mu_of_test(unlikelier: float, met: int, runs: int, mu: float, gamma: float) -> tuple[float, float | UnsetType]:
    """Return the least mu that is detected on the event tested; else on the likeliest event on which one is, and it."""
    able = Power.mu_of_test(unlikelier, met, runs, mu, gamma)
    if math.isfinite(able):
        return able, UNSET
    for mass in MASSES:
        able = Power.mu_of_test(mass, met, runs, mu, gamma)
        if math.isfinite(able):
            return able, mass
    return math.inf, UNSET


def kept_shift(orders: Sequence[tuple[float, float]]) -> float:
    """Return the largest shift, in standard deviations, with which Gaussian noise keeps a claim on orders."""
    return min(math.sqrt(2 * epsilon / order) for order, epsilon in orders)


def bet_test(request: Request, epsilon_lower: float, runs: int) -> CurveTest | None:
    """Return the test of a claim that is a curve by bets against one point of it; None without such a claim.

    A mechanism that is not (epsilon, delta)-private for any epsilon below a bound is not mu-Gaussian private for any mu
    smaller than the one whose curve passes through the bound and delta. The power is that of bets on so many `runs` of
    the leading pair: the mu, or the noise of one number, at which they detect the event that exceeds the point soonest.
    """
    claim = request.curve_claim
    point = request.claim
    if claim is None:
        return None
    if claim.mu is not None:
        lower = mu_of_delta(epsilon_lower, point.delta if epsilon_lower else 0.0)
        able = _mu_of_bets(point, claim.mu, runs, request.gamma)
        return CurveTest(claim, 0.0, mu_lower=lower, detectable_mu=able)
    orders = orders_of(claim)
    if not orders:
        return CurveTest(claim, 0.0)
    # Noise that keeps the claim need not reach its point: the shift must exceed that whose curve reaches it.
    kept = kept_shift(orders)
    through = mu_of_delta(point.epsilon, point.delta)
    able = _mu_of_bets(point, max(kept, through), runs, request.gamma)
    short = 1 - kept / able
    if short > SHORTFALLS[1]:
        short = math.inf
    return CurveTest(claim, 0.0, detectable_shortfall=short)


def _mu_of_bets(point: PrivacyClaim, mu: float, runs: int, gamma: float) -> float:
    """Return the least mu that bets detect on the event at which a point supports mu-Gaussian privacy."""
    if runs < 1:
        return math.inf
    power = Power.of_bets(tangent_probability(point.epsilon, mu), runs, point, gamma)
    return power.mu(point, mu)


def untestable_orders(claim: CurveClaim) -> list[float]:
    """Return the orders of a Renyi claim that are beyond what runs of a Gaussian mechanism can show."""
    return [order for order, epsilon in claim.orders if order * math.sqrt(2 * epsilon / order) > TESTABLE]
