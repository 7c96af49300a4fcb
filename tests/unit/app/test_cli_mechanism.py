"""Auditing anybody's mechanism from the command line, and the options of the black-box audit."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import cli_support
import pytest
from cli_support import called, repeat_in
from forked import ran

from dpaudit.audit.parameters import Look
from dpaudit.errors import InputError
from dpaudit.neighbours.sources import pairs_at
from dpaudit.places import Place, importable

MODULE = """
import numpy as np
from hypothesis import strategies as st
from toy_learners import ToyCoin

PAIRS = [(0, 1)]
MORE = ((0, 1), (1, 0))
NONE = []
NUMBER = 3
STRATEGY = st.integers(0, 1).map(lambda bit: (bit, 1 - bit))
WORD = "ab"
TRIPLES = [(0, 1, 2)]
coin = ToyCoin(1.0)

class Space:
    @staticmethod
    def respond(bit, rng):
        return respond(bit, rng)

def make():
    return [(0, 1), (1, 0)]

def fails():
    raise ValueError("no data today")

def respond(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit

def batched(bit, rng, size):
    return np.where(rng.random(size) < 0.75, bit, 1 - bit)

def open_book(bit, rng):
    return bit

def counts(answers, rng, size):
    return answers + rng.laplace(scale=2.0, size=(size, len(answers)))

def quits(bit, rng):
    raise SystemExit(0)

def quits_at_once():
    raise SystemExit(0)

def counted(bit, rng, size):
    return np.zeros(size - 1)
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Stand in a folder with a module `mine` that no other test knows."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "bare.py").write_text("PAIR = [(0, 1)]\ndef respond(bit, rng):\n    return 0\ndef other(): ...\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "needs.py").write_text("import no_such_module_at_all\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(cli_support.TOYS).parent))
    return tmp_path


def call(capsys, *words):
    return called(capsys, "privacy", *words)


# Pr[answer = bit] = 3/4, so epsilon = ln 3 = 1.0986: with 4,000 runs a claim of 0.5 is refuted with probability above
# 1 - 1e-9, and one of 1.5 is accused with probability below 1e-9 (its excess would be 12 standard deviations).
REFUTED = ("--epsilon", "0.5", "--trials", "4000")
KEPT = ("--epsilon", "1.5", "--trials", "4000")


def test_a_function_that_leaks_more_is_convicted_and_one_that_does_not_is_not(capsys):
    status, out, err = call(capsys, "mine:respond", "--pairs", "mine:PAIRS", *REFUTED, "-v")
    assert (status, err) == (1, "")
    assert re.search(r"^VIOLATION +mine:respond claims epsilon = 0.5, shows >= 1.0\d \(99.9 % sure\)$", out, re.M)
    assert re.search(r"^claim +epsilon = 0.5, neighbours as given$", out, re.M)
    assert call(capsys, "mine:respond", "--pairs", "mine:PAIRS", *KEPT)[0] == 0


def test_the_block_tells_what_was_not_seen(capsys):
    _, out, _ = call(capsys, "mine:respond", "--pairs", "mine:MORE", "--epsilon", "1.1", "--trials", "4000", "-v")
    assert re.search(r"^power +any epsilon >= 1\.\d+ would be detected with probability 95 % if visible in", out, re.M)
    assert re.search(r"^frontier +least epsilon detected, by probability of the event: 0\.1: [12]\.\d+, ", out, re.M)
    assert re.search(r"^compared +pairs: 2 given; events: \d+; scores: histogram", out, re.M)
    assert re.search(r"^budget +runs on each side, all pairs together: [\d,]+ to compare the pairs", out, re.M)
    assert re.search(r"^errors +0\.001 in all: 0\.001 for the verdict(; \w+ events share the verdict's|$)", out, re.M)
    assert re.search(r"^coins +[\d,]+ of [\d,]+ coins guessed right", out, re.M)
    assert re.search(r"^holds +in whatever state earlier runs leave the mechanism$", out, re.M)
    assert not re.search(r"\bpass", out)


def test_the_sequential_design_tells_the_runs_used_of_those_allowed(capsys):
    status, out, _ = call(capsys, "mine:batched", "--batched", "--pairs", "mine:PAIRS", "--sequential", *REFUTED, "-v")
    used = re.search(r"^budget +([\d,]+) runs used of 8,000 allowed", out, re.M).group(1)
    assert status == 1
    assert 0 < int(used.replace(",", "")) < 8_000
    assert re.search(r"^errors +0\.001 in all: 0\.001 for the verdict$", out, re.M)
    assert re.search(r"^witness .*no single event: bets on", out, re.M)
    assert "None" not in out


def test_an_audit_goes_on_from_a_file(capsys, tmp_path):
    file = str(tmp_path / "runs.jsonl")
    words = ("mine:respond", "--pairs", "mine:PAIRS", "--epsilon", "0.9", "--continue", file)
    assert call(capsys, *words, "--trials", "60")[0] in (0, 3)
    status, out, _ = call(capsys, *words, "--trials", "20000")
    assert (status, "VIOLATION" in out) == (1, True)
    status, _, err = call(capsys, *words, "--trials", "20000", "--seed", "1")
    assert status == 2
    assert "--continue is of another audit: its seed is 0, not 1" in err


def test_a_slow_mechanism_is_bet_on_and_the_command_says_so(capsys, monkeypatch):
    monkeypatch.setattr("dpaudit.audit.request.SLOW_RUN", 0.0)
    status, out, _ = call(capsys, "mine:respond", "--pairs", "mine:PAIRS", *REFUTED, "-v")
    again = repeat_in(out)
    assert (status, "--sequential" in again) == (1, True)
    assert "runs used of" in out
    for words in (("--no-sequential",), ("--look", "curve"), ("--bound", "melded")):
        assert "runs used of" not in call(capsys, "mine:respond", "--pairs", "mine:PAIRS", *REFUTED, "-v", *words)[1]


def test_the_curve_is_told_with_its_own_confidence(capsys):
    _, out, _ = call(capsys, "mine:batched", "--batched", "--pairs", "mine:PAIRS", "--look", "curve", *KEPT, "-v")
    out = " ".join(out.split())
    line = re.search(r" curve delta >= (\S+) at epsilon = 0, .* at epsilon = 1.5; mu >= ", out)
    assert 0.4 < float(line.group(1)) < 0.5  # the truth is 1/2
    assert "with confidence 99.98 %, simultaneously for all epsilon" in out
    assert "0.0008 for the verdict, 0.0002 for the curve" in out


@pytest.mark.parametrize(
    "words",
    [
        ("mine:respond", "--pairs", "mine:make", *KEPT),
        ("mine:batched", "--batched", "--pairs", "mine:MORE", "--look", "curve,float-bits", "--delta", "0.1", *KEPT),
        ("mine:respond", "--pairs", "mine:PAIRS", "--sequential", "--confidence", "0.9", "--seed", "3", *KEPT),
        ("mine:respond", "--pairs", "mine:PAIRS", "--no-sequential", *KEPT),
        ("mine:coin", "--pairs", "crafted:1", "--trials", "500"),
        ("mine:coin", "--trials", "500", "--pairs", "random:3:2", "--seed", "5"),
        ("mine:respond", "--pairs", "mine:STRATEGY", *KEPT),
    ],
)
def test_the_command_that_is_printed_repeats_the_audit(capsys, words):
    status, out, _ = call(capsys, *words)
    assert called(capsys, *repeat_in(out))[:2] == (status, out)


def test_options_reach_the_audit(capsys, monkeypatch):
    seen = {}

    def audit(mechanism, pairs, **options):
        seen.update(options, pairs=pairs)
        raise InputError("enough")

    monkeypatch.setattr("dpaudit.evidence.perform.audit_privacy", audit)
    words = ("mine:batched", "--batched", "--pairs", "mine:PAIRS", "--epsilon", "1", "--trials", "100")
    off = {"look": Look(), "delta": None, "batched": True}
    assert call(capsys, *words)[0] == 2
    assert seen.items() >= {**off, "epsilon": 1.0, "trials": 100, "seed": 0, "n_jobs": 1}.items()
    assert seen["pairs"] == [(0, 1)]
    assert (seen["execution"].sequential, seen["execution"].backend) == (None, None)
    call(capsys, *words, "--delta", "0.05", "--look", "curve,float-bits", "--seed", "4", "--jobs", "2")
    on = {"look": Look(curve=True, float_bits=True), "delta": 0.05, "seed": 4, "n_jobs": 2}
    assert seen.items() >= on.items()
    call(capsys, *words, "--no-sequential")
    assert seen["execution"].sequential is False
    call(
        capsys,
        *words,
        "--sequential",
        "--continue",
        "runs.jsonl",
        "--relation",
        "add-remove-one",
        "--confidence",
        "0.9",
    )
    assert (seen["execution"].sequential, seen["execution"].continued) == (True, "runs.jsonl")
    assert seen.items() >= {"relation": "add-remove-one", "confidence": 0.9}.items()


def test_a_learner_object_brings_its_own_claim_and_pairs(capsys):
    status, out, _ = call(capsys, "mine:coin", "--pairs", "crafted:1", "--trials", "500", "--json")
    record = json.loads(out)
    assert status == 0
    assert record["claim"]["epsilon"] == record["finding"]["epsilon"] == 1.0
    assert record["finding"]["pairs"] > 1


def test_a_mechanism_of_the_current_directory_travels_to_worker_processes(tmp_path, capsys):
    # In a process of its own, whose worker processes end with it.
    words = ["privacy", "mine:Space.respond", "--pairs", "mine:PAIRS", *KEPT]
    env = {"PATH": "", "PYTHONPATH": cli_support.PYTHONPATH, "HOME": str(tmp_path)}
    done = ran("-m", "dpaudit", *words, "--jobs", "2", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert (0, done.stdout) == called(capsys, *words, joined=False)[:2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("bare.py:respond",),
            "--pairs must be given: bare.py has no PAIRS, a list of (data, neighbour) tuples (did you",
        ),
        (("bare.py:respond",), "(did you mean --pairs bare.py:PAIR?); such a list is given as --pairs FILE.py:NAME"),
        (("bare.py",), "the mechanism must be given as FILE.py:NAME or MODULE:NAME"),
        (("bare.py",), "; add the function, as bare.py:respond or bare.py:other"),
        (("bear.py:respond",), "there is no file 'bear.py'; did you mean bare.py"),
        (("bare.py:respondx",), "bare.py has no respondx; did you mean respond?"),
        (("broken.py:f",), "broken.py could not be loaded: ZeroDivisionError"),
        (("bare:respond",), "--pairs must be given: bare has no PAIRS"),
        (("mine:respond", "--pairs", "mine:PAIRS"), "--epsilon must be given"),
        (("nine:respond", "--pairs", "mine:PAIRS"), "there is no module 'nine', neither installed nor in the current"),
        (("mine.deep:respond", "--pairs", "mine:PAIRS"), "there is no module 'mine.deep'"),
        (("needs:respond", "--pairs", "mine:PAIRS"), "could not be loaded: No module named 'no_such_module_at_all'"),
        (("broken:f", "--pairs", "mine:PAIRS"), "broken could not be loaded: ZeroDivisionError"),
        (("leaves:f", "--pairs", "mine:PAIRS"), "leaves could not be loaded: SystemExit"),
        (("mine:respnd", "--pairs", "mine:PAIRS"), "mine has no respnd; did you mean respond?"),
        (("mine:Space.answer", "--pairs", "mine:PAIRS"), "mine has no Space.answer"),
        (
            (":respond", "--pairs", "mine:PAIRS"),
            "must be given as FILE.py:NAME or MODULE:NAME, such as mean.py:mean or",
        ),
        (("mine:", "--pairs", "mine:PAIRS"), "must be given as FILE.py:NAME or MODULE:NAME"),
        (("mine.txt:respond", "--pairs", "mine:PAIRS"), "there is no module 'mine.txt'"),
        (("my/mine:respond", "--pairs", "mine:PAIRS"), "must be given as FILE.py:NAME or MODULE:NAME"),
        (("mine:NUMBER", "--pairs", "mine:PAIRS"), "mine:NUMBER must be a function (data, rng) -> output, got 3"),
        (
            ("mine:batched", "--pairs", "mine:PAIRS", "--epsilon", "1"),
            "mechanism must take (data, rng); batched(bit, rng, size) also needs size: fix it, as functools.partial(",
        ),
        (
            ("mine:respond", "--pairs", "mine:PAIRS", "--epsilon", "1", "--batched"),
            "mechanism must take (data, rng, size) if batched; respond(bit, rng) does not: it has no parameter for the",
        ),
        (("mine:ToyCoin",), "mine:ToyCoin must be a learner, not its class"),
        (("mine:ToyCoin", "--pairs", "mine:PAIRS"), "build ToyCoin with its parameters first"),
        (("mine:quits", "--pairs", "mine:PAIRS", "--epsilon", "1"), "the mechanism quits raised SystemExit: 0 ("),
        (("mine:respond", "--pairs", "mine:quits_at_once"), "mine:quits_at_once() failed: SystemExit: 0"),
        (("mine:counted", "--pairs", "mine:PAIRS", "--batched", "--epsilon", "1"), "was asked for 32 outputs"),
        (("mine:respond", "--pairs", "PAIRS"), "--pairs must be given as FILE.py:NAME"),
        (("mine:respond", "--pairs", "mine:PEARS"), "mine has no PEARS; did you mean PAIRS"),
        (("mine:respond", "--pairs", "mine:NUMBER"), "must be a list of (data, neighbour) tuples or a callable"),
        (("mine:respond", "--pairs", "mine:WORD"), "must be a list of (data, neighbour) tuples, got 'ab'"),
        (("mine:respond", "--pairs", "mine:fails"), "mine:fails() failed: ValueError: no data today"),
        (("mine:respond", "--pairs", "mine:NONE", "--epsilon", "1"), "--pairs must hold at least one"),
        (("mine:respond", "--pairs", "mine:TRIPLES", "--epsilon", "1"), "pair 0 must be a tuple (data, neighbour)"),
        (("mine:respond", "--pairs", "mine:PAIRS", "-p", "x=1"), "-p is for learners of the registry"),
        (("mine:respond", "--pairs", "crafted:3", "--epsilon", "1"), "the mechanism given is no learner"),
        (
            ("mine:respond", "--pairs", "mine:PAIRS", "--epsilon", "-1"),
            "--epsilon must be a finite number >= 0, got -1.0",
        ),
        (("toy-coin", "--pairs", "mine:PAIRS"), "--pairs and --batched are for FILE.py:function"),
        (("toy-coin", "--batched"), "--pairs and --batched are for FILE.py:function"),
        (
            ("mine:respond", "--pairs", "random:3", "--epsilon", "1"),
            "--pairs random:3 are drawn over a learner's domain; the mechanism given is no learner",
        ),
        (("mine:coin", "--pairs", "patterns:3"), "a learner takes samples, as of random:COUNT"),
        (("mine:counts", "--pairs", "patterns:0", "--batched", "--epsilon", "1"), "dimension must be an integer >= 1"),
        (("mine:respond", "--pairs", "patterns:x"), "there is no module 'patterns'"),
        (("mine:respond", "--epsilon", "1", "--sequential", "--look", "curve"), "so it takes no --look curve"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, words, message):
    status, out, err = call(capsys, *words)
    line, *more = err.splitlines()
    assert (status, out) == (2, "")
    assert more == ["help         dpaudit help privacy"]
    assert line.startswith("BAD INPUT    ")
    assert message in line


def test_patterns_of_query_answers_are_pairs(capsys):
    # One record moves all four answers: epsilon is 2; 0.6 is more than five standard errors away.
    words = ("mine:counts", "--batched", "--pairs", "patterns:4", "--trials", "10000", "-v")
    status, out, _ = call(capsys, *words, "--epsilon", "0.6")
    assert status == 1
    assert re.search(r"^compared +pairs: 8 pattern;", out, re.M)


def test_random_samples_are_pairs_of_a_learner(capsys):
    learners = cli_support.TOYS
    words = ("toy-coin", "-p", "gain=1", "--trials", "1500", "--learners", learners, "--pairs", "random:4:2")
    status, out, err = call(capsys, *words, "-v")
    assert (status, err) == (0, "")
    assert re.search(r"^compared +pairs: \d random;", out, re.M)
    assert "random:4:2" in repeat_in(out)
    assert called(capsys, *repeat_in(out), "-v")[:2] == (0, out)
    record = json.loads(call(capsys, *words, "--json")[1])
    assert (record["arguments"]["pairs"], record["arguments"]["n"]) == ("random:4", 2)


def test_the_path_of_python_is_as_before(capsys):
    before = list(sys.path)
    call(capsys, "mine:respond", "--pairs", "mine:PAIRS", *KEPT)
    call(capsys, "nine:respond", "--pairs", "mine:PAIRS", *KEPT)
    assert sys.path == before


def test_objects_and_pairs_are_found_by_dotted_names(here):
    with importable(str(here)):
        assert Place.parse("it", "mine:Space.respond").find()(1, _Half()) == 1
        assert pairs_at(Place.parse("--pairs", "mine:make")) == [(0, 1), (1, 0)]
        assert pairs_at(Place.parse("--pairs", "mine.py:MORE")) == [(0, 1), (1, 0)]
        with pytest.raises(InputError, match=r"it must be given as FILE\.py:NAME or MODULE:NAME"):
            Place.parse("it", "mine:Space..respond")


@pytest.mark.parametrize(
    ("text", "source", "name"),
    [
        ("C:\\audits\\mean.py:mean", "C:\\audits\\mean.py", "mean"),
        ("C:/audits/mean.py:Space.mean", "C:/audits/mean.py", "Space.mean"),
        ("my audits/mean value.py:mean", "my audits/mean value.py", "mean"),
        ("../mean.py:mean", "../mean.py", "mean"),
        ("package.module:name", "package.module", "name"),
    ],
)
def test_the_last_colon_parts_the_file_from_the_name(text, source, name):
    place = Place.parse("it", text)
    assert (place.source, place.name) == (source, name)
    assert place.is_file == (".py" in text)


BESIDE = """
import beside

PAIRS = [(0, 1)]

class Answer:
    def __init__(self, bit):
        self.bit = bit

def respond(bit, rng):
    return bit if rng.random() < beside.TRUTH else 1 - bit

def wrapped(bit, rng):
    return Answer(respond(bit, rng)).bit
"""


@pytest.mark.parametrize(
    ("name", "relative"), [("random.py", True), ("1st file.py", False)]
)
@pytest.mark.full  # a module of the current directory travels in every profile
def test_a_file_is_named_by_its_path_and_travels_to_worker_processes(tmp_path, name, relative):
    # `random` is a module of Python's own, and the other is no name of a module.
    folder = tmp_path / "some where"
    folder.mkdir()
    (folder / name).write_text(BESIDE)
    (folder / "beside.py").write_text("TRUTH = 0.75\n")
    place = f"some where/{name}:wrapped" if relative else f"{folder / name}:wrapped"
    env = {"PATH": "", "PYTHONPATH": cli_support.PYTHONPATH, "HOME": str(tmp_path)}
    done = ran("-m", "dpaudit", "privacy", place, *REFUTED, "--jobs", "2", "--json", cwd=tmp_path, env=env)
    assert done.returncode == 1, done.stderr
    record = json.loads(done.stdout)
    assert record["arguments"]["pairs"] == place.replace(":wrapped", ":PAIRS")


class _Half:
    def random(self):
        return 0.5


def test_a_learner_takes_the_new_options_too(capsys):
    learners = cli_support.TOYS
    words = ("toy-coin", "-p", "gain=1", "--pairs", "crafted:1", "--trials", "4000", "--learners", learners)
    status, out, _ = call(capsys, *words, "--look", "curve", "-v")
    assert status == 0
    assert re.search(r"^curve +delta >= ", out, re.M)
    assert "--look curve" in re.search(r"^repeat .*$", out, re.M).group()
    status, out, _ = call(capsys, *words, "--sequential", "-v")
    assert status == 0
    assert "runs used of" in out


def test_the_example_of_the_repository_works(capsys, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    for function, more in (("respond", ()), ("respond_batched", ("--batched",))):
        words = (f"examples.randomised_response:{function}", "--pairs", "examples.randomised_response:PAIRS", *more)
        status, _, err = call(capsys, *words, *KEPT)
        assert (status, err) == (0, "")
        assert call(capsys, *words, *REFUTED)[0] == 1
