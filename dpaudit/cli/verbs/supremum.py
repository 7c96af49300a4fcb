"""``dpaudit supremum``."""

from __future__ import annotations

from dpaudit.cli.options import COLOR, JSON, LEARNERS, QUIET, TOLD, VERBOSE, identity, option, whole
from dpaudit.cli.verb import Verb

__all__ = ["command"]

command = Verb(
    "supremum",
    """
    Searches the greatest privacy loss of a learner over samples of every size: a maximum over all samples of a few
    examples can be far below it. It climbs over weighted samples, follows rays of ever more copies of an example (to
    their exact limit if the learner tells it), and takes the learner's closed form unless the search refutes it. The
    value is proved, a limit or a lower bound. Needs a learner with a law.
    """,
    "dpaudit supremum conjunction-greedy -p dimension=2 -p k=2 -p epsilon=1",
    (
        *(parameter for parameter in identity() if parameter.name != "n"),
        option("--starts", type=whole, metavar="N", default=8, help="climbs from random samples (default: 8)"),
        option("--evaluations", type=whole, metavar="N", default=250, help="steps of a climb (default: 250)"),
        option("--most", type=whole, metavar="N", default=4, help="distinct examples in a sample (default: 4)"),
        option(
            "--relation",
            metavar="NAME",
            help="replace-one, add-remove-one or replace-private (default: the claim's)",
        ),
        option("--seed", type=whole, metavar="N", default=0, help="root of the search's randomness (default: 0)"),
        JSON,
        TOLD,
        VERBOSE,
        QUIET,
        COLOR,
        LEARNERS,
    ),
)
