"""The Set Cover Learner, over any sets: rounds, noise, laws and privacy accounting."""
