"""Audit mechanisms of a library: ``python -m examples.audit_libraries opendp`` (or ``diffprivlib``).

The findings go to ``examples/findings/LIBRARY.json``, one record a case, with the certificate of each violation beside
it; ``--table`` prints those that are stored as the table of ``examples/README.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpaudit import audit_privacy, certificates
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.parameters import Look
from dpaudit.report.words.events import event_words
from examples.cases import Case

__all__ = ["FOUND", "LIBRARIES", "audit", "main", "table"]

LIBRARIES = ("opendp", "diffprivlib")
FOUND = Path(__file__).parent / "findings"


def cases_of(library: str) -> tuple[Case, ...]:
    """Return the cases of a library, which must be installed."""
    found: tuple[Case, ...] = import_module(f"examples.{library}_mechanisms").CASES
    return found


def audit(
    library: str, case: Case, trials: int | None = None
) -> tuple[dict[str, Any], certificates.Certificate | None]:
    """Return what an audit of a case found, and the certificate of a violation."""
    runs, began = min(case.trials, trials or case.trials), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library, as on bounds that it takes from the data
        finding = audit_privacy(
            case.mechanism,
            case.pairs,
            epsilon=case.epsilon,
            delta=case.delta,
            trials=runs,
            batched=case.batched,
            randomness="own",
            look=Look(float_bits=case.float_bits),
        )
        seconds = time.perf_counter() - began
        made = None
        if finding.verdict == "violation":
            name = f"examples.{library}_mechanisms: {case.name}"
            made = certificates.make(
                finding,
                case.pairs,
                mechanism=case.mechanism,
                batched=case.batched,
                name=name,
                shrinks=case.shrinks,
                float_bits=case.float_bits,
            )
    return _record(case, finding, made, seconds), made


def _record(
    case: Case, finding: PrivacyFinding, made: certificates.Certificate | None, seconds: float
) -> dict[str, Any]:
    stored = finding.representation
    return {
        "name": case.name,
        "looks_for": case.looks_for,
        "inside": case.inside,
        "epsilon": case.epsilon,
        "delta": case.delta,
        "verdict": str(finding.verdict),
        "epsilon_lower": _number(finding.epsilon_lower),
        "detectable_epsilon": _number(finding.detectable_epsilon),
        "event": event_words(made.event if made else finding.witness.event),
        "pair": [finding.witness.data, finding.witness.neighbour],
        "bits": None
        if stored is None
        else {"event": event_words(stored.event), "lower": _number(stored.epsilon_lower)},
        "trials": finding.trials,
        "confidence": finding.confidence,
        "seconds": round(seconds, 1),
    }


def _number(value: float) -> float | str:
    return round(value, 4) if math.isfinite(value) else "inf"


def table(library: str) -> str:
    """Return the stored findings of a library as a table in Markdown."""
    stored = json.loads((FOUND / f"{library}.json").read_text(encoding="utf-8"))
    rows = [
        "| mechanism | looked for | claim | shows at least | verdict | would have seen |",
        "|---|---|---|---|---|---|",
    ]
    for one in stored["cases"]:
        claim = f"{one['epsilon']:.4g}" + (f", delta {one['delta']:.2g}" if one["delta"] else "")
        bits = ""
        if one["bits"] and one["verdict"] != "violation" and one["bits"]["lower"] > one["epsilon"]:
            bits = f"; by its bits {one['bits']['lower']:.3g}"
        verdict = f"**{one['verdict']}**" if one["verdict"] == "violation" else one["verdict"]
        where = "" if one["inside"] else " (outside of what is promised)"
        seen = _seen(one["verdict"], one["detectable_epsilon"])
        shown = [f"{one['epsilon_lower']:.3g}{bits}", verdict + where, seen]
        rows.append(f"| {' | '.join([one['name'], one['looks_for'], claim, *shown])} |")
    return "\n".join(rows) + "\n"


def _seen(verdict: str, epsilon: float | str) -> str:
    """Return the least epsilon that an audit would have seen; one without evidence would have seen none."""
    if verdict == "no evidence":
        return "never"
    return epsilon if isinstance(epsilon, str) else f"{epsilon:.3g}"


def main(words: list[str] | None = None) -> int:
    """Audit the cases of a library and store what was found."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("library", choices=LIBRARIES)
    parser.add_argument("names", nargs="*", help="cases (default: all)")
    parser.add_argument("--trials", type=int, help="at most so many runs a side (default: each case's own)")
    parser.add_argument("--table", action="store_true", help="print the stored findings")
    args = parser.parse_args(words)
    if args.table:
        print(table(args.library), end="")
        return 0
    cases = cases_of(args.library)
    if wrong := set(args.names) - {case.name for case in cases}:
        parser.error(f"there is no case {', '.join(sorted(wrong))}; there are {', '.join(case.name for case in cases)}")
    for case in cases:
        if not args.names or case.name in args.names:
            told, made = audit(args.library, case, args.trials)
            print(f"{told['verdict']:<12} {case.name}: {told['epsilon_lower']} of {case.epsilon:.4g}", flush=True)
            _store(args.library, [one.name for one in cases], told, made)
    return 0


def _store(library: str, order: list[str], told: dict[str, Any], made: certificates.Certificate | None) -> None:
    """Put one record among those that are stored, in the order of the cases, and its certificate beside them."""
    file = FOUND / f"{library}.json"
    known = json.loads(file.read_text(encoding="utf-8"))["cases"] if file.exists() else []
    records = {one["name"]: one for one in known if one["name"] in order} | {told["name"]: told}
    sorted_records = sorted(records.values(), key=lambda one: order.index(one["name"]))
    text = json.dumps({"library": library, "version": version(library), "cases": sorted_records}, indent=1)
    file.write_text(text + "\n", encoding="utf-8")
    certificate = FOUND / f"{library}-{told['name'].replace(', ', '-').replace(' ', '-')}.json"
    certificate.unlink(missing_ok=True)
    if made is not None:
        made.write(certificate)


if __name__ == "__main__":
    raise SystemExit(main())
