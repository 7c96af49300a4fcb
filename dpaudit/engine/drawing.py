"""Makes a learner's picture: a sample, some outputs on it, and their drawing by the learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpaudit.arguments import addressed_parameters_of, stream_id_of
from dpaudit.contract import Distribution, HasScene, Picture
from dpaudit.engine.findings import PictureFinding
from dpaudit.errors import ToolFault
from dpaudit.jsonable import jsonable
from dpaudit.seeding import check_seed, generator

__all__ = ["draw_picture"]


def draw_picture(learner: Any, n: int, runs: int, seed: int) -> PictureFinding:
    """Return the picture of `runs` outputs of a learner on one sample.

    Parameters
    ----------
    learner : Learner
        With `picture(sample, codes, target)`, and optionally `scene(rng) -> (sample, target)`.
    n : int
        Examples of the sample where the learner has no `scene`: drawn from the uniform distribution on the domain,
        labelled by the middle concept.
    runs : int
        The number of outputs.
    seed : int
        The root seed. Sample and outputs live at addresses of their own below it.

    Raises
    ------
    ToolFault
        If the learner's `picture` returns something other than a `Picture`.
    """
    seed = check_seed(seed)
    address = ("picture", stream_id_of(learner), jsonable(addressed_parameters_of(learner)), n)
    sample, target = _scene(learner, n, generator(seed, *address, "scene"))
    outputs = learner.run(sample, generator(seed, *address, "run"), runs)
    codes = [output.item() if isinstance(output, np.generic) else output for output in outputs]
    picture = learner.picture(sample, codes, target)
    if not isinstance(picture, Picture):
        raise ToolFault(f"picture of {learner.id} must return dpaudit.contract.Picture, got {picture!r:.200}")
    return PictureFinding(picture=picture, n=int(sample.n), runs=runs, seed=seed)


def _scene(learner: Any, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return a sample and the concept that labelled it."""
    if isinstance(learner, HasScene):
        return learner.scene(rng)
    points = learner.domain.points()
    target = learner.concepts.concept(learner.concepts.size // 2)
    uniform = Distribution(points, np.full(len(points), 1 / len(points)), "uniform")
    return learner.domain.draw(target, uniform, n, rng), target
