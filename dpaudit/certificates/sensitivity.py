"""Certificates of wrong sensitivities: both inputs and what they give, so that anybody recomputes the distance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from dpaudit import verify_sensitivity
from dpaudit.certificate_grammar import neighbours
from dpaudit.certificates.certificate import Certificate, Sealed, read_sealed
from dpaudit.contract import PrivacyVerdict, Relation
from dpaudit.errors import InputError
from dpaudit.outputs.values import JsonValue, decode_value, encode_value
from dpaudit.record import NonNegative, Words
from dpaudit.results import versions
from dpaudit.sensitivity.audit import audit_sensitivity
from dpaudit.sensitivity.finding import MetricName, RecordedFinding, SensitivityFinding
from dpaudit.sensitivity.metrics import METRICS, read_sensitivity


class SensitivityCertificate(Sealed, frozen=True, kw_only=True, tag="sensitivity certificate", tag_field="kind"):
    """Two neighbouring inputs whose values are farther apart than the sensitivity that was claimed.

    Attributes
    ----------
    function : str
        The function, or the mechanism, as ``FILE.py:function``.
    place : str
        File and line of the value that noise is added to; empty of a function, whose output it is.
    metric : str
        The metric of the values.
    sensitivity : str
        The claim as a fraction.
    distance : float
        The distance of the values, rounded down; infinite where they have none.
    relation : Relation or None
        What neighbours are; None where it is unknown.
    data, neighbour : JsonValue
        The two inputs.
    values : tuple of JsonValue
        What they give.
    versions : dict of str to str
        Versions of Python and of libraries.
    schema_version : int
        The version of this record.
    seal : str
        A digest over all other fields, which is made when the certificate is written; empty in memory.
    """

    verifier: ClassVar[Any] = verify_sensitivity
    function: Words
    place: str
    metric: MetricName
    sensitivity: Words
    distance: NonNegative
    relation: Relation | None
    data: JsonValue
    neighbour: JsonValue
    values: tuple[JsonValue, JsonValue]
    versions: dict[str, str] = msgspec.field(default_factory=versions)
    schema_version: Literal[1] = 1
    seal: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.recomputed().exceeds(read_sensitivity(self.sensitivity)):
            raise InputError("a certificate is of a violation: the distance of the values must exceed the claim")

    @staticmethod
    def _related(stored: Any) -> tuple[bool | None, str]:
        return neighbours(stored["relation"], stored["data"], stored["neighbour"])

    def recomputed(self) -> Any:
        """Return the distance of the values that it holds."""
        return METRICS[self.metric](*map(decode_value, self.values))

    def again(self, f: Callable[..., Any]) -> SensitivityFinding | RecordedFinding:
        """Return the finding of the function, or the mechanism, on the two inputs alone."""
        pair = decode_value(self.data), decode_value(self.neighbour)
        return audit_sensitivity(f, [pair], claim=self.sensitivity, metric=self.metric)


def make_of_sensitivity(finding: SensitivityFinding | RecordedFinding, name: str) -> SensitivityCertificate:
    """Return the certificate of a finding that this process made; `name` is the function's, as ``FILE.py:function``.

    Raises
    ------
    InputError
        If the finding refutes no sensitivity, was read from a file, or its pair was made of data that may not be shown.
    """
    if finding.verdict is not PrivacyVerdict.VIOLATION or (isinstance(finding, RecordedFinding) and not finding.moves):
        raise InputError.of("finding", str(finding.verdict), "a violation", "only violations have a certificate")
    shown = finding.counterexample
    if shown is None:
        raise InputError(
            "the finding holds no inputs for a certificate: it was read from a file, its values may not be shown "
            "(pass {include_data:=True}), or it refutes no sensitivity",
            names=("include_data",),
        )
    try:
        data, neighbour, *values = map(encode_value, (*shown.inputs, *map(_plain, shown.values)))
    except InputError as error:
        raise InputError(f"the inputs or values cannot be written in a certificate: {error}") from None
    return SensitivityCertificate(
        function=name,
        place=shown.place,
        metric=shown.metric,  # type: ignore[arg-type]  # one of METRICS
        sensitivity=str(shown.sensitivity),
        distance=shown.distance.lower,
        relation=finding.relation,
        data=data,
        neighbour=neighbour,
        values=(values[0], values[1]),
    )


def _plain(value: Any) -> Any:
    """Return a Series or a frame as the dictionary by which it is compared."""
    return value.to_dict() if hasattr(value, "to_dict") and hasattr(value, "index") else value


def read_of_sensitivity(path: str | Path) -> SensitivityCertificate | None:
    """Return the certificate of a sensitivity in a file; None if the file holds one of a violation.

    Raises
    ------
    InputError
        If the file cannot be read, is no certificate, was altered, or `dpaudit.verify_sensitivity` finds that it is
        wrong.
    """
    found = read_sealed(path, SensitivityCertificate, Certificate)
    return found if isinstance(found, SensitivityCertificate) else None
