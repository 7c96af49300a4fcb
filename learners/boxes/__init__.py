"""Axis-parallel boxes: concepts, learners and positive controls."""
