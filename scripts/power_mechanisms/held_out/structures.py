"""Rankings, and streams of events."""

from __future__ import annotations

from power_mechanisms.row import LN3, Rng, Row, response

__all__ = ["ROWS"]


def precedence(x: int, rng: Rng) -> list[int]:
    """Return a random order of nine candidates, but who of the third and the seventh comes first is a noisy answer."""
    order = [int(i) for i in rng.permutation(9)]
    first, second = sorted((order.index(2), order.index(6)))
    order[first], order[second] = (2, 6) if response(x, rng, 2.0) else (6, 2)
    return order


def alarm(x: int, rng: Rng) -> list[tuple[float, str]]:
    """Return a stream of times and kinds of events, as long as it happens to be; one is an alarm or is not."""
    size = 3 + int(rng.poisson(4))
    times = rng.exponential(size=size).cumsum()
    kinds = ["read" if r < 0.6 else "write" for r in rng.random(size)]
    if response(x, rng, LN3):
        kinds[int(rng.integers(size))] = "alarm"
    return [(float(time), kind) for time, kind in zip(times, kinds, strict=True)]


ROWS = (
    Row(
        "precedence",
        "ranking",
        precedence,
        2.0,
        "Which of two candidates of nine is ranked above the other.",
        lambda v: v.index(2) < v.index(6),
    ),
    Row(
        "alarm",
        "stream",
        alarm,
        LN3,
        "An event of a certain kind somewhere in a stream.",
        lambda v: any(kind == "alarm" for _, kind in v),
    ),
)
