"""Parities: concepts, learners, laws and positive controls."""
