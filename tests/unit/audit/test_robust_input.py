"""Mechanisms that raise, print or return what nobody can use, and arguments that make no sense: one clear line each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest
from cli_support import TOYS

import dpaudit
from dpaudit.app import main
from dpaudit.audit.checks_and_gaps import Identical
from dpaudit.contract import Pair
from dpaudit.errors import InputError, blamed
from dpaudit.neighbours.check import check_samples
from dpaudit.registry import load
from dpaudit.running.workers import spread


def respond(bit, rng):
    return bit if rng.random() < 0.75 else 1 - bit


def oops(bit, rng, size):
    raise RuntimeError("oops")


def locks(bit, rng):
    return threading.Lock()


class Hypothesis:
    __hash__ = None

    def predict(self, points):
        return np.zeros(len(points))


audit = partial(dpaudit.audit_privacy, epsilon=1.0, trials=1000)
RAISED = r"the mechanism oops raised RuntimeError: oops \(.*test_robust_input\.py, line \d+\)"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_batched_mechanism_raises_is_told_with_its_name_and_line(n_jobs):
    with pytest.raises(InputError, match=RAISED):
        audit(oops, [(0, 1)], batched=True, n_jobs=n_jobs, execution=dpaudit.Execution(backend="threading"))


def test_an_exit_of_an_unbatched_mechanism_is_no_output():
    with pytest.raises(InputError, match=r"the mechanism .* raised SystemExit: 3"):
        audit(lambda bit, rng: sys.exit(3), [(0, 1)])


def test_errors_of_dpaudit_pass_as_they_are():
    with pytest.raises(InputError, match=r"^mine$"), blamed("it"):
        raise InputError("mine")
    with pytest.raises(KeyboardInterrupt), blamed("it"):
        raise KeyboardInterrupt


@pytest.mark.parametrize("command", ["privacy", "utility", "exact"])
def test_a_learner_that_raises_is_one_line(capsys, tmp_path, command):
    body = "class Bad(ToyCoin):\n    id = 'toy-bad'\n    def run(self, sample, rng, size): raise RuntimeError('oops')\n"
    body += "    def law(self, sample): raise RuntimeError('oops')\n"
    (tmp_path / "bad.py").write_text(f"from toy_learners import ToyCoin\n{body}LEARNERS = (Bad,)\n")
    assert main([command, "toy-bad", "--learners", str(tmp_path / "bad.py")]) == 2
    line, help_ = capsys.readouterr().err.splitlines()  # and no note of what was taken from the example
    assert help_ == f"help         dpaudit help {command}"
    assert "toy-bad" in line
    assert "raised RuntimeError: oops (" in line
    assert line.endswith(f"bad.py, line {5 if command == 'exact' else 4})")


@pytest.mark.parametrize("thing", ["output", "data"])
def test_what_cannot_travel_between_processes_is_told(thing):
    mechanism, pairs = (locks, [(0, 1)]) if thing == "output" else (respond, [(threading.Lock(), 1)])
    calls = [partial(mechanism, pairs[0][0], np.random.default_rng(0))] * 2
    words = r"cannot be sent: (TypeError: )?cannot pickle '_thread.lock' object; use n_jobs=1"
    words = words if thing == "data" else "an output of type lock cannot be taken apart"
    with pytest.raises(InputError, match=words):
        list(spread(calls, n_jobs=2))


@pytest.mark.full  # functions travel to workers in `unit/app/test_cli_mechanism.py` and in the cluster's tests
def test_a_function_of_a_script_that_names_dpaudit_travels():
    script = (
        "import dpaudit\n"
        "def mechanism(data, rng):\n"
        "    assert dpaudit.__version__\n"
        "    return int(rng.random() < data)\n"
        "finding = dpaudit.audit_privacy(mechanism, [(0.2, 0.8)], epsilon=1, trials=4000, n_jobs=2)\n"
        "print(finding.epsilon_lower > 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_type_error_that_is_not_of_pickle_passes():
    with pytest.raises(TypeError, match="unsupported operand"):
        list(spread([lambda: 1 + None], n_jobs=2, backend="threading"))


LEARNER = load((TOYS,)).get("toy-coin").build(gain=1.0)


@pytest.mark.parametrize("pairs", [[(0, 1)], [([1, 2], [1, 3])], [([], [])]])
def test_a_learner_wants_samples(pairs):
    with pytest.raises(InputError, match=r"pair 0 must hold samples.*learner\.domain\.sample\(points, labels\)"):
        dpaudit.audit_privacy(LEARNER, pairs, trials=1000)


def test_the_side_that_is_no_sample_is_named():
    sample = LEARNER.domain.sample([(0,)], [1])
    with pytest.raises(InputError, match=r"pair 1 must hold samples.*its neighbour is 3"):
        check_samples([Pair(sample, sample, "x"), Pair(sample, 3, "x")])


@pytest.mark.parametrize("call", [lambda p: p.run([], np.random.default_rng(0), 1), lambda p: p.law([])])
def test_a_reference_learner_says_how_samples_are_built(call):
    parity = dpaudit.pac.get_learner("parity-private", dimension=2, epsilon=1.0)
    with pytest.raises(InputError, match=r"sample must be built with learner\.domain\.sample\(points, labels\), got"):
        call(parity)


@pytest.mark.parametrize(
    ("mechanism", "pairs", "options", "words"),
    [
        (lambda bit, rng: Hypothesis(), [(0, 1)], {}, "or give probe=points, to compare hypotheses"),
    ],
)
def test_what_makes_no_sense_is_refused(mechanism, pairs, options, words):
    with pytest.raises(InputError, match=words):
        audit(mechanism, pairs, **options)


def test_what_is_no_hypothesis_is_refused_without_a_word_of_probes():
    with pytest.raises(InputError) as caught:
        audit(lambda bit, rng: object(), [(0, 1)])
    assert "probe" not in str(caught.value)


MINE = """
PAIRS = [(0, 1)]
print("imported")
def talkative(bit, rng):
    print("hello")
    return bit if rng.random() < 0.75 else 1 - bit
def dies(bit, rng):
    import os
    if rng.random() < 0.001:
        os._exit(3)
    return bit
"""


def command(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "dpaudit", *words], cwd=folder, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(dpaudit.__file__))}
    )  # fmt: skip


TALKATIVE = ["privacy", "mine:talkative", "--pairs", "mine:PAIRS", "--epsilon", "2", "--trials", "2000", "--json"]


def test_what_a_mechanism_prints_does_not_break_the_json(tmp_path, monkeypatch, capfd):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    assert main(TALKATIVE) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["finding"]["verdict"] == "consistent"
    assert {"hello", "imported"} <= set(err.split())


@pytest.mark.full  # without workers in every profile
def test_what_a_mechanism_prints_in_workers_does_not_break_the_json(tmp_path):
    # What the import prints in a worker, before any call, is not ours to redirect.
    (tmp_path / "mine.py").write_text(MINE.replace("print", "str", 1))
    done = command(tmp_path, *TALKATIVE, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["finding"]["verdict"] == "consistent"
    assert "hello" in done.stderr.split()


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.full)])
def test_a_mechanism_that_kills_its_worker_is_one_line(tmp_path, jobs):
    (tmp_path / "mine.py").write_text(MINE)
    words = ["mine:dies", "--pairs", "mine:PAIRS", "--epsilon", "2", "--jobs", jobs]
    done = command(tmp_path, "privacy", *words)
    assert done.returncode == 2
    told = done.stderr.splitlines()[-1]
    assert told.startswith("dpaudit: error: the mechanism dies ended its process (exit status 3), on ")
    assert "Traceback" not in done.stderr


def test_a_package_that_hides_the_learners_is_named(tmp_path):
    hiding = tmp_path / "dpaudit_learners"
    hiding.mkdir()
    (hiding / "__init__.py").write_text("")
    done = command(tmp_path, "list")
    assert done.returncode == 0
    warning = f"Python found dpaudit_learners at {hiding / '__init__.py'}, which may hide the installed package"
    assert warning in done.stderr


@pytest.mark.parametrize(("text", "words"), [("x = 1\n", "neither a tuple LEARNERS nor"), ("def f(:\n", "SyntaxError")])
def test_a_file_that_offers_nothing_is_told_and_status_2(capsys, tmp_path, text, words):
    (tmp_path / "mine.py").write_text(text)
    for begin in (["list"], ["exact", "toy-coin", "--learners", TOYS]):
        assert main([*begin, "--learners", str(tmp_path / "mine.py")]) == 2
        assert words in capsys.readouterr().err


def test_a_file_of_a_folder_that_is_given_too_offers_what_it_holds(capsys):
    assert main(["list", "--learners", os.path.dirname(TOYS) + "/toy_learners.py", "--learners", TOYS]) == 0
    assert capsys.readouterr().err == ""


def test_a_parameter_given_twice_is_refused(capsys):
    assert main(["exact", "toy-coin", "-p", "gain=1", "-p", "gain=2", "--learners", TOYS]) == 2
    line, _ = capsys.readouterr().err.splitlines()
    assert line == "BAD INPUT    -p must be given once for each parameter; got gain more than once"


@pytest.mark.parametrize(("text", "trials"), [("1e3", 1000), ("2000.0", 2000), ("15e2", 1500)])
def test_numbers_of_trials_may_be_written_with_an_exponent(capsys, text, trials):
    words = ["privacy", "toy-coin", "-p", "gain=1", "--epsilon", "3", "--json", "--learners", TOYS]
    assert main([*words, "--allow-no-evidence", "--trials", text]) == 0
    assert json.loads(capsys.readouterr().out)["finding"]["trials"] == trials


@pytest.mark.parametrize("text", ["1.5", "many", "nan", "inf", "1e999"])
def test_numbers_of_trials_are_whole(capsys, text):
    assert main(["privacy", "toy-coin", "--trials", text]) == 2
    assert f"must be a whole number, such as 20000 or 1e5; got {text!r}" in capsys.readouterr().err


def test_the_example_s_values_are_told_with_the_result(capsys):
    assert main(["exact", "toy-coin", "--learners", TOYS]) == 0
    assert "taken from the example of toy-coin" in capsys.readouterr().err


def test_pairs_of_equal_inputs_are_warned_of_and_no_evidence_if_all_are() -> None:
    finding = dpaudit.audit_privacy(respond, [(0, 0), (1, 1)], epsilon=1.0, trials=2_000)
    assert (finding.verdict, finding.gaps) == ("no evidence", (Identical(2),))
    assert len([text for text in finding.warnings if "both inputs are the same" in text]) == 2
