"""The script that alters stored files: what it alters, and what it counts as passed."""

from __future__ import annotations

from bench_scripts import script


def test_what_passes_is_noted() -> None:
    attack = script("attacks.files")

    def read(content: bytes) -> object:
        if content == b"2":
            raise ZeroDivisionError("oops")
        return attack.Found(((content, [None] * len(attack.BOUNDS)),), ())

    cases = iter([("one", b"1"), ("two", b"2"), ("same", b"0")])
    counted, notes = attack.made(attack.Attack("x", b"0", cases, read), 0, None)
    assert [note.partition(": ")[0] for note in notes] == ["one", "two"]
    assert "ZeroDivisionError: oops" in notes[1]
    assert counted == {"read with the same verdicts and bounds": 1}


def test_each_leaf_is_altered_and_nothing_is_left_as_it_was() -> None:
    attack = script("attacks.files")
    document = {"a": 0, "b": [0.0, True], "verdict": "holds", "c": None}
    names = [name for name, changed in attack.leaves(document)]
    assert {"$.a = 1", "$.a left out", "$.b.0 = 0.1", "$.b.1 = False", "$.verdict = 'violation'", "$.c = 1"} <= set(
        names
    )
    assert all(repr(changed) != repr(document) for _, changed in attack.leaves(document))
