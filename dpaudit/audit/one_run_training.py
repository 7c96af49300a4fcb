"""Train with canaries that coins put in, score all of them, and audit the scores."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Iterable
from itertools import compress
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit import seeding
from dpaudit.arguments import CONFIDENCE, read_flag, read_integer, read_number
from dpaudit.audit.coins import LEAST, flip_coins
from dpaudit.audit.curve_claims import resolve_claims
from dpaudit.audit.one_run import RankedScores, finding_of
from dpaudit.audit.one_run_finding import OneRunFinding
from dpaudit.bounds.base import Bools
from dpaudit.contract import CurveClaim, PrivacyClaim, Relation
from dpaudit.errors import InputError, blamed
from dpaudit.outputs.canonical import canonical
from dpaudit.results import remembering
from dpaudit.running.passing import with_generator

_Canary = TypeVar("_Canary")
_Canaries = TypeVar("_Canaries", bound=Iterable[object])
_Released = TypeVar("_Released")


@remembering
def audit_one_run(
    train: Callable[[_Canaries, np.random.Generator], _Released],
    canaries: _Canaries,
    claim: PrivacyClaim | CurveClaim | None = None,
    *,
    score: Callable[[_Released, _Canaries], ArrayLike],
    epsilon: float | None = None,
    delta: float | None = None,
    runs: int = 1,
    confidence: float = CONFIDENCE,
    seed: int | None = None,
    check: bool = True,
    relation: Relation | str = Relation.ADD_REMOVE_ONE,
) -> OneRunFinding:
    """Flip coins for canaries, train with those that are in, score all of them, and audit the scores.

    Parameters
    ----------
    train : callable
        ``(canaries, rng) -> released``: trains with the canaries it is given, beside data of its own, and returns what
        is released. Its randomness may come from `rng`, a NumPy generator, which is passed as by `audit_privacy`; a
        training with randomness of its own may take the canaries alone.
    canaries : list, tuple or array
        At least two, all different.
    claim, epsilon, delta, confidence, relation
        As for `audit_scores`.
    score : callable
        ``(released, canaries) -> scores, shape (m,)``: larger for canaries that seem to have been in. It is given all
        canaries, and no coins.
    runs : int
        Trainings, each with fresh coins, whose scores are pooled.
    seed : int, optional
        Of coins and generators, named in the finding; by default they come from the operating system.
    check : bool
        Train once more, with the other canaries and a generator equal to the first run's: if the scores are the same,
        the training ignores its canaries and there is no evidence. That of a training with randomness of its own is not
        seen: its scores are others in any case.

    Returns
    -------
    OneRunFinding
        `finding.seal` is the digest of the coins, made before the first training.

    Raises
    ------
    InputError
        As for `audit_scores`; if canaries are equal; if `train` or `score` raises. If it is raised after the training,
        its attributes `coins` and `scores` hold what was computed, as those of a `KeyboardInterrupt` do.
    """
    listed = _distinct(canaries)
    if not callable(train):
        raise InputError.of("train", train, "a function (canaries, rng) -> released")
    training = with_generator(train, name="train", data="canaries")
    runs = read_integer("runs", runs)
    check = read_flag("check", check)
    curve, point = resolve_claims(None, claim, epsilon, delta, relation)
    read_number("confidence", confidence, 0, 1)
    coins = flip_coins(len(listed), seed, runs=runs)
    # As for the coins: by default nothing that knows a seed can know the noise.
    root = secrets.randbits(64) if seed is None else seed

    def scored(chosen: Bools, run: int) -> ArrayLike:
        rng = seeding.generator(root, "one run", "training", run)
        with blamed("train"):
            some: list[object] | np.ndarray
            if isinstance(canaries, np.ndarray):
                some = canaries[chosen]
            else:
                some = list(compress(canaries, chosen))
            released = training(some, rng)
        with blamed("score"):
            return score(released, canaries)

    made: list[ArrayLike] = []
    try:
        for run, row in enumerate(np.atleast_2d(coins.included)):
            made.append(scored(row, run))
        if len({np.shape(one) for one in made}) > 1:
            scores = np.array(made, dtype=object)  # is refused, with the reason
        else:
            scores = np.array(made)
        ranked = RankedScores.of(scores, coins, None)
        ignored = None
        if check:
            # The address of the first run, so that its generator is equal and the canaries alone differ.
            others = scored(~np.atleast_2d(coins.included)[0], 0)
            ignored = np.array_equal(np.asarray(others), np.asarray(made[0]))
    except (InputError, KeyboardInterrupt) as error:
        # A training may have taken days: what was computed is not lost with it.
        vars(error).update(coins=coins, scores=made)
        raise
    return finding_of(ranked, curve, point, confidence, ignored=ignored)


def _distinct(canaries: Iterable[_Canary]) -> list[_Canary]:
    """Return canaries as a sequence, or raise `InputError` for fewer than two or equal ones."""
    try:
        listed = list(canaries)
    except TypeError:
        raise InputError.of("canaries", canaries, "a list or an array of examples") from None
    if len(listed) < LEAST:
        raise InputError.of("canaries", len(listed), f"{LEAST} or more examples")
    seen: dict[Hashable, int] = {}
    for i, one in enumerate(listed):
        if isinstance(one, np.ndarray) and one.dtype != object:
            label: Hashable = one.tobytes()
        else:
            label = canonical(one)
        if label in seen:
            message = "{canaries} must differ from each other: number {first_} and number {second_} are the same"
            raise InputError(message, names=("canaries",), first_=seen[label], second_=i)
        seen[label] = i
    return listed
