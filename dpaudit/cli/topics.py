"""The help of the whole command line, and the words that its verdicts use."""

from __future__ import annotations

__all__ = ["VERBS", "WHOLE", "WORDS", "words_text"]

VERBS = {
    "privacy": "test a claim by running it: this refutes, never proves",
    "exact": "the true epsilon, if the output law is known",
    "supremum": "the greatest loss over samples of every size",
    "utility": "how often a learner fails, against what is promised",
    "sample-complexity": "how many examples a learner needs at worst",
    "scaling": "how that number grows with a parameter",
    "check": "all claims of a project; exit status 1 if one is broken",
    "diff": "what got worse between two checks or runs",
    "history": "the checks of a project",
    "new": "begin a mechanism or a learner, its test and its audit",
    "run": "all audits, controls included, and the report",
    "ledger": "what papers claim, what computation finds",
    "replay": "run the violation of a certificate again",
    "report": "show a stored run again: text, html, json",
    "verify": "that nothing in a stored run was changed",
    "list": "what can be audited",
    "completion": "what completes commands in bash, zsh or fish",
    "help": "this text; help COMMAND, help words",
}
"""Verb -> a line; each verb has a module in `dpaudit.cli.verbs`."""

WORDS = {
    "violation": "the claim is refuted, a witness shows it",
    "consistent": "nothing found, although a leak could have been seen; no proof",
    "no evidence": "nothing found, and nothing could have been: see the line `next`",
    "holds": "of accuracy: the failure rate is at most what is allowed, on the cases tried",
    "undecided": "of accuracy: the interval contains what is allowed; more trials would tell",
    "vacuous": "of accuracy: the claim promises next to nothing, so that it is no merit to keep it",
    "claim": "a promise of a mechanism: epsilon and delta, or alpha and beta",
    "pair": "two neighbouring inputs, on which outputs should be nearly equally likely",
    "event": "a set of outputs whose probability is compared on both inputs of a pair",
    "witness": "the pair and the event that show a leak best, with their counts",
    "shows >=": "a lower bound on epsilon: it may be more, and is less with at most the stated error",
    "power": "the least epsilon that this audit would have caught 19 times in 20",
    "exact": "the worst case over all pairs that were enumerated, with a proved error",
    "trials": "runs of the mechanism on each of the two inputs of a pair",
    "control": "a learner with a planted fault: an audit that misses it is blind",
}
"""Word -> its meaning in a line."""

_START = """\
dpaudit checks claims of differential privacy by running the code.

Start here
  dpaudit privacy FILE.py:function --epsilon 1    with the PAIRS beside it
  dpaudit new mechanism NAME        a file to begin with, its test and its audit
  dpaudit check                     every claim of this project, one table
  dpaudit help privacy              how to say what your neighbours are

Commands
{verbs}

Words
{words}

Exit status: 0 no violation, 1 a violation or a missed control,
             2 bad input, a fault or a missing result, 3 no evidence
More: dpaudit help COMMAND, dpaudit help words
"""
_FIRST = ("violation", "consistent", "no evidence")


def _listed(texts: dict[str, str]) -> str:
    """Return names with their texts, aligned."""
    width = max(map(len, texts)) + 2
    return "\n".join(f"  {name.ljust(width)}{text}" for name, text in texts.items())


def words_text(chosen: dict[str, str]) -> str:
    """Return words with their meanings."""
    return _listed(chosen) + "\n"


WHOLE = _START.format(verbs=_listed(VERBS), words=_listed({word: WORDS[word] for word in _FIRST}))
