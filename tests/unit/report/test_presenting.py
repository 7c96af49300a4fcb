"""Findings as objects: they can be printed, shown, drawn, saved and loaded."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from toy_records import law_finding, privacy_finding, utility_finding

import dpaudit
from dpaudit.contract import Relation
from dpaudit.errors import ToolFault
from dpaudit.report import plots
from dpaudit.report.presenting import AnyAudit

TOYS = [privacy_finding("violation", epsilon=0.5), law_finding(), utility_finding()]


def response(bit: int, rng: Any) -> int:
    return bit if rng.random() < 0.75 else 1 - bit


def accused() -> dpaudit.PrivacyFinding:
    return dpaudit.audit_privacy(
        response, [(0, 1)], epsilon=0.5, trials=4_000, n_jobs=1, execution=dpaudit.Execution(progress=False)
    )


def test_a_finding_is_printed_as_three_lines_the_last_of_which_repeats_it() -> None:
    finding = accused()
    first, *_, last = str(finding).splitlines()
    assert first.startswith("VIOLATION    response claims epsilon = 0.5, shows >= ")
    assert last == "repeat       dpaudit.audit_privacy(response, [(0, 1)], epsilon=0.5, trials=4000)"
    assert len([line for line in str(finding).splitlines() if line[0] != " "]) == 3
    assert eval(finding.call, {"dpaudit": dpaudit, "response": response}) == finding


@pytest.mark.parametrize("finding", TOYS, ids=lambda finding: finding.kind)
def test_a_finding_comes_back_from_a_dictionary_and_from_a_file(finding: AnyAudit, tmp_path: Path) -> None:
    kind, path = type(finding), tmp_path / "finding.json"
    finding.save(path)
    assert kind.load(path) == kind.load(str(path)) == kind.from_dict(finding.to_dict()) == finding
    assert json.loads(path.read_text()) == finding.to_dict()
    assert kind.load(path).call == ""
    assert "the mechanism " in str(kind.load(path))


def test_a_file_that_holds_no_such_finding_is_refused_with_its_field(tmp_path: Path) -> None:
    path = tmp_path / "finding.json"
    law_finding().save(path)
    with pytest.raises(ToolFault, match=r"finding\.json: Invalid value 'exact' - at `\$\.kind`"):
        dpaudit.PrivacyFinding.load(path)
    with pytest.raises(ToolFault, match="unknown field `nothing`"):
        dpaudit.pac.LawFinding.from_dict(law_finding().to_dict() | {"nothing": 1})
    with pytest.raises(FileNotFoundError):
        dpaudit.pac.LawFinding.load(tmp_path / "none.json")


def test_an_infinite_bound_survives_the_file(tmp_path: Path) -> None:
    law_finding("violation", epsilon=math.inf).save(tmp_path / "finding.json")
    assert dpaudit.pac.LawFinding.load(tmp_path / "finding.json").epsilon == math.inf


@pytest.mark.parametrize(
    ("finding", "told"),
    [
        (TOYS[0], ["shows >= 0.684", "errors", "witness", "S against T"]),
        (TOYS[1], ["2 ordered pairs of neighbours, samples of 1 example", "worst"]),
        (law_finding(n=None), ["2 ordered pairs of neighbours, the samples given"]),
        (TOYS[2], ["4 of 100 runs had error > 0.1"]),
    ],
    ids=["privacy", "exact", "exact of samples", "utility"],
)
def test_the_summary_is_all_of_a_finding(finding: AnyAudit, told: list[str]) -> None:
    for words in told:
        assert words in finding.summary()


def test_integers_of_a_mechanism_are_no_codes_in_its_summary() -> None:
    finding = dpaudit.audit_privacy(lambda bit, rng: 5 * bit - 1, [(0, 1)], epsilon=1.0, trials=200)
    assert "output in {-1}" in finding.summary()
    assert "failure" not in finding.summary()


def lines_of(finding: AnyAudit) -> dict[str, str]:
    """Return the labels of the lines of a finding's figure, with their colours."""
    axes = finding.plot().axes[0]
    return {str(line.get_label()): to_hex(str(line.get_color())) for line in axes.get_lines()}


def test_the_figure_of_a_black_box_audit_shows_the_claim_and_what_is_ruled_out() -> None:
    shown = lines_of(TOYS[0])
    assert shown["allowed by the claim"] == plots.CLAIM
    assert shown["left: ruled out (black box, 95 %)"] == plots.BOUND
    assert lines_of(law_finding(relation=Relation.ADD_REMOVE_ONE))["worst case (exact)"] == plots.EXACT


def test_the_figure_of_utility_shows_beta_and_the_interval() -> None:
    finding = utility_finding()
    axes = finding.plot().axes[0]
    assert f"beta = {finding.beta:g}" in lines_of(finding)
    ends = axes.containers[0].lines[2][0].get_segments()[0][:, 1]
    assert ends.tolist() == pytest.approx([finding.failure_lower, finding.failure_upper])


@pytest.mark.parametrize("finding", TOYS, ids=lambda finding: finding.kind)
def test_a_notebook_shows_the_lines_and_the_figure_and_folds_the_rest(finding: AnyAudit) -> None:
    page = ElementTree.fromstring(finding._repr_html_())
    folded = page.find("details/pre")
    assert folded is not None
    assert folded.text == finding.summary()
    drawing = page.find("img")
    assert drawing is not None
    assert drawing.attrib["src"].startswith("data:image/png;base64,iVBOR")
    assert (page.findtext("pre") or "").startswith(finding.verdict.upper())


@pytest.mark.parametrize("finding", TOYS, ids=lambda finding: finding.kind)
def test_a_figure_is_a_picture_where_a_cell_of_a_notebook_ends_with_it(finding: AnyAudit) -> None:
    figure: Any = finding.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, _ = formatters.DisplayFormatter().format(figure)
    assert [kind for kind in shown if kind != "text/plain"] == ["image/png"]


def test_what_a_mechanism_is_called_cannot_break_the_page_of_a_notebook() -> None:
    finding = dpaudit.audit_privacy(response, [("<script>", "&")], epsilon=0.5, trials=200)
    assert "<script>" not in finding._repr_html_()
