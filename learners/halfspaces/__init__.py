"""Halfspaces: concepts, learners by depth and by points in the hull, and positive controls."""
