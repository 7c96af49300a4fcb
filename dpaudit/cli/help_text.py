"""The help of each command: a line, a paragraph and an example."""

from __future__ import annotations

__all__ = ["COMMANDS", "STATUS", "WHOLE"]

STATUS = """exit status: 0 all consistent, 1 a violation or a missed control, 2 bad input, a fault or a
missing result (before 1), 3 no evidence or undecided (after 1)"""

WHOLE = """
Audits private learners: does a learner keep its promise of differential privacy, and does it learn from as few
examples as its theorem says? Start with `dpaudit list`, then `dpaudit run`.
"""

COMMANDS = {
    "list": (
        "which learners there are",
        """
        Lists the learners that were found: id, kind of privacy claimed (pure means delta = 0), parameters with
        their defaults, and what it is. Positive controls, which leak on purpose, are listed with --all.
        """,
        "dpaudit list --all",
    ),
    "privacy": (
        "test a privacy claim by running the learner, or any mechanism",
        """
        Runs the learner on crafted neighbouring samples of n examples, picks the event that tells them apart
        best, and bounds epsilon from below on fresh runs. A bound above the claim is a violation. Otherwise the
        claim is consistent with these runs, which would have shown a leak of the size that is told; or there is no
        evidence, where they could not have shown one, and it is said why. MODULE:FUNCTION audits any function
        (data, rng) -> output on your --pairs; modules of the current directory can be imported.
        """,
        "dpaudit privacy parity-private -p dimension=2 -p epsilon=1 --n 2 --trials 200000",
    ),
    "exact": (
        "compute the worst-case epsilon from exact output laws",
        """
        Computes the exact output law of the learner on samples of n examples and on all their neighbours, and
        from them the worst-case epsilon. Without --n it takes the n of the learner's example, and crafted
        samples only where all cannot be listed. Needs a learner with a law. --enclose recomputes the losses
        that decide in ball arithmetic; --compose K bounds the privacy of K runs, from above by the dominating
        pair and from below by single pairs of neighbours.
        """,
        "dpaudit exact parity-private -p dimension=2 -p epsilon=1 --n 3",
    ),
    "utility": (
        "measure how often the learner fails to learn",
        """
        Measures how often the learner's error exceeds alpha; its theorem promises: at most with probability beta.
        The error is that on the distribution, with fresh samples labelled by a concept (realizable); its excess
        over the best concept's, with noisy labels (agnostic); that on the sample, one for all runs (empirical); or
        whether the output solves the learner's problem on that sample (solution). The hard cases are concepts and
        distributions on which learners of the class fail most. With --n below the theorem's n, or without a theorem,
        failures are shown and refute nothing.
        """,
        "dpaudit utility threshold-exponential --alpha 0.1 --beta 0.1 --distribution all",
    ),
    "run": (
        "audit many learners and write the reports",
        """
        Audits the learners given (default: all, with the positive controls) on their examples: exactly, by
        running them, and for utility. Without ids it checks the statements of the papers too. Writes
        DIR/run.jsonl, DIR/report.json and DIR/report.html and prints a summary. Every result is stored as it
        comes: after a kill, the same command with --resume goes on and ends with the same bytes. Without
        --resume a run starts afresh and keeps the old run.jsonl as run.jsonl.bak. A positive control that no
        audit detects counts as a violation: it shows that the audits are blind to its leak.
        """,
        "dpaudit run parity-private --profile quick --out reports/parity",
    ),
    "ledger": (
        "check the statements of the papers",
        """
        Checks the statements of the papers (default: all) by computation and shows a verdict with its evidence: a
        statement holds, is loose (true, but its constant is far from the truth), is refuted (with a witness) or
        stays undecided. A refuted statement is an error of a paper and no violation: the status is 0 if every check
        ran.
        """,
        "dpaudit ledger --refuted",
    ),
    "report": (
        "render a stored run again",
        """
        Renders stored results as text, JSON or HTML without running anything. The exit status is that of the
        stored results.
        """,
        "dpaudit report reports/latest --format html --out report.html",
    ),
}
"""Command -> (a line, a paragraph, an example)."""
