"""``dpaudit sensitivity``: how far one record moves a function, or the values that a mechanism adds noise to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from dpaudit.app.audits import show_measured
from dpaudit.app.command import command
from dpaudit.app.options import DRAWN, Delta, DrawnApart, Epsilon, Seed, argument, given, of
from dpaudit.audit.options import Options
from dpaudit.errors import InputError

if TYPE_CHECKING:
    from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding


_Claim = Annotated[
    str | None,
    given(
        "the sensitivity that is claimed, as 1 or 1/3 (default: of a mechanism what its primitives declare)",
        metavar="NUMBER",
    ),
]
_Metric = Annotated[
    str | None,
    given(
        "absolute, l1, l2, linf, hamming or symmetric (default: absolute; of a mechanism that of its noise)",
        metavar="NAME",
    ),
]


@command("sensitivity", "dpaudit sensitivity mean.py:mean --data ages.csv --claim 1", DRAWN)
def sensitivity(
    id: Annotated[str, argument("ID")],
    claim: _Claim,
    metric: _Metric,
    pairs: Annotated[str | None, of(Options.pairs)],
    data: Annotated[str | None, of(Options.data)],
    header: Annotated[bool | None, of(Options.header)],
    bounds: Annotated[str | None, of(Options.bounds)],
    unit: Annotated[str | None, of(Options.unit)],
    outside: Annotated[bool, of(Options.outside)],
    relation: Annotated[str | None, of(Options.relation)],
    include_data: Annotated[bool, of(Options.include_data)],
    epsilon: Epsilon,
    delta: Delta,
    seed: Seed,
    shown: DrawnApart,
) -> int:
    """Test without noise how far one record moves a function, or the values that a mechanism adds noise to.

    ID is FILE.py:function or MODULE:function. A function (data) -> output claims --claim. Of a mechanism (data, rng) ->
    output the noise is recorded on one input and replayed on its neighbour with the noisy values as they were: a value
    that moves by more than --claim, or than a primitive declares, is named with its file and line; with --epsilon also
    a released value whose noise alone loses more. One pair is a proof; that none was found proves nothing.
    """
    from dpaudit.neighbours.own_data.dataset_files import read_dataset
    from dpaudit.neighbours.own_data.value_bounds import bounds_of_text
    from dpaudit.neighbours.sources import pairs_at, pairs_beside
    from dpaudit.places import Place, importable
    from dpaudit.record import decode
    from dpaudit.report.repeat import command_line
    from dpaudit.running.workers import in_own_process
    from dpaudit.sensitivity.audit import audit_sensitivity
    from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding

    place = Place.parse("the function", id)
    if pairs is not None and data is not None:
        raise InputError("{pairs} must be left out where {data} is given", names=("pairs", "data"))
    given_pairs = None
    if pairs is not None:
        given_pairs = Place.parse("--pairs", pairs)
    with importable(*(one.folder for one in (place, given_pairs) if one is not None)):
        function = place.find()
        listed = dataset = None
        # Without data the audit refuses them.
        limits: Any = bounds
        if data is not None:
            dataset = read_dataset(data, header=header)
            limits = bounds_of_text(bounds)
        else:
            listed = pairs_at(given_pairs or pairs_beside(place, "--pairs"), seed)
        audited = partial(
            audit_sensitivity,
            function,
            listed,
            data=dataset,
            claim=claim,
            metric=metric,
            epsilon=epsilon,
            delta=delta,
            bounds=limits,
            unit=unit,
            relation=relation,
            outside=outside,
            include_data=include_data,
            seed=seed,
        )
        # The function is somebody's code, which may end its process.
        made = in_own_process(partial(_as_json, audited))
    finding: SensitivityFinding | RecordedFinding = decode(made, SensitivityFinding | RecordedFinding)
    options = {
        "claim": claim,
        "metric": metric,
        "pairs": pairs,
        "data": data,
        "header": header,
        "bounds": bounds,
        "unit": unit,
        "outside": outside,
        "relation": relation,
        "include_data": include_data,
        "epsilon": epsilon,
        "delta": delta,
        # The default is left out of the command that repeats it.
        "seed": seed or None,
    }
    repeat = command_line("sensitivity", id, {}, options)
    record = {"id": id, "finding": finding.to_dict()}
    return show_measured(finding, id, repeat, shown, title=f"dpaudit: the sensitivity of {id}", data=record)


def _as_json(audit: Callable[[], SensitivityFinding | RecordedFinding]) -> bytes:
    """Return the finding of an audit as one line of JSON."""
    from dpaudit.record import as_json

    return as_json(audit())
