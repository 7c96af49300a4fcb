"""Runs of audits and their evidence: planned, run, stored, sealed, certified, verified and replayed."""
