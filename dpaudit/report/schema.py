"""The JSON Schemas of what dpaudit writes, generated from the types of its records and from their docstrings."""

from __future__ import annotations

import inspect
import re
from itertools import pairwise
from typing import Any

import msgspec

from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.one_run_finding import OneRunFinding
from dpaudit.audit.options import OPTIONS
from dpaudit.errors import InputError
from dpaudit.evidence.certificate import Certificate
from dpaudit.evidence.records import Failure, Header, LedgerRow, PictureFinding, Result, Seal
from dpaudit.evidence.tasks import AuditOptions
from dpaudit.exact.finding import LawFinding, SupremumFinding
from dpaudit.record import schema_of_type
from dpaudit.report.json import Report
from dpaudit.results import SCHEMA_VERSION
from dpaudit.sensitivity.finding import RecordedFinding, SensitivityFinding
from dpaudit.utility.finding import SampleComplexityFinding, ScalingFinding, UtilityFinding

# The records that each schema describes.
_KINDS: dict[str, tuple[type, ...]] = {
    "finding": (
        PrivacyFinding,
        LawFinding,
        SupremumFinding,
        UtilityFinding,
        SampleComplexityFinding,
        ScalingFinding,
        OneRunFinding,
        SensitivityFinding,
        RecordedFinding,
    ),
    "ledger": (LedgerRow,),
    "picture": (PictureFinding,),
    "certificate": (Certificate,),
    "run": (Header, Result, Failure, Seal),
    "report": (Report,),
}
NAMES = tuple(_KINDS)
# Fields of a record in the list of its docstring, with the beginning of their description.
_FIELD = re.compile(r"- (\w+(?:, \w+)*): (.*)")


def load(name: str) -> dict[str, Any]:
    """Return a schema of `NAMES` as one self-contained document (JSON Schema 2020-12).

    Every field that a record declares is required, as it is always written, but for those that may be unset; only the
    arguments of a task leave out what has its default. What ties several fields together (a kind of finding to a kind
    of task, counts to a design) is checked when a record is decoded and not by the schema.

    The schema is of a finding of an audit, the verdict on one statement of a paper ("ledger"), a picture, the
    certificate of a violation, a line of a run file (header, result, failure or seal), or the JSON report.
    """
    if name not in NAMES:
        raise InputError.among("name", name, NAMES)
    kinds = _KINDS[name]
    roots, components = msgspec.json.schema_components(kinds, schema_hook=schema_of_type, ref_template="#/$defs/{name}")
    records: dict[str, type] = {}
    _collect(msgspec.inspect.multi_type_info(kinds), records)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://dpaudit.invalid/schema/{SCHEMA_VERSION}/{name}.json",
        "title": f"dpaudit: {name}",
        **(roots[0] if len(roots) == 1 else {"anyOf": list(roots)}),
        "$defs": {key: _described(component, records.get(key)) for key, component in components.items()},
    }


def _collect(node: Any, found: dict[str, type]) -> None:
    """Put the classes of records in what `msgspec.inspect` says of a type into `found`, by name."""
    if isinstance(node, tuple):
        for part in node:
            _collect(part, found)
    elif isinstance(node, msgspec.Struct):
        if isinstance(node, msgspec.inspect.StructType | msgspec.inspect.DataclassType):
            # A value may hold values of its own kind: without this the walk would not end.
            if node.cls.__name__ in found:
                return
            found[node.cls.__name__] = node.cls
        for name in node.__struct_fields__:
            _collect(getattr(node, name), found)


def _described(component: dict[str, Any], record: type | None) -> dict[str, Any]:
    """Return the schema of a class with its docstring's words; of a record, with all that it always has."""
    doc = _lines(component.get("description"))
    # What stands before the first section, or the first field of a list.
    end = next((i - _is_rule(line) for i, line in enumerate(doc) if _is_rule(line) or _FIELD.match(line)), len(doc))
    paragraphs = "\n".join(doc[:end]).strip().split("\n\n")
    described = {**component, "description": "\n".join(" ".join(one.split()) for one in paragraphs)}
    if record is None:
        return described
    config = None
    if issubclass(record, msgspec.Struct):
        config = record.__struct_config__
    if config:
        names = {field.encode_name: field.name for field in msgspec.structs.fields(record)}
    else:
        names = {}
    found: dict[str, str] = {}
    # From the base up: a class may describe a field that it inherits in its own words.
    for base in reversed(record.__mro__):
        found |= _section(_lines(base.__dict__.get("__doc__")))
    if issubclass(record, AuditOptions):
        found |= {name: f"{one.help[0].upper()}{one.help[1:]}." for name, one in OPTIONS.items()}
    # The tag is no field of the class, and so has no words in its docstring.
    words = found | ({config.tag_field: "The kind of the record."} if config else {})
    described["properties"] = {
        key: value | ({"description": words[names.get(key, key)]} if names.get(key, key) in words else {})
        for key, value in component["properties"].items()
    }
    # A verdict may be one of all kinds; each finding knows those of its own.
    if verdicts := getattr(record, "verdicts", ()):
        described["properties"]["verdict"] |= {"enum": list(verdicts)}
    if config is None or not config.omit_defaults:
        # What says nothing where it is unset is then not written.
        fields = msgspec.structs.fields(record) if config else ()
        rare = {field.encode_name for field in fields if field.default is msgspec.UNSET}
        described["required"] = [key for key in component["properties"] if key not in rare]
    return {**described, "additionalProperties": False}


def _section(lines: list[str]) -> dict[str, str]:
    """Return the descriptions in a docstring's section of attributes, or of parameters, or in its list of fields."""
    found: dict[str, list[str]] = {}
    title = ""
    names = list[str]()
    for line, below in pairwise([*lines, ""]):
        if _is_rule(below):
            title = line
        elif listed := _FIELD.match(line):
            title = "Attributes"
            names = listed[1].split(", ")
            found |= {name: [listed[2]] for name in names}
        elif title in ("Attributes", "Parameters") and line and not _is_rule(line):
            if line.startswith(" "):
                for name in names:
                    found.setdefault(name, []).append(line.strip())
            else:
                names = line.partition(" : ")[0].split(", ")
    return {name: " ".join(words) for name, words in found.items()}


def _lines(doc: str | None) -> list[str]:
    return inspect.cleandoc(doc or "").splitlines()


def _is_rule(line: str) -> bool:
    return set(line) == {"-"}
