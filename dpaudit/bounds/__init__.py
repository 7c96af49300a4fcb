"""Confidence bounds on epsilon and delta from counts, and the power of an audit that uses them."""

POWER = 0.95
"""The probability of detection of what is called detectable."""
