"""Planar geometry of the regions: dichotomies, families, selection, snapping, pictures."""
