"""What the source papers state, as claims that computation checks; one module a paper, or a part of it.

How numbers become a verdict stands in `verdicts`.
"""
