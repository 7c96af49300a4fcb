"""Points, thresholds and intervals on a line: concepts, learners and positive controls."""
