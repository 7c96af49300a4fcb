"""The certificate of a violation: one record that a sceptic can check alone."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from numpy.typing import NDArray

from dpaudit import seeding, verify_certificate
from dpaudit.audit.checks_and_gaps import calls_agree
from dpaudit.audit.claim_tests import COIN, CoinCount, lower_bound
from dpaudit.bounds.limits import lower_limit, upper_limit
from dpaudit.certificate_grammar import MOST_BYTES, parsed, related
from dpaudit.contract import Direction, Origin, Pair, Relation
from dpaudit.errors import InputError, ToolFault
from dpaudit.events.event import Event, Outputs
from dpaudit.events.prefixes import likelier_first
from dpaudit.files import write_file
from dpaudit.outputs.values import JsonValue
from dpaudit.record import Amount, Count, Frozen, Level, NonNegative, Probability, Share, Size, decode, encodable
from dpaudit.running.sampling import Sampler

CLOPPER_PEARSON = "clopper-pearson"


class Given(Frozen, frozen=True, tag="value", tag_field="kind"):
    """An input that the certificate holds.

    Attributes
    ----------
    value : JsonValue
        The input.
    digest : str
        Its digest, in certificates of earlier versions; nothing reads it.
    """

    value: JsonValue
    digest: str | UnsetType = UNSET


class InputForm(Frozen, frozen=True):
    """The form of an input, which a certificate states where it does not hold the values.

    Attributes
    ----------
    type : str
        The name of its class.
    rows : int or None
        How many records it has; None if the input is not a dataset.
    columns : tuple of (str, str)
        The names of its columns, "" of records of one value, and their types.
    """

    type: str
    rows: Count | None
    columns: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, value: Any) -> InputForm:
        """Return the form of an input."""
        from dpaudit.neighbours.own_data.tables import table_of  # loads pandas

        name = type(value).__qualname__
        try:
            table = table_of(value)
            columns = table.columns
        except InputError:
            return cls(name, None, ())
        named = []
        for one in columns:
            label = "" if one.name is None else str(one.name)
            named.append((label, str(one.type or one.kind.value)))
        return cls(name, table.size, tuple(named))


class Referred(Frozen, frozen=True, tag="reference", tag_field="kind"):
    """An input that the certificate names, because JSON has no such values or because they are people's data.

    Attributes
    ----------
    place : str
        The place of the pair, as ``FILE.py:PAIRS[3]``.
    recipe : str
        How the pair was made, as "row 17 removed".
    form : InputForm
        Its rows, columns and types, after records were left out.
    records : tuple of int or None
        The numbers of the records of that input that were kept; None where it is as it was.
    index : int
        The number of the pair in the list; the certificates in `examples/findings` lack it, and have no form.
    digest : str
        A digest of it, in certificates of earlier versions; nothing reads it.
    """

    place: str
    recipe: str
    records: tuple[Count, ...] | None = None
    index: Count | UnsetType = UNSET
    form: InputForm | UnsetType = UNSET
    digest: str | UnsetType = UNSET


Input = Given | Referred


class Counts(Frozen, frozen=True):
    """Runs in the event, and the guesses of coins by it.

    Attributes
    ----------
    hits, runs : int
        Of the side on which the event is likelier.
    neighbour_hits, neighbour_runs : int
        Of the other side.
    count : CoinCount
        The guesses of the coins that decided the sides of these runs, where they were guessed.
    """

    hits: Count
    runs: Size
    neighbour_hits: Count
    neighbour_runs: Size
    count: CoinCount | UnsetType = UNSET

    def epsilon_lower(self, bound: str, delta: float, error: float, *, sides: int = 1) -> float:
        r"""Return a lower confidence bound on ln((p - delta) / q).

        By "coin" it is that of the guesses, which name the coins of so many `sides` (`bounds.coin`). By
        "clopper-pearson" it joins the exact limits of both sides by the union bound: valid without further argument,
        and lower than the melded bound by about a fifth of its distance from the estimate,

        .. math:: \epsilon_L = \ln \frac{p_L - \delta}{q_U}, \quad \Pr[\mathrm{Bin}(n_1, p_L) \ge x] =
                  \Pr[\mathrm{Bin}(n_2, q_U) \le y] = \gamma / 2 .

        `delta` is the claim's, and `error` the probability gamma that the bound is too high.
        """
        if bound != CLOPPER_PEARSON:
            hits = (self.hits, self.neighbour_hits)
            runs = (self.runs, self.neighbour_runs)
            guessed = self.count if bound == COIN else UNSET
            return lower_bound(hits, runs, guessed, delta=delta, error=error, sides=sides)
        # Each limit takes half of the error: the union bound over the two sides.
        gain = float(lower_limit(self.hits, self.runs, error / 2)) - delta
        upper = float(upper_limit(self.neighbour_hits, self.neighbour_runs, error / 2))
        if not gain > upper:
            return 0.0
        return math.log(gain / upper)


class Certificate(Frozen, frozen=True, kw_only=True, tag="certificate", tag_field="kind"):
    """A violation of a claim of (epsilon, delta)-differential privacy, with what it takes to check it.

    With p and q the probabilities of the event on the side where it is likelier and on the other one, a claim that
    holds has ln((p - delta) / q) <= epsilon; `epsilon_lower` is a lower confidence bound on the left side.

    Attributes
    ----------
    mechanism : str
        The mechanism that was run, as ``FILE.py:function``.
    epsilon, delta : float
        The claim.
    relation : Relation or None
        What neighbours are; None where it is unknown.
    epsilon_lower : float
        The bound.
    confidence : float
        Of the finding.
    error : float
        The probability of error of this bound alone: 1 - confidence where the counts are of fresh runs made for the
        certificate (a share of it where the search began from several pairs), and the event's share where they are the
        finding's own.
    bound : str
        The kind of the bound: "coin", "melded", "clopper-pearson" or "betting".
    origin : Origin
        How the pair that was audited was made.
    data, neighbour : Input
        The two inputs.
    direction : {"forward", "backward"}
        "forward" if the event is likelier on `data`.
    event : Event
        The event.
    opposite : Event
        The set of outputs that speaks for the other side, if there is one.
    learned : int or None
        Runs a side of an audit that learns such an event again, where only an audit can decide which outputs are in it.
    counts : Counts or None
        Runs in the event; None where bets decided.
    runs : {"finding", "fresh"}
        Whether the counts are of the finding's confirmation runs, or of runs made after pair and event were fixed.
    searched : int
        Runs that made pair and event simpler; none of them is among the counts.
    seed : int
        The root seed of the runs.
    streams_version : int
        The version of the addresses of random streams below it.
    versions : dict of str to str
        Versions of Python and of libraries.
    schema_version : int
        The version of this record.
    seal : str
        A digest over all other fields, which is made when the certificate is written; empty in memory.
    """

    mechanism: str
    epsilon: Amount
    delta: Probability
    relation: Relation | None
    epsilon_lower: NonNegative
    confidence: Level
    error: Share
    bound: Literal["coin", "melded", "clopper-pearson", "betting"]
    origin: Origin
    data: Input
    neighbour: Input
    direction: Direction
    event: Event
    counts: Counts | None
    runs: Literal["finding", "fresh"]
    searched: Count
    seed: Count
    streams_version: Size
    versions: dict[str, str]
    schema_version: Literal[1] = 1
    learned: Size | None = None
    opposite: Event | UnsetType = UNSET
    seal: str = ""

    def __post_init__(self) -> None:
        # One grammar holds for writer, reader and verifier: what a file may not say no certificate says in memory.
        stored = encodable(self)
        try:
            verify_certificate.checked(stored)
        except ValueError as error:
            raise InputError(f"a certificate cannot say this: {error}") from None
        # None is not decided, and allowed: whoever replays the certificate may give a relation or a metric.
        found, words = related(stored)
        if found is False:
            raise InputError(f"a certificate is of neighbours, and these inputs are none: {words}")

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON-safe data."""
        found: dict[str, Any] = encodable(self)
        return found | {"seal": seal_of(found)}

    def write(self, path: str | Path) -> None:
        """Write the certificate as one JSON file; `InputError` if the verifier's arithmetic does not bear it out."""
        data = f"{json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)}\n".encode()
        # Before anything is written: no file is made that its own verifier calls wrong.
        _bear_out(data, "this certificate")
        write_file(path, data)


def _bear_out(data: bytes, name: str) -> None:
    """Raise `InputError` if the verifier cannot read what is in a file, or finds that it is wrong."""
    try:
        status, words = verify_certificate.verify(data)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise InputError(f"{name} is no certificate: {error!s:.500}") from None
    if status == 1:
        raise InputError(f"{name} is {words:.500}")


def seal_of(data: Mapping[str, JsonValue]) -> str:
    """Return the BLAKE2b-256 digest over a certificate as JSON-safe data: keys sorted, with an empty seal."""
    # As `certificate_grammar.sealed` computes it with the standard library.
    text = json.dumps({**data, "seal": ""}, sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def read(path: str | Path) -> Certificate:
    """Return the certificate in a file.

    Raises
    ------
    InputError
        If the file cannot be read, is no certificate (the message names the field), was altered since it was written,
        or `dpaudit.verify_certificate` finds that it is wrong.
    """
    try:
        with open(path, "rb") as file:
            # A byte more than is allowed shows that a file is too large, without reading all of it.
            data = file.read(MOST_BYTES + 1)
        stored = parsed(data)
        kind = None
        if isinstance(stored, dict):
            kind = stored.get("kind")
        if kind != "certificate":
            raise ValueError(f"its kind must be certificate, got {kind!r:.60}")
        # What the verifier calls wrong is refused here too.
        _bear_out(data, str(path))
        found: Certificate = decode(data, Certificate)
        return replace(found, seal="")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    # It is a ValueError too, and has said what is wrong.
    except InputError:
        raise
    except (ToolFault, ValueError, RecursionError) as error:
        raise InputError(f"{path} is no certificate: {error!s:.500}") from None


# Fresh runs of a pair, and the guesses of their coins, by an event that is fixed.


def counted(
    sampler: Sampler,
    purpose: str,
    pair: Pair,
    events: tuple[Event, Event | UnsetType],
    direction: Direction,
    runs: int,
    number: int | None,
) -> Counts:
    """Return how many of twice `runs` runs of a pair are in an event, and the guesses of their coins.

    A coin decides the side of each run. A run in the first of `events` is guessed to be of the side on which that is
    likelier, a run in the second, if there is one, of the other side; the first `number` guesses are counted, or all of
    them. No output is kept. `InputError` if calls show that runs of one depend on each other.
    """
    couples = sampler.tossed(pair, ("certificate", purpose), 2 * runs, compared=True)
    likelier = tuple(Direction).index(direction)
    hits = [0, 0]
    sizes = [0, 0]
    calls = [0, 0]
    scatter = [0.0, 0.0]
    right = [np.zeros(0, dtype=np.bool_)]
    for couple, found in zip(couples, sampler.reduced(couples, partial(_spoken, events)), strict=True):
        turns = sampler.turns(couple)
        said = np.zeros(len(turns), dtype=np.int8)
        for side, codes in enumerate(found):
            if codes is not None:
                said[turns == side] = codes
                inside = int((codes == 1).sum())
                hits[side] += inside
                sizes[side] += len(codes)
                calls[side] += 1
                scatter[side] += inside**2 / len(codes)
        right.append(((said == 1) == (turns == likelier))[said > 0])
    # Runs of one call may share randomness: counts of calls are then farther apart than those of independent runs.
    if sampler.mechanism.batched and not calls_agree(zip(hits, sizes, calls, scatter, strict=True)):
        raise InputError(
            "outputs of one call depend on each other, so that counts of batches show nothing: make runs one by one, "
            "without {batched}",
            names=("batched",),
        )
    # Coins in the place of guesses that are missing, where fewer runs than that are in the event.
    fair = seeding.generator(sampler.seed, "privacy", sampler.mechanism.stream, "certificate", purpose, "fill")
    every = np.concatenate(right)
    if number is None:
        number = max(1, len(every))
    count = CoinCount.of_order(every, number, fair)
    first, second = likelier_first(direction, *zip(hits, sizes, strict=True))
    return Counts(*first, *second, count)


# Standard deviations below the hits expected, of the guesses that are counted of runs made one by one.
FEWER = 2.0


def fewer(counts: Counts, runs: int) -> int:
    """Return how many guesses to count of twice `runs` runs made one by one, given an earlier count of the event."""
    scale = 2 * runs / (counts.runs + counts.neighbour_runs)
    expected = scale * (counts.hits + counts.neighbour_hits)
    return max(1, math.floor(expected - FEWER * math.sqrt(expected * (1 + scale))))


def _spoken(events: tuple[Event, Event | UnsetType], outputs: Outputs) -> NDArray[np.int8]:
    """Return 1 for outputs in the first event, 2 for those in the second, else 0."""
    first, second = events
    found = first.holds(outputs).astype(np.int8)
    if second is UNSET:
        return found
    return np.where(found == 0, 2 * second.holds(outputs), found).astype(np.int8)
