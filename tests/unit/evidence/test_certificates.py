"""Certificates from finding to file to verifier to replay, and the witness that is shrunk on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from two_stages import TwoStages

from dpaudit import PrivacyFinding, audit_privacy, certificates
from dpaudit.audit.parameters import Execution, Look
from dpaudit.certificate_grammar import MOST_BYTES
from dpaudit.contract import Origin, OriginKind, Pair, Relation
from dpaudit.errors import InputError
from dpaudit.events.event import Cells, Interval
from dpaudit.evidence.certificate import Certificate, Counts, Given, Referred, seal_of
from dpaudit.neighbours.own_data.tables import table_of
from dpaudit.neighbours.smaller import _simpler_pairs
from dpaudit.neighbours.strategies import pairs_from_strategy
from dpaudit.pac import get_learner
from dpaudit.verify_certificate import verify
from tests.support.grouped import grouped

ROWS = [round(float(x), 3) for x in np.random.default_rng(1).random(30)]
PAIRS = [([*ROWS, 0.5], [*ROWS, 0.0]), ([*ROWS, 1.0], [*ROWS, 0.0])]


def mean(data: Any, rng: np.random.Generator, size: int) -> np.ndarray:
    """Claims 1 and adds the noise for 2."""
    return np.mean(data) + rng.laplace(0, 0.5 / len(data), size)


def honest(data: Any, rng: np.random.Generator, size: int) -> np.ndarray:
    return np.mean(data) + rng.laplace(0, 1 / len(data), size)


def shifted(data: Any, rng: np.random.Generator, size: int) -> np.ndarray:
    """All runs of a call share a part of the noise."""
    return honest(data, rng, size) + rng.normal(0, 0.5 / len(data))


@cache
def found(**options: Any) -> PrivacyFinding:
    return audit_privacy(
        mean, PAIRS, **grouped(epsilon=1.0, trials=20_000, batched=True, relation="replace-one", **options)
    )


@cache
def certified(**options: Any) -> Certificate:
    return certificates.make(found(), PAIRS, mechanism=mean, batched=True, name="m.py:mean", **options)


def status(certificate: Certificate) -> int:
    return verify(json.dumps(certificate.to_dict()).encode())[0]


def test_the_witness_is_shrunk_and_confirmed_on_fresh_runs() -> None:
    certificate = certified()
    assert isinstance(certificate.event, Interval)
    assert isinstance(certificate.data, Given)
    assert (certificate.runs, certificate.error) == ("fresh", 1 - found().confidence)
    assert certificate.counts is not None
    assert certificate.counts.runs + certificate.counts.neighbour_runs == 2 * found().confirmation_trials
    pair = [msgspec.to_builtins(side.value)["items"] for side in (certificate.data, certificate.neighbour)]
    assert pair == [(1.0,), (0.0,)]
    assert 1.5 < certificate.epsilon_lower < 2.1  # 2 is the truth
    assert status(certificate) == 0


def test_without_the_mechanism_it_is_the_findings_own() -> None:
    certificate = certificates.make(found(), PAIRS)
    assert certificate.epsilon_lower == found().epsilon_lower
    assert (certificate.runs, certificate.searched) == ("finding", 0)
    assert certificate.error == max(found().tests, key=lambda test: test.epsilon_lower).error
    assert status(certificate) == 0


@pytest.mark.parametrize("bound", ["melded", "clopper-pearson"])
def test_the_bound_may_be_chosen(bound: str) -> None:
    certificate = certified(bound=bound)
    assert certificate.bound == bound
    assert status(certificate) == 0
    assert status(msgspec.structs.replace(certificate, epsilon_lower=certificate.epsilon_lower + 1e-4)) == 1


def test_clopper_pearson_is_below_melded() -> None:
    counts = Counts(361, 1000, 52, 1000)
    lower = [counts.epsilon_lower(bound, 0.0, 1e-3) for bound in ("clopper-pearson", "melded")]
    assert 1.3 < lower[0] < lower[1]
    for bound in ("clopper-pearson", "melded"):
        assert Counts(52, 1000, 361, 1000).epsilon_lower(bound, 0.0, 1e-3) == 0


def test_files_are_read_back_and_nothing_else_is(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    certified().write(file)
    assert certificates.read(file) == certified()
    assert verify(file.read_bytes())[0] == 0
    told = json.loads(file.read_text())
    for wrong in (
        {**told, "more": 1},
        {k: v for k, v in told.items() if k != "event"},
        {**told, "epsilon_lower": 0.5},
        {**told, "counts": {**told["counts"], "hits": 10**6}},
        {**told, "counts": None},
        {**told, "schema_version": 2},
        {**told, "confidence": 0.4},
        {**told, "event": {"kind": "code", "code": "output > 0"}},
    ):
        file.write_text(json.dumps(wrong))
        with pytest.raises(InputError, match="is no certificate"):
            certificates.read(file)
    file.write_text(json.dumps({**told, "mechanism": "another"}))
    with pytest.raises(InputError, match="as it was written: it was altered"):
        certificates.read(file)
    file.write_bytes(b" " * (MOST_BYTES + 1))
    with pytest.raises(InputError, match=f"over {MOST_BYTES} bytes"):
        certificates.read(file)
    with pytest.raises(InputError, match="cannot be read"):
        certificates.read(tmp_path)


def test_a_replay_convicts_the_mechanism_and_not_an_honest_one() -> None:
    again = certificates.replay(certified(), mean, batched=True, seed=5)
    assert again.verdict == "violation"
    assert again.counts is not None
    assert again.counts != certified().counts
    assert again == certificates.replay(certified(), mean, batched=True, seed=5)
    assert certificates.replay(certified(), honest, batched=True, seed=5).verdict == "no evidence"
    assert (
        certificates.replay(certified(), mean, batched=True).seed
        != certificates.replay(certified(), mean, batched=True).seed
    )
    one = certificates.replay(certified(), lambda data, rng: mean(data, rng, 1)[0], trials=2000)
    assert (one.verdict, one.counts.runs + one.counts.neighbour_runs) == ("violation", 4000)
    with pytest.raises(InputError, match="seed"):
        certificates.replay(certified(), mean, batched=True, seed=certified().seed)


def test_calls_whose_runs_depend_on_each_other_are_not_replayed() -> None:
    with pytest.raises(InputError, match="outputs of one call depend on each other"):
        certificates.replay(certified(), shifted, batched=True, seed=5)


@pytest.mark.parametrize("trials", [300, 3000])
def test_making_and_replaying_tell_how_many_runs_are_made(trials: int) -> None:
    told: list[tuple[int, int]] = []

    def listen(done: int, total: int) -> None:
        told.append((done, total))

    certificates.replay(certified(), mean, batched=True, trials=trials, seed=5, execution=Execution(progress=listen))
    assert told[-1] == (2 * trials, 2 * trials)
    told.clear()
    certified(trials=trials, execution=Execution(progress=listen))
    done = [one for one, _ in told]
    assert 0 < done[0] <= done[-1] <= told[0][1]
    assert done == sorted(done)


def test_bets_are_for_replay_only() -> None:
    certificate = certificates.make(found(sequential=True), PAIRS)
    assert (certificate.bound, certificate.counts) == ("betting", None)
    assert certificate.learned == found(sequential=True).trials
    assert status(certificate) == 3
    assert certificates.replay(certificate, mean, batched=True, seed=1).verdict == "violation"
    assert certificates.replay(certificate, honest, batched=True, seed=1).verdict == "no evidence"


def test_a_false_accusation_does_not_get_fresh_counts() -> None:
    certificate = certificates.make(found(), PAIRS, mechanism=honest, batched=True)
    assert certificate.runs == "finding"


def named_rows() -> tuple[Pair, Callable[..., Any]]:
    frame = pd.DataFrame({"group": list("ab" * 20), "age": range(40)})
    other = frame.copy()
    other.loc[39, "group"] = "rare"

    def groups(data: pd.DataFrame, rng: np.random.Generator) -> list[str]:
        return sorted(set(data["group"]))

    return Pair(frame, other), groups


def shrunk(pair: Pair, mechanism: Any, **options: Any) -> Certificate:
    finding = audit_privacy(mechanism, [pair], epsilon=1.0, trials=2000)
    return certificates.make(finding, [pair], mechanism=mechanism, **options)


def test_data_frames_are_shrunk_to_the_row_that_differs() -> None:
    certificate = shrunk(*named_rows())
    assert isinstance(certificate.data, Given)
    told = msgspec.to_builtins(certificate.data.value)
    assert len(told["columns"][0][1]["items"]) == 1
    assert isinstance(certificate.event, Cells)
    assert certificates.replay(certificate, named_rows()[1], relation="replace-one").verdict == "violation"
    assert not certificates.replay(certificate, named_rows()[1]).neighbours


def test_inputs_that_json_lacks_are_named() -> None:
    pair, groups = named_rows()
    odd = Pair(*(side.set_index(np.arange(40) + 0.5) for side in (pair.data, pair.neighbour)))
    whole = shrunk(odd, groups, shrinks=False, place="f.py:PAIRS")
    assert isinstance(whole.data, Referred)
    assert (whole.data.place, whole.data.records) == ("f.py:PAIRS[0]", None)
    assert certificates.replay(whole, groups, pair=odd).verdict == "violation"
    with pytest.raises(InputError, match=r"f\.py:PAIRS\[0\]"):
        certificates.replay(whole, groups)
    assert not certificates.replay(whole, groups, pair=odd).values_checked
    others = (odd.data.iloc[1:], odd.neighbour.iloc[1:])
    with pytest.raises(InputError, match=r"a DataFrame of 39 rows of .*, and the certificate names a DataFrame of 40"):
        certificates.replay(whole, groups, pair=others)
    renamed = (odd.data.rename(columns=str.upper), odd.neighbour.rename(columns=str.upper))
    with pytest.raises(InputError, match="an input is not the one that was audited"):
        certificates.replay(whole, groups, pair=renamed)


def test_data_of_people_stay_out() -> None:
    pair, groups = named_rows()
    origin = Origin(OriginKind.OWN_DATA, "row 39 replaced")
    finding = audit_privacy(groups, [pair], epsilon=1.0, trials=2000)
    private = Pair(pair.data, pair.neighbour, origin)
    finding = msgspec.structs.replace(finding, origins=(origin,))
    certificate = certificates.make(finding, [private], mechanism=groups)
    assert isinstance(certificate.data, Referred)
    assert certificate.data == Referred("PAIRS[0]", "row 39 replaced", (39,), 0, certificate.data.form)
    assert "digest" not in json.dumps(certificate.to_dict())
    assert certificates.replay(certificate, groups, pair=pair, relation="replace-one").verdict == "violation"
    shown = certificates.make(finding, [private], mechanism=groups, look=Look(include_data=True))
    assert isinstance(shown.data, Given)


def test_shared_entries_of_dictionaries_are_left_out() -> None:
    users = {f"user{i}": i for i in range(20)}

    def count(data: dict[str, int], rng: np.random.Generator) -> float:
        return len(data) + rng.laplace(0, 0.3)

    certificate = shrunk(Pair(users, users | {"one more": 7}), count)
    assert [len(side.value.items) for side in (certificate.data, certificate.neighbour)] == [0, 1]


def test_a_pair_on_which_the_mechanism_refuses_to_run_is_no_witness() -> None:
    def picky(data: list[float], rng: np.random.Generator) -> float:
        if len(data) < 4:
            raise ValueError("too few records")
        return sum(data) + rng.laplace(0, 0.3)

    certificate = shrunk(Pair([0.0] * 9 + [1.0], [0.0] * 10), picky)
    assert isinstance(certificate.data, Given)
    assert len(certificate.data.value.items) == 4


def test_values_become_simpler_within_their_bounds() -> None:
    def total(data: np.ndarray, rng: np.random.Generator) -> float:
        assert data.min() >= 0.2
        return float(data.sum() + rng.laplace(0, 0.2))

    pair = Pair(np.array([0.37, 0.41, 0.93]), np.array([0.37, 0.41, 0.27]))
    certificate = shrunk(pair, total, bounds=(0.2, 1.0))
    values = {*certificate.data.value.items, *certificate.neighbour.value.items}
    assert values <= {0.2, 1, 0.93, 0.27}
    assert values & {0.2, 1}


DATASETS: dict[str, Any] = {
    "X and y": lambda x: (x.reshape(-1, 1), np.zeros(len(x))),
    "a series": lambda x: pd.Series(x),
    "a table with labels": lambda x: (pd.DataFrame({"x": x}, index=[f"user {i}" for i in range(len(x))]), x),
    "a table with texts": lambda x: pd.DataFrame({"x": x, "name": ["someone"] * len(x)}),
    "tuples": lambda x: [(float(value), "a") for value in x],
}


@pytest.mark.parametrize("kind", DATASETS)
def test_rows_of_datasets_of_every_kind_are_left_out(kind: str) -> None:
    def count(data: Any, rng: np.random.Generator) -> float:
        return len(data[0] if isinstance(data, tuple) else data) + rng.laplace(0, 0.2)

    pair = Pair(DATASETS[kind](np.array([0.5, 0.25, 0.7, 1.0])), DATASETS[kind](np.array([0.5, 0.25, 0.7])))
    finding = audit_privacy(count, [pair], epsilon=1.0, trials=1000)
    certificate = certificates.make(finding, [pair], mechanism=count)
    assert certificate.runs == "fresh"
    replayed = certificates.replay(certificate, count, pair=pair, seed=3, relation="add-remove-one")
    assert replayed.verdict == "violation"


@pytest.mark.parametrize("kind", DATASETS)
def test_pairs_with_simpler_values_are_neighbours_still(kind: str) -> None:
    pair = Pair(DATASETS[kind](np.array([0.5, 0.25, 0.7, 1.0])), DATASETS[kind](np.array([0.5, 0.25, 0.7])))
    found = list(_simpler_pairs(pair, None))
    assert found
    for simple in found:
        rows = [table_of(side).records() for side in (simple.data, simple.neighbour)]
        assert [repr(row) for row in rows[0][:3]] == [repr(row) for row in rows[1]]
        if kind == "a table with labels":
            assert simple.data[0].index[:3].equals(simple.neighbour[0].index)


def test_learners_samples_are_shrunk_and_built_again() -> None:
    learner = get_learner("broken-conjunction-exponential-doubled", dimension=2, k=1, epsilon=1.0)
    finding = audit_privacy(learner, trials=100_000, pairs="crafted:4", seed=3)
    certificate = certificates.make(finding, "crafted:4", mechanism=learner)
    assert isinstance(certificate.data, Given)
    assert sum(certificate.data.value.counts) < 4
    assert certificates.replay(certificate, learner, seed=4).verdict == "violation"


def test_strategies_are_shrunk_by_hypothesis() -> None:
    pairs = st.integers(3, 40).flatmap(lambda n: st.tuples(st.just([7] * n), st.just([7] * n + [9])))
    listed = pairs_from_strategy(pairs, count=4)

    def count(data: list[int], rng: np.random.Generator) -> float:
        return len(data) + rng.laplace(0, 0.3)

    finding = audit_privacy(count, listed, epsilon=1.0, trials=2000)
    assert finding.origins[0].kind is OriginKind.STRATEGY
    certificate = certificates.make(finding, listed, mechanism=count, strategy=pairs)
    assert isinstance(certificate.data, Given)
    assert len(certificate.data.value.items) == 3


def test_a_pair_of_no_neighbours_convicts_nobody(tmp_path: Path) -> None:
    def exact(data: list[int], rng: np.random.Generator) -> float:
        return float(np.mean(data) + rng.laplace(0, 1 / len(data)))

    finding = audit_privacy(exact, [([0, 0, 0], [1, 1, 1])], epsilon=1.0, trials=2000)
    forged = certificates.make(finding, [([0, 0, 0], [1, 1, 1])])
    told = forged.to_dict() | {"relation": "replace-one"}
    told["seal"] = seal_of(told)
    (tmp_path / "forged.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match="no neighbours: 3 records of one input and 3 of the other"):
        certificates.read(tmp_path / "forged.json")
    with pytest.raises(InputError, match="of neighbours"):
        msgspec.structs.replace(forged, relation=Relation.REPLACE_ONE)
    # Without a relation nothing is said of the pair, so that no replay convicts on it.
    assert verify(json.dumps(forged.to_dict()).encode())[1].startswith("not checked that the inputs are neighbours")
    again = certificates.replay(forged, exact, seed=1)
    assert (again.verdict, again.neighbours, again.epsilon_lower > 1) == ("no evidence", False, True)
    with pytest.raises(InputError, match="not a pair of neighbours"):
        certificates.replay(forged, exact, relation="replace-one")
    with pytest.raises(InputError, match="their distance is 3"):
        certificates.replay(forged, exact, metric=lambda a, b: float(np.abs(np.subtract(a, b)).sum()))
    assert certificates.replay(forged, exact, seed=1, metric=lambda a, b: 1.0).verdict == "violation"
    with pytest.raises(InputError, match="the metric of the inputs failed: KeyError"):
        certificates.replay(forged, exact, metric=lambda a, b: {}[0])


def test_a_replay_has_its_own_confidence() -> None:
    assert certificates.replay(certified(), mean, batched=True, seed=5, confidence=0.9).confidence == 0.9
    assert (
        certificates.replay(msgspec.structs.replace(certified(), confidence=0.9), mean, batched=True, seed=5).confidence
        == 0.999
    )
    with pytest.raises(InputError, match="confidence must be in"):
        certificates.replay(certified(), mean, batched=True, confidence=0.4)


def test_bad_arguments_are_refused() -> None:
    quiet = audit_privacy(honest, PAIRS, epsilon=1.0, trials=2000, batched=True)
    with pytest.raises(InputError, match="only violations"):
        certificates.make(quiet, PAIRS)
    with pytest.raises(InputError, match="pairs"):
        certificates.make(found())
    with pytest.raises(InputError, match="pairs"):
        certificates.make(found(), PAIRS[:1])
    with pytest.raises(InputError, match="melded"):
        certificates.make(found(), PAIRS, bound="exact")
    moved = msgspec.structs.replace(found(), witness=msgspec.structs.replace(found().witness, pair=9))
    with pytest.raises(InputError, match="variation"):
        certificates.make(moved, PAIRS)


def test_searches_from_several_pairs_share_the_error() -> None:
    finding = found()
    moved = msgspec.structs.replace(finding, witness=msgspec.structs.replace(finding.witness, pair=9))
    certificate = certificates.make(moved, PAIRS, mechanism=mean, batched=True)
    assert certificate.runs == "fresh"
    assert certificate.error == pytest.approx((1 - finding.confidence) / len(PAIRS))
    one = certificates.make(finding, PAIRS, mechanism=mean, batched=True)
    assert one.error == pytest.approx(1 - finding.confidence)


def test_another_pair_is_taken_where_no_explicit_event_convicts_on_the_witness() -> None:
    pairs = [(ROWS, ROWS), PAIRS[1]]
    finding = audit_privacy(mean, pairs, epsilon=1.0, trials=5_000, batched=True, relation="replace-one")
    moved = msgspec.structs.replace(finding, witness=msgspec.structs.replace(finding.witness, pair=0))
    certificate = certificates.make(moved, pairs, mechanism=mean, batched=True, shrinks=False)
    assert isinstance(certificate.event, Interval)
    assert isinstance(certificate.data, Given)
    assert msgspec.to_builtins(certificate.data.value)["items"] == tuple(PAIRS[1][0])
    assert (certificate.runs, certificate.error) == ("fresh", 1 - finding.confidence)
    assert status(certificate) == 0


def test_true_claims_get_no_certificate_more_often_than_findings_err() -> None:
    """Selection and search must not leak into the bound: a mechanism exactly at its claim stays below it."""
    pairs = [([0.0, 1.0], [0.0, 0.0])]
    accused = audit_privacy(
        lambda d, r, n: sum(d) + r.laplace(0, 0.5, n), pairs, epsilon=1.0, trials=5000, batched=True
    )

    def exceeded(seed: int) -> bool:
        claim = replace_seed(accused, seed, confidence=0.9)
        made = certificates.make(
            claim, pairs, mechanism=lambda d, r, n: sum(d) + r.laplace(0, 1.0, n), batched=True, trials=5000
        )
        return bool(made.runs == "fresh")

    # At most a tenth exceed the claim: more than 6 of 20 by chance once in 400, and with 0.8 at a rate of a half.
    stages = TwoStages(20, 6, first=8, few=2)
    assert stages.failing(0.1) < 1 / 400
    assert stages.failing(0.5) > 0.8
    stages.hold(lambda seeds: list(map(exceeded, seeds)), range(stages.number))


def replace_seed(finding: PrivacyFinding, seed: int, **changed: Any) -> PrivacyFinding:
    return msgspec.structs.replace(finding, seed=seed, **changed)
