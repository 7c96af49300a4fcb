"""What a reporter needs to draw learned regions, as plain JSON; nothing here draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.contract import Hypothesis, Sample

__all__ = ["error_share", "picture"]


def picture(side: int, sample: Sample, hypotheses: Sequence[Hypothesis]) -> dict[str, Any]:
    """Return a sample and some hypotheses over the grid {0 .. side}^2, JSON-safe.

    Parameters
    ----------
    side : int
        d of the grid.
    sample : Sample
        What was learned from.
    hypotheses : sequence
        Each with `region(side)`: the polygons whose union is labelled 1, as tuples of rational vertices.

    Returns
    -------
    dict
        "side": d. "points": a list of {"x", "y", "label", "count"}. "hypotheses": a list of {"error", "polygons"},
        the share of the sample that is labelled wrongly and lists of vertices [x, y] as floats, in order around each
        polygon. Polygons of one hypothesis may overlap.
    """
    rows = zip(sample.points.tolist(), sample.labels.tolist(), sample.counts.tolist(), strict=True)
    return {
        "side": side,
        "points": [{"x": x, "y": y, "label": label, "count": count} for (x, y), label, count in rows],
        "hypotheses": [
            {
                "error": error_share(sample, hypothesis),
                "polygons": [
                    [[float(x), float(y)] for x, y in vertices]
                    for vertices in hypothesis.region(side)  # type: ignore[attr-defined]
                ],
            }
            for hypothesis in hypotheses
        ],
    }


def error_share(sample: Sample, hypothesis: Hypothesis) -> float:
    """Return the share of the sample that a hypothesis labels wrongly, 0 for the empty sample."""
    wrong = hypothesis.predict(sample.points) != sample.labels
    return int(sample.counts[wrong].sum()) / max(sample.n, 1)
