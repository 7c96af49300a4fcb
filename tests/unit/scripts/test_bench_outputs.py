"""The times of audits by kind of output: every kind makes what it says in both forms, and the table has all figures."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bench_scripts import script

import dpaudit

bench = script("benchmarks.outputs")


@pytest.mark.parametrize("name", bench.KINDS)
def test_both_forms_of_a_kind_make_the_same_outputs(name: str) -> None:
    kind, rng = bench.KINDS[name], np.random.default_rng(0)
    one, many = kind.mechanism("single")(1, rng), kind.mechanism("batch")(1, rng, 5)
    assert len(many) == 5
    scalar = isinstance(one, int | float)
    assert np.isscalar(many[0]) if scalar else type(many[0]) is type(one)
    assert np.shape(one) == np.shape(many[0])


def test_the_table_and_the_json_have_a_line_for_each_kind_and_form(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--runs", "300", "--repeat", "1", "--kinds", "int"]
    assert bench.main(words) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[3:]]
    assert [cells[:2] for cells in lines] == [[kind, form] for form in bench.FORMS for kind in ("float", "int")]
    assert [cells[6] for cells in lines if cells[0] == "float"] == ["1.00", "1.00"]
    assert bench.main([*words, "--forms", "batch", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["figures"]
    assert [figures["kind"] for figures in found] == ["float", "int"]


def test_a_refused_kind_is_shown_as_such(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = bench.Package.audited

    def refusing(self: Any, mechanism: Any, *arguments: Any) -> Any:
        if mechanism is bench.KINDS["sparse"].single:
            raise dpaudit.InputError("not this")
        return plain(self, mechanism, *arguments)

    monkeypatch.setattr(bench.Package, "audited", refusing)
    assert bench.main(["--runs", "300", "--repeat", "1", "--kinds", "sparse", "--forms", "single"]) == 0
    assert "refused" in capsys.readouterr().out.splitlines()[-1]


def test_versions_audit_by_turns_each_with_its_own_modules() -> None:
    here = bench.Package()
    copied = bench.Package()
    copied.modules = {"dpaudit": SimpleNamespace(audit_privacy=lambda *given, **named: called.append(named["batched"]))}
    called: list[bool] = []
    try:
        found = bench.measure("float", "single", 300, 3, 0, [here, copied])
    finally:
        here.use()
    assert called == [False] * 3
    assert found["before"] < found["audit"]
    assert sys.modules["dpaudit"] is dpaudit
