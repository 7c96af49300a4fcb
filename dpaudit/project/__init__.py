"""The audits of a project: its mechanisms and their claims in a file, checked together, kept, and compared."""
