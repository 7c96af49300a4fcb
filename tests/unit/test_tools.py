"""The tools that checks of statements get: dpaudit has them, with these arguments, and its findings their parts."""

from __future__ import annotations

from inspect import Parameter, get_annotations, getmembers, isfunction, signature

import pytest

import dpaudit
from dpaudit.contract import Tools, tools
from dpaudit.utility.finding import ScalingPoint, Slope

FINDINGS = {
    "LawAudit": dpaudit.pac.LawFinding,
    "SupremumAudit": dpaudit.pac.SupremumFinding,
    "UtilityAudit": dpaudit.pac.UtilityFinding,
    "MeasuredLaw": dpaudit.pac.ScalingFinding,
    "MeasuredPoint": ScalingPoint,
    "MeasuredSlope": Slope,
}


@pytest.mark.parametrize(("name", "declared"), getmembers(Tools, lambda part: isfunction(part) and part.__doc__))
def test_dpaudit_has_the_tools_with_these_arguments(name: str, declared: object) -> None:
    real = signature(getattr(dpaudit.pac, name)).parameters
    wanted = [p for p in signature(declared).parameters.values() if p.name != "self"]  # type: ignore[arg-type]
    assert wanted
    for parameter in wanted:
        assert real[parameter.name].kind == parameter.kind
        if parameter.kind != Parameter.VAR_KEYWORD:
            assert real[parameter.name].default == parameter.default, parameter


@pytest.mark.parametrize("name", FINDINGS)
def test_findings_have_the_parts_that_checks_use(name: str) -> None:
    parts = get_annotations(getattr(tools, name))
    assert parts
    for part in parts:
        assert hasattr(FINDINGS[name], part) or part in get_annotations(FINDINGS[name])
