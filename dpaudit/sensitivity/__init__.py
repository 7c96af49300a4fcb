"""Sensitivities without noise: of functions, and of the noise that a mechanism adds."""
