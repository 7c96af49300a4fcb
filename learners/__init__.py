"""Reference implementations of the private (and non-private) PAC learners of five papers and lectures.

Each module lists its learners in ``LEARNERS``; that is all it takes to be found.
"""
