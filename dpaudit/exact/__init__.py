"""Exact audits: output laws enumerated, compared and composed."""
