"""The tools that checks of statements get: dpaudit has them, with these arguments, and its findings their parts."""

from __future__ import annotations

from inspect import Parameter, get_annotations, getmembers, isfunction, signature

import pytest

import dpaudit
from dpaudit.contract import Tools
from dpaudit.utility.finding import ScalingPoint, Slope

FINDINGS = {
    dpaudit.pac.LawFinding: "verdict epsilon delta_at_claim pairs worst_pair",
    dpaudit.pac.SupremumFinding: "value error support attained attained_error n witness",
    dpaudit.pac.UtilityFinding: "verdict failures trials failure_rate failure_upper",
    dpaudit.pac.ScalingFinding: "verdict grade learner abscissa points exponent upper_exponent ratio_slope",
    ScalingPoint: "value lower upper theorem case",
    Slope: "value lower upper",
}
"""The parts of findings that checks of statements use."""


@pytest.mark.parametrize(("name", "declared"), getmembers(Tools, lambda part: isfunction(part) and part.__doc__))
def test_dpaudit_has_the_tools_with_these_arguments(name: str, declared: object) -> None:
    real = signature(getattr(dpaudit.pac, name)).parameters
    wanted = [p for p in signature(declared).parameters.values() if p.name != "self"]  # type: ignore[arg-type]
    assert wanted
    for parameter in wanted:
        assert real[parameter.name].kind == parameter.kind
        if parameter.kind != Parameter.VAR_KEYWORD:
            assert real[parameter.name].default == parameter.default, parameter


@pytest.mark.parametrize(("finding", "parts"), FINDINGS.items())
def test_findings_have_the_parts_that_checks_use(finding: type, parts: str) -> None:
    for part in parts.split():
        assert hasattr(finding, part) or part in get_annotations(finding)
