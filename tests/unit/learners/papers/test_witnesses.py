"""Witnesses as data, read from JSON and checked again by other code than that of their rows."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from ledger_rows import DEAR, ledger_row, rows_in_quick
from scipy import stats

from dpaudit import app, pac
from dpaudit.contract import ACCUSATIONS, FAIL
from dpaudit.registry import load

Data = dict[str, Any]
DEAR_HERE = DEAR | {
    "KMMS-VCtri", "STE-Boxd-law-basic", "STE-Boxd-law-advanced", "KMMS-Thm3.2-law-k", "KMMS-Ex3.3-law-k",
    "STE-Conj2-law-k", "OURS-MixtureBound", "KMMS-Thm3.2-law-d", "KMMS-Thm3.2-law-alpha-epsilon", "STE-Conj2-law-d",
    "STE-Conj2-law-alpha-epsilon", "STE-Conj2-law-rounds", "BMNS-Prop2.11-law-domain", "OURS-Thr-law-log-star",
    "OURS-TreeLog-law-domain",
}  # fmt: skip


@cache
def row(id: str) -> Data:
    """Return a row of the ledger as it is read from JSON."""
    told: Data = json.loads(json.dumps(ledger_row(id).to_dict()))
    return told


def built(told: Data) -> Any:
    """Return the learner of a witness."""
    return pac.get_learner(told["id"], **told["parameters"])


def sample(learner: Any, told: Data) -> Any:
    """Return a sample of a witness."""
    return learner.domain.sample(told["points"], told["labels"], told["counts"], told.get("public"))


def logs(learner: Any, told: Data) -> dict[Any, float]:
    """Return the logarithms of the law of a learner on a sample of a witness."""
    law = learner.law(sample(learner, told))
    return dict(zip(law.atoms, law.log_prob.tolist(), strict=True))


def probabilities(learner: Any, told: Data) -> dict[Any, float]:
    """Return the law of a learner on a sample of a witness."""
    return {atom: math.exp(log) for atom, log in logs(learner, told).items()}


def check_pair(data: Data) -> None:
    """Compare the loss, or the delta at an epsilon, of two samples with what the witness says."""
    learner = built(data["learner"])
    p, q = (probabilities(learner, data[side]) for side in ("data", "neighbour"))
    pairs = [(p.get(atom, 0.0), q.get(atom, 0.0)) for atom in {*p, *q}]
    if "epsilon" in data:
        one, two = (logs(learner, data[side]) for side in ("data", "neighbour"))
        both = [(one.get(atom, -math.inf), two.get(atom, -math.inf)) for atom in {*one, *two}]
        assert max(abs(a - b) for a, b in both if max(a, b) > -math.inf) == pytest.approx(
            float(data["epsilon"]), rel=1e-6
        )
    if "delta" in data:
        growth = math.exp(data["at"])
        spills = [math.fsum(max(0.0, x[i] - growth * x[1 - i]) for x in pairs) for i in (0, 1)]
        assert max(spills) == pytest.approx(data["delta"], rel=1e-6, abs=1e-12)
    if "move" in data:
        assert q[FAIL] - p[FAIL] == pytest.approx(data["move"])


def check_laws(data: Data) -> None:
    """Compare the theorem's n with the brackets, which must leave no doubt that it suffices."""
    for law in data["laws"]:
        for point in law["points"]:
            assert point["lower"] < point["upper"] <= point["theorem"]


def check_errors(data: Data) -> None:
    """Compare the probability of more errors than the limit with what the witness says."""
    learner = built(data["learner"])
    found, told = probabilities(learner, data["sample"]), sample(learner, data["sample"])
    wrong = 0.0
    for atom, p in found.items():
        labels = learner.decode(atom).predict(told.points)
        wrong += p * bool((told.counts * (labels != told.labels)).sum() > data["limit"])
    assert wrong == pytest.approx(data["probability"], abs=1e-9)


def check_case(data: Data) -> None:
    """Compare the failure probability on a hard case, or else the theorem's n, with what the witness says."""
    learner, n = built(data["learner"]), data["n"]
    if "failure" not in data:
        setting = {"setting": data["setting"]} if "setting" in data else {}
        assert learner.utility(data["alpha"], data["beta"], **setting).sample_size == n
        return
    points, masses = np.array(data["distribution"]["points"]), data["distribution"]["probabilities"]
    truth = learner.concepts.concept(data["concept"]).predict(points)
    failure = 0.0
    for head in itertools.product(range(n + 1), repeat=len(points) - 1):
        if sum(head) <= n:
            counts = [*head, n - sum(head)]
            weight = float(stats.multinomial.pmf(counts, n, masses))
            for atom, p in probabilities(learner, {"points": points, "labels": truth, "counts": counts}).items():
                answer = learner.decode(atom)
                error = 1.0 if answer is None else float(np.dot(masses, answer.predict(points) != truth))
                failure += weight * p * (error > data["alpha"] + 1e-12)
    assert failure == pytest.approx(data["failure"], rel=1e-6, abs=1e-12)


def rank(rows: Any) -> Any:
    """Return the ranks of small integer matrices."""
    return np.linalg.matrix_rank(np.asarray(rows, dtype=float))


def check_count(data: Data) -> None:
    vectors = [*data["vectors"], [1] * 5 + [2] * 5]
    grid = itertools.product(range(1, data["T"] + 1), repeat=10)
    assert sum(rank([*vectors, p]) == rank(vectors) for p in grid) == data["points in the span"] > data["T"] ** 5


def check_random_row(data: Data) -> None:
    rows = [tuple(point) for point in data["sample"]["points"]]
    law = {point: p for point, p in probabilities(built(data["learner"]), data["sample"]).items() if p}
    assert law == pytest.approx(dict.fromkeys(rows, 1 / len(rows)))
    for d, ratio in data["ratios"].items():
        assert ratio == pytest.approx(min(int(d) ** 2 * math.log(2), int(d) * math.log(100)) / data["m"])


def check_printed_s(data: Data) -> None:
    m, alpha = data["m"], data["alpha"]
    examples = data["C"] * (m**2 * math.log(m / alpha) + math.log(m) + m**3) / alpha / m
    assert examples * math.log1p(-1.001 * alpha) - math.log(2) == pytest.approx(data["ln failure"])
    assert data["ln failure"] > -(m**3)


def check_last_line(data: Data) -> None:
    angles = np.linspace(0, 2 * math.pi, 720, endpoint=False) + 1e-3
    normals = np.stack([np.cos(angles), np.sin(angles)])
    for place, depth in zip(data["places"], data["depths"], strict=True):
        assert ((np.array(data["points"]) - place) @ normals >= 0).sum(axis=0).min() == depth
    first, middle, end = data["depths"]
    assert min(first, end) != min(first, middle)


def check_base(data: Data) -> None:
    k = data["k"]
    logs = [math.log(192 * j * j / (0.1 * 1e-6)) for j in (k, k + 1)]
    assert data["next"] / data["promise"] == pytest.approx(8 * (k + 1) / k * logs[1] / logs[0])


def check_procedure(data: Data) -> None:
    (a, b), (c, d) = data["x_1"], data["x_2"]
    x, y = data["b"]
    det = a * d - b * c
    coefficients = Fraction(x * d - y * c, det), Fraction(a * y - b * x, det)
    assert coefficients[1] == 0 != coefficients[0]
    assert coefficients.index(max(coefficients)) == 1


def check_thin_cell(data: Data) -> None:
    corners = [(Fraction(x), Fraction(y)) for x, y in data["corners"]]
    (ax, ay), (bx, by), (cx, cy) = corners
    area = abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2
    edge = min((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in itertools.combinations(corners, 2))
    assert float(area) / (math.sqrt(3) / 4 * float(edge)) == pytest.approx(data["ratio"])
    assert data["ratio"] < 1


def check_regions(data: Data) -> None:
    # One line parts the plane in two.
    assert len(data["points"]) == 1
    assert data["regions"] == 2


def check_last_promise(data: Data) -> None:
    d, n = data["learner"]["parameters"]["dimension"], data["n"]
    promise = Fraction(n, d + 1) - (d - 1) * Fraction(n, d * (d + 1))
    assert (1 - Fraction(1, 2 * d)) * promise == Fraction(data["guaranteed depth"]) < Fraction(n, 2 * (d + 1))


def check_facet(data: Data) -> None:
    points = data["points"]
    lines = [[r for r in points if np.linalg.det([[*p, 1], [*q, 1], [*r, 1]]) == 0]
             for p, q in itertools.combinations(points, 2)]  # fmt: skip
    assert {len(line) for line in lines} == {data["points on a facet"]} == {2}


def check_centre(data: Data) -> None:
    angles = np.linspace(0, 2 * math.pi, 720, endpoint=False) + 1e-3
    normals = np.stack([np.cos(angles), np.sin(angles)])
    above = (np.array(data["points"]) - 0.5) @ normals >= 0
    assert above.sum(axis=0).min() == data["depth of (1/2, 1/2)"] > data["depth"]


def check_agnostic_display(data: Data) -> None:
    n, bound = data["n"], data["bound"]
    kept = stats.binom.cdf(math.floor(n * (0.5 + bound)), n, 0.5) - stats.binom.cdf(
        math.ceil(n * (0.5 - bound)) - 1, n, 0.5
    )
    assert kept < 1 - 0.1 / 4


def check_every_literal(data: Data) -> None:
    d = data["learner"]["parameters"]["dimension"]
    errors = {np.mean([x[i] != bit for x in itertools.product((0, 1), repeat=d)]) for i in range(d) for bit in (0, 1)}
    assert errors == {0.5}
    assert set(data["least errors of a literal"].values()) == {0.5}


def check_scores(data: Data) -> None:
    weights = np.exp(data["rate"] * (np.array(data["scores"]) - max(data["scores"])))
    below = weights[np.array(data["scores"]) < data["limit"]].sum() / weights.sum()
    assert below == pytest.approx(data["below"])
    assert below > 0.5


def check_composition(data: Data) -> None:
    calls, share, each = data["calls"], data["epsilon"], data["delta"]
    truth = 1 / (1 + math.exp(-share))
    lies = np.arange(calls + 1)
    p, q = stats.binom.pmf(lies, calls, 1 - truth), stats.binom.pmf(lies, calls, truth)
    lost = np.maximum(0, p - math.exp(data["claimed epsilon"]) * q).sum()
    shown = 1 - (1 - each) ** calls
    assert shown + (1 - shown) * lost == pytest.approx(data["needed delta"], rel=1e-6, abs=1e-15)


def check_laplace(data: Data) -> None:
    noise = stats.laplace(scale=data["scale"])
    x = 5 * data["sensitivity"]
    assert abs(noise.logsf(x) - noise.logsf(x - data["sensitivity"])) == pytest.approx(data["loss"])


def check_exponential(data: Data) -> None:
    laws = []
    for name in ("scores", "neighbouring scores"):
        weights = np.exp(data["rate"] * (np.array(data[name], dtype=float) - max(data[name])))
        laws.append(np.log(weights / weights.sum()))
    assert np.abs(laws[0] - laws[1]).max() == pytest.approx(data["loss"])


def check_stable(data: Data) -> None:
    noise = stats.laplace(scale=data["scale"])
    assert noise.sf(data["threshold"] - 2) == pytest.approx(data["named at gap 2"])
    assert 2 / data["scale"] == pytest.approx(data["ratio"])


def check_compression_size(data: Data) -> None:
    # Each of the 10 points bounds a half-line on each side; and the empty hypothesis.
    assert 2 * len(data["points"]) + 1 == data["hypotheses"] > data["examples"]


def check_rank(data: Data) -> None:
    learner = built(data["learner"])
    copies = data["sample"]["counts"][0]
    # On copies of the four corners of the unit square a point has depth 2 at the centre, else 1 or 0, times the copies.
    low = sum(p for x, p in probabilities(learner, data["sample"]).items() if not all(0 <= c <= 1 for c in x))
    assert data["r"] < copies
    assert low == pytest.approx(data["probability"], abs=1e-9)


def check_random_hypothesis(data: Data) -> None:
    # All thresholds but c_0 label the first point 1, and of the points c_j that of the first alone.
    size = data["domain_size"]
    wrong = {"c_0": Fraction(size, size + 1), "c_2": Fraction(1, size)}[data["target"]]
    assert data["probabilities"][0] == 1
    assert data["failure"] == pytest.approx(float(wrong))


def check_dichotomies(data: Data) -> None:
    grid = list(itertools.product((0, 1), repeat=data["d"]))
    columns = [tuple(sum(a * b for a, b in zip(r, x, strict=True)) % 2 for r in grid) for x in grid]
    most = max(len(set(zip(*two, strict=True))) for two in itertools.combinations(columns, data["n"]))
    assert most == data["dichotomies"] < 2 ** data["d"]


def check_one_example(data: Data) -> None:
    keep = Fraction(data["epsilon"]) / 4
    # Kept, one of the two parities fits the label; not kept, each is returned with 1/2; the coin is 1/2.
    right, wrong = (keep + (1 - keep) / 2) / 2, (1 - keep) / 4
    assert math.log(right / wrong) == pytest.approx(data["loss"])
    assert data["loss"] > data["epsilon"]


def check_slices(data: Data) -> None:
    """Embed both multisets by a walk down the tree, element by element, and compare what the slice leaves."""
    rests = []
    for side in ("data", "neighbour"):
        ordered = sorted(x for x, count in data[side] for _ in range(count))
        middle = ordered[data["margin"] : len(ordered) - data["margin"]]
        low, high, here, depth = 0, data["size"], middle, 0
        left: list[int] = []
        while high - low > 1:
            cut = (low + high) // 2
            below, above = [x for x in here if x < cut], [x for x in here if x >= cut]
            low, high, here, gone = (low, cut, below, above) if len(below) >= len(above) else (cut, high, above, below)
            left += [depth] * len(gone)
            depth += 1
        rests.append(Counter((left + [depth] * len(here))[data["slice"] :]))
    assert (rests[0] - rests[1]).total() == data["moved"] > 1


def check_growth(data: Data) -> None:
    for table in data["tables"].values():
        (x, one), (y, other) = table[-2:]
        assert other / one < 2 ** (6.25 * math.log2(y / x))


KINDS: dict[str, Callable[[Data], None]] = {
    "pair": check_pair,
    "errors": check_errors,
    "case": check_case,
    "laws": check_laws,
    "counts": check_growth,
}
OWN: dict[str, Callable[[Data], None]] = {
    "BMNS-Thm5.1-count": check_count,
    "BMNS-Thm5.1-procedure": check_procedure,
    "BMNS-Thm5.1": check_random_row,
    "BMNS-Thm4.2-s": check_printed_s,
    "BMNS-Clm3.3-line": check_last_line,
    "BMNS-Sec4-base": check_base,
    "NIS-Thr-random": check_random_hypothesis,
    "NIS-Point-random": check_random_hypothesis,
    "NIS-Sauer-small": check_dichotomies,
    "NIS-ParityLearner-large": check_one_example,
    "KMMS-Claim4.5-proof": check_thin_cell,
    "KMMS-n2regions": check_regions,
    "BMNS-Fig1-r": check_last_promise,
    "BMNS-Fact2.20-remark": check_facet,
    "BMNS-Clm3.5-literal": check_centre,
    "BMN-Thm4.10-display": check_agnostic_display,
    "KMMS-Thm3.5": check_every_literal,
    "OURS-TreeLog-slices": check_slices,
    "STE-Conj2-Delta": check_scores,
    "BMN-Lem4.8-k": check_compression_size,
    "BMNS-Thm4.2-rank": check_rank,
    "BMNS-Thm2.3": check_composition,
    "BMNS-Thm2.4": check_composition,
    "KMMS-Thm2.4": check_laplace,
    "KMMS-Prop2.5": check_exponential,
    "OURS-StableSelect": check_stable,
}
PAPERS = {"KMMS", "NIS", "STE", "BMNS", "BMN", "OURS"}
IDS = [entry.id for entry in load().statements if entry.id.split("-")[0] in PAPERS]


@pytest.mark.parametrize("id", rows_in_quick(IDS, DEAR_HERE))
def test_a_witness_can_be_checked_by_other_code(id: str) -> None:
    told = row(id)
    data = told["witness_data"]
    assert data
    assert told["repeat"] == f"dpaudit ledger {id}"
    check = OWN.get(id) or KINDS.get(data.get("kind", ""))
    assert check or told["verdict"] not in (*ACCUSATIONS, "refuted")
    assert told["best"] or told["verdict"] != "loose"
    if check:
        check(data)


def test_the_command_writes_the_witness(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["ledger", "--witness", "NIS-ParityFailure", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["id"] == "NIS-ParityFailure"
    check_pair(told["witness_data"])
    again = told["repeat"].split()[1:]
    assert app.main([*again, "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out) == told


def test_a_changed_witness_is_noticed() -> None:
    data = row("NIS-ParityLearner")["witness_data"]
    with pytest.raises(AssertionError):
        check_pair({**data, "epsilon": 0.9 * data["epsilon"]})
