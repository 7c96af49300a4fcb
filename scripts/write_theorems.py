"""Write the page of the theorems: dpaudit ledger --json | python scripts/write_theorems.py > docs/theorems.md."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import groupby
from typing import Any

from dpaudit.contract import OF_STATEMENTS
from dpaudit.report.formats import escaped
from learners import citations

HEAD = """\
# The theorems

The ledger holds the statements of five papers that computation can check, each with a verdict. For anyone who builds
on such a theorem: whether it is right, and how far its constants are from the truth. Made by
`scripts/write_theorems.py` from the output of `dpaudit ledger --json`.

| verdict | what it means | statements |
|---|---|---|
| holds | no computation contradicts it | {holds} |
| loose | it is true, and its constant is far from the truth | {loose} |
| refuted | an instance contradicts it; the ledger shows the instance | {refuted} |
| undecided | the instances that were tried do not contradict it, and show nothing of others | {undecided} |

A check is exact (enumerated, with a bound on the rounding error), numeric (an estimated error) or statistical (true
with the stated confidence). A statement that holds is checked at the sizes that were computed, and is not proved. A
refuted statement is an error of a paper, often of one line that a corrected line replaces; learners do the
corrected thing, and with `literal=True` what the paper says.

One statement, with its numbers and, where it is refuted, its witness:

```console
$ dpaudit ledger NIS-ParityFailure
```

Every row is made again by `dpaudit ledger ID`. `dpaudit ledger --witness ID` writes it as JSON with the instance that
decides as data (a learner with its parameters, samples, a distribution), so that other code can check it. With
`--time-limit SECONDS` a check that takes longer leaves its statement undecided and says in which part it was.

In Python `dpaudit.ledger()` returns a typed row for each.
"""
PAPERS = [getattr(citations, name) for name in citations.__all__]
COLUMNS = ("id", "short", "printed", "found", "best", "verdict", "grade")


def paper(row: dict[str, Any]) -> str:
    """Return the paper that the source of a statement begins with."""
    return next(title for title in PAPERS if str(row["source"]).startswith(title))


def table(rows: list[dict[str, Any]]) -> str:
    """Return statements as a table of Markdown."""
    head = "| id | statement | printed | found | best known | verdict | evidence |\n|---|---|---|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(escaped(str(row[name])) for name in COLUMNS)} |\n" for row in rows)


def main() -> None:
    rows = sorted((json.loads(line) for line in sys.stdin), key=lambda row: (paper(row), row["id"]))
    counts = Counter(row["verdict"] for row in rows)
    print(HEAD.format(**{verdict: counts[verdict] for verdict in OF_STATEMENTS}))
    print("\n".join(f"## {title}\n\n{table(list(found))}" for title, found in groupby(rows, key=paper)), end="")


if __name__ == "__main__":
    main()
