"""Polygons, polytopes, triangles, discs and unions of regions: concepts, learners and positive controls."""
