"""Alter stored runs, reports, histories and findings, and count what is read: `python scripts/attack.py files`.

Every number, word and field is altered, one at a time, once as it is and once with all digests made right again, as an
attacker can who knows the rule; so are whole lines and files. An alteration has passed if what is read has another
verdict, bound or interval than was found. A number that the verifier names as not derived is counted apart, and so is
what nothing contradicts, such as another word, or another claim of a finding on its own.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.losses.commands import FOUND, finished

import dpaudit
from dpaudit import verify_finding
from dpaudit.contract import EVERY_VERDICT
from dpaudit.errors import DpauditError
from dpaudit.evidence.lines import digest_in, linked
from dpaudit.evidence.store import FILENAME, load_run
from dpaudit.evidence.tasks import canonical
from dpaudit.evidence.verification import verify_run
from dpaudit.record import encodable
from dpaudit.report.json import render, run_in

RUN = ("run", "point-exponential", "broken-box-support", "--profile", "quick", "--trials", "400", "--no-html",
       "--quiet")  # fmt: skip
BOUNDS = ("epsilon_lower", "failure_lower", "failure_upper", "p_value")
OF_LAWS = ("epsilon", "exact_epsilon", "value", "curve", "epsilon_at_claim", "delta_at_claim")
"""The numbers that a reader goes by: those that follow from counts, and those of exact laws, which are not stored."""

Document = Any


class Found(NamedTuple):
    """Results as they are read and verified: what follows from counts, and the numbers that the verifier names."""

    derived: tuple[Any, ...]
    named: tuple[Any, ...]

    @classmethod
    def of(cls, records: Iterable[Any]) -> Found:
        """Return what findings or rows say."""
        derived = []
        named = []
        for one in records:
            tested = getattr(one, "curve_test", None)
            laws = getattr(one, "kind", "") in ("exact", "supremum")
            bets = getattr(one, "design", "fixed") == "sequential"
            own = {name: getattr(one, name, None) for name in (*BOUNDS, *OF_LAWS)}
            kept = () if laws or bets else BOUNDS
            by_curve = tested and (tested.delta_lower, tested.mu_lower)
            # Which claims of utility promise next to nothing, and p-values below a limit, are named too.
            verdict = "holds" if one.verdict == "vacuous" else one.verdict
            if own["p_value"] is not None:
                own["p_value"] = max(own["p_value"], verify_finding.LEAST_P)
            derived.append((verdict, [own[name] for name in kept]))
            others = OF_LAWS if laws else ("exact_epsilon", "curve", *(BOUNDS if bets else ()))
            named.append(([own[name] for name in others], by_curve))
        return cls(tuple(derived), tuple(named))


class Attack(NamedTuple):
    """Alterations of one kind: the bytes as they were, those of each alteration with its name, and the reader."""

    name: str
    original: bytes
    cases: Iterator[tuple[str, bytes]]
    read: Callable[[bytes], Found]


def leaves(document: Document, place: str = "$") -> Iterator[tuple[str, Document]]:
    """Yield a document with one number, word, truth value, field or element changed, for each of them."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(items):
        here = f"{place}.{key}"
        for other in (one for one in _others(key, value) if repr(one) != repr(value)):
            yield f"{here} = {other!r:.30}", _with(document, key, other)
        if isinstance(value, dict | list):
            for name, changed in leaves(value, here):
                yield name, _with(document, key, changed)
        if isinstance(document, dict):
            yield f"{here} left out", {name: one for name, one in document.items() if name != key}


def _with(document: Document, key: Any, value: Document) -> Document:
    changed = copy.copy(document)
    changed[key] = value
    return changed


def _others(key: Any, value: Document) -> list[Document]:
    """Return values in the place of one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2 * value + 1, 0, -1, 10**7, 10**12, float(value)]
    if isinstance(value, float):
        return [2 * value + 0.1, 0.5 * value, 0.0, -1.0, "inf", 1e6, 1e308]
    if key == "verdict":
        return [str(one) for one in EVERY_VERDICT if one != value]
    return ["", value + "x", 1] if isinstance(value, str) else [None] if value is not None else [1]


def chained(lines: list[bytes], sealed: bool = True) -> bytes:
    """Return lines with digests that are right, each over that of the line before, or of the first one."""
    made: list[bytes] = []
    for line in lines:
        made.append(linked(line.rstrip(b"\n") + b"\n", digest_in(made[-1 if sealed else 0]) if made else ""))
    return b"".join(made)


def line_of(record: Document) -> bytes:
    """Return a record as a line whose digest is not computed yet."""
    return canonical({**record, "digest": "0" * 64}).encode() + b"\n"


def whole_lines(content: bytes, other: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file of lines with lines left out, doubled, moved, torn, or of another file."""
    lines = content.splitlines(keepends=True)
    for i, line in enumerate(lines):
        yield f"line {i + 1} left out", b"".join(lines[:i] + lines[i + 1 :])
        yield f"line {i + 1} doubled", b"".join([*lines[:i], line, *lines[i:]])
        yield (
            f"line {i + 1} of another file",
            b"".join([*lines[:i], other.splitlines(keepends=True)[-1], *lines[i + 1 :]]),
        )
        if i:
            yield f"lines {i} and {i + 1} swapped", b"".join([*lines[: i - 1], line, lines[i - 1], *lines[i + 1 :]])
    yield from (
        ("mark at the start", b"\xef\xbb\xbf" + content), ("UTF-16", content.decode().encode("utf-16")),
        ("returns", content.replace(b"\n", b"\r\n")), ("a blank line", content.replace(b"\n", b"\n\n", 1)),
        ("zeros behind", content + bytes(4096)), ("nothing", b""), ("one brace", b"{"), ("brackets", b"[" * 10**5),
        ("a number of 5,000 digits", content.replace(b":0", b":" + b"9" * 5000, 1)),
    )  # fmt: skip


def fields_of_lines(content: bytes, remade: bool) -> Iterator[tuple[str, bytes]]:
    """Yield a file of lines with one field of one line altered, with digests as they were or made right again."""
    lines = content.splitlines(keepends=True)
    for i, line in enumerate(lines):
        record = json.loads(line)
        for name, changed in leaves({key: value for key, value in record.items() if key != "digest"}):
            altered = (
                line_of(changed) if remade else canonical({**changed, "digest": record["digest"]}).encode() + b"\n"
            )
            file = [*lines[:i], altered, *lines[i + 1 :]]
            yield f"line {i + 1}, {name}", chained(file) if remade else b"".join(file)


def decoys(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file of lines, one altered, which keeps its own digest and holds that of its bytes in another place."""
    lines = content.splitlines(keepends=True)
    before = ""
    for i, line in enumerate(lines):
        record = json.loads(line)
        for name, held in record.items():
            if isinstance(held, dict):
                rest = canonical({**record, name: {**held, "zz": 0}})
                found = {"digest": hashlib.blake2b((before + rest).encode(), digest_size=32).hexdigest(), "zz": 0}
                forged = canonical({**record, name: {**held, **found}}).encode() + b"\n"
                yield f"line {i + 1}, a digest in {name}", b"".join([*lines[:i], forged, *lines[i + 1 :]])
        before = record["digest"]


def fields_of_report(report: bytes, remade: bool) -> Iterator[tuple[str, bytes]]:
    """Yield a report with one field altered; with `remade` one of a result, and all digests right again."""
    document = json.loads(report)
    if not remade:
        for name, changed in leaves(document):
            yield name, json.dumps(changed).encode()
        return
    for i, result in enumerate(document["results"]):
        for name, changed in leaves({key: value for key, value in result.items() if key != "digest"}):
            results = [*document["results"][:i], changed, *document["results"][i + 1 :]]
            yield f"result {i + 1}, {name}", json.dumps(resealed({**document, "results": results})).encode()


def resealed(document: Document) -> Document:
    """Return a report whose digests and total are right."""
    records = sorted([*document["results"], *document["failures"]], key=lambda one: one.get("index", 0))
    seal = {"record": "seal", "records": len(records)}
    lines = chained([line_of(one) for one in (document["header"], *records, seal)]).splitlines()
    digests = list(map(digest_in, lines))
    made = {id(one): {**one, "digest": digest} for one, digest in zip(records, digests[1:-1], strict=True)}
    parts = {name: [made[id(one)] for one in document[name]] for name in ("results", "failures")}
    return {**document, **parts, "header": {**document["header"], "digest": digests[0]}, "seal": digests[-1]}


def findings() -> dict[str, Any]:
    """Return a finding of each kind."""

    def noisy(bit: int, rng: Any, size: int) -> Any:
        return bit + rng.normal(size=size, scale=0.5)

    def recorded(rows: list[float], rng: Any) -> float:
        return float(sum(rows) + rng.laplace())

    learner = dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=2)
    given = {"batched": True, "n_jobs": 1}
    look = dpaudit.Look(curve=True)
    by_bets = dpaudit.Execution(sequential=True)
    coins = dpaudit.flip_coins(200, seed=1)
    scores = 3 * coins.included + np.random.default_rng(2).normal(size=200)
    audit = dpaudit.audit_privacy
    gauss = dpaudit.PrivacyClaim.gaussian(1.0)
    sized = dpaudit.pac.get_learner("threshold-exponential", epsilon=1.0, domain_size=8)
    varied = ("parity-private", "dimension", [1, 2, 3, 4, 5, 6])
    return {
        "privacy, with a curve": audit(noisy, [(0, 1)], epsilon=1.0, trials=2000, look=look, **given),
        "privacy, with delta": audit(noisy, [(0, 1)], epsilon=1.0, delta=0.01, trials=2000, **given),
        "privacy, Gaussian": audit(noisy, [(0, 1)], claim=gauss, trials=2000, **given),
        "privacy, Gaussian, by bets": audit(noisy, [(0, 1)], claim=gauss, trials=2000, execution=by_bets, **given),
        "privacy, by bets": audit(noisy, [(0, 1)], epsilon=1.0, trials=2000, execution=by_bets, **given),
        "one run": dpaudit.audit_scores(scores, coins, epsilon=1.0),
        "laws": dpaudit.pac.audit_law(learner, n=1),
        "supremum": dpaudit.pac.audit_supremum(learner, starts=2),
        "sensitivity": dpaudit.audit_sensitivity(sum, [([0.0, 1.0], [0.0, 0.0])], claim=1.5),
        "recorded noise": dpaudit.audit_sensitivity(recorded, [([0.0, 1.0], [0.0, 0.0])], epsilon=2.0, claim=1.5),
        "sample complexity": dpaudit.pac.sample_complexity(sized, alpha=0.2, beta=0.2),
        "scaling": dpaudit.pac.scaling_law(*varied, epsilon=1.0, alpha=0.1, beta=0.6),
        "utility": dpaudit.pac.audit_utility(learner, 1, "uniform", alpha=0.2, beta=0.4, n=20, trials=200),
    }  # fmt: skip


def attacks(folder: Path) -> Iterator[Attack]:
    """Yield all attacks."""
    status, err = finished(*RUN, "--jobs", "1", "--out", "out", folder=folder)
    if status not in FOUND:
        raise SystemExit(err)
    run = (folder / "out" / FILENAME).read_bytes()
    work = folder / "work"
    report = render(load_run(folder / "out")).encode()
    other = line_of({**json.loads(run.splitlines()[0]), "seed": 1})  # the first line of another run
    work.mkdir()

    def read_run(content: bytes) -> Found:
        (work / FILENAME).write_bytes(content)
        verify_run(work)
        return Found.of(one.finding for one in load_run(work).results)

    def read_report(content: bytes) -> Found:
        found = [one.finding for one in run_in(content, "report.json").results]
        return Found.of(map(verified, found))

    yield Attack("run: lines", run, whole_lines(run, other), read_run)
    yield Attack("run: fields", run, fields_of_lines(run, False), read_run)
    yield Attack("run: fields, digests remade", run, fields_of_lines(run, True), read_run)
    yield Attack("run: another digest", run, decoys(run), read_run)
    yield Attack("report.json: fields", report, fields_of_report(report, False), read_report)
    yield Attack("report.json: fields of results, digests remade", report, fields_of_report(report, True), read_report)
    for name, finding in findings().items():
        whole = encodable(finding)
        cases = ((where, json.dumps(changed).encode()) for where, changed in leaves(whole))
        yield Attack(f"finding: {name}", json.dumps(whole).encode(), cases, partial(_read_finding, type(finding)))


def _read_finding(kind: Any, content: bytes) -> Found:
    return Found.of([verified(kind.from_dict(json.loads(content)))])


def verified(finding: Any) -> Any:
    """Return a finding whose bound and verdict follow from its counts; `InputError` if they do not."""
    try:
        verify_finding.checked(json.loads(json.dumps(encodable(finding))))
    except ValueError as error:
        raise dpaudit.InputError(str(error)) from None
    return finding


def made(attack: Attack, most: int, rng: random.Random) -> tuple[Counter[str], list[str]]:
    """Return how many alterations ended how, and what passed."""
    before = attack.read(attack.original)
    cases = list(attack.cases)
    if most and len(cases) > most:
        cases = rng.sample(cases, most)
    counted: Counter[str] = Counter()
    notes: list[str] = []
    for name, content in cases:
        try:
            found = attack.read(content)
        except DpauditError as error:
            counted["refused"] += 1
            if len(str(error)) > LONGEST:
                notes.append(f"{name}: a message of {len(str(error))} characters")
        except Exception as error:  # a traceback is a loss, and is counted
            notes.append(f"{name}: {type(error).__name__}: {error!s:.200}")
        else:
            if found.derived != before.derived:
                notes.append(f"{name}: {before.derived!r:.200} was read as {found.derived!r:.200}")
            elif found.named != before.named:
                counted["read with another number that is named as not derived"] += 1
            else:
                counted["read with the same verdicts and bounds"] += 1
    return counted, notes


LONGEST = 2000
"""Characters of a message."""


def attack_all(most: int, seed: int = 0) -> Iterator[tuple[str, Counter[str], list[str]]]:
    """Make all attacks, so many alterations of each at most, and yield their counts and what passed."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        for attack in attacks(Path(name)):
            yield (attack.name, *made(attack, most, rng))


def main() -> int:
    """Print a line for each attack, and what passed; the status is 1 if anything did."""
    parser = argparse.ArgumentParser(description="Alter runs, reports, histories and findings, and read them.")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="alterations of each kind (default: all)")
    given = parser.parse_args()
    total = 0
    passed = 0
    for name, counted, notes in attack_all(given.most):
        total += counted.total() + len(notes)
        passed += len(notes)
        print(f"{name}: {counted.total() + len(notes):,} alterations, {len(notes)} passed")
        for words, number in sorted(counted.items()):
            print(f"    {number:,} {words}")
        for note in notes[:20]:
            print(f"    PASSED {note}")
        sys.stdout.flush()
    print(f"{total:,} alterations, {passed} passed")
    return int(passed > 0)
