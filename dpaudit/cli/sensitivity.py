"""``dpaudit sensitivity``: how far one record moves a function, or the values that a mechanism adds noise to."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from dpaudit.cli.audits import UNNAMED, show_measured
from dpaudit.cli.command import check_folder, command, in_words
from dpaudit.cli.options import DRAWN, Declared, DrawnApart, Seed, argument, given
from dpaudit.cli.streams import pending
from dpaudit.errors import DpauditError, InputError
from dpaudit.keyed import key_of

_INPUTS = ("pairs", "data", "header", "bounds", "unit", "outside", "relation", "include_data", "epsilon", "delta")


class SensitivityOptions(NamedTuple):
    """The options of ``dpaudit sensitivity`` on the audit."""

    claim: Annotated[
        str | None,
        given(
            "the sensitivity that is claimed, as 1 or 1/3 (default: of a mechanism what its primitives declare)",
            metavar="NUMBER",
        ),
    ]
    metric: Annotated[
        str | None,
        given(
            "absolute, l1, l2, linf, hamming or symmetric (default: absolute; of a mechanism that of its noise)",
            metavar="NAME",
        ),
    ]
    audit: Annotated[dict[str, Any], Declared(_INPUTS)]
    seed: Seed
    certificate: Annotated[
        str | None, given("write the certificate of a wrong sensitivity too, with both inputs", metavar="FILE")
    ]


@command("sensitivity", "dpaudit sensitivity mean.py:mean --data ages.csv --claim 1", DRAWN)
def sensitivity(id: Annotated[str, argument("ID")], asked: SensitivityOptions, shown: DrawnApart) -> int:
    """Test without noise how far one record moves a function, or the values that a mechanism adds noise to.

    ID is FILE.py:function or MODULE:function. A function (data) -> output claims --claim. Of a mechanism (data, rng) ->
    output the noise is recorded on one input and replayed on its neighbour with the noisy values as they were: a value
    that moves by more than --claim, or than a primitive declares, is named with its file and line; with --epsilon also
    a released value whose noise alone loses more. One pair is a proof; that none was found proves nothing.
    """
    from dpaudit.contract import PrivacyVerdict
    from dpaudit.neighbours.named import pairs_at, pairs_beside
    from dpaudit.neighbours.own_data.columns import bounds_of_text
    from dpaudit.neighbours.own_data.tables import read_dataset
    from dpaudit.record import decode
    from dpaudit.registry.import_spec import Place, importable
    from dpaudit.report.repeat import command_line
    from dpaudit.running.workers import in_own_process
    from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding

    audit = asked.audit
    check_folder("certificate", asked.certificate)
    place = Place.parse("the function", id)
    source = audit["pairs"]
    if source is not None and audit["data"] is not None:
        raise InputError("{pairs} must be left out where {data} is given", names=("pairs", "data"))
    given_pairs = None if source is None else Place.parse("--pairs", source)
    with importable(*(one.folder for one in (place, given_pairs) if one is not None)):
        function = place.find()
        if audit["data"] is not None:
            key_of(make=True)
            dataset = read_dataset(audit["data"], header=audit["header"])
            inputs = {"data": dataset, "bounds": bounds_of_text(audit["bounds"])}
        else:
            inputs = {
                "pairs": pairs_at(given_pairs or pairs_beside(place, "--pairs"), asked.seed),
                "bounds": audit["bounds"],
            }
        named = {name: audit[name] for name in _INPUTS if name not in ("pairs", "data", "header", "bounds")}
        path = None if asked.certificate is None else Path(asked.certificate).absolute()
        claimed = {"claim": asked.claim, "metric": asked.metric, "seed": asked.seed}
        content = in_own_process(partial(_audited, id, path, function, **claimed, **inputs, **named))
    made, _, unwritten = content.partition(b"\n")
    finding: SensitivityFinding | RecordedFinding = decode(made, SensitivityFinding | RecordedFinding)
    if unwritten:
        pending.append(f"no certificate is written, and the violation stands: {unwritten.decode()}")
    elif asked.certificate is not None and finding.verdict != PrivacyVerdict.VIOLATION:
        pending.append("no violation was found, so no certificate is written")
    elif asked.certificate is not None:
        checked = f"check it by python -P -m dpaudit.verify_sensitivity {asked.certificate}"
        checked += UNNAMED if finding.relation is None else ""
        pending.append(f"the certificate {asked.certificate} holds both inputs: {checked}")
    options = {"claim": asked.claim, "metric": asked.metric, **audit, "seed": asked.seed or None}
    repeat = command_line("sensitivity", id, {}, options)
    data = {"id": id, "finding": finding.to_dict()}
    return show_measured(finding, id, repeat, shown, title=f"dpaudit: the sensitivity of {id}", data=data)


def _audited(id: str, path: Path | None, function: Any, **arguments: Any) -> bytes:
    """Return the finding as one line of JSON; write its certificate here, for no report holds the inputs.

    A second line says why there is no certificate of a violation.
    """
    from dpaudit import certificates
    from dpaudit.contract import PrivacyVerdict
    from dpaudit.record import as_json
    from dpaudit.sensitivity.audit import audit_sensitivity

    found = audit_sensitivity(function, **arguments)
    if path is not None and found.verdict == PrivacyVerdict.VIOLATION:
        try:
            certificates.make_of_sensitivity(found, id).write(path)
        except DpauditError as error:
            return as_json(found) + b"\n" + in_words(error).encode(errors="backslashreplace")
        except OSError as error:
            return as_json(found) + f"\n{error.filename}: {error.strerror}".encode(errors="backslashreplace")
    return as_json(found)
