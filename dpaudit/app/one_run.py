"""Audits of what was recorded elsewhere: ``dpaudit samples`` of outputs, ``dpaudit scores`` of one training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dpaudit.app.audits import json_lines, show, show_measured, show_plain, terminal_text
from dpaudit.app.command import check_folder, command
from dpaudit.app.options import (
    DRAWN,
    FORMS,
    Claim,
    Delta,
    DrawnApart,
    Epsilon,
    Seed,
    Shown,
    ShownApart,
    argument,
    given,
    looks,
    of,
)
from dpaudit.audit.options import Options
from dpaudit.errors import InputError, ToolFault
from dpaudit.report.numbers import count, plural

if TYPE_CHECKING:
    from dpaudit.report.terminal import Lines


def _flip(canaries: int, runs: int | None, seed: int | None, out: str | None, shown: Shown) -> int:
    """Flip coins, write them, and show their seal."""
    from dpaudit.audit.coins import flip_coins

    if out is None:
        raise InputError.of("coins", out, "given: coins that are not kept cannot be checked")
    path = Path(out)
    # Coins that could be flipped again could be chosen by what a training shows.
    if path.exists():
        raise InputError.of("coins", out, "a new file: coins that were flipped are not flipped again")
    check_folder("coins", out)
    if runs is None:
        runs = 1
    made = flip_coins(canaries, seed, runs=runs)
    made.save(path)
    total = int(made.included.sum())
    lines: Lines = [
        ("coins", f"{count(total)} of {count(made.included.size)} are in, {plural(runs, 'run')}: {out}"),
        ("seal", made.seal),
    ]
    told = json_lines([{"file": out, "seal": made.seal}])
    return show_plain(shown.json, None, terminal_text(lines), json=told)


@command("samples", "dpaudit samples outputs.csv neighbour_outputs.csv --epsilon 1", FORMS)
def samples(
    file: Annotated[str, argument("FILE")],
    neighbour_file: Annotated[str, argument("NEIGHBOUR_FILE")],
    epsilon: Epsilon,
    delta: Delta,
    claim: Claim,
    confidence: Annotated[float, of(Options.confidence)],
    look: Annotated[frozenset[str], looks("curve", "float-bits")],
    seed: Seed,
    shown: ShownApart,
) -> int:
    """Test a claim of privacy on outputs that a mechanism returned elsewhere, on two neighbouring inputs.

    Each file has the independent outputs on one input: .csv, .tsv or .parquet with the names of columns and a row for
    each output, or .npy with an array of them. Some choose an event, the others test it.
    """
    from dpaudit.audit.curve_claims import named_claim
    from dpaudit.audit.samples import audit_samples
    from dpaudit.evidence.records import Result
    from dpaudit.evidence.tasks import PrivacyArguments
    from dpaudit.report.repeat import command_line

    # One file on both sides is a mistake that would show no leak.
    if Path(file).resolve() == Path(neighbour_file).resolve():
        raise InputError(f"NEIGHBOUR_FILE must be another file than FILE, got {file} twice")
    outputs = _outputs("FILE", file)
    neighbour_outputs = _outputs("NEIGHBOUR_FILE", neighbour_file)
    curve = "curve" in look
    float_bits = "float-bits" in look
    finding = audit_samples(
        outputs,
        neighbour_outputs,
        named_claim(claim, epsilon, delta),
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        curve=curve,
        float_bits=float_bits,
        seed=seed,
    )
    asked = {
        "epsilon": epsilon,
        "delta": delta,
        "claim": claim,
        "confidence": confidence,
        "look": ",".join(sorted(look)) or None,
        "seed": seed,
    }
    repeat = command_line("samples", file, {}, asked, arguments=[neighbour_file])
    arguments = PrivacyArguments(
        epsilon=epsilon,
        delta=delta,
        claim=claim,
        trials=finding.trials,
        confidence=confidence,
        curve=curve,
        float_bits=float_bits,
    )
    # `recorded:` is the source by which the digest of the file is taken for reports.
    result = Result(task="samples", learner=f"recorded:{file}", parameters={}, arguments=arguments, finding=finding)
    return show([result], seed, shown, repeat)


def _outputs(argument: str, path: str) -> Any:
    """Return the outputs in the file that an argument names; the first line of a table must not be an output."""
    from dpaudit.neighbours.own_data.dataset_files import LINES, check_names, read_dataset

    try:
        header = True if Path(path).suffix.lower() in LINES else None
        found = read_dataset(path, header=header)
    # It speaks of data, and here there are two files.
    except InputError as error:
        raise InputError(error.worded(lambda name, _: argument if name == "data" else name)) from None
    check_names(path, getattr(found, "columns", ()), any)
    return found


_Flip = Annotated[
    int | None,
    given(
        "before the training: flip a fair coin for each of so many canaries, and write the new file of --coins "
        "(default: audit the scores)",
        metavar="CANARIES",
    ),
]


_Coins = Annotated[
    str | None,
    given("the coins, which --flip wrote (default: the column `included`)", metavar="FILE"),
]
_Seal = Annotated[
    str | None,
    given(
        "the digest that --flip printed, kept elsewhere since before the training (default: the coins are "
        "compared with the digest in their own file alone)",
        metavar="DIGEST",
    ),
]
_Ranking = Annotated[
    str,
    given(
        "guess canaries in or out by the distance of the score from the middle, or all in by the score",
        "two-sided",
        choices=["two-sided", "in"],
    ),
]
_Decides = Annotated[
    str | None,
    given("what a coin decides: add-remove-one or replace-one (default: add-remove-one)", metavar="NAME"),
]


@command("scores", "dpaudit scores scores.csv --coins coins.json --epsilon 1 --delta 1e-5", DRAWN)
def scores(
    files: Annotated[tuple[str, ...], argument("[FILE.csv]")],
    coins: _Coins,
    seal: _Seal,
    epsilon: Epsilon,
    delta: Delta,
    claim: Claim,
    confidence: Annotated[float, of(Options.confidence)],
    ranking: _Ranking,
    guesses: Annotated[int | None, given("guess so many coins alone (default: a schedule of numbers, accounted for)")],
    relation: _Decides,
    flip: _Flip,
    runs: Annotated[int | None, given("--flip: trainings, each with coins of its own (default: 1)")],
    seed: Annotated[
        int | None, given("--flip: make the coins from this; findings then name it (default: the operating system's)")
    ],
    shown: DrawnApart,
) -> int:
    """Test a claim of privacy of a training by the scores of canaries that coins put in or left out.

    The file has a header and a row for each canary: `score`, larger for canaries that seem to be in, and `included` (1
    or 0) where no --coins are given; with several trainings also `run`. With --coins rows are in the order of the
    coins. The surest guesses of the coins are counted; nothing is assumed of the training.

    Before the training, `dpaudit scores --flip 1000 --coins coins.json` flips a fair coin for each of 1,000 canaries:
    it decides whether the canary is in. The file has a text of 1 (in) and 0 (out) for each run, and the digest that
    seals them. Publish the digest before the training; --seal DIGEST compares it afterwards.
    """
    from dpaudit.audit.coins import Coins
    from dpaudit.audit.curve_claims import named_claim
    from dpaudit.audit.one_run import audit_scores
    from dpaudit.contract import Relation
    from dpaudit.report.repeat import command_line

    if flip is not None:
        if files:
            raise InputError("FILE.csv must be left out with {flip}", names=("flip",))
        return _flip(flip, runs, seed, coins, shown)
    if runs is not None or seed is not None:
        raise InputError("{runs} and {seed} must be given with {flip} alone", names=("runs", "seed", "flip"))
    if len(files) != 1:
        raise InputError("FILE.csv must be given: one file with the scores of the canaries")
    (file,) = files
    for path in filter(None, (file, coins)):
        if not Path(path).is_file():
            raise InputError(f"there is no file {path!r}")
    try:
        sealed = None
        if coins is not None:
            sealed = Coins.load(coins)
    except ToolFault as fault:
        raise InputError.of("coins", coins, "a file that --flip wrote", str(fault)) from None
    values, included = _columns(Path(file), needs_coins=sealed is None)
    decides: Relation | str = Relation.ADD_REMOVE_ONE
    if relation is not None:
        decides = relation
    finding = audit_scores(
        values,
        sealed if included is None else included,
        named_claim(claim, epsilon, delta),
        epsilon=epsilon,
        delta=delta,
        sealed=sealed,
        seal=seal,
        confidence=confidence,
        ranking=ranking,
        guesses=guesses,
        relation=decides,
    )
    asked = {
        "coins": coins,
        "seal": seal,
        "epsilon": epsilon,
        "delta": delta,
        "claim": claim,
        "confidence": confidence,
        "ranking": ranking,
        "guesses": guesses,
        "relation": relation,
    }
    repeat = command_line("scores", file, {}, asked)
    data = {"file": file, "finding": finding.to_dict()}
    return show_measured(finding, file, repeat, shown, title=f"dpaudit: the scores of {file}", data=data)


def _columns(path: Path, needs_coins: bool) -> tuple[list[list[float]], list[list[float | None]] | None]:
    """Return scores and coins of a file, of shape (runs, m); None for coins that it does not have."""
    import csv

    # Spreadsheets put a mark of the byte order before the first name.
    with path.open(newline="", encoding="utf-8-sig") as lines:
        reader = csv.DictReader(lines)
        names = [name.strip() for name in reader.fieldnames or []]
        needed = ["score"]
        if needs_coins:
            needed.append("included")
        for name in needed:
            if name not in names:
                raise InputError(f"{path} must have a column {name!r}, got {', '.join(names) or 'an empty file'}")
        reader.fieldnames = names
        runs: dict[str, list[tuple[float, float | None]]] = {}
        for row in reader:
            coin = None
            if "included" in names:
                coin = _number(path, reader.line_num, "included", row)
            # A file without the column has one run.
            runs.setdefault(row.get("run") or "", []).append((_number(path, reader.line_num, "score", row), coin))
    if len({len(rows) for rows in runs.values()}) != 1:
        numbers = ", ".join(f"{len(rows)} of run {name!r}" for name, rows in list(runs.items())[:3])
        raise InputError(f"{path} must have as many rows of each run, and at least one; got {numbers or 'none'}")
    values = [[score for score, _ in rows] for rows in runs.values()]
    if "included" not in names:
        return values, None
    return values, [[coin for _, coin in rows] for rows in runs.values()]


# Truth values as pandas and others write them.
_TRUTHS = {"true": 1.0, "false": 0.0}


def _number(path: Path, line: int, name: str, row: dict[str, str]) -> float:
    text = (row.get(name) or "").strip()
    if name == "included" and text.lower() in _TRUTHS:
        return _TRUTHS[text.lower()]
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{path}, line {line}: {name} must be a number, got {text!r:.60}") from None
