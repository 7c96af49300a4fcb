"""The words of the field that the pages use, each in a sentence or two."""

from __future__ import annotations

__all__ = ["FEW", "WORDS"]

WORDS = (
    ("ε (epsilon)", "the privacy loss: one person's data changes the chance of any answer by a factor of at most e^ε. "
     "Smaller is more private."),
    ("δ (delta)", "the chance by which that factor may be exceeded."),
    ("Neighbours", "two inputs that differ in one example (or as the claim says)."),
    ("Mechanism", "a randomised program that is audited: a learner, or any function of data and a random generator."),
    ("Claim", "the ε and δ that the author promises."),
    ("Exact", "computed from the output law, over every input of the size shown; no chance involved."),
    ("Found", "a lower bound on ε from runs. The true ε is not smaller, at the confidence shown."),
    ("Would catch", "the least true ε that these runs would have detected, 19 times in 20."),
    ("Blind zone", "from the claim to what would be caught: a leak there goes unseen."),
    ("Violation", "the claim is refuted: ε is larger than promised."),
    ("Consistent", "nothing found, although something could have been. Not a proof."),
    ("No evidence", "nothing found, and nothing could have been. Says nothing."),
    ("Control", "a mechanism broken on purpose. The audit must catch it."),
    ("Witness", "two neighbours and an answer whose chances differ too much: it refutes the claim by itself."),
    ("Fails (β)", "a learner fails if its error is above α; β is how often it may."),
)  # fmt: skip
FEW = tuple(pair for pair in WORDS if pair[0] not in
            ("Mechanism", "Exact", "Blind zone", "Consistent", "No evidence", "Control", "Fails (β)"))  # fmt: skip
"""Those that the page of one finding needs."""
