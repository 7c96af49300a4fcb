"""The page of the museum: which defects audits found, with data alone and with a pair given."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from museum.audit_one import UNRECORDED
from museum.exhibit import ROOT, Exhibit

__all__ = ["misses", "text"]

HEAD = """# The museum

Defects of libraries for differential privacy that were found by others and are public. Each is a file under `museum/`:
the thread, the version that is wrong, the mechanism as a user calls it, one dataset and the claim. An audit gets the
data and the claim alone, and a second one a pair that shows the defect. The version or the change that is right is
audited in the same way; to accuse it is an error of the audit unless the certificate is verified. Datasets were fixed
with the list before the first audit, and a third of the list, drawn by lot, was set apart ("held out"). A reduction
is the logic of a package written again in plain Python, for versions that do not install beside dpaudit any more.

Audits of a dataset spend their runs on the pairs that [recorded noise](sensitivity.md) speaks for; one column has what
they find where that is switched off, of the exhibits that were audited so. `./scripts/museum` makes an environment for
each version, audits all and writes this page.
"""
COLUMNS = "| defect | package | data alone | a pair given | runs, seconds | right twin |\n|---|---|---|---|---|---|\n"

Record = Mapping[str, Any]
Found = Mapping[tuple[str, bool, str], Record]
"""Records by the exhibit, whether a pair was given, and the side."""


def key_of(record: Record) -> tuple[str, bool, str]:
    """Return what a record is of."""
    return record["name"], record["pair_given"], record["side"]


def misses() -> dict[str, str]:
    """Return why exhibits were missed, by name."""
    found: dict[str, str] = tomllib.loads((ROOT / "museum/misses.toml").read_text(encoding="utf-8"))
    return found


def text(exhibits: Mapping[str, Exhibit], records: Sequence[Record], reasons: Mapping[str, str]) -> str:
    """Return the page in Markdown."""
    found = {key_of(one): one for one in records}
    held_out = {one["name"] for one in records if one["held_out"]}
    names = sorted(exhibits.keys() & {one["name"] for one in records})
    shown = [HEAD, _totals(exhibits, found, names, held_out)]
    for title, chosen in (("Exhibits", set(names) - held_out), ("Held out", held_out)):
        if chosen:
            rows = [_row(name, exhibits[name], found) for name in names if name in chosen]
            shown.append(f"## {title}\n\n{COLUMNS}{''.join(rows)}")
    missed = [name for name in names if not _is_found(found, name, False)]
    if missed:
        lines = [f"- {exhibits[name].title} (`{name}`): {reasons.get(name, 'not explained yet')}\n" for name in missed]
        shown.append(f"## Not found with data alone\n\n{''.join(lines)}")
    return "\n".join(shown)


def _is_found(found: Found, name: str, pair: bool, side: str = "wrong") -> bool:
    return bool(found.get((name, pair, side), {}).get("verdict") == "violation")


def _totals(exhibits: Mapping[str, Exhibit], found: Found, names: Sequence[str], held_out: set[str]) -> str:
    heads = "| | exhibits | data alone | without recorded noise | a pair given | right twins accused |\n"
    lines = [f"{heads}|---|---|---|---|---|---|\n"]
    groups = {
        "installed": [name for name in names if exhibits[name].kind == "installed"],
        "reductions": [name for name in names if exhibits[name].kind == "reduction"],
        "held out": [name for name in names if name in held_out],
        "all": names,
    }
    for title, group in groups.items():
        if group:
            alone, given = (sum(_is_found(found, name, pair) for name in group) for pair in (False, True))
            audited = [name for name in group if (name, False, UNRECORDED) in found]
            before = f"{sum(_is_found(found, name, False, UNRECORDED) for name in audited)} of {len(audited)}"
            accused = sum(_is_found(found, n, False, "right") or _is_found(found, n, True, "right") for n in group)
            share = f" ({alone / len(group):.0%})"
            lines.append(f"| {title} | {len(group)} | {alone}{share} | {before} | {given} | {accused} |\n")
    return "".join(lines)


def _row(name: str, exhibit: Exhibit, found: Found) -> str:
    wrong, given = (found.get((name, pair, "wrong"), {}) for pair in (False, True))
    claim = f"{exhibit.epsilon:.3g}"
    if exhibit.delta:
        claim += f", delta {exhibit.delta:.2g}"
    package = f"{exhibit.package} {exhibit.version}"
    if exhibit.kind == "reduction":
        package += ", reduction"
    # An audit that ended in an error has counted no runs.
    spent = "-"
    if "runs" in wrong:
        spent = f"{wrong['runs']:,}, {wrong['seconds']:.0f} s"
    twins = [found.get((name, pair, "right"), {}).get("verdict", "-") for pair in (False, True)]
    cells = [
        f"[{exhibit.title}]({exhibit.source})",
        package,
        _bound(wrong, claim),
        _bound(given, claim),
        spent,
        # One word where both audits say the same.
        " / ".join(dict.fromkeys(twins)),
    ]
    # A bar within a cell would end it; chr(92) is the backslash, which no expression within an f-string may have.
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _bound(record: Record, claim: str) -> str:
    """Return the verdict of an audit of a wrong side, with its bound against the claim where there is one."""
    if record.get("verdict") != "violation":
        return str(record.get("verdict", "-"))
    lower = record["epsilon_lower"]
    # An infinite bound is a word already: JSON knows no infinity.
    if not isinstance(lower, str):
        lower = f"{lower:.3g}"
    return f"**found**: {lower} of {claim}"
