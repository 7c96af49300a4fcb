"""Interior points and thresholds: solvers, learners and positive controls."""
