"""Audits that go on from a file: the same as without an end between, and nothing else goes on from it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET

import dpaudit
from dpaudit import PrivacyClaim
from dpaudit.app.application import main
from dpaudit.audit.options import OPTIONS
from dpaudit.errors import InputError, ToolFault
from tests.support.grouped import grouped

PAIRS = [(0, 1), (1, 0)]


def laplace(data: int, rng: np.random.Generator) -> float:
    return float(data + rng.laplace(0, 0.9))


def mixed(data: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.2:
        raise ValueError("none")
    return {"sum": np.float64(data + rng.laplace()), "words": ["é", None, float("inf")], "bits": np.arange(data + 1)}


def wide(data: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(data * (np.arange(300) == 7), 1)


def wide_part(data: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.05:
        raise ValueError("none")
    return {"label": "even" if data else "odd", "rows": [int(one) for one in rng.integers(0, 9 + data, 200)]}


def batched(data: int, rng: np.random.Generator, size: int) -> np.ndarray:
    return data + rng.integers(0, 2, size)


def audit(mechanism: Any = laplace, pairs: Any = PAIRS, **given: Any) -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(
        mechanism, pairs, **grouped(**{"epsilon": 1.0, "trials": 200, "confidence": 0.95, **given})
    )


@pytest.mark.parametrize("mechanism", [laplace, mixed, batched])
def test_an_audit_that_goes_on_is_the_one_that_never_stopped(mechanism: Any, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    given = {"epsilon": 5.0, "batched": mechanism is batched}
    whole = audit(mechanism, sequential=True, **given)
    # Stopped between two batches, as by a clock.
    lines = []
    audit(mechanism, continued=file, **given)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[len(lines) // 2][:9])
    again = audit(mechanism, continued=file, **given)
    assert again.epsilon_lower == whole.epsilon_lower
    assert again.witness == whole.witness
    assert (again.budget, again.design) == (whole.budget, "sequential")
    assert [json.loads(line)["kind"] for line in file.read_text().splitlines()].count("link") == 2


@pytest.mark.parametrize("mechanism", [wide, pytest.param(wide_part, marks=pytest.mark.full)])
def test_wide_outputs_go_on_with_the_columns_that_were_chosen(mechanism: Any, tmp_path: Path) -> None:
    file, given = tmp_path / "runs.jsonl", {"epsilon": 3.0, "trials": 500}
    whole = audit(mechanism, sequential=True, **given)
    first = audit(mechanism, continued=file, **given)
    lines = file.read_bytes().splitlines(keepends=True)
    chosen = [i for i, line in enumerate(lines) if b'"kind": "columns"' in line]
    assert len(chosen) > len(PAIRS)  # both pairs choose, and again when their runs have grown
    for end in (chosen[0], chosen[-1] + 1):  # before columns are chosen, and after
        file.write_bytes(b"".join(lines[:end]))
        again = audit(mechanism, continued=file, **given)
        for found in (first, again):
            assert (found.epsilon_lower, found.witness) == (whole.epsilon_lower, whole.witness)
            assert found.budget == whole.budget


def test_saved_columns_are_looked_at_whatever_the_mechanism_does_now(tmp_path: Path) -> None:
    """Runs that chose columns are not made again: a choice after bets were seen would be a choice among bets."""
    file, calls = tmp_path / "runs.jsonl", []
    audit(wide, continued=file)

    def other(data: int, rng: np.random.Generator) -> np.ndarray:
        calls.append(data)
        return wide(1 - data, rng)

    other.__qualname__ = "wide"
    before = file.read_bytes().splitlines()
    again = audit(other, continued=file)
    assert len(calls) == sum(check.runs for check in again.checks)
    assert file.read_bytes().splitlines()[: len(before)] == before


def test_more_trials_go_on_and_runs_are_counted_once(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    first = audit(continued=file, pairs=PAIRS[:1])
    calls = []

    def spied(data: int, rng: np.random.Generator) -> float:
        calls.append(data)
        return laplace(data, rng)

    spied.__qualname__ = laplace.__qualname__
    more = audit(spied, PAIRS[:1], continued=file, trials=20_000)
    assert first.verdict == "consistent"
    assert more.verdict == "violation"
    checks = sum(check.runs for check in more.checks)
    assert len(calls) == more.budget["used"] - first.budget["used"] + checks
    # What is refuted stays so, without another run.
    calls.clear()
    last = audit(spied, PAIRS[:1], continued=file, trials=30_000)
    assert (last.verdict, last.epsilon_lower) == ("violation", more.epsilon_lower)
    assert len(calls) == sum(check.runs for check in last.checks)


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        ({"epsilon": 0.9}, "its claim is epsilon = 1.0, delta = 0.0, replace-one, not epsilon = 0.9, delta"),
        ({"epsilon": None, "claim": PrivacyClaim.gaussian(1.0)}, r"not dpaudit.PrivacyClaim.gaussian\(1.0\)"),
        ({"pairs": PAIRS[:1]}, "its list of pairs is another one$"),
        ({"confidence": 0.9}, "its confidence is 0.95, not 0.9"),
        ({"seed": 1}, "its seed is 0, not 1"),
        ({"mechanism": mixed}, "its mechanism is laplace, not mixed"),
        ({"float_bits": True}, "its float_bits is False, not True"),
    ],
)
def test_a_file_continues_only_its_own_audit(other: dict[str, Any], differs: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    audit(continued=file)
    held = file.read_bytes()
    with pytest.raises(InputError, match=differs):
        audit(**{"continued": file, **other})
    assert file.read_bytes() == held


def test_every_option_is_compared_unless_it_is_declared_apart(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    audit(continued=file)
    settings = json.loads(file.read_text().splitlines()[0])["settings"]
    # The claim is compared as a whole, inputs as the list of pairs; no run depends on the last three.
    of_claim = {"epsilon", "delta", "relation"}
    inputs = {"pairs", "data", "header", "bounds", "unit", "outside", "group", "n"}
    assert {*OPTIONS} - settings.keys() == {*of_claim, *inputs, "include_data", "time_limit", "trials"}
    assert {"claim", "list of pairs"} <= settings.keys()
    with pytest.raises(InputError, match="its timeout_is is output, not error"):
        audit(continued=file, timeout_is="error")


def test_other_code_of_the_same_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    for scale in ("0.9", "0.8"):
        module = tmp_path / f"scale_{scale[2]}.py"
        module.write_text(f"def laplace(data, rng):\n    return data + rng.laplace(0, {scale})\n")
        space: dict[str, Any] = {}
        exec(compile(module.read_text(), str(module), "exec"), space)
        if scale == "0.9":
            audit(space["laplace"], continued=file)
        else:
            with pytest.raises(InputError, match="its code is another one, for the file that defines"):
                audit(space["laplace"], continued=file)


def test_changed_lines_and_left_out_ones_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    audit(continued=file)
    lines = file.read_bytes().splitlines(keepends=True)
    for changed in ([*lines[:3], *lines[4:]], [*lines[:3], lines[3].replace(b'"pair": ', b'"pair": 1'), *lines[4:]]):
        file.write_bytes(b"".join(changed))
        with pytest.raises(ToolFault, match="line 4: the file was changed"):
            audit(continued=file)


def test_a_finding_says_what_it_went_on_from(tmp_path: Path) -> None:
    """Lines that are missing at the end cannot be seen from the file, but by the digest in an earlier finding."""
    file = tmp_path / "runs.jsonl"
    first = audit(continued=file, epsilon=5.0)
    more = audit(continued=file, epsilon=5.0, trials=300)
    held = file.read_bytes()
    lines = held.splitlines(keepends=True)
    assert audit(sequential=True).continued is UNSET
    assert (first.continued.trials, more.continued.trials) == ((200,), (200, 300))
    assert more.continued.digest == json.loads(lines[-1])["digest"]
    assert first.continued.digest in {json.loads(line)["digest"] for line in lines[:-1]}
    assert f"2 links of a file (--trials 200, 300); the digest of its last line is {more.continued.digest}" in (
        " ".join(more.summary().split())
    )
    # An audit that is over is repeated without another run, and its file stays as it is.
    again = audit(continued=file, epsilon=5.0, trials=300)
    assert again.to_dict() == more.to_dict()
    assert file.read_bytes() == held
    file.write_bytes(b"".join(lines[:-3]))
    assert audit(continued=file, epsilon=5.0, trials=250).continued.digest != more.continued.digest


def test_the_command_that_repeats_goes_on_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fast.py").write_text(
        "def mean(ages, rng):\n    return sum(ages) / 3 + rng.laplace(0, 14)\n\n\n"
        "PAIRS = [([100, 20, 40], [0, 20, 40])]\n"
    )
    asked = ["privacy", "fast.py:mean", "--epsilon", "1", "--continue", "runs.jsonl", "--quiet", "--json"]
    main([*asked, "--trials", "60"])
    main([*asked, "--trials", "5000", "--out", "stored.json"])
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    words = shlex.split(found["command"])[1:]
    assert words[-2:] == ["--continue", "runs.jsonl"]
    main([*words, "--json", "--quiet"])
    again = json.loads(capsys.readouterr().out)
    assert (again["finding"], again["command"]) == (found["finding"], found["command"])
    main(["report", "stored.json", "--out", "page.html"])
    assert "--continue runs.jsonl" in Path("page.html").read_text()


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    calls = []

    def odd(data: int, rng: np.random.Generator) -> Any:
        calls.append(data)
        return 1j * data

    with pytest.raises(InputError, match="continued cannot keep the outputs"):
        audit(odd, continued=tmp_path / "odd", trials=100_000)
    assert len(calls) < 100  # those of the checks before the audit
    assert not (tmp_path / "odd").exists()
    with pytest.raises(InputError, match="continued is for sequential=True"):
        audit(continued=tmp_path / "fixed", sequential=False)


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"

    def writes(data: int, rng: np.random.Generator) -> float:
        if file.exists() and file.stat().st_size > 3_000:
            file.write_bytes(file.read_bytes() + b"{}\n")
        return laplace(data, rng)

    with pytest.raises(InputError, match="another process"):
        audit(writes, continued=file)


def top(data: list[float], rng: np.random.Generator) -> float:
    return max(data, default=0.0)


def test_a_file_of_peoples_data_holds_salted_digests_and_refuses_other_data(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"

    def asked(data: list[float], file: Path) -> dpaudit.PrivacyFinding:
        return dpaudit.audit_privacy(top, **grouped(data=data, epsilon=1.0, trials=100, continued=file))

    found = [asked([4242.5, 1.5], file).to_dict() for file in (first, second)]
    assert found[0] == found[1] == asked([4242.5, 1.5], first).to_dict()
    kept = [json.loads(file.read_bytes().splitlines()[0]) for file in (first, second)]
    assert kept[0]["settings"] == kept[1]["settings"]
    assert kept[0]["inputs"]["list of pairs"] != kept[1]["inputs"]["list of pairs"]
    assert kept[0]["inputs"]["list of pairs"] not in str(found[0])
    assert "list of pairs" not in kept[0]["settings"]
    with pytest.raises(InputError, match="its list of pairs is another one"):
        asked([4242.5, 2.5], first)
