"""Private training in plain NumPy: noisy gradient descent, objective perturbation, their accountant and their faults.

These are mechanisms, not learners in the sense of `dpaudit.contract`: they have no finite domain, no class of concepts
and no theorem on error, so the registry lists none of them. Each declares its faults in a table `FAULTS`.
"""
