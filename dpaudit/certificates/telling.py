"""Tell the inputs of a certificate: as values where JSON has them, and by reference where it has not, or must not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.certificates.certificate import Given, Input, Referred
from dpaudit.certificates.parts import Kept, take_rows
from dpaudit.contract import Domain, OriginKind, Pair
from dpaudit.errors import InputError
from dpaudit.outputs.values import decode_value, digest_of, encode_value

__all__ = ["Place", "pair_of", "tell"]


@dataclass(frozen=True)
class Place:
    """The place of a pair, as ``FILE.py:PAIRS[3]``, and whether people's data may be shown."""

    place: str
    include_data: bool

    def hides(self, pair: Pair) -> bool:
        """Say whether the values of a pair must not be told."""
        return pair.origin.kind == OriginKind.OWN_DATA and not self.include_data


def tell(pair: Pair, place: Place, records: Kept, *, whole: bool) -> tuple[Input, Input] | None:
    """Return both inputs of a pair; None where nothing can say which they are.

    Parameters
    ----------
    pair : Pair
        The pair.
    place : Place
        Where the pair that it was made from is.
    records : tuple of two tuples of int, or None
        The records of either side that were kept; None where all were, or they have no numbers.
    whole : bool
        Whether it is that pair, with nothing changed.
    """
    found: list[Input] = []
    for value, kept in zip((pair.data, pair.neighbour), records or (None, None), strict=True):
        try:
            if place.hides(pair):
                raise InputError("data of people are not shown")
            found.append(Given(encode_value(value), digest_of(value)))
        except InputError:
            if kept is None and not whole:
                return None
            found.append(Referred(place.place, pair.origin.text, digest_of(value), kept))
    return found[0], found[1]


def pair_of(inputs: tuple[Input, Input], given: Pair | None, domain: Domain | None) -> Pair:
    """Return the pair that a certificate speaks of.

    Parameters
    ----------
    inputs : tuple of two Input
        The certificate's.
    given : Pair, optional
        The pair at the place that the certificate names, for inputs that it does not hold.
    domain : Domain, optional
        That of the learner that takes the inputs.

    Raises
    ------
    InputError
        If an input is named and not given, or one given has another digest.
    """
    sides = (None, None) if given is None else (given.data, given.neighbour)
    data, neighbour = (_value_of(told, side, domain) for told, side in zip(inputs, sides, strict=True))
    return Pair(data, neighbour)


def _value_of(told: Input, given: Any, domain: Domain | None) -> Any:
    if isinstance(told, Given):
        value = decode_value(told.value, domain)
    elif given is None:
        raise InputError(
            "the certificate names its inputs and does not hold them: give {pair}, which is {place} ({recipe})",
            names=("pair",),
            place=told.place or "one that was audited",
            recipe=told.recipe or "as it was given",
        )
    else:
        value = given if told.records is None else _taken(given, told.records)
    if told.digest and digest_of(value) != told.digest:
        raise InputError(
            "an input is not the one that was audited: its digest is {found}, and the certificate has {digest}",
            parameter="pair",
            names=("pair",),
            found=digest_of(value) or "unknown",
            digest=told.digest,
        )
    return value


def _taken(given: Any, records: tuple[int, ...]) -> Any:
    try:
        return take_rows(given, records)
    except (TypeError, LookupError, AttributeError) as error:
        raise InputError(f"the input given has not the records that the certificate names: {error}") from None
