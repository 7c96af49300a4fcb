"""Where pairs of neighbouring samples come from."""
