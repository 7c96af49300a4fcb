"""The mechanisms that are held out are those whose digests were committed before anything was tuned."""

from __future__ import annotations

import hashlib

from source_tree import ROOT

FOLDER = ROOT / "scripts/power_mechanisms"


def test_the_digests_are_those_of_the_files() -> None:
    found = {
        path.relative_to(FOLDER).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (FOLDER / "held_out").rglob("*.py")
    }
    lines = (FOLDER / "HELD_OUT.sha256").read_text(encoding="utf-8").splitlines()
    assert found == {name: digest for digest, name in (line.split() for line in lines)}
    assert len(found) == 5
