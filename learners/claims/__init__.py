"""What the source papers state, as claims that computation checks; one module a paper."""
