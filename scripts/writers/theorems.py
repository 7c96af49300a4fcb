"""Write the page of the theorems: dpaudit ledger --json | python scripts/write.py theorems > PAGE.

The page is docs/research/theorems.md.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import groupby
from typing import Any

from dpaudit.contract import ACCUSATIONS, OF_STATEMENTS, Part, StatementVerdict
from dpaudit.registry import load
from dpaudit.report.formats import escaped
from dpaudit.report.ledger import MEANINGS
from dpaudit_learners import citations

HEAD = """\
# The theorems

The ledger holds the statements of five papers that computation can check, each with a class. For anyone who builds on
such a theorem: whether it is right as printed, and how far the constants that are printed are from the truth. Made by
`scripts/write.py theorems` from the output of `dpaudit ledger --json`.

| class | what it means | statements |
|---|---|---|
{classes}
A contradiction is computed: an instance, which the row has as data. Of which class it is, is our judgement of the
source, and so is whether the theorem survives; the row gives the argument. A check is exact (enumerated, with a bound
on the rounding error), numeric (an estimated error) or statistical (true with the stated confidence). A statement that
holds is checked at the sizes that were computed, and is not proved unless its argument says so.

## How a source is read

* A constant counts as the paper's only if it is printed. Inside O(.), Θ(.) or Ω(.) the constants are ours: such a row
  is "derived", whatever its numbers, and says nothing of the paper.
* An exact statement is held to every value of its parameters that its conditions allow; only a range that is printed
  limits it. O(.) is read for ε ≤ 1, accuracies and failure rates below 1/2, and large n, d, k.
* The base of a logarithm is the one that makes the statement true, if one does. A witness must fail in base 2 and e.
* What is called simple, approximate, intuitive or informal, what is assumed "for simplicity" and what is left as an
  exercise is no claim: no row accuses it.
* A slip that the same source writes correctly elsewhere, or needs otherwise in the next line, is a misprint. A case
  that the source plainly leaves out (no literal, one line, one dimension) is an edge case.
* Exponents of n* are measured on hard cases, which bound n* from below. They can refute a growth and never confirm it:
  such rows say "not refuted" and count as undecided, with the slope of ln(n*/theorem), which would be 0 if both grew
  alike. Their limits are those of a fit to computed numbers and no confidence interval.
* "Best known" is the best constant that the tool computes. "Best known since" cites what others proved after the
  source; no row checks it.

One statement, with its numbers and, where it is contradicted, its witness:

```console
$ dpaudit ledger NIS-ParityFailure
```

Every row is made again by `dpaudit ledger ID`. `dpaudit ledger --witness ID` writes it as JSON with the instance that
decides as data (a learner with its parameters, samples, a distribution), so that other code can check it. With
`--time-limit SECONDS` a check that takes longer leaves its statement undecided and says in which part it was. Learners
do the corrected thing, and with `literal=True` what the paper says.

In Python `dpaudit.pac.ledger()` returns a typed row for each.
"""
PAPERS = [title for name, title in vars(citations).items() if name.isupper()]
OTHERS = {
    Part.OURS: "Our own statements, on algorithms and constants that no paper has",
    Part.AUDITOR: "Faults with a known answer, which test the auditor",
}
HEADS = {
    "id": "id", "short": "statement", "place": "place", "formula": "formula, as printed", "printed": "at the instance",
    "found": "found", "best": "best known", "since": "best known since", "verdict": "class", "grade": "evidence",
}  # fmt: skip


def section(row: dict[str, Any]) -> str:
    """Return the section of a row: its paper, or the part of the ledger that is no paper's."""
    if row["part"] != Part.PAPERS:
        return OTHERS[Part(row["part"])]
    return next(title for title in PAPERS if str(row["source"]).startswith(title))


def shown(row: dict[str, Any], name: str) -> str:
    """Return a field as a table has it: with constants of ours nothing is called printed."""
    words = " ".join(str(row[name]).split())
    if name == "verdict" and row["one_sided"] and words == StatementVerdict.UNDECIDED:
        return "not refuted"
    ours = row["constants"] == "ours" and row["part"] == Part.PAPERS
    return escaped(f"ours: {words}" if name == "printed" and words and ours else words)


def table(rows: list[dict[str, Any]]) -> str:
    """Return statements as a table of Markdown."""
    head = f"| {' | '.join(HEADS.values())} |\n|{'---|' * len(HEADS)}\n"
    return head + "".join(f"| {' | '.join(shown(row, name) for name in HEADS)} |\n" for row in rows)


def accusation(row: dict[str, Any]) -> str:
    """Return what is contradicted, with the grounds, as an item of a list."""
    name = {key: escaped(" ".join(value.split())) for key, value in row.items() if isinstance(value, str)}
    conditions = f", if {name['conditions']}" if name["conditions"] else ""
    words = f"**{name['id']}**, {name['verdict']}. {name['place']}: {name['formula']}{conditions}."
    found = f"Printed: {name['printed']}; found: {name['found']}."
    why = f"{name['argument']} Witness: {name['witness']}. Theorem survives: {name['survives']}."
    return f"* {words} {found} {why}\n"


def part(title: str, rows: list[dict[str, Any]]) -> str:
    """Return a section: what is contradicted, each with its grounds, then a table of all its rows."""
    accused = [accusation(row) for name in ACCUSATIONS for row in rows if row["verdict"] == name]
    listed = f"{''.join(accused)}\n" if accused else ""
    return f"## {title}\n\n{listed}{table(rows)}"


def main() -> None:
    order = [*PAPERS, *OTHERS.values()]
    # What was proved since is a citation, which no run stores.
    since = {statement.id: statement.since for statement in load().statements}
    told = [json.loads(line) for line in sys.stdin]
    rows = [{**row, "since": since.get(row["id"], "")} for row in told]
    rows.sort(key=lambda row: (order.index(section(row)), row["id"]))
    counts = Counter(row["verdict"] for row in rows if row["part"] == Part.PAPERS)
    classes = "".join(f"| {one} | {MEANINGS[one]} | {counts[one]} |\n" for one in OF_STATEMENTS if counts[one])
    print(HEAD.format(classes=classes))
    print("\n".join(part(title, list(found)) for title, found in groupby(rows, key=section)), end="")
