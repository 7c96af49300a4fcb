"""The pages as a browser shows them: their length, their width on a small screen, paper, and what the script does."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pages import many
from reporter_runs import controls_missed, first, load_small
from toy_records import privacy_finding, result

from dpaudit.report import html as report
from dpaudit.report.html import render_finding

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if BROWSER is None:  # before any page is made
    pytest.skip("no Chromium is installed", allow_module_level=True)

OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1 --window-size=1500,900"
).split()
MEASURE = """<script>
const measured = frame => {
  const doc = frame.contentDocument, view = doc.defaultView;
  const seen = {height: doc.documentElement.scrollHeight, across: doc.documentElement.scrollWidth,
    words: doc.body.innerText.split(/\\s+/).filter(Boolean).length};
  seen.wide = [...doc.querySelectorAll("body *")].filter(e => !e.closest(".scroll, .skip, svg")
    && e.getBoundingClientRect().right > doc.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 90));
  const channel = c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const luminance = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
    return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b); };
  const back = luminance(view.getComputedStyle(doc.body).backgroundColor);
  seen.faint = [...doc.querySelectorAll("body *:not(svg *, script)")].filter(e =>
    [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).filter(e => {
      const ink = luminance(view.getComputedStyle(e).color);
      return (Math.max(ink, back) + .05) / (Math.min(ink, back) + .05) < 4.5; }).map(e => e.outerHTML.slice(0, 90));
  const size = e => parseFloat(view.getComputedStyle(e).fontSize);
  seen.small = [...doc.querySelectorAll("svg text")].filter(e => size(e) < 11.5).map(e => e.textContent);
  const apart = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) < 1
    || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) < 3;
  seen.overprinted = [...doc.querySelectorAll("svg")].flatMap(figure => {
    const drawn = [...figure.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    const later = i => drawn.slice(i + 1);
    return drawn.flatMap(([one, a], i) => later(i).filter(([, b]) => !apart(a, b)).map(([two]) => [one, two]));
  });
  if (frame.id === "run on a wide screen") { ACT }
  return seen;
};
addEventListener("load", () => {
  const seen = Object.fromEntries([...document.querySelectorAll("iframe")].map(frame => [frame.id, measured(frame)]));
  const out = document.createElement("pre");
  out.id = "seen"; out.textContent = JSON.stringify(seen); document.body.append(out);
});</script>"""
ACT = """
const rows = () => [...doc.querySelectorAll("#all tbody tr")], names = () => rows().map(r => r.cells[0].innerText);
const heads = doc.querySelectorAll("#all thead button");
heads[0].click(); seen.up = names(); heads[0].click(); seen.down = names();
const box = doc.querySelector("#all-tools input");
box.value = "NUMBER-7"; box.dispatchEvent(new view.Event("input", {bubbles: true}));
seen.shown = rows().filter(r => !r.hidden).map(r => r.cells[0].innerText);
seen.said = doc.querySelector("output").value;
"""
"""The script sorts by the first column twice, then filters, and notes the names and the words that are shown."""


def chromium(profile: Path, *words: str) -> str:
    assert BROWSER is not None
    command = [BROWSER, *OPTIONS, f"--user-data-dir={profile}", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout


def printed_pages(folder: Path, page: str) -> int:
    (folder / "page.html").write_text(page)
    paper = folder / "page.pdf"
    chromium(folder / "profile", "--no-pdf-header-footer", f"--print-to-pdf={paper}", f"file://{folder}/page.html")
    return len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))


WHOLE = report.render(many(load_small()))
ONE = render_finding(first(load_small(), "privacy"), "dpaudit privacy parity-private --seed 0")
MISSED = report.render(controls_missed(load_small()))
PLACE = f"{'a_long_name_' * 5}.py:{'of_a_function_' * 4}"
FOUND = [("violation", 4.46), ("consistent", 0.98), ("consistent", 0.03)]
LONG = [
    render_finding(
        result(
            "privacy",
            finding=privacy_finding(verdict, epsilon_lower=lower, detectable_epsilon=1.3),
            learner=PLACE,
        ),
        "dpaudit privacy counts.py:counts --data counts.csv",
    )
    for verdict, lower in FOUND
]
SMALL = dict(zip(("run", "one", "missed", "far", "near", "none"), (WHOLE, ONE, MISSED, *LONG), strict=True))
FRAMES = {
    "run on a wide screen": (WHOLE, 1400, "light"),
    "run without its script": (re.sub("<script>.*</script>", "", WHOLE, flags=re.DOTALL), 1400, "light"),
    "one on a wide screen": (ONE, 1400, "light"),
    "unfolded": (report.render(load_small()).replace("<details", "<details open"), 400, "light"),
    **{name: (page, 400, "dark") for name, page in SMALL.items()},
}
"""Pages, each with the width and the theme that it is shown in."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return what each page measures in a frame of its own; the browser is started once."""
    folder = tmp_path_factory.mktemp("frames")
    frames = "".join(
        f'<iframe id="{name}" width="{width}" height="900" style="color-scheme:{scheme}" srcdoc="{html.escape(page)}">'
        "</iframe>"
        for name, (page, width, scheme) in FRAMES.items()
    )
    style = "<style>body{margin:0}iframe{border:0;display:block}</style>"
    (folder / "frames.html").write_text(
        f"<!doctype html><meta charset=utf-8>{style}{frames}{MEASURE.replace('ACT', ACT)}"
    )
    dom = chromium(folder / "profile", "--dump-dom", f"file://{folder}/frames.html")
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found
    seen: dict = json.loads(html.unescape(found[1]))
    return seen


def test_a_whole_quick_run_is_nine_screens_and_eight_printed_pages(tmp_path, measured):
    seen = measured["run on a wide screen"]
    assert seen["words"] <= 2_500
    assert seen["height"] <= 9 * 900
    assert seen["wide"] == []
    assert 1 < printed_pages(tmp_path, WHOLE) <= 8


def test_a_single_finding_is_two_printed_pages(tmp_path, measured):
    assert measured["one on a wide screen"]["words"] <= 600
    assert 1 <= printed_pages(tmp_path, ONE) <= 2


@pytest.mark.parametrize("page", SMALL)
def test_a_small_dark_screen_shows_all_in_its_width_and_readable(measured, page):
    seen = measured[page]
    assert seen["across"] <= 400
    assert seen["wide"] == []
    assert seen["faint"] == []
    assert seen["small"] == []
    assert seen["overprinted"] == []


def test_all_that_is_unfolded_fits_too_and_is_readable(measured):
    seen = measured["unfolded"]
    assert seen["wide"] == []
    assert seen["faint"] == []


def test_the_script_sorts_and_filters_and_takes_no_word_away(measured):
    seen, bare = measured["run on a wide screen"], measured["run without its script"]
    assert seen["up"] == sorted(seen["up"])
    assert seen["down"] == seen["up"][::-1]
    assert seen["shown"] == ["learner-number-7"]
    assert seen["said"] == "1 of 36 shown"
    # What the script adds: the words of the filter, and "Copy".
    assert 0 <= seen["words"] - bare["words"] <= 20
