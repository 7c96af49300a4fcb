"""An audit in parts has the bytes of one process; what is no part of it is refused by its number."""

from __future__ import annotations

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import called as call
from msgspec.structs import replace

import dpaudit
from dpaudit.audit.confirmation import Hits
from dpaudit.audit.tested import CoinCount
from dpaudit.engine import shards
from dpaudit.engine.shard_files import Shard, ShardPlan, read, sealed, shard_path, write
from dpaudit.engine.shards import make_plan, make_shard, merge
from dpaudit.errors import InputError, ToolFault
from dpaudit.keyed import key_of
from dpaudit.record import encodable

TRIALS = 3_000


def noisy(data: float, rng: Any) -> float:
    return float(data + 0.9 * rng.laplace())


def flipped(bit: int, rng: Any) -> int:
    return bit if rng.random() < 0.7 else 1 - bit


def batched(data: float, rng: Any, size: int) -> Any:
    return data + rng.laplace(size=size)


def sharing(data: int, rng: Any, size: int) -> Any:
    """Return the data with a probability that all runs of a call share."""
    return np.where(rng.random(size) < 0.6 + 0.2 * rng.random(), data, 1 - data)


def products(data: float, rng: Any) -> Any:
    found = rng.normal(size=4)
    found[0] += data * found[1] * 2
    return found


def raising(data: float, rng: Any) -> Any:
    if rng.random() < 0.01 * (1 + data):
        raise ValueError(f"bad {rng.integers(3)}")
    return {"a": float(rng.normal() + data), "b": "xy"[int(rng.integers(2))]}


ACCOUNTANT: list[float] = []


def accounted(data: float, rng: Any) -> dict[str, Any]:
    """Return an output with a part that all runs share, which is left out."""
    ACCOUNTANT.append(1.0)
    return {"value": float(data + 0.9 * rng.laplace()), "spent": ACCOUNTANT}


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "shared part": (accounted, {}),
    "noise": (noisy, {}),
    "delta": (noisy, {"delta": 1e-3}),
    "response": (flipped, {}),
    "batches": (batched, {"batched": True, "trials": 40_000}),
    "calls": (sharing, {"batched": True, "trials": 40_000}),
    "products": (products, {}),
    "exceptions": (raising, {}),
    "pairs": (noisy, {"pairs": [(0, 0.5), (0, 1), (0, 0.7)]}),
    "curve": (noisy, {"curve": True}),
    "Gaussian": (noisy, {"epsilon": None, "claim": dpaudit.PrivacyClaim.gaussian(1.0)}),
}


def asked(mechanism: Any, **more: Any) -> dict[str, Any]:
    return {"mechanism": mechanism, "pairs": [(0, 1)], "epsilon": 1.0, "trials": TRIALS, "seed": 3} | more


def made_in(folder: Path, of: int, **given: Any) -> tuple[ShardPlan, list[Shard]]:
    """Make a plan and its shards, and read both from their files."""
    write(make_plan({}, **given), folder / "plan.json")
    plan = read(folder / "plan.json", ShardPlan)
    for part in range(of, 0, -1):
        make_shard(plan, part, of, folder, **given)
    return plan, [read(path, Shard) for path in sorted(folder.glob("shard-*"))]


@pytest.mark.parametrize("name", CASES)
def test_parts_have_the_bytes_of_one_process(name: str, tmp_path: Path) -> None:
    mechanism, more = CASES[name]
    given = asked(mechanism, **more)
    one = dpaudit.audit_privacy(**given)
    plan, parts = made_in(tmp_path, 3, **given)
    assert json.dumps(encodable(merge(plan, parts[::-1], **given))) == json.dumps(encodable(one))
    assert sum(sum(part.runs) for part in parts) == plan.runs == 2 * one.budget["confirmation"]


@pytest.mark.parametrize("cuts", [(0, 3, 7), (5,), (1, 2, 2, 2)])
def test_hits_in_blocks_are_counted_as_in_one_row(cuts: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    blocks = [rng.random(size) < 0.6 for size in cuts]
    every = np.concatenate(blocks)
    for number in range(1, len(every) + 3):
        taken, added = Hits([number]), Hits([number])
        for block in blocks:
            assert added.ends_in(len(block)) == (added.seen < number < added.seen + len(block))
            taken.take(block)
            added.take(block) if added.ends_in(len(block)) else added.add(len(block), int(block.sum()))
        slow = CoinCount.of_order(every, number, np.random.default_rng(1))
        for held in (taken, added):
            count = CoinCount.of(held.right[0], min(held.seen, number), number, np.random.default_rng(1))
            assert count == slow
    assert list(accumulate(cuts))[-1] == len(every)


def test_a_shard_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SAVED", 0.0)
    given = asked(noisy)
    plan = make_plan({}, **given)
    whole = make_shard(plan, 1, 2, tmp_path, **given)
    path = shard_path(tmp_path, 1, 2)
    path.unlink()
    saved: list[Shard] = []

    def killed(record: Any, where: Path) -> None:
        saved.append(record)
        write(record, where)
        if len(saved) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(shards, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        make_shard(plan, 1, 2, tmp_path, **given)
    assert (read(path, Shard).made, read(path, Shard).complete) == (3, False)
    with pytest.raises(InputError, match="of 2 shards 1 are not finished"):
        merge(plan, [read(path, Shard), make_shard(plan, 2, 2, tmp_path, **given)], **given)
    monkeypatch.setattr(shards, "write", write)
    assert make_shard(plan, 1, 2, tmp_path, **given) == whole == read(path, Shard)


def test_what_is_no_part_is_refused_by_its_number(tmp_path: Path) -> None:
    given = asked(flipped)
    plan, parts = made_in(tmp_path, 5, **given)
    for chosen, words in (
        (parts[1:4], "of 5 shards 1, 5 are missing"),
        ([*parts, parts[2]], "of 5 shards 3 were given more than once"),
        ([], "there is no shard"),
        ([*parts[:4], sealed(replace(parts[4], plan="0"))], "another audit, or of another plan: 5/5"),
        ([*parts, sealed(replace(parts[0], of=7))], "in 5 and in 7 parts"),
    ):
        with pytest.raises(InputError, match=words):
            merge(plan, chosen, **given)
    for more, words in (({"seed": 4}, "its seed is 3, not 4"), ({"epsilon": 0.5}, "its claim")):
        with pytest.raises(InputError, match=words):
            make_shard(plan, 1, 5, tmp_path, **given | more)
    with pytest.raises(InputError, match="with K at most 16, the jobs of this plan; got 6/5"):
        make_shard(plan, 6, 5, tmp_path, **given)


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    plan, parts = made_in(tmp_path, 1, **asked(flipped))
    for record in (plan, parts[0]):
        content = encodable(record)
        changed = content | ({"runs": content["runs"] + 2} if record is plan else {"made": content["made"] - 1})
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        with pytest.raises(ToolFault, match="was changed since it was written"):
            read(tmp_path / "changed.json", type(record))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"sequential": True}, "a sequential audit decides"),
        ({"randomness": "own"}, "randomness is its own"),
        ({"time": True}, "run times"),
        ({"time_limit": 60.0}, "a time limit"),
    ],
)
def test_audits_that_have_no_parts_are_refused_with_the_reason(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=f"cannot be made in parts: .*{words}"):
        make_plan({}, **asked(noisy, **more))


def test_a_mechanism_that_is_another_here_makes_no_shard(tmp_path: Path) -> None:
    scale = [1.0]

    def scaled(data: float, rng: Any) -> float:
        return float(data + scale[0] * rng.laplace())

    given = asked(scaled)
    plan = make_plan({}, **given)
    scale[0] = 2.0
    with pytest.raises(InputError, match="return something else here"):
        make_shard(plan, 1, 2, tmp_path, **given)


@pytest.mark.parametrize("id", ["rr.py:rr", "toy", "toy-mine"])
def test_the_commands_merge_to_what_privacy_shows(
    id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    if id == "toy":
        id = dpaudit.pac.list_learners()[0].id
    Path("rr.py").write_text("def rr(b, rng):\n    return b if rng.random() < 0.7 else 1 - b\nPAIRS = [(0, 1)]\n")
    Path("mine.py").write_text(
        "from toy_learners import ToyCoin\nclass Mine(ToyCoin):\n    id = 'toy-mine'\nLEARNERS = (Mine,)\n"
    )
    learners = ["--learners", "mine.py"] if id == "toy-mine" else []
    words = [
        "privacy",
        id,
        "--trials",
        "9000",
        *learners,
        *(["--epsilon", "1"] if id == "rr.py:rr" else []),
        "--json",
        "-q",
    ]
    words = [word for word in words if word != "-q"] + ["--quiet"]
    status, one, _ = call(capsys, *words)
    assert call(capsys, *words, "--plan", "plan.json")[0] == 0
    for part in (1, 2):
        assert call(capsys, "shard", f"{part}/2", "plan.json", "-o", "parts", "--quiet", *learners)[0] == 0
    assert call(capsys, "merge", "parts", "--json", "--quiet", *learners)[:2] == (status, one)
    assert "must be I/K" in call(capsys, "shard", "3", "plan.json")[2]

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.engine.shards.make_shard", interrupt)
    said = call(capsys, "shard", "1/2", "plan.json", "-o", "parts", "--quiet", *learners)[2]
    assert "INTERRUPTED  what was stored is kept in parts/shard-1-of-2.json: the same command goes on from it" in said


def test_a_plan_of_peoples_data_is_asked_for_and_carries_the_key_of_their_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def total(data: list[float], rng: Any) -> float:
        return float(sum(data) + rng.laplace(scale=100))

    own = asked(total, data=[20.0, 31.0, 47.0, 52.0], bounds=(0, 100), pairs=None, trials=1_000)
    with pytest.raises(InputError, match="may name values of records; add include_data=True"):
        make_plan({}, **own)
    for name, made in (("here", True), ("there", False)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        key_of(make=True)  # each machine has its own
        if made:
            whole = dpaudit.audit_privacy(**own, include_data=True)
            plan = make_plan({}, **own, include_data=True)
    shards_made = [make_shard(plan, part, 2, tmp_path, **own, include_data=True) for part in (1, 2)]
    assert encodable(merge(plan, shards_made, **own, include_data=True)) == encodable(whole)
    assert plan.key == (tmp_path / "here" / ".dpaudit" / "key").read_text()
