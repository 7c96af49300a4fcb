"""Tukey depth on grids: depths, regions of equal depth, and the domain of RecConcave."""
