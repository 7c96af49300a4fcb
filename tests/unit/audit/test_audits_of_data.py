"""Audits of a dataset of one's own: rare leaks are found without a pair written by hand, and no value is told."""

from __future__ import annotations

import datetime
import json
import logging
import math
import traceback
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from msgspec import UNSET
from quick import by_turns
from rare_leaks import LEAKS

import dpaudit
from dpaudit import certificates
from dpaudit.audit.power import Power
from dpaudit.contract import OriginKind, PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.events.event import Withheld
from tests.support.grouped import grouped

RUNS = 4_000


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_at_a_rare_dataset_is_found(name: str) -> None:
    leak = LEAKS[name]
    finding = dpaudit.audit_privacy(leak.leaking, **grouped(data=leak.data, epsilon=1.0, trials=RUNS, **leak.options))
    assert finding.verdict == "violation"
    kind = OriginKind.OWN_USERS if "unit" in leak.options else OriginKind.OWN_DATA
    assert finding.witness.origin.kind is kind
    assert kind.own


@pytest.mark.parametrize("name", by_turns(LEAKS, 3))
def test_its_correct_twin_is_not_accused(name: str) -> None:
    leak = LEAKS[name]
    finding = dpaudit.audit_privacy(
        leak.correct, **grouped(data=leak.data, epsilon=1.0, trials=RUNS // 4, **leak.options)
    )
    assert finding.verdict == "consistent"


CANARY, NUMBER, UNIT = "Zebediah Quux", 8675309.25, 555019
PEOPLE = pd.DataFrame(
    {
        "user": [1, 1, UNIT, 3],
        "name": ["Aa", "Bb", CANARY, "Dd"],
        "income": [10.5, 11.5, NUMBER, 12.5],
    }
)


def raw_row(data: Any, rng: np.random.Generator) -> Any:
    """Return a record as it is."""
    return data.iloc[int(rng.integers(len(data)))].to_dict() if len(data) else None


def raw_name(data: Any, rng: np.random.Generator) -> Any:
    return data["name"].iloc[0] if len(data) else None


def raw_greatest(data: Any, rng: np.random.Generator) -> float:
    return float(data["income"].max()) if len(data) else 0.0


def raw_users(data: Any, rng: np.random.Generator) -> Any:
    return {int(user): int(rng.integers(2)) for user in data["user"]}


def raw_names_as_keys(data: Any, rng: np.random.Generator) -> Any:
    return {name: float(rng.normal()) for name in data["name"]}


def raised(data: Any, rng: np.random.Generator) -> float:
    if rng.random() < 0.7:
        always_raised(data, rng)
    return 1.0


def always_raised(data: Any, rng: np.random.Generator) -> None:
    for name, income in zip(data["name"], data["income"], strict=True):
        raise KeyError(f"{name} has {income}")


def noisy(data: Any, rng: np.random.Generator) -> float:
    return len(set(data["user"].tolist())) + float(rng.laplace())


def everything_shown(finding: Any) -> str:
    """Return all that a finding says to people and to files, but for the pixels of its figure."""
    parts = [json.dumps(finding.to_dict()), str(finding), repr(finding), finding.summary(), finding.call]
    with mock.patch("dpaudit.report.presenting.figure"):
        return "\n".join([*parts, finding._repr_html_()])


def mechanisms_and_designs() -> list[Any]:
    """Return all mechanisms with both designs, which take turns in the quick profile."""
    return [
        pytest.param(mechanism, sequential, marks=[pytest.mark.full] * ((i + sequential) % 2))
        for i, mechanism in enumerate((raw_row, raw_greatest, raw_users, raw_names_as_keys, raised, noisy))
        for sequential in (False, True)
    ]


@pytest.mark.parametrize(("mechanism", "sequential"), mechanisms_and_designs())
def test_no_value_of_the_data_is_told(mechanism: Any, sequential: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="dpaudit")
    options = {"unit": "user", "epsilon": 1.0, "trials": 600, "sequential": sequential}
    finding = dpaudit.audit_privacy(mechanism, **grouped(data=PEOPLE, **options))
    told = everything_shown(finding) + caplog.text
    for secret in (CANARY, "Zebediah", "Quux", "8675309", "8.67531e", str(UNIT), "555,019"):
        assert secret not in told
    assert finding.verdict == ("consistent" if mechanism is noisy else "violation")


def test_no_value_of_the_data_is_shown_where_the_mechanism_fails_on_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="dpaudit")
    with pytest.raises(
        InputError,
        match=r"in all of 16 runs KeyError \(include_data or --include-data shows more\) \(test_audits",
    ) as refused:
        dpaudit.audit_privacy(always_raised, data=dpaudit.Dataset(PEOPLE, unit="user"), epsilon=1.0, trials=600)
    shown = "".join(traceback.format_exception(refused.value)) + caplog.text
    assert not any(secret in shown for secret in (CANARY, "Zebediah", "Quux", "8675309"))


def test_short_data_stand_neither_in_the_call_nor_in_a_pair() -> None:
    finding = dpaudit.audit_privacy(lambda data, rng: rng.laplace(), data=[4242.5, 1717.5], epsilon=1.0, trials=20)
    assert "4242" not in everything_shown(finding)
    assert "data=data" in finding.call
    pairs = dpaudit.neighbours_of([4242.5, 1717.5])
    assert "4242" not in repr(pairs)
    given = dpaudit.audit_privacy(lambda data, rng: rng.laplace(), pairs, epsilon=1.0, trials=20)
    assert "4242" not in everything_shown(given)


@pytest.mark.parametrize("given", [None, raw_greatest], ids=["the finding's", "fresh runs"])
def test_no_value_of_the_data_is_certified(given: Any) -> None:
    pairs = dpaudit.neighbours_of(PEOPLE)
    finding = dpaudit.audit_privacy(raw_greatest, pairs, epsilon=1.0, trials=60, relation="unbounded")
    certificate = certificates.make(finding, pairs, mechanism=given)
    assert "8675309" not in repr(certificate)
    assert "Zebediah" not in repr(certificate)


def test_values_are_told_where_they_are_asked_for() -> None:
    finding = dpaudit.audit_privacy(
        raw_greatest, data=PEOPLE, epsilon=1.0, trials=100, look=dpaudit.Look(include_data=True)
    )
    assert "Zebediah" in finding.witness.data + finding.witness.neighbour
    assert not isinstance(finding.witness.event, Withheld)


def test_an_event_that_names_a_value_is_withheld_and_others_are_not() -> None:
    many = dpaudit.audit_privacy(raw_name, data=PEOPLE.iloc[[2] * 40], epsilon=1.0, trials=100)
    assert isinstance(many.witness.event, Withheld)  # although forty records hold it
    alike = grouped(data=PEOPLE.iloc[[2] * 40], epsilon=1.0, trials=100)
    whole = dpaudit.audit_privacy(lambda data, rng: len(data) == 40, **alike)
    assert not isinstance(whole.witness.event, Withheld)  # True and False are nobody's
    few = dpaudit.audit_privacy(raw_greatest, data=PEOPLE, epsilon=1.0, trials=100)
    assert few.witness.event == Withheld("output")


def test_neighbours_come_and_go_by_default_and_are_replaced_on_request() -> None:
    options = {"data": PEOPLE, "epsilon": 1.0, "trials": 20}
    assert dpaudit.audit_privacy(noisy, **grouped(**options)).relation is Relation.ADD_REMOVE_ONE
    replaced = dpaudit.audit_privacy(noisy, **grouped(relation="substitute", **options))
    assert replaced.relation is Relation.REPLACE_ONE
    assert "replaced by" in replaced.witness.origin.text


def test_a_local_search_varies_the_best_pair() -> None:
    def leaks_at_five_equal_records(data: Any, rng: np.random.Generator) -> float:
        return float(rng.laplace()) + sum(data) * (len(data) >= 20)

    finding = dpaudit.audit_privacy(leaks_at_five_equal_records, data=[0.5] * 20, epsilon=1.0, trials=100)
    assert finding.pairs > len(finding.origins)


def test_workers_make_the_datasets_and_find_the_same() -> None:
    options = {"data": np.array([0.1, 0.7, 0.3]), "epsilon": 1.0, "trials": 40, "bounds": (0, 1)}
    alone = dpaudit.audit_privacy(LEAKS["NaN that is not clipped"].correct, **grouped(**options))
    spread = dpaudit.audit_privacy(
        LEAKS["NaN that is not clipped"].correct,
        **grouped(n_jobs=2, execution=dpaudit.Execution(backend="threading"), **options),
    )
    assert spread.to_dict() == alone.to_dict()


def test_a_mechanism_that_changes_a_dataset_is_told_without_its_values() -> None:
    def sorts(data: list[float], rng: np.random.Generator) -> float:
        data.append(1.0)
        return float(rng.laplace())

    with pytest.raises(dpaudit.InputError, match="changes its input") as caught:
        dpaudit.audit_privacy(sorts, data=[4242.5, 1717.5], epsilon=1.0, trials=20)
    assert "4242" not in str(caught.value)


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("last", [50, 1_000, 2_600])
def test_a_run_that_ends_the_audit_names_its_input_without_a_value(last: int, sequential: bool) -> None:
    made = [0]

    def ends(data: list[float], rng: np.random.Generator) -> float:
        made[0] += 1
        if made[0] > last:
            raise SystemExit(0)
        return float(sum(data) + rng.laplace())

    data = [123451.25, 123452.5, 123453.75]
    try:
        found = dpaudit.audit_privacy(
            ends,
            data=dpaudit.Dataset(data, bounds=(0, 200_000)),
            epsilon=1.0,
            trials=400,
            execution=dpaudit.Execution(sequential=sequential),
        )
        text = str(found.to_dict())
    except dpaudit.InputError as error:
        text = str(error)
        assert "raised SystemExit" in text
    assert "12345" not in text


LETTERS = "abcdefghij"
CATEGORIES = pd.DataFrame(
    {"user": [0] * 20 + [*range(1, 41)], "kind": [*LETTERS * 2, *np.random.default_rng(0).choice([*LETTERS], 40)]}
)
"""One user with twenty rows, whose coming or going loses an epsilon of 20 in `noisy_counts`; the others have one."""


def noisy_counts(data: Any, rng: np.random.Generator) -> dict[str, int]:
    """Return counts with noise for users of one row each."""
    counts = data["kind"].value_counts()
    return {kind: int(counts.get(kind, 0)) + int(np.round(rng.laplace())) for kind in LETTERS}


def test_one_user_with_many_rows_is_found_by_few_runs() -> None:
    """Runs share 32 pairs; of six seeds four find it with 450 runs a side, and all with 600."""
    finding = dpaudit.audit_privacy(noisy_counts, data=dpaudit.Dataset(CATEGORIES, unit="user"), epsilon=1, trials=600)
    assert finding.verdict == "violation"
    assert "the unit of row 0 (20 rows)" in finding.witness.origin.text


def test_power_is_stated_on_the_pairs_that_were_compared_long_enough() -> None:
    def noisy_users(data: Any, rng: np.random.Generator) -> float:
        return data["user"].nunique() + float(rng.laplace())

    finding = dpaudit.audit_privacy(noisy_users, data=dpaudit.Dataset(CATEGORIES, unit="user"), epsilon=1, trials=1_000)
    assert finding.verdict == "consistent"
    assert any("the unit of row 0 (20 rows) added" in origin.text for origin in finding.origins)
    assert isinstance(finding.compared, int)
    assert 1 <= finding.compared < finding.pairs / 4
    where = f"{finding.compared} of {finding.pairs} pairs".replace("1 of", "one of")
    assert f"on the {where} that was compared long enough for that" in " ".join(str(finding).split())


def test_how_many_pairs_are_compared_long_enough_grows_with_the_runs_of_each() -> None:
    claim = PrivacyClaim(1.0, 0.0)
    power = Power.of_test(0.3, 0.1, 2_000, 8_000, claim, 1e-3)
    assert math.isfinite(power.epsilon)
    assert power.compared([0, 0], claim) == 0
    counts = [power.compared([n] * 3, claim) for n in (1, 100, 1_000, 10_000, 100_000, 1_000_000)]
    assert counts == sorted(counts)
    assert set(counts) == {0, 3}
    nothing = Power.of_test(0.3, 0.1, 5, 10, claim, 1e-3)
    assert math.isinf(nothing.epsilon)


def noisy_sum(data: Any, rng: np.random.Generator) -> float:
    return float(np.clip(data, 0, 1).sum() + rng.laplace())


def test_fewer_of_many_pairs_are_compared_long_enough() -> None:
    pairs = [([0.0] * n, [0.0] * n + [0.5]) for n in range(12)]
    one, two, many = (dpaudit.audit_privacy(noisy_sum, pairs[:n], epsilon=1, trials=400) for n in (1, 2, 12))
    assert (one.compared, two.compared, many.compared) == (1, 2, 1)
    assert str(one).count("on this pair") == 1


def test_the_inputs_of_a_witness_can_be_had_where_the_audit_was_made(tmp_path: Path) -> None:
    data = [0.25, 0.5, 0.75] * 4
    finding = dpaudit.audit_privacy(noisy_total, data=dpaudit.Dataset(data, bounds=(0, 1)), epsilon=1, trials=2_000)
    assert finding.verdict == "violation"
    first, second = finding.witness.build()
    assert abs(len(first) - len(second)) == 1
    finding.save(tmp_path / "finding.json")
    with pytest.raises(InputError, match=r"read from a file.*neighbours_of\(data, seed"):
        dpaudit.PrivacyFinding.load(tmp_path / "finding.json").witness.build()
    given = dpaudit.audit_privacy(noisy_sum, [([0.0], [1.0])], epsilon=1, trials=400)
    assert given.witness.build() == ([0.0], [1.0])


def noisy_total(data: Any, rng: np.random.Generator) -> float:
    return float(sum(data) + rng.laplace())


def test_values_outside_of_the_bounds_are_left_out_where_something_clips_before() -> None:
    data, options = [0.1, 0.5, 0.9] * 5, {"bounds": (0, 1), "epsilon": 1.2, "trials": 3_000}
    broken = dpaudit.audit_privacy(noisy_total, **grouped(data=data, **options))
    assert broken.verdict == "violation"
    assert "outside the bounds" in broken.witness.neighbour
    private = dpaudit.audit_privacy(noisy_total, **grouped(data=dpaudit.Dataset(data, outside=False), **options))
    assert private.verdict == "consistent"
    assert "outside=False" in str(private)
    assert not any("outside" in one.text or "NaN" in one.text or "infinity" in one.text for one in private.origins)
    with pytest.raises(InputError, match="outside must be True or False"):
        dpaudit.audit_privacy(noisy_total, data=dpaudit.Dataset(data, outside="no"), epsilon=1)


def noisy_size(data: Any, rng: np.random.Generator) -> float:
    return float(len(data) + rng.laplace())


def test_power_speaks_of_the_pairs_that_were_tried_and_no_verdict_depends_on_it() -> None:
    data = [0.1 * i for i in range(30)]
    finding = dpaudit.audit_privacy(noisy_size, data=data, epsilon=1.0, trials=4_000)
    assert finding.verdict == "consistent"
    assert finding.gaps == ()
    reach = finding.reach
    offered = len(dpaudit.neighbours_of(data, count=10_000))
    assert (reach.tried, reach.offered, reach.counted, reach.group) == (40, offered, True, 1)
    told = " ".join(str(finding).split())
    assert f"on 40 of {offered} pairs that this dataset gives; records, dates, categories and conjunctions" in told
    left = f"{offered - 40} of {offered} pairs that this dataset gives"
    assert finding.not_looked_at[-2:] == (left, "records, dates, categories and conjunctions that no pair changes")
    assert told.count("pairs that this dataset gives") == 1
    assert dpaudit.PrivacyFinding.from_dict(finding.to_dict()) == finding


def test_a_dataset_may_give_no_more_pairs_than_were_tried_or_too_many_to_count() -> None:
    few = dpaudit.audit_privacy(noisy_size, data=[object(), object()], epsilon=1.0, trials=2_000)
    assert few.reach.tried == few.reach.offered
    assert f"on all {few.reach.offered} pairs that this dataset gives" in " ".join(str(few).split())
    assert few.not_looked_at[-1:] == ("records, dates, categories and conjunctions that no pair changes",)
    wide = pd.DataFrame({f"column {i}": np.arange(900) for i in range(8)})
    source = dpaudit.neighbours_of(wide)[0].sides[0].source
    assert source.offered == min(1_000, len(dpaudit.neighbours_of(wide, count=1_000)))
    given = dpaudit.audit_privacy(noisy_size, [([1], [])], epsilon=1.0, trials=400)
    assert given.reach is UNSET
    assert "dataset gives" not in str(given)


def test_pairs_without_runs_were_not_tried() -> None:
    finding = dpaudit.audit_privacy(raw_greatest, data=dpaudit.Dataset(PEOPLE, unit="user"), epsilon=1.0, trials=20)
    assert any("were not run" in text for text in finding.warnings)
    assert 0 < finding.reach.tried < len(finding.origins)


def test_the_claim_of_groups_is_the_groups() -> None:
    """Noise for one record of epsilon 1: two records lose 2, which a claim of 1 for groups of two does not allow."""
    data = [0.1 * i for i in range(30)]
    options = {"data": data, "group": 2, "trials": 10_000}
    broken = dpaudit.audit_privacy(noisy_size, **grouped(epsilon=1.0, **options))
    assert broken.verdict == "violation"
    assert broken.epsilon_lower > 1.3
    assert "claims epsilon = 1 for groups of 2 records" in " ".join(str(broken).split())
    kept = dpaudit.audit_privacy(noisy_size, **grouped(epsilon=2.0, **options))
    assert kept.verdict == "consistent"
    assert kept.reach.group == 2
    users = dpaudit.audit_privacy(noisy_size, **grouped(epsilon=9.0, unit=[i // 2 for i in range(30)], **options))
    assert "for groups of 2 users" in " ".join(str(users).split())
    with pytest.raises(InputError, match="group must be an integer >= 1"):
        dpaudit.audit_privacy(noisy_size, data=dpaudit.Dataset(data, group=0), epsilon=1)
    with pytest.raises(InputError, match="group must be at most 30, the number of records"):
        dpaudit.audit_privacy(noisy_size, data=dpaudit.Dataset(data, group=31), epsilon=1)


@pytest.mark.parametrize("trials", [200, 400])
def test_a_pair_that_recorded_noise_has_listed_is_found_again(trials: int) -> None:
    days = [datetime.date(1987, 6, 5), datetime.date(1990, 1, 2), datetime.date(1975, 12, 31)]
    numbers = [[36.5], [41.25, 3.5], [28.75]]
    for data, mechanism in (
        (days, lambda d, rng: max(d, default=datetime.date(2000, 1, 1))),
        (numbers, lambda d, rng: max((x for q in d for x in q), default=0.0)),
    ):
        finding = dpaudit.audit_privacy(mechanism, data=data, epsilon=1.0, trials=trials)
        assert finding.verdict == "violation"
        assert 1 <= finding.compared <= finding.pairs
