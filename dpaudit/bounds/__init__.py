"""Confidence bounds on epsilon and delta from counts, and the power of an audit that uses them."""
