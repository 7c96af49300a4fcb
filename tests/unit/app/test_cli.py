"""The command line: what it prints, where, and its exit status."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import click
import pytest
from cli_support import TOYS, call, called, instant_privacy, repeat_in, verb  # noqa: F401  # acts by being here

from dpaudit import app, registry
from dpaudit.app.application import COMMANDS
from dpaudit.app.options import SUFFIXES
from dpaudit.report.glossary import GLOSSARY


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("words", ["{} --help", "{} -h", "help {}"])
def test_every_verb_has_help_with_an_example_and_the_status(capsys, command, words):
    status, text, err = called(capsys, *words.format(command).split(), joined=False)
    assert (status, err) == (0, "")
    assert text.startswith(f"Usage: dpaudit {command} ")
    assert "Exit status: 0 no violation, 1 a violation or a missed control,\n" in text
    assert f"Example:\n  {verb(command).example}\n" in text


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_alone_dpaudit_shows_what_there_is(capsys, words):
    status, text, err = called(capsys, *words, joined=False)
    assert (status, err) == (0, "")
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 80


def test_the_words_of_verdicts_are_explained(capsys):
    text = called(capsys, "help", "words")[1]
    assert [line.split("  ")[1] for line in text.splitlines()] == list(GLOSSARY)
    assert max(map(len, text.splitlines())) <= 100
    assert called(capsys, "help", "no-evidence")[1].startswith("  no evidence  nothing found, and nothing could")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_its_default(name):
    for option in verb(name).params:
        assert isinstance(option, click.Argument) or "default" in option.help, option.opts


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_every_verb_parses(name):
    words = shlex.split(verb(name).example)
    assert words[:2] == ["dpaudit", name]
    assert verb(name).make_context(name, words[2:]).params


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(capsys, monkeypatch, shell):
    monkeypatch.setenv("_DPAUDIT_COMPLETE", f"{shell}_source")
    status, text, _ = called(capsys)
    assert status == 0
    assert f"_DPAUDIT_COMPLETE={shell}_complete" in text


def test_verbs_and_options_are_completed(capsys, monkeypatch):
    monkeypatch.setenv("_DPAUDIT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "dpaudit privacy --epsi")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert called(capsys)[:2] == (0, "plain,--epsilon\n")
    monkeypatch.setenv("COMP_WORDS", "dpaudit util")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert called(capsys)[1] == "plain,utility\n"


def test_list_shows_learners_and_hides_controls_unless_asked(capsys):
    status, out, err = call(capsys, "list")
    assert status == 0
    assert re.search(r"^toy-coin +pure +gain +Say the last example's label", out, re.M)
    assert re.search(r"^toy-bare +none", out, re.M)
    assert "broken-toy-open" not in out
    assert err == ""
    _, out, _ = call(capsys, "list", "--all")
    assert re.search(r"^broken-toy-open +pure +gain +leaks on purpose: it leaks twice its claim$", out, re.M)


def test_list_as_json(capsys):
    _, out, _ = call(capsys, "list", "--all", "--json")
    rows = {row["id"]: row for row in json.loads(out)}
    assert rows["toy-coin"]["parameters"] == ["gain"]
    assert rows["toy-coin"]["instance"]["parameters"] == {"gain": 3.0}
    assert rows["broken-toy-open"]["fault"] == "it leaks twice its claim"


def test_a_module_that_does_not_load_does_not_break_list_but_breaks_an_audit_of_it(capsys, tmp_path):
    (tmp_path / "bad.py").write_text("import no_such_module_at_all\n")
    assert app.main(["list", "--learners", str(tmp_path)]) == 2  # the user named it
    out, err = capsys.readouterr()
    assert "dpaudit: warning: " in err
    assert out.startswith("id ")
    assert app.main(["run", "--learners", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "no_such_module_at_all" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("id = 'toy-part'; instance = Instance({}, 1)", "Part lacks privacy, domain, concepts, run, decode"),
        ("instance = Instance({}, 1)", "Part lacks id, privacy, domain, concepts, run, decode"),
        ("id = 'toy-part'", "Part lacks instance, privacy, domain, concepts, run, decode"),
    ],
)
def test_a_learner_that_lacks_a_part_is_refused_with_its_name_and_the_part(capsys, tmp_path, body, words):
    text = f"from dpaudit.contract import Instance\nclass Part:\n    {body}\nLEARNERS = (Part,)\n"
    (tmp_path / "part.py").write_text(text)
    assert app.main(["exact", "toy-part", "--learners", str(tmp_path / "part.py")]) == 2
    line, _ = capsys.readouterr().err.splitlines()
    assert line == f"BAD INPUT    {tmp_path / 'part.py'}: {words}"


def test_python_m_works(capsys):
    module = subprocess.run([sys.executable, "-m", "dpaudit", "list"], capture_output=True, text=True, timeout=60)
    assert (module.returncode, module.stdout) == called(capsys, "list", joined=False)[:2]


@pytest.mark.parametrize("words", [["--help"], ["utility", "--help"], ["--version"]])
def test_help_loads_no_more_than_the_grammar(words):
    code = (
        "import sys; from dpaudit.app import main\n"
        f"main({words})\n"
        "heavy = {'numpy', 'msgspec', 'dataclasses', 'rich', 'dpaudit.contract', 'dpaudit.evidence'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stderr, "dpaudit" in done.stdout) == ("[]\n", True)


def test_exact_of_an_honest_learner(capsys):
    status, out, err = call(capsys, "exact", "toy-coin")
    assert status == 0
    assert re.search(r"^CONSISTENT +toy-coin claims epsilon = 3, has 3.00 \(exact\)$", out, re.M)
    assert re.search(r"^covers +", out, re.M)
    assert "note: gain = 3.0 taken from the example of toy-coin" in err
    assert "note: n = 1 taken from the example" in err


def test_exact_of_a_liar_is_a_violation(capsys):
    status, out, err = call(capsys, "exact", "toy-liar", "-p", "gain=2", "--n", "2")
    assert status == 1
    assert re.search(r"^VIOLATION +toy-liar claims epsilon = ", out, re.M)
    assert "-p gain=2" in out
    assert err == ""


@pytest.mark.parametrize(
    "words",
    [
        ("exact", "toy-liar"),
        ("exact", "toy-coin", "--crafted", "--n", "3", "--relation", "add-remove-one"),
        ("privacy", "toy-coin", "--epsilon", "0.5", "--trials", "100"),
        ("utility", "toy-coin", "--trials", "50", "--alpha", "0.2"),
        ("utility", "toy-coin", "--trials", "50", "--distribution", "uniform", "--concept", "1", "--n", "4"),
        ("utility", "toy-coin", "--trials", "50", "--setting", "agnostic", "--n", "6"),
        (
            "utility",
            "toy-coin",
            "--trials",
            "9",
            "--setting",
            "agnostic",
            "--n",
            "6",
            "--noise",
            ".1",
            "--distribution",
            "uniform",
        ),
        ("utility", "point-consistent", "--trials", "20", "--setting", "all"),
    ],
)
def test_the_command_that_is_printed_repeats_the_audit(capsys, words):
    status, out, _ = call(capsys, *words)
    assert called(capsys, *repeat_in(out)) == (status, out, "")


def test_privacy_tests_the_claim_or_the_user_s_own(capsys):
    status, out, _ = call(capsys, "privacy", "toy-coin", "--trials", "100")
    assert status == 0
    assert re.search(r"^CONSISTENT +toy-coin claims epsilon = 3, shows >= 1.51$", out, re.M)
    status, out, _ = call(capsys, "privacy", "toy-coin", "--epsilon", "0.5")
    assert status == 1
    assert "note         this claim was given; the learner's own is epsilon = 3" in out


def test_utility_shows_each_hard_case_and_shares_the_confidence(capsys):
    status, out, _ = call(capsys, "utility", "toy-coin", "--trials", "200", "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert len(records) > 1
    assert sum(1 - record["finding"]["confidence"] for record in records) == pytest.approx(0.001)
    assert {record["finding"]["verdict"] for record in records} == {"holds"}


def test_a_learner_from_a_path_travels_to_worker_processes(capsys):
    words = ("utility", "toy-coin", "--distribution", "0", "--trials", "200", "--json", "--quiet")
    assert call(capsys, *words, "--jobs", "2") == call(capsys, *words)


def test_utility_says_the_setting_of_every_claim(capsys):
    _, out, _ = call(capsys, "utility", "point-consistent", "--trials", "60", "--setting", "all", "-v")
    cases = re.findall(r"of 60 runs had (.*) \(.* sure\): .*, (\d+ examples? \(.*\))$", out, re.M)
    assert {"24 examples (realizable)": "error > 0.1", "1 example (empirical)": "error on the sample > 0.1"} == {
        n: failure for failure, n in cases
    }
    _, out, _ = call(capsys, "utility", "toy-coin", "--setting", "agnostic", "--n", "9", "--trials", "20", "-v")
    assert "runs had error - the best concept's > 0.3" in out
    assert "9 examples (agnostic)" in out
    assert "the best concept's error is 0.3000" in out


def test_utility_of_a_learner_that_fails_too_often_is_a_violation(capsys):
    # gain 0 is a fair coin: it fails on half of the samples. Pr[lower limit <= 0.1 | 400 trials] < 1e-40.
    words = ("utility", "toy-coin", "-p", "gain=0", "--beta", "0.1", "--distribution", "0", "--trials", "400")
    status, out, _ = call(capsys, *words)
    assert status == 1
    assert re.search(r"^VIOLATION +toy-coin fails in \S+ % of runs, 10.0 % allowed$", out, re.M)


@pytest.mark.parametrize(
    ("learner", "n", "status", "verdict", "silent"),
    [
        ("toy-coin", "7", 0, "TESTED", "; this refutes nothing, the theorem asks for n = 8"),
        ("toy-coin", "8", 1, "VIOLATION", ""),
        ("toy-coin", "9", 1, "VIOLATION", ""),
        ("toy-bare", "9", 0, "TESTED", "; this refutes nothing, no theorem of the learner promises this"),
    ],
)
def test_failures_accuse_only_where_the_theorem_promises_success(capsys, learner, n, status, verdict, silent):
    # Both fail on at least half of the samples of the second constant. Pr[lower limit <= 0.1 | 400 trials] < 1e-40.
    gain = ("-p", "gain=0") if learner == "toy-coin" else ()
    words = ("--n", n, "--alpha", "0.3", "--beta", "0.1", "--distribution", "uniform", "--concept", "1")
    found, out, _ = call(capsys, "utility", learner, *gain, *words, "--trials", "400", "-v")
    assert found == status
    line, case = re.fullmatch(r"(.*?)\s+because\s+(.*?)\s+repeat .*", " ".join(out.split())).groups()
    assert re.fullmatch(rf"{verdict} {learner} fails in [\d.]+ % of runs, 10.0 % allowed{silent}", line)
    assert re.search(rf"of 400 runs had error > 0.3 .* {n} examples \(realizable\)$", case)
    assert ("VIOLATION" in out) == bool(status)


def test_json_holds_the_finding_and_the_command(capsys):
    status, out, _ = call(capsys, "exact", "toy-liar", "--json")
    record = json.loads(out)
    assert status == 1
    assert record["finding"]["verdict"] == "violation"
    assert record["command"].startswith("dpaudit exact toy-liar -p gain=3.0 --n 1")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("exact", "toy-coyn"), "there is no learner 'toy-coyn'; did you mean toy-coin"),
        (("exact", "toy-coin", "-p", "gian=1"), "toy-coin has no parameter 'gian'; allowed: gain"),
        (("exact", "toy-coin", "-p", "gain"), "must be given as NAME=VALUE, got 'gain'"),
        (
            ("exact", "toy-coin", "--relation", "swap"),
            "--relation must be one of replace-one, add-remove-one, replace-private; got 'swap'",
        ),
        (("exact", "toy-coin", "--n", "0"), "--n must be an integer >= 1, got 0"),
        (("exact", "toy-bare"), "learner 'toy-bare' has no law(sample), which the exact audit needs"),
        (("utility", "toy-coin", "--setting", "empirical"), "no theorem on its sample size in the setting 'empirical'"),
        (
            ("utility", "toy-coin", "--noise", "0.1"),
            "--noise must be left out in every setting but 'agnostic'; got 0.1",
        ),
        (("utility", "toy-coin", "--setting", "solution", "--n", "3"), "'toy-coin', which has no method solves"),
        (("utility", "toy-coin", "--distribution", "gauss"), "--distribution must be uniform, all, or the number"),
        (("utility", "toy-coin", "--distribution", "99"), "hard case 0.."),
        (("utility", "toy-coin", "--alpha", "2"), "--alpha must be in (0, 1), got 2.0"),
        (("run", "toy-coyn"), "did you mean toy-coin"),
        (("run", "toy-coin", "--seed", "-1"), "--seed must be a non-negative integer, got -1"),
        (("run", "toy-coin", "--confidence", "2"), "--confidence must be in (0.5, 1), got 2.0"),
        (("run", "toy-bare"), "nothing to audit"),
        (("report", "no/such/run"), "there is no run at 'no/such/run'"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = call(capsys, *words)
    line, help_ = [line for line in err.splitlines() if not line.startswith("dpaudit: note: ")]
    assert (status, out) == (2, "")
    assert line.startswith("BAD INPUT    ")
    assert help_ == f"help         dpaudit help {words[0]}"
    assert message in line
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fly", "there is no command 'fly'; there are new, privacy, check, diff, report, list, run, "),
        ("privcy mean.py:mean", "there is no command 'privcy'; did you mean privacy?"),
        ("mean.py:mean", "a mechanism is audited by: dpaudit privacy mean.py:mean --epsilon 1"),
        ("privacy", "example      dpaudit privacy mean.py:mean --epsilon 1"),
        ("privacy mean.py:mean --epsilom 1", "No such option"),
        ("privacy mean.py:mean --epsilom 1", "--epsilon"),
        ("privacy mean.py:mean --epsilon one", "Invalid value for '--epsilon': 'one' is not a valid float"),
        ("privacy mean.py:mean --trials many", "'--trials': must be a whole number, such as 20000 or 1e5; got 'many'"),
        ("privacy mean.py:mean --trials 1.5", "'--trials': must be a whole number, such as 20000 or 1e5; got '1.5'"),
        ("privacy mean.py:mean --epsilon", "Option '--epsilon' requires an argument"),
        ("privacy mean.py:mean other.py:mean", "Got unexpected extra argument (other.py:mean)"),
        ("run --jobs 0", "'--jobs': must be a positive number of processes, or -1 for one a processor; got 0"),
        ("run --on ray", "--on must be one of loky, threading, sequential, dask; got 'ray'"),
        ("run --profile fast", "'fast' is not one of 'quick', 'default', 'full'"),
        ("exact", "Missing argument 'ID'"),
        ("report", "example      dpaudit report reports/latest --out report.html"),
        (
            "exact toy-coin --out report.pdf",
            f"--out must be a file that ends in {SUFFIXES}, got 'report.pdf'",
        ),
        ("exact toy-coin --out no/such/r.html", "--out must be a file in a folder that exists, got 'no/such/r.html'"),
        ("help privcy", "there is no help on 'privcy'; did you mean privacy"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_says_what_to_type_instead(capsys, words, message):
    status, out, err = called(capsys, *words.split(), *(("--learners", TOYS) if "toy-coin" in words else ()))
    assert (status, out) == (2, "")
    assert err.startswith("BAD INPUT    ")
    assert re.search(r"^help         dpaudit help", err, re.M)
    assert message in err


def test_a_defect_of_the_tool_is_status_2_and_never_1(capsys, monkeypatch):
    def fail(paths):
        raise ZeroDivisionError("defect\x1b[2J")

    monkeypatch.setattr(registry, "load", fail)
    assert app.main(["list"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.splitlines()[-1] == r"dpaudit: error: unexpected ZeroDivisionError: defect\x1b[2J"
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2", -2),
        ("1.0", 1.0),
        ("1e-3", 0.001),
        ("true", True),
        ("False", False),
        ("none", None),
        ("a=b", "a=b"),
    ],
)
def test_values_of_parameters(text, value):
    from dpaudit.app.audits import _parameter

    name, found = _parameter(f"x={text}")
    assert (name, found, type(found)) == ("x", value, type(value))


def test_a_reader_that_goes_away_changes_nothing_and_sees_no_traceback():
    shell = f"{shlex.quote(sys.executable)} -m dpaudit list --all --learners {shlex.quote(TOYS)}"
    done = subprocess.run(
        ["bash", "-c", f"({shell}; echo status $? >&2) | true"], capture_output=True, text=True, timeout=60
    )
    assert done.stderr.strip() == "status 0"
