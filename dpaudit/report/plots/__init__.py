"""Figures of one finding by matplotlib, for whoever shows or saves them himself."""
