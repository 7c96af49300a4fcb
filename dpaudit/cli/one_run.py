"""Audits of what was recorded elsewhere: ``dpaudit samples`` of outputs; ``coins`` and ``scores`` of one training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dpaudit.audit.options import OPTIONS, grouped
from dpaudit.cli.audits import json_lines, show, show_measured, show_plain, terminal_text
from dpaudit.cli.command import check_folder, command
from dpaudit.cli.options import (
    DRAWN,
    FORMS,
    Color,
    Declared,
    DrawnApart,
    Json,
    Seed,
    ShownApart,
    argument,
    given,
    of,
    whole,
)
from dpaudit.errors import InputError, ToolFault
from dpaudit.report.numbers import count, plural

if TYPE_CHECKING:
    from dpaudit.report.terminal import Lines

_CLAIM = ("epsilon", "delta", *grouped("claim"))


@command("coins", "dpaudit coins 1000 --out coins.json")
def coins(
    canaries: Annotated[int, given(place="CANARIES", read=whole)],
    out: Annotated[
        str | None, given("the file that is written; it must not exist yet (default: must be given)", metavar="FILE")
    ],
    runs: Annotated[int, given("trainings, each with coins of its own", default=1)],
    seed: Annotated[
        int | None, given("make the coins from this; findings then name it (default: the operating system's)")
    ],
    json: Json,
    color: Color,
) -> int:
    """Flip a fair coin for each canary of a training: it decides whether the canary is in.

    The file has a text of 1 (in) and 0 (out) for each run, and the digest that seals them. Publish the digest before
    the training; `dpaudit scores --coins FILE --seal DIGEST` compares it afterwards.
    """
    from dpaudit.audit.coins import flip_coins

    if out is None:
        raise InputError.of("out", out, "given: coins that are not kept cannot be checked")
    path = Path(out)
    if path.exists():
        raise InputError.of("out", out, "a new file: coins that were flipped are not flipped again")
    check_folder("out", out)
    made = flip_coins(canaries, seed, runs=runs)
    made.save(path)
    total = int(made.included.sum())
    lines: Lines = [
        ("coins", f"{count(total)} of {count(made.included.size)} are in, {plural(runs, 'run')}: {out}"),
        ("seal", made.seal),
    ]
    show_plain(json, None, terminal_text(lines, color), json=json_lines([{"file": out, "seal": made.seal}]))
    return 0


class ScoresOptions(NamedTuple):
    """The options of ``dpaudit scores`` on the audit."""

    coins: Annotated[
        str | None,
        given("the coins of `dpaudit coins` (default: the column `included`)", metavar="FILE"),
    ]
    seal: Annotated[
        str | None,
        given(
            "the digest that `dpaudit coins` printed, kept elsewhere since before the training (default: the coins are "
            "compared with the digest in their own file alone)",
            metavar="DIGEST",
        ),
    ]
    claim: Annotated[dict[str, Any], Declared(_CLAIM)]
    confidence: Annotated[float, of(OPTIONS["confidence"])]
    ranking: Annotated[
        str,
        given(
            "guess canaries in or out by the distance of the score from the middle, or all in by the score",
            "two-sided",
            choices=["two-sided", "in"],
        ),
    ]
    guesses: Annotated[int | None, given("guess so many coins alone (default: a schedule of numbers, accounted for)")]
    relation: Annotated[
        str | None,
        given("what a coin decides: add-remove-one or replace-one (default: add-remove-one)", metavar="NAME"),
    ]


@command("samples", "dpaudit samples outputs.csv neighbour_outputs.csv --epsilon 1", FORMS)
def samples(
    file: Annotated[str, argument("FILE")],
    neighbour_file: Annotated[str, argument("NEIGHBOUR_FILE")],
    claim: Annotated[dict[str, Any], Declared(_CLAIM)],
    others: Annotated[dict[str, Any], Declared(("confidence", "float_bits", "curve"))],
    seed: Seed,
    shown: ShownApart,
) -> int:
    """Test a claim of privacy on outputs that a mechanism returned elsewhere, on two neighbouring inputs.

    Each file has the independent outputs on one input: .csv, .tsv or .parquet with the names of columns and a row for
    each output, or .npy with an array of them. Some choose an event, the others test it.
    """
    from dpaudit.audit.recorded import audit_samples
    from dpaudit.engine.records import Result
    from dpaudit.engine.tasks import PrivacyArguments
    from dpaudit.report.repeat import command_line

    if Path(file).resolve() == Path(neighbour_file).resolve():
        raise InputError(f"NEIGHBOUR_FILE must be another file than FILE, got {file} twice")
    point, named = _claims(claim)
    asked = {**others, "seed": seed}
    outputs = _outputs("FILE", file)
    neighbour_outputs = _outputs("NEIGHBOUR_FILE", neighbour_file)
    finding = audit_samples(outputs, neighbour_outputs, named, **point, **asked)
    repeat = command_line("samples", file, {}, {**claim, **asked}, arguments=[neighbour_file])
    arguments = PrivacyArguments(trials=finding.trials, **others, **claim)
    result = Result(task="samples", learner=f"recorded:{file}", parameters={}, arguments=arguments, finding=finding)
    return show([result], seed, shown, repeat)


def _claims(asked: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the claim in two numbers that options give, and the curve that others name, if any."""
    from dpaudit.audit.curve_claims import named_claim

    claim = {name: asked[name] for name in ("epsilon", "delta")}
    return claim, named_claim(**asked)


def _outputs(argument: str, path: str) -> Any:
    """Return the outputs in the file that an argument names; the first line of a table must not be an output."""
    from dpaudit.neighbours.own_data.dataset_files import LINES, check_names, read_dataset

    try:
        found = read_dataset(path, header=True if Path(path).suffix.lower() in LINES else None)
    except InputError as error:  # it speaks of data, and here there are two files
        raise InputError(error.worded(lambda name, _: argument if name == "data" else name)) from None
    check_names(path, getattr(found, "columns", ()), any)
    return found


@command("scores", "dpaudit scores scores.csv --coins coins.json --epsilon 1 --delta 1e-5", DRAWN)
def scores(file: Annotated[str, argument("FILE.csv")], audit: ScoresOptions, shown: DrawnApart) -> int:
    """Test a claim of privacy of a training by the scores of canaries that coins put in or left out.

    The file has a header and a row for each canary: `score`, larger for canaries that seem to be in, and `included` (1
    or 0) where no --coins are given; with several trainings also `run`. With --coins rows are in the order of the
    coins. The surest guesses of the coins are counted; nothing is assumed of the training.
    """
    from dpaudit.audit.coins import Coins
    from dpaudit.audit.one_run import audit_scores
    from dpaudit.contract import Relation
    from dpaudit.report.repeat import command_line

    for path in filter(None, (file, audit.coins)):
        if not Path(path).is_file():
            raise InputError(f"there is no file {path!r}")
    try:
        sealed = None if audit.coins is None else Coins.load(audit.coins)
    except ToolFault as fault:
        raise InputError.of("coins", audit.coins, "a file that `dpaudit coins` wrote", str(fault)) from None
    values, included = _columns(Path(file), needs_coins=sealed is None)
    claim, named = _claims(audit.claim)
    asked = {name: getattr(audit, name) for name in ("seal", "confidence", "ranking", "guesses")}
    relation = Relation.ADD_REMOVE_ONE if audit.relation is None else audit.relation
    coin = sealed if included is None else included
    finding = audit_scores(values, coin, named, sealed=sealed, relation=relation, **claim, **asked)
    repeat = command_line(
        "scores", file, {}, {"coins": audit.coins, **audit.claim, **asked, "relation": audit.relation}
    )
    data = {"file": file, "finding": finding.to_dict()}
    return show_measured(finding, file, repeat, shown, title=f"dpaudit: the scores of {file}", data=data)


def _columns(path: Path, needs_coins: bool) -> tuple[Any, Any]:
    """Return scores and coins of a file, of shape (runs, m); None for coins that it does not have."""
    import csv

    with path.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        names = [name.strip() for name in reader.fieldnames or []]
        for name in ("score", *(["included"] if needs_coins else [])):
            if name not in names:
                raise InputError(f"{path} must have a column {name!r}, got {', '.join(names) or 'an empty file'}")
        reader.fieldnames = names
        runs: dict[str, list[tuple[float, float | None]]] = {}
        for row in reader:
            coin = _number(path, reader.line_num, "included", row) if "included" in names else None
            runs.setdefault(row.get("run") or "", []).append((_number(path, reader.line_num, "score", row), coin))
    if len({len(rows) for rows in runs.values()}) != 1:
        numbers = ", ".join(f"{len(rows)} of run {name!r}" for name, rows in list(runs.items())[:3])
        raise InputError(f"{path} must have as many rows of each run, and at least one; got {numbers or 'none'}")
    values = [[score for score, _ in rows] for rows in runs.values()]
    return values, [[coin for _, coin in rows] for rows in runs.values()] if "included" in names else None


def _number(path: Path, line: int, name: str, row: dict[str, Any]) -> float:
    words = {"true": 1.0, "false": 0.0} if name == "included" else {}
    text = (row.get(name) or "").strip()
    try:
        return words[text.lower()] if text.lower() in words else float(text)
    except ValueError:
        raise InputError(f"{path}, line {line}: {name} must be a number, got {text!r:.60}") from None
