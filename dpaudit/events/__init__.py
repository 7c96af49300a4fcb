"""Discretize outputs of any type into cells, score them, and select events over them."""
