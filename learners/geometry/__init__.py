"""Exact planar geometry behind the learners of halfplanes: duality, arrangements, points of cells."""
