"""The audits of other libraries in examples/: what is stored, and the audits themselves where the library is there."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

from dpaudit import audit_privacy, certificates
from dpaudit.running.adapters import as_mechanism
from dpaudit.verify_certificate import verify
from examples.audit_libraries import FOUND, LIBRARIES, audit, cases_of, main, table

README = Path(FOUND).parent / "README.md"


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_stored_findings_are_those_of_the_table(library: str, capsys: pytest.CaptureFixture[str]) -> None:
    cases = json.loads((FOUND / f"{library}.json").read_text())["cases"]
    assert len(cases) >= 8
    assert table(library) in README.read_text()
    assert main([library, "--table"]) == 0
    assert capsys.readouterr().out == table(library)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_violation_has_a_certificate_that_is_right(library: str) -> None:
    cases = json.loads((FOUND / f"{library}.json").read_text())["cases"]
    convicted = {one["name"] for one in cases if one["verdict"] == "violation"}
    files = sorted(FOUND.glob(f"{library}-*.json"))
    assert {certificates.read(file).mechanism.partition(": ")[2] for file in files} == convicted
    for file in files:
        words = verify(file.read_bytes())[1]  # their claims name no relation, and some do not hold the inputs
        assert words.startswith("not checked that the inputs are neighbours"), file.name
        assert "; the bound is right: " in words, file.name


def quick(library: str, name: str, trials: int) -> str:
    (case,) = (one for one in cases_of(library) if one.name == name)
    told, made = audit(library, case, trials)
    assert (made is not None) == (told["verdict"] == "violation")
    return str(told["verdict"])


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("laplace, float", "consistent"), ("randomized response", "consistent"), ("count", "consistent")],
)
def test_opendp_is_audited(name: str, verdict: str) -> None:
    pytest.importorskip("opendp", reason="the mechanisms of OpenDP need it")
    assert quick("opendp", name, 600) == verdict


def test_a_measurement_of_opendp_is_run_many_times_in_one_call() -> None:
    dp = pytest.importorskip("opendp.prelude", reason="the mechanisms of OpenDP need it")
    dp.enable_features("contrib")
    measurement = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0)
    mechanism = as_mechanism(measurement, batched=True)
    assert mechanism.batched
    outputs = mechanism(7, None, 1_500)  # type: ignore[arg-type]  # its randomness is its own
    assert len(outputs) == 1_500
    assert 6 < sum(outputs) / 1_500 < 8
    finding = audit_privacy(measurement, [(0, 1)], epsilon=0.3, trials=2_000, batched=True, randomness="own")
    assert finding.verdict == "violation"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("laplace", "consistent"), ("mean, bounds from the data", "violation"), ("sum, dtype int32", "violation")],
)
def test_diffprivlib_is_audited(name: str, verdict: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import diffprivlib
        except ImportError:
            pytest.skip("the mechanisms of diffprivlib need it, and scikit-learn before 1.6")
        assert diffprivlib
        assert quick("diffprivlib", name, 600) == verdict
