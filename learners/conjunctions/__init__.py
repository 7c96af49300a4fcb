"""Conjunctions and disjunctions of literals: concepts, learners, laws and positive controls."""
