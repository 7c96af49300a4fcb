"""Concept classes: evaluate, enumerate, decode."""
