"""The words of reports and of the help, each with its meaning; reports write them with a capital and a full stop."""

from __future__ import annotations

from dpaudit.bounds import POWER
from dpaudit.report.numbers import percent

_LOWER_BOUND = "a lower bound on ε from runs, at the stated confidence"
PROBABLY = f"with probability {percent(POWER)}"
VISIBLE = "if visible in the features looked at"
# The probability of detection of what is called detectable, and the leaks of which that is said.
OFTEN = f"{PROBABLY} {VISIBLE}"
# The note under tables that show the least that would be caught.
CATCHES = f"Would catch: {OFTEN}."
_POWER = f"least true ε found in {percent(POWER)} of audits by an event as likely as the one tested"

GLOSSARY = {
    "violation": "the claim is refuted, a witness shows it",
    "consistent": "nothing found, although a leak could have been seen; no proof",
    "no evidence": "nothing found, and nothing could have been: no statement",
    "holds": "of accuracy: the failure rate is at most what is allowed, on the cases tried",
    "undecided": "of accuracy: the interval contains what is allowed; more trials would decide",
    "vacuous": "of accuracy: the claim promises so little that keeping it is no merit",
    "not refuted": "of a sensitivity, or of the growth of n*: no case that was tried contradicts it",
    "accepted": "a violation that the settings of the project accept",
    "failed": "no finding: an audit raised",
    "incomplete": "no finding: an audit was planned and not run to its end",
    "caught": "of a control: an audit detected its leak",
    "missed": "of a control: no audit detected its leak, so that audits are blind to it",
    "epsilon": "ε, privacy loss: one record changes a probability by at most a factor e^ε",
    "delta": "δ, the probability by which that factor may be exceeded",
    "claim": "what the author promises: ε and δ, or of accuracy alpha and beta",
    "mechanism": "a randomised program: a learner, or any function of data and a generator",
    "neighbours": "two inputs that differ in one record, or as the claim says",
    "pair": "two neighbours, on which outputs should be nearly equally likely",
    "event": "a set of outputs whose probability is compared on both inputs of a pair",
    "witness": "the pair and the event that show a leak best, with their counts",
    "exact": "computed from the output law, the worst case over all pairs enumerated",
    "shows >=": _LOWER_BOUND,
    "found": _LOWER_BOUND,
    "power": _POWER,
    "would catch": _POWER,
    "blind zone": "from the claim to the power: a leak of this size goes undetected",
    "trials": "runs of the mechanism on each of the two inputs of a pair, of all pairs together",
    "control": "a mechanism with a planted fault: an audit that misses it is blind",
    "confidence": "a claim that is true is refuted with probability 1 - confidence at most",
    "relation": "what neighbours are: a record comes or goes (add-remove-one), or is replaced",
    "sensitivity": "the most by which one record moves a value before noise is added",
    "canary": "a record put into a training to be found again in what it releases",
    "certificate": "a file with a violation's pair, event and counts, to check or run again",
    "fails": "of accuracy: the error exceeds alpha; beta is how often it may",
}
# The meaning of each exit status, by its number.
STATUSES = (
    "no violation",
    "a violation or a missed control",
    "bad input, a fault, no result",
    "no evidence or undecided",
)
# The words on the page of one finding.
OF_ONE = ("epsilon", "delta", "neighbours", "claim", "found", "would catch", "violation", "witness")
# The words in the report of a whole run.
OF_RUNS = (*OF_ONE, "mechanism", "exact", "blind zone", "consistent", "no evidence", "control", "fails")


def meanings(words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return words with their meanings, in the order of the glossary."""
    return [(word, text) for word, text in GLOSSARY.items() if word in words]
