"""What the greedy conjunction learner is made of: its counts and its exact law."""
