"""Confidence bounds on epsilon and delta from counts, and the power of an audit that uses them."""

# The probability of detection of what is called detectable.
POWER = 0.95
