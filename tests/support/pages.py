"""HTML pages as tests read them: elements, words, and the words that are seen before anything is unfolded."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from msgspec.structs import replace

from dpaudit.evidence.records import Planned, Run

VOID = {"meta", "link", "br", "img", "hr", "input", "col"}
SILENT = {"style", "title", "script"}


class Page(HTMLParser):
    """The elements of a page; fails on tags that do not balance."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.seen: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        names = [tag for tag, _ in self.open]
        if SILENT & set(names):
            return
        self.words.append(data)
        if not self.folded():
            self.seen.append(data)

    def folded(self) -> bool:
        """Say whether a closed fold hides what is being read: all but its own summary."""
        for i, (tag, attributes) in enumerate(self.open):
            if tag == "details" and "open" not in attributes:
                inside = self.open[i + 1 :]
                if not inside or inside[0][0] != "summary":
                    return True
        return False

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    @property
    def unfolded(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.seen))

    def ids(self) -> list[str]:
        return [a["id"] for _, a in self.attributes if "id" in a]

    def part(self, id: str) -> dict:
        return next(a for _, a in self.attributes if a.get("id") == id)


def many(run: Run, learners: int = 36, controls: int = 97, statements: int = 75) -> Run:
    """Return a run as large as the quick one of all learners: the small run's results under other names."""
    names = list(dict.fromkeys(r.learner for r in run.results if r.fault is None and r.kind != "ledger"))
    results = []
    for i in range(learners):
        own = [r for r in run.results if r.learner == names[i % len(names)]]
        results += [replace(r, learner=f"learner-number-{i}", task=f"{i}/{r.task}") for r in own]
    broken = [r for r in run.results if r.fault is not None]
    faults = {}
    for i in range(controls):
        results += [replace(r, learner=f"broken-number-{i}", task=f"broken-{i}/{r.task}") for r in broken]
        faults[f"broken-number-{i}"] = broken[0].fault
    rows = [r for r in run.results if r.kind == "ledger"]
    for i in range(statements):
        row = rows[i % len(rows)]
        results.append(replace(row, learner=f"S-{i}", task=f"S-{i}", finding=replace(row.finding, id=f"S-{i}")))
    results = [replace(r, index=i) for i, r in enumerate(results)]
    plan = tuple(Planned(r.task, r.learner, r.kind) for r in results)
    return Run(replace(run.header, plan=plan, controls=faults), tuple(results))
