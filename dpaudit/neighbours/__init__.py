"""Pairs of neighbouring samples: crafted, enumerated, drawn at random, or searched for."""
