"""Audit samples of outputs that were recorded elsewhere: fair coins are drawn over them, and the fixed design decides.

The outputs of each side are put in a random order and used one after the other, each once. Where they are independent,
the next outputs of sides that fair coins choose have the law of runs that are made on the side that a coin chooses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from msgspec.structs import replace

from dpaudit import seeding
from dpaudit.arguments import CONFIDENCE
from dpaudit.audit.clock import Clock
from dpaudit.audit.curve_claims import resolve_claims
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.fixed_design import fixed_finding
from dpaudit.audit.options import Options
from dpaudit.audit.parameters import Look
from dpaudit.audit.preflight import Preflight
from dpaudit.audit.request import Request
from dpaudit.contract import CurveClaim, Origin, OriginKind, Pair, PrivacyClaim
from dpaudit.errors import InputError, ToolFault
from dpaudit.outputs.types import Batch
from dpaudit.results import remembering
from dpaudit.running.adapters import Mechanism
from dpaudit.running.sampling import Sampler

NAMES = ("outputs", "neighbour_outputs")
# The greatest probability with which fair coins ask for more outputs of a side than it has.
UNLUCKY = 1e-9


@remembering
def audit_samples(
    outputs: Any,
    neighbour_outputs: Any,
    claim: PrivacyClaim | CurveClaim | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    float_bits: bool = False,
    curve: bool = False,
) -> PrivacyFinding:
    """Test a claim of differential privacy on outputs that a mechanism returned elsewhere on two neighbouring inputs.

    Some of the outputs choose an event, the others decide, as in `audit_privacy` with a fixed number of runs. The
    finding assumes that all outputs are independent; nothing is known of the mechanism's randomness, state and inputs.

    Parameters
    ----------
    outputs, neighbour_outputs : list, array, or table of pandas
        The outputs on the data and on its neighbour, one a run, of any type that `audit_privacy` takes; of an array or
        a table a row is an output. Their numbers may differ: the smaller one says how many are used of either.
    claim : PrivacyClaim or CurveClaim, optional
        The claim as a whole, in the place of epsilon and delta; as for `audit_privacy`.
    epsilon, delta : float, optional
        The claim; delta is 0 by default.
    confidence : float
        Of the verdict: a mechanism that keeps its claim is accused with probability at most 1 - confidence.
    seed : int
        The root of the order of the outputs and of the coins. Chosen before the outputs are seen.
    float_bits : bool
        Look at the bits of floats too.
    curve : bool
        Also bound delta at every epsilon simultaneously (`finding.curve`), for a fifth of the error probability.

    Returns
    -------
    PrivacyFinding
        `finding.warnings` begins with the assumption and the number of outputs used.

    Raises
    ------
    InputError
        If outputs are no list, array or table, are too few, or differ in type or shape between the sides.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).laplace(scale=0.5, size=(2, 20_000))
    >>> audit_samples(noise[0], 1 + noise[1], epsilon=1.0).verdict.value
    'violation'
    """
    sides = _sides(outputs, neighbour_outputs)
    trials = usable(min(map(len, sides)))
    if trials < (least := int(Options.trials.limits["ge"])):
        few = NAMES[len(sides[1]) < len(sides[0])]
        needed = next(size for size in range(least, 10 * least) if usable(size) >= least)
        raise InputError.of(few, min(map(len, sides)), f"a list of at least {needed} outputs")
    confidence = Options.confidence.read(confidence)
    look = Look(curve=curve, float_bits=float_bits)
    curve_claim, point = resolve_claims(None, claim, epsilon, delta, None)
    recording = _Recording(sides, seeding.check_seed(seed))
    # Runs of a call are independent by assumption (`promised`), so that calls are not compared.
    mechanism = Mechanism(recording, "the recorded mechanism", True, stream="recorded", promised=True)
    sampler = Sampler(mechanism, int(seed))
    pair = Pair(_Side(0), _Side(1), Origin(OriginKind.RECORDED, "outputs as given"))
    preflight = Preflight(sampler, (pair,), trials, True)  # asks nothing unless it is opened
    request = Request(
        source=mechanism,
        sampler=sampler,
        pairs=(pair,),
        claim=point,
        relation=None,
        confidence=confidence,
        trials=trials,
        trials_asked=trials,
        own_randomness=False,
        look=look,
        betting=False,
        preflight=preflight,
        clock=Clock(None),
        curve_claim=curve_claim,
    )
    request.check_power()
    finding = fixed_finding(request)
    found = replace(finding, warnings=(recording.in_words(), *finding.warnings))
    PrivacyFinding.audited.note(found, mechanism.name)
    return found


def usable(size: int) -> int:
    """Return the runs a side of an audit of so many outputs a side: coins need more than their mean of either.

    Of 2 c fair coins more than c + t are heads with probability at most exp(-t^2 / c) (Hoeffding), for either side.
    """
    spare = math.log(2 / UNLUCKY)
    trials = max(0, math.floor((math.sqrt(spare + 4 * size) - math.sqrt(spare)) ** 2 / 4))
    if trials + math.sqrt(spare * trials) > size:  # rounding of the root above
        return trials - 1
    return trials


@dataclass(frozen=True)
class _Side:
    """One of the two inputs; nothing but its outputs is known."""

    number: int

    def __repr__(self) -> str:
        return NAMES[self.number]


class _Recording:
    """Recorded outputs in the place of a mechanism: its runs are the next outputs of a side, in a random order."""

    def __init__(self, sides: tuple[Batch, Batch], seed: int) -> None:
        self._sides: list[Batch] = []
        for number, side in enumerate(sides):
            order = seeding.generator(seed, "recorded", number).permutation(len(side))
            if isinstance(side, np.ndarray):
                self._sides.append(side[order])
            else:
                self._sides.append([side[i] for i in order.tolist()])
        self.used = [0, 0]

    def __call__(self, side: _Side, rng: np.random.Generator, size: int) -> Batch:
        first = self.used[side.number]
        found = self._sides[side.number][first : first + size]
        if len(found) < size:
            raise ToolFault(f"the coins ask for more {side} than there are: take another seed")
        self.used[side.number] += size
        return found

    def in_words(self) -> str:
        """Describe the assumption of the finding, and the number of outputs that it rests on."""
        counts = zip(self.used, self._sides, NAMES, strict=True)
        used = " and ".join(f"{used:,} of {len(side):,} {name}" for used, side, name in counts)
        return f"outputs recorded elsewhere, which the finding assumes to be independent: {used} were used"


def _sides(*given: Any) -> tuple[Batch, Batch]:
    """Return the outputs of both sides as arrays of one type, or as lists."""
    # A slip: the same outputs twice would show nothing, whatever leaks.
    if given[0] is given[1]:
        raise InputError.of(NAMES[1], given[1], "other outputs than " + NAMES[0])
    columns = [", ".join(map(str, one.columns)) for one in given if hasattr(one, "columns")]
    data, neighbour = map(_outputs, NAMES, given)
    kinds = [_kinds(data), _kinds(neighbour)]
    if all(kinds) and kinds[0].isdisjoint(kinds[1]):
        _refuse(*(" and ".join(sorted(one)) for one in kinds))
    if len({*columns}) > 1:
        _refuse(*(f"tables of the columns {names}" for names in columns))
    if not (isinstance(data, np.ndarray) and isinstance(neighbour, np.ndarray)):
        return list(data), list(neighbour)
    if data.shape[1:] != neighbour.shape[1:]:
        _refuse(*(f"arrays of shape {one.shape[1:]}" for one in (data, neighbour)))
    # So that whole numbers and others have one representation.
    kind = np.result_type(data, neighbour)
    return data.astype(kind, copy=False), neighbour.astype(kind, copy=False)


def _refuse(*found: str) -> None:
    first, second = (f"{{{name}}} are {words}" for name, words in zip(NAMES, found, strict=True))
    raise InputError(f"{first}, and {second}: both must be what one mechanism returns", names=NAMES)


def _outputs(name: str, given: Any) -> Batch:
    """Return outputs as an array or as a list, one element for each."""
    if hasattr(given, "columns"):
        if len(given.columns) == 1:
            given = given.iloc[:, 0]
        elif not all(getattr(kind, "kind", "") in "biuf" for kind in given.dtypes):
            return list(given.to_dict("records"))
    no_list = isinstance(given, str | bytes | Mapping | Set | Iterator) or not hasattr(given, "__len__")
    if no_list or (hasattr(given, "ndim") and not given.ndim):
        raise InputError.of(name, given, "a list, an array or a table of outputs, one a run")
    if hasattr(given, "__array__"):
        array = np.asarray(given)
        if array.dtype == object:
            return list(array.tolist())
        return array
    return list(given)


def _kinds(outputs: Batch) -> set[str]:
    if isinstance(outputs, np.ndarray):
        if outputs.dtype.kind in "biufc":
            return {"numbers"}
        if outputs.dtype.kind == "U":
            return {"texts"}
        return {outputs.dtype.name}
    plain = {"numbers": (Number, np.number, np.bool_), "texts": (str,)}
    types = set(map(type, outputs))
    return {next((name for name, one in plain.items() if issubclass(kind, one)), kind.__qualname__) for kind in types}
