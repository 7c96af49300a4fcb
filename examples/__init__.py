"""Mechanisms to audit from the repository's root, as in README.md."""
