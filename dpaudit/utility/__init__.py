"""Error rates of learners against the theorems."""
