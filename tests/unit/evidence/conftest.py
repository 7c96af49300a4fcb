"""Bounds of certificates are recomputed once: the verifier is plain Python, and most tests leave the counts alone."""

from __future__ import annotations

from functools import cache

import pytest

from dpaudit import verify_certificate

bound = verify_certificate.bound


@cache
def kept(kind: str, counts: tuple[int, ...], delta: float, error: float) -> float:
    return bound(kind, list(counts), delta, error)


@pytest.fixture(autouse=True)
def _bounds_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let writer, reader and verifier share what the same counts give; tests of `bound` itself import it by name."""
    monkeypatch.setattr(verify_certificate, "bound", lambda kind, counts, *levels: kept(kind, tuple(counts), *levels))
