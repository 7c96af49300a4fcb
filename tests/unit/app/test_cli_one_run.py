"""The command `scores`, which flips the coins too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import dpaudit
from dpaudit.app import main
from dpaudit.report import schema

M = 200


def call(capsys: Any, *words: str) -> tuple[int, str, str]:
    """Run a command and return its status and what it wrote."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def written(path: Path, shift: float, seed: int = 0, header: str = "score,included") -> Path:
    """Write scores of which the canaries that are in are shifted."""
    coins = dpaudit.flip_coins(M, seed=seed)
    coins.save(path / "coins.json")
    scores = np.random.default_rng(seed).normal(size=M) + shift * coins.included
    rows = [f"{score},{int(coin)}" for score, coin in zip(scores, coins.included, strict=True)]
    (path / "scores.csv").write_text("\n".join([header, *rows]) + "\n")
    return path / "scores.csv"


def test_coins_are_written_once(capsys: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "coins.json")
    status, out, _ = call(capsys, "scores", "--flip", "1e3", "--coins", file, "--seed", "3")
    coins = dpaudit.Coins.load(file)
    assert status == 0
    assert coins == dpaudit.flip_coins(1000, seed=3)
    assert coins.seal in out
    status, _, err = call(capsys, "scores", "--flip", "1000", "--coins", file)
    assert (status, "must be a new file" in err) == (2, True)
    assert dpaudit.Coins.load(file) == coins
    two = tmp_path / "two.json"
    status, out, _ = call(capsys, "scores", "--flip", "10", "--coins", str(two), "--runs", "2", "--json")
    assert json.loads(out)["seal"] == dpaudit.Coins.load(two).seal


def test_infinite_scores_and_losses_are_read_and_an_unlikely_order_is_named(capsys: Any, tmp_path: Path) -> None:
    file, coins = tmp_path / "scores.csv", dpaudit.flip_coins(M, seed=4).included
    options = ("--epsilon", "1", "--confidence", "0.95")
    rows = [f"{'inf' if coin else '-Infinity'},{int(coin)}" for coin in coins]
    file.write_text("\n".join(["score,included", *rows]) + "\n")
    status, out, _ = call(capsys, "scores", str(file), *options)
    assert (status, "VIOLATION" in out, "scores are smaller" in out) == (1, True, False)
    file.write_text("\n".join(["score,included", *(f"{-int(coin)},{int(coin)}" for coin in coins)]) + "\n")
    status, out, _ = call(capsys, "scores", str(file), *options, "--json")
    found = json.loads(out)["finding"]
    assert (status, found["reversed"], found["warnings"]) == (1, True, [])
    file.write_text("\n".join(["score,included", *(f"{place},{int(place < 100)}" for place in range(200))]) + "\n")
    status, out, _ = call(capsys, "scores", str(file), *options)
    assert "the canaries that are in stand first" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--flip", "10"), "--coins must be given"),
        (("--flip", "10", "--coins", "no/such/folder.json"), "--coins must be a file in a folder that exists"),
        (("--flip", "1", "--coins", "coins.json"), "--flip must be an integer >= 2"),
        (("--flip", "many", "--coins", "coins.json"), "must be a whole number"),
        (("scores.csv", "--flip", "10", "--coins", "coins.json"), "FILE.csv must be left out with --flip"),
        (("--runs", "2"), "must be given with --flip alone"),
        ((), "FILE.csv must be given"),
    ],
)
def test_coins_refuse_bad_input(
    capsys: Any, tmp_path: Path, monkeypatch: Any, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = call(capsys, "scores", *words)
    assert status == 2
    assert message in " ".join(err.split())
    assert not list(tmp_path.iterdir())


def test_scores_are_audited_with_the_coins_that_were_sealed(capsys: Any, tmp_path: Path) -> None:
    file = written(tmp_path, 3.0)
    words = ("scores", str(file), "--coins", str(tmp_path / "coins.json"), "--epsilon", "1", "--confidence", "0.95")
    status, out, _ = call(capsys, *words, "--delta", "1e-6", "-v", "--out", str(tmp_path / "found.json"))
    told = " ".join(out.split())
    assert status == 1
    assert "VIOLATION" in told
    assert f"repeat dpaudit scores {file} --coins" in told
    seal = dpaudit.Coins.load(tmp_path / "coins.json").seal
    assert seal in told
    status, out, _ = call(capsys, *words, "--seal", seal)
    assert (status, f"--seal {seal}" in " ".join(out.split())) == (1, True)
    status, _, err = call(capsys, *words, "--seal", seal[:-1] + "x")
    assert (status, "--seal must be the digest of the coins" in " ".join(err.split())) == (2, True)
    found = json.loads((tmp_path / "found.json").read_text())["finding"]
    assert jsonschema.Draft202012Validator(schema.load("finding")).is_valid(found)
    assert dpaudit.OneRunFinding.from_dict(found).seal == seal
    for suffix in ("html", "xml"):
        status, _, _ = call(capsys, *words, "--out", str(tmp_path / f"found.{suffix}"))
        assert status == 1
        assert (tmp_path / f"found.{suffix}").stat().st_size > 300
    assert "if Gaussian" in (tmp_path / "found.html").read_text()


def test_verdicts_have_their_statuses(capsys: Any, tmp_path: Path) -> None:
    file = str(written(tmp_path, 0.0))
    status, out, _ = call(capsys, "scores", file, "--epsilon", "1")
    assert (status, out.startswith("CONSISTENT")) == (0, True)
    status, out, _ = call(capsys, "scores", file, "--epsilon", "9")
    assert (status, out.startswith("NO EVIDENCE")) == (3, True)
    assert call(capsys, "scores", file, "--epsilon", "9", "--allow-no-evidence")[0] == 0
    file = str(written(tmp_path, 4.0))
    status, out, _ = call(capsys, "scores", file, "--claim", "gaussian:0.5", "--confidence", "0.95")
    assert (status, "shows mu >=" in out) == (1, True)
    status, out, _ = call(capsys, "scores", file, "--claim", "zero-concentrated:0.01", "--guesses", "50", "--json")
    assert (status, json.loads(out)["finding"]["schedule"][0]["guesses"]) == (1, 50)


def test_a_file_may_have_several_runs(capsys: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["run,score,included"]
    for run in ("a", "b", "c"):
        coins = rng.random(50) < 0.5
        lines += [f"{run},{score},{coin}" for score, coin in zip(rng.normal(size=50) + 3 * coins, coins, strict=True)]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    status, out, _ = call(capsys, "scores", str(tmp_path / "runs.csv"), "--epsilon", "0.5", "--json")
    found = json.loads(out)["finding"]
    assert (status, found["runs"], found["canaries"]) == (1, 3, 50)
    (tmp_path / "runs.csv").write_text("\n".join(lines[:-1]))
    status, _, err = call(capsys, "scores", str(tmp_path / "runs.csv"), "--epsilon", "1")
    assert status == 2
    assert "as many rows of each run" in " ".join(err.split())


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("value\n1\n", ("--epsilon", "1"), "must have a column 'score', got value"),
        ("score\n1\n", ("--epsilon", "1"), "must have a column 'included', got score"),
        ("", ("--epsilon", "1"), "must have a column 'score', got an empty file"),
        ("score,included\n1,1\nx,0\n", ("--epsilon", "1"), "line 3: score must be a number, got 'x'"),
        ("score,included\n1,1\n,0\n", ("--epsilon", "1"), "line 3: score must be a number, got ''"),
        ("score,included\nnan,1\n2,0\n", ("--epsilon", "1"), "scores must be numbers, finite or infinite, got nan"),
        ("score,included\n1,1\n2,3\n", ("--epsilon", "1"), "included must be an array of True and False"),
        ("score,included\n1,1\n2,0\n", (), "--epsilon must be given"),
        ("score,included\n1,1\n2,0\n", ("--epsilon", "1", "--claim", "gaussian:1"), "there is one claim"),
        ("score,included\n1,1\n2,0\n", ("--claim", "mu:1"), "--claim must be gaussian:MU"),
        ("score,included\n1,1\n2,0\n", ("--claim", "gaussian:99"), "mu must be a number in (0, 50]"),
        ("score,included\n1,1\n2,0\n", ("--claim", "renyi:1,1"), "--claim renyi:1,1: alpha must be an order above 1"),
        (
            "score,included\n1,1\n2,0\n",
            ("--claim", "renyi:2,-1"),
            "--claim renyi:2,-1: epsilon must be a number in (0, 2500]",
        ),
        (
            "score,included\n1,1\n2,0\n",
            ("--claim", "profile:curves.py:boom"),
            "the claim's profile raised ZeroDivisionErro",
        ),
        ("score,included\n1,1\n2,0\n", ("--claim", "profile:curves.py:grows"), "profile must not grow with epsilon"),
    ],
)
def test_scores_refuse_bad_input(capsys: Any, tmp_path: Path, text: str, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "scores.csv").write_text(text)
    (tmp_path / "curves.py").write_text("def boom(e):\n    return 1 / 0\n\n\ndef grows(e):\n    return e / 100\n")
    words = tuple(word.replace("curves.py", str(tmp_path / "curves.py")) for word in words)
    status, _, err = call(capsys, "scores", str(tmp_path / "scores.csv"), *words)
    assert status == 2
    assert message in " ".join(err.split())


def test_other_coins_than_those_sealed_are_refused(capsys: Any, tmp_path: Path) -> None:
    file, coins = str(written(tmp_path, 0.0)), tmp_path / "coins.json"
    dpaudit.flip_coins(M, seed=9).save(coins)
    status, _, err = call(capsys, "scores", file, "--coins", str(coins), "--epsilon", "1")
    assert status == 2
    assert "must be the coins that were sealed" in " ".join(err.split())
    coins.write_text(coins.read_text().replace('"seed": 9', '"seed": 8'))
    status, _, err = call(capsys, "scores", file, "--coins", str(coins), "--epsilon", "1")
    assert status == 2
    assert "not those that were sealed" in " ".join(err.split())
    assert err.startswith("BAD INPUT    --coins must be")
    for words in ((file, "--coins", str(tmp_path / "nope.json")), (str(tmp_path / "nope.csv"),)):
        status, _, err = call(capsys, "scores", *words, "--epsilon", "1")
        assert (status, err.startswith("BAD INPUT    there is no file")) == (2, True)


def recorded(path: Path, scale: float, header: str = "output\n", size: int = 2_000) -> tuple[str, str]:
    """Write outputs with Laplace noise on 0 and on 1."""
    rng = np.random.default_rng(0)
    files = str(path / "outputs.csv"), str(path / "neighbour.csv")
    for shift, file in enumerate(files):
        values = shift + rng.laplace(scale=scale, size=size)
        Path(file).write_text(header + "\n".join(map(repr, values.tolist())) + "\n")
    return files


def test_samples_are_audited_and_repeated(capsys: Any, tmp_path: Path, monkeypatch: Any) -> None:
    recorded(tmp_path, 0.5)
    monkeypatch.chdir(tmp_path)
    files, page = ("outputs.csv", "neighbour.csv"), Path("found.html")
    status, out, _ = call(capsys, "samples", *files, "--epsilon", "1", "-v", "--out", str(page))
    told = " ".join(out.split())
    assert status == 1
    assert "VIOLATION recorded:outputs.csv claims epsilon = 1" in told
    assert "which the finding assumes to be independent" in told
    assert "outputs recorded elsewhere" in page.read_text()
    repeat = f"dpaudit samples {files[0]} {files[1]} --epsilon 1.0 --confidence 0.999 --seed 0"
    assert f"repeat {repeat}" in told
    found = [json.loads(call(capsys, *words, "--json")[1]) for words in (repeat.split()[1:],) * 2]
    assert found[0] == found[1]
    sides = [np.loadtxt(file, skiprows=1) for file in files]
    own = dpaudit.audit_samples(*sides, epsilon=1.0)
    assert dpaudit.PrivacyFinding.from_dict(found[0]["finding"]) == own


def test_samples_have_the_statuses_of_other_audits(capsys: Any, tmp_path: Path) -> None:
    files = recorded(tmp_path, 1.0)
    assert call(capsys, "samples", *files, "--epsilon", "1.1", "--look", "curve")[0] == 0
    assert call(capsys, "samples", *files, "--claim", "gaussian:1.5", "--allow-no-evidence")[0] == 0
    assert call(capsys, "samples", *files, "--epsilon", "9")[0] == 3
    assert call(capsys, "samples", *files, "--epsilon", "9", "--allow-no-evidence")[0] == 0
    assert call(capsys, "samples", *files, "--claim", "zero-concentrated:0.01")[0] == 1
    arrays = [str(tmp_path / f"{name}.npy") for name in "ab"]
    for i, name in enumerate(arrays):
        np.save(name, np.full((1_000, 2), i))
    assert call(capsys, "samples", *arrays, "--epsilon", "1")[0] == 1


def test_samples_refuse_bad_input(capsys: Any, tmp_path: Path) -> None:
    files = recorded(tmp_path, 1.0)
    (tmp_path / "bare").mkdir()
    bare = recorded(tmp_path / "bare", 1.0, header="")
    np.save(tmp_path / "wide.npy", np.zeros((100, 3)))
    (tmp_path / "texts.csv").write_text("output\n" + "yes\n" * 100)
    for words, message in [
        ((files[0], files[0]), "NEIGHBOUR_FILE must be another file than FILE"),
        ((files[0], bare[1]), "must name its columns"),
        ((files[0], str(tmp_path / "none.csv")), "NEIGHBOUR_FILE must be a file that is there"),
        ((str(tmp_path / "none.csv"), files[1]), "FILE must be a file that is there"),
        ((files[0], str(tmp_path / "none.csv")), "must be a file that is there"),
        ((files[0], str(tmp_path / "texts.csv")), "outputs are numbers, and neighbour_outputs are texts"),
        (
            (files[0], str(tmp_path / "wide.npy")),
            "neighbour_outputs are arrays of shape (3,)",
        ),
        ((files[0],), "Missing argument 'NEIGHBOUR_FILE'"),
        ((*files, "--claim", "gaussian:1"), "--epsilon must be left out where --claim is given"),
    ]:
        status, _, err = call(capsys, "samples", *words, "--epsilon", "1")
        assert status == 2
        assert message in " ".join(err.split())
