"""What the hull point learners share: coordinates one after the other, sample sizes, pictures."""
