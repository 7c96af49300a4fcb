"""Pairs that a strategy of hypothesis makes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from dpaudit import seeding
from dpaudit.arguments import read_integer
from dpaudit.contract import Origin, OriginKind, Pair
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_Input = TypeVar("_Input")


def is_strategy(value: Any) -> bool:
    """Return whether a value is a strategy of hypothesis, which is loaded already if there is one."""
    strategies = sys.modules.get("hypothesis.strategies")
    return strategies is not None and isinstance(value, strategies.SearchStrategy)


def pairs_from_strategy(
    strategy: SearchStrategy[tuple[_Input, _Input]], *, count: int = 16, seed: int = 0
) -> list[Pair]:
    """Return pairs that a hypothesis strategy of (data, neighbour) tuples makes.

    Parameters
    ----------
    strategy : hypothesis.strategies.SearchStrategy
        Must produce tuples of two neighbouring inputs, which is for its author to see to.
    count : int
        The most pairs; hypothesis makes fewer if there are no more.
    seed : int
        Makes the draws repeatable, with one version of hypothesis.

    Raises
    ------
    InputError
        If hypothesis is not installed, `strategy` is no strategy, fails, or makes something else than pairs.
    """
    try:
        import hypothesis
    except ImportError:
        raise InputError("pairs_from_strategy needs the package hypothesis") from None
    count = read_integer("count", count)
    seeding.check_seed(seed)
    if not isinstance(strategy, hypothesis.strategies.SearchStrategy):
        raise InputError.of("strategy", strategy, "a hypothesis strategy")
    found: list[tuple[_Input, _Input]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def collect(pair: tuple[_Input, _Input]) -> None:
        found.append(pair)

    try:
        collect()
    # A strategy is third-party code, and may raise anything.
    except Exception as error:
        raise InputError(f"strategy {strategy!r:.100} failed: {type(error).__name__}: {error}") from error
    for pair in found:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"strategy must make tuples (data, neighbour), got {pair!r:.100}", parameter="strategy")
    if not found:
        raise InputError(f"strategy {strategy!r:.100} made no pair", parameter="strategy")
    origins = (Origin(OriginKind.STRATEGY, f"number {i}") for i in range(count))
    return [Pair(data, neighbour, origin) for (data, neighbour), origin in zip(found, origins, strict=False)]
