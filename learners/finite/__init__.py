"""Learners of any finite class, and what they share: counting, VC dimension, faults."""
