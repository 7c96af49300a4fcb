"""Halfspaces from mixtures of public and private examples."""
