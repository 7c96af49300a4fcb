"""Positive controls: learners with one known leak each; an audit must convict them."""
